/* From density to survivors, and from X to J and K: the kernels around the quartet kernels. The
 * screening rule is that of screen.h, the same code as on the host. */
#include "accumulate/gpu/plan.h"
#include "accumulate/gpu/range.h"

#include <math.h>
#include <math_constants.h>
#include <string.h>

#include "accumulate/rules/digest.h"
#include "accumulate/gpu/many.cuh"
#include "accumulate/rules/screen.h"

namespace {

/* A block screens one bra pair against groups of ket pairs. */
enum {
    SCREEN_WARPS = 4, /* a block; small blocks wait less at barriers */
    SCREEN_THREADS = 32 * SCREEN_WARPS,
    SCREEN_BLOCKS = 12,                          /* a multiprocessor */
    SCREEN_ROUNDS = 4,                           /* tiles of a group that a warp takes */
    SCREEN_TILES = SCREEN_WARPS * SCREEN_ROUNDS, /* a group */
    SCREEN_KETS = SCREEN_TILES * FMO_GPU_TILE_PAIRS,
    SHELL_THREADS = 128,
    FINISH_TILE = 16
};
static_assert((int)SCREEN_WARPS >= (int)FMO_GPU_LISTS, "a warp for each list");
static_assert(SCREEN_TILES <= 32, "a warp looks at a group");

/* Groups a block, and survivors that it collects before it classifies them. Small systems need many
 * blocks, which leave the L1 cache to other kernels that run with them; large ones long pieces of
 * lists. Measured on an H200, docs/performance.md. */
enum { SMALL_GROUPS = 2, LARGE_GROUPS = 16, SMALL_QUEUE = SCREEN_KETS, LARGE_QUEUE = 1536 };
static const double screen_small_work = 1e8;

typedef struct zero_args {
    uint4 *at;
    size_t num;
} zero_args;

enum { ZERO_THREADS = 256, ZERO_ROUNDS = 16 };

template <int N>
__global__ void __launch_bounds__(ZERO_THREADS)
    zero(const __grid_constant__ fmo_gpu_many<zero_args, N> many)
{
    const zero_args &a = many.own();
    const size_t begin = (size_t)blockIdx.x * ZERO_THREADS * ZERO_ROUNDS + threadIdx.x;
    for (size_t k = 0; k < ZERO_ROUNDS; k++)
        if (begin + k * ZERO_THREADS < a.num)
            a.at[begin + k * ZERO_THREADS] = make_uint4(0, 0, 0, 0);
}

typedef struct density_args {
    const double *in;
    double *out;
    float *block_max, *row_max;
    const int *ao_caller;
    const double *ao_factor;
    int nao, caller_nao, sets, s_sets, width; /* functions in a set that is not of one s */
} density_args;

/* Threads for a block of two sets, up to 4 x 4 elements. */
enum { BLOCK_ELEMENTS = 16, DENSITY_BLOCKS = SHELL_THREADS / BLOCK_ELEMENTS };

/* One thread per element: into the kernels' order, symmetrised, with the largest of each block of
 * sets and of each row of blocks. */
template <int N>
__global__ void take_density(const __grid_constant__ fmo_gpu_many<density_args, N> many)
{
    const density_args &a = many.own();
    const int element = threadIdx.x % BLOCK_ELEMENTS, s = blockIdx.y;
    const int t = blockIdx.x * DENSITY_BLOCKS + threadIdx.x / BLOCK_ELEMENTS;
    float largest = 0.0f;
    if (N > 1 && s >= a.sets) return;
    if (t < a.sets) {
        const int row = element / 4, column = element % 4;
        const int rows = s < a.s_sets ? 1 : a.width, columns = t < a.s_sets ? 1 : a.width;
        if (row < rows && column < columns) {
            const int x = fmo_gpu_set_begin(s, a.s_sets, a.width) + row;
            const int y = fmo_gpu_set_begin(t, a.s_sets, a.width) + column;
            const int p = a.ao_caller[x], q = a.ao_caller[y];
            double d = 0.0;
            if (p >= 0 && q >= 0)
                d = a.ao_factor[x] * a.ao_factor[y] *
                    (0.5 * a.in[(size_t)p * a.caller_nao + q] +
                     0.5 * a.in[(size_t)q * a.caller_nao + p]);
            a.out[(size_t)x * a.nao + y] = d;
            largest = __double2float_ru(fabs(d));
        }
    }
    for (int offset = 1; offset < 32; offset *= 2) {
        if (offset == BLOCK_ELEMENTS && element == 0 && t < a.sets)
            a.block_max[(size_t)s * a.sets + t] = largest;
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    }
    if (threadIdx.x % 32 == 0) /* bits of non-negative numbers order like the numbers */
        atomicMax((unsigned *)&a.row_max[s], __float_as_uint(largest));
}

/* What screening reads of a list of pairs: the fields of fmo_gpu_pairs. */
typedef struct screen_pairs {
    const fmo_gpu_rule *rule;
    const float *tile_bound, *tile_coulomb;
    const float4 *sphere, *reach;
    const fmo_far_fit *fit;
    int num;
} screen_pairs;

typedef struct screen_part {
    screen_pairs bra, ket;
    int eri_class, same, bra_begin, chunks;
    unsigned block_begin;
    int2 *list, *far_J_end, *far_K;
} screen_part;

typedef struct screen_args {
    screen_part part[FMO_GPU_PARTS];
    int parts, sets;
    int coded;  /* survivors carry their codes */
    int groups; /* a block */
    unsigned blocks;
    float cutoff;
    const float *block_max, *row_max;
    fmo_gpu_counters *counters;
} screen_args;

__device__ float fast_log2(float x)
{
    float log;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log) : "f"(x));
    return log;
}

__device__ float fast_rsqrt(float x)
{
    float root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
}

__device__ unsigned lanes_below(int lane)
{
    return (1u << lane) - 1u;
}

__device__ unsigned warp_sum(unsigned value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, value);
#else
    for (int offset = 16; offset; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
#endif
}

/* The bra pair of a block. */
typedef struct screen_bra {
    int pair;
    fmo_gpu_rule rule;
    float most;           /* no ket exchanges more, times its bound */
    float4 sphere, reach; /* of a far quartet */
    fmo_far_fit fit;
} screen_bra;

/* How small a density factor is, from its binary logarithm, rounded to the safe side, where
 * gpu/types.cuh puts it. */
__device__ unsigned factor_code(float log_factor)
{
    const float code = (float)FMO_GPU_FACTOR_TOP - 1e-4f - log_factor;
    return (unsigned)fminf(fmaxf(code, 0.0f), (float)FMO_GPU_FACTOR_MAX) << FMO_GPU_KET_BITS;
}

/* Is a quartet far? Then how many nodes its pairs need, where gpu/types.cuh puts it, and how far
 * apart they are; else FMO_GPU_OVERLAP. log_size is of its bound times its density factor over the
 * cutoff. What far.h leaves out of an element of X^J is, with T from FMO_FAR_T on, below a
 * twentieth of the cutoff for overlap, and estimated at a quarter of it for each pair's nodes,
 * which is more than four times what they do leave out; of X^K four times that (docs/theory.md). */
#define FMO_GPU_OVERLAP 0xffffffffu
#define LOG_10          3.3219281f
#define LN_2            0.69314718f

__device__ unsigned far_code(const screen_bra &bra, float4 ket, float ket_extent,
                             fmo_far_fit ket_fit, float log_size, float *gap)
{
    const float x = bra.sphere.x - ket.x, y = bra.sphere.y - ket.y, z = bra.sphere.z - ket.z;
    const float R2 = fmaxf(x * x + y * y + z * z, 1e-10f), R = R2 * fast_rsqrt(R2);
    const float to_ket = R - ket.w, to_bra = R - bra.sphere.w;
    *gap = to_ket - bra.sphere.w;
    const float overlap = ((float)FMO_FAR_T + LN_2 * log_size) * (bra.reach.w + ket_extent);
    const float log_tolerance = fmaxf(0.0f, 0.5f * fast_log2(R2) - LOG_10) - log_size;
    const int bra_nodes = min(
        fmo_far_nodes_needed(bra.fit.log_rho - fast_log2(to_ket), log_tolerance - bra.fit.log_A),
        fmo_gpu_far_cap(bra.reach.w));
    const int ket_nodes = min(
        fmo_far_nodes_needed(ket_fit.log_rho - fast_log2(to_bra), log_tolerance - ket_fit.log_A),
        fmo_gpu_far_cap(ket_extent));
    const bool far = *gap >= fmaxf(bra.sphere.w, ket.w) && *gap * *gap >= overlap &&
                     max(bra_nodes, ket_nodes) < FMO_FAR_CHOICES;
    return far ? (unsigned)(FMO_FAR_CHOICES * bra_nodes + ket_nodes) << FMO_GPU_KET_BITS
               : FMO_GPU_OVERLAP;
}

/* At most this part of the Schwarz bounds is left of an integral of a far quartet (far.h,
 * fmo_far_largest). */
__device__ float far_share(float4 bra, float4 ket, float gap)
{
    const float u = fmo_far_quotient(1.0f, gap);
    const float sum4 = 24.0f * bra.z * ket.z, sum3 = 6.0f * bra.y * ket.z + 6.0f * bra.z * ket.y;
    const float sum2 = 2.0f * bra.x * ket.z + 2.0f * bra.y * ket.y + 2.0f * bra.z * ket.x;
    const float sum1 = bra.x * ket.y + bra.y * ket.x, sum0 = bra.x * ket.x;
    return 1.00001f * u * (sum0 + u * (sum1 + u * (sum2 + u * (sum3 + u * sum4))));
}

/* A far quartet that would be below the cutoff in K even if it were this much larger than the bound
 * of far.h keeps out (docs/theory.md). */
#define FAR_K_MARGIN 1.25f

/* Kets that passed the rule, closed up, until there are enough of them: no lane is idle in what is
 * left to find out, and quartets of one bra pair stand together in the lists. */
template <int QUEUE> struct screen_queue {
    float in_J[QUEUE], in_K[QUEUE];
    unsigned short offset[QUEUE]; /* from the block's first ket */
    static_assert(QUEUE >= SCREEN_KETS && QUEUE <= 64 * 32, "a group, at most 64 full warps");
};

/* What is found out stands in place of it: the list's second word in in_J; in offset the list, in
 * its last bits, and above them how many of the same warp are before it there. */
enum { PLACE_LIST_BITS = 2 };

/* What a block counts for the profile; by quartets, but prims, which are of kets. */
typedef struct screen_counts {
    unsigned tasks, prims, pairs, carried, exchanges;
} screen_counts;

/* What the threads of a block share, besides the rows. */
template <int QUEUE> struct screen_shared {
    screen_queue<QUEUE> queue;
    unsigned open[LARGE_GROUPS];                /* tiles of a group that may hold a survivor */
    int passed[LARGE_GROUPS];                   /* kets of a group */
    unsigned listed[FMO_GPU_LISTS][QUEUE / 32]; /* by full warps of the queue */
    screen_counts counted;
};

/* Step 1: the rule, for one group of kets, a lane for a ket in each of SCREEN_ROUNDS rounds.
 * Survivors go into the queue from `queued` on. rows: [sets] max(|D_ik|, |D_jk|), or NULL. Bounds
 * are floats, rounded up. */
template <int QUEUE>
__device__ __forceinline__ void screen_group(const screen_args &a, const screen_part &part,
                                             const screen_bra &bra, const float *rows, int group,
                                             int block_begin, int block_end, int queued,
                                             screen_shared<QUEUE> *shared)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int offset = group * SCREEN_KETS + warp * SCREEN_ROUNDS * 32 + lane;
    const unsigned tiles = shared->open[group] >> (warp * SCREEN_ROUNDS);
    float in_J[SCREEN_ROUNDS], in_K[SCREEN_ROUNDS];
    unsigned ballots[SCREEN_ROUNDS];
    int mine = 0, to = 0;
#pragma unroll
    for (int r = 0; r < SCREEN_ROUNDS; r++) {
        const int ket = block_begin + offset + r * 32;
        bool stays = false;
        if ((tiles >> r & 1u) && ket < block_end) {
            const fmo_gpu_rule rule = part.ket.rule[ket];
            in_J[r] = fmo_gpu_in_J(bra.rule, rule);
            if (rows) {
                in_K[r] = fmo_gpu_in_K(bra.rule, rule, fmaxf(rows[rule.set.x], rows[rule.set.y]));
            } else {
                in_K[r] = bra.most * rule.bound;
                if (fmaxf(in_J[r], in_K[r]) >= a.cutoff)
                    in_K[r] = fmo_gpu_in_K(
                        bra.rule, rule,
                        fmo_gpu_exchange_of(a.block_max, a.sets, bra.rule.set, rule.set));
            }
            stays = fmaxf(in_J[r], in_K[r]) >= a.cutoff;
        }
        ballots[r] = __ballot_sync(0xffffffffu, stays);
        mine += __popc(ballots[r]);
    }
    if (lane == 0 && mine) to = atomicAdd(&shared->passed[group], mine);
    to = queued + __shfl_sync(0xffffffffu, to, 0);
#pragma unroll
    for (int r = 0; r < SCREEN_ROUNDS; r++) {
        if (ballots[r] >> lane & 1u) {
            const int at = to + __popc(ballots[r] & lanes_below(lane));
            shared->queue.in_J[at] = in_J[r];
            shared->queue.in_K[at] = in_K[r];
            shared->queue.offset[at] = (unsigned short)(offset + r * 32);
        }
        to += __popc(ballots[r]);
    }
}

/* Step 2: to which list an element of the queue goes, and as what. Returns the thread's tally. */
template <int QUEUE, bool FAR>
__device__ __forceinline__ unsigned classify(const screen_args &a, const screen_part &part,
                                             const screen_bra &bra, int block_begin,
                                             unsigned queued, screen_shared<QUEUE> *shared)
{
    constexpr int lists = FAR ? FMO_GPU_LISTS : 1;
    screen_queue<QUEUE> *const queue = &shared->queue;
    const unsigned lane = threadIdx.x % 32;
    const bool far_exchanges = FAR && fmo_gpu_far_exchanges(part.eri_class);
    const float log_Q = fast_log2(bra.rule.bound), log_cutoff = fast_log2(a.cutoff);
    unsigned coded = a.coded ? ~0u : FMO_GPU_PAIRS_MAX - 1u;
    unsigned counting = fmo_gpu_tally(bra.rule.counts, FMO_GPU_TALLY_PAIRS)
                            ? ~0u
                            : (1u << FMO_GPU_TALLY_PAIRS) - 1u;
    int diagonal =
        part.same && fmo_gpu_tally(bra.rule.counts, FMO_GPU_TALLY_CARRIED) ? bra.pair : -1;
    unsigned tally = 0;
    static_assert((SCREEN_ROUNDS + 1) * LARGE_GROUPS * FMO_GPU_DEPTH_MAX <= 1023,
                  "what a thread may count of a block fits its tally");
    asm volatile("" : "+r"(coded), "+r"(counting), "+r"(diagonal)); /* found once, not each time */
    for (unsigned e = threadIdx.x; e - lane < queued; e += SCREEN_THREADS) { /* warp by warp */
        int list = FMO_GPU_LISTS;
        if (e < queued) {
            const int ket = block_begin + queue->offset[e];
            const float in_J = queue->in_J[e], in_K = queue->in_K[e];
            const fmo_gpu_rule rule = part.ket.rule[ket];
            const float log_size = fast_log2(fmaxf(in_J, in_K));
            unsigned code = factor_code(log_size - log_Q - fast_log2(rule.bound));
            bool exchanges = in_K >= a.cutoff;
            list = FMO_GPU_NEAR;
            if (FAR) {
                const float4 reach = part.ket.reach[ket];
                float gap;
                const unsigned nodes = far_code(bra, part.ket.sphere[ket], reach.w,
                                                part.ket.fit[ket], log_size - log_cutoff, &gap);
                const bool far_exchange =
                    in_K * fminf(1.0f, FAR_K_MARGIN * far_share(bra.reach, reach, gap)) >= a.cutoff;
                if (nodes != FMO_GPU_OVERLAP) {
                    exchanges = far_exchange;
                    if (!exchanges) list = in_J >= a.cutoff ? FMO_GPU_FAR_J : FMO_GPU_LISTS;
                    if (exchanges && far_exchanges) list = FMO_GPU_FAR_K;
                    if (list != FMO_GPU_NEAR) code = nodes;
                }
            }
            queue->in_J[e] = __uint_as_float(
                (code | (exchanges ? FMO_GPU_EXCHANGE_BIT : 0u) | (unsigned)ket) & coded);
            tally += (rule.counts & counting) + (exchanges ? 1u << FMO_GPU_TALLY_EXCHANGES : 0u);
            if (ket == diagonal) fmo_gpu_count_diagonal(a.counters->quartets);
        }
        unsigned same = 0, own = 0; /* lanes of this one's list; of the list numbered like it */
#pragma unroll
        for (int l = 0; l < lists; l++) {
            const unsigned ballot = __ballot_sync(0xffffffffu, list == l);
            if (list == l) same = ballot;
            if (lane == l) own = ballot;
        }
        if (lane < lists) shared->listed[lane][e / 32] = __popc(own);
        queue->offset[e] =
            (unsigned short)(__popc(same & lanes_below(lane)) << PLACE_LIST_BITS | (unsigned)list);
    }
    return tally;
}

/* Step 3, a warp for a list: numbers of its members become places in it. */
__device__ __forceinline__ void reserve(unsigned *survivors, int queued, unsigned *listed,
                                        unsigned *tasks)
{
    const int lane = threadIdx.x % 32, warps = (queued + 31) / 32;
    unsigned sum[2], base = 0;
    for (int h = 0; h < 2; h++) sum[h] = 32 * h + lane < warps ? listed[32 * h + lane] : 0u;
    const unsigned own[2] = {sum[0], sum[1]};
    for (int offset = 1; offset < 32; offset *= 2)
        for (int h = 0; h < 2; h++) {
            const unsigned below = __shfl_up_sync(0xffffffffu, sum[h], offset);
            if (lane >= offset) sum[h] += below;
        }
    sum[1] += __shfl_sync(0xffffffffu, sum[0], 31);
    if (lane == 31 && sum[1]) {
        base = atomicAdd(survivors, sum[1]);
        atomicAdd(tasks, sum[1]);
    }
    base = __shfl_sync(0xffffffffu, base, 31);
    for (int h = 0; h < 2; h++)
        if (32 * h + lane < warps) listed[32 * h + lane] = base + sum[h] - own[h];
}

/* Step 4: into the lists. */
template <int QUEUE, bool FAR>
__device__ __forceinline__ void write_lists(const screen_part &part, int bra, int queued,
                                            const screen_shared<QUEUE> *shared)
{
    for (int e = threadIdx.x; e < queued; e += SCREEN_THREADS) {
        const unsigned place = shared->queue.offset[e];
        const int list = (int)(place & ((1u << PLACE_LIST_BITS) - 1u));
        if (list == FMO_GPU_LISTS) continue;
        const unsigned to = shared->listed[list][e / 32] + (place >> PLACE_LIST_BITS);
        int2 *const at = !FAR || list == FMO_GPU_NEAR ? part.list + to
                         : list == FMO_GPU_FAR_J      ? part.far_J_end - 1 - (int)to
                                                      : part.far_K + to;
        *at = make_int2(bra, __float_as_int(shared->queue.in_J[e]));
    }
}

/* One bra pair against `groups` groups of ket pairs. ROWS: what the
 * rule needs of the rows of i and j is put into shared memory first, if there is room for all sets.
 */
template <int QUEUE, bool ROWS, bool FAR, int N>
__global__ void __launch_bounds__(SCREEN_THREADS, SCREEN_BLOCKS)
    screen(const __grid_constant__ fmo_gpu_many<screen_args, N> many)
{
    extern __shared__ float rows[];
    __shared__ screen_shared<QUEUE> shared;
    const screen_args &a = many.own();
    if (N > 1 && blockIdx.x >= a.blocks) return;
    int n = a.parts - 1;
    while (n > 0 && blockIdx.x < a.part[n].block_begin) n--;
    const screen_part &part = a.part[n];
    const unsigned block = blockIdx.x - part.block_begin;
    screen_bra bra;
    bra.pair = part.bra_begin + (int)(block / part.chunks);
    const int all_kets = part.same ? bra.pair + 1 : part.ket.num;
    const int block_begin = (int)(block % part.chunks) * a.groups * SCREEN_KETS;
    const int block_end = min(block_begin + a.groups * SCREEN_KETS, all_kets);
    if (block_begin >= block_end) return;

    bra.rule = part.bra.rule[bra.pair];
    const ushort2 ij = bra.rule.set;
    bra.most = bra.rule.bound * fmaxf(a.row_max[ij.x], a.row_max[ij.y]);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    /* A warp looks at a group, a lane at a tile of 32 kets; tiles that cannot hold a survivor are
     * passed over. */
    bool any = false;
    for (int g = warp; g < a.groups; g += SCREEN_WARPS) {
        const int tile = block_begin / FMO_GPU_TILE_PAIRS + SCREEN_TILES * g + lane;
        bool may = false;
        if (lane < SCREEN_TILES && tile * FMO_GPU_TILE_PAIRS < block_end)
            may = fmaxf(fmaxf(bra.most, bra.rule.coulomb) * part.ket.tile_bound[tile],
                        bra.rule.bound * part.ket.tile_coulomb[tile]) >= a.cutoff;
        const unsigned tiles = __ballot_sync(0xffffffffu, may);
        any |= may;
        if (lane == 0) {
            shared.open[g] = tiles;
            shared.passed[g] = 0;
        }
    }
    if (threadIdx.x == 0) shared.counted = {0u, 0u, 0u, 0u, 0u};
    if (!__syncthreads_or(any)) return;
    for (int k = threadIdx.x; ROWS && k < a.sets; k += SCREEN_THREADS)
        rows[k] =
            fmaxf(a.block_max[(size_t)ij.x * a.sets + k], a.block_max[(size_t)ij.y * a.sets + k]);
    if (ROWS) __syncthreads();
    if (FAR) {
        bra.sphere = part.bra.sphere[bra.pair];
        bra.reach = part.bra.reach[bra.pair];
        bra.fit = part.bra.fit[bra.pair];
    }

    unsigned tally = 0;
    for (int g = 0, queued = 0; g < a.groups; g++) { /* queued: the same in all threads */
        if (shared.open[g]) {
            screen_group<QUEUE>(a, part, bra, ROWS ? rows : NULL, g, block_begin, block_end, queued,
                                &shared);
            __syncthreads();
            queued += shared.passed[g];
        }
        if (!queued || (queued <= QUEUE - SCREEN_KETS && g + 1 < a.groups)) continue;
        tally += classify<QUEUE, FAR>(a, part, bra, block_begin, queued, &shared);
        __syncthreads();
        if (warp < (FAR ? FMO_GPU_LISTS : 1))
            reserve(&a.counters->survivors[warp][part.eri_class], queued, shared.listed[warp],
                    &shared.counted.tasks);
        __syncthreads();
        write_lists<QUEUE, FAR>(part, bra.pair, queued, &shared);
        if (g + 1 < a.groups) __syncthreads();
        queued = 0;
    }
    const unsigned prims = warp_sum(fmo_gpu_tally(tally, FMO_GPU_TALLY_PRIMS));
    const unsigned pairs = warp_sum(fmo_gpu_tally(tally, FMO_GPU_TALLY_PAIRS));
    const unsigned carried = warp_sum(fmo_gpu_tally(tally, FMO_GPU_TALLY_CARRIED));
    const unsigned exchanges = warp_sum(fmo_gpu_tally(tally, FMO_GPU_TALLY_EXCHANGES));
    screen_counts *const counted = &shared.counted;
    if (lane == 0 && prims) {
        atomicAdd(&counted->prims, prims);
        atomicAdd(&counted->pairs, pairs);
        atomicAdd(&counted->carried, carried);
        atomicAdd(&counted->exchanges, exchanges);
    }
    __syncthreads();
    if (threadIdx.x == 0 && counted->prims) {
        const unsigned bra_prims = fmo_gpu_tally(bra.rule.counts, FMO_GPU_TALLY_PRIMS);
        atomicAdd(&a.counters->tasks[part.eri_class], (unsigned long long)counted->tasks);
        atomicAdd(&a.counters->exchanges[part.eri_class], (unsigned long long)counted->exchanges);
        atomicAdd(&a.counters->prim_quartets[part.eri_class],
                  (unsigned long long)counted->prims * bra_prims);
        fmo_gpu_count(a.counters->quartets, part.eri_class,
                      fmo_gpu_tally(bra.rule.counts, FMO_GPU_TALLY_CARRIED), counted->pairs,
                      counted->carried);
    }
}

/* A bound on every element of X, for `fixed`: |X^J| <= max Q sum_kl |D_kl| Q_kl over pairs, and
 * |X^K_ik| <= sum_jl |D_jl| m_j m_l with m_j the largest Q of a pair with shell j. One block, so
 * that the order of the sums, and with it the scale, never changes. */
enum { BOUND_THREADS = 1024 };

__device__ double block_sum(double value, double *shared)
{
    __syncthreads();
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = BOUND_THREADS / 2; half; half /= 2) {
        if ((int)threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    return shared[0];
}

typedef struct bound_args {
    fmo_gpu_pairs pairs[FMO_PAIR_CLASS_COUNT];
    const float *block_max;
    const double *shell_bound;
    int sets, s_sets, width;
    double *bound, *scale;
} bound_args;

/* Room for sums in between, and for the sign. */
#define FIXED_MARGIN      4.0
#define FIXED_QUANTUM_MAX 1e-13

template <int N>
__global__ void __launch_bounds__(BOUND_THREADS)
    bound_elements(const __grid_constant__ fmo_gpu_many<bound_args, N> many)
{
    const bound_args &a = many.own();
    __shared__ double shared[BOUND_THREADS];
    double coulomb = 0.0, exchange = 0.0, largest = 0.0;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const double functions = c == FMO_PAIR_SS ? 1.0 : c == FMO_PAIR_PS ? a.width : 9.0;
        for (int n = threadIdx.x; n < a.pairs[c].num; n += BOUND_THREADS) {
            const fmo_gpu_rule rule = a.pairs[c].rule[n];
            coulomb +=
                functions * rule.bound * a.block_max[(size_t)rule.set.x * a.sets + rule.set.y];
        }
    }
    for (int j = 0; j < a.sets; j++) {
        const double m = a.shell_bound[j] * (j < a.s_sets ? 1.0 : a.width);
        largest = fmo_screen_max(largest, a.shell_bound[j]);
        for (int l = threadIdx.x; l < a.sets; l += BOUND_THREADS)
            exchange += m * a.shell_bound[l] * (l < a.s_sets ? 1.0 : a.width) *
                        a.block_max[(size_t)j * a.sets + l];
    }
    coulomb = largest * block_sum(coulomb, shared);
    exchange = block_sum(exchange, shared);
    if (threadIdx.x == 0) {
        const double bound = fmo_screen_max(coulomb, exchange);
        *a.bound = bound;
        /* a power of two with FIXED_MARGIN bound scale < 2^63; NaN without a bound */
        *a.scale = !isfinite(bound) ? CUDART_NAN
                   : bound > 0.0    ? exp2((double)(62 - ilogb(FIXED_MARGIN * bound)))
                                    : 0x1p60;
    }
}

typedef struct finish_args {
    const double *coulomb, *exchange;
    double *J, *K;
    size_t copy_stride;
    unsigned copies;
    const double *scale; /* of fixed point, NULL for doubles */
    const int *ao_caller;
    const double *ao_factor;
    int nao, caller_nao;
} finish_args;

__device__ double element(const double *X, size_t at, unsigned copies, const finish_args &a)
{
    if (a.scale) return (double)__double_as_longlong(X[at]) / *a.scale;
    double sum = 0.0;
#pragma unroll 8
    for (unsigned c = 0; c < copies; c++) sum += X[at + c * a.copy_stride];
    return sum;
}

/* J = 2 (X^J + X^J^T), K = X^K + X^K^T, tile by tile through shared memory so that both triangles
 * are read along rows. Under `fixed` integers are added first, so the order does not matter. */
template <int N> __global__ void finish(const __grid_constant__ fmo_gpu_many<finish_args, N> many)
{
    const finish_args &a = many.own();
    __shared__ double mirror[2][FINISH_TILE][FINISH_TILE + 1];
    const int row0 = blockIdx.y * FINISH_TILE, column0 = blockIdx.x * FINISH_TILE;
    const int x = threadIdx.x, y = threadIdx.y;
    if (column0 + y < a.nao && row0 + x < a.nao) {
        const size_t at = (size_t)(column0 + y) * a.nao + row0 + x;
        mirror[0][y][x] = element(a.coulomb, at, 1, a);
        mirror[1][y][x] = element(a.exchange, at, a.copies, a);
    }
    __syncthreads();
    const int row = row0 + y, column = column0 + x;
    if (row >= a.nao || column >= a.nao || a.ao_caller[row] < 0 || a.ao_caller[column] < 0) return;
    const size_t at = (size_t)row * a.nao + column;
    const double factor = a.ao_factor[row] * a.ao_factor[column];
    const size_t to = (size_t)a.ao_caller[row] * a.caller_nao + a.ao_caller[column];
    a.J[to] = FMO_DIGEST_FINAL_J * factor * (element(a.coulomb, at, 1, a) + mirror[0][x][y]);
    a.K[to] =
        FMO_DIGEST_FINAL_K * factor * (element(a.exchange, at, a.copies, a) + mirror[1][x][y]);
}

} // namespace

/* All that starts from zero. */
static cudaError_t zero_builds(const fmo_gpu_group *group)
{
    if (group->num == 1) {
        const fmo_gpu_state *g = group->job->plan->gpu;
        return cudaMemsetAsync(g->coulomb, 0, g->zeroed, group->stream);
    }
    return fmo_gpu_launch_group<zero_args>(
        group, zero<1>, zero<fmo_gpu_many_max<zero_args>>, ZERO_THREADS, 0,
        [](const fmo_fock_job *job, zero_args *a) {
            const fmo_gpu_state *g = job->plan->gpu;
            const unsigned block = ZERO_THREADS * ZERO_ROUNDS;
            *a = {(uint4 *)g->coulomb, g->zeroed / sizeof *a->at};
            return dim3((unsigned)((a->num + block - 1) / block));
        });
}

cudaError_t fmo_gpu_take_density(const fmo_gpu_group *group)
{
    const fmo_gpu_range range("density");
    cudaError_t code = zero_builds(group);
    if (code == cudaSuccess)
        code = fmo_gpu_launch_group<density_args>(
            group, take_density<1>, take_density<fmo_gpu_many_max<density_args>>, SHELL_THREADS, 0,
            [](const fmo_fock_job *job, density_args *a) {
                const fmo_gpu_state *g = job->plan->gpu;
                *a = {job->density, g->density,   g->density_max, g->row_max,
                      g->ao_caller, g->ao_factor, g->nao,         job->plan->basis->ao_num,
                      g->sets,      g->s_sets,    g->sp ? 4 : 3};
                return dim3((g->sets + DENSITY_BLOCKS - 1) / DENSITY_BLOCKS, g->sets);
            });
    return code == cudaSuccess ? fmo_gpu_take_pairs(group) : code;
}

enum { ROWS_BYTES_MAX = 36 * 1024 };

static size_t rows_bytes(const fmo_gpu_state *g)
{
    return (size_t)g->sets * sizeof(float);
}

bool fmo_gpu_is_small(const fmo_gpu_state *g)
{
    return g->work < screen_small_work && rows_bytes(g) <= ROWS_BYTES_MAX;
}

static screen_pairs pairs_to_screen(const fmo_gpu_pairs *from)
{
    const screen_pairs pairs = {from->rule,  from->tile_bound, from->tile_coulomb, from->sphere,
                                from->reach, from->fit,        from->num};
    return pairs;
}

/* The kernel's arguments for a pass; returns its grid. */
static dim3 screen_arguments(const fmo_fock_plan *plan, const fmo_gpu_pass *pass, screen_args *a)
{
    const fmo_gpu_state *g = plan->gpu;
    a->blocks = 0;
    a->groups = g->work < screen_small_work ? SMALL_GROUPS : LARGE_GROUPS;
    for (int n = 0; n < pass->num; n++) {
        const fmo_gpu_part *from = &pass->part[n];
        const fmo_gpu_class_view view = fmo_gpu_view(plan, g, from);
        screen_part *part = &a->part[n];
        part->bra = pairs_to_screen(&view.bra);
        part->ket = pairs_to_screen(&view.ket);
        part->eri_class = from->eri_class;
        part->same = view.same;
        part->bra_begin = from->bra_begin;
        const int all = view.same ? from->bra_end : view.ket.num, span = a->groups * SCREEN_KETS;
        part->chunks = (all + span - 1) / span;
        part->block_begin = a->blocks;
        part->list = g->list + from->list_at;
        part->far_J_end = part->list + from->candidates;
        part->far_K = g->far ? g->far_K + from->list_at : NULL;
        a->blocks += (unsigned)(from->bra_end - from->bra_begin) * (unsigned)part->chunks;
    }
    a->parts = pass->num;
    a->sets = g->sets;
    a->coded = g->sp;
    a->cutoff = (float)plan->options.cutoff;
    a->block_max = g->density_max;
    a->row_max = g->row_max;
    a->counters = g->counters;
    return dim3(a->blocks);
}

cudaError_t fmo_gpu_screen(const fmo_gpu_group *group, int pass)
{
    typedef void kernel(fmo_gpu_one<screen_args>);
    constexpr int most = fmo_gpu_many_max<screen_args>;
    const fmo_gpu_range range("screening");
    size_t rows = 0;
    const fmo_gpu_state *first = group->job->plan->gpu;
    const bool small = first->work < screen_small_work, far = first->far;
    for (int k = 0; k < group->num; k++) {
        fmo_gpu_state *g = group->job[k].plan->gpu;
        if (rows_bytes(g) > rows) rows = rows_bytes(g);
        if (pass == 0) continue; /* the first finds them zero */
        const cudaError_t code = cudaMemsetAsync(g->counters->survivors, 0,
                                                 sizeof g->counters->survivors, group->stream);
        if (code != cudaSuccess) return code;
    }
    kernel *const kernels[2][2][2] = {
        {{screen<LARGE_QUEUE, false, false, 1>, screen<LARGE_QUEUE, false, true, 1>},
         {screen<LARGE_QUEUE, true, false, 1>, screen<LARGE_QUEUE, true, true, 1>}},
        {{screen<SMALL_QUEUE, false, false, 1>, screen<SMALL_QUEUE, false, true, 1>},
         {screen<SMALL_QUEUE, true, false, 1>, screen<SMALL_QUEUE, true, true, 1>}}};
    const bool fits = rows <= ROWS_BYTES_MAX;
    return fmo_gpu_launch_group<screen_args>(
        group, kernels[small][fits][far],
        far ? screen<SMALL_QUEUE, true, true, most> : screen<SMALL_QUEUE, true, false, most>,
        SCREEN_THREADS, fits ? rows : 0, [&](const fmo_fock_job *job, screen_args *a) {
            return screen_arguments(job->plan, &job->plan->gpu->pass[pass], a);
        });
}

cudaError_t fmo_gpu_finish(const fmo_gpu_group *group, bool fixed)
{
    const fmo_gpu_range range("J and K");
    return fmo_gpu_launch_group<finish_args>(
        group, finish<1>, finish<fmo_gpu_many_max<finish_args>>, dim3(FINISH_TILE, FINISH_TILE), 0,
        [&](const fmo_fock_job *job, finish_args *a) {
            const fmo_gpu_state *g = job->plan->gpu;
            const int n = g->nao, tiles = (n + FINISH_TILE - 1) / FINISH_TILE;
            *a = {g->coulomb,
                  g->exchange,
                  job->coulomb,
                  job->exchange,
                  (size_t)n * n,
                  g->copies,
                  fixed ? &g->counters->fixed_scale : NULL,
                  g->ao_caller,
                  g->ao_factor,
                  n,
                  job->plan->basis->ao_num};
            return dim3(tiles, tiles);
        });
}

cudaError_t fmo_gpu_fixed_scale(const fmo_gpu_group *group)
{
    return fmo_gpu_launch_group<bound_args>(
        group, bound_elements<1>, bound_elements<fmo_gpu_many_max<bound_args>>, BOUND_THREADS, 0,
        [](const fmo_fock_job *job, bound_args *a) {
            const fmo_gpu_state *g = job->plan->gpu;
            for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) a->pairs[c] = g->pairs[c];
            a->block_max = g->density_max;
            a->shell_bound = g->shell_bound;
            a->sets = g->sets;
            a->s_sets = g->s_sets;
            a->width = g->sp ? 4 : 3;
            a->bound = &g->counters->fixed_bound;
            a->scale = &g->counters->fixed_scale;
            return dim3(1);
        });
}

fmo_status fmo_gpu_fixed_check(const fmo_gpu_counters *counters, fmo_error *err)
{
    if (!isfinite(counters->fixed_bound))
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "scatter = fixed: no finite bound on the Fock matrix; use another "
                             "strategy");
    if (1.0 / counters->fixed_scale > FIXED_QUANTUM_MAX)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "scatter = fixed: elements may reach %.3g hartree, which leaves a "
                             "resolution of %.3g, coarser than %g; use another strategy",
                             counters->fixed_bound, 1.0 / counters->fixed_scale, FIXED_QUANTUM_MAX);
    return FMO_OK;
}
