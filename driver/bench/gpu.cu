/* The GPU: opening it, errors, memory, events. See gpu.cuh. */
#include "gpu.cuh"

#include <limits.h>
#include <string.h>
#include <fmo/fock.h>

bool bench_cuda(bench_run *run, cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return run->err.status == FMO_OK;
    (void)cudaGetLastError();
    bench_fail(run, error == cudaErrorMemoryAllocation ? FMO_ERR_MEMORY : FMO_ERR_DEVICE,
               "%.200s: %s", call, cudaGetErrorString(error));
    return false;
}

void *bench_gpu_alloc(bench_run *run, size_t bytes, const char *what)
{
    void *memory = NULL;
    if (run->err.status != FMO_OK) return NULL;
    const cudaError_t error = cudaMalloc(&memory, bytes ? bytes : 1);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        bench_fail(run, FMO_ERR_MEMORY, "no GPU memory for %s (%.3g GB)", what,
                   1e-9 * (double)bytes);
        return NULL;
    }
    return BENCH_CUDA(run, error) ? memory : NULL;
}

bool bench_events_begin(bench_run *run, bench_events *events)
{
    if (run->err.status != FMO_OK) return false;
    if (!BENCH_CUDA(run, cudaEventCreate(&events->begin))) return false;
    if (!BENCH_CUDA(run, cudaEventCreate(&events->end))) {
        cudaEventDestroy(events->begin);
        return false;
    }
    return BENCH_CUDA(run, cudaEventRecord(events->begin, 0));
}

double bench_events_end(bench_run *run, bench_events *events)
{
    float milliseconds = 0.0f;
    const bool fine =
        BENCH_CUDA(run, cudaGetLastError()) && BENCH_CUDA(run, cudaEventRecord(events->end, 0)) &&
        BENCH_CUDA(run, cudaEventSynchronize(events->end)) &&
        BENCH_CUDA(run, cudaEventElapsedTime(&milliseconds, events->begin, events->end));
    cudaEventDestroy(events->begin);
    cudaEventDestroy(events->end);
    return fine ? 1e-3 * milliseconds : -1.0;
}

/* FP64 multiply-adds per cycle and multiprocessor (CUDA C++ Programming Guide, throughput of native
 * arithmetic instructions). X(compute capability, multiply-adds) */
#define FP64_TABLE(X) X(60, 32) X(70, 32) X(75, 2) X(80, 32) X(86, 2) X(89, 2) X(90, 64)

static double fp64_flops(int capability, int sms, int kilohertz)
{
#define ROW(number, fma) \
    if (capability == number) return 2.0 * fma * sms * 1e3 * kilohertz;
    FP64_TABLE(ROW)
#undef ROW
    return 0.0;
}

int bench_blocks_for(bench_run *run, int64_t n, int threads)
{
    const int64_t blocks = (n + threads - 1) / threads;
    if (blocks > INT_MAX) {
        bench_fail(run, FMO_ERR_ARGUMENT, "%lld blocks: too many for a grid", (long long)blocks);
        return 1;
    }
    return blocks > 1 ? (int)blocks : 1;
}

bench_cell bench_strategy_cell(const bench_run *run, fmo_scatter scatter, fmo_commit commit,
                               const char *unit)
{
    const bool commits = fmo_scatter_takes_commit(scatter);
    bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, fmo_scatter_name(scatter),
                                      commits ? fmo_commit_name(commit) : NULL, unit);
    snprintf(cell.against, sizeof cell.against, "gpu %s/%s", fmo_scatter_name(FMO_SCATTER_NATIVE),
             fmo_commit_name(commit));
    return cell;
}

/* Queries the properties of the current device. */
extern "C" fmo_status bench_gpu_open(bench_run *run)
{
    fmo_error err = {FMO_OK, ""};
    bench_device *d = &run->device;
    cudaDeviceProp p;
    int device = 0;
    const fmo_status status = fmo_gpu_available(&err);
    if (status == FMO_ERR_NO_DEVICE || status == FMO_ERR_UNSUPPORTED) {
        run->gpu = false;
        snprintf(run->no_gpu, sizeof run->no_gpu, "%s", err.message);
        return FMO_OK;
    }
    if (status != FMO_OK) return fmo_error_set(&run->err, status, "%s", err.message);
    if (!BENCH_CUDA(run, cudaGetDevice(&device)) ||
        !BENCH_CUDA(run, cudaGetDeviceProperties(&p, device)) ||
        !BENCH_CUDA(run, cudaDriverGetVersion(&d->driver)) ||
        !BENCH_CUDA(run, cudaRuntimeGetVersion(&d->runtime)))
        return run->err.status;
    snprintf(d->name, sizeof d->name, "%s", p.name);
    d->sms = p.multiProcessorCount;
    d->shared_bytes = (int)p.sharedMemPerBlockOptin;
    d->l2_bytes = p.l2CacheSize;
    d->window_bytes = p.persistingL2CacheMaxSize;
    d->capability = 10 * p.major + p.minor;
    d->memory = (int64_t)p.totalGlobalMem;
    int kilohertz = 0;
    if (!BENCH_CUDA(run, cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device)))
        return run->err.status;
    d->fp64_flops = fp64_flops(d->capability, d->sms, kilohertz);
    return FMO_OK;
}
