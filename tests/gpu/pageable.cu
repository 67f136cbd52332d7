/* Copies through page-locked memory (accumulate/gpu/pageable.h): every size, more threads than
 * there are slots, on all GPUs, behind kernels that write late what is copied; more in flight than
 * there are slots; and that a copy that waits for a long kernel leaves the calls of other threads
 * alone. FMO_TEST_SMALL=1: few. */
#include <cuda_runtime.h>
#include <pthread.h>

#include "accumulate/gpu/pageable.h"
#include "accumulate/plan/plan.h"
#include "tests/gpu/call.h"
#include "tests/support/system.h"

enum { THREADS = 24, MAX = 300000 }; /* unsigned numbers: more than a slot */

/* Writes by one thread after a number of clock cycles. */
static __global__ void wait_and_add(unsigned *x, size_t num, unsigned what, long long clocks)
{
    const long long start = clock64();
    while (clock64() - start < clocks)
        ;
    for (size_t k = threadIdx.x; k < num; k += blockDim.x) x[k] += what;
}

/* Copies to the GPU and back, each time with other numbers; the source is overwritten at once. */
static int there_and_back(unsigned seed, int rounds, long long clocks)
{
    static const size_t sizes[] = {1, 2, 1000, 16384, 16385, 50000, 131072, 131073, MAX};
    unsigned *const from = (unsigned *)malloc(MAX * sizeof *from), *at = NULL;
    unsigned *const to = (unsigned *)malloc(MAX * sizeof *to);
    cudaStream_t stream = NULL;
    int wrong = 0;
    if (!from || !to || cudaMalloc((void **)&at, MAX * sizeof *at) != cudaSuccess ||
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
        return 1000000;
    for (int round = 0; round < rounds; round++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const size_t num = sizes[s];
            const unsigned first = seed * 7919u + (unsigned)round * 104729u + (unsigned)s;
            for (size_t k = 0; k < num; k++) from[k] = first + (unsigned)k;
            if (fmo_gpu_send(at, from, num * sizeof *at, stream) != cudaSuccess) wrong++;
            memset(from, 0xff, num * sizeof *from);
            wait_and_add<<<1, 128, 0, stream>>>(at, num, seed, clocks);
            if (cudaGetLastError() != cudaSuccess) wrong++;
            if (fmo_gpu_bring(to, at, num * sizeof *to, stream) != cudaSuccess) wrong++;
            for (size_t k = 0; k < num; k++) wrong += to[k] != first + (unsigned)k + seed;
        }
    (void)cudaStreamDestroy(stream);
    (void)cudaFree(at);
    free(from);
    free(to);
    return wrong;
}

typedef struct copier {
    pthread_t thread;
    int number, devices, rounds, wrong;
} copier;

static void *copy(void *user)
{
    copier *const c = (copier *)user;
    c->wrong = cudaSetDevice(c->number % c->devices) != cudaSuccess;
    c->wrong += there_and_back((unsigned)c->number + 1, c->rounds, c->number % 3 ? 0 : 200000);
    return NULL;
}

static void check_copies(int devices, int rounds)
{
    copier of[THREADS] = {};
    for (int n = 0; n < THREADS; n++) {
        of[n].number = n;
        of[n].devices = devices;
        of[n].rounds = rounds;
        if (pthread_create(&of[n].thread, NULL, copy, &of[n]) != 0) exit(1);
    }
    for (int n = 0; n < THREADS; n++) {
        pthread_join(of[n].thread, NULL);
        CHECK(of[n].wrong == 0, "thread %d: %d wrong numbers on %d GPUs", n, of[n].wrong, devices);
    }
}

/* More copies behind a long kernel than there are slots: none may be taken again before its numbers
 * are gone. */
static void check_in_flight(int device)
{
    enum { COPIES = 20, NUM = 50000 };
    unsigned *const from = (unsigned *)malloc(NUM * sizeof *from), *at = NULL;
    cudaStream_t stream = NULL;
    int wrong = 0;
    if (!from) exit(1);
    CUDA(cudaSetDevice(device));
    CUDA(cudaMalloc((void **)&at, COPIES * NUM * sizeof *at));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    wait_and_add<<<1, 64, 0, stream>>>(at, 64, 1, 200000000);
    CUDA(cudaGetLastError());
    for (unsigned c = 0; c < COPIES; c++) {
        for (unsigned k = 0; k < NUM; k++) from[k] = c * NUM + k;
        CUDA(fmo_gpu_send(at + (size_t)c * NUM, from, NUM * sizeof *at, stream));
    }
    for (unsigned c = 0; c < COPIES; c++) {
        CUDA(fmo_gpu_bring(from, at + (size_t)c * NUM, NUM * sizeof *at, stream));
        for (unsigned k = 0; k < NUM; k++) wrong += from[k] != c * NUM + k;
    }
    CHECK(wrong == 0, "GPU %d: %d wrong numbers", device, wrong);
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(at));
    free(from);
}

/* Calls that need the driver's lock, until it is told to end. */
typedef struct caller {
    pthread_t thread;
    int calls, failed, end;
    double longest;
} caller;

static void *call(void *user)
{
    caller *const c = (caller *)user;
    while (!__atomic_load_n(&c->end, __ATOMIC_ACQUIRE)) {
        cudaEvent_t event = NULL;
        const double start = fmo_now();
        c->failed += cudaEventCreate(&event) != cudaSuccess;
        c->failed += cudaEventDestroy(event) != cudaSuccess;
        const double taken = fmo_now() - start;
        if (taken > c->longest) c->longest = taken;
        c->calls++;
    }
    return NULL;
}

/* One thread waits for a kernel of some 0.3 s to bring its numbers; another goes on meanwhile. Both
 * once before: what comes first takes long anyway. */
static void check_others_go_on(int device)
{
    unsigned *at = NULL, back[64];
    cudaStream_t stream = NULL;
    cudaEvent_t event = NULL;
    caller other = {};
    CUDA(cudaSetDevice(device));
    CUDA(cudaMalloc((void **)&at, sizeof back));
    CUDA(cudaMemset(at, 0, sizeof back));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(fmo_gpu_bring(back, at, sizeof back, stream));
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventDestroy(event));
    wait_and_add<<<1, 64, 0, stream>>>(at, 64, 5, 500000000);
    CUDA(cudaGetLastError());
    if (pthread_create(&other.thread, NULL, call, &other) != 0) exit(1);
    const double start = fmo_now();
    CUDA(fmo_gpu_bring(back, at, sizeof back, stream));
    const double waited = fmo_now() - start;
    __atomic_store_n(&other.end, 1, __ATOMIC_RELEASE);
    pthread_join(other.thread, NULL);
    CHECK(back[63] == 5, "brought %u", back[63]);
    CHECK(waited > 0.1, "GPU %d: the kernel took %.3f s, too little for this test", device, waited);
    CHECK(!other.failed && other.longest < 0.5 * waited,
          "GPU %d: %d calls of another thread, %d failed, the longest took %.3f of %.3f s", device,
          other.calls, other.failed, other.longest, waited);
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(at));
}

int main(void)
{
    const char *const small = getenv("FMO_TEST_SMALL");
    int code = 0, devices = 0;
    if (!system_has_gpu(&code)) return code;
    CUDA(cudaGetDeviceCount(&devices));
    check_copies(devices, small && strcmp(small, "0") != 0 ? 1 : 8);
    for (int device = 0; device < devices; device++) {
        check_in_flight(device);
        check_others_go_on(device);
    }
    return check_summary();
}
