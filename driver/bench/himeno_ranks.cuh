/* himeno on several GPUs: a rank has consecutive planes i of the grid and, on either side, a halo,
 * the neighbour's plane. This file has the sweep, which all forms share, so that they differ only
 * in how planes and sums are sent. Compiled without fused multiply-add (himeno.h). Next:
 * himeno_ranks.cu. */
#ifndef FMO_BENCH_HIMENO_RANKS_CUH
#define FMO_BENCH_HIMENO_RANKS_CUH

#include "himeno.h"
#include "ranks_gpu.h"

/* A warp takes 64 values of k, two per lane; the warps of a block take rows j; a block proceeds
 * along i with three planes of p in registers, so that only the 12 coefficients of a point are
 * loaded from memory. Three such blocks of at most 80 registers per thread fill a multiprocessor's
 * register file. */
enum {
    HIMENO_THREADS = 256,
    HIMENO_RESIDENT = 3,
    HIMENO_ROWS = HIMENO_THREADS / 32,
    HIMENO_WIDE = 64,
    HIMENO_BELOW = 0, /* sides */
    HIMENO_ABOVE = 1
};

/* Halos that are not in p, and destinations for copies of the outer planes; NULL: none. */
struct himeno_halo {
    const float *from[2];
    float *to[2];
};

/* The part of the grid that a rank has, in the memory of its GPU. */
struct himeno_slab {
    float *p[2];        /* [planes + 2][nj][nk]; sweep n reads p[n % 2] */
    float *coefficient; /* [HIMENO_COEFFICIENTS][planes + 2][nj][nk]: a, b, c, bound, source */
    double *sum;        /* [4 blocks + 2]: residuals of blocks, alternating, and of ranks */
    int planes, nj, nk;
    int first;        /* number of plane 1 in the grid */
    int neighbour[2]; /* whether there is a rank below, above */
    int wide, tiles;  /* tiles of 8 x 64 points in a plane: along k; in all */
    int length;       /* planes in one piece, which a block sweeps */
    himeno_halo halo; /* of this sweep */
};

/* Number of items of a sweep, and of those that come first: the tiles of outer planes, for which a
 * neighbour waits. */
BENCH_HD int himeno_edge_items(const himeno_slab &s)
{
    return (s.neighbour[HIMENO_BELOW] + s.neighbour[HIMENO_ABOVE]) * s.tiles;
}
BENCH_HD int himeno_items(const himeno_slab &s)
{
    const int inside = s.planes - s.neighbour[HIMENO_BELOW] - s.neighbour[HIMENO_ABOVE];
    return himeno_edge_items(s) + (inside + s.length - 1) / s.length * s.tiles;
}

#ifdef __CUDACC__

/* Loads coefficients, which are used once in a sweep, without placing them in the L1 cache, which
 * is left to p. */
static __device__ __forceinline__ float2 himeno_stream(const float *from)
{
    float2 v;
    asm("ld.global.nc.L1::no_allocate.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(from));
    return v;
}

/* Loads p of rows j - 1 to j + 1, columns k - 1 to k + 2. */
static __device__ __forceinline__ void himeno_load(const float *at, int nk, bool left, bool right,
                                                   float (*q)[4])
{
    __builtin_assume(__isGlobal(at));
#pragma unroll
    for (int j = 0; j < 3; j++) {
        const float *row = at + (j - 1) * nk;
        const float2 v = *(const float2 *)row;
        q[j][0] = left ? row[-1] : 0.0f;
        q[j][1] = v.x;
        q[j][2] = v.y;
        q[j][3] = right ? row[2] : 0.0f;
    }
}
static __device__ __forceinline__ void himeno_store(float *to, float x, float y)
{
    __builtin_assume(__isGlobal(to));
    *(float2 *)to = make_float2(x, y);
}

/* A piece of the grid: consecutive planes i of a slab, and the addresses of the planes before, at
 * and after the first one. */
struct himeno_piece {
    const float *before, *here, *after, *coefficient;
    float *next, *copy; /* copy: destination for a copy of an outer plane, or NULL */
    int planes, tile;
};

/* Sweeps one tile of a piece; returns the thread's contribution to the residual. */
static __device__ __forceinline__ double himeno_march(const himeno_slab &s, const himeno_piece &t)
{
    const int nj = s.nj, nk = s.nk;
    const int j = 1 + t.tile / s.wide * HIMENO_ROWS + (int)threadIdx.x / 32;
    const int k = t.tile % s.wide * HIMENO_WIDE + 2 * ((int)threadIdx.x & 31);
    if (j >= nj - 1 || k >= nk) return 0.0;
    const bool left = k > 0, right = k + 2 < nk;
    const int at = j * nk + k, plane = nj * nk;
    const int64_t stride = (int64_t)(s.planes + 2) * plane;
    const float *after = t.after + at, *c = t.coefficient + at;
    float *next = t.next + at;
    float q[3][3][4]; /* planes i - 1, i, i + 1 */
    double sum = 0.0;
    himeno_load(t.before + at, nk, left, right, q[0]);
    himeno_load(t.here + at, nk, left, right, q[1]);
    for (int left_over = t.planes;;) {
        float2 v[HIMENO_COEFFICIENTS];
        float out[2];
#pragma unroll
        for (int n = 0; n < HIMENO_COEFFICIENTS; n++) v[n] = himeno_stream(c + n * stride);
        himeno_load(after, nk, left, right, q[2]);
#pragma unroll
        for (int x = 0; x < 2; x++) {
#define V(n)       (x ? v[n].y : v[n].x)
#define A(n)       V(n)
#define B(n)       V(4 + (n))
#define C(n)       V(7 + (n))
#define P(i, j, k) q[1 + (i)][1 + (j)][1 + x + (k)]
            float term =
                himeno_update(HIMENO_SUM(A, B, C, P, V(11)), A(3), V(10), P(0, 0, 0), &out[x]);
            if (x ? !right : !left) out[x] = P(0, 0, 0), term = 0.0f; /* the grid's edge */
#undef V
#undef A
#undef B
#undef C
#undef P
            sum += (double)term;
        }
        himeno_store(next, out[0], out[1]);
        if (--left_over == 0) {
            if (!t.copy) return sum;
            /* Includes the rows at the grid's edge, which no block sweeps. */
            himeno_store(t.copy + at, out[0], out[1]);
            if (j == 1) himeno_store(t.copy + k, q[1][0][1], q[1][0][2]);
            if (j == nj - 2) himeno_store(t.copy + at + nk, q[1][2][1], q[1][2][2]);
            return sum;
        }
        c += plane, next += plane, after += plane;
#pragma unroll
        for (int n = 0; n < 12; n++) {
            q[0][n / 4][n % 4] = q[1][n / 4][n % 4];
            q[1][n / 4][n % 4] = q[2][n / 4][n % 4];
        }
    }
}

/* Sweeps the block's items from `item` to `last` - 1 with the given stride. Not inlined, so that
 * the registers of a kernel's messages are not taken from the sweep. */
static __device__ __noinline__ double himeno_sweep(const himeno_slab *slab, int turn, int item,
                                                   int last, int stride)
{
    const himeno_slab &s = *slab;
    const himeno_halo &h = s.halo;
    const int below = s.neighbour[HIMENO_BELOW], above = s.neighbour[HIMENO_ABOVE];
    const int64_t plane = (int64_t)s.nj * s.nk;
    double sum = 0.0;
    for (; item < last; item += stride) {
        const int layer = item / s.tiles - below - above;
        const int side = layer >= 0                  ? -1
                         : layer == -2 || above == 0 ? HIMENO_BELOW
                                                     : HIMENO_ABOVE; /* an outer plane */
        const int begin = layer >= 0             ? 1 + below + layer * s.length
                          : side == HIMENO_BELOW ? 1
                                                 : s.planes;
        const int planes_left = s.planes + 1 - above - begin;
        himeno_piece t;
        t.planes = layer < 0 ? 1 : s.length < planes_left ? s.length : planes_left;
        t.tile = item % s.tiles;
        t.here = s.p[turn] + begin * plane;
        t.before =
            side == HIMENO_BELOW && h.from[HIMENO_BELOW] ? h.from[HIMENO_BELOW] : t.here - plane;
        t.after =
            side == HIMENO_ABOVE && h.from[HIMENO_ABOVE] ? h.from[HIMENO_ABOVE] : t.here + plane;
        t.next = s.p[1 - turn] + begin * plane;
        t.coefficient = s.coefficient + begin * plane;
        t.copy = side == HIMENO_BELOW   ? h.to[HIMENO_BELOW]
                 : side == HIMENO_ABOVE ? h.to[HIMENO_ABOVE]
                                        : nullptr;
        sum += himeno_march(s, t);
    }
    return sum;
}
/* Returns the first item of a block that is at least `least`. */
static __device__ __forceinline__ int himeno_next(int item, int least, int stride)
{
    return item < least ? item + (least - item + stride - 1) / stride * stride : item;
}

/* Sum over a block, all threads of which must call; valid in thread 0. The order of summation is
 * fixed. */
static __device__ __forceinline__ double himeno_block_sum(double value)
{
    __shared__ double warps[HIMENO_ROWS];
    for (int lane = 16; lane > 0; lane /= 2) value += __shfl_down_sync(~0u, value, lane);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < HIMENO_ROWS; w++) value += warps[w];
    return value;
}
static __device__ __forceinline__ double himeno_add_up(const double *sum, int count)
{
    double value = 0.0;
    for (int n = (int)threadIdx.x; n < count; n += HIMENO_THREADS) value += __ldcg(sum + n);
    return himeno_block_sum(value);
}

#endif

/* The ranks that sweep one grid together, and the parameters of a run. */
struct himeno_team {
    bench_run *run;
    bench_world world; /* 1 and 0 for a single process */
    int ranks, first, local_ranks, gpus;
    int device[BENCH_RANKS_MAX]; /* of the ranks of this process */
    bool one_gpu;                /* several ranks of this process share a GPU */
    himeno_slab slab[BENCH_RANKS_MAX];
    int blocks; /* per rank */
    cudaStream_t stream[BENCH_RANKS_MAX], comm[BENCH_RANKS_MAX];
    cudaEvent_t edged[BENCH_RANKS_MAX], copied[2][BENCH_RANKS_MAX], added[2][BENCH_RANKS_MAX];
    double *added_up; /* pinned, [2][ranks of this process] */
    float *pinned;    /* MPI: outgoing and incoming planes of each side */
    fmo_gmpi *group;
    int channel[2][BENCH_RANKS_MAX]; /* from rank r to the one below, above */
    bench_nccl *nccl;

    int sweeps;
    bool halo, residual; /* false: this part is left out */
    bool late;           /* the residual may become known one sweep later */
    double result;       /* the residual of the last sweep */
};

static inline size_t himeno_plane_bytes(const himeno_team *t)
{
    return (size_t)t->slab[0].nj * (size_t)t->slab[0].nk * sizeof(float);
}

/** A form of the solver. run: does all sweeps of the team; returns seconds, negative after an
 *  error. */
struct himeno_form {
    const char *name;
    const void *kernel;                                   /* the kernel with the most registers */
    bool (*open)(himeno_team *t, char *why, size_t size); /* false: left out, or an error */
    double (*run)(himeno_team *t);
    void (*close)(himeno_team *t);
};
extern const himeno_form himeno_in_kernel_peer, himeno_in_kernel_proxy; /* himeno_kernel.cu */
extern const himeno_form himeno_host_copies, himeno_host_nccl, himeno_host_mpi; /* himeno_host.cu */

#endif
