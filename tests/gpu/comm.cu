/* gmpi in kernels: both transports, in grid and block scope, with ranks as block groups of one
 * cooperative kernel on one GPU, and with one rank on each of several GPUs. Messages around every
 * limit, order, many at a time, channels, reductions; and faults, which must end all ranks with a
 * message. */
#include "tests/support/check.h"
#include <fmo/gmpi.cuh>

#include <chrono>
#include <vector>

namespace {

/* What kernels found: the first wrong line, how many, and codes of ranks. In host memory. */
struct findings {
    int wrong, line, rank, code[FMO_GMPI_RANKS_MAX];
    long long value;
};

__device__ void complain(findings *f, const fmo_gmpi_buf *b, int line, long long value)
{
    if (atomicAdd_system(&f->wrong, 1) == 0) f->line = line, f->rank = b->rank, f->value = value;
}
#define EXPECT(condition, value)                                        \
    do {                                                                \
        if (!(condition)) complain(f, b, __LINE__, (long long)(value)); \
    } while (0)
/* A call of the whole scope: leaves the kernel if it fails. */
#define CALL(call)                    \
    do {                              \
        const int code_ = (call);     \
        if (code_ != FMO_GMPI_OK) {   \
            f->code[b->rank] = code_; \
            return;                   \
        }                             \
    } while (0)

struct arguments {
    unsigned long long out, in, more; /* offsets in the heap */
    int count, small;
    int channel[4];
    findings *f;
};

__device__ unsigned char byte_of(int from, int tag, unsigned long long i)
{
    return (unsigned char)(i * 131 + from * 17 + tag * 7 + (i >> 8) + (i >> 16));
}
template <int S> __device__ unsigned long long my_thread(const fmo_gmpi_buf *b)
{
    return (S == FMO_GMPI_GRID ? fmo_gmpi_block(b) : 0) * fmo_gmpi_threads() + fmo_gmpi_thread();
}
template <int S> __device__ unsigned long long my_threads(const fmo_gmpi_buf *b)
{
    return (unsigned long long)(S == FMO_GMPI_GRID ? fmo_gmpi_blocks(b) : 1) * fmo_gmpi_threads();
}
/* In block scope the first block of a rank takes part. */
template <int S> __device__ bool participates(const fmo_gmpi_buf *b)
{
    return S == FMO_GMPI_GRID || fmo_gmpi_block(b) == 0;
}

/* Around every limit; addresses that are not aligned; one request for send and receive. */
template <int S> __global__ void exchange(fmo_gmpi_buf *bufs, arguments a)
{
    fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
    findings *f = a.f;
    if (!participates<S>(b)) return;
    const unsigned long long sizes[] = {0,
                                        1,
                                        4,
                                        7,
                                        8,
                                        9,
                                        100,
                                        FMO_GMPI_EAGER - 1,
                                        FMO_GMPI_EAGER,
                                        FMO_GMPI_EAGER + 1,
                                        FMO_GMPI_STAGE,
                                        FMO_GMPI_STAGE + 1,
                                        1000003,
                                        (1 << 20) + 16,
                                        5000000};
    const int next = (b->rank + 1) % b->size, before = (b->rank + b->size - 1) % b->size;
    for (int k = 0; k < (a.small ? 12 : 15); k++)
        for (int shift = 0; shift < 3; shift++) {
            const unsigned long long n = sizes[k];
            unsigned char *out = b->heap[b->rank] + a.out + shift * 4;
            unsigned char *in = b->heap[b->rank] + a.in + (shift == 2 ? 1 : shift * 4);
            for (unsigned long long i = my_thread<S>(b); i < n; i += my_threads<S>(b))
                out[i] = byte_of(b->rank, k, i), in[i] = 0xee;
            fmo_gmpi_request request = FMO_GMPI_NULL;
            fmo_gmpi_isend<S>(b, out, n, FMO_GMPI_BYTE, next, k, 0, &request);
            fmo_gmpi_irecv<S>(b, in, n, FMO_GMPI_BYTE, before, k, 0, &request);
            CALL(fmo_gmpi_wait<S>(b, &request));
            for (unsigned long long i = my_thread<S>(b); i < n; i += my_threads<S>(b))
                EXPECT(*(volatile unsigned char *)(in + i) == byte_of(before, k, i),
                       k * 100 + shift);
            CALL(fmo_gmpi_synchronize<S>(b));
        }
}

/* Numbered messages on several tags and communicators, received in another order. */
template <int S> __global__ void order(fmo_gmpi_buf *bufs, arguments a)
{
    fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
    findings *f = a.f;
    if (!participates<S>(b)) return;
    enum { WINDOW = 24, KEYS = 6 };
    const int next = (b->rank + 1) % b->size, before = (b->rank + b->size - 1) % b->size;
    const bool first = fmo_gmpi_thread() == 0 && fmo_gmpi_block(b) == 0;
    int *out = (int *)(b->heap[b->rank] + a.out), *in = (int *)(b->heap[b->rank] + a.in);
    fmo_gmpi_request send[WINDOW], recv[WINDOW];
    int sent[KEYS] = {0}, got[KEYS] = {0};
    unsigned seed = 12345; /* the same on both ends */
    for (int done = 0; done < a.count; done += WINDOW) {
        int key[WINDOW], reference[WINDOW];
        for (int k = 0; k < WINDOW; k++) {
            seed = seed * 1664525u + 1013904223u;
            key[k] = (int)((seed >> 16) % KEYS);
            send[k] = recv[k] = FMO_GMPI_NULL;
        }
        if (first)
            for (int k = 0; k < WINDOW; k++) out[4 * k] = sent[key[k]]++, out[4 * k + 3] = key[k];
        for (int k = 0; k < WINDOW; k++) /* 4 or 16 bytes: within an entry, and beside it */
            fmo_gmpi_isend<S>(b, out + 4 * k, key[k] & 1 ? 1 : 4, FMO_GMPI_INT32, next, key[k] / 2,
                              key[k] % 2, &send[k]);
        for (int k = 0; k < WINDOW; k++) { /* from the last to the first: keys in order */
            const int w = (k * 5 + 7) % WINDOW;
            reference[w] = got[key[w]]++;
            fmo_gmpi_irecv<S>(b, in + 4 * w, 4, FMO_GMPI_INT32, before, key[w] / 2, key[w] % 2,
                              &recv[w]);
        }
        for (int k = 0; k < WINDOW; k++) {
            const int w = (k * 7 + 3) % WINDOW;
            CALL(fmo_gmpi_wait<S>(b, &recv[w]));
            if (first) {
                volatile int *p = in + 4 * w;
                EXPECT(p[0] == reference[w], p[0]);
                if (!(key[w] & 1)) EXPECT(p[3] == key[w], p[3]);
            }
        }
        CALL(fmo_gmpi_waitall<S>(b, WINDOW, send));
    }
}

/* More messages than an inbox holds before the first receive; then more than twice as many. */
template <int S> __global__ void storm(fmo_gmpi_buf *bufs, arguments a)
{
    fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
    findings *f = a.f;
    if (!participates<S>(b)) return;
    const bool first = fmo_gmpi_thread() == 0 && fmo_gmpi_block(b) == 0;
    int *out = (int *)(b->heap[b->rank] + a.out), *in = (int *)(b->heap[b->rank] + a.in);
    const int messages = 3 * FMO_GMPI_INBOX;
    for (int to = 1; to < b->size; to++) { /* all other ranks send to rank 0 */
        for (int k = 0; k < messages; k++) {
            fmo_gmpi_request request = FMO_GMPI_NULL;
            if (b->rank == to) {
                if (first) out[k * 8] = k;
                fmo_gmpi_isend<S>(b, out + k * 8, 8, FMO_GMPI_INT32, 0, 1, 0, &request);
                CALL(fmo_gmpi_wait<S>(b, &request));
            } else if (b->rank == 0) {
                if (k == 0) { /* as late as a rank can be that is still waited for */
                    const unsigned long long until = fmo_gmpi_clock() + 20000000;
                    while (fmo_gmpi_clock() < until) __nanosleep(1000);
                }
                fmo_gmpi_irecv<S>(b, in, 8, FMO_GMPI_INT32, to, 1, 0, &request);
                CALL(fmo_gmpi_wait<S>(b, &request));
                if (first) EXPECT(*(volatile int *)in == k, *in);
            }
        }
    }
}

/* Allreduces of doubles and integers have the right result on every rank; with transport peer the
 * sum has the same bits everywhere. */
template <int S> __global__ void reduce(fmo_gmpi_buf *bufs, arguments a)
{
    fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
    findings *f = a.f;
    if (!participates<S>(b)) return;
    double *d = (double *)(b->heap[b->rank] + a.out), *e = (double *)(b->heap[b->rank] + a.in);
    const int n = a.small ? 100 : 5000;
    for (int turn = 0; turn < 20; turn++) {
        for (int i = (int)my_thread<S>(b); i < n; i += (int)my_threads<S>(b))
            d[i] = (b->rank + 1) * 0.1 + i + turn;
        CALL(fmo_gmpi_allreduce<S>(b, d, e, turn % 2 ? n : 1, FMO_GMPI_DOUBLE, FMO_GMPI_SUM,
                                   turn % 3));
        for (int i = (int)my_thread<S>(b); i < (turn % 2 ? n : 1); i += (int)my_threads<S>(b)) {
            double reference = 0.0;
            for (int r = 0; r < b->size; r++)
                reference = r ? reference + ((r + 1) * 0.1 + i + turn) : (r + 1) * 0.1 + i + turn;
            const double got = *(volatile double *)(e + i);
            EXPECT(b->transport == FMO_GMPI_PEER ? got == reference : fabs(got - reference) < 1e-9,
                   turn * 10000 + i);
        }
        int *one = (int *)(b->heap[b->rank] + a.more);
        if (my_thread<S>(b) == 0) one[0] = b->rank, one[1] = -b->rank;
        CALL(fmo_gmpi_allreduce<S>(b, one, one, 2, FMO_GMPI_INT32, FMO_GMPI_MAX, 0));
        if (my_thread<S>(b) == 0)
            EXPECT(((volatile int *)one)[0] == b->size - 1 && ((volatile int *)one)[1] == 0,
                   one[0]);
        CALL(fmo_gmpi_barrier<S>(b, 0));
    }
}

/* Halos to both neighbours, again and again. */
template <int S> __global__ void halo(fmo_gmpi_buf *bufs, arguments a)
{
    fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
    findings *f = a.f;
    if (!participates<S>(b) || b->rank > 1) return;
    fmo_gmpi_channel to = fmo_gmpi_channel_open(b, a.channel[b->rank]);
    fmo_gmpi_channel from = fmo_gmpi_channel_open(b, a.channel[1 - b->rank]);
    const int n = 3000;
    for (int turn = 0; turn < a.count; turn++) {
        int *there = (int *)fmo_gmpi_channel_begin<S>(&to);
        if (!there) {
            f->code[b->rank] = fmo_gmpi_error(b);
            return;
        }
        for (int i = (int)my_thread<S>(b); i < n; i += (int)my_threads<S>(b))
            there[i] = turn * 5 + i + b->rank;
        CALL(fmo_gmpi_channel_send<S>(&to));
        const int *here = (const int *)fmo_gmpi_channel_recv<S>(&from);
        if (!here) {
            f->code[b->rank] = fmo_gmpi_error(b);
            return;
        }
        for (int i = (int)my_thread<S>(b); i < n; i += (int)my_threads<S>(b))
            EXPECT(__ldcg(here + i) == turn * 5 + i + 1 - b->rank, turn);
        fmo_gmpi_channel_release<S>(&from);
    }
}

/* Every block of a rank exchanges messages with the same block of another, all at the same time. */
__global__ void blocks(fmo_gmpi_buf *bufs, arguments a)
{
    fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
    findings *f = a.f;
    const int block = (int)fmo_gmpi_block(b);
    const int next = (b->rank + 1) % b->size, before = (b->rank + b->size - 1) % b->size;
    int *out = (int *)(b->heap[b->rank] + a.out) + block * 4096;
    int *in = (int *)(b->heap[b->rank] + a.in) + block * 4096;
    const int sizes[3] = {1, 500, 2000};
    for (int turn = 0; turn < a.count; turn++) {
        const int n = sizes[turn % 3];
        fmo_gmpi_request send = FMO_GMPI_NULL, recv = FMO_GMPI_NULL;
        for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
            out[i] = turn + 1000 * i + block + b->rank;
        fmo_gmpi_irecv<FMO_GMPI_BLOCK>(b, in, n, FMO_GMPI_INT32, before, block, 0, &recv);
        fmo_gmpi_isend<FMO_GMPI_BLOCK>(b, out, n, FMO_GMPI_INT32, next, block, 0, &send);
        CALL(fmo_gmpi_wait<FMO_GMPI_BLOCK>(b, &recv));
        for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
            EXPECT(__ldcg(in + i) == turn + 1000 * i + block + before, turn);
        CALL(fmo_gmpi_wait<FMO_GMPI_BLOCK>(b, &send));
    }
}

/* test() does not wait; the message comes 5 ms later. */
template <int S> __global__ void look(fmo_gmpi_buf *bufs, arguments a)
{
    fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
    findings *f = a.f;
    if (!participates<S>(b) || b->rank > 1) return;
    int *data = (int *)(b->heap[b->rank] + a.out);
    fmo_gmpi_request request = FMO_GMPI_NULL;
    int flag = 1, turns = 0;
    if (b->rank == 0) {
        fmo_gmpi_irecv<S>(b, data, 1, FMO_GMPI_INT32, 1, 0, 0, &request);
        for (;; turns++) {
            CALL(fmo_gmpi_test<S>(b, &request, &flag));
            if (flag) break;
        }
        EXPECT(turns > 0, turns);
        EXPECT(*(volatile int *)data == 4711, *data);
    } else {
        const unsigned long long until = fmo_gmpi_clock() + 5000000;
        while (fmo_gmpi_clock() < until) __nanosleep(1000);
        if (my_thread<S>(b) == 0) *data = 4711;
        fmo_gmpi_isend<S>(b, data, 1, FMO_GMPI_INT32, 0, 0, 0, &request);
        CALL(fmo_gmpi_wait<S>(b, &request));
    }
}

/* Faults, selected by a.count. */
enum { MISSING, TRUNCATED, WRONG_RANK, WRONG_TAG, TOO_MANY, MUTE, MUTE_LOOKED, FATES };
/* Runs the fault that a.count names: a missing rank, a message that is too long, wrong ranks and
 * tags, too many requests, or waits for messages that are not sent. */
template <int S> __global__ void fate(fmo_gmpi_buf *bufs, arguments a)
{
    fmo_gmpi_buf *b = fmo_gmpi_this_rank(bufs);
    findings *f = a.f;
    if (!participates<S>(b)) return;
    int *data = (int *)(b->heap[b->rank] + a.out);
    fmo_gmpi_request request = FMO_GMPI_NULL;
    if (a.count == MISSING && b->rank == 1) return;
    if (a.count >= MUTE) { /* all wait for a message that is never sent: the host ends the wait */
        fmo_gmpi_irecv<S>(b, data, 1, FMO_GMPI_INT32, (b->rank + 1) % b->size, 3, 0, &request);
    } else if (b->rank != 0) {
        if (a.count == TRUNCATED)
            fmo_gmpi_isend<S>(b, data, 100, FMO_GMPI_INT32, 0, 3, 0, &request);
        fmo_gmpi_irecv<S>(b, data + 200, 1, FMO_GMPI_INT32, 0, 9, 0, &request);
    } else if (a.count == WRONG_RANK || a.count == WRONG_TAG) {
        fmo_gmpi_isend<S>(b, data, 1, FMO_GMPI_INT32, a.count == WRONG_RANK ? b->size : 1,
                          a.count == WRONG_TAG ? -1 : 0, 0, &request);
    } else if (a.count == TOO_MANY) {
        for (int k = 0; k <= FMO_GMPI_SLOTS; k++)
            fmo_gmpi_irecv<S>(b, data, 1, FMO_GMPI_INT32, 1, k, 0, &request);
    } else {
        fmo_gmpi_irecv<S>(b, data, 99, FMO_GMPI_INT32, 1, 3, 0, &request);
    }
    int code = FMO_GMPI_OK, flag = 0;
    if (a.count == MUTE_LOOKED)
        while (code == FMO_GMPI_OK && !flag) code = fmo_gmpi_test<S>(b, &request, &flag);
    else
        code = fmo_gmpi_wait<S>(b, &request);
    if (my_thread<S>(b) == 0) f->code[b->rank] = code;
}

/* ---- the host ---------------------------------------------------------------------------------
 */

struct setting {
    fmo_gmpi_transport transport;
    int ranks, blocks, concurrent;
    std::vector<int> devices;
    double timeout;
};

bool cuda(cudaError_t code, const char *what)
{
    CHECK(code == cudaSuccess, "%s: %s", what, cudaGetErrorString(code));
    return code == cudaSuccess;
}

struct world {
    fmo_gmpi *g = nullptr;
    setting s;
    arguments a{};
    findings *f = nullptr;
    std::vector<cudaStream_t> streams;
};

/* Creates a communicator with memory, channels and one stream for each rank. */
bool open_world(world *w, const setting &s)
{
    fmo_gmpi_options options;
    fmo_error err = {FMO_OK, ""};
    w->s = s;
    fmo_gmpi_options_init(&options);
    options.transport = s.transport, options.ranks = s.ranks, options.devices = s.devices.data();
    options.concurrent = s.concurrent, options.timeout = s.timeout;
    options.heap_bytes = (size_t)32 << 20;
    const fmo_status status = fmo_gmpi_create(&options, &w->g, &err);
    CHECK(status == FMO_OK, "create: %s", err.message);
    if (status != FMO_OK) return false;
    size_t at[3];
    for (int k = 0; k < 3; k++)
        CHECK(fmo_gmpi_alloc(w->g, (size_t)6 << 20, &at[k], &err) == FMO_OK, "%s", err.message);
    w->a.out = at[0], w->a.in = at[1], w->a.more = at[2];
    for (int c = 0; c < 4; c++)
        CHECK(fmo_gmpi_channel_create(w->g, c & 1, 1 - (c & 1), 12000, &w->a.channel[c], &err) ==
                  FMO_OK,
              "%s", err.message);
    if (!cuda(cudaHostAlloc((void **)&w->f, sizeof *w->f, cudaHostAllocPortable), "findings"))
        return false;
    w->a.f = w->f;
    w->a.small = getenv("FMO_TEST_SMALL") != nullptr;
    for (int r = 0; r < s.ranks; r++) {
        cudaStream_t stream = nullptr;
        cudaSetDevice(s.devices[r]);
        cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
        w->streams.push_back(stream);
    }
    return true;
}
void close_world(world *w)
{
    for (int r = 0; r < (int)w->streams.size(); r++) cudaStreamDestroy(w->streams[r]);
    fmo_gmpi_destroy(w->g);
    cudaFreeHost(w->f);
}

/* One cooperative kernel on each device. */
template <class Kernel> void launch(world *w, Kernel kernel, int count)
{
    memset(w->f, 0, sizeof *w->f);
    w->a.count = count;
    for (int r = 0; r < w->s.ranks; r++) {
        if (r > 0 && w->s.devices[r] == w->s.devices[r - 1]) continue;
        int together = 1;
        while (r + together < w->s.ranks && w->s.devices[r + together] == w->s.devices[r])
            together++;
        cudaSetDevice(w->s.devices[r]);
        fmo_gmpi_buf *bufs = (fmo_gmpi_buf *)fmo_gmpi_bufs(w->g, r);
        void *args[] = {&bufs, &w->a};
        cuda(cudaLaunchCooperativeKernel((const void *)kernel,
                                         dim3((unsigned)(w->s.blocks * together)), dim3(128), args,
                                         0, w->streams[r]),
             "launch");
    }
}
void finish(world *w)
{
    for (int r = 0; r < w->s.ranks; r++) {
        cudaSetDevice(w->s.devices[r]);
        cuda(cudaStreamSynchronize(w->streams[r]), "kernel");
    }
}

template <class Kernel> void run(world *w, const char *name, Kernel kernel, int count)
{
    fmo_error err = {FMO_OK, ""};
    const auto begin = std::chrono::steady_clock::now();
    launch(w, kernel, count);
    finish(w);
    const double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    CHECK(w->f->wrong == 0, "%s: %d wrong, the first at line %d of rank %d, value %lld", name,
          w->f->wrong, w->f->line, w->f->rank, w->f->value);
    for (int r = 0; r < w->s.ranks; r++)
        CHECK(w->f->code[r] == 0, "%s: rank %d has code %d", name, r, w->f->code[r]);
    CHECK(fmo_gmpi_check(w->g, &err) == FMO_OK, "%s: %s", name, err.message);
    printf("    %s: %.1f ms\n", name, 1e3 * took);
}

template <int S> void all_of_scope(world *w)
{
    const bool small = w->a.small != 0, peer = w->s.transport == FMO_GMPI_PEER;
    const char *scope = S == FMO_GMPI_GRID ? "grid" : "block";
    char name[64];
#define RUN(kernel, count)                              \
    snprintf(name, sizeof name, #kernel ", %s", scope); \
    run(w, name, kernel<S>, count)
    RUN(exchange, 0);
    RUN(order, small ? 240 : peer ? 24000 : 4800);
    RUN(storm, 0);
    RUN(reduce, 0);
    RUN(halo, small ? 20 : peer ? 2000 : 200);
    RUN(halo, 7); /* counters continue from kernel to kernel */
    RUN(look, 0);
#undef RUN
}

void check_good(const setting &s, const char *where)
{
    world w;
    printf("  %s, %d ranks %s, %d blocks each%s\n", fmo_gmpi_transport_name(s.transport), s.ranks,
           where, s.blocks, s.concurrent ? ", concurrent" : "");
    if (open_world(&w, s)) {
        all_of_scope<FMO_GMPI_GRID>(&w);
        all_of_scope<FMO_GMPI_BLOCK>(&w);
        if (!s.concurrent && s.transport == FMO_GMPI_PEER && !w.a.small)
            run(&w, "order, block, a million", order<FMO_GMPI_BLOCK>, 1000000 / s.ranks);
        if (s.concurrent) run(&w, "blocks", blocks, w.a.small ? 30 : 600);
    }
    close_world(&w);
}

/* Every failure ends all kernels; the line names the rank and the cause. */
template <int S> void check_fates(setting s)
{
    static const struct {
        int code;
        const char *says;
    } expected[FATES] = {
        {FMO_GMPI_TIMEOUT,
         "rank 0 waited 0.2 s for rank 1 (receive, tag 3, communicator 0): it has died"},
        {FMO_GMPI_TRUNCATED,
         "rank 0, receive with rank 1, tag 3, communicator 0: the message is longer"},
        {FMO_GMPI_ARGUMENT, "rank 0, send with rank 2, tag 0, communicator 0: no such rank"},
        {FMO_GMPI_ARGUMENT, "rank 0, send with rank 1"},
        {FMO_GMPI_FULL, "all requests are in use"},
        {FMO_GMPI_ABORTED, "fmo_gmpi_abort"},
        {FMO_GMPI_ABORTED, "fmo_gmpi_abort"},
    };
    for (int k = 0; k < FATES; k++) {
        world w;
        fmo_error err = {FMO_OK, ""};
        s.timeout = k == MISSING ? 0.2 : 5.0;
        if (open_world(&w, s)) {
            const auto begin = std::chrono::steady_clock::now();
            launch(&w, fate<S>, k);
            if (k >= MUTE) {
                const auto until = begin + std::chrono::milliseconds(50);
                while (std::chrono::steady_clock::now() < until)
                    ;
                fmo_gmpi_abort(w.g);
            }
            finish(&w);
            const double took =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            CHECK(took < 4.0, "fate %d took %.1f s", k, took);
            CHECK(fmo_gmpi_check(w.g, &err) == FMO_ERR_DEVICE, "fate %d: no error", k);
            CHECK(strstr(err.message, expected[k].says) != nullptr, "fate %d: '%s'", k,
                  err.message);
            CHECK(w.f->code[0] == expected[k].code, "fate %d: code %d", k, w.f->code[0]);
            if (k != MISSING) CHECK(w.f->code[1] != FMO_GMPI_OK, "fate %d: rank 1 went on", k);
            printf("    fate: %s (%.2f s)\n", err.message, took);
            /* Errors are sticky. */
            launch(&w, fate<S>, WRONG_RANK);
            finish(&w);
            CHECK(w.f->code[0] == expected[k].code, "fate %d: forgotten: %d", k, w.f->code[0]);
        }
        close_world(&w);
    }
}

/* Too many ranks, missing GPUs, devices that are not consecutive, and too much memory are refused.
 */
void check_refusals(int devices)
{
    fmo_gmpi_options options;
    fmo_gmpi *g = nullptr;
    fmo_error err = {FMO_OK, ""};
    fmo_gmpi_options_init(&options);
    options.ranks = 17;
    CHECK(fmo_gmpi_create(&options, &g, &err) == FMO_ERR_ARGUMENT && !g, "17 ranks");
    err = {FMO_OK, ""};
    options.ranks = devices + 1;
    CHECK(fmo_gmpi_create(&options, &g, &err) == FMO_ERR_NO_DEVICE && !g, "%s", err.message);
    err = {FMO_OK, ""};
    const int apart[3] = {0, 1, 0};
    options.ranks = 3, options.devices = apart;
    CHECK(fmo_gmpi_create(&options, &g, &err) == FMO_ERR_ARGUMENT &&
              strstr(err.message, "consecutive"),
          "%s", err.message);
    err = {FMO_OK, ""};
    options.ranks = 1, options.devices = nullptr, options.heap_bytes = 1000;
    CHECK(fmo_gmpi_create(&options, &g, &err) == FMO_OK, "%s", err.message);
    size_t offset;
    int channel;
    CHECK(fmo_gmpi_alloc(g, 1001, &offset, &err) == FMO_ERR_MEMORY, "1001 of 1000 bytes");
    err = {FMO_OK, ""};
    CHECK(fmo_gmpi_channel_create(g, 0, 0, 8, &channel, &err) == FMO_ERR_ARGUMENT,
          "channel to itself");
    fmo_gmpi_destroy(g);
    fmo_gmpi_destroy(nullptr);
}

} // namespace

/* Runs the good and the faulty cases with every transport, on one GPU and on all that are there. */
int main(void)
{
    int devices = 0;
    /* A kernel that is loaded when it is first launched might wait for one that waits for it. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        return check_skip("no NVIDIA GPU");
    const bool small = getenv("FMO_TEST_SMALL") != nullptr;
    check_refusals(devices);
    printf("%d GPUs\n", devices);
    for (int t = 0; t < FMO_GMPI_TRANSPORT_COUNT; t++) {
        const fmo_gmpi_transport transport = (fmo_gmpi_transport)t;
        check_good({transport, 2, 3, 1, {0, 0}, 10.0}, "of one GPU");
        if (!small) check_good({transport, 4, 5, 0, {0, 0, 0, 0}, 10.0}, "of one GPU");
        check_fates<FMO_GMPI_GRID>({transport, 2, 2, 1, {0, 0}, 1.0});
        if (devices < 2) continue;
        const int n = devices < FMO_GMPI_RANKS_MAX ? devices : FMO_GMPI_RANKS_MAX;
        std::vector<int> each;
        for (int d = 0; d < n; d++) each.push_back(d);
        char where[32];
        snprintf(where, sizeof where, "on %d GPUs", n);
        check_good({transport, n, 64, 1, each, 10.0}, where);
        check_good({transport, n, 132, 0, each, 10.0}, where);
        check_fates<FMO_GMPI_BLOCK>({transport, 2, 2, 1, {0, 1}, 1.0});
    }
    return check_summary();
}
