/* Screening on the GPU: a thread block screens one bra pair against slabs of ket pairs, in four
 * steps: rule, classification, allocation, writing (docs/explanation/gpu/screening.md). This file
 * has its arguments and kernels and is included by screen.cu alone. The screening rule is that of
 * rules/screen.h, as on the host. */
#ifndef FMO_GPU_SCREEN_CUH
#define FMO_GPU_SCREEN_CUH

#include "accumulate/gpu/boxes/boxes.h"

#include <type_traits>

#include "accumulate/gpu/lanes.cuh"
#include "accumulate/gpu/many.cuh"
#include "accumulate/rules/screen.h"
#include "integrals/far/attenuation.h"

namespace {

/* Sizes of a thread block and of a slab, the ket pairs that a block screens at a time. */
enum {
    SCREEN_WARPS = fmo_tuning_gpu_screen_warps, /* of a block */
    SCREEN_THREADS = 32 * SCREEN_WARPS,
    SCREEN_BLOCKS = fmo_tuning_gpu_screen_blocks, /* blocks per multiprocessor */
    SCREEN_ROUNDS = fmo_tuning_gpu_screen_rounds, /* tiles of a slab that each warp screens */
    SCREEN_TILES = SCREEN_WARPS * SCREEN_ROUNDS,  /* tiles of a slab */
    SCREEN_KETS = SCREEN_TILES * FMO_GPU_TILE_PAIRS
};
static_assert((int)SCREEN_WARPS >= (int)FMO_GPU_LISTS, "a warp for each list");
enum { SCREEN_LOOKS = 32 / SCREEN_TILES }; /* slabs whose tiles a warp examines at once */
static_assert(32 % SCREEN_TILES == 0, "a warp looks at whole slabs");

/* Slabs per block, and the largest number of screened-in quartets that a block collects before it
 * classifies them. */
enum {
    SMALL_SLABS = fmo_tuning_gpu_screen_slabs_small,
    LARGE_SLABS = fmo_tuning_gpu_screen_slabs_large,
    SMALL_QUEUE = SCREEN_KETS,
    LARGE_QUEUE = fmo_tuning_gpu_screen_queue_large
};
static_assert(SMALL_SLABS % SCREEN_LOOKS == 0 && LARGE_SLABS % SCREEN_LOOKS == 0,
              "a warp looks at no slab that is not the block's");

/* What screening does with the distance of two pairs: nothing, or it finds far quartets, or the
 * decay of erfc(omega r)/r. */
enum { SCREEN_PLAIN, SCREEN_FAR, SCREEN_ERFC };

/* The fields of fmo_gpu_pairs that screening reads. */
typedef struct screen_pairs {
    const fmo_gpu_screen_data *screen;
    const float *tile_bound, *tile_coulomb_estimate, *log_prims;
    const float4 *sphere, *reach;
    const fmo_far_fit *fit;
    int num;
} screen_pairs;

/* A task, and where its lists begin or, for far_J_end, end. */
typedef struct screen_task {
    screen_pairs bra, ket;
    int eri_class, same, bra_begin, bra_step, chunks;
    unsigned block_begin;
    int2 *list, *far_J_end, *far_K;
} screen_task;

typedef struct screen_args {
    screen_task task[FMO_GPU_PASS_TASKS];
    int tasks, sp_shells;
    int stride; /* as in fmo_gpu_exchange_of */
    int coded;  /* entries of the lists contain codes and the bit for K */
    int slabs;  /* slabs per block */
    unsigned blocks;
    float cutoff, range; /* range: fmo_attenuation_range, for SCREEN_ERFC */
    const float *block_max, *row_max;
    fmo_gpu_counters *counters;
} screen_args;

/* Additional data if J of far pairs comes from multipole expansions (gpu/boxes): the lists then
 * contain only quartets of near cells and quartets that contribute to K. */
typedef struct screen_box_task {
    const int *bra_leaf, *ket_leaf;
    const unsigned *tile_near; /* [leaf][words] bits: tiles with a pair near the leaf */
    const float *tile_exchange;
    int words, tiles;
} screen_box_task;

typedef struct screen_box_args {
    screen_args plain;
    const unsigned *near; /* [leaf][words] bits: leaves near the leaf */
    int words;
    screen_box_task task[FMO_GPU_PASS_TASKS];
} screen_box_args;

/* Rows of these arrays that belong to the bra of a block. */
typedef struct screen_near {
    const unsigned *leaves, *tiles;
    /* [tiles of kets] for SP shells i and j: largest Schwarz bound times |D| of a ket in K */
    const float *exchange[2];
    const int *ket_leaf;
} screen_near;

/* Screening data of a ket, read by one load, with its SP shells also as indices; the compiler would
 * make two loads and twice as many shifts of it. */
typedef struct screen_ket {
    fmo_gpu_screen_data screen;
    unsigned i, j;
} screen_ket;

__device__ __forceinline__ screen_ket read_ket(const fmo_gpu_screen_data *at)
{
    unsigned x, y, z, w, i, j;
    asm("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
        : "l"(at));
    asm("prmt.b32 %0, %1, 0, 0x4410;" : "=r"(i) : "r"(z));
    asm("prmt.b32 %0, %1, 0, 0x4432;" : "=r"(j) : "r"(z));
    const ushort2 sp_shell = {(unsigned short)i, (unsigned short)j};
    return {{__uint_as_float(x), __uint_as_float(y), sp_shell, w}, i, j};
}

/* Reads the errors of a ket's nodes by one load. */
__device__ __forceinline__ fmo_far_fit read_fit(const fmo_far_fit *at)
{
    static_assert(sizeof *at == sizeof(float2), "the two of an fmo_far_fit");
    const float2 word = __ldg((const float2 *)at);
    return {word.x, word.y};
}

/* Data of the block's bra pair, and its kets. */
typedef struct screen_bra {
    int pair, ket_begin, ket_end;
    fmo_gpu_screen_data screen;
    float
        max_exchange; /* max_exchange * (bound of a ket) is an upper bound on the estimate for K */
    float4 sphere, reach; /* for far quartets, as in fmo_gpu_pairs */
    fmo_far_fit fit;
    float cancelled; /* fmo_far_cancelled of the bra */
    float log_prims; /* as in fmo_gpu_pairs */
} screen_bra;

/* The code of a density factor (types.cuh), from its binary logarithm, rounded so that the coded
 * factor is not smaller. */
__device__ unsigned factor_code(float log_factor)
{
    const float code = (float)FMO_GPU_FACTOR_TOP - 1e-4f - log_factor;
    return (unsigned)fminf(fmaxf(code, 0.0f), (float)FMO_GPU_FACTOR_MAX) << FMO_GPU_KET_BITS;
}

/* Value of far_code for quartets that are not far (fmo_far_decide). */
#define FMO_GPU_OVERLAP 0xffffffffu

__device__ fmo_far_reach reach_of(float4 sphere, float extent, fmo_far_fit fit)
{
    const fmo_far_reach reach = {{sphere.x, sphere.y, sphere.z, sphere.w}, extent, fit};
    return reach;
}

/* Returns the choices of nodes at their place in a list's entry (types.cuh), or FMO_GPU_OVERLAP.
 * gap: gets the distance between the two segments. */
__device__ unsigned far_code(const screen_bra &bra, float4 ket, float ket_extent,
                             fmo_far_fit ket_fit, float log_size, float *gap)
{
    const int choices = fmo_far_decide_by(reach_of(bra.sphere, bra.reach.w, bra.fit), bra.cancelled,
                                          reach_of(ket, ket_extent, ket_fit), log_size, gap);
    return choices < 0 ? FMO_GPU_OVERLAP : (unsigned)choices << FMO_GPU_KET_BITS;
}

/* The data of a pair for the decay of erfc(omega r)/r (integrals/far/attenuation.h). */
__device__ fmo_attenuation_side side_of(float4 sphere, float extent, int order)
{
    return {sphere.x, sphere.y, sphere.z, sphere.w, fabsf(extent), order};
}

/* Whether a quartet of density factor D also reaches the cutoff with the decay of erfc. */
__device__ bool erfc_reaches(const screen_args &a, const screen_task &task, const screen_bra &bra,
                             int ket, float D)
{
    const int orders[] = {fmo_pair_order(fmo_eri_class_bra(task.eri_class)),
                          fmo_pair_order(fmo_eri_class_ket(task.eri_class))};
    const float log_decay =
        fmo_attenuation(side_of(bra.sphere, bra.reach.w, orders[0]),
                        side_of(task.ket.sphere[ket], task.ket.reach[ket].w, orders[1]), a.range);
    return bra.log_prims + task.ket.log_prims[ket] + log_decay +
               fmo_far_log2(FMO_SCREEN_FAR_MARGIN * D / a.cutoff) >=
           0.0f;
}

/* Largest possible integral of a far quartet relative to its Schwarz bound. */
__device__ float far_share(float4 bra, float4 ket, float gap)
{
    const fmo_far_share own = {bra.x, bra.y, bra.z}, other = {ket.x, ket.y, ket.z};
    return fmo_far_share_left(own, other, gap);
}

/* Kets that passed the screening rule. They are collected until there are enough that no lane is
 * idle in the following steps; quartets of one bra pair also stand together in the lists. */
template <int QUEUE> struct screen_queue {
    float2 in[QUEUE];             /* estimates for J and K */
    unsigned short offset[QUEUE]; /* number of the ket, from the block's first ket */
    static_assert(QUEUE >= SCREEN_KETS && QUEUE <= 64 * 32, "a slab, at most 64 full warps");
};

/* Classification replaces the contents of an element. in.x then holds the second word of the list's
 * entry (types.cuh). The lowest two bits of `offset` are the number of the list, or FMO_GPU_LISTS
 * if the quartet is in none; the bits above are the number of lower lanes of the same warp with the
 * same list; the highest bit means that the quartet does not contribute to J. */
enum { PLACE_LIST_BITS = 2, PLACE_EXCHANGE_ONLY = 1 << 15 };

/* Counts of a block for the profile, in quartets; prims: in primitives of kets. */
typedef struct screen_counts {
    unsigned screened_in_num, prims, pairs, carried, exchanges, exchange_only;
} screen_counts;

/* Shared memory of a block, except the rows of the density maxima. */
template <int QUEUE> struct screen_shared {
    screen_queue<QUEUE> queue;
    int2 *list[FMO_GPU_LISTS]; /* of the task; FMO_GPU_FAR_J: far_J_end - 1, growing downwards */
    /* bits: tiles of a slab that may contain a screened-in quartet */
    unsigned short open[LARGE_SLABS];
    int passed[LARGE_SLABS]; /* number of screened-in kets of a slab */
    /* of each group of 32 elements of the queue: number of quartets for the list, later their place
     * in it */
    unsigned listed[FMO_GPU_LISTS][QUEUE / 32];
    screen_counts counted;
};

/* Step 1, rule: screens one slab of kets; in each of SCREEN_ROUNDS rounds every lane has one ket.
 * Screened-in quartets are appended to the queue, which has `queued` elements. rows (if ROWS):
 * [sp_shells] max(|D_ik|, |D_jk|). Kets of tiles that are not open are read, too, and beyond the
 * end the last ket is read; the ballots leave them out. This takes fewer instructions than
 * branches. */
template <int QUEUE, bool ROWS, bool BOXES>
__device__ __forceinline__ void screen_slab(const screen_args &a, const screen_task &task,
                                            const screen_near &near, const screen_bra &bra,
                                            const float *rows, int slab, int queued,
                                            screen_shared<QUEUE> *shared)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int offset = slab * SCREEN_KETS + warp * SCREEN_ROUNDS * 32 + lane;
    const int first = bra.ket_begin + offset, rounds = (bra.ket_end - first + 31) >> 5;
    unsigned open = (unsigned)shared->open[slab] >> (warp * SCREEN_ROUNDS);
    float in_J[SCREEN_ROUNDS], in_K[SCREEN_ROUNDS];
    unsigned ballots[SCREEN_ROUNDS];
    int mine = 0, to = 0;
    if (!(open & ((1u << SCREEN_ROUNDS) - 1u))) return;
    if (rounds < SCREEN_ROUNDS) open &= (1u << max(rounds, 0)) - 1u;
#pragma unroll
    for (int r = 0; r < SCREEN_ROUNDS; r++) {
        const bool here = open & 1u << r;
        const screen_ket read = read_ket(task.ket.screen + min(first + r * 32, bra.ket_end - 1));
        const fmo_gpu_screen_data &data = read.screen;
        in_J[r] = fmo_gpu_in_J(bra.screen, data);
        if (BOXES && here && !bit_of(near.leaves, near.ket_leaf[first + r * 32])) in_J[r] = 0.0f;
        if (ROWS) {
            in_K[r] = fmo_gpu_in_K(bra.screen, data, fmaxf(rows[read.i], rows[read.j]));
        } else {
            in_K[r] = bra.max_exchange * data.bound;
            if (here && fmaxf(in_J[r], in_K[r]) >= a.cutoff)
                in_K[r] = fmo_gpu_in_K(
                    bra.screen, data,
                    fmo_gpu_exchange_of(a.block_max, a.stride, bra.screen.sp_shell, data.sp_shell));
        }
        ballots[r] = __ballot_sync(0xffffffffu, here & (fmaxf(in_J[r], in_K[r]) >= a.cutoff));
        mine += __popc(ballots[r]);
    }
    if (!mine) return;
    if (lane == 0) to = atomicAdd(&shared->passed[slab] + lane_unknown(), mine);
    to = queued + __shfl_sync(0xffffffffu, to, 0);
    const unsigned below = lanes_below();
#pragma unroll
    for (int r = 0; r < SCREEN_ROUNDS; r++) {
        if (ballots[r] >> lane & 1u) {
            const int at = to + __popc(ballots[r] & below);
            shared->queue.in[at] = make_float2(in_J[r], in_K[r]);
            shared->queue.offset[at] = (unsigned short)(offset + r * 32);
        }
        to += __popc(ballots[r]);
    }
}

/* Step 2, classification: determines the list of each element of the queue, and the word to be
 * written. Returns the thread's tally; adds the number of quartets that do not contribute to J to
 * *exchange_only_num. */
template <int QUEUE, int DISTANCE, bool BOXES>
__device__ __forceinline__ unsigned
classify(const screen_args &a, const screen_task &task, const screen_bra &bra, unsigned queued,
         screen_shared<QUEUE> *shared, unsigned *exchange_only_num)
{
    constexpr bool FAR = DISTANCE == SCREEN_FAR;
    constexpr int lists = FAR ? FMO_GPU_LISTS : 1;
    screen_queue<QUEUE> *const queue = &shared->queue;
    const unsigned lane = threadIdx.x % 32, below = lanes_below();
    const bool far_exchanges = FAR && fmo_gpu_far_exchanges(task.eri_class);
    const float log_Q = fmo_far_log2(bra.screen.bound), log_cutoff = fmo_far_log2(a.cutoff);
    unsigned coded = a.coded ? ~0u : FMO_GPU_PAIRS_MAX - 1u;
    unsigned counting = fmo_gpu_tally(bra.screen.counts, FMO_GPU_TALLY_PAIRS)
                            ? ~0u
                            : (1u << FMO_GPU_TALLY_PAIRS) - 1u;
    int diagonal =
        task.same && fmo_gpu_tally(bra.screen.counts, FMO_GPU_TALLY_CARRIED) ? bra.pair : -1;
    unsigned tally = 0;
    static_assert((SCREEN_ROUNDS + 1) * LARGE_SLABS * FMO_GPU_DEPTH_MAX <= 1023,
                  "what a thread may count of a block fits its tally");
    /* computed once, not in every iteration */
    asm volatile("" : "+r"(coded), "+r"(counting), "+r"(diagonal));
    /* whole warps, also in the last iteration */
    for (unsigned e = threadIdx.x; e - lane < queued; e += SCREEN_THREADS) {
        int list = FMO_GPU_LISTS;
        bool exchange_only = false;
        if (e < queued) {
            const int ket = bra.ket_begin + queue->offset[e];
            const float2 in = queue->in[e];
            const float in_J = in.x, in_K = in.y;
            exchange_only = BOXES && in_J == 0.0f;
            const fmo_gpu_screen_data data = task.ket.screen[ket];
            const float log_size = fmo_far_log2(fmaxf(in_J, in_K));
            unsigned code = factor_code(log_size - log_Q - fmo_far_log2(data.bound));
            bool exchanges = in_K >= a.cutoff;
            list = FMO_GPU_NEAR;
            if (DISTANCE == SCREEN_ERFC) {
                exchanges = exchanges &&
                            erfc_reaches(a, task, bra, ket, in_K / (bra.screen.bound * data.bound));
                if (!exchanges && in_J < a.cutoff) list = FMO_GPU_LISTS;
            }
            if (FAR) {
                const float4 reach = task.ket.reach[ket];
                float gap;
                const unsigned nodes =
                    far_code(bra, task.ket.sphere[ket], reach.w, read_fit(task.ket.fit + ket),
                             log_size - log_cutoff, &gap);
                const bool far_exchange =
                    in_K * fminf(1.0f, FMO_SCREEN_FAR_MARGIN * far_share(bra.reach, reach, gap)) >=
                    a.cutoff;
                if (nodes != FMO_GPU_OVERLAP) {
                    exchanges = far_exchange;
                    if (!exchanges) list = in_J >= a.cutoff ? FMO_GPU_FAR_J : FMO_GPU_LISTS;
                    if (exchanges && far_exchanges) list = FMO_GPU_FAR_K;
                    if (list != FMO_GPU_NEAR) code = nodes;
                }
            }
            queue->in[e].x = __uint_as_float(
                (code | (exchanges ? FMO_GPU_EXCHANGE_BIT : 0u) | (unsigned)ket) & coded);
            const bool counted = DISTANCE != SCREEN_ERFC || list != FMO_GPU_LISTS;
            if (counted)
                tally +=
                    (data.counts & counting) + (exchanges ? 1u << FMO_GPU_TALLY_EXCHANGES : 0u);
            if (counted && ket == diagonal)
                fmo_gpu_count_diagonal(a.counters->quartets, task.eri_class);
        }
        if (BOXES) *exchange_only_num += exchange_only && list != FMO_GPU_LISTS;
        /* lanes with the same list as this one; lanes with the list whose number is this lane's */
        unsigned same = 0, own = 0;
#pragma unroll
        for (int l = 0; l < lists; l++) {
            const unsigned ballot = __ballot_sync(0xffffffffu, list == l);
            same = list == l ? ballot : same;
            own = lane == l ? ballot : own;
        }
        if (lane < lists) shared->listed[lane][e / 32] = __popc(own);
        queue->offset[e] =
            (unsigned short)(__popc(same & below) << PLACE_LIST_BITS | (unsigned)list |
                             (exchange_only ? (unsigned)PLACE_EXCHANGE_ONLY : 0u));
    }
    return tally;
}

/* Step 3, allocation, one warp for each list: a prefix sum over `listed` gives every group of 32
 * elements its place in the list, and one atomic reserves the space. */
__device__ __forceinline__ void reserve(unsigned *screened_in, int queued, unsigned *listed,
                                        unsigned *screened_in_num)
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
        base = atomicAdd(screened_in, sum[1]);
        atomicAdd(screened_in_num, sum[1]);
    }
    base = __shfl_sync(0xffffffffu, base, 31);
    for (int h = 0; h < 2; h++)
        if (32 * h + lane < warps) listed[32 * h + lane] = base + sum[h] - own[h];
}

/* Step 4, writing: writes the entries to the lists. */
template <int QUEUE, bool FAR, bool BOXES>
__device__ __forceinline__ void write_lists(int bra, int queued, const screen_shared<QUEUE> *shared)
{
    for (int e = threadIdx.x; e < queued; e += SCREEN_THREADS) {
        const unsigned found = shared->queue.offset[e];
        const unsigned place = BOXES ? found & (PLACE_EXCHANGE_ONLY - 1u) : found;
        const int list = (int)(place & ((1u << PLACE_LIST_BITS) - 1u));
        if (list == FMO_GPU_LISTS) continue;
        const int to = (int)(shared->listed[list][e / 32] + (place >> PLACE_LIST_BITS));
        __stcg(shared->list[list] + (FAR && list == FMO_GPU_FAR_J ? -to : to),
               make_int2(BOXES && (found & PLACE_EXCHANGE_ONLY) ? bra | FMO_GPU_EXCHANGE_ONLY_BIT
                                                                : bra,
                         __float_as_int(shared->queue.in[e].x)));
    }
}

/* The data of near cells for a bra pair of task n. */
template <class Boxes>
__device__ __forceinline__ screen_near find_near(const Boxes *boxes, int n, const screen_bra &bra)
{
    screen_near near = {};
    if constexpr (std::is_same<Boxes, screen_box_args>::value) {
        const screen_box_task &leaves = boxes->task[n];
        const size_t leaf = (size_t)leaves.bra_leaf[bra.pair], tiles = (size_t)leaves.tiles;
        near.leaves = boxes->near + leaf * boxes->words;
        near.tiles = leaves.tile_near + leaf * leaves.words;
        near.exchange[0] = leaves.tile_exchange + bra.screen.sp_shell.x * tiles;
        near.exchange[1] = leaves.tile_exchange + bra.screen.sp_shell.y * tiles;
        near.ket_leaf = leaves.ket_leaf;
    }
    return near;
}

/* Marks the tiles of 32 kets of all slabs that may contain a screened-in quartet; each lane
 * examines one. Returns whether this thread has found one. */
template <int QUEUE, bool BOXES>
__device__ __forceinline__ bool open_tiles(const screen_args &a, const screen_task &task,
                                           const screen_near &near, const screen_bra &bra,
                                           screen_shared<QUEUE> &shared)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    bool any = false;
    const int last = (bra.ket_end - 1) / FMO_GPU_TILE_PAIRS;
#pragma unroll 2
    for (int g = SCREEN_LOOKS * warp; g < a.slabs; g += SCREEN_LOOKS * SCREEN_WARPS) {
        const int tile = bra.ket_begin / FMO_GPU_TILE_PAIRS + SCREEN_TILES * g + lane;
        bool may = tile <= last;
        if (BOXES) {
            if (may)
                may = bra.screen.bound * fmaxf(near.exchange[0][tile], near.exchange[1][tile]) >=
                          a.cutoff ||
                      (bit_of(near.tiles, tile) &&
                       fmaxf(bra.screen.coulomb_estimate * task.ket.tile_bound[tile],
                             bra.screen.bound * task.ket.tile_coulomb_estimate[tile]) >= a.cutoff);
        } else {
            const int at = min(tile, last);
            may &= fmaxf(fmaxf(bra.max_exchange, bra.screen.coulomb_estimate) *
                             task.ket.tile_bound[at],
                         bra.screen.bound * task.ket.tile_coulomb_estimate[at]) >= a.cutoff;
        }
        const unsigned tiles = __ballot_sync(0xffffffffu, may);
        any |= may;
        if (lane % SCREEN_TILES == 0) {
            const unsigned one = tiles >> lane & ((1u << SCREEN_TILES) - 1u);
            shared.open[g + lane / SCREEN_TILES] = (unsigned short)one;
            shared.passed[g + lane / SCREEN_TILES] = 0;
        }
    }
    return any;
}

/* Adds the tallies of all threads to the counters of the build. */
template <int QUEUE, bool BOXES>
__device__ __forceinline__ void add_counts(const screen_args &a, const screen_task &task,
                                           const screen_bra &bra, unsigned tally,
                                           unsigned exchange_only_num, screen_shared<QUEUE> &shared)
{
    const int lane = threadIdx.x % 32;
    const unsigned prims = warp_sum(fmo_gpu_tally(tally, FMO_GPU_TALLY_PRIMS));
    const unsigned pairs = warp_sum(fmo_gpu_tally(tally, FMO_GPU_TALLY_PAIRS));
    const unsigned carried = warp_sum(fmo_gpu_tally(tally, FMO_GPU_TALLY_CARRIED));
    const unsigned exchanges = warp_sum(fmo_gpu_tally(tally, FMO_GPU_TALLY_EXCHANGES));
    screen_counts *const counted = &shared.counted;
    if (BOXES) {
        const unsigned exchange_only = warp_sum(exchange_only_num);
        if (lane == 0 && exchange_only) atomicAdd(&counted->exchange_only, exchange_only);
    }
    if (lane == 0 && prims) {
        atomicAdd(&counted->prims, prims);
        atomicAdd(&counted->pairs, pairs);
        atomicAdd(&counted->carried, carried);
        atomicAdd(&counted->exchanges, exchanges);
    }
    __syncthreads();
    if (threadIdx.x == 0 && counted->prims) {
        const unsigned bra_prims = fmo_gpu_tally(bra.screen.counts, FMO_GPU_TALLY_PRIMS);
        atomicAdd(&a.counters->screened_in_num[task.eri_class],
                  (unsigned long long)counted->screened_in_num);
        atomicAdd(&a.counters->exchanges[task.eri_class], (unsigned long long)counted->exchanges);
        if (BOXES && counted->exchange_only)
            atomicAdd(&a.counters->exchange_only[task.eri_class],
                      (unsigned long long)counted->exchange_only);
        atomicAdd(&a.counters->prim_quartets[task.eri_class],
                  (unsigned long long)counted->prims * bra_prims);
        fmo_gpu_count(a.counters->quartets, task.eri_class,
                      fmo_gpu_tally(bra.screen.counts, FMO_GPU_TALLY_CARRIED), counted->pairs,
                      counted->carried);
    }
}

/* Screens one bra pair against a.slabs slabs of ket pairs. ROWS: the density maxima of rows i and j
 * are first copied to shared memory; there must be space for all SP shells. Boxes: screen_box_args
 * if J of far pairs comes from multipole expansions. */
template <int QUEUE, bool ROWS, int DISTANCE, class Boxes>
__device__ __forceinline__ void screen_block(const screen_args &a, const Boxes *boxes, float *rows,
                                             screen_shared<QUEUE> &shared)
{
    constexpr bool BOXES = std::is_same<Boxes, screen_box_args>::value;
    constexpr bool FAR = DISTANCE == SCREEN_FAR;
    int n = a.tasks - 1;
    while (n > 0 && blockIdx.x < a.task[n].block_begin) n--;
    const screen_task &task = a.task[n];
    const unsigned block = blockIdx.x - task.block_begin;
    screen_bra bra;
    bra.pair = task.bra_begin + task.bra_step * (int)(block / task.chunks);
    const int all_kets = task.same ? bra.pair + 1 : task.ket.num;
    bra.ket_begin = (int)(block % task.chunks) * a.slabs * SCREEN_KETS;
    bra.ket_end = min(bra.ket_begin + a.slabs * SCREEN_KETS, all_kets);
    if (bra.ket_begin >= bra.ket_end) return;

    bra.screen = task.bra.screen[bra.pair];
    const ushort2 ij = bra.screen.sp_shell;
    bra.max_exchange = bra.screen.bound * fmaxf(a.row_max[ij.x], a.row_max[ij.y]);
    const int warp = threadIdx.x / 32;
    const screen_near near = find_near(boxes, n, bra);
    const bool any = open_tiles<QUEUE, BOXES>(a, task, near, bra, shared);
    if (threadIdx.x == 0) {
        shared.list[FMO_GPU_NEAR] = task.list;
        shared.list[FMO_GPU_FAR_J] = task.far_J_end - 1;
        shared.list[FMO_GPU_FAR_K] = task.far_K;
        shared.counted = {0u, 0u, 0u, 0u, 0u, 0u};
    }
    if (!__syncthreads_or(any)) return;
    for (int k = threadIdx.x; ROWS && k < a.sp_shells; k += SCREEN_THREADS)
        rows[k] = fmaxf(a.block_max[(size_t)ij.x * a.stride + k],
                        a.block_max[(size_t)ij.y * a.stride + k]);
    if (ROWS) __syncthreads();
    if (DISTANCE != SCREEN_PLAIN) {
        bra.sphere = task.bra.sphere[bra.pair];
        bra.reach = task.bra.reach[bra.pair];
    }
    if (DISTANCE == SCREEN_ERFC) bra.log_prims = task.bra.log_prims[bra.pair];
    if (FAR) {
        bra.fit = task.bra.fit[bra.pair];
        bra.cancelled = fmo_far_cancelled(bra.reach.w);
        asm volatile("" : "+f"(bra.cancelled)); /* computed once, not in every iteration */
    }

    unsigned tally = 0, exchange_only_num = 0;
    for (int g = 0, queued = 0; g < a.slabs; g++) { /* queued is the same in all threads */
        if (shared.open[g]) {
            screen_slab<QUEUE, ROWS, BOXES>(a, task, near, bra, rows, g, queued, &shared);
            __syncthreads();
            queued += shared.passed[g];
        }
        if (!queued || (queued <= QUEUE - SCREEN_KETS && g + 1 < a.slabs)) continue;
        tally +=
            classify<QUEUE, DISTANCE, BOXES>(a, task, bra, queued, &shared, &exchange_only_num);
        __syncthreads();
        if (warp < (FAR ? FMO_GPU_LISTS : 1))
            reserve(&a.counters->screened_in[warp][task.eri_class], queued, shared.listed[warp],
                    &shared.counted.screened_in_num);
        __syncthreads();
        write_lists<QUEUE, FAR, BOXES>(bra.pair, queued, &shared);
        if (g + 1 < a.slabs) __syncthreads();
        queued = 0;
    }
    add_counts<QUEUE, BOXES>(a, task, bra, tally, exchange_only_num, shared);
}

/* Screening for N builds, and for one build with cells of far pairs. */
template <int QUEUE, bool ROWS, int DISTANCE, int N>
__global__ void __launch_bounds__(SCREEN_THREADS, SCREEN_BLOCKS)
    screen(const __grid_constant__ fmo_gpu_many<screen_args, N> many)
{
    extern __shared__ float rows[];
    __shared__ screen_shared<QUEUE> shared;
    const screen_args &a = many.own();
    if (N > 1 && blockIdx.x >= a.blocks) return;
    screen_block<QUEUE, ROWS, DISTANCE>(a, (const screen_args *)NULL, rows, shared);
}

template <bool ROWS>
__global__ void __launch_bounds__(SCREEN_THREADS, SCREEN_BLOCKS)
    screen_boxes(const __grid_constant__ fmo_gpu_one<screen_box_args> one)
{
    extern __shared__ float rows[];
    __shared__ screen_shared<LARGE_QUEUE> shared;
    const screen_box_args &a = one.own();
    screen_block<LARGE_QUEUE, ROWS, SCREEN_FAR>(a.plain, &a, rows, shared);
}

} // namespace

#endif
