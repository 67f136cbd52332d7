/* himeno on several GPUs: slabs, a simple reference, and measurement of each form with 1, 2, 4 to
 * --gpus ranks: its time with and without its parts, and its pressure compared with the reference.
 * See himeno_ranks.cuh. Next: himeno_kernel.cu, himeno_host.cu. */
#include "gpu.cuh"
#include "himeno_ranks.cuh"
#include "himeno_ranks.h"
#include "driver/base/spread.h"

#include <math.h>
#include <vector>

namespace {

enum { ROUGH_SWEEPS = 7, FORMS = 5 };

/* ---- slabs ----------------------------------------------------------------------------------- */

__global__ void start(const __grid_constant__ himeno_slab s, int ni, bool rough)
{
    const int64_t plane = (int64_t)s.nj * s.nk, points = (s.planes + 2) * plane;
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < points; n += stride) {
        const int i = s.first - 1 + (int)(n / plane);
        s.p[0][n] = s.p[1][n] = himeno_pressure(i, ni, (s.first - 1) * plane + n, rough);
    }
}
__global__ void coefficients(const __grid_constant__ himeno_slab s, bool rough)
{
    const int64_t plane = (int64_t)s.nj * s.nk, points = (s.planes + 2) * plane;
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < points; n += stride)
        for (int c = 0; c < HIMENO_COEFFICIENTS; c++)
            s.coefficient[c * points + n] = himeno_coefficient(c, (s.first - 1) * plane + n, rough);
}
/* Hashes each plane of a slab, including the halos. */
__global__ void hash_planes(const __grid_constant__ himeno_slab s, int turn,
                            unsigned long long *hash)
{
    const int64_t plane = (int64_t)s.nj * s.nk;
    for (int i = (int)blockIdx.y; i < s.planes + 2; i += (int)gridDim.y) {
        const float *p = s.p[turn] + i * plane;
        unsigned long long sum = 0;
        for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < plane;
             n += (int64_t)gridDim.x * blockDim.x)
            sum += himeno_bits_hash(__float_as_uint(p[n]), (s.first - 1 + i) * plane + n);
        for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_down_sync(~0u, sum, lane);
        if (threadIdx.x % 32 == 0) atomicAdd(&hash[i], sum);
    }
}
/* A simple sweep; results of the forms are compared with it. */
__global__ void plain(const __grid_constant__ himeno_grid g, double *sum)
{
    const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)blockIdx.y + 1;
    double term = 0.0;
    for (int i = 1; i < g.ni - 1; i++) {
        if (k < 1 || k > g.nk - 2) break;
        const int64_t at = himeno_at(&g, i, j, k);
        term += (double)himeno_point(&g, at, &g.next[at]);
    }
    if (!sum) return;
    for (int lane = 16; lane > 0; lane /= 2) term += __shfl_down_sync(~0u, term, lane);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, term);
}

/* Expected hashes of the planes of the grid, and expected residual. */
struct expected {
    std::vector<unsigned long long> rough, smooth;
    double residual;
};

struct experiment {
    bench_run *run;
    const bench_world *world;
    const char *name; /* of the grid */
    const int *edge;
    int sweeps;
    expected known;
    double alone;     /* seconds per sweep of the fastest form on one GPU */
    double bandwidth; /* bytes per second of one GPU's memory */
};

const int blocks_of_fill = 1024;

/* Frees the memory, streams and events of all ranks of this process. */
void free_slabs(himeno_team *t)
{
    for (int r = 0; r < t->local_ranks; r++) {
        cudaSetDevice(t->device[r]);
        cudaFree(t->slab[r].p[0]);
        cudaFree(t->slab[r].p[1]);
        cudaFree(t->slab[r].coefficient);
        cudaFree(t->slab[r].sum);
        if (t->stream[r]) cudaStreamDestroy(t->stream[r]);
        if (t->comm[r]) cudaStreamDestroy(t->comm[r]);
        for (int k = 0; k < 2; k++) {
            if (t->copied[k][r]) cudaEventDestroy(t->copied[k][r]);
            if (t->added[k][r]) cudaEventDestroy(t->added[k][r]);
        }
        if (t->edged[r]) cudaEventDestroy(t->edged[r]);
    }
    cudaFreeHost(t->added_up);
    (void)cudaGetLastError();
}

/* Distributes the interior planes 1 .. ni - 2 as evenly as possible, and allocates the slabs. */
void make_slabs(const experiment *e, himeno_team *t)
{
    bench_run *run = e->run;
    const int inside = e->edge[0] - 2;
    for (int r = 0; r < t->local_ranks; r++) {
        himeno_slab *s = &t->slab[r];
        const int rank = t->first + r, begin = (int)((int64_t)inside * rank / t->ranks);
        int low = 0, high = 0;
        s->planes = (int)((int64_t)inside * (rank + 1) / t->ranks) - begin;
        s->first = 1 + begin;
        s->nj = e->edge[1], s->nk = e->edge[2];
        s->neighbour[HIMENO_BELOW] = rank > 0, s->neighbour[HIMENO_ABOVE] = rank + 1 < t->ranks;
        s->wide = (s->nk + HIMENO_WIDE - 1) / HIMENO_WIDE;
        s->tiles = s->wide * ((s->nj - 2 + HIMENO_ROWS - 1) / HIMENO_ROWS);
        const int64_t points = (int64_t)(s->planes + 2) * s->nj * s->nk;
        BENCH_CUDA(run, cudaSetDevice(t->device[r]));
        for (int k = 0; k < 2; k++) s->p[k] = bench_gpu_array<float>(run, points, "the pressure");
        s->coefficient =
            bench_gpu_array<float>(run, HIMENO_COEFFICIENTS * points, "the coefficients");
        s->sum = bench_gpu_array<double>(run, 4 * 8 * run->device.sms + 2, "residuals");
        BENCH_CUDA(run, cudaDeviceGetStreamPriorityRange(&low, &high));
        BENCH_CUDA(run, cudaStreamCreateWithFlags(&t->stream[r], cudaStreamNonBlocking));
        BENCH_CUDA(run, cudaStreamCreateWithPriority(&t->comm[r], cudaStreamNonBlocking, high));
        BENCH_CUDA(run, cudaEventCreateWithFlags(&t->edged[r], cudaEventDisableTiming));
        for (int k = 0; k < 2; k++) {
            BENCH_CUDA(run, cudaEventCreateWithFlags(&t->copied[k][r], cudaEventDisableTiming));
            BENCH_CUDA(run, cudaEventCreateWithFlags(&t->added[k][r], cudaEventDisableTiming));
        }
    }
    BENCH_CUDA(run,
               cudaHostAlloc((void **)&t->added_up, 2 * sizeof(double) * (size_t)t->local_ranks,
                             cudaHostAllocPortable));
}

void fill_coefficients(himeno_team *t, bool rough)
{
    for (int r = 0; r < t->local_ranks && t->run->err.status == FMO_OK; r++) {
        BENCH_CUDA(t->run, cudaSetDevice(t->device[r]));
        coefficients<<<blocks_of_fill, 256>>>(t->slab[r], rough);
        BENCH_CUDA(t->run, cudaGetLastError());
        BENCH_CUDA(t->run, cudaDeviceSynchronize());
    }
}
void fill_pressure(const experiment *e, himeno_team *t, bool rough)
{
    for (int r = 0; r < t->local_ranks && t->run->err.status == FMO_OK; r++) {
        BENCH_CUDA(t->run, cudaSetDevice(t->device[r]));
        start<<<blocks_of_fill, 256>>>(t->slab[r], e->edge[0], rough);
        BENCH_CUDA(t->run, cudaGetLastError());
        BENCH_CUDA(t->run, cudaDeviceSynchronize());
    }
}
std::vector<unsigned long long> hash_of(himeno_team *t, int r, int sweeps)
{
    bench_run *run = t->run;
    const himeno_slab &s = t->slab[r];
    std::vector<unsigned long long> hash((size_t)s.planes + 2);
    BENCH_CUDA(run, cudaSetDevice(t->device[r]));
    unsigned long long *device =
        bench_gpu_array<unsigned long long>(run, s.planes + 2, "the hashes");
    bench_gpu_clear(run, device, s.planes + 2);
    if (run->err.status == FMO_OK)
        hash_planes<<<dim3(8, (unsigned)(s.planes + 2)), 256>>>(s, sweeps & 1, device);
    bench_gpu_read<unsigned long long>(run, hash.data(), device, s.planes + 2);
    cudaFree(device);
    return hash;
}

/* ---- the reference --------------------------------------------------------------------------- */

/* Does all sweeps of the whole grid with simple kernels on one GPU; returns the residual of the
 * last one. */
double plain_sweeps(const experiment *e, himeno_team *t, bool rough, int sweeps)
{
    const himeno_slab &s = t->slab[0];
    bench_run *run = e->run;
    double residual = 0.0;
    fill_coefficients(t, rough);
    fill_pressure(e, t, rough);
    himeno_grid g = {};
    const int64_t points = (int64_t)e->edge[0] * e->edge[1] * e->edge[2];
    const float *c = s.coefficient;
    g.ni = e->edge[0], g.nj = e->edge[1], g.nk = e->edge[2];
    for (int n = 0; n < 4; n++) g.a[n] = c + n * points;
    for (int n = 0; n < 3; n++) g.b[n] = c + (4 + n) * points;
    for (int n = 0; n < 3; n++) g.c[n] = c + (7 + n) * points;
    g.bound = c + 10 * points, g.source = c + 11 * points;
    bench_gpu_clear(run, s.sum, 1);
    for (int k = 0; k < sweeps && run->err.status == FMO_OK; k++) {
        g.p = s.p[k & 1], g.next = s.p[1 - (k & 1)];
        plain<<<dim3((unsigned)(g.nk + 63) / 64, (unsigned)g.nj - 2), 64>>>(
            g, k == sweeps - 1 ? s.sum : nullptr);
        BENCH_CUDA(run, cudaGetLastError());
    }
    bench_gpu_read<double>(run, &residual, s.sum, 1);
    return residual;
}

/* Computes the expected hashes and residual. For small grids, also compares them with the CPU's. */
void make_reference(experiment *e, himeno_team *t)
{
    bench_run *run = e->run;
    plain_sweeps(e, t, true, ROUGH_SWEEPS);
    e->known.rough = hash_of(t, 0, ROUGH_SWEEPS);
    e->known.residual = plain_sweeps(e, t, false, e->sweeps);
    e->known.smooth = hash_of(t, 0, e->sweeps);
    if ((int64_t)e->edge[0] * e->edge[1] * e->edge[2] > 1 << 20) return;
    std::vector<uint64_t> host((size_t)e->edge[0]);
    himeno_reference(run, e->edge, ROUGH_SWEEPS, host.data());
    for (int i = 0; i < e->edge[0] && run->err.status == FMO_OK; i++)
        if (host[(size_t)i] != e->known.rough[(size_t)i])
            bench_fail(run, FMO_ERR_CHECK, "grid %s: plane %d differs between GPU and CPU", e->name,
                       i);
}

/* ---- forms ----------------------------------------------------------------------------------- */

/* Sets the number of blocks of a rank: those that are resident, but no more than there are tiles.
 * Chooses the length of pieces with the shortest estimated time of a sweep. */
void shape(himeno_team *t, const himeno_form *form)
{
    int on_each = 0;
    BENCH_CUDA(t->run, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, form->kernel,
                                                                     HIMENO_THREADS, 0));
    int planes = 0;
    for (int r = 0; r < t->local_ranks; r++)
        if (t->slab[r].planes > planes) planes = t->slab[r].planes;
    const int64_t work_items = (int64_t)planes * t->slab[0].tiles;
    t->blocks = on_each * t->run->device.sms / (t->one_gpu ? t->local_ranks : 1);
    if (t->blocks > work_items) t->blocks = (int)work_items;
    for (int r = 0; r < t->local_ranks; r++) {
        himeno_slab *s = &t->slab[r];
        double best = INFINITY;
        for (int length = 1; length <= 64 && length <= s->planes; length++) {
            /* A piece also loads two more planes of p, about half the time of a plane. */
            himeno_slab tried = *s;
            tried.length = length;
            const int inside = himeno_items(tried) - himeno_edge_items(tried);
            const double rounds = ceil((double)inside / t->blocks);
            if (rounds * (length + 0.5) >= best) continue;
            best = rounds * (length + 0.5);
            s->length = length;
        }
    }
}

/* Whether no process has an error. */
bool agreed(bench_run *run, const bench_world *w)
{
    if (bench_world_max(w, run->err.status != FMO_OK) == 0.0) return true;
    bench_fail(run, FMO_ERR_DEVICE, "another process failed");
    return false;
}

/* One run from the initial values; returns seconds per sweep, negative after an error of any
 * process. */
double run_once(const experiment *e, himeno_team *t, const himeno_form *form, bool rough,
                int sweeps, bool halo, bool residual)
{
    fill_pressure(e, t, rough);
    if (!agreed(t->run, &t->world)) return -1.0;
    t->sweeps = sweeps, t->halo = halo, t->residual = residual;
    const double seconds = form->run(t);
    const double longest = bench_world_max(&t->world, seconds);
    return agreed(t->run, &t->world) ? longest / sweeps : -1.0;
}

/* Number of planes of all ranks whose bits differ. */
int64_t wrong_planes(himeno_team *t, const std::vector<unsigned long long> &known, int sweeps)
{
    double wrong = 0.0;
    for (int r = 0; r < t->local_ranks; r++) {
        const himeno_slab &s = t->slab[r];
        const std::vector<unsigned long long> hash = hash_of(t, r, sweeps);
        for (int i = 1; i <= s.planes; i++)
            wrong += hash[(size_t)i] != known[(size_t)(s.first - 1 + i)];
    }
    return (int64_t)bench_world_sum(&t->world, wrong);
}

double median_of(const experiment *e, himeno_team *t, const himeno_form *form, bool halo,
                 bool residual)
{
    double seconds[3];
    const int count = e->run->options->repeat < 3 ? (int)e->run->options->repeat : 3;
    for (int k = 0; k < count; k++) {
        seconds[k] = run_once(e, t, form, false, e->sweeps, halo, residual);
        if (seconds[k] < 0.0) return NAN;
    }
    return driver_spread_of(seconds, (size_t)count).median;
}

/* Makes the cell of a form with its parameters. */
bench_cell make_cell(const experiment *e, const himeno_team *t, const himeno_form *form, bool late)
{
    char method[40];
    snprintf(method, sizeof method, "%s%s",
             t->ranks == 1 && *form->name == 'h' ? "host" : form->name, late ? ", late" : "");
    if (t->ranks == 1 && *form->name == 'i')
        snprintf(method, sizeof method, "in kernel%s", late ? ", late" : "");
    bench_cell cell = bench_cell_make(e->run, BENCH_ON_GPU, method, NULL, "points");
    snprintf(cell.table, sizeof cell.table, "%d rank%s", t->ranks, t->ranks > 1 ? "s" : "");
    snprintf(cell.column, sizeof cell.column, "%s", e->name);
    bench_cell_text(&cell, "grid", e->name);
    bench_cell_number(&cell, "ranks", t->ranks);
    bench_cell_number(&cell, "gpus", t->gpus);
    bench_cell_number(&cell, "processes", t->world.processes);
    bench_cell_number(&cell, "sweeps", e->sweeps);
    bench_cell_text(&cell, "residual", late ? "late" : "at once");
    if (t->one_gpu) snprintf(cell.note, sizeof cell.note, "%d ranks on one GPU", t->ranks);
    return cell;
}

/* Measures a form: checks its pressure and residual, times it, and times it without its parts. */
void measure(experiment *e, himeno_team *t, const himeno_form *form, bool late)
{
    enum { REPEAT_MAX = 1000 };
    static double seconds[REPEAT_MAX];
    bench_run *run = e->run;
    const int repeat = (int)run->options->repeat;
    const double points = (double)(e->edge[0] - 2) * (e->edge[1] - 2) * (e->edge[2] - 2);
    bench_cell cell = make_cell(e, t, form, late);
    t->late = late;

    fill_coefficients(t, true);
    run_once(e, t, form, true, ROUGH_SWEEPS, true, true);
    int64_t wrong = wrong_planes(t, e->known.rough, ROUGH_SWEEPS);
    fill_coefficients(t, false);
    for (int k = 0; k < repeat; k++) {
        seconds[k] = run_once(e, t, form, false, e->sweeps, true, true);
        if (seconds[k] < 0.0) return;
    }
    wrong += wrong_planes(t, e->known.smooth, e->sweeps);
    /* The same terms in another order. */
    wrong += !(fabs(t->result - e->known.residual) <= points * 0x1p-52 * e->known.residual);
    if (!agreed(run, &t->world)) return;

    cell.first = seconds[0];
    const driver_spread spread = driver_spread_of(seconds, (size_t)repeat);
    cell.items = cell.items_run = (int64_t)points;
    cell.repeat = repeat;
    cell.min = spread.min, cell.median = spread.median, cell.max = spread.max;
    cell.spread = repeat > 1 ? (spread.max - spread.min) / spread.median : NAN;
    cell.check.kind = BENCH_EXACT;
    cell.check.wrong = wrong;
    if (t->ranks == 1 && !(e->alone <= cell.median)) e->alone = cell.median;

    cudaFuncAttributes attributes = {};
    BENCH_CUDA(run, cudaFuncGetAttributes(&attributes, form->kernel));
    bench_cell_number(&cell, "gflops", 1e-9 * 34.0 * points / cell.median);
    bench_cell_number(&cell, "gbytes", 1e-9 * 56.0 * points / cell.median);
    bench_cell_number(&cell, "bandwidth_share",
                      56.0 * points / cell.median / (e->bandwidth * t->gpus));
    bench_cell_number(&cell, "efficiency",
                      t->ranks == 1 ? NAN : e->alone / (t->gpus * cell.median));
    if (!late) { /* the share of a part is the time saved without it */
        const double no_halo = t->ranks > 1 ? median_of(e, t, form, false, true) : cell.median;
        const double no_residual = median_of(e, t, form, true, false);
        const double neither = t->ranks > 1 ? median_of(e, t, form, false, false) : no_residual;
        bench_cell_number(&cell, "compute_share", neither / cell.median);
        bench_cell_number(&cell, "halo_share", 1.0 - no_halo / cell.median);
        bench_cell_number(&cell, "convergence_share", 1.0 - no_residual / cell.median);
    }
    bench_cell_number(&cell, "registers", attributes.numRegs);
    bench_cell_number(&cell, "local_bytes", (double)attributes.localSizeBytes);
    bench_cell_number(&cell, "blocks", t->blocks);
    if (run->err.status == FMO_OK) bench_keep(run, &cell);
}

void run_form(experiment *e, himeno_team *t, const himeno_form *form)
{
    bench_run *run = e->run;
    char why[160] = "";
    if (!agreed(run, &t->world)) return;
    const bool good = form->open(t, why, sizeof why);
    if (bench_world_max(&t->world, !good) > 0.0) {
        bench_cell cell = make_cell(e, t, form, false);
        bench_leave_out(run, &cell, "%s", *why ? why : "not available in another process");
    } else {
        shape(t, form);
        for (int late = 0; late < 2 && agreed(run, &t->world); late++) measure(e, t, form, late);
    }
    form->close(t);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Measures all forms with one number of ranks. */
void run_ranks(experiment *e, int ranks, int devices, bool reference)
{
    static const himeno_form *const forms[FORMS] = {&himeno_in_kernel_peer, &himeno_in_kernel_proxy,
                                                    &himeno_host_copies, &himeno_host_nccl,
                                                    &himeno_host_mpi};
    const bench_world one = {1, 0};
    const bool processes = e->world->processes > 1;
    himeno_team t = {};
    t.run = e->run;
    t.world = ranks > 1 ? *e->world : one;
    t.ranks = ranks;
    t.first = t.world.rank;
    t.local_ranks = t.world.processes > 1 ? 1 : ranks;
    t.one_gpu = t.local_ranks > 1 && devices < t.local_ranks;
    t.gpus = processes && ranks > 1 ? (devices < ranks ? devices : ranks) : t.one_gpu ? 1 : ranks;
    for (int r = 0; r < t.local_ranks; r++)
        t.device[r] = processes ? e->world->rank % devices : t.one_gpu ? 0 : r;
    make_slabs(e, &t);
    if (reference) make_reference(e, &t);
    for (int f = 0; f < FORMS; f++) {
        const bool alone = forms[f] == &himeno_in_kernel_peer || forms[f] == &himeno_host_copies;
        const bool mpi = forms[f] == &himeno_host_mpi;
        if (ranks > 1 ? !mpi || processes : alone) run_form(e, &t, forms[f]);
    }
    free_slabs(&t);
}

double bandwidth_of(bench_run *run)
{
    int kilohertz = 0, bits = 0;
    BENCH_CUDA(run, cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, 0));
    BENCH_CUDA(run, cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    return 2.0 * 1e3 * kilohertz * bits / 8.0; /* two transfers per clock */
}

} // namespace

/* Measures all grids with 1, 2, 4 to --gpus ranks. */
extern "C" void himeno_ranks_gpu(bench_run *run, const bench_world *world)
{
    const bench_options *o = run->options;
    const int gpus = (int)o->gpus;
    int devices = 0, before = 0;
    BENCH_CUDA(run, cudaGetDevice(&before));
    BENCH_CUDA(run, cudaGetDeviceCount(&devices));
    if (run->err.status != FMO_OK) return;
    if (world->processes == 1 && devices > 1 && gpus > devices) {
        bench_fail(run, FMO_ERR_NO_DEVICE, "--gpus %d: there are %d", gpus, devices);
        return;
    }
    if (!o->quiet)
        printf("Ranks: %s\n", world->processes > 1 ? "processes, a GPU each"
                              : devices < gpus     ? "block groups of one kernel on one GPU"
                                                   : "GPUs of one process");
    for (int grid = 0; grid < BENCH_GRID_COUNT && agreed(run, world); grid++) {
        if (!(o->grids >> grid & 1)) continue;
        experiment e = {};
        e.run = run, e.world = world;
        e.name = bench_grid_name(grid), e.edge = himeno_edges((bench_grid)grid);
        e.sweeps = himeno_sweeps(o, e.edge);
        e.alone = NAN;
        e.bandwidth = bandwidth_of(run);
        for (int ranks = 1; ranks <= gpus && agreed(run, world);
             ranks = ranks < gpus && 2 * ranks > gpus ? gpus : 2 * ranks) {
            if (ranks > 1 && ranks < gpus && world->processes > 1) continue;
            if ((e.edge[0] - 2) / ranks < 2) continue; /* an outer plane on either side */
            run_ranks(&e, ranks, devices, ranks == 1);
        }
    }
    cudaSetDevice(before);
}
