/* himeno on the GPU, one thread per point. The residual is reduced by a strategy, a buffer, a tree
 * or CUB, or not at all. Compiled without fused multiply-add (himeno.h). */
#include "gpu.cuh"
#include "himeno.h"
#include "driver/base/clock.h"

#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/transform_iterator.h>

#include <stdlib.h>

namespace {

/* Destinations of a point's term of the residual; all threads of a block must call. */
struct to_nowhere {
    __device__ __forceinline__ void operator()(bool, int64_t, float) const {}
};
struct to_buffer {
    float *buffer;
    __device__ __forceinline__ void operator()(bool active, int64_t n, float term) const
    {
        if (active) buffer[n] = term;
    }
};
template <class S, typename T> struct to_strategy {
    S scatter;
    T *sum;
    __device__ __forceinline__ void operator()(bool active, int64_t, float term) const
    {
        const unsigned mask = __ballot_sync(~0u, active);
        if (S::block_wide)
            scatter.add(mask, active ? sum : (T *)nullptr, (T)term);
        else if (active)
            scatter.add(mask, sum, (T)term);
    }
};
template <typename T> struct to_tree {
    T *sum;
    __device__ __forceinline__ void operator()(bool active, int64_t, float term) const
    {
        const T all = bench_block_sum(active ? (T)term : (T)0);
        if (threadIdx.x == 0) fmo_commit_native::add(sum, all);
    }
};

template <class To>
__global__ void __launch_bounds__(BENCH_THREADS) sweep(himeno_grid g, int64_t points, To to)
{
    const int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const bool active = n < points;
    float term = 0.0f;
    if (active) {
        const unsigned inner_k = (unsigned)g.nk - 2, inner_j = (unsigned)g.nj - 2;
        const unsigned row = (unsigned)n / inner_k; /* the largest grid has 2^25 points */
        const int64_t at = himeno_at(&g, (int)(row / inner_j) + 1, (int)(row % inner_j) + 1,
                                     (int)((unsigned)n % inner_k) + 1);
        term = himeno_point(&g, at, &g.next[at]);
    }
    to(active, n, term);
}

struct widen {
    __host__ __device__ double operator()(float x) const { return x; }
};

template <typename T> struct gpu_case {
    bench_run *run;
    const himeno_case *c;
    himeno_grid grid; /* device */
    T *sum;           /* device */
    float *buffer;    /* device, [points] */
    float *host;      /* pinned, [points] */
    int64_t weight, planes;
};

template <class To> void launch(bench_run *run, const himeno_grid &grid, int64_t points, To to)
{
    sweep<<<bench_blocks_for(run, points, BENCH_THREADS), BENCH_THREADS>>>(grid, points, to);
}

/* Measures a way; work(planes) returns seconds and leaves the residual on the device. */
template <typename T, class Work>
void measure(const gpu_case<T> &g, bench_cell *cell, fmo_scatter scatter, Work work)
{
    bench_run *run = g.run;
    const int64_t representative = (BENCH_GPU_REPRESENTATIVE + g.weight - 1) / g.weight;
    bench_gpu_measure(
        run, cell, g.planes, g.weight, representative,
        [&](int64_t) { bench_gpu_clear(run, g.sum, 1); }, work,
        [&](int64_t n, bench_check *check) {
            T sum = 0;
            bench_gpu_read(run, &sum, g.sum, 1);
            const double quantum =
                fmo_scatter_sums_integers(scatter) ? 0.5 / bench_fixed_scale : 0.0;
            himeno_check(g.c, n, bench_sum_value(sum, scatter), quantum, check);
        });
}

template <class S, fmo_scatter scatter, fmo_commit commit, typename T>
void strategy_cell(const gpu_case<T> &g)
{
    if constexpr (scatter != FMO_SCATTER_COUNT && bench_adds<S, T>::value) {
        bench_run *run = g.run;
        if (!bench_selected(run->options, scatter, commit)) return;
        bench_cell cell = bench_strategy_cell(run, scatter, commit, "points");
        himeno_cell_fill(g.c, scatter == FMO_SCATTER_NATIVE ? 2 : 1, &cell);
        measure(g, &cell, scatter, [&](int64_t n) {
            return bench_gpu_time(run, [&] {
                launch(run, g.grid, n * g.weight, to_strategy<S, T>{bench_strategy<S>(), g.sum});
            });
        });
    }
}

template <typename T> bench_cell make_cell(const gpu_case<T> &g, const char *method, int way)
{
    bench_cell cell = bench_cell_make(g.run, BENCH_ON_GPU, method, NULL, "points");
    snprintf(cell.against, sizeof cell.against, "gpu native/native");
    himeno_cell_fill(g.c, way, &cell);
    return cell;
}

/* Measures the sweep alone, which shows what the residual costs in the other cells. Its check is
 * that of the sweeps before: `wrong` points differ from the CPU's bits. */
template <typename T> void alone_cell(const gpu_case<T> &g, int64_t wrong)
{
    bench_run *run = g.run;
    bench_cell cell = make_cell(g, "no residual", 0);
    bench_gpu_measure(
        run, &cell, g.planes, g.weight, 1, [](int64_t) {},
        [&](int64_t n) {
            return bench_gpu_time(run, [&] { launch(run, g.grid, n * g.weight, to_nowhere()); });
        },
        [&](int64_t, bench_check *check) {
            bench_check_exact(check, wrong == 0);
            check->wrong = wrong;
        });
}

template <typename T> void tree_cell(const gpu_case<T> &g)
{
    bench_run *run = g.run;
    bench_cell cell = make_cell(g, "block tree", 0);
    measure(g, &cell, FMO_SCATTER_NATIVE, [&](int64_t n) {
        return bench_gpu_time(run, [&] { launch(run, g.grid, n * g.weight, to_tree<T>{g.sum}); });
    });
}

cudaError_t cub_call(void *temp, size_t *bytes, const float *in, float *out, int64_t n)
{
    return cub::DeviceReduce::Sum(temp, *bytes, in, out, n);
}
cudaError_t cub_call(void *temp, size_t *bytes, const float *in, double *out, int64_t n)
{
    return cub::DeviceReduce::Sum(temp, *bytes, thrust::make_transform_iterator(in, widen()), out,
                                  n);
}

template <typename T> void cub_cell(const gpu_case<T> &g)
{
    bench_run *run = g.run;
    bench_cell cell = make_cell(g, "cub", 0);
    size_t bytes = 0;
    BENCH_CUDA(run, cub_call(nullptr, &bytes, g.buffer, g.sum, g.planes * g.weight));
    void *temp = bench_gpu_alloc(run, bytes, "CUB");
    measure(g, &cell, FMO_SCATTER_NATIVE, [&](int64_t n) {
        return bench_gpu_time(run, [&] {
            size_t have = bytes;
            launch(run, g.grid, n * g.weight, to_buffer{g.buffer});
            BENCH_CUDA(run, cub_call(temp, &have, g.buffer, g.sum, n * g.weight));
        });
    });
    cudaFree(temp);
}

template <typename T> T host_sum(const float *term, int64_t n, bool parallel)
{
    T sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (parallel)
    for (int64_t i = 0; i < n; i++) sum += (T)term[i];
    return sum;
}

/* Measures the ways (3) and (4): the terms are copied to the CPU and added there, without overlap,
 * as published. */
template <typename T> void split_cell(const gpu_case<T> &g, bool parallel)
{
    bench_run *run = g.run;
    bench_cell cell =
        make_cell(g, parallel ? "cpu adds, openmp" : "cpu adds, serial", parallel ? 4 : 3);
    bench_cell_number(&cell, "threads", parallel ? run->threads : 1);
    const int before = run->cell_num;
    double add_seconds = 0.0, all_seconds = 0.0;
    measure(g, &cell, FMO_SCATTER_NATIVE, [&](int64_t n) {
        const int64_t points = n * g.weight;
        const double begin = driver_seconds();
        launch(run, g.grid, points, to_buffer{g.buffer});
        BENCH_CUDA(run, cudaGetLastError());
        BENCH_CUDA(run, cudaMemcpy(g.host, g.buffer, (size_t)points * sizeof(float),
                                   cudaMemcpyDeviceToHost));
        const double copied = driver_seconds();
        const T sum = host_sum<T>(g.host, points, parallel);
        const double end = driver_seconds();
        BENCH_CUDA(run, cudaMemcpy(g.sum, &sum, sizeof sum, cudaMemcpyHostToDevice));
        add_seconds = end - copied;
        all_seconds = end - begin;
        return all_seconds;
    });
    if (run->cell_num > before && all_seconds > 0.0)
        bench_cell_number(&run->cell[before], "cpu_share", add_seconds / all_seconds);
}

/* Measures all ways with residuals of one type. */
template <typename T>
void run_type(bench_run *run, const himeno_case *c, const himeno_grid &grid, float *buffer,
              float *host, int64_t wrong)
{
    gpu_case<T> g = {run,
                     c,
                     grid,
                     bench_gpu_array<T>(run, 1, "the residual"),
                     buffer,
                     host,
                     himeno_weight(&c->grid),
                     c->grid.ni - 2};
    if (run->err.status == FMO_OK) {
        alone_cell(g, wrong);
#define ROW(name, scatter, commit, ...) strategy_cell<__VA_ARGS__, scatter, commit>(g);
        FMO_GPU_VARIANT_TABLE(ROW)
#undef ROW
        tree_cell(g);
        cub_cell(g);
        split_cell(g, false);
        split_cell(g, true);
    }
    cudaFree(g.sum);
}

} // namespace

/* Copies the grid, does the sweeps before the timed one, compares them with the CPU's, and
 * measures. */
extern "C" void bench_himeno_gpu(bench_run *run, const void *what)
{
    const himeno_case *c = (const himeno_case *)what;
    himeno_grid grid = c->grid;
    const int64_t points = (int64_t)grid.ni * grid.nj * grid.nk;
    float *array[HIMENO_ARRAYS], *host = nullptr, *back = nullptr;
    for (int n = 0; n < HIMENO_ARRAYS; n++)
        array[n] = bench_gpu_copy(run, c->array[n], points, "the grid");
    float *buffer = bench_gpu_array<float>(run, points, "the terms of the residual");
    back = (float *)bench_alloc(run, (size_t)points, sizeof(float), "the pressure");
    if (run->err.status == FMO_OK)
        BENCH_CUDA(run, cudaMallocHost((void **)&host, (size_t)points * sizeof(float)));
    if (run->err.status == FMO_OK) {
        /* The CPU's sweeps have overwritten the initial values; set them again. */
        himeno_start(c, back);
        for (int n = 0; n < 2; n++)
            BENCH_CUDA(run, cudaMemcpy(array[n], back, (size_t)points * sizeof(float),
                                       cudaMemcpyHostToDevice));
        grid.p = array[0];
        grid.next = array[1];
        for (int n = 0; n < 4; n++) grid.a[n] = array[2 + n];
        for (int n = 0; n < 3; n++) grid.b[n] = array[6 + n];
        for (int n = 0; n < 3; n++) grid.c[n] = array[9 + n];
        grid.bound = array[12];
        grid.source = array[13];
        for (int64_t s = 0; s < run->options->sweeps && run->err.status == FMO_OK; s++) {
            launch(run, grid, (grid.ni - 2) * himeno_weight(&grid), to_nowhere());
            BENCH_CUDA(run, cudaGetLastError());
            float *const swept = grid.next;
            grid.next = (float *)grid.p;
            grid.p = swept;
        }
        bench_gpu_read(run, back, grid.p, points);
        int64_t wrong = 0;
        for (int64_t at = 0; at < points; at++)
            wrong += memcmp(&back[at], &c->swept[at], sizeof(float)) != 0;
        if (c->type == BENCH_FLOAT)
            run_type<float>(run, c, grid, buffer, host, wrong);
        else
            run_type<double>(run, c, grid, buffer, host, wrong);
    }
    for (int n = 0; n < HIMENO_ARRAYS; n++) cudaFree(array[n]);
    cudaFree(buffer);
    if (host) cudaFreeHost(host);
    free(back);
}
