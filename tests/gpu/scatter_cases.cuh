/* Cases of scatter.cu: how lanes reach a call and with which addresses, the buffers of a case on
 * host and device, and the kernel that adds them. Included there alone. */
#ifndef FMO_TESTS_SCATTER_CASES_CUH
#define FMO_TESTS_SCATTER_CASES_CUH

#include "tests/support/check.h"

#include <cuda_runtime.h>

#include <fmo/atomics.cuh>
#include <fmo/scatter.h>

enum { BINS_MAX = 1000, ELEMENTS_MAX = 16384, ROUNDS = 3, BLOCK_ROWS = 3, BLOCK_COLUMNS = 3 };
enum { BLOCK_SIZE = BLOCK_ROWS * BLOCK_COLUMNS, BLOCK_STRIDE = 5, BLOCK_SPAN = 3 * BLOCK_STRIDE };

static int small_run;
static unsigned long long random_state = 20130805;

#define CUDA_CHECK(call)                                                  \
    do {                                                                  \
        const cudaError_t cuda_check_error = (call);                      \
        if (cuda_check_error != cudaSuccess) {                            \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                    cudaGetErrorString(cuda_check_error));                \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

static int random_below(int n)
{
    return (int)(check_random(&random_state) * n);
}

/* How lanes reach a call, which of them, and with which addresses. */
typedef enum { SHAPE_STRAIGHT, SHAPE_BRANCHES, SHAPE_LOOPS, SHAPES } shape;
typedef enum { ACTIVE_ALL, ACTIVE_RANDOM, ACTIVE_SINGLE, ACTIVE_CUT, ACTIVES } active;
typedef enum { PATTERN_RANDOM, PATTERN_RUNS, PATTERN_SAME, PATTERN_DISTINCT, PATTERNS } pattern;
static const char *const shape_name[] = {"straight", "branches", "loops"};
static const char *const active_name[] = {"all", "random", "single", "cut"};
static const char *const pattern_name[] = {"random", "runs", "same", "distinct"};

/* Which lanes form a group: what a strategy guarantees (scatter_common.cuh). */
typedef struct {
    int span; /* 0: the block */
    bool runs;
} form;
static const form form_single = {1, false};
template <class S> static form form_of(void)
{
    return form{S::span, S::takes_runs};
}

typedef struct {
    int threads, blocks, bins;
    shape how;
    active who;
    pattern where;
    int positive; /* values > 0, so that old values tell the serial order */
} test_case;

/* Thread i in round t has element t * (number of threads) + i; index -1: no work. */
template <typename T> struct buffers {
    int index[ELEMENTS_MAX];
    T value[ELEMENTS_MAX], old[ELEMENTS_MAX], bins[BINS_MAX];
    unsigned issued[ELEMENTS_MAX];
};
template <typename T> static buffers<T> host;
template <typename T> static buffers<T> *device; /* of device memory */

__host__ __device__ static int branch_of(int element)
{
    return (int)(((unsigned)element * 2654435761u >> 16) % 3u);
}

template <bool Fetch, class S, typename T>
__device__ __forceinline__ void call(const S &s, unsigned mask, buffers<T> *b, int element)
{
    const int index = b->index[element];
    T *address = index >= 0 ? b->bins + index : nullptr;
    if (Fetch)
        b->old[element] = s.fetch_add(mask, address, b->value[element]);
    else
        b->issued[element] = s.add(mask, address, b->value[element]);
}

__device__ static unsigned existing_lanes(void)
{
    const int left = (int)blockDim.x - (int)(threadIdx.x & ~31u);
    return left >= 32 ? ~0u : (1u << left) - 1u;
}

/* Adds every element of the buffers by the strategy S; the shape is how the lanes diverge: straight
 * code, branches, or loops of different lengths. */
template <bool Fetch, class S, typename T> __global__ void add_kernel(S s, buffers<T> *b, shape how)
{
    const int total = (int)(gridDim.x * blockDim.x);
    const int thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    unsigned mask = existing_lanes();
    if (S::block_wide) {
        for (int t = 0; t < ROUNDS; t++) call<Fetch>(s, mask, b, t * total + thread);
    } else if (how == SHAPE_BRANCHES) {
        for (int t = 0; t < ROUNDS; t++) {
            const int element = t * total + thread;
            const int branch = b->index[element] >= 0 ? branch_of(element) : -1;
            const unsigned mask0 = __ballot_sync(mask, branch == 0);
            const unsigned mask1 = __ballot_sync(mask, branch == 1);
            const unsigned mask2 = __ballot_sync(mask, branch == 2);
            if (branch == 0)
                call<Fetch>(s, mask0, b, element);
            else if (branch == 1)
                call<Fetch>(s, mask1, b, element);
            else if (branch == 2)
                call<Fetch>(s, mask2, b, element);
        }
    } else {
        for (int t = 0; t < ROUNDS; t++) {
            const int element = t * total + thread;
            const bool works = b->index[element] >= 0;
            const unsigned workers = __ballot_sync(mask, works);
            if (how == SHAPE_LOOPS) {
                if (!works) break; /* permanently: the others continue without this lane */
                mask = workers;
            }
            if (works) call<Fetch>(s, workers, b, element);
        }
    }
    fmo_scatter_finish(s);
}

static void random_value(int *value, int positive)
{
    *value = positive ? 1 + random_below(1000)
                      : (int)(unsigned)(check_random(&random_state) * 4294967296.0);
}
static void random_value(double *value, int positive)
{
    const double x = check_random(&random_state);
    *value = positive ? 0.01 + x : 2.0 * x - 1.0;
}
static void random_value(float *value, int positive)
{
    double x;
    random_value(&x, positive);
    *value = (float)x;
}

/* Fills the buffers of a case with bins, values and inactive lanes as its patterns say. */
template <typename T> static void fill(const test_case *c)
{
    buffers<T> *h = &host<T>;
    const int total = c->threads * c->blocks;
    const int cut = random_below(total + 1), offset = random_below(c->bins);
    int run_left = 0, run_bin = 0;
    for (int e = 0; e < ROUNDS * total; e++) {
        const int thread = e % total, round = e / total, lane = thread % c->threads % 32;
        if (run_left-- <= 0) {
            run_left = random_below(9);
            run_bin = random_below(c->bins);
        }
        int bin = offset;
        if (c->where == PATTERN_RANDOM) bin = random_below(c->bins);
        if (c->where == PATTERN_RUNS) bin = run_bin;
        if (c->where == PATTERN_DISTINCT) bin = (thread + offset) % c->bins;
        bool works = true;
        if (c->who == ACTIVE_RANDOM) works = random_below(2);
        if (c->who == ACTIVE_SINGLE) works = lane == (thread / 32 * 7 + round * 5 + offset) % 32;
        if (c->who == ACTIVE_CUT) works = thread < cut;
        /* A lane that has left its loop has no more work. */
        if (c->how == SHAPE_LOOPS && round && h->index[e - total] < 0) works = false;
        h->index[e] = works ? bin : -1;
        random_value(&h->value[e], c->positive);
        h->old[e] = 0;
        h->issued[e] = 0;
    }
    for (int i = 0; i < BINS_MAX; i++) h->bins[i] = (T)3;
}

template <typename T> static void upload(void)
{
    if (!device<T>) CUDA_CHECK(cudaMalloc((void **)&device<T>, sizeof(buffers<T>)));
    CUDA_CHECK(cudaMemcpy(device<T>, &host<T>, sizeof(buffers<T>), cudaMemcpyHostToDevice));
}
template <typename T> static void download(void)
{
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(&host<T>, device<T>, sizeof(buffers<T>), cudaMemcpyDeviceToHost));
}

#endif
