/* Shared by the GPU parts of the experiments: errors, memory, timing with events, and the
 * strategies as types, from the table of accumulate/scatter/variants.h. */
#ifndef FMO_BENCH_GPU_CUH
#define FMO_BENCH_GPU_CUH

#include <cuda_runtime.h>
#include <type_traits>

#include "bench.h"
#include "accumulate/gpu/kernels/kernels.h"
#include <fmo/atomics.cuh>

/* The published block size; the strategies of the table are also instantiated for it. */
enum { BENCH_THREADS = FMO_GPU_THREADS };

/* Number of threads that fill a GPU: 132 multiprocessors x 2048 threads, rounded. Contention among
 * fewer threads is not representative, so times are extrapolated from at least this many. */
enum { BENCH_GPU_REPRESENTATIVE = 1 << 18 };

/* Whether the call succeeded; an error is recorded in the run. */
#define BENCH_CUDA(run, call) bench_cuda((run), (call), #call)
bool bench_cuda(bench_run *run, cudaError_t error, const char *call);

/* Allocates device memory; returns NULL after an error, which states the size. */
void *bench_gpu_alloc(bench_run *run, size_t bytes, const char *what);
template <typename T> static T *bench_gpu_array(bench_run *run, int64_t count, const char *what)
{
    return (T *)bench_gpu_alloc(run, (size_t)count * sizeof(T), what);
}
/* Makes a copy on the device. */
template <typename T>
static T *bench_gpu_copy(bench_run *run, const T *from, int64_t count, const char *what)
{
    T *to = bench_gpu_array<T>(run, count, what);
    if (to && count)
        BENCH_CUDA(run, cudaMemcpy(to, from, (size_t)count * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}
template <typename T>
static void bench_gpu_read(bench_run *run, T *to, const T *from, int64_t count)
{
    if (run->err.status == FMO_OK && count)
        BENCH_CUDA(run, cudaMemcpy(to, from, (size_t)count * sizeof(T), cudaMemcpyDeviceToHost));
}
template <typename T> static void bench_gpu_clear(bench_run *run, T *to, int64_t count)
{
    if (run->err.status == FMO_OK) BENCH_CUDA(run, cudaMemset(to, 0, (size_t)count * sizeof(T)));
}

/* Returns the seconds between two events around the work that launch() puts on the default stream;
 * -1 after an error. */
typedef struct bench_events {
    cudaEvent_t begin, end;
} bench_events;
bool bench_events_begin(bench_run *run, bench_events *events);
double bench_events_end(bench_run *run, bench_events *events);

template <class Launch> static double bench_gpu_time(bench_run *run, Launch launch)
{
    bench_events events;
    if (!bench_events_begin(run, &events)) return -1.0;
    launch();
    return bench_events_end(run, &events);
}

/* The same for work that can be repeated with the same result: repeats it so often that the time is
 * well above the resolution of the events and the cost of a first launch. */
template <class Launch> static double bench_gpu_time_often(bench_run *run, Launch launch)
{
    const double enough = 1e-3;
    const double once = bench_gpu_time(run, launch);
    if (once < 0.0 || once >= enough) return once;
    const int times = (int)(enough / (once > 2e-6 ? once : 2e-6)) + 1;
    const double all = bench_gpu_time(run, [&] {
        for (int t = 0; t < times; t++) launch();
    });
    return all < 0.0 ? all : all / times;
}

/* bench_measure() with lambdas: prepare(n), seconds = work(n), check(n, check). */
template <class Prepare, class Work, class Check>
static void bench_gpu_measure(bench_run *run, bench_cell *cell, int64_t units, int64_t weight,
                              int64_t representative, Prepare prepare, Work work, Check check)
{
    struct closure {
        Prepare *prepare;
        Work *work;
        Check *check;
    } c = {&prepare, &work, &check};
    bench_task task;
    task.user = &c;
    task.units = units;
    task.weight = weight;
    task.representative = representative;
    task.prepare = [](void *user, int64_t n) { (*((closure *)user)->prepare)(n); };
    task.run = [](void *user, int64_t n) -> double { return (*((closure *)user)->work)(n); };
    task.check = [](void *user, int64_t n, bench_check *k) { (*((closure *)user)->check)(n, k); };
    bench_measure(run, cell, &task);
}

/* Fixed point: integer units per 1. Sums below 2^34 fit. */
static const double bench_fixed_scale = 0x1p28;

/* Whether strategy S adds fixed-point integers, scaled by a member `scale`. */
template <class S, class = void> struct bench_is_fixed : std::false_type {
};
template <class S> struct bench_is_fixed<S, std::void_t<decltype(S::scale)>> : std::true_type {
};
/* Whether strategy S can add values of type T. */
template <class S, typename T>
struct bench_adds
    : std::bool_constant<!bench_is_fixed<S>::value || std::is_same<T, double>::value> {
};

template <class S> inline S bench_strategy(void)
{
    S strategy{};
    if constexpr (bench_is_fixed<S>::value) strategy.scale = bench_fixed_scale;
    return strategy;
}

/* Converts a sum in host memory to a number; with strategy `fixed` the sum is an integer. */
template <typename T> static double bench_sum_value(T sum, fmo_scatter scatter)
{
    if (!fmo_scatter_sums_integers(scatter)) return (double)sum;
    long long bits = 0;
    memcpy(&bits, &sum, sizeof sum);
    return (double)bits / bench_fixed_scale;
}

/* Makes a cell of a strategy; its ratio is relative to plain atomics with the same update. */
bench_cell bench_strategy_cell(const bench_run *run, fmo_scatter scatter, fmo_commit commit,
                               const char *unit);

/* Sum over a block of BENCH_THREADS threads, all of which must call; valid in thread 0. */
template <typename T> __device__ __forceinline__ T bench_block_sum(T value)
{
    __shared__ T warps[BENCH_THREADS / 32];
    fmo_warp_sum<1>(&value);
    if (fmo_lane() == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < BENCH_THREADS / 32; w++) value = fmo_sum(value, warps[w]);
    return value;
}

/* Number of blocks that are resident at once on the whole GPU, at least 1, and no more than n
 * threads need. */
template <class Kernel>
static int bench_resident(bench_run *run, Kernel kernel, int threads, size_t shared, int64_t n)
{
    int blocks = 0;
    BENCH_CUDA(run,
               cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared));
    const int64_t resident = (int64_t)blocks * run->device.sms;
    const int64_t needed = (n + threads - 1) / threads;
    const int64_t useful = needed < resident ? needed : resident;
    return useful > 1 ? (int)useful : 1;
}

/* Number of blocks for n items, one thread per item; too large a grid is an error. */
int bench_blocks_for(bench_run *run, int64_t n, int threads);

#endif
