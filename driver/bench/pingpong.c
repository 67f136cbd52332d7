/* pingpong: round trips of messages between two ranks: the first experiment of the paper on GMPI
 * (2016; in kernels through a proxy, compared with MPI from the host), with the present transports
 * for comparison. This file has the parts without a GPU (a proxy called by host threads; MPI), and
 * the table. Next: pingpong.cu. */
#define _GNU_SOURCE
#include "pingpong.h"
#include "accumulate/comm/host_rank.h"
#include "accumulate/comm/net_local.h"
#include "driver/base/clock.h"
#include "driver/base/spread.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

int pingpong_rounds(int64_t bytes)
{
    const int64_t rounds = (int64_t)256 << 20 > bytes * 1000 ? 1000 : ((int64_t)256 << 20) / bytes;
    return rounds < 5 ? 5 : (int)rounds;
}

/* Stores a cell with minimum, median and maximum, or leaves it out. */
void pingpong_keep(bench_run *run, const pingpong *p, pingpong_cell of, const double *seconds,
                   const char *note)
{
    double sorted[1000];
    if (run->err.status != FMO_OK) return;
    bench_cell cell = bench_cell_make(run, of.place, of.method, NULL, "bytes");
    snprintf(cell.table, sizeof cell.table, "%s", of.table);
    snprintf(cell.column, sizeof cell.column, "%lld", (long long)of.bytes);
    bench_cell_number(&cell, "bytes", (double)of.bytes);
    bench_cell_number(&cell, "processes", (double)p->world.processes);
    if (seconds[0] < 0.0) {
        bench_leave_out(run, &cell, "%s", note ? note : "not measured");
        return;
    }
    for (int k = 0; k < p->repeats; k++) sorted[k] = seconds[k];
    const driver_spread spread = driver_spread_of(sorted, (size_t)p->repeats);
    cell.items = cell.items_run = of.bytes;
    cell.repeat = p->repeats;
    cell.first = seconds[0];
    cell.min = spread.min, cell.median = spread.median, cell.max = spread.max;
    if (note) snprintf(cell.note, sizeof cell.note, "%s", note);
    if (of.checked) cell.check.kind = BENCH_EXACT; /* a wrong byte would have ended the run */
    bench_keep(run, &cell);
}

/* ---- host ranks ------------------------------------------------------------------------------ */

typedef struct host_end {
    fmo_host_rank *h;
    int rank, rounds, code;
    size_t bytes;
    char *data;
    double seconds;
} host_end;

static void *host_run(void *user)
{
    host_end *e = user;
    const double begin = driver_seconds();
    for (int k = 0; k < 2 * e->rounds && e->code == FMO_GMPI_OK; k++) {
        fmo_gmpi_request request = FMO_GMPI_NULL;
        const int peer = 1 - e->rank;
        if (k % 2 == e->rank)
            e->code = fmo_host_isend(e->h, e->data, e->bytes, peer, 0, 0, &request);
        else
            e->code = fmo_host_irecv(e->h, e->data, e->bytes, peer, 0, 0, &request);
        if (e->code == FMO_GMPI_OK) e->code = fmo_host_wait(e->h, &request);
    }
    e->seconds = (driver_seconds() - begin) / (2.0 * e->rounds);
    return NULL;
}

/* Measures ring, proxy and matching, with two threads of one process as ranks. */
static void host_ranks(bench_run *run, const pingpong *p, int64_t bytes)
{
    fmo_local *local = fmo_local_create(2);
    host_end end[2] = {{.rank = 0}, {.rank = 1}};
    double seconds[1000];
    int code = FMO_GMPI_OK;
    for (int r = 0; r < 2 && local; r++) {
        fmo_gmpi_net net;
        fmo_local_net(local, r, &net);
        end[r].h = fmo_host_rank_create(&net, 60.0, 0);
        end[r].data = bench_alloc(run, (size_t)bytes, 1, "a message");
        if (end[r].data) memset(end[r].data, r, (size_t)bytes);
        end[r].bytes = (size_t)bytes;
        end[r].rounds = pingpong_rounds(bytes);
    }
    const bool good = local && end[0].h && end[1].h && end[0].data && end[1].data;
    if (!good) bench_fail(run, FMO_ERR_MEMORY, "no memory for two ranks");
    for (int k = 0; k < p->repeats && good; k++) {
        pthread_t other;
        pthread_create(&other, NULL, host_run, &end[1]);
        host_run(&end[0]);
        pthread_join(other, NULL);
        seconds[k] = end[0].seconds;
        if (code == FMO_GMPI_OK) code = end[0].code;
    }
    int64_t wrong = code != FMO_GMPI_OK;
    for (int64_t i = 0; i < bytes && good; i++) wrong += end[0].data[i] != 0 || end[1].data[i] != 0;
    if (wrong) bench_fail(run, FMO_ERR_CHECK, "messages of host ranks are wrong");
    if (good)
        pingpong_keep(
            run, p,
            (pingpong_cell){BENCH_ON_CPU, "one way, by bytes", "host threads, proxy", bytes, true},
            seconds, NULL);
    for (int r = 0; r < 2; r++) fmo_host_rank_stop(end[r].h);
    for (int r = 0; r < 2; r++) {
        fmo_host_rank_destroy(end[r].h);
        free(end[r].data);
    }
    fmo_local_destroy(local);
}

/* Seconds of one message one way between two processes. */
static double mpi_seconds(const bench_world *w, void *data, int64_t bytes, int rounds)
{
    bench_world_barrier(w);
    const double begin = driver_seconds();
    for (int k = 0; k < 2 * rounds; k++)
        bench_world_move(w, data, (size_t)bytes, 1 - w->rank, k % 2 == w->rank);
    return (driver_seconds() - begin) / (2.0 * rounds);
}

static void host_mpi(bench_run *run, const pingpong *p, int64_t bytes)
{
    double seconds[1000];
    char *data = bench_alloc(run, (size_t)bytes, 1, "a message");
    if (data) memset(data, 0, (size_t)bytes);
    for (int k = 0; k < p->repeats && data; k++)
        seconds[k] = mpi_seconds(&p->world, data, bytes, pingpong_rounds(bytes));
    if (data)
        pingpong_keep(
            run, p,
            (pingpong_cell){BENCH_ON_CPU, "one way, by bytes", "MPI, host to host", bytes, false},
            seconds, NULL);
    free(data);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Prints the table, and published figures. */
static void print_cells(const bench_run *run, int first)
{
    printf("\npingpong: microseconds one way, or for a call: median (minimum - maximum); GB/s\n");
    for (int c = first; c < run->cell_num; c++) {
        const bench_cell *cell = &run->cell[c];
        if (c == first || strcmp(cell->table, run->cell[c - 1].table) != 0 ||
            strcmp(cell->row, run->cell[c - 1].row) != 0)
            printf("  %s, %s\n", cell->row, cell->table);
        if (*cell->left_out) {
            printf("    %10s  left out: %s\n", cell->column, cell->left_out);
            continue;
        }
        printf("    %10s %11.3f (%.3f - %.3f)", cell->column, 1e6 * cell->median, 1e6 * cell->min,
               1e6 * cell->max);
        if (cell->items >= 65536) printf(" %8.1f", 1e-9 * (double)cell->items / cell->median);
        printf("%s%s\n", *cell->note ? "  " : "", cell->note);
    }
    printf(
        "  Published: GMPI on K20X over QDR InfiniBand: about 10 us more than MPI from the host, "
        "equal from 4 KB on.\n"
        "  H100, others' figures: NVSHMEM put 2.4-2.6 us one way; MSCCL++ signal 2.35 us, through "
        "its proxy 19 us\n"
        "  a round trip (H200); CUDA-aware Open MPI 11.5 us one way; P2P writes 371-377 GB/s.\n");
}

/* Measures messages of all lengths on the CPU, then on the GPU. */
void bench_pingpong(bench_run *run)
{
    const bench_options *o = run->options;
    const int first = run->cell_num;
    fmo_error err = {FMO_OK, ""};
    pingpong p = {.repeats = (int)o->repeat};
    const fmo_status status = bench_world_open(&p.world, 2, &err);
    if (status != FMO_OK) {
        bench_fail(run, status, "%s", err.message);
        return;
    }
    for (int k = 0; k < o->bytes.count && run->cpu; k++) {
        const int64_t bytes = (int64_t)o->bytes.value[k];
        if (p.world.processes == 1)
            host_ranks(run, &p, bytes);
        else
            host_mpi(run, &p, bytes);
    }
    if (run->gpu) bench_pingpong_gpu(run, &p);
    if (!o->quiet && run->err.status == FMO_OK) print_cells(run, first);
    bench_world_close(&p.world);
}
