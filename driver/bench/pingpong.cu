/* pingpong on GPUs: from kernels by both transports of gmpi, with matched messages and with
 * persistent channels; from the host by copies, MPI and NCCL; and the costs of single calls. Ranks
 * are two GPUs of one process, two processes or, with one GPU, two block groups of one kernel. See
 * pingpong.h. */
#include "gpu.cuh"
#include "pingpong.h"
#include "ranks_gpu.h"
#include "driver/base/clock.h"

#include <fmo/gmpi.cuh>

#include <vector>

namespace {

enum { THREADS = 512, CHANNEL_MAX = 64 << 20, SUM_MIN = 32768 };

/* Results that a kernel returns to the host. */
struct outcome {
    double seconds;
    int code, wrong;
};

struct arguments {
    unsigned long long out, in, bytes;
    int rounds, there, back; /* channels */
    outcome *outcome;
};

__device__ void done(const arguments &a, fmo_gmpi_buf *b, unsigned long long begin, double count)
{
    if (fmo_gmpi_block(b) == 0 && fmo_gmpi_thread() == 0 && b->rank == 0)
        a.outcome->seconds = 1e-9 * (double)(fmo_gmpi_clock() - begin) / count;
}
__device__ void failed(const arguments &a, fmo_gmpi_buf *b)
{
    a.outcome->code = fmo_gmpi_error(b);
}
__device__ unsigned long long thread_of(const fmo_gmpi_buf *b)
{
    return (unsigned long long)fmo_gmpi_block(b) * fmo_gmpi_threads() + fmo_gmpi_thread();
}
__device__ unsigned long long threads_of(const fmo_gmpi_buf *b)
{
    return (unsigned long long)fmo_gmpi_blocks(b) * fmo_gmpi_threads();
}
__device__ unsigned char byte_of(int rank, unsigned long long i)
{
    return (unsigned char)(i * 7 + (i >> 9) + (unsigned)rank * 99 + 1);
}
__device__ void fill(const arguments &a, fmo_gmpi_buf *b)
{
    for (unsigned long long i = thread_of(b); i < a.bytes; i += threads_of(b)) {
        b->heap[b->rank][a.out + i] = byte_of(b->rank, i);
        b->heap[b->rank][a.in + i] = 0;
    }
}
__device__ void compare(const arguments &a, fmo_gmpi_buf *b, const unsigned char *in)
{
    for (unsigned long long i = thread_of(b); i < a.bytes; i += threads_of(b))
        if (*(const volatile unsigned char *)(in + i) != byte_of(1 - b->rank, i))
            atomicAdd_system(&a.outcome->wrong, 1);
}

/* As in the paper: one request for the send and the receive. */
__global__ void __launch_bounds__(THREADS) matched(fmo_gmpi_buf *bufs, arguments a)
{
    fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
    const int peer = 1 - b->rank;
    const unsigned char *out = b->heap[b->rank] + a.out;
    unsigned char *in = b->heap[b->rank] + a.in;
    fmo_gmpi_request request = FMO_GMPI_NULL;
    fill(a, b);
    if (fmo_gmpi_grid_sync(b) || fmo_gmpi_barrier(b, 0)) return failed(a, b);
    const unsigned long long begin = fmo_gmpi_clock();
    for (int k = 0; k < a.rounds; k++) {
        if (b->rank == 0) fmo_gmpi_isend(b, out, a.bytes, FMO_GMPI_BYTE, peer, 0, 0, &request);
        fmo_gmpi_irecv(b, in, a.bytes, FMO_GMPI_BYTE, peer, 0, 0, &request);
        if (fmo_gmpi_wait(b, &request) != FMO_GMPI_OK) return failed(a, b);
        if (b->rank == 1) fmo_gmpi_isend(b, out, a.bytes, FMO_GMPI_BYTE, peer, 0, 0, &request);
    }
    if (fmo_gmpi_synchronize(b) != FMO_GMPI_OK) return failed(a, b);
    done(a, b, begin, 2.0 * a.rounds);
    compare(a, b, in);
}

/* Messages through channels. `back` < 0: in one direction only, as fast as the channel's two halves
 * allow. */
__global__ void __launch_bounds__(THREADS) channels(fmo_gmpi_buf *bufs, arguments a)
{
    fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
    const bool both = a.back >= 0, first = b->rank == 0;
    fmo_gmpi_channel out = fmo_gmpi_channel_open(b, first || !both ? a.there : a.back);
    fmo_gmpi_channel in = fmo_gmpi_channel_open(b, first && both ? a.back : a.there);
    const unsigned char *from = b->heap[b->rank] + a.out;
    fill(a, b);
    if (fmo_gmpi_grid_sync(b) || fmo_gmpi_barrier(b, 0)) return failed(a, b);
    const unsigned long long begin = fmo_gmpi_clock();
    for (int k = 0; k < 2 * a.rounds; k++) {
        if (both ? k % 2 == b->rank : first) {
            void *to = fmo_gmpi_channel_begin<FMO_GMPI_GRID>(&out);
            if (!to) return failed(a, b);
            if (a.bytes == 8) {
                if (thread_of(b) == 0)
                    *(unsigned long long *)to = *(const unsigned long long *)from;
            } else {
                fmo_gmpi_copy(to, from, a.bytes, thread_of(b), threads_of(b));
            }
            if (fmo_gmpi_channel_send<FMO_GMPI_GRID>(&out)) return failed(a, b);
        } else {
            const void *got = fmo_gmpi_channel_recv<FMO_GMPI_GRID>(&in);
            if (!got) return failed(a, b);
            if (k >= 2 * a.rounds - 2) compare(a, b, (const unsigned char *)got);
            fmo_gmpi_channel_release<FMO_GMPI_GRID>(&in);
        }
    }
    /* One direction: begin succeeds after all messages but the last were released. */
    if (!both && first) {
        if (!fmo_gmpi_channel_begin<FMO_GMPI_GRID>(&out)) return failed(a, b);
    }
    done(a, b, begin, 2.0 * a.rounds);
    if (fmo_gmpi_barrier(b, 0)) failed(a, b);
}

enum { CALL_GRID_SYNC, CALL_ISEND, CALL_ALLREDUCE, CALL_BARRIER, CALLS };
/* Times one kind of call. */
__global__ void __launch_bounds__(THREADS) calls(fmo_gmpi_buf *bufs, arguments a, int call)
{
    fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
    double *value = (double *)(b->heap[b->rank] + a.out);
    fmo_gmpi_request request = FMO_GMPI_NULL;
    if (thread_of(b) == 0) *value = 1.0;
    if (fmo_gmpi_barrier(b, 0)) return failed(a, b);
    const unsigned long long begin = fmo_gmpi_clock();
    int code = FMO_GMPI_OK;
    for (int k = 0; k < a.rounds && code == FMO_GMPI_OK; k++) {
        if (call == CALL_GRID_SYNC) {
            code = fmo_gmpi_grid_sync(b);
        } else if (call == CALL_ISEND && b->rank == 0) {
            fmo_gmpi_isend(b, value, 1, FMO_GMPI_DOUBLE, 1, 0, 0, &request);
        } else if (call == CALL_ISEND) {
            fmo_gmpi_irecv(b, value, 1, FMO_GMPI_DOUBLE, 0, 0, 0, &request);
            code = fmo_gmpi_wait(b, &request);
        } else if (call == CALL_ALLREDUCE) {
            code = fmo_gmpi_allreduce(b, value, value, 1, FMO_GMPI_DOUBLE, FMO_GMPI_MAX, 0);
        } else if (call == CALL_BARRIER) {
            code = fmo_gmpi_barrier(b, 0);
        }
    }
    done(a, b, begin, a.rounds);
    if (fmo_gmpi_synchronize(b) || code != FMO_GMPI_OK) return failed(a, b);
    if (thread_of(b) == 0 && *(volatile double *)value != 1.0)
        atomicAdd_system(&a.outcome->wrong, 1);
}

/* Messages have two ends; calls of all ranks are also timed on all GPUs, if there are more. */
enum { GPUS_MAX = 8 };

struct world {
    bench_run *run;
    const pingpong *p;
    int local_ranks, device[GPUS_MAX]; /* local_ranks: those of this process */
    bool one_gpu;
    fmo_gmpi_transport transport;
    fmo_gmpi *g;
    outcome *result;
    cudaStream_t stream[GPUS_MAX];
    arguments a;
};

/* Threads of a block; one warp for a short message. */
unsigned threads_for(int blocks, unsigned long long bytes)
{
    return blocks == 1 && bytes <= 256 ? 32 : THREADS;
}

/* Writes e.g. "16 blocks of 512 threads a rank, one GPU". */
void describe(const world *w, int blocks, char note[64])
{
    snprintf(note, 64, "%d block%s of %u threads%s", blocks, blocks == 1 ? "" : "s",
             threads_for(blocks, w->a.bytes), w->one_gpu ? " a rank, one GPU" : "");
}

/* Runs the kernel on all ranks of this process; returns false after an error. */
template <class Kernel, class... More>
bool launch(world *w, int blocks, Kernel kernel, More... more)
{
    bench_run *run = w->run;
    fmo_error err = {FMO_OK, ""};
    const int kernels = w->one_gpu ? 1 : w->local_ranks;
    memset(w->result, 0, sizeof *w->result);
    bench_world_barrier(&w->p->world);
    for (int r = 0; r < kernels; r++) {
        fmo_gmpi_buf *bufs = (fmo_gmpi_buf *)fmo_gmpi_bufs(w->g, fmo_gmpi_first(w->g) + r);
        void *args[] = {&bufs, &w->a, &more...};
        const unsigned grid = (unsigned)(w->one_gpu ? 2 * blocks : blocks);
        BENCH_CUDA(run, cudaSetDevice(w->device[r]));
        const unsigned threads = threads_for(blocks, w->a.bytes);
        BENCH_CUDA(run, cudaLaunchCooperativeKernel((const void *)kernel, dim3(grid), dim3(threads),
                                                    args, 0, w->stream[r]));
    }
    for (int r = 0; r < kernels; r++) {
        BENCH_CUDA(run, cudaSetDevice(w->device[r]));
        BENCH_CUDA(run, cudaStreamSynchronize(w->stream[r]));
    }
    if (run->err.status != FMO_OK) return false;
    if (fmo_gmpi_check(w->g, &err) != FMO_OK) {
        bench_fail(run, err.status, "%s", err.message);
        return false;
    }
    if (w->result->wrong) bench_fail(run, FMO_ERR_CHECK, "%d bytes are wrong", w->result->wrong);
    return run->err.status == FMO_OK;
}

int blocks_for(const world *w, int64_t bytes)
{
    const int max_blocks = w->run->device.sms / (w->one_gpu ? 2 : 1);
    const int blocks = bytes <= 16384 ? 1 : bytes <= 262144 ? 16 : max_blocks;
    return blocks < max_blocks ? blocks : max_blocks;
}

/* Measures a cell. A process whose rank is not 0 takes part and its results are not used. */
template <class Time>
void measure(world *w, const char *table, const char *method, int64_t bytes, bool checked,
             const char *note, Time time)
{
    double seconds[1000];
    for (int k = -1; k < w->p->repeats; k++) { /* the first is the warm-up */
        const double s = time();
        if (s < 0.0) return;
        if (k >= 0) seconds[k] = s;
    }
    pingpong_keep(w->run, w->p, {BENCH_ON_GPU, table, method, bytes, checked}, seconds, note);
}

/* Times calls of all ranks, beginning with call number `first`. */
void time_calls(world *w, int first)
{
    static const char *const call_names[CALLS] = {"barrier of a grid", "isend", "allreduce",
                                                  "barrier of ranks"};
    bench_run *run = w->run;
    char method[48], note[64];
    for (int c = first; c < CALLS && run->err.status == FMO_OK; c++)
        for (int blocks = 1; blocks <= run->device.sms; blocks *= run->device.sms) {
            const int used = w->one_gpu && blocks > 1 ? blocks / 2 : blocks;
            char table[64], ranks[24] = "";
            w->a.bytes = 8, w->a.rounds = w->transport == FMO_GMPI_PEER ? 2000 : 300;
            describe(w, used, note);
            if (w->local_ranks > 2) snprintf(ranks, sizeof ranks, ", %d GPUs", w->local_ranks);
            snprintf(method, sizeof method, "%s, %s%s", fmo_gmpi_transport_name(w->transport),
                     call_names[c], ranks);
            snprintf(table, sizeof table, "a call, 8 bytes, %d blocks", used);
            measure(w, table, method, 8, true, note,
                    [&] { return launch(w, used, calls, c) ? w->result->seconds : -1.0; });
            if (run->device.sms < 2) break;
        }
}

/* Creates ranks for messages of up to `max_bytes` bytes, and their buffers. Returns false after an
 * error, or if the transport is not available, which is reported. */
bool open_group(world *w, int64_t max_bytes)
{
    bench_run *run = w->run;
    fmo_gmpi_options options;
    fmo_error err = {FMO_OK, ""};
    fmo_gmpi_options_init(&options);
    options.transport = w->transport;
    options.ranks = w->local_ranks, options.devices = w->device;
    options.concurrent = 0; /* as in the paper: one context */
    /* in, out, and channels of the largest size both ways, with two halves each */
    options.heap_bytes = (size_t)max_bytes * 14 + ((size_t)8 << 20);
    const fmo_status status = w->p->world.processes > 1 ? bench_world_group(&options, &w->g, &err)
                                                        : fmo_gmpi_create(&options, &w->g, &err);
    if (status == FMO_ERR_UNSUPPORTED) { /* no peer access, or two processes on one GPU */
        const double none = -1.0;
        pingpong_keep(run, w->p,
                      {BENCH_ON_GPU, "one way, by bytes", fmo_gmpi_transport_name(w->transport),
                       max_bytes, false},
                      &none, err.message);
        return false;
    }
    size_t out = 0, in = 0;
    if (status != FMO_OK || fmo_gmpi_alloc(w->g, (size_t)max_bytes, &out, &err) != FMO_OK ||
        fmo_gmpi_alloc(w->g, (size_t)max_bytes, &in, &err) != FMO_OK) {
        bench_fail(run, err.status, "%s", err.message);
        return false;
    }
    w->a = {out, in, 0, 0, -1, -1, w->result};
    return true;
}

void close_group(world *w)
{
    fmo_gmpi_destroy(w->g);
    w->g = nullptr;
}

/* Measures messages of all lengths with one transport, matched and through channels, and its
 * calls. */
void in_kernels(world *w)
{
    bench_run *run = w->run;
    const cli_list *sizes = &run->options->bytes;
    const char *name = fmo_gmpi_transport_name(w->transport);
    fmo_error err = {FMO_OK, ""};
    int64_t max_bytes = 8;
    for (int k = 0; k < sizes->count; k++)
        if (sizes->value[k] > max_bytes) max_bytes = sizes->value[k];
    char method[40], note[64];
    if (!open_group(w, max_bytes)) return close_group(w);
    const auto kernel_time = [&](auto kernel, int blocks) {
        return launch(w, blocks, kernel) ? w->result->seconds : -1.0;
    };
    for (int k = 0; k < sizes->count && run->err.status == FMO_OK; k++) {
        w->a.bytes = (unsigned long long)sizes->value[k];
        w->a.rounds = pingpong_rounds(sizes->value[k]);
        const int blocks = blocks_for(w, sizes->value[k]);
        describe(w, blocks, note);
        snprintf(method, sizeof method, "%s, isend and irecv", name);
        measure(w, "one way, by bytes", method, sizes->value[k], true, note,
                [&] { return kernel_time(matched, blocks); });
    }
    const size_t channel_sizes[] = {8, 4096, 65536, 1 << 20, CHANNEL_MAX};
    for (const size_t bytes : channel_sizes) {
        if ((int64_t)bytes > max_bytes || run->err.status != FMO_OK) break;
        int there = -1, back = -1;
        if (fmo_gmpi_channel_create(w->g, 0, 1, bytes, &there, &err) != FMO_OK ||
            fmo_gmpi_channel_create(w->g, 1, 0, bytes, &back, &err) != FMO_OK) {
            const double none = -1.0;
            pingpong_keep(run, w->p,
                          {BENCH_ON_GPU, "one way, by bytes", "channel", (int64_t)bytes, false},
                          &none, err.message);
            err = {FMO_OK, ""};
            break;
        }
        w->a.bytes = bytes, w->a.rounds = pingpong_rounds((int64_t)bytes);
        const int blocks = blocks_for(w, (int64_t)bytes);
        describe(w, blocks, note);
        w->a.there = there, w->a.back = back;
        snprintf(method, sizeof method, "%s, channel", name);
        measure(w, "one way, by bytes", method, (int64_t)bytes, true, note,
                [&] { return kernel_time(channels, blocks); });
        w->a.back = -1;
        snprintf(method, sizeof method, "%s, channel, a stream", name);
        if (bytes >= 65536)
            measure(w, "one way, by bytes", method, (int64_t)bytes, true, note,
                    [&] { return kernel_time(channels, blocks); });
    }
    time_calls(w, 0);
    close_group(w);
}

/* With more than two GPUs in one process: times the calls of all ranks on all GPUs. */
void on_all_gpus(world *w)
{
    if (!open_group(w, 8)) return close_group(w);
    time_calls(w, CALL_ALLREDUCE);
    close_group(w);
}

/* Seconds of one message one way; negative after an error. */
double nccl_seconds(const world *w, bench_nccl *n, void *const data[2], int64_t bytes, int rounds)
{
    bool good = true;
    bench_world_barrier(&w->p->world);
    const double begin = driver_seconds();
    for (int k = 0; k < 2 * rounds && good; k++) {
        good = bench_nccl_begin(n);
        for (int r = 0; r < w->local_ranks && good; r++) {
            const int rank = w->p->world.rank + r;
            good = k % 2 == rank
                       ? bench_nccl_send(n, rank, data[r], (size_t)bytes, 1 - rank, w->stream[r])
                       : bench_nccl_recv(n, rank, data[r], (size_t)bytes, 1 - rank, w->stream[r]);
        }
        good = bench_nccl_end(n) && good;
    }
    for (int r = 0; r < w->local_ranks; r++) {
        cudaSetDevice(w->device[r]);
        if (cudaStreamSynchronize(w->stream[r]) != cudaSuccess) good = false;
    }
    return good ? (driver_seconds() - begin) / (2.0 * rounds) : -1.0;
}

/* ---- sums -------------------------------------------------------------------------------------
 * Sums of doubles of two GPUs on the first one, as for X of a Fock build on several GPUs: by a
 * kernel there that reads the other's memory (accumulate/gpu/several.cu), and by NCCL. */

__global__ void __launch_bounds__(THREADS) fill_doubles(double *data, size_t count, double value)
{
    for (size_t n = (size_t)blockIdx.x * THREADS + threadIdx.x; n < count;
         n += (size_t)gridDim.x * THREADS)
        data[n] = value;
}
__global__ void __launch_bounds__(THREADS) add_doubles(double *to, const double *from, size_t count)
{
    for (size_t n = (size_t)blockIdx.x * THREADS + threadIdx.x; n < count;
         n += (size_t)gridDim.x * THREADS)
        to[n] += from[n];
}

/* Seconds of one sum; negative after an error. `rounds` sums are queued one after the other, as in
 * a build. */
double sum_seconds(const world *w, bench_nccl *nccl, double *const data[2], size_t count,
                   int rounds)
{
    bench_run *run = w->run;
    const unsigned blocks = 2 * (unsigned)run->device.sms;
    double ends[2] = {0.0, 0.0};
    for (int r = 0; r < 2; r++) {
        BENCH_CUDA(run, cudaSetDevice(w->device[r]));
        fill_doubles<<<blocks, THREADS, 0, w->stream[r]>>>(data[r], count, 1.0 + r);
        BENCH_CUDA(run, cudaStreamSynchronize(w->stream[r]));
    }
    BENCH_CUDA(run, cudaSetDevice(w->device[0]));
    const double begin = driver_seconds();
    for (int k = 0; k < rounds && run->err.status == FMO_OK; k++) {
        if (!nccl) {
            add_doubles<<<blocks, THREADS, 0, w->stream[0]>>>(data[0], data[1], count);
            BENCH_CUDA(run, cudaGetLastError());
            continue;
        }
        bool good = bench_nccl_begin(nccl);
        for (int r = 0; r < 2; r++)
            good = bench_nccl_add(nccl, r, data[r], count, w->stream[r]) && good;
        if (!bench_nccl_end(nccl) || !good) return bench_fail(run, FMO_ERR_DEVICE, "NCCL failed");
    }
    for (int r = 0; r < 2; r++) {
        BENCH_CUDA(run, cudaSetDevice(w->device[r]));
        BENCH_CUDA(run, cudaStreamSynchronize(w->stream[r]));
    }
    const double seconds = (driver_seconds() - begin) / rounds;
    bench_gpu_read(run, &ends[0], data[0], 1);
    bench_gpu_read(run, &ends[1], data[0] + count - 1, 1);
    if (run->err.status != FMO_OK) return -1.0;
    if (ends[0] != 1.0 + 2.0 * rounds || ends[1] != ends[0])
        return bench_fail(run, FMO_ERR_CHECK, "a sum of two GPUs is wrong");
    return seconds;
}

/* Measures sums of one length, by a kernel and by NCCL. */
void sums(world *w, bench_nccl *nccl, double *const data[2], int64_t bytes)
{
    static const char table[] = "a sum onto the first GPU, by bytes";
    const size_t count = (size_t)bytes / sizeof(double);
    const int rounds = pingpong_rounds(bytes);
    int can = 0;
    BENCH_CUDA(w->run, cudaSetDevice(w->device[0]));
    BENCH_CUDA(w->run, cudaDeviceCanAccessPeer(&can, w->device[0], w->device[1]));
    if (can) {
        const cudaError_t code = cudaDeviceEnablePeerAccess(w->device[1], 0);
        if (code == cudaErrorPeerAccessAlreadyEnabled)
            (void)cudaGetLastError();
        else
            BENCH_CUDA(w->run, code);
        measure(w, table, "a kernel reads the other's", bytes, true, NULL,
                [&] { return sum_seconds(w, nullptr, data, count, rounds); });
    }
    if (nccl)
        measure(w, table, "NCCL", bytes, true, NULL,
                [&] { return sum_seconds(w, nccl, data, count, rounds); });
}

/* Measures messages from the host: copies, NCCL, and MPI through pinned host memory. */
void from_host(world *w)
{
    bench_run *run = w->run;
    const cli_list *sizes = &run->options->bytes;
    char why[160] = "";
    void *data[2] = {NULL, NULL}, *pinned = NULL;
    int64_t max_bytes = 8;
    for (int k = 0; k < sizes->count; k++)
        if (sizes->value[k] > max_bytes) max_bytes = sizes->value[k];
    for (int r = 0; r < w->local_ranks; r++) {
        BENCH_CUDA(run, cudaSetDevice(w->device[r]));
        data[r] = bench_gpu_alloc(run, (size_t)max_bytes, "messages");
    }
    if (w->p->world.processes > 1)
        BENCH_CUDA(run, cudaHostAlloc(&pinned, (size_t)max_bytes, cudaHostAllocDefault));
    bench_nccl *nccl =
        w->one_gpu ? nullptr : bench_nccl_open(&w->p->world, 2, w->device, why, sizeof why);
    if (!nccl) {
        const double none = -1.0;
        pingpong_keep(run, w->p,
                      {BENCH_ON_GPU, "one way, by bytes", "NCCL, from the host", max_bytes, false},
                      &none, w->one_gpu ? "one GPU" : why);
    }
    for (int k = 0; k < sizes->count && run->err.status == FMO_OK; k++) {
        const int64_t bytes = sizes->value[k];
        const int rounds = pingpong_rounds(bytes);
        if (nccl)
            measure(w, "one way, by bytes", "NCCL, from the host", bytes, false, NULL, [&] {
                const double s = nccl_seconds(w, nccl, data, bytes, rounds);
                return s < 0.0 ? bench_fail(run, FMO_ERR_DEVICE, "NCCL failed") : s;
            });
        if (w->p->world.processes == 1) {
            measure(w, "one way, by bytes", "cudaMemcpyPeer, host waits", bytes, false, NULL, [&] {
                const double begin = driver_seconds();
                for (int r = 0; r < 2 * rounds; r++) {
                    const int to = 1 - r % 2;
                    BENCH_CUDA(run,
                               cudaMemcpyPeerAsync(data[to], w->device[to], data[1 - to],
                                                   w->device[1 - to], (size_t)bytes, w->stream[0]));
                    BENCH_CUDA(run, cudaStreamSynchronize(w->stream[0]));
                }
                return run->err.status == FMO_OK ? (driver_seconds() - begin) / (2.0 * rounds)
                                                 : -1.0;
            });
        } else {
            measure(
                w, "one way, by bytes", "MPI and copies, from the host", bytes, false, NULL, [&] {
                    bench_world_barrier(&w->p->world);
                    const double begin = driver_seconds();
                    for (int r = 0; r < 2 * rounds; r++) {
                        const bool send = r % 2 == w->p->world.rank;
                        if (send)
                            BENCH_CUDA(run, cudaMemcpy(pinned, data[0], (size_t)bytes,
                                                       cudaMemcpyDeviceToHost));
                        bench_world_move(&w->p->world, pinned, (size_t)bytes, 1 - w->p->world.rank,
                                         send);
                        if (!send)
                            BENCH_CUDA(run, cudaMemcpy(data[0], pinned, (size_t)bytes,
                                                       cudaMemcpyHostToDevice));
                    }
                    return run->err.status == FMO_OK ? (driver_seconds() - begin) / (2.0 * rounds)
                                                     : -1.0;
                });
        }
    }
    for (int k = 0; k < sizes->count && run->err.status == FMO_OK; k++)
        if (w->local_ranks == 2 && !w->one_gpu && sizes->value[k] >= SUM_MIN) {
            double *const doubles[2] = {(double *)data[0], (double *)data[1]};
            sums(w, nccl, doubles, sizes->value[k]);
        }
    bench_nccl_close(nccl);
    for (int r = 0; r < w->local_ranks; r++) cudaFree(data[r]);
    cudaFreeHost(pinned);
}

} // namespace

/* Chooses the GPUs of the ranks, and measures both transports and the host's messages. */
extern "C" void bench_pingpong_gpu(bench_run *run, const void *what)
{
    world w = {};
    int devices = 0, before = 0;
    w.run = run;
    w.p = (const pingpong *)what;
    BENCH_CUDA(run, cudaGetDevice(&before));
    BENCH_CUDA(run, cudaGetDeviceCount(&devices));
    w.local_ranks = w.p->world.processes > 1 ? 1 : 2;
    w.one_gpu = w.local_ranks == 2 && devices < 2;
    const int ranks_max = w.local_ranks == 1   ? 1
                          : devices < 2        ? 2
                          : devices < GPUS_MAX ? devices
                                               : GPUS_MAX;
    BENCH_CUDA(run, cudaHostAlloc((void **)&w.result, sizeof *w.result, cudaHostAllocPortable));
    for (int r = 0; r < ranks_max; r++) {
        w.device[r] = w.local_ranks == 1 ? w.p->world.rank % devices : w.one_gpu ? 0 : r;
        BENCH_CUDA(run, cudaSetDevice(w.device[r]));
        BENCH_CUDA(run, cudaStreamCreateWithFlags(&w.stream[r], cudaStreamNonBlocking));
    }
    if (!run->options->quiet && run->err.status == FMO_OK)
        printf("Ranks: %s\n", w.local_ranks == 1 ? "2 processes, a GPU each"
                              : w.one_gpu        ? "2 block groups of one kernel on one GPU"
                                                 : "2 GPUs of one process");
    for (int t = 0; t < FMO_GMPI_TRANSPORT_COUNT && run->err.status == FMO_OK; t++) {
        w.transport = (fmo_gmpi_transport)t;
        in_kernels(&w);
        if (ranks_max <= 2 || run->err.status != FMO_OK) continue;
        world all = w;
        all.local_ranks = ranks_max;
        on_all_gpus(&all);
    }
    if (run->err.status == FMO_OK) from_host(&w);
    for (int r = 0; r < ranks_max; r++) cudaStreamDestroy(w.stream[r]);
    cudaFreeHost(w.result);
    cudaSetDevice(before);
}
