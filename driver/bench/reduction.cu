/* reduction on the GPU: an atomic per item with every strategy; batches summed in a register before
 * one atomic; trees over a warp, a block, the device; CUB. See reduction.h. */
#include "gpu.cuh"
#include "reduction.h"

#include <cub/device/device_reduce.cuh>

namespace {

enum { AHEAD = 4 };

/* Makes an item: int32 as int (fmo_sum wraps), the others in their type. */
template <typename T> struct item_of;
template <> struct item_of<int> {
    static __device__ __forceinline__ int make(uint64_t seed, int64_t i)
    {
        return reduction_int(seed, i);
    }
};
template <> struct item_of<float> {
    static __device__ __forceinline__ float make(uint64_t seed, int64_t i)
    {
        return (float)reduction_number(seed, i);
    }
};
template <> struct item_of<double> {
    static __device__ __forceinline__ double make(uint64_t seed, int64_t i)
    {
        return reduction_number(seed, i);
    }
};

template <typename T> __global__ void fill_items(uint64_t seed, int64_t n, T *items)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        items[i] = item_of<T>::make(seed, i);
}

/* Adds every item with a strategy. */
template <class S, typename T>
__global__ void __launch_bounds__(BENCH_THREADS)
    one_atomic_each(const T *items, int64_t n, S scatter, T *sum)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t first = (int64_t)blockIdx.x * blockDim.x; first < n; first += AHEAD * stride) {
        T item[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const int64_t i = first + a * stride + threadIdx.x;
            item[a] = i < n ? items[i] : (T)0;
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const bool active = first + a * stride + threadIdx.x < n;
            const unsigned mask = __ballot_sync(~0u, active);
            if (S::block_wide)
                scatter.add(mask, active ? sum : (T *)nullptr, item[a]);
            else if (active)
                scatter.add(mask, sum, item[a]);
        }
    }
    fmo_scatter_finish(scatter);
}

/* Sum of a thread's batch: `batch` consecutive items (uncoalesced on purpose), or `batch` items
 * with a stride of one block of threads. */
template <typename T>
__device__ __forceinline__ T batch_sum(const T *items, int64_t n, int64_t batch, bool strided)
{
    const int64_t block = (int64_t)blockIdx.x * blockDim.x * batch;
    const int64_t begin = strided ? block + threadIdx.x : block + threadIdx.x * batch;
    const int64_t step = strided ? blockDim.x : 1;
    T sum = 0;
    for (int64_t b = 0; b < batch; b++) {
        const int64_t i = begin + b * step;
        if (i < n) sum = fmo_sum(sum, items[i]);
    }
    return sum;
}

template <class Commit, typename T>
__global__ void __launch_bounds__(BENCH_THREADS)
    batches(const T *items, int64_t n, int64_t batch, bool strided, T *sum)
{
    Commit::add(sum, batch_sum(items, n, batch, strided));
}

enum { TREE_WARP, TREE_BLOCK, TREE_DEVICE };

/* Grid-strided sum of a thread, then a tree. `out`: the sum, or partial sums per block. */
template <typename T>
__global__ void __launch_bounds__(BENCH_THREADS) tree(const T *items, int64_t n, int form, T *out)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    T sum = 0;
    for (int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; first < n;
         first += AHEAD * stride) {
        T item[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++)
            item[a] = first + a * stride < n ? items[first + a * stride] : (T)0;
#pragma unroll
        for (int a = 0; a < AHEAD; a++) sum = fmo_sum(sum, item[a]);
    }
    if (form == TREE_WARP) {
        fmo_warp_sum<1>(&sum);
        if (fmo_lane() == 0) fmo_commit_native::add(out, sum);
        return;
    }
    sum = bench_block_sum(sum);
    if (threadIdx.x != 0) return;
    if (form == TREE_BLOCK)
        fmo_commit_native::add(out, sum);
    else
        out[blockIdx.x] = sum;
}

template <typename T> struct gpu_case {
    bench_run *run;
    reduction_case *c;
    T *items, *sum; /* device */
};

template <typename T, class Launch>
void measure(const gpu_case<T> &g, bench_cell *cell, fmo_scatter scatter, Launch launch)
{
    bench_run *run = g.run;
    bench_gpu_measure(
        run, cell, g.c->count, 1, BENCH_GPU_REPRESENTATIVE,
        [&](int64_t) { bench_gpu_clear(run, g.sum, 1); },
        [&](int64_t n) { return bench_gpu_time(run, [&] { launch(n); }); },
        [&](int64_t n, bench_check *check) {
            T sum = 0;
            bench_gpu_read(run, &sum, g.sum, 1);
            const double quantum =
                fmo_scatter_sums_integers(scatter) ? 0.5 / bench_fixed_scale : 0.0;
            reduction_check(g.c, n, bench_sum_value(sum, scatter), quantum, check);
        });
}

/* Measures one strategy with one grid. */
template <class S, fmo_scatter scatter, fmo_commit commit, typename T>
void strategy_cell(const gpu_case<T> &g, int64_t blocks_asked)
{
    if constexpr (scatter != FMO_SCATTER_COUNT && bench_adds<S, T>::value) {
        bench_run *run = g.run;
        if (!bench_selected(run->options, scatter, commit)) return;
        auto kernel = one_atomic_each<S, T>;
        const int blocks = blocks_asked > 0
                               ? (int)blocks_asked
                               : bench_resident(run, kernel, BENCH_THREADS, 0, g.c->count);
        bench_cell cell = bench_strategy_cell(run, scatter, commit, "adds");
        reduction_cell_fill(g.c, &cell);
        bench_cell_number(&cell, "blocks", blocks);
        if (blocks_asked >= 0) { /* several grids: one row each */
            char suffix[24];
            snprintf(suffix, sizeof suffix, ", %d blocks", blocks);
            strncat(cell.row, suffix, sizeof cell.row - strlen(cell.row) - 1);
            strncat(cell.against, suffix, sizeof cell.against - strlen(cell.against) - 1);
        }
        measure(g, &cell, scatter, [&](int64_t n) {
            kernel<<<blocks, BENCH_THREADS>>>(g.items, n, bench_strategy<S>(), g.sum);
        });
    }
}

template <class Commit, typename T>
void batch_cell(const gpu_case<T> &g, fmo_commit commit, int64_t batch, bool strided)
{
    bench_run *run = g.run;
    char method[40];
    if (!(run->options->commits >> commit & 1)) return;
    snprintf(method, sizeof method, "batch %lld, %s", (long long)batch,
             strided ? "strided" : "contiguous");
    bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, method, fmo_commit_name(commit), "adds");
    snprintf(cell.against, sizeof cell.against, "gpu native/%s", fmo_commit_name(commit));
    reduction_cell_fill(g.c, &cell);
    bench_cell_number(&cell, "batch", (double)batch);
    bench_cell_text(&cell, "order", strided ? "strided" : "contiguous");
    measure(g, &cell, FMO_SCATTER_NATIVE, [&](int64_t n) {
        const int blocks = bench_blocks_for(run, (n + batch - 1) / batch, BENCH_THREADS);
        batches<Commit, T><<<blocks, BENCH_THREADS>>>(g.items, n, batch, strided, g.sum);
    });
}

/* Measures a tree; the device tree has a second kernel for the partial sums. */
template <typename T> void tree_cell(const gpu_case<T> &g, const char *method, int form)
{
    bench_run *run = g.run;
    const int blocks = bench_resident(run, tree<T>, BENCH_THREADS, 0, g.c->count);
    bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, method, NULL, "adds");
    snprintf(cell.against, sizeof cell.against, "gpu native/native");
    reduction_cell_fill(g.c, &cell);
    bench_cell_number(&cell, "blocks", blocks);
    T *partial = bench_gpu_array<T>(run, blocks, "partial sums");
    measure(g, &cell, FMO_SCATTER_NATIVE, [&](int64_t n) {
        if (form == TREE_DEVICE) {
            tree<T><<<blocks, BENCH_THREADS>>>(g.items, n, TREE_DEVICE, partial);
            tree<T><<<1, BENCH_THREADS>>>(partial, blocks, TREE_DEVICE, g.sum);
        } else {
            tree<T><<<blocks, BENCH_THREADS>>>(g.items, n, form, g.sum);
        }
    });
    cudaFree(partial);
}

template <typename T> void cub_cell(const gpu_case<T> &g)
{
    bench_run *run = g.run;
    bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, "cub", NULL, "adds");
    snprintf(cell.against, sizeof cell.against, "gpu native/native");
    reduction_cell_fill(g.c, &cell);
    size_t bytes = 0;
    BENCH_CUDA(run, cub::DeviceReduce::Sum(nullptr, bytes, g.items, g.sum, g.c->count));
    void *temp = bench_gpu_alloc(run, bytes, "CUB");
    measure(g, &cell, FMO_SCATTER_NATIVE, [&](int64_t n) {
        size_t have = bytes;
        BENCH_CUDA(run, cub::DeviceReduce::Sum(temp, have, g.items, g.sum, n));
    });
    cudaFree(temp);
}

/* Measures all methods with items of one type. */
template <typename T> void run_type(bench_run *run, reduction_case *c)
{
    const bench_options *o = run->options;
    gpu_case<T> g = {run, c, nullptr, nullptr};
    g.items = bench_gpu_array<T>(run, c->count, "items");
    g.sum = bench_gpu_array<T>(run, 1, "the sum");
    if (run->err.status == FMO_OK) {
        fill_items<T>
            <<<bench_resident(run, fill_items<T>, BENCH_THREADS, 0, c->count), BENCH_THREADS>>>(
                c->seed, c->count, g.items);
        BENCH_CUDA(run, cudaGetLastError());
        const int64_t own = -1;
        const int grids = o->blocks.count ? o->blocks.count : 1;
        for (int k = 0; k < grids; k++) {
            const int64_t blocks = o->blocks.count ? o->blocks.value[k] : own;
#define ROW(name, scatter, commit, ...) strategy_cell<__VA_ARGS__, scatter, commit>(g, blocks);
            FMO_GPU_VARIANT_TABLE(ROW)
#undef ROW
        }
        for (int b = 0; b < o->batches.count; b++) {
            for (int strided = 0; strided < 2; strided++) {
                batch_cell<fmo_commit_native>(g, FMO_COMMIT_NATIVE, o->batches.value[b], strided);
                batch_cell<fmo_commit_cas>(g, FMO_COMMIT_CAS, o->batches.value[b], strided);
            }
        }
        tree_cell(g, "warp tree", TREE_WARP);
        tree_cell(g, "block tree", TREE_BLOCK);
        tree_cell(g, "device tree", TREE_DEVICE);
        cub_cell(g);
    }
    cudaFree(g.items);
    cudaFree(g.sum);
}

} // namespace

extern "C" void bench_reduction_gpu(bench_run *run, const void *what)
{
    reduction_case *c = (reduction_case *)what;
    if (c->type == BENCH_INT32) run_type<int>(run, c);
    if (c->type == BENCH_FLOAT) run_type<float>(run, c);
    if (c->type == BENCH_DOUBLE) run_type<double>(run, c);
}
