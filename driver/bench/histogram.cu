/* histogram on the GPU: every element strategy and atomic update; private bins in shared memory,
 * flushed by atomics or merged by a second kernel; a copy of the bins for each lane; CUB; an L2
 * window over the bins. See histogram.h. */
#include "gpu.cuh"
#include "histogram.h"

#include <cub/device/device_histogram.cuh>

#include <stdlib.h>

namespace {

/* Private bins: one large block per multiprocessor, so that many threads share the bins. */
enum { PRIVATE_THREADS = 1024, AHEAD = 4, MERGE_EDGE = 32 };
/* Two blocks, each with private bins, on a multiprocessor that holds 2048 threads. Others hold 1024
 * (Turing) or 1536 threads, and launch bounds for two blocks are an error there. If one PTX is used
 * for all (FMO_ONE_PTX), registers are limited as for two blocks. */
#if defined(FMO_ONE_PTX)
#define PRIVATE_BOUNDS __maxnreg__(32)
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ / 100 != 9 && \
    __CUDA_ARCH__ / 100 != 10
#define PRIVATE_BOUNDS __launch_bounds__(PRIVATE_THREADS)
#else
#define PRIVATE_BOUNDS __launch_bounds__(PRIVATE_THREADS, 2)
#endif

/* The published grid: 2^20 threads. */
const int published_blocks = (1 << 20) / BENCH_THREADS;

/* Maximum size of the partial histograms of "shared, merged", bytes. */
const int64_t partial_bytes_max = (int64_t)2 << 30;

struct ids_in {
    const int32_t *id;
    __device__ __forceinline__ int64_t bin(int64_t i) const { return id[i]; }
};
struct numbers_in {
    const double *number;
    int64_t bins;
    __device__ __forceinline__ int64_t bin(int64_t i) const { return bench_bin(number[i], bins); }
};

__global__ void fill_items(bench_items items, int32_t *ids, double *numbers)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < items.count; i += stride) {
        if (ids)
            ids[i] = (int32_t)bench_item_id(&items, i);
        else
            numbers[i] = bench_item_number(&items, i);
    }
}

/* Adds items with a strategy. Each thread loads AHEAD items at once. The loop's bounds are the same
 * for a block, so that all its threads take part in a block-wide strategy. */
template <class In, class S, typename T>
__global__ void __launch_bounds__(BENCH_THREADS)
    add_items(In in, int64_t n, S scatter, T *bins, T one)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t first = (int64_t)blockIdx.x * blockDim.x; first < n; first += AHEAD * stride) {
        int64_t bin[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const int64_t i = first + a * stride + threadIdx.x;
            bin[a] = i < n ? in.bin(i) : -1;
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const bool active = bin[a] >= 0;
            const unsigned mask = __ballot_sync(~0u, active);
            if (S::block_wide)
                scatter.add(mask, active ? bins + bin[a] : (T *)nullptr, one);
            else if (active)
                scatter.add(mask, bins + bin[a], one);
        }
    }
    fmo_scatter_finish(scatter);
}

/* Counts bins first_bin .. first_bin + width - 1 of all items in shared memory: own[bin * copies +
 * lane % copies]. */
template <class In, typename T>
__device__ __forceinline__ void count_private(const In &in, int64_t n, T *own, int64_t first_bin,
                                              int width, int copies, T one)
{
    for (int b = (int)threadIdx.x; b < width * copies; b += (int)blockDim.x) own[b] = 0;
    __syncthreads();
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    const int copy = (int)threadIdx.x % copies;
    for (int64_t first = (int64_t)blockIdx.x * blockDim.x; first < n; first += AHEAD * stride) {
        int64_t bin[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const int64_t i = first + a * stride + threadIdx.x;
            bin[a] = i < n ? in.bin(i) - first_bin : -1;
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++)
            if (bin[a] >= 0 && bin[a] < width) atomicAdd(&own[(int)bin[a] * copies + copy], one);
    }
    __syncthreads();
}

template <typename T> __device__ __forceinline__ T *shared_bins(void)
{
    extern __shared__ double memory[];
    return (T *)memory;
}

template <class In, typename T>
__global__ void PRIVATE_BOUNDS count_flush(In in, int64_t n, T *bins, int width, int copies, T one)
{
    T *own = shared_bins<T>();
    count_private(in, n, own, 0, width, copies, one);
    for (int b = (int)threadIdx.x; b < width; b += (int)blockDim.x) {
        T sum = 0;
        for (int c = 0; c < copies; c++) sum += own[b * copies + (c + b) % copies];
        if (sum != 0) atomicAdd(&bins[b], sum);
    }
}

/* Block (x, y) counts tile y of the bins; partial[x][bins]. */
template <class In, typename T>
__global__ void PRIVATE_BOUNDS count_partial(In in, int64_t n, T *partial, int64_t bins, int tile,
                                             T one)
{
    T *own = shared_bins<T>();
    const int64_t first_bin = (int64_t)blockIdx.y * tile;
    const int width = (int)(bins - first_bin < tile ? bins - first_bin : tile);
    count_private(in, n, own, first_bin, width, 1, one);
    T *out = partial + (int64_t)blockIdx.x * bins + first_bin;
    for (int b = (int)threadIdx.x; b < width; b += (int)blockDim.x) out[b] = own[b];
}

/* bins[b] = sum over rows. A block has 32 bins, and its rows of threads share the rows. Works for
 * any number of bins. */
template <typename T>
__global__ void __launch_bounds__(MERGE_EDGE *MERGE_EDGE)
    merge(const T *partial, int rows, int64_t bins, T *out)
{
    __shared__ T sums[MERGE_EDGE][MERGE_EDGE + 1];
    for (int64_t first = (int64_t)blockIdx.x * MERGE_EDGE; first < bins;
         first += (int64_t)gridDim.x * MERGE_EDGE) {
        const int64_t b = first + threadIdx.x;
        T sum = 0;
        if (b < bins)
            for (int r = (int)threadIdx.y; r < rows; r += MERGE_EDGE) sum += partial[r * bins + b];
        sums[threadIdx.y][threadIdx.x] = sum;
        __syncthreads();
        for (int half = MERGE_EDGE / 2; half; half /= 2) {
            if ((int)threadIdx.y < half)
                sums[threadIdx.y][threadIdx.x] += sums[threadIdx.y + half][threadIdx.x];
            __syncthreads();
        }
        if (threadIdx.y == 0 && b < bins) out[b] = sums[0][threadIdx.x];
        __syncthreads();
    }
}

/* The data of a cell; ids or numbers, int32 or double bins. */
template <class In, typename T> struct gpu_case {
    bench_run *run;
    histogram_case *c;
    In in;
    T *bins;        /* device */
    T *host_bins;   /* result of a run */
    int64_t blocks; /* requested; 0: resident; -1: each kernel's default */
};

template <class In, typename T> void fill_cell(const gpu_case<In, T> &g, bench_cell *cell)
{
    histogram_cell_fill(g.c, cell);
    if (g.blocks >= 0) { /* several grids: one table each */
        const size_t used = strlen(cell->table);
        if (g.blocks == 0)
            snprintf(cell->table + used, sizeof cell->table - used, ", resident blocks");
        else
            snprintf(cell->table + used, sizeof cell->table - used, ", %lld blocks",
                     (long long)g.blocks);
    }
}

/* Measures a cell; launch(n) queues the kernels for the first n items. If part of the work does not
 * decrease with n, it must not be extrapolated: then `representative` is all items. */
template <class In, typename T, class Launch>
void measure(const gpu_case<In, T> &g, bench_cell *cell, fmo_scatter scatter, Launch launch,
             int64_t representative = BENCH_GPU_REPRESENTATIVE)
{
    bench_run *run = g.run;
    const int64_t bins = g.c->items.bins;
    bench_gpu_measure(
        run, cell, g.c->items.count, 1, representative,
        [&](int64_t) { bench_gpu_clear(run, g.bins, bins); },
        [&](int64_t n) { return bench_gpu_time(run, [&] { launch(n); }); },
        [&](int64_t n, bench_check *check) {
            const int64_t *expected = histogram_expected_counts(g.c, n);
            bench_gpu_read(run, g.host_bins, g.bins, bins);
            for (int64_t b = 0; b < bins && run->err.status == FMO_OK; b++) {
                if (std::is_same<T, int>::value)
                    bench_check_exact(check, (uint32_t)g.host_bins[b] == (uint32_t)expected[b]);
                else
                    bench_check_exact(check, bench_sum_value(g.host_bins[b], scatter) ==
                                                 (double)expected[b]);
            }
        });
}

template <class S, fmo_scatter scatter, fmo_commit commit, class In, typename T>
void strategy_cell(const gpu_case<In, T> &g)
{
    if constexpr (scatter != FMO_SCATTER_COUNT && bench_adds<S, T>::value) {
        bench_run *run = g.run;
        if (!bench_selected(run->options, scatter, commit)) return;
        auto kernel = add_items<In, S, T>;
        const int64_t n = g.c->items.count;
        const int blocks = g.blocks > 0    ? (int)g.blocks
                           : g.blocks == 0 ? bench_resident(run, kernel, BENCH_THREADS, 0, n)
                                           : published_blocks;
        bench_cell cell = bench_strategy_cell(run, scatter, commit, "updates");
        fill_cell(g, &cell);
        bench_cell_number(&cell, "blocks", blocks);
        measure(g, &cell, scatter, [&](int64_t m) {
            kernel<<<blocks, BENCH_THREADS>>>(g.in, m, bench_strategy<S>(), g.bins, (T)1);
        });
    }
}

/* Atomics on bins that L2 is told to keep (an access policy window). */
template <class In, typename T> void window_cell(const gpu_case<In, T> &g)
{
    bench_run *run = g.run;
    typedef fmo_scatter_native<fmo_commit_native> S;
    const size_t bytes = (size_t)g.c->items.bins * sizeof(T);
    cudaStreamAttrValue value = {};
    cudaStream_t stream = nullptr;
    size_t limit = 0;
    int window = 0, device = 0;
    bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, "native, L2 window", "native", "updates");
    snprintf(cell.against, sizeof cell.against, "gpu native/native");
    fill_cell(g, &cell);
    if (!BENCH_CUDA(run, cudaGetDevice(&device)) ||
        !BENCH_CUDA(run,
                    cudaDeviceGetAttribute(&window, cudaDevAttrMaxAccessPolicyWindowSize, device)))
        return;
    if (run->device.window_bytes == 0 || window == 0) {
        bench_leave_out(run, &cell, "this GPU has no persisting part of L2");
        return;
    }
    /* Partitions of a GPU may refuse this. */
    if (cudaDeviceGetLimit(&limit, cudaLimitPersistingL2CacheSize) != cudaSuccess ||
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)run->device.window_bytes) !=
            cudaSuccess) {
        bench_leave_out(run, &cell, "L2 cannot be set aside: %s",
                        cudaGetErrorString(cudaGetLastError()));
        return;
    }
    if (!BENCH_CUDA(run, cudaStreamCreate(&stream))) return;
    value.accessPolicyWindow.base_ptr = g.bins;
    value.accessPolicyWindow.num_bytes = bytes < (size_t)window ? bytes : (size_t)window;
    const double part =
        (double)run->device.window_bytes / (double)(value.accessPolicyWindow.num_bytes);
    value.accessPolicyWindow.hitRatio = (float)(part < 1.0 ? part : 1.0);
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    BENCH_CUDA(run, cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
    const int blocks = g.blocks > 0 ? (int)g.blocks : published_blocks;
    bench_cell_number(&cell, "blocks", blocks);
    bench_cell_number(&cell, "window_bytes", (double)value.accessPolicyWindow.num_bytes);
    measure(g, &cell, FMO_SCATTER_NATIVE, [&](int64_t n) {
        add_items<In, S, T><<<blocks, BENCH_THREADS, 0, stream>>>(g.in, n, S(), g.bins, (T)1);
    });
    value.accessPolicyWindow.num_bytes = 0;
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
    cudaCtxResetPersistingL2Cache();
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, limit);
    cudaStreamDestroy(stream);
}

/* Private bins, one copy per block; by_lane: one copy per lane, or as many as fit, a power of
 * two. */
template <class In, typename T>
void private_cell(const gpu_case<In, T> &g, const char *method, bool by_lane)
{
    bench_run *run = g.run;
    const int64_t bins = g.c->items.bins, fit = run->device.shared_bytes / (int64_t)sizeof(T);
    bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, method, NULL, "updates");
    snprintf(cell.against, sizeof cell.against, "gpu native/native");
    fill_cell(g, &cell);
    int copies = by_lane ? 32 : 1;
    while (copies > 2 && bins * copies > fit) copies /= 2;
    if (bins * copies > fit) {
        bench_leave_out(run, &cell, "%s bins do not fit shared memory (%d bytes a block)",
                        by_lane ? "two sets of" : "the", run->device.shared_bytes);
        return;
    }
    auto kernel = count_flush<In, T>;
    const size_t shared = (size_t)(bins * copies) * sizeof(T);
    BENCH_CUDA(run, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         run->device.shared_bytes));
    const int blocks = g.blocks > 0
                           ? (int)g.blocks
                           : bench_resident(run, kernel, PRIVATE_THREADS, shared, g.c->items.count);
    bench_cell_number(&cell, "blocks", blocks);
    bench_cell_number(&cell, "copies", copies);
    measure(
        g, &cell, FMO_SCATTER_NATIVE,
        [&](int64_t n) {
            kernel<<<blocks, PRIVATE_THREADS, shared>>>(g.in, n, g.bins, (int)bins, copies, (T)1);
        },
        g.c->items.count);
}

/* Measures private bins in tiles that are merged by a second kernel. */
template <class In, typename T> void merge_cell(const gpu_case<In, T> &g)
{
    bench_run *run = g.run;
    const int64_t bins = g.c->items.bins, fit = run->device.shared_bytes / (int64_t)sizeof(T);
    bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, "shared, merged", NULL, "updates");
    snprintf(cell.against, sizeof cell.against, "gpu native/native");
    fill_cell(g, &cell);
    auto kernel = count_partial<In, T>;
    const int tile = (int)(bins < fit ? bins : fit);
    const int64_t tiles = (bins + tile - 1) / tile, row_bytes = bins * (int64_t)sizeof(T);
    if (tiles > 65535 || row_bytes > partial_bytes_max) {
        bench_leave_out(run, &cell, "one partial histogram would take %.3g GB",
                        1e-9 * (double)row_bytes);
        return;
    }
    const size_t shared = (size_t)tile * sizeof(T);
    BENCH_CUDA(run, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         run->device.shared_bytes));
    int64_t rows =
        g.blocks > 0
            ? g.blocks
            : bench_resident(run, kernel, PRIVATE_THREADS, shared, g.c->items.count) / tiles;
    if (rows > partial_bytes_max / row_bytes) rows = partial_bytes_max / row_bytes;
    if (rows < 1) rows = 1;
    T *partial = bench_gpu_array<T>(run, rows * bins, "partial histograms");
    const int64_t merge_need = (bins + MERGE_EDGE - 1) / MERGE_EDGE;
    const int merge_blocks = (int)(merge_need < 65535 ? merge_need : 65535);
    bench_cell_number(&cell, "blocks", (double)rows);
    bench_cell_number(&cell, "tiles", (double)tiles);
    measure(
        g, &cell, FMO_SCATTER_NATIVE,
        [&](int64_t n) {
            kernel<<<dim3((unsigned)rows, (unsigned)tiles), PRIVATE_THREADS, shared>>>(
                g.in, n, partial, bins, tile, (T)1);
            merge<T>
                <<<merge_blocks, dim3(MERGE_EDGE, MERGE_EDGE)>>>(partial, (int)rows, bins, g.bins);
        },
        g.c->items.count);
    cudaFree(partial);
}

/* CUB counts only in integers. On an H200 with CUDA 13.0 it is correct with 5e6 bins and makes an
 * illegal memory access with 1e7 (docs/reference/bench.md). */
enum { CUB_BINS_MAX = 5000000 };

template <class In>
cudaError_t cub_call(void *temp, size_t *bytes, const In &in, int *bins, int64_t num, int64_t n);
template <>
cudaError_t cub_call(void *temp, size_t *bytes, const ids_in &in, int *bins, int64_t num, int64_t n)
{
    return cub::DeviceHistogram::HistogramEven(temp, *bytes, in.id, bins, (int)num + 1, 0, (int)num,
                                               n);
}
template <>
cudaError_t cub_call(void *temp, size_t *bytes, const numbers_in &in, int *bins, int64_t num,
                     int64_t n)
{
    return cub::DeviceHistogram::HistogramEven(temp, *bytes, in.number, bins, (int)num + 1, 0.0,
                                               1.0, n);
}

/* Measures CUB's histogram with int32 bins. */
template <class In, typename T> void cub_cell(const gpu_case<In, T> &g)
{
    if constexpr (std::is_same<T, int>::value) {
        bench_run *run = g.run;
        const int64_t bins = g.c->items.bins;
        bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, "cub", NULL, "updates");
        snprintf(cell.against, sizeof cell.against, "gpu native/native");
        fill_cell(g, &cell);
        size_t bytes = 0;
        if (bins > CUB_BINS_MAX) {
            bench_leave_out(run, &cell,
                            "CUB 3.0 keeps a histogram per block; with so many bins it ends in an "
                            "illegal access");
            return;
        }
        BENCH_CUDA(run, cub_call(nullptr, &bytes, g.in, g.bins, bins, g.c->items.count));
        void *temp = bench_gpu_alloc(run, bytes, "CUB");
        measure(
            g, &cell, FMO_SCATTER_NATIVE,
            [&](int64_t n) {
                size_t have = bytes;
                BENCH_CUDA(run, cub_call(temp, &have, g.in, g.bins, bins, n));
            },
            g.c->items.count);
        cudaFree(temp);
    }
}

template <class In, typename T> void run_grid(const gpu_case<In, T> &g)
{
#define ROW(name, scatter, commit, ...) strategy_cell<__VA_ARGS__, scatter, commit>(g);
    FMO_GPU_VARIANT_TABLE(ROW)
#undef ROW
    window_cell(g);
    private_cell(g, "shared", false);
    private_cell(g, "shared, by lane", true);
    merge_cell(g);
    if (g.blocks < 0) cub_cell(g);
}

template <class In, typename T> void run_type(bench_run *run, histogram_case *c, const In &in)
{
    const cli_list *blocks = &run->options->blocks;
    gpu_case<In, T> g = {run, c, in, nullptr, nullptr, -1};
    g.bins = bench_gpu_array<T>(run, c->items.bins, "bins");
    g.host_bins = (T *)bench_alloc(run, (size_t)c->items.bins, sizeof(T), "bins");
    if (run->err.status == FMO_OK) {
        if (blocks->count == 0) run_grid(g);
        for (int k = 0; k < blocks->count; k++) {
            g.blocks = blocks->value[k];
            run_grid(g);
        }
    }
    cudaFree(g.bins);
    free(g.host_bins);
}

template <class In> void run_input(bench_run *run, histogram_case *c, const In &in)
{
    if (c->type == BENCH_INT32)
        run_type<In, int>(run, c, in);
    else
        run_type<In, double>(run, c, in);
}

} // namespace

/* Makes the items on the device, and measures all methods. */
extern "C" void bench_histogram_gpu(bench_run *run, const void *what)
{
    histogram_case *c = (histogram_case *)what;
    bench_items items = c->items;
    int32_t *ids = nullptr;
    double *numbers = nullptr;
    uint64_t *zipf = nullptr;
    int32_t *replay = nullptr;
    if (items.zipf)
        items.zipf = zipf = bench_gpu_copy(run, items.zipf, items.bins, "the Zipf table");
    if (items.replay)
        items.replay = replay =
            bench_gpu_copy(run, items.replay, items.replay_num, "the replayed addresses");
    if (c->input == BENCH_IDS)
        ids = bench_gpu_array<int32_t>(run, items.count, "items");
    else
        numbers = bench_gpu_array<double>(run, items.count, "items");
    if (run->err.status == FMO_OK) {
        fill_items<<<bench_resident(run, fill_items, BENCH_THREADS, 0, items.count),
                     BENCH_THREADS>>>(items, ids, numbers);
        if (BENCH_CUDA(run, cudaGetLastError()) && BENCH_CUDA(run, cudaDeviceSynchronize())) {
            if (c->input == BENCH_IDS)
                run_input(run, c, ids_in{ids});
            else
                run_input(run, c, numbers_in{numbers, items.bins});
        }
    }
    cudaFree(ids);
    cudaFree(numbers);
    cudaFree(zipf);
    cudaFree(replay);
}
