/* From density to survivors, and from X to J and K: the kernels around the quartet kernels. The
 * screening rule is that of screen.h, the same code as on the host. */
#include "accumulate/gpu_plan.h"
#include "accumulate/gpu_range.h"

#include <math.h>
#include <math_constants.h>
#include <string.h>

#include "accumulate/digest.h"
#include "accumulate/screen.h"

namespace {

/* A block screens one bra pair against groups of SCREEN_KETS ket pairs, 32 tiles of
 * FMO_GPU_TILE_PAIRS, a warp against SCREEN_ROUNDS of these. */
enum {
    SCREEN_THREADS = 256,
    SCREEN_WARPS = SCREEN_THREADS / 32,
    SCREEN_ROUNDS = 32 / SCREEN_WARPS,
    SCREEN_KETS = SCREEN_WARPS * SCREEN_ROUNDS * FMO_GPU_TILE_PAIRS,
    SCREEN_QUEUE = 1536,         /* at least SCREEN_KETS, at most 64 full warps */
    LARGE_GROUPS = SCREEN_WARPS, /* a block, in large systems; at most one for each warp to open */
    SHELL_THREADS = 128,
    FINISH_TILE = 16
};

typedef struct density_args {
    const double *in;
    double *out, *block_max, *row_max;
    const int *ao_caller;
    const double *ao_factor;
    int nao, caller_nao, sets, s_sets, width; /* functions in a set that is not of one s */
} density_args;

/* Threads for a block of two sets, up to 4 x 4 elements. */
enum { BLOCK_ELEMENTS = 16, DENSITY_BLOCKS = SHELL_THREADS / BLOCK_ELEMENTS };

/* One thread per element: into the kernels' order, symmetrised, with the largest of each block of
 * sets and of each row of blocks. */
__global__ void take_density(density_args a)
{
    const int element = threadIdx.x % BLOCK_ELEMENTS, s = blockIdx.y;
    const int t = blockIdx.x * DENSITY_BLOCKS + threadIdx.x / BLOCK_ELEMENTS;
    double largest = 0.0;
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
            largest = fabs(d);
        }
    }
    for (int offset = 1; offset < 32; offset *= 2) {
        if (offset == BLOCK_ELEMENTS && element == 0 && t < a.sets)
            a.block_max[(size_t)s * a.sets + t] = largest;
        largest = fmo_screen_max(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    }
    if (threadIdx.x % 32 == 0) /* bits of non-negative doubles order like the numbers */
        atomicMax((unsigned long long *)&a.row_max[s],
                  (unsigned long long)__double_as_longlong(largest));
}

typedef struct screen_part {
    fmo_gpu_pairs bra, ket;
    int eri_class, same, bra_begin, chunks;
    unsigned block_begin;
    int2 *list, *far_J_end, *far_K;
} screen_part;

typedef struct screen_args {
    screen_part part[FMO_GPU_PARTS];
    int parts, sets;
    int coded;  /* survivors carry their codes */
    int groups; /* of SCREEN_KETS ket pairs a block */
    float cutoff;
    const double *block_max, *row_max;
    fmo_gpu_counters *counters;
} screen_args;

/* How small a density factor is, rounded to the safe side, where gpu_types.cuh puts it; from factor
 * times bound, and bound. */
__device__ unsigned factor_code(float size, float bound)
{
    const float factor = 1.00001f * __fdividef(size, bound);
    const int code = FMO_GPU_FACTOR_TOP - 1 - ((int)(__float_as_uint(factor) >> 23) - 127);
    return (unsigned)min(max(code, 0), (int)FMO_GPU_FACTOR_MAX) << FMO_GPU_KET_BITS;
}

/* Is a quartet far? Then how many nodes its pairs need, where gpu_types.cuh puts it, and how far
 * apart they are; else FMO_GPU_OVERLAP. size is its bound times its density factor. What far.h
 * leaves out of an element of X^J is below a twentieth of the cutoff for each pair's nodes and,
 * with T from FAR_T on, a twentieth for overlap; of X^K four times that (docs/theory.md). */
#define FMO_GPU_OVERLAP 0xffffffffu
#define FAR_T           7.0f
#define FAR_ERROR       0.05f

/* A far quartet that would be below the cutoff in K even if it were this much larger than the bound
 * of far.h keeps out (docs/theory.md). */
#define FAR_K_MARGIN 2.0f

__device__ unsigned far_code(float4 bra, unsigned bra_extent, float4 ket, unsigned ket_extent,
                             float size, float cutoff, float *apart)
{
    const float x = bra.x - ket.x, y = bra.y - ket.y, z = bra.z - ket.z;
    const float R2 = fmaxf(x * x + y * y + z * z, 1e-10f), R = R2 * rsqrtf(R2);
    const float to_ket = R - ket.w, to_bra = R - bra.w, gap = to_ket - bra.w;
    const float excess = __fdividef(size, cutoff);
    const float spread = fmo_gpu_spread(bra_extent) + fmo_gpu_spread(ket_extent);
    if (!(gap > 0.0f && gap * gap >= (FAR_T + __logf(excess)) * spread)) return FMO_GPU_OVERLAP;
    const float tolerance = __fdividef(4.0f * FAR_ERROR, excess) * fmaxf(1.0f, 0.1f * R);
    const int bra_nodes = min(fmo_far_nodes_needed(__fdividef(bra.w, to_ket), tolerance),
                              fmo_gpu_far_cap(bra_extent));
    const int ket_nodes = min(fmo_far_nodes_needed(__fdividef(ket.w, to_bra), tolerance),
                              fmo_gpu_far_cap(ket_extent));
    if (max(bra_nodes, ket_nodes) >= FMO_FAR_CHOICES) return FMO_GPU_OVERLAP;
    *apart = gap;
    return (unsigned)(FMO_FAR_CHOICES * bra_nodes + ket_nodes) << FMO_GPU_KET_BITS;
}

/* At most this part of the Schwarz bounds is left of an integral of a far quartet (far.h,
 * fmo_far_largest). */
__device__ float far_share(float4 bra, float4 ket, float gap)
{
    const float u = __fdividef(1.0f, gap);
    const float sum4 = 24.0f * bra.z * ket.z, sum3 = 6.0f * (bra.y * ket.z + bra.z * ket.y);
    const float sum2 = 2.0f * (bra.x * ket.z + bra.y * ket.y + bra.z * ket.x);
    const float sum1 = bra.x * ket.y + bra.y * ket.x, sum0 = bra.x * ket.x;
    return 1.00001f * u * (sum0 + u * (sum1 + u * (sum2 + u * (sum3 + u * sum4))));
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

/* Kets that passed the rule, closed up, until there are enough of them: no lane is idle in what is
 * left to find out, and quartets of one bra pair stand together in the lists. */
typedef struct screen_queue {
    float in_J[SCREEN_QUEUE], in_K[SCREEN_QUEUE];
    unsigned short offset[SCREEN_QUEUE]; /* from the block's first ket */
} screen_queue;

/* What is found out stands in place of it: the list's second word in in_J; in offset the list, in
 * its last bits, and above them how many of the same warp are before it there. */
enum { PLACE_LIST_BITS = 2 };

/* What a block counts for the profile; by quartets, but prims, which are of kets. */
typedef struct screen_counts {
    unsigned tasks, exchanges, prims;
    unsigned pairs, carried; /* pairs that count, those whose ket carries an ss pair */
} screen_counts;

/* A block screens one bra pair against `groups` groups of SCREEN_KETS ket pairs. What the rule
 * needs of the rows of i and j is put into shared memory first, if there is room for all sets.
 * Bounds are floats, rounded up. */
template <bool ROWS, bool FAR>
__global__ void __launch_bounds__(SCREEN_THREADS, 6) screen(const __grid_constant__ screen_args a)
{
    constexpr int lists = FAR ? FMO_GPU_LISTS : 1;
    extern __shared__ float rows[];         /* [sets] max(|D_ik|, |D_jk|) */
    __shared__ unsigned open[LARGE_GROUPS]; /* tiles of a group that may hold a survivor */
    __shared__ screen_queue queue;
    __shared__ int passed[2][SCREEN_WARPS]; /* kets of a warp in this group, or the next one */
    __shared__ unsigned listed[FMO_GPU_LISTS][SCREEN_QUEUE / 32]; /* by full warps of the queue */
    __shared__ screen_counts counted;
    int n = a.parts - 1;
    while (n > 0 && blockIdx.x < a.part[n].block_begin) n--;
    const screen_part &part = a.part[n];
    const unsigned block = blockIdx.x - part.block_begin;
    const int bra = part.bra_begin + (int)(block / part.chunks);
    const int all_kets = part.same ? bra + 1 : part.ket.num;
    const int block_begin = (int)(block % part.chunks) * a.groups * SCREEN_KETS;
    const int block_end = min(block_begin + a.groups * SCREEN_KETS, all_kets);
    if (block_begin >= block_end) return;

    const ushort2 ij = part.bra.set[bra];
    const unsigned bra_flags = part.bra.counts[bra];
    const float Q = part.bra.bound[bra], coulomb = part.bra.coulomb[bra];
    /* No ket can exchange more than this. */
    const float most = Q * __double2float_ru(fmo_screen_exchange(a.row_max[ij.x], a.row_max[ij.y]));
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    /* A warp looks at a group, a lane at a tile of 32 kets; tiles that cannot hold a survivor are
     * passed over. */
    bool any = false;
    if (warp < a.groups) {
        const int tile = block_begin / FMO_GPU_TILE_PAIRS + (int)threadIdx.x;
        if (tile * FMO_GPU_TILE_PAIRS < block_end) {
            const float bound = part.ket.tile_bound[tile];
            any = fmaxf(fmaxf(most, coulomb) * bound, Q * part.ket.tile_coulomb[tile]) >= a.cutoff;
        }
        const unsigned tiles = __ballot_sync(0xffffffffu, any);
        if (lane == 0) open[warp] = tiles;
    }
    if (threadIdx.x == 0) counted = {0u, 0u, 0u, 0u, 0u};
    if (!__syncthreads_or(any)) return;
    for (int k = threadIdx.x; ROWS && k < a.sets; k += SCREEN_THREADS)
        rows[k] = __double2float_ru(fmo_screen_max(a.block_max[(size_t)ij.x * a.sets + k],
                                                   a.block_max[(size_t)ij.y * a.sets + k]));
    if (ROWS) __syncthreads();

    const float4 sphere = FAR ? part.bra.sphere[bra] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float4 reach = FAR ? part.bra.reach[bra] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const unsigned extent = FAR ? part.bra.extent[bra] : 0u;
    screen_counts counts = {0u, 0u, 0u, 0u, 0u}; /* of a lane */
    int queued = 0, parity = 0;                  /* the same in all threads */
    for (int g = 0; g < a.groups; g++) {
        const unsigned tiles = open[g];
        if (tiles) { /* the same in all threads */
            float in_J[SCREEN_ROUNDS], in_K[SCREEN_ROUNDS];
            unsigned ballots[SCREEN_ROUNDS];
            const int offset = g * SCREEN_KETS + warp * SCREEN_ROUNDS * 32 + lane;
            int mine = 0, to = queued;
#pragma unroll
            for (int r = 0; r < SCREEN_ROUNDS; r++) {
                const int ket = block_begin + offset + r * 32;
                bool stays = false;
                if ((tiles >> (warp * SCREEN_ROUNDS + r) & 1u) && ket < block_end) {
                    const float bound = part.ket.bound[ket];
                    in_J[r] = fmaxf(coulomb * bound, Q * part.ket.coulomb[ket]);
                    in_K[r] = most * bound;
                    if (fmaxf(in_J[r], in_K[r]) >= a.cutoff) {
                        const ushort2 kl = part.ket.set[ket];
                        in_K[r] = Q * bound *
                                  (ROWS ? fmaxf(rows[kl.x], rows[kl.y])
                                        : __double2float_ru(fmo_screen_exchange_of(
                                              a.block_max, a.sets, ij.x, ij.y, kl.x, kl.y)));
                        stays = fmaxf(in_J[r], in_K[r]) >= a.cutoff;
                    }
                }
                ballots[r] = __ballot_sync(0xffffffffu, stays);
                mine += __popc(ballots[r]);
            }
            if (lane == 0) passed[parity][warp] = mine;
            __syncthreads();
#pragma unroll
            for (int w = 0; w < SCREEN_WARPS; w++) {
                const int others = passed[parity][w];
                queued += others;
                if (w < warp) to += others;
            }
            parity ^= 1;
#pragma unroll
            for (int r = 0; r < SCREEN_ROUNDS; r++) {
                if (ballots[r] >> lane & 1u) {
                    const int at = to + __popc(ballots[r] & lanes_below(lane));
                    queue.in_J[at] = in_J[r];
                    queue.in_K[at] = in_K[r];
                    queue.offset[at] = (unsigned short)(offset + r * 32);
                }
                to += __popc(ballots[r]);
            }
        }
        if (queued <= SCREEN_QUEUE - SCREEN_KETS && g + 1 < a.groups) continue;
        if (!queued) continue;
        __syncthreads();
        for (int e = threadIdx.x; e - lane < queued; e += SCREEN_THREADS) { /* warp by warp */
            int list = FMO_GPU_LISTS;
            if (e < queued) {
                const float in_J = queue.in_J[e];
                const int ket = block_begin + queue.offset[e];
                float in_K = queue.in_K[e], gap = 0.0f;
                const unsigned flags = part.ket.counts[ket];
                unsigned code = FMO_GPU_OVERLAP;
                if (FAR)
                    code = far_code(sphere, extent, part.ket.sphere[ket], part.ket.extent[ket],
                                    fmaxf(in_J, in_K), a.cutoff, &gap);
                if (FAR && code != FMO_GPU_OVERLAP && in_K >= a.cutoff)
                    in_K *= fminf(1.0f, FAR_K_MARGIN * far_share(reach, part.ket.reach[ket], gap));
                const unsigned exchanges = in_K >= a.cutoff;
                if (code == FMO_GPU_OVERLAP ||
                    (exchanges && !fmo_gpu_far_exchanges(part.eri_class))) {
                    code = factor_code(fmaxf(in_J, in_K), Q * part.ket.bound[ket]);
                    list = FMO_GPU_NEAR;
                } else if (exchanges) {
                    list = FMO_GPU_FAR_K;
                } else if (in_J >= a.cutoff) {
                    list = FMO_GPU_FAR_J;
                }
                queue.in_J[e] = __uint_as_float(
                    (a.coded ? code | (exchanges ? FMO_GPU_EXCHANGE_BIT : 0u) : 0u) |
                    (unsigned)ket);
                counts.tasks += list != FMO_GPU_LISTS;
                counts.exchanges += exchanges;
                counts.prims += flags >> FMO_GPU_COUNTS_BITS;
                if (bra_flags & flags & FMO_GPU_COUNTS_PAIR) {
                    counts.pairs++;
                    counts.carried += (flags & FMO_GPU_COUNTS_CARRIED) != 0;
                }
                if (part.same && ket == bra && bra_flags & FMO_GPU_COUNTS_CARRIED)
                    fmo_gpu_count_diagonal(a.counters->quartets);
            }
            unsigned before = 0;
#pragma unroll
            for (int l = 0; l < lists; l++) {
                const unsigned ballot = __ballot_sync(0xffffffffu, list == l);
                if (list == l) before = __popc(ballot & lanes_below(lane));
                if (lane == 0) listed[l][e / 32] = __popc(ballot);
            }
            if (e < queued)
                queue.offset[e] = (unsigned short)(before << PLACE_LIST_BITS | (unsigned)list);
        }
        __syncthreads();
        if (warp < lists) { /* a list: numbers become places */
            const int warps = (queued + 31) / 32;
            unsigned sum[2], base = 0;
            for (int h = 0; h < 2; h++)
                sum[h] = 32 * h + lane < warps ? listed[warp][32 * h + lane] : 0u;
            const unsigned own[2] = {sum[0], sum[1]};
            for (int offset = 1; offset < 32; offset *= 2)
                for (int h = 0; h < 2; h++) {
                    const unsigned below = __shfl_up_sync(0xffffffffu, sum[h], offset);
                    if (lane >= offset) sum[h] += below;
                }
            sum[1] += __shfl_sync(0xffffffffu, sum[0], 31);
            if (lane == 31 && sum[1])
                base = atomicAdd(&a.counters->survivors[warp][part.eri_class], sum[1]);
            base = __shfl_sync(0xffffffffu, base, 31);
            for (int h = 0; h < 2; h++)
                if (32 * h + lane < warps) listed[warp][32 * h + lane] = base + sum[h] - own[h];
        }
        __syncthreads();
        for (int e = threadIdx.x; e < queued; e += SCREEN_THREADS) {
            const unsigned place = queue.offset[e];
            const int list = (int)(place & ((1u << PLACE_LIST_BITS) - 1u));
            if (list == FMO_GPU_LISTS) continue;
            const unsigned to = listed[list][e / 32] + (place >> PLACE_LIST_BITS);
            int2 *const at = !FAR || list == FMO_GPU_NEAR ? part.list + to
                             : list == FMO_GPU_FAR_J      ? part.far_J_end - 1 - (int)to
                                                          : part.far_K + to;
            *at = make_int2(bra, __float_as_int(queue.in_J[e]));
        }
        queued = 0; /* written again only after the next group's barrier */
    }
    counts.tasks = warp_sum(counts.tasks);
    counts.exchanges = warp_sum(counts.exchanges);
    counts.prims = warp_sum(counts.prims);
    counts.pairs = warp_sum(counts.pairs);
    counts.carried = warp_sum(counts.carried);
    if (lane == 0 && counts.prims) {
        atomicAdd(&counted.tasks, counts.tasks);
        atomicAdd(&counted.exchanges, counts.exchanges);
        atomicAdd(&counted.prims, counts.prims);
        atomicAdd(&counted.pairs, counts.pairs);
        atomicAdd(&counted.carried, counts.carried);
    }
    __syncthreads();
    if (threadIdx.x == 0 && counted.prims) {
        atomicAdd(&a.counters->tasks[part.eri_class], (unsigned long long)counted.tasks);
        atomicAdd(&a.counters->exchanges[part.eri_class], (unsigned long long)counted.exchanges);
        atomicAdd(&a.counters->prim_quartets[part.eri_class],
                  (unsigned long long)counted.prims * (bra_flags >> FMO_GPU_COUNTS_BITS));
        fmo_gpu_count(a.counters->quartets, part.eri_class, bra_flags & FMO_GPU_COUNTS_CARRIED,
                      counted.pairs, counted.carried);
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
    const double *block_max, *shell_bound;
    int sets, s_sets, width;
    double *bound, *scale;
} bound_args;

/* Room for sums in between, and for the sign. */
#define FIXED_MARGIN      4.0
#define FIXED_QUANTUM_MAX 1e-13

__global__ void __launch_bounds__(BOUND_THREADS) bound_elements(bound_args a)
{
    __shared__ double shared[BOUND_THREADS];
    double coulomb = 0.0, exchange = 0.0, largest = 0.0;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const double functions = c == FMO_PAIR_SS ? 1.0 : c == FMO_PAIR_PS ? a.width : 9.0;
        for (int n = threadIdx.x; n < a.pairs[c].num; n += BOUND_THREADS) {
            const ushort2 kl = a.pairs[c].set[n];
            coulomb += functions * a.pairs[c].bound[n] * a.block_max[(size_t)kl.x * a.sets + kl.y];
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
__global__ void finish(finish_args a)
{
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

cudaError_t fmo_gpu_take_density(const fmo_fock_plan *plan, fmo_gpu_state *g)
{
    const fmo_gpu_range range("density");
    const density_args a = {g->density_in, g->density,   g->density_max, g->row_max,
                            g->ao_caller,  g->ao_factor, g->nao,         plan->basis->ao_num,
                            g->sets,       g->s_sets,    g->sp ? 4 : 3};
    cudaError_t code = cudaMemsetAsync(g->coulomb, 0, g->zeroed, g->stream);
    if (code != cudaSuccess) return code;
    take_density<<<dim3((g->sets + DENSITY_BLOCKS - 1) / DENSITY_BLOCKS, g->sets), SHELL_THREADS, 0,
                   g->stream>>>(a);
    code = cudaGetLastError();
    return code == cudaSuccess ? fmo_gpu_take_pairs(g) : code;
}

/* Small systems need many blocks, large ones few fillings of shared memory. */
static const double small_work = 1e8;
enum { ROWS_BYTES_MAX = 36 * 1024 };

cudaError_t fmo_gpu_screen(const fmo_fock_plan *plan, fmo_gpu_state *g, const fmo_gpu_pass *pass)
{
    const fmo_gpu_range range("screening");
    if (pass != g->pass) { /* the first finds them zero */
        const cudaError_t code =
            cudaMemsetAsync(g->counters->survivors, 0, sizeof g->counters->survivors, g->stream);
        if (code != cudaSuccess) return code;
    }
    screen_args a;
    unsigned blocks = 0;
    memset(&a, 0, sizeof a);
    a.groups = g->work < small_work ? 1 : LARGE_GROUPS;
    for (int n = 0; n < pass->num; n++) {
        const fmo_gpu_part *from = &pass->part[n];
        const fmo_gpu_class_view view = fmo_gpu_view(plan, g, from);
        screen_part *part = &a.part[n];
        part->bra = view.bra;
        part->ket = view.ket;
        part->eri_class = from->eri_class;
        part->same = view.same;
        part->bra_begin = from->bra_begin;
        const int kets = view.same ? from->bra_end : view.ket.num;
        const int span = a.groups * SCREEN_KETS;
        part->chunks = (kets + span - 1) / span;
        part->block_begin = blocks;
        part->list = g->list + from->list_at;
        part->far_J_end = part->list + from->candidates;
        part->far_K = g->far ? g->far_K + from->list_at : NULL;
        blocks += (unsigned)(from->bra_end - from->bra_begin) * (unsigned)part->chunks;
    }
    a.parts = pass->num;
    a.sets = g->sets;
    a.coded = g->sp;
    a.cutoff = (float)plan->options.cutoff;
    a.block_max = g->density_max;
    a.row_max = g->row_max;
    a.counters = g->counters;
    if (!blocks) return cudaSuccess;
    const size_t rows = (size_t)a.sets * sizeof(float);
    void (*const kernel[2][2])(screen_args) = {{screen<false, false>, screen<false, true>},
                                               {screen<true, false>, screen<true, true>}};
    const int fits = rows <= ROWS_BYTES_MAX;
    kernel[fits][g->far != 0]<<<blocks, SCREEN_THREADS, fits ? rows : 0, g->stream>>>(a);
    return cudaGetLastError();
}

cudaError_t fmo_gpu_finish(const fmo_fock_plan *plan, fmo_gpu_state *g, bool fixed, double *coulomb,
                           double *exchange)
{
    const fmo_gpu_range range("J and K");
    const int n = g->nao, tiles = (n + FINISH_TILE - 1) / FINISH_TILE;
    const finish_args a = {g->coulomb,
                           g->exchange,
                           coulomb,
                           exchange,
                           (size_t)n * n,
                           g->copies,
                           fixed ? &g->counters->fixed_scale : NULL,
                           g->ao_caller,
                           g->ao_factor,
                           n,
                           plan->basis->ao_num};
    finish<<<dim3(tiles, tiles), dim3(FINISH_TILE, FINISH_TILE), 0, g->stream>>>(a);
    return cudaGetLastError();
}

cudaError_t fmo_gpu_fixed_scale(fmo_gpu_state *g)
{
    bound_args a;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) a.pairs[c] = g->pairs[c];
    a.block_max = g->density_max;
    a.shell_bound = g->shell_bound;
    a.sets = g->sets;
    a.s_sets = g->s_sets;
    a.width = g->sp ? 4 : 3;
    a.bound = &g->counters->fixed_bound;
    a.scale = &g->counters->fixed_scale;
    bound_elements<<<1, BOUND_THREADS, 0, g->stream>>>(a);
    return cudaGetLastError();
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
