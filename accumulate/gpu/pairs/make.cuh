/* Kernels that make shell pairs (make.cu, docs/explanation/gpu/plans.md), and their data.
 *
 * Pairs are found row by row: a row is shell i with some of the shells j that it may precede, in
 * the order of SP shells, and is processed by one warp. The first pass counts; the host then knows
 * where the pairs of each row begin, and allocates memory. The second pass makes primitives, sorted
 * within their pair, and segments. Then follow bounds of segments, which determine their order, and
 * the layout of the lists.
 *
 * Compiled without contraction to fused multiply-adds: primitives have the bits of those of
 * shell_pair.c, and both passes find the same pairs. */
#ifndef FMO_GPU_PAIRS_MAKE_CUH
#define FMO_GPU_PAIRS_MAKE_CUH

#include "accumulate/gpu/pairs/pairs.h"
#include "integrals/eri/eri.h"
#include "integrals/pairs/prim_bound.h"
#include "integrals/pairs/prim_pair.h"

namespace {

__device__ const double exp_table[128][2] = {
#include "integrals/pairs/exp_table.inc"
};

enum {
    CLASSES = FMO_PAIR_LOW_L_COUNT,
    ROW_WARPS = fmo_tuning_gpu_pair_row_warps,   /* warps of a block */
    ROW_PIECES = fmo_tuning_gpu_pair_row_pieces, /* largest number of rows of a shell i */
    SEGMENT_THREADS = fmo_tuning_gpu_pair_segment_threads,
    LAY_THREADS = fmo_tuning_gpu_pair_lay_threads,
    DEPTHS = 3,
    /* The sort key of a segment: plan and class, depth, bound in steps of 2^8. */
    OCTET_BITS = 9,
    DEPTH_BITS = 4
};
static_assert(FMO_GPU_DEPTH_MAX < 1 << DEPTH_BITS, "a depth has bits of its own in a key");
constexpr __host__ __device__ int depth_of(int choice)
{
    return choice == 0   ? fmo_tuning_gpu_depth_small
           : choice == 1 ? fmo_tuning_gpu_depth_middle
                         : fmo_tuning_gpu_depth_large;
}

/* ---- data of the kernels --------------------------------------------------------------------- */

typedef struct gpu_shell {
    double centre[3];
    double smallest, largest; /* exponents */
    int prim_begin, prim_num;
    int partner; /* -1: none */
    int sp_shell, first;
    int pad;
} gpu_shell;

/* Number of lanes that share a pair whose shell i has `prims` primitives. */
__host__ __device__ int row_width(int prims)
{
    return prims <= 32 ? prims : 1;
}

typedef struct molecule {
    const gpu_shell *shell;
    const double *exponent, *coefficient;
    const int *order[FMO_SHELL_LOW_L_COUNT]; /* shells of an angular momentum by their SP shells */
    double threshold;
} molecule;

/* Shell i of a class of a plan with the shells j [begin, end) in their order, and where its
 * segments and primitives go. */
typedef struct row {
    int molecule, pair_class, shell, begin, end;
    unsigned segment, record;
} row;

/* The numbers of primitives of a row, and of segments for each choice of their length. */
typedef struct row_size {
    unsigned records, segments[DEPTHS];
} row_size;

/* A segment before sorting. */
typedef struct segment {
    int i, j;
    unsigned record; /* the pair's first primitive */
    int begin, prims;
    int whole; /* number of primitives of the pair */
} segment;

/* The destination of the segments of a class of a plan. */
typedef struct target {
    unsigned segment; /* the first one of the class */
    int num, tiles;
    int shift; /* functions of an SP shell before those of its p shell */
    size_t records;
    int4 *first;
    fmo_gpu_screen_data *screen;
    unsigned *prim_at, *record_at;
    float *tile_bound;
    double *centre;
    double2 *prim, *record;
    unsigned long long *shell_bound; /* largest Schwarz bound by SP shell; NULL: not needed */
} target;

typedef struct arguments {
    const molecule *of;
    row *rows;
    row_size *sizes;
    int row_num;
    const int *depth; /* [plans] */
    double *bound;    /* [records] bounds of primitives in the order in which they are found */
    double2 *record;  /* [records][FMO_GPU_PAIR_TWOS] those of a pair sorted by bound */
    segment *segments;
    unsigned *key, *order;
    float *segment_bound; /* rounded up */
    const target *to;     /* [plans][CLASSES] */
    unsigned *count;      /* [plans][CLASSES][FMO_GPU_DEPTH_MAX + 1] segments by depth */
    const fmo_boys_table *boys;
} arguments;

/* ---- primitives ----------------------------------------------------------------------------- */

typedef struct found_pair {
    const gpu_shell *A, *B;
    double AB[3], r2;
    int included; /* first primitive of A's partner if the partner's pair is included, or -1 */
} found_pair;

/* Sets *pair to shells i and j; returns false if the class has no such pair in this order or it is
 * negligible. */
template <int pair_class>
__device__ bool find_pair(const molecule &mol, int i, int j, found_pair *pair)
{
    constexpr int li = fmo_pair_ang_mom(pair_class, 0), lj = fmo_pair_ang_mom(pair_class, 1);
    const gpu_shell *const A = &mol.shell[i], *const B = &mol.shell[j];
    if (li == lj && li == 0 && j > i) return false;
    if (li == lj && li > 0 && i != j &&
        !(i > j ? A->largest >= B->largest : A->largest > B->largest))
        return false;
    pair->A = A;
    pair->B = B;
    pair->r2 = 0.0;
    for (int x = 0; x < 3; x++) {
        pair->AB[x] = A->centre[x] - B->centre[x];
        pair->r2 += pair->AB[x] * pair->AB[x];
    }
    pair->included = -1;
    if (fmo_pair_partner(pair_class) != FMO_PAIR_NONE && A->partner >= 0 && B->partner <= i)
        pair->included = mol.shell[A->partner].prim_begin;
    if (mol.threshold > 0.0) {
        const double a = A->smallest, b = B->smallest;
        if (a * b / (a + b) * pair->r2 > FMO_PAIR_DECAY_MAX) return false;
    }
    return true;
}

/* Returns the Schwarz bound of a primitive pair. */
template <int pair_class> __device__ double prim_bound(const double *AB, const double *prim)
{
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) return fmo_prim_bound_##name(AB, prim);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
    return 0.0;
}

/* Returns exp(x) with the same bits as on the host. */
__device__ double decayed(double x)
{
    return x > -512.0 ? fmo_exp_by_table(exp_table, x) : exp(x);
}

/* Makes the primitive pair of primitives k and l of a pair and its bound; returns whether it is
 * kept. */
template <int pair_class>
__device__ __noinline__ bool make_primitive(const molecule &mol, const found_pair &pair, int k,
                                            int l, double *prim, double *ratio, double *bound)
{
    constexpr int partner = fmo_pair_partner(pair_class);
    const int at_a = pair.A->prim_begin + k, at_b = pair.B->prim_begin + l;
    const double a = mol.exponent[at_a], b = mol.exponent[at_b], c_a = mol.coefficient[at_a];
    fmo_prim_pair_make(a, b, c_a, mol.coefficient[at_b],
                       decayed(fmo_prim_pair_decay(a, b, pair.r2)), pair.AB, prim);
    *ratio = pair.included >= 0 ? mol.coefficient[pair.included + k] / c_a : 0.0;
    if (mol.threshold > 0.0 && fabs(prim[FMO_PAIR_K]) < FMO_PAIR_TINY) return false;
    *bound = prim_bound<pair_class>(pair.AB, prim);
    if (partner != FMO_PAIR_NONE)
        *bound = fmax(*bound, fabs(*ratio) * prim_bound<partner>(pair.AB, prim));
    return !(*bound < mol.threshold);
}

/* Number of segments of a pair with `prims` primitives, at most `depth` in each. */
__device__ unsigned segments_of(int prims, int depth)
{
    return (unsigned)((prims + depth - 1) / depth);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* How a warp processes a row: `width` lanes for a pair, each with the primitives [first, end) of
 * shell i, and `pairs` pairs at a time. */
typedef struct lanes {
    int width, pairs;
    int pair, first, end; /* of this lane, which is idle if pair >= pairs */
} lanes;

/* Distributes the lanes of a warp. */
__device__ lanes find_lanes(const gpu_shell &shell, int lane)
{
    lanes own;
    own.width = row_width(shell.prim_num);
    own.pairs = 32 / own.width;
    own.pair = lane / own.width;
    own.first = own.width > 1 ? lane % own.width : 0;
    own.end = own.width > 1 ? own.first + 1 : shell.prim_num;
    return own;
}

/* Returns the number of this lane's primitives of a pair that are kept. */
template <int pair_class>
__device__ int count_primitives(const molecule &mol, const found_pair &pair, const lanes &own)
{
    int kept = 0;
    for (int k = own.first; k < own.end; k++)
        for (int l = 0; l < pair.B->prim_num; l++) {
            double prim[FMO_PAIR_FIELDS], ratio, bound;
            kept += make_primitive<pair_class>(mol, pair, k, l, prim, &ratio, &bound);
        }
    return kept;
}

/* Returns the sum of the values of a pair's lanes; *before: the sum of those of lower lanes. */
__device__ int pair_sum(int value, const lanes &own, int *before)
{
    int sum = 0;
    *before = 0;
    for (int t = 0; t < own.width; t++) {
        const int other = __shfl_sync(~0u, value, (own.pair * own.width + t) & 31);
        if (t < own.first) *before += other;
        sum += other;
    }
    return sum;
}

/* Finds this lane's pair among the row's pairs from `begin` on; returns false if it has none. */
template <int pair_class>
__device__ bool next_pair(const molecule &mol, const row &row, const lanes &own, int begin,
                          found_pair *pair)
{
    const int at = begin + own.pair;
    return own.pair < own.pairs && at < row.end &&
           find_pair<pair_class>(mol, row.shell, mol.order[fmo_pair_ang_mom(pair_class, 1)][at],
                                 pair);
}

/* First pass: counts the primitives and segments of a row. */
template <int pair_class>
__device__ void count_row(const molecule &mol, const row &row, int lane, row_size *size)
{
    const lanes own = find_lanes(mol.shell[row.shell], lane);
    unsigned records = 0, segments[DEPTHS] = {0};
    for (int begin = row.begin; begin < row.end; begin += own.pairs) {
        found_pair pair;
        int earlier, kept = 0;
        if (next_pair<pair_class>(mol, row, own, begin, &pair))
            kept = count_primitives<pair_class>(mol, pair, own);
        kept = pair_sum(kept, own, &earlier);
        if (own.first || own.pair >= own.pairs) kept = 0; /* one lane of a pair counts it */
        records += (unsigned)kept;
        for (int d = 0; d < DEPTHS; d++) segments[d] += segments_of(kept, depth_of(d));
    }
    for (int step = 16; step; step /= 2) {
        records += __shfl_xor_sync(~0u, records, step);
        for (int d = 0; d < DEPTHS; d++) segments[d] += __shfl_xor_sync(~0u, segments[d], step);
    }
    if (lane) return;
    size->records = records;
    for (int d = 0; d < DEPTHS; d++) size->segments[d] = segments[d];
}

/* Returns *total plus the sum of the values of lower lanes, and adds the sum of all lanes to
 * *total. */
__device__ unsigned before(unsigned value, int lane, unsigned *total)
{
    unsigned sum = value;
    for (int step = 1; step < 32; step *= 2) {
        const unsigned other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    const unsigned begin = *total + sum - value;
    *total += __shfl_sync(~0u, sum, 31);
    return begin;
}

/* Writes the bounds of this lane's primitives that are kept, in the order in which they are
 * found. */
template <int pair_class>
__device__ void write_bounds(const molecule &mol, const found_pair &pair, const lanes &own,
                             double *to)
{
    double prim[FMO_PAIR_FIELDS], ratio, bound;
    for (int k = own.first; k < own.end; k++)
        for (int l = 0; l < pair.B->prim_num; l++)
            if (make_primitive<pair_class>(mol, pair, k, l, prim, &ratio, &bound)) *to++ = bound;
}

/* Writes this lane's primitives among the `kept` ones of its pair, whose bounds have been written,
 * to their places in descending order of bounds; equal ones stay in the order in which they are
 * found. own_at: number of the lane's first. */
template <int pair_class>
__device__ void write_primitives(const arguments &a, const molecule &mol, const found_pair &pair,
                                 const lanes &own, unsigned record, int kept, int own_at)
{
    const double *const bounds = a.bound + record;
    double prim[FMO_PAIR_FIELDS], ratio, bound;
    for (int k = own.first; k < own.end; k++)
        for (int l = 0; l < pair.B->prim_num; l++) {
            if (!make_primitive<pair_class>(mol, pair, k, l, prim, &ratio, &bound)) continue;
            int rank = 0;
            for (int n = 0; n < kept; n++)
                rank += bounds[n] > bound || (bounds[n] == bound && n < own_at);
            own_at++;
            double2 *const to = a.record + ((size_t)record + rank) * FMO_GPU_PAIR_TWOS;
            for (int t = 0; t < FMO_PAIR_FIELDS / 2; t++)
                to[t] = make_double2(prim[2 * t], prim[2 * t + 1]);
            to[FMO_PAIR_FIELDS / 2] =
                make_double2(ratio, __hiloint2double(0, __float_as_int((float)bound)));
        }
}

/* Second pass: writes the primitives and segments of a row. */
template <int pair_class>
__device__ void fill_row(const arguments &a, const molecule &mol, const row &row, int lane)
{
    const lanes own = find_lanes(mol.shell[row.shell], lane);
    const int depth = a.depth[row.molecule];
    unsigned records = row.record, segments = row.segment;
    for (int begin = row.begin; begin < row.end; begin += own.pairs) {
        found_pair pair;
        int own_at = 0, some = 0;
        const bool has = next_pair<pair_class>(mol, row, own, begin, &pair);
        if (has) some = count_primitives<pair_class>(mol, pair, own);
        const int kept = pair_sum(some, own, &own_at);
        const bool leads = has && own.first == 0;
        const int num = leads ? (int)segments_of(kept, depth) : 0;
        unsigned record = before(leads ? (unsigned)kept : 0u, lane, &records);
        const unsigned first = before((unsigned)num, lane, &segments);
        record = __shfl_sync(~0u, record, (own.pair * own.width) & 31);
        if (some) write_bounds<pair_class>(mol, pair, own, a.bound + record + own_at);
        __syncwarp();
        if (some) write_primitives<pair_class>(a, mol, pair, own, record, kept, own_at);
        for (int p = 0, from = 0; p < num; p++) {
            const int prims = (kept - from) / (num - p);
            const int j = mol.order[fmo_pair_ang_mom(pair_class, 1)][begin + own.pair];
            const segment one = {row.shell, j, record, from, prims, kept};
            a.segments[first + p] = one;
            from += prims;
        }
    }
}

/* Counts the pairs of each row or, with `fill`, writes them; one warp for each row. */
template <bool fill>
__global__ void __launch_bounds__(32 * ROW_WARPS) process_rows(const __grid_constant__ arguments a)
{
    const int n = blockIdx.x * ROW_WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (n >= a.row_num) return;
    const row own = a.rows[n];
    const molecule &mol = a.of[own.molecule];
#define ROW(P, name, li, lj, partner)                             \
    if (own.pair_class == FMO_PAIR_##P) {                         \
        if constexpr (fill)                                       \
            fill_row<FMO_PAIR_##P>(a, mol, own, lane);            \
        else                                                      \
            count_row<FMO_PAIR_##P>(mol, own, lane, &a.sizes[n]); \
    }
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
}

/* ---- bounds of segments ---------------------------------------------------------------------- */

/* The arithmetic of a class of quartets by its number: the number of sums, the contribution of a
 * primitive quartet to them, and the integrals of a pair with itself. */
constexpr __host__ __device__ int sums_of(int eri_class)
{
#define ROW(e, name, ...) eri_class == e ? eri_##name##_acc:
    return FMO_ERI_LOW_L_TABLE(ROW) 0;
#undef ROW
}
template <int eri_class>
__device__ __forceinline__ void add_quartet(const fmo_prim_quartet *z, double *acc)
{
#define ROW(e, name, ...) \
    if constexpr (eri_class == e) eri_##name##_prim(z, acc);
    FMO_ERI_LOW_L_TABLE(ROW)
#undef ROW
}
template <int eri_class>
__device__ __forceinline__ void finish_quartets(const double *AB, const double *acc,
                                                double *integrals)
{
#define ROW(e, name, ...) \
    if constexpr (eri_class == e) eri_##name##_finish(AB, AB, acc, integrals);
    FMO_ERI_LOW_L_TABLE(ROW)
#undef ROW
}

/* Loads a primitive; included: that of the partner's pair, whose prefactor differs by the ratio. */
__device__ fmo_prim_pair load_primitive(const double2 *record, bool included)
{
    const double2 pk = record[0], xy = record[1], zh = record[2];
    fmo_prim_pair prim = {pk.x, pk.y, {xy.x, xy.y, zh.x}, zh.y};
    if (included) prim.k *= record[FMO_PAIR_FIELDS / 2].x;
    return prim;
}

/* Returns sqrt(max_ab (ab|ab)) of `num` consecutive primitives, or of the partner's pair that they
 * include. The contributions of two primitives, (b|k) and (k|b), are equal: kets run up to the bra,
 * the diagonal counts half and everything is doubled. */
template <int pair_class>
__device__ __noinline__ double schwarz_bound(const fmo_boys_table *boys, const double *AB,
                                             const double2 *record, int num, bool included)
{
    constexpr int diagonal = fmo_eri_class_of(pair_class, pair_class);
    constexpr int order = 2 * fmo_pair_order(pair_class), size = fmo_pair_products(pair_class, 0);
    const double none[3] = {0.0, 0.0, 0.0};
    double acc[sums_of(diagonal)] = {0.0}, integrals[size * size], largest = 0.0;
    for (int b = 0; b < num; b++) {
        fmo_prim_pair bra = load_primitive(record + (size_t)b * FMO_GPU_PAIR_TWOS, included);
        bra.k *= 2.0;
        for (int k = 0; k <= b; k++) {
            fmo_prim_pair ket = load_primitive(record + (size_t)k * FMO_GPU_PAIR_TWOS, included);
            if (k == b) ket.k *= 0.5;
            const fmo_prim_quartet z =
                fmo_prim_quartet_make(boys->row[order][0], order, &bra, &ket, none);
            add_quartet<diagonal>(&z, acc);
        }
    }
    finish_quartets<diagonal>(AB, acc, integrals);
    FMO_UNROLL
    for (int ab = 0; ab < size; ab++) largest = fmax(largest, integrals[ab * size + ab]);
    return sqrt(largest);
}

/* Returns the Schwarz bound of consecutive primitives, that of an included partner's pair
 * included. */
template <int pair_class>
__device__ double bound_of(const arguments &a, const double *AB, const double2 *record, int num)
{
    constexpr int partner = fmo_pair_partner(pair_class);
    double bound = schwarz_bound<pair_class>(a.boys, AB, record, num, false);
    if constexpr (partner != FMO_PAIR_NONE) {
        bool any = false;
        for (int m = 0; m < num; m++)
            any |= record[(size_t)m * FMO_GPU_PAIR_TWOS + FMO_PAIR_FIELDS / 2].x != 0.0;
        if (any) bound = fmax(bound, schwarz_bound<partner>(a.boys, AB, record, num, true));
    }
    return bound;
}

/* Returns the size of a bound in steps of 2^8 (fmo_pair_octet), descending, as a number of
 * OCTET_BITS. */
__device__ unsigned octet_of(double bound)
{
    const int exponent = (__double2hiint(bound) >> 20 & 0x7ff) - 1023;
    return bound > 0.0 ? (unsigned)((1 << (OCTET_BITS - 1)) - (exponent >> 3))
                       : (1u << OCTET_BITS) - 1;
}

/* Computes bound and sort key of one segment and, for the first segment of a pair, updates
 * shell_bound with the bound of the whole pair. */
template <int pair_class> __device__ void bound_segment(const arguments &a, int plan, unsigned at)
{
    const segment own = a.segments[at];
    const molecule &mol = a.of[plan];
    const gpu_shell &A = mol.shell[own.i], &B = mol.shell[own.j];
    const double2 *const record = a.record + (size_t)own.record * FMO_GPU_PAIR_TWOS;
    unsigned long long *const shell_bound = a.to[plan * CLASSES + pair_class].shell_bound;
    double AB[3];
    for (int x = 0; x < 3; x++) AB[x] = A.centre[x] - B.centre[x];
    const double bound =
        bound_of<pair_class>(a, AB, record + (size_t)own.begin * FMO_GPU_PAIR_TWOS, own.prims);
    const unsigned depth = FMO_GPU_DEPTH_MAX - own.prims;
    a.segment_bound[at] = nextafterf((float)bound, INFINITY);
    a.key[at] = (((unsigned)(plan * CLASSES + pair_class) << DEPTH_BITS | depth) << OCTET_BITS) |
                octet_of(bound);
    a.order[at] = at;
    if (!shell_bound || own.begin) return;
    const double whole =
        own.prims == own.whole ? bound : bound_of<pair_class>(a, AB, record, own.whole);
    atomicMax(&shell_bound[A.sp_shell], (unsigned long long)__double_as_longlong(whole));
    atomicMax(&shell_bound[B.sp_shell], (unsigned long long)__double_as_longlong(whole));
}

/* Computes bounds and keys of the segments of a class of a plan (blockIdx.y), and counts the
 * segments of each length. */
__global__ void __launch_bounds__(SEGMENT_THREADS)
    bound_segments(const __grid_constant__ arguments a)
{
    __shared__ unsigned count[FMO_GPU_DEPTH_MAX + 1];
    const target &to = a.to[blockIdx.y];
    const int n = blockIdx.x * SEGMENT_THREADS + threadIdx.x;
    const int plan = blockIdx.y / CLASSES, pair_class = blockIdx.y % CLASSES;
    if ((int)(blockIdx.x * SEGMENT_THREADS) >= to.num) return;
    if (threadIdx.x <= FMO_GPU_DEPTH_MAX) count[threadIdx.x] = 0;
    __syncthreads();
    if (n < to.num) {
        atomicAdd(&count[a.segments[to.segment + n].prims], 1u);
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) bound_segment<FMO_PAIR_##P>(a, plan, to.segment + n);
        FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
    }
    __syncthreads();
    if (threadIdx.x <= FMO_GPU_DEPTH_MAX && count[threadIdx.x])
        atomicAdd(&a.count[blockIdx.y * (FMO_GPU_DEPTH_MAX + 1) + threadIdx.x], count[threadIdx.x]);
}

/* ---- the lists ------------------------------------------------------------------------------ */

/* Writes segment n of the sorted class to the lists; returns its bound. */
__device__ float lay_out_segment(const arguments &a, const target &to, const unsigned *count,
                                 int plan, int n)
{
    const unsigned at = a.order[to.segment + n];
    const segment own = a.segments[at];
    const molecule &mol = a.of[plan];
    const gpu_shell &A = mol.shell[own.i], &B = mol.shell[own.j];
    const double2 *const from = a.record + ((size_t)own.record + own.begin) * FMO_GPU_PAIR_TWOS;
    unsigned first = 0; /* first segment of this length */
    size_t records = 0;
    for (int prims = FMO_GPU_DEPTH_MAX; prims > own.prims; prims--) {
        first += count[prims];
        records += (size_t)count[prims] * prims;
    }
    const unsigned stride = count[own.prims], place = (unsigned)n - first;
    const size_t prim_at = records * FMO_GPU_PAIR_TWOS + place;
    const float bound = a.segment_bound[at];
    records += (size_t)place * own.prims;
    to.first[n] = make_int4(A.first - to.shift, B.first, own.prims, (int)stride);
    to.prim_at[n] = (unsigned)prim_at;
    to.record_at[n] = (unsigned)records;
    unsigned counts = (unsigned)own.prims << FMO_GPU_TALLY_PRIMS;
    if (own.begin == 0)
        counts |= 1u << FMO_GPU_TALLY_PAIRS | (unsigned)(from[FMO_PAIR_FIELDS / 2].x != 0.0)
                                                  << FMO_GPU_TALLY_INCLUDED;
    fmo_gpu_screen_data data;
    data.bound = bound;
    data.coulomb_estimate = 0.0f;
    data.sp_shell = make_ushort2((unsigned short)A.sp_shell, (unsigned short)B.sp_shell);
    data.counts = counts;
    to.screen[n] = data;
    for (int x = 0; x < 3; x++) {
        to.centre[(size_t)x * to.num + n] = A.centre[x];
        to.centre[(size_t)(3 + x) * to.num + n] = A.centre[x] - B.centre[x];
    }
    /* The products of a pair of a shell with itself contain both orders of its functions and count
     * half; in a ps pair of one SP shell this holds for the ss product alone. */
    const double of_prefactor = own.i == own.j ? 0.5 : 1.0,
                 of_ratio = A.sp_shell == B.sp_shell ? 0.5 : 1.0;
    for (int m = 0; m < own.prims; m++)
        for (int t = 0; t < FMO_GPU_PAIR_TWOS; t++) {
            double2 two = from[m * FMO_GPU_PAIR_TWOS + t];
            if (t == FMO_PAIR_K / 2) two.y *= of_prefactor;
            if (t == FMO_GPU_PAIR_RATIO / 2) two.x *= of_ratio;
            to.record[(records + m) * FMO_GPU_PAIR_TWOS + t] = two;
            to.prim[prim_at + (size_t)(m * FMO_GPU_PAIR_TWOS + t) * stride] = two;
        }
    return bound;
}
static_assert(FMO_PAIR_K % 2 == 1 && FMO_GPU_PAIR_RATIO % 2 == 0, "where they stand in a pair");

/* Lays out the lists of a class of a plan (blockIdx.y), one thread for each segment, and computes
 * the largest bound of each tile. */
__global__ void __launch_bounds__(LAY_THREADS) lay_out(const __grid_constant__ arguments a)
{
    const target &to = a.to[blockIdx.y];
    const int n = blockIdx.x * LAY_THREADS + threadIdx.x, tile = n / FMO_GPU_TILE_PAIRS;
    float bound = 0.0f;
    if (!to.record) return; /* a plan that was left out */
    if (n == 0)             /* kernels read one record ahead */
        for (int t = 0; t < FMO_GPU_PAIR_TWOS; t++)
            to.record[to.records * FMO_GPU_PAIR_TWOS + t] =
                to.prim[to.records * FMO_GPU_PAIR_TWOS + t] = make_double2(0.0, 0.0);
    if (n < to.num)
        bound = lay_out_segment(a, to, a.count + blockIdx.y * (FMO_GPU_DEPTH_MAX + 1),
                                blockIdx.y / CLASSES, n);
    for (int step = FMO_GPU_TILE_PAIRS / 2; step; step /= 2)
        bound = fmaxf(bound, __shfl_xor_sync(~0u, bound, step));
    if (tile < to.tiles && threadIdx.x % FMO_GPU_TILE_PAIRS == 0) to.tile_bound[tile] = bound;
}
static_assert(FMO_GPU_TILE_PAIRS == 32, "a warp finds the bound of a tile");

} // namespace

#endif
