/* strip on the GPU: one thread per element; one thread per strip; one block per strip. See
 * strip.h. */
#include "gpu.cuh"
#include "strip.h"

namespace {

__device__ __forceinline__ void one(const double *x, const double *y, double *z, int64_t i)
{
    z[i] = STRIP_FACTOR * x[i] + y[i];
}

__global__ void no_strips(const double *x, const double *y, double *z, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) one(x, y, z, i);
}

__global__ void serial_inner(const double *x, const double *y, double *z, int64_t n, int64_t strip)
{
    const int64_t begin = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * strip;
    const int64_t end = begin + strip < n ? begin + strip : n;
    for (int64_t i = begin; i < end; i++) one(x, y, z, i);
}

__global__ void parallel_inner(const double *x, const double *y, double *z, int64_t n,
                               int64_t strip)
{
    const int64_t begin = (int64_t)blockIdx.x * strip;
    const int64_t end = begin + strip < n ? begin + strip : n;
    for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) one(x, y, z, i);
}

enum { BLOCK_MAX = 1024 };

template <class Launch>
void measure(bench_run *run, const strip_case *c, const char *method, int64_t strip, int64_t column,
             double *z, Launch launch)
{
    bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, method, NULL, "elements");
    strip_cell_fill(c, strip, column, &cell);
    bench_gpu_measure(
        run, &cell, c->count, 1, BENCH_GPU_REPRESENTATIVE,
        [&](int64_t n) { bench_gpu_clear(run, z, n); },
        [&](int64_t n) { return n ? bench_gpu_time_often(run, [&] { launch(n); }) : 0.0; },
        [&](int64_t n, bench_check *check) {
            bench_gpu_read(run, c->z, z, n);
            strip_check(c, n, check);
        });
}

} // namespace

/* Copies the data and measures all forms. */
extern "C" void bench_strip_gpu(bench_run *run, const void *what)
{
    const strip_case *c = (const strip_case *)what;
    double *x = bench_gpu_copy(run, c->x, c->count, "x");
    double *y = bench_gpu_copy(run, c->y, c->count, "y");
    double *z = bench_gpu_array<double>(run, c->count, "z");
    for (int s = 0; s < run->options->strips.count && run->err.status == FMO_OK; s++) {
        const int64_t strip = run->options->strips.value[s];
        const int threads = strip < BLOCK_MAX ? (int)strip : (int)BLOCK_MAX;
        measure(run, c, "no strips", 0, strip, z, [&](int64_t n) {
            no_strips<<<bench_blocks_for(run, n, BENCH_THREADS), BENCH_THREADS>>>(x, y, z, n);
        });
        measure(run, c, "serial inner loop", strip, strip, z, [&](int64_t n) {
            const int64_t strips = (n + strip - 1) / strip;
            serial_inner<<<bench_blocks_for(run, strips, BENCH_THREADS), BENCH_THREADS>>>(x, y, z,
                                                                                          n, strip);
        });
        measure(run, c, "parallel inner loop", strip, strip, z, [&](int64_t n) {
            parallel_inner<<<bench_blocks_for(run, n, (int)strip), threads>>>(x, y, z, n, strip);
        });
    }
    cudaFree(x);
    cudaFree(y);
    cudaFree(z);
}
