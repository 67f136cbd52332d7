/* interchange on the GPU: a thread owns b[j], or a thread has a row i and scatters. See
 * interchange.h. */
#include "gpu.cuh"
#include "interchange.h"

#include <stdlib.h>

namespace {

__global__ void fill(uint64_t seed, int64_t edge, bool by_rows, double *a)
{
    const int64_t all = edge * edge, stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < all; n += stride) {
        const int64_t i = by_rows ? n / edge : n % edge, j = by_rows ? n % edge : n / edge;
        a[n] = interchange_value(seed, edge, i, j);
    }
}

__global__ void __launch_bounds__(BENCH_THREADS)
    j_outside(const double *a, int64_t columns, int64_t edge, int64_t step_i, int64_t step_j,
              double *b)
{
    const int64_t j = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= columns) return;
    double sum = b[j];
    for (int64_t i = 0; i < edge; i++) sum += a[i * step_i + j * step_j];
    b[j] = sum;
}

template <class S>
__global__ void __launch_bounds__(BENCH_THREADS)
    i_outside(const double *a, int64_t columns, int64_t edge, int64_t step_i, int64_t step_j,
              S scatter, double *b)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const bool active = i < edge;
    const unsigned mask = __ballot_sync(~0u, active);
    for (int64_t j = 0; j < columns; j++) {
        if (S::block_wide)
            scatter.add(mask, active ? b + j : (double *)nullptr,
                        active ? a[i * step_i + j * step_j] : 0.0);
        else if (active)
            scatter.add(mask, b + j, a[i * step_i + j * step_j]);
    }
    fmo_scatter_finish(scatter);
}

struct gpu_case {
    bench_run *run;
    const interchange_case *c;
    double *a, *b; /* device */
    double *host_b;
    bool by_rows;
};

/* Measures a cell; launch(columns, step_i, step_j) queues the kernel. */
template <class Launch>
void measure(const gpu_case &g, bench_cell *cell, fmo_scatter scatter, Launch launch)
{
    bench_run *run = g.run;
    const int64_t edge = g.c->edge;
    const int64_t representative = edge ? (BENCH_GPU_REPRESENTATIVE + edge - 1) / edge : 1;
    bench_gpu_measure(
        run, cell, edge, edge, representative, [&](int64_t) { bench_gpu_clear(run, g.b, edge); },
        [&](int64_t columns) {
            return bench_gpu_time(
                run, [&] { launch(columns, g.by_rows ? edge : 1, g.by_rows ? 1 : edge); });
        },
        [&](int64_t columns, bench_check *check) {
            bench_gpu_read(run, g.host_b, g.b, columns);
            for (int64_t j = 0; j < columns; j++)
                g.host_b[j] = bench_sum_value(g.host_b[j], scatter);
            const double quantum =
                fmo_scatter_sums_integers(scatter) ? 0.5 / bench_fixed_scale : 0.0;
            interchange_check(g.c, columns, g.host_b, quantum, check);
        });
}

template <class S, fmo_scatter scatter, fmo_commit commit> void strategy_cell(const gpu_case &g)
{
    if constexpr (scatter != FMO_SCATTER_COUNT) {
        bench_run *run = g.run;
        if (!bench_selected(run->options, scatter, commit)) return;
        bench_cell cell = bench_strategy_cell(run, scatter, commit, "adds");
        char name[64];
        snprintf(name, sizeof name, "%.40s", cell.row + strlen("gpu "));
        snprintf(cell.row, sizeof cell.row, "gpu i outside, %.32s", name);
        interchange_cell_fill(g.c, g.by_rows, &cell);
        snprintf(cell.against, sizeof cell.against, "gpu i outside, native/%s, by %s",
                 fmo_commit_name(commit), g.by_rows ? "rows" : "columns");
        measure(g, &cell, scatter, [&](int64_t columns, int64_t step_i, int64_t step_j) {
            i_outside<S><<<bench_blocks_for(run, g.c->edge, BENCH_THREADS), BENCH_THREADS>>>(
                g.a, columns, g.c->edge, step_i, step_j, bench_strategy<S>(), g.b);
        });
    }
}

void owner_cell(const gpu_case &g)
{
    bench_run *run = g.run;
    bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, "j outside", NULL, "adds");
    interchange_cell_fill(g.c, g.by_rows, &cell);
    snprintf(cell.against, sizeof cell.against, "gpu i outside, native/native, by %s",
             g.by_rows ? "rows" : "columns");
    measure(g, &cell, FMO_SCATTER_NATIVE, [&](int64_t columns, int64_t step_i, int64_t step_j) {
        j_outside<<<bench_blocks_for(run, columns, BENCH_THREADS), BENCH_THREADS>>>(
            g.a, columns, g.c->edge, step_i, step_j, g.b);
    });
}

} // namespace

/* Fills the matrix on the device in both storage orders, and measures both loop orders. */
extern "C" void bench_interchange_gpu(bench_run *run, const void *what)
{
    const interchange_case *c = (const interchange_case *)what;
    gpu_case g = {run, c, nullptr, nullptr, nullptr, true};
    g.a = bench_gpu_array<double>(run, c->edge * c->edge, "the matrix");
    g.b = bench_gpu_array<double>(run, c->edge, "b");
    g.host_b = (double *)bench_alloc(run, (size_t)c->edge, sizeof(double), "b");
    for (int by_rows = 1; by_rows >= 0 && run->err.status == FMO_OK; by_rows--) {
        g.by_rows = by_rows;
        fill<<<bench_resident(run, fill, BENCH_THREADS, 0, c->edge * c->edge), BENCH_THREADS>>>(
            c->seed, c->edge, by_rows, g.a);
        BENCH_CUDA(run, cudaGetLastError());
        owner_cell(g);
#define ROW(name, scatter, commit, ...) strategy_cell<__VA_ARGS__, scatter, commit>(g);
        FMO_GPU_VARIANT_TABLE(ROW)
#undef ROW
    }
    cudaFree(g.a);
    cudaFree(g.b);
    free(g.host_b);
}
