/* himeno --gpus: the sweeps of the published benchmark on several GPUs, with halos and residual
 * sent from within one kernel or by the host: the second experiment of the paper on GMPI (2016).
 * This file opens the communicator and prints the table. Next: himeno_ranks.cu. */
#define _GNU_SOURCE
#include "himeno_ranks.h"

#include <math.h>
#include <string.h>

int himeno_sweeps(const bench_options *o, const int edge[3])
{
    const double sweeps = 6.7e9 / ((double)edge[0] * edge[1] * edge[2]);
    if (o->sweeps >= 0) return o->sweeps > 0 ? (int)o->sweeps : 1;
    return sweeps > 1000.0 ? 1000 : sweeps < 10.0 ? 10 : (int)sweeps;
}

static double param(const bench_cell *cell, const char *name)
{
    for (int p = 0; p < cell->param_num; p++)
        if (strcmp(cell->param[p].name, name) == 0) return cell->param[p].number;
    return NAN;
}
static void print_percent(double share, int width)
{
    if (isnan(share))
        printf(" %*s", width, "");
    else
        printf(" %*.1f", width, 100.0 * share);
}

/* Prints the table: time, rates, and shares of the parts of each form. */
static void print_cells(const bench_run *run, int first)
{
    printf("\nhimeno: sweeps by ranks that are GPUs; pressure compared with one GPU's, bit by "
           "bit\n  late: the residual of a sweep is known while the next one runs\n  peak: of the "
           "memory, for 56 B a point; eff.: against the fastest form on one GPU;\n  halo, conv.: "
           "decrease of the time without these; comp.: time without both\n  %-30s %8s %8s %7s %6s "
           "%6s %6s %6s %6s  %s\n",
           "", "us/sweep", "GFLOP/s", "GB/s", "peak%", "eff.%", "comp.%", "halo%", "conv.%",
           "registers, local bytes, blocks");
    for (int c = first; c < run->cell_num; c++) {
        const bench_cell *cell = &run->cell[c];
        if (c == first || strcmp(cell->table, run->cell[c - 1].table) != 0 ||
            strcmp(cell->column, run->cell[c - 1].column) != 0)
            printf("  %s, %s\n", cell->column, cell->table);
        if (*cell->left_out) {
            printf("    %-28s left out: %s\n", cell->method, cell->left_out);
            continue;
        }
        printf("    %-28s %8.2f %8.1f %7.1f", cell->method, 1e6 * cell->median,
               param(cell, "gflops"), param(cell, "gbytes"));
        print_percent(param(cell, "bandwidth_share"), 6);
        print_percent(param(cell, "efficiency"), 6);
        print_percent(param(cell, "compute_share"), 6);
        print_percent(param(cell, "halo_share"), 6);
        print_percent(param(cell, "convergence_share"), 6);
        printf("  %.0f, %.0f, %.0f", param(cell, "registers"), param(cell, "local_bytes"),
               param(cell, "blocks"));
        if (cell->check.wrong)
            printf("  ! WRONG: %lld planes or sums differ", (long long)cell->check.wrong);
        printf("%s%s\n", *cell->note ? "; " : "", cell->note);
    }
    printf(
        "  Published: GMPI on K20X over QDR InfiniBand, S64, 1 to 4 GPUs: 1.16 to 1.99 times the "
        "time of CUDA and MPI.\n");
}

void himeno_ranks(bench_run *run)
{
    const int first = run->cell_num;
    bench_world world;
    fmo_error err = {FMO_OK, ""};
    const fmo_status status = bench_world_open(&world, (int)run->options->gpus, &err);
    if (status != FMO_OK) {
        bench_fail(run, status, "--gpus %d: %s", (int)run->options->gpus, err.message);
        return;
    }
    if (run->gpu) himeno_ranks_gpu(run, &world);
    if (!run->options->quiet && run->cell_num > first) print_cells(run, first);
    bench_world_close(&world);
}
