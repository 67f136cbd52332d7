/* fock on the GPU, with densities and results in its memory. Each call gets a new density; J and K
 * are filled with NaN before it, so that elements that are not written would be noticed. See
 * fock.h. */
#include "gpu.cuh"
#include "fock.h"
#include "driver/base/clock.h"

#include <stdlib.h>

namespace {

__global__ void new_densities(const double *density, int nao, uint64_t call, int64_t size,
                              double *out)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < size; e += stride)
        out[e] = fock_density(density, nao, call, e);
}

/* Times a call, by two events on the stream around the call that queues the builds; returns
 * seconds. */
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

namespace {

/* Matrices of the fragments that are built on one GPU, consecutive in the fragments' order. */
struct gpu_share {
    int device;
    int64_t count; /* number of fragments */
    double *density, *current, *coulomb, *exchange;
};

/* The GPU of a fragment's plan, and the index of its matrices there. */
struct place {
    gpu_share *on;
    int64_t at;
};

void make_share(bench_run *run, gpu_share *p, int64_t one)
{
    BENCH_CUDA(run, cudaSetDevice(p->device));
    p->density = bench_gpu_array<double>(run, p->count * one, "densities");
    p->current = bench_gpu_array<double>(run, p->count * one, "altered densities");
    p->coulomb = bench_gpu_array<double>(run, p->count * one, "J");
    p->exchange = bench_gpu_array<double>(run, p->count * one, "K");
}

void free_share(gpu_share *p)
{
    cudaSetDevice(p->device);
    cudaFree(p->density);
    cudaFree(p->current);
    cudaFree(p->coulomb);
    cudaFree(p->exchange);
}

} // namespace

/* Distributes the matrices to the GPUs of the plans, and measures the builds. */
extern "C" void bench_fock_gpu(bench_run *run, const void *what)
{
    fock_case *c = (fock_case *)what;
    const int64_t one = (int64_t)c->nao * c->nao;
    gpu_share shares[FMO_DEVICES_MAX] = {};
    place *places = (place *)bench_alloc(run, (size_t)c->count, sizeof *places, "places");
    int num = 0, before = 0;
    bench_events events = {NULL, NULL};
    BENCH_CUDA(run, cudaGetDevice(&before));
    BENCH_CUDA(run, cudaEventCreate(&events.begin));
    BENCH_CUDA(run, cudaEventCreate(&events.end));
    for (int k = 0; k < c->count && run->err.status == FMO_OK; k++) {
        const int device = fmo_fock_plan_device(c->plan[k]);
        int p = 0;
        while (p < num && shares[p].device != device) p++;
        if (p == num) shares[num++].device = device;
        places[k] = {&shares[p], shares[p].count++};
    }
    for (int p = 0; p < num; p++) make_share(run, &shares[p], one);
    for (int k = 0; k < c->count && run->err.status == FMO_OK; k++) {
        const gpu_share *const p = places[k].on;
        const int64_t at = places[k].at * one;
        BENCH_CUDA(run, cudaMemcpy(p->density + at, c->density + k * one,
                                   (size_t)one * sizeof(double), cudaMemcpyDefault));
        c->job[k] = {};
        c->job[k].plan = c->plan[k];
        c->job[k].density = p->current + at;
        c->job[k].coulomb = p->coulomb + at;
        c->job[k].exchange = p->exchange + at;
    }
    const auto prepare = [&](int64_t) {
        c->calls++;
        for (int n = 0; n < num && run->err.status == FMO_OK; n++) {
            const gpu_share *const p = &shares[n];
            const int64_t size = p->count * one;
            const int blocks = bench_resident(run, new_densities, BENCH_THREADS, 0, size);
            BENCH_CUDA(run, cudaSetDevice(p->device));
            new_densities<<<blocks, BENCH_THREADS>>>(p->density, c->nao, c->calls, size,
                                                     p->current);
            BENCH_CUDA(run, cudaGetLastError());
            BENCH_CUDA(run, cudaMemset(p->coulomb, 0xff, (size_t)size * sizeof(double)));
            BENCH_CUDA(run, cudaMemset(p->exchange, 0xff, (size_t)size * sizeof(double)));
            BENCH_CUDA(run, cudaDeviceSynchronize());
        }
        BENCH_CUDA(run, cudaSetDevice(before));
    };
    const auto read = [&](double *to, double *gpu_share::*array) {
        for (int k = 0; k < c->count; k++)
            bench_gpu_read(run, to + k * one, places[k].on->*array + places[k].at * one, one);
    };
    prepare(1);
    if (run->err.status == FMO_OK && call(run, c, &events) >= 0.0) {
        c->first_seconds = c->wall[0];
        c->waits = 0;
        bench_gpu_measure(
            run, &c->cell, 1, (int64_t)c->work.quartet_sum, 1, prepare,
            [&](int64_t) { return call(run, c, &events); },
            [&](int64_t, bench_check *check) {
                read(c->current, &gpu_share::current);
                read(c->coulomb, &gpu_share::coulomb);
                read(c->exchange, &gpu_share::exchange);
                fock_check(run, c, check);
            });
    }
    cudaEventDestroy(events.begin);
    cudaEventDestroy(events.end);
    for (int p = 0; p < num; p++) free_share(&shares[p]);
    cudaSetDevice(before);
    free(places);
}
