/* fock on the GPU: densities and results stay there. Each call gets a new density; J and K are
 * filled with NaN before, so that what is not written would show. */
#include "gpu.cuh"
#include "fock.h"
#include "driver/base/clock.h"

namespace {

__global__ void new_densities(const double *density, int nao, uint64_t call, int64_t size,
                              double *out)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < size; e += stride)
        out[e] = fock_density(density, nao, call, e);
}

/* Seconds between two events on the stream around the call that queues the builds. */
double call(bench_run *run, fock_case *c, const bench_events *events)
{
    const cudaStream_t stream = (cudaStream_t)c->options.stream;
    fmo_error err = {FMO_OK, ""};
    float milliseconds = 0.0f;
    if (!BENCH_CUDA(run, cudaStreamSynchronize(stream))) return -1.0;
    const double begin = driver_seconds();
    if (!BENCH_CUDA(run, cudaEventRecord(events->begin, stream))) return -1.0;
    const fmo_status status = c->count > 1
                                  ? fmo_fock_build_batch_device(c->job, (size_t)c->count, &err)
                                  : fmo_fock_build_device(c->plan[0], c->job->density,
                                                          c->job->coulomb, c->job->exchange, &err);
    if (status != FMO_OK) return bench_fail(run, status, "%s: %s", c->cell.row, err.message);
    if (!BENCH_CUDA(run, cudaEventRecord(events->end, stream)) ||
        !BENCH_CUDA(run, cudaEventSynchronize(events->end)))
        return -1.0;
    fock_call_done(c, driver_seconds() - begin);
    return BENCH_CUDA(run, cudaEventElapsedTime(&milliseconds, events->begin, events->end))
               ? 1e-3 * milliseconds
               : -1.0;
}

} // namespace

extern "C" void *fock_stream_create(bench_run *run)
{
    cudaStream_t stream = NULL;
    if (run->err.status == FMO_OK)
        BENCH_CUDA(run, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

extern "C" void fock_stream_destroy(void *stream)
{
    if (stream) cudaStreamDestroy((cudaStream_t)stream);
}

extern "C" void bench_fock_gpu(bench_run *run, const void *what)
{
    fock_case *c = (fock_case *)what;
    const int64_t one = (int64_t)c->nao * c->nao, size = c->count * one;
    double *density = bench_gpu_copy(run, c->density, size, "densities");
    double *current = bench_gpu_array<double>(run, size, "altered densities");
    double *coulomb = bench_gpu_array<double>(run, size, "J");
    double *exchange = bench_gpu_array<double>(run, size, "K");
    bench_events events = {NULL, NULL};
    BENCH_CUDA(run, cudaEventCreate(&events.begin));
    BENCH_CUDA(run, cudaEventCreate(&events.end));
    for (int k = 0; k < c->count; k++)
        c->job[k] = {
            c->plan[k], current + k * one, coulomb + k * one, exchange + k * one, FMO_OK, NULL,
            NULL};
    const auto prepare = [&](int64_t) {
        if (run->err.status != FMO_OK) return;
        const int blocks = bench_resident(run, new_densities, BENCH_THREADS, 0, size);
        new_densities<<<blocks, BENCH_THREADS>>>(density, c->nao, ++c->calls, size, current);
        BENCH_CUDA(run, cudaGetLastError());
        BENCH_CUDA(run, cudaMemset(coulomb, 0xff, (size_t)size * sizeof *coulomb));
        BENCH_CUDA(run, cudaMemset(exchange, 0xff, (size_t)size * sizeof *exchange));
        BENCH_CUDA(run, cudaDeviceSynchronize());
    };
    prepare(1);
    if (run->err.status == FMO_OK && call(run, c, &events) >= 0.0) {
        c->first_seconds = c->wall[0];
        c->waits = 0;
        bench_gpu_measure(
            run, &c->cell, 1, (int64_t)c->work.quartet_sum, 1, prepare,
            [&](int64_t) { return call(run, c, &events); },
            [&](int64_t, bench_check *check) {
                bench_gpu_read(run, c->current, current, size);
                bench_gpu_read(run, c->coulomb, coulomb, size);
                bench_gpu_read(run, c->exchange, exchange, size);
                fock_check(run, c, check);
            });
    }
    cudaEventDestroy(events.begin);
    cudaEventDestroy(events.end);
    cudaFree(density);
    cudaFree(current);
    cudaFree(coulomb);
    cudaFree(exchange);
}
