/* median on the GPU: the window is read from global memory or from a tile in shared memory, or each
 * thread has a histogram that slides along a strip of a row. See median.h. */
#include "gpu.cuh"
#include "median.h"

namespace {

enum { TILE_X = 32, TILE_Y = BENCH_THREADS / TILE_X, VALUES = 256 };

struct image_view {
    int edge, window;
    const uint8_t *image;
    uint8_t *out;
};

/* Returns the least value m with more than half of the window <= m; at(dx, dy) reads the window. */
template <class At> __device__ __forceinline__ uint8_t bisect(int window, At at)
{
    const int half = window / 2, rank = window * window / 2;
    int low = 0, high = VALUES - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        int count = 0;
        for (int dy = -half; dy <= half; dy++)
            for (int dx = -half; dx <= half; dx++) count += at(dx, dy) <= middle;
        if (count > rank)
            high = middle;
        else
            low = middle + 1;
    }
    return (uint8_t)low;
}

__global__ void __launch_bounds__(BENCH_THREADS) direct(image_view v, int rows)
{
    const int x = (int)(blockIdx.x * TILE_X + threadIdx.x);
    const int y = (int)(blockIdx.y * TILE_Y + threadIdx.y);
    if (x >= v.edge || y >= rows) return;
    v.out[(int64_t)y * v.edge + x] = bisect(v.window, [&](int dx, int dy) {
        return v
            .image[(int64_t)median_clamp(y + dy, v.edge) * v.edge + median_clamp(x + dx, v.edge)];
    });
}

__global__ void __launch_bounds__(BENCH_THREADS) tiled(image_view v, int rows)
{
    extern __shared__ uint8_t tile[]; /* [TILE_Y + window - 1][TILE_X + window - 1] */
    const int half = v.window / 2, width = TILE_X + v.window - 1, height = TILE_Y + v.window - 1;
    const int x0 = (int)blockIdx.x * TILE_X, y0 = (int)blockIdx.y * TILE_Y;
    for (int at = (int)(threadIdx.y * TILE_X + threadIdx.x); at < width * height;
         at += BENCH_THREADS)
        tile[at] = v.image[(int64_t)median_clamp(y0 + at / width - half, v.edge) * v.edge +
                           median_clamp(x0 + at % width - half, v.edge)];
    __syncthreads();
    const int x = x0 + (int)threadIdx.x, y = y0 + (int)threadIdx.y;
    if (x >= v.edge || y >= rows) return;
    const uint8_t *const middle = tile + (threadIdx.y + half) * width + threadIdx.x + half;
    v.out[(int64_t)y * v.edge + x] =
        bisect(v.window, [&](int dx, int dy) { return middle[dy * width + dx]; });
}

/* Each thread has a strip of a row, and a histogram in shared memory, [value][thread]. The median
 * is updated from the previous pixel's instead of being counted from 0. */
__global__ void __launch_bounds__(BENCH_THREADS) sliding(image_view v, int rows, int strip)
{
    extern __shared__ uint16_t histogram[];
    uint16_t *const count = histogram + threadIdx.x;
    const int half = v.window / 2, rank = v.window * v.window / 2, edge = v.edge;
    const int strips = (edge + strip - 1) / strip;
    const int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int y = (int)(n / strips), x0 = (int)(n % strips) * strip;
    if (y >= rows) return;
    for (int m = 0; m < VALUES; m++) count[m * BENCH_THREADS] = 0;
    for (int dy = -half; dy <= half; dy++) {
        const uint8_t *row = v.image + (int64_t)median_clamp(y + dy, edge) * edge;
        for (int dx = -half; dx <= half; dx++)
            count[row[median_clamp(x0 + dx, edge)] * BENCH_THREADS]++;
    }
    int value = 0, below = 0;
    for (int x = x0; x < x0 + strip && x < edge; x++) {
        while (below > rank) below -= count[--value * BENCH_THREADS];
        while (below + count[value * BENCH_THREADS] <= rank)
            below += count[value++ * BENCH_THREADS];
        v.out[(int64_t)y * edge + x] = (uint8_t)value;
        for (int dy = -half; dy <= half; dy++) {
            const uint8_t *row = v.image + (int64_t)median_clamp(y + dy, edge) * edge;
            const int leaves = row[median_clamp(x - half, edge)];
            const int enters = row[median_clamp(x + half + 1, edge)];
            count[leaves * BENCH_THREADS]--;
            count[enters * BENCH_THREADS]++;
            below += (enters < value) - (leaves < value);
        }
    }
}

template <class Launch>
void measure(bench_run *run, const median_case *c, const char *method, int64_t strip, uint8_t *out,
             Launch launch)
{
    bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, method, NULL, "pixels");
    median_cell_fill(c, strip, &cell);
    bench_gpu_measure(
        run, &cell, c->edge, c->edge, 64,
        [&](int64_t n) { bench_gpu_clear(run, out, n * c->edge); },
        [&](int64_t n) { return n ? bench_gpu_time(run, [&] { launch((int)n); }) : 0.0; },
        [&](int64_t n, bench_check *check) {
            bench_gpu_read(run, c->back, out, n * c->edge);
            median_check(c, n, check);
        });
}

} // namespace

/* Copies the image and measures all forms. */
extern "C" void bench_median_gpu(bench_run *run, const void *what)
{
    const median_case *c = (const median_case *)what;
    const int64_t pixels = (int64_t)c->edge * c->edge;
    uint8_t *image = bench_gpu_copy(run, c->image, pixels, "the image");
    uint8_t *out = bench_gpu_array<uint8_t>(run, pixels, "the image");
    const image_view v = {c->edge, c->window, image, out};
    const size_t tile = (size_t)(TILE_X + c->window - 1) * (size_t)(TILE_Y + c->window - 1);
    const size_t histograms = (size_t)VALUES * BENCH_THREADS * sizeof(uint16_t);
    const dim3 threads(TILE_X, TILE_Y);
    measure(run, c, "direct", 0, out, [&](int rows) {
        direct<<<dim3((c->edge + TILE_X - 1) / TILE_X, (rows + TILE_Y - 1) / TILE_Y), threads>>>(
            v, rows);
    });
    measure(run, c, "tile", 0, out, [&](int rows) {
        tiled<<<dim3((c->edge + TILE_X - 1) / TILE_X, (rows + TILE_Y - 1) / TILE_Y), threads,
                tile>>>(v, rows);
    });
    if (run->err.status == FMO_OK)
        BENCH_CUDA(run, cudaFuncSetAttribute(sliding, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             (int)histograms));
    for (int s = 0; s < run->options->strips.count && run->err.status == FMO_OK; s++) {
        const int64_t strip = run->options->strips.value[s];
        measure(run, c, "sliding", strip, out, [&](int rows) {
            const int64_t strips = (c->edge + strip - 1) / strip;
            sliding<<<bench_blocks_for(run, strips * rows, BENCH_THREADS), BENCH_THREADS,
                      histograms>>>(v, rows, (int)strip);
        });
    }
    cudaFree(image);
    cudaFree(out);
}
