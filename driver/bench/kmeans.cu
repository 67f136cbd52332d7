/* kmeans on the GPU, one thread per sample. Centroids are read from global memory, or staged strip
 * by strip in shared memory; sums of samples are added by the strategies. See kmeans.h. */
#include "gpu.cuh"
#include "kmeans.h"

namespace {

struct data_view {
    int64_t samples;
    int clusters, dimensions;
    const float *sample, *centroid;
    const int32_t *nearest; /* reference, input of the update */
    int32_t *out;
};

__device__ __forceinline__ float distance(const data_view &v, int64_t i, const float *centroid)
{
    float sum = 0.0f;
    for (int d = 0; d < v.dimensions; d++) {
        const float x = v.sample[d * v.samples + i] - centroid[d];
        sum += x * x;
    }
    return sum;
}

__global__ void __launch_bounds__(BENCH_THREADS) nearest_direct(data_view v, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float least = INFINITY;
    int nearest = 0;
    for (int k = 0; k < v.clusters; k++) {
        const float d = distance(v, i, v.centroid + (int64_t)k * v.dimensions);
        if (d < least) {
            least = d;
            nearest = k;
        }
    }
    v.out[i] = nearest;
}

/* Finds the nearest centroid, with strips of centroids in shared memory. */
__global__ void __launch_bounds__(BENCH_THREADS) nearest_staged(data_view v, int64_t n, int strip)
{
    extern __shared__ float staged[]; /* [strip][dimensions] */
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    float least = INFINITY;
    int nearest = 0;
    for (int first = 0; first < v.clusters; first += strip) {
        const int num = v.clusters - first < strip ? v.clusters - first : strip;
        __syncthreads(); /* all threads have finished with the last strip */
        for (int at = (int)threadIdx.x; at < num * v.dimensions; at += (int)blockDim.x)
            staged[at] = v.centroid[(int64_t)first * v.dimensions + at];
        __syncthreads();
        for (int k = 0; k < num && i < n; k++) {
            const float d = distance(v, i, staged + k * v.dimensions);
            if (d < least) {
                least = d;
                nearest = first + k;
            }
        }
    }
    if (i < n) v.out[i] = nearest;
}

template <class S>
__global__ void __launch_bounds__(BENCH_THREADS)
    update(data_view v, int64_t n, S scatter, double *sums)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const bool active = i < n;
    const unsigned mask = __ballot_sync(~0u, active);
    if (S::block_wide || active) {
        double *const to =
            active ? sums + (int64_t)v.nearest[i] * (v.dimensions + 1) : (double *)nullptr;
        for (int d = 0; d < v.dimensions; d++)
            scatter.add(mask, active ? to + d : (double *)nullptr,
                        active ? (double)v.sample[d * v.samples + i] : 0.0);
        scatter.add(mask, active ? to + v.dimensions : (double *)nullptr, 1.0);
    }
    fmo_scatter_finish(scatter);
}

struct gpu_case {
    bench_run *run;
    const kmeans_case *c;
    data_view view;
    double *sums;
};

template <class Launch>
void measure_nearest(const gpu_case &g, const char *method, int64_t strip, Launch launch)
{
    bench_run *run = g.run;
    bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, method, NULL, "distances");
    kmeans_cell_fill(g.c, strip, &cell);
    bench_gpu_measure(
        run, &cell, g.c->samples, g.c->clusters, BENCH_GPU_REPRESENTATIVE,
        [&](int64_t n) { bench_gpu_clear(run, g.view.out, n); },
        [&](int64_t n) { return bench_gpu_time(run, [&] { launch(n); }); },
        [&](int64_t n, bench_check *check) {
            bench_gpu_read(run, g.c->nearest_back, g.view.out, n);
            kmeans_check_nearest(g.c, n, check);
        });
}

/* Measures the sums with one strategy. */
template <class S, fmo_scatter scatter, fmo_commit commit> void update_cell(const gpu_case &g)
{
    if constexpr (scatter != FMO_SCATTER_COUNT) {
        bench_run *run = g.run;
        if (!bench_selected(run->options, scatter, commit)) return;
        bench_cell cell = bench_strategy_cell(run, scatter, commit, "updates");
        kmeans_cell_fill(g.c, -1, &cell);
        bench_gpu_measure(
            run, &cell, g.c->samples, g.c->dimensions + 1, BENCH_GPU_REPRESENTATIVE,
            [&](int64_t) { bench_gpu_clear(run, g.sums, kmeans_sums(g.c)); },
            [&](int64_t n) {
                return bench_gpu_time(run, [&] {
                    update<S><<<bench_blocks_for(run, n, BENCH_THREADS), BENCH_THREADS>>>(
                        g.view, n, bench_strategy<S>(), g.sums);
                });
            },
            [&](int64_t n, bench_check *check) {
                bench_gpu_read(run, g.c->sum_back, g.sums, kmeans_sums(g.c));
                for (int64_t s = 0; s < kmeans_sums(g.c); s++)
                    g.c->sum_back[s] = bench_sum_value(g.c->sum_back[s], scatter);
                kmeans_check_sum(g.c, n, check);
            });
    }
}

/* Measures the staged form with all strip lengths that fit into shared memory. */
void staged_cells(const gpu_case &g)
{
    bench_run *run = g.run;
    const cli_list *strips = &run->options->strips;
    BENCH_CUDA(run,
               cudaFuncSetAttribute(nearest_staged, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    run->device.shared_bytes));
    for (int s = 0; s < strips->count; s++) {
        const int64_t strip = strips->value[s];
        const size_t shared = (size_t)strip * (size_t)g.c->dimensions * sizeof(float);
        if (shared > (size_t)run->device.shared_bytes) {
            bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, "staged", NULL, "distances");
            kmeans_cell_fill(g.c, strip, &cell);
            bench_leave_out(run, &cell, "a strip takes %zu bytes of %d of shared memory", shared,
                            run->device.shared_bytes);
            continue;
        }
        measure_nearest(g, "staged", strip, [&](int64_t n) {
            nearest_staged<<<bench_blocks_for(run, n, BENCH_THREADS), BENCH_THREADS, shared>>>(
                g.view, n, (int)strip);
        });
    }
}

} // namespace

/* Copies the data and measures all forms. */
extern "C" void bench_kmeans_gpu(bench_run *run, const void *what)
{
    const kmeans_case *c = (const kmeans_case *)what;
    float *sample = bench_gpu_copy(run, c->sample, c->samples * c->dimensions, "samples");
    float *centroid =
        bench_gpu_copy(run, c->centroid, (int64_t)c->clusters * c->dimensions, "centroids");
    int32_t *nearest = bench_gpu_copy(run, c->nearest, c->samples, "nearest centroids");
    int32_t *out = bench_gpu_array<int32_t>(run, c->samples, "nearest centroids");
    double *sums = bench_gpu_array<double>(run, kmeans_sums(c), "sums");
    const gpu_case g = {
        run, c, {c->samples, c->clusters, c->dimensions, sample, centroid, nearest, out}, sums};
    if (run->err.status == FMO_OK) {
        measure_nearest(g, "not staged", 0, [&](int64_t n) {
            nearest_direct<<<bench_blocks_for(run, n, BENCH_THREADS), BENCH_THREADS>>>(g.view, n);
        });
        staged_cells(g);
#define ROW(name, scatter, commit, ...) update_cell<__VA_ARGS__, scatter, commit>(g);
        FMO_GPU_VARIANT_TABLE(ROW)
#undef ROW
    }
    cudaFree(sample);
    cudaFree(centroid);
    cudaFree(nearest);
    cudaFree(out);
    cudaFree(sums);
}
