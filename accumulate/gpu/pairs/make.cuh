/* The kernels of pairs that are made on the GPU (make.cu, docs/explanation/gpu/plans.md), and what
 * they see.
 *
 * Pairs are looked for row by row: shell i of a row with some of the shells j that it may stand
 * before, in the order of the sets, by one warp. The first pass counts; the host then knows where
 * each row's pairs begin, and asks for memory. The second pass makes primitives, sorted in their
 * pair, and segments; then bounds of segments, from which their order follows; then all is put in
 * its place.
 *
 * Compiled without contraction to fused multiply-adds: primitives have the bits that shell_pair.c
 * would give them, and both passes find the same. */
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
    ROW_WARPS = 4,   /* of a block */
    ROW_PIECES = 16, /* of a shell i */
    SEGMENT_THREADS = 64,
    LAY_THREADS = 128,
    DEPTHS = 3,
    /* The key of a segment: plan and class, depth, bound in steps of 2^8. */
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

/* ---- what kernels see ----------------------------------------------------------------------- */

typedef struct gpu_shell {
    double center[3];
    double smallest, largest; /* exponents */
    int prim_begin, prim_num;
    int partner; /* -1: none */
    int set, first;
    int pad;
} gpu_shell;

/* Lanes of a warp for a pair of a shell i with so many primitives. */
__host__ __device__ int row_width(int prims)
{
    return prims <= 32 ? prims : 1;
}

typedef struct molecule {
    const gpu_shell *shell;
    const double *exponent, *coefficient;
    const int *order[FMO_SHELL_LOW_L_COUNT]; /* shells of a kind by their sets */
    double threshold;
} molecule;

/* Shell i of a class of a plan with some of the shells j in their order, and where the pairs go. */
typedef struct row {
    int molecule, pair_class, shell, begin, end;
    unsigned segment, record;
} row;

/* What a row comes to; segments by depth. */
typedef struct row_size {
    unsigned records, segments[DEPTHS];
} row_size;

/* A segment before sorting. */
typedef struct segment {
    int i, j;
    unsigned record; /* the pair's first */
    int begin, prims;
    int whole; /* primitives of the pair */
} segment;

/* Where the segments of a class of a plan go. */
typedef struct target {
    unsigned segment; /* the first one */
    int num, tiles;
    int shift; /* functions of a set before those of its heavier shell */
    size_t records;
    int4 *first;
    fmo_gpu_screen_data *rule;
    unsigned *prim_at, *record_at;
    float *tile_bound;
    double *center;
    double2 *prim, *record;
    unsigned long long *shell_bound; /* of the plan, by set; NULL: not wanted */
} target;

typedef struct arguments {
    const molecule *of;
    row *rows;
    row_size *sizes;
    int row_num;
    const int *depth; /* [plans] */
    double *bound;    /* [records] of primitives, in the order in which they are found */
    double2 *record;  /* [records][FMO_GPU_PAIR_TWOS], those of a pair by their bounds */
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
    int carried; /* first primitive of the shell that takes A's place in the pair carried, or -1 */
} found_pair;

/* Shells i and j as a pair of a class, if there is one in this order. */
template <int pair_class>
__device__ bool find_pair(const molecule &of, int i, int j, found_pair *pair)
{
    constexpr int li = fmo_pair_ang_mom(pair_class, 0), lj = fmo_pair_ang_mom(pair_class, 1);
    const gpu_shell *const A = &of.shell[i], *const B = &of.shell[j];
    if (li == lj && li == 0 && j > i) return false;
    if (li == lj && li > 0 && i != j &&
        !(i > j ? A->largest >= B->largest : A->largest > B->largest))
        return false;
    pair->A = A;
    pair->B = B;
    pair->r2 = 0.0;
    for (int x = 0; x < 3; x++) {
        pair->AB[x] = A->center[x] - B->center[x];
        pair->r2 += pair->AB[x] * pair->AB[x];
    }
    pair->carried = -1;
    if (fmo_pair_partner(pair_class) != FMO_PAIR_NONE && A->partner >= 0 && B->partner <= i)
        pair->carried = of.shell[A->partner].prim_begin;
    if (of.threshold > 0.0) {
        const double a = A->smallest, b = B->smallest;
        if (a * b / (a + b) * pair->r2 > FMO_PAIR_DECAY_MOST) return false;
    }
    return true;
}

template <int pair_class> __device__ double prim_bound(const double *AB, const double *prim)
{
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) return fmo_prim_bound_##name(AB, prim);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
    return 0.0;
}

__device__ double decayed(double x)
{
    return x > -512.0 ? fmo_exp_by_table(exp_table, x) : exp(x);
}

/* Primitives k and l of a pair: whether they stay, and their bound. */
template <int pair_class>
__device__ __noinline__ bool make_primitive(const molecule &of, const found_pair &pair, int k,
                                            int l, double *prim, double *ratio, double *bound)
{
    constexpr int partner = fmo_pair_partner(pair_class);
    const int at_a = pair.A->prim_begin + k, at_b = pair.B->prim_begin + l;
    const double a = of.exponent[at_a], b = of.exponent[at_b], c_a = of.coefficient[at_a];
    fmo_prim_pair_make(a, b, c_a, of.coefficient[at_b], decayed(fmo_prim_pair_decay(a, b, pair.r2)),
                       pair.AB, prim);
    *ratio = pair.carried >= 0 ? of.coefficient[pair.carried + k] / c_a : 0.0;
    if (of.threshold > 0.0 && fabs(prim[FMO_PAIR_K]) < FMO_PAIR_TINY) return false;
    *bound = prim_bound<pair_class>(pair.AB, prim);
    if (partner != FMO_PAIR_NONE)
        *bound = fmax(*bound, fabs(*ratio) * prim_bound<partner>(pair.AB, prim));
    return !(*bound < of.threshold);
}

__device__ unsigned segments_of(int prims, int depth)
{
    return (unsigned)((prims + depth - 1) / depth);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* How a warp goes through a row: so many lanes for a pair, each with the primitives [first, end) of
 * shell i, and so many pairs at a time. */
typedef struct lanes {
    int width, pairs;
    int pair, first, end; /* of this lane; pair >= pairs: it has none */
} lanes;

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

/* This lane's primitives of a pair that stay. */
template <int pair_class>
__device__ int count_primitives(const molecule &of, const found_pair &pair, const lanes &own)
{
    int kept = 0;
    for (int k = own.first; k < own.end; k++)
        for (int l = 0; l < pair.B->prim_num; l++) {
            double prim[FMO_PAIR_FIELDS], ratio, bound;
            kept += make_primitive<pair_class>(of, pair, k, l, prim, &ratio, &bound);
        }
    return kept;
}

/* Sum of the values of a pair's lanes; *before: of those before this one. */
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

/* Of the row's pairs from `begin` on this lane's, if it has one. */
template <int pair_class>
__device__ bool next_pair(const molecule &of, const row &row, const lanes &own, int begin,
                          found_pair *pair)
{
    const int at = begin + own.pair;
    return own.pair < own.pairs && at < row.end &&
           find_pair<pair_class>(of, row.shell, of.order[fmo_pair_ang_mom(pair_class, 1)][at],
                                 pair);
}

template <int pair_class>
__device__ void count_row(const molecule &of, const row &row, int lane, row_size *size)
{
    const lanes own = find_lanes(of.shell[row.shell], lane);
    unsigned records = 0, segments[DEPTHS] = {0};
    for (int begin = row.begin; begin < row.end; begin += own.pairs) {
        found_pair pair;
        int earlier, kept = 0;
        if (next_pair<pair_class>(of, row, own, begin, &pair))
            kept = count_primitives<pair_class>(of, pair, own);
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

/* Sum of the values of lower lanes; adds that of all to *total. */
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

/* The bounds of this lane's primitives that stay, as they come. */
template <int pair_class>
__device__ void write_bounds(const molecule &of, const found_pair &pair, const lanes &own,
                             double *to)
{
    double prim[FMO_PAIR_FIELDS], ratio, bound;
    for (int k = own.first; k < own.end; k++)
        for (int l = 0; l < pair.B->prim_num; l++)
            if (make_primitive<pair_class>(of, pair, k, l, prim, &ratio, &bound)) *to++ = bound;
}

/* This lane's primitives among the `kept` ones of its pair, whose bounds are there: to their
 * places, in descending order of bounds, equal ones as they come. own_at: the lane's first. */
template <int pair_class>
__device__ void write_primitives(const arguments &a, const molecule &of, const found_pair &pair,
                                 const lanes &own, unsigned record, int kept, int own_at)
{
    const double *const bounds = a.bound + record;
    double prim[FMO_PAIR_FIELDS], ratio, bound;
    for (int k = own.first; k < own.end; k++)
        for (int l = 0; l < pair.B->prim_num; l++) {
            if (!make_primitive<pair_class>(of, pair, k, l, prim, &ratio, &bound)) continue;
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

template <int pair_class>
__device__ void fill_row(const arguments &a, const molecule &of, const row &row, int lane)
{
    const lanes own = find_lanes(of.shell[row.shell], lane);
    const int depth = a.depth[row.molecule];
    unsigned records = row.record, segments = row.segment;
    for (int begin = row.begin; begin < row.end; begin += own.pairs) {
        found_pair pair;
        int own_at = 0, some = 0;
        const bool has = next_pair<pair_class>(of, row, own, begin, &pair);
        if (has) some = count_primitives<pair_class>(of, pair, own);
        const int kept = pair_sum(some, own, &own_at);
        const bool leads = has && own.first == 0;
        const int num = leads ? (int)segments_of(kept, depth) : 0;
        unsigned record = before(leads ? (unsigned)kept : 0u, lane, &records);
        const unsigned first = before((unsigned)num, lane, &segments);
        record = __shfl_sync(~0u, record, (own.pair * own.width) & 31);
        if (some) write_bounds<pair_class>(of, pair, own, a.bound + record + own_at);
        __syncwarp();
        if (some) write_primitives<pair_class>(a, of, pair, own, record, kept, own_at);
        for (int p = 0, from = 0; p < num; p++) {
            const int prims = (kept - from) / (num - p);
            const int j = of.order[fmo_pair_ang_mom(pair_class, 1)][begin + own.pair];
            const segment one = {row.shell, j, record, from, prims, kept};
            a.segments[first + p] = one;
            from += prims;
        }
    }
}

template <bool fill>
__global__ void __launch_bounds__(32 * ROW_WARPS) walk_rows(const __grid_constant__ arguments a)
{
    const int n = blockIdx.x * ROW_WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (n >= a.row_num) return;
    const row own = a.rows[n];
    const molecule &of = a.of[own.molecule];
#define ROW(P, name, li, lj, partner)                            \
    if (own.pair_class == FMO_PAIR_##P) {                        \
        if constexpr (fill)                                      \
            fill_row<FMO_PAIR_##P>(a, of, own, lane);            \
        else                                                     \
            count_row<FMO_PAIR_##P>(of, own, lane, &a.sizes[n]); \
    }
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
}

/* ---- bounds of segments ------------------------------------------------------------------------
 */

/* The arithmetic of a class of quartets by its number: its sums, what a primitive quartet adds to
 * them, and integrals of a pair with itself. */
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

__device__ fmo_prim_pair load_primitive(const double2 *record, bool carried)
{
    const double2 pk = record[0], xy = record[1], zh = record[2];
    fmo_prim_pair prim = {pk.x, pk.y, {xy.x, xy.y, zh.x}, zh.y};
    if (carried) prim.k *= record[FMO_PAIR_FIELDS / 2].x;
    return prim;
}

/* sqrt(max_ab (ab|ab)) of primitives that stand one after the other, or of what they carry. Those
 * of two primitives, bk and kb, are the same: kets go up to the bra, which counts half, and all of
 * it twice. */
template <int pair_class>
__device__ __noinline__ double schwarz_bound(const fmo_boys_table *boys, const double *AB,
                                             const double2 *record, int num, bool carried)
{
    constexpr int diagonal = fmo_eri_class_of(pair_class, pair_class);
    constexpr int order = 2 * fmo_pair_order(pair_class), size = fmo_pair_products(pair_class, 0);
    const double none[3] = {0.0, 0.0, 0.0};
    double acc[sums_of(diagonal)] = {0.0}, integrals[size * size], largest = 0.0;
    for (int b = 0; b < num; b++) {
        fmo_prim_pair bra = load_primitive(record + (size_t)b * FMO_GPU_PAIR_TWOS, carried);
        bra.k *= 2.0;
        for (int k = 0; k <= b; k++) {
            fmo_prim_pair ket = load_primitive(record + (size_t)k * FMO_GPU_PAIR_TWOS, carried);
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

/* How small a bound is, in factors of 2^8 (fmo_pair_octet), as a number of OCTET_BITS. */
__device__ unsigned octet_of(double bound)
{
    const int exponent = (__double2hiint(bound) >> 20 & 0x7ff) - 1023;
    return bound > 0.0 ? (unsigned)((1 << (OCTET_BITS - 1)) - (exponent >> 3))
                       : (1u << OCTET_BITS) - 1;
}

template <int pair_class> __device__ void bound_part(const arguments &a, int plan, unsigned at)
{
    const segment own = a.segments[at];
    const molecule &of = a.of[plan];
    const gpu_shell &A = of.shell[own.i], &B = of.shell[own.j];
    const double2 *const record = a.record + (size_t)own.record * FMO_GPU_PAIR_TWOS;
    unsigned long long *const shell_bound = a.to[plan * CLASSES + pair_class].shell_bound;
    double AB[3];
    for (int x = 0; x < 3; x++) AB[x] = A.center[x] - B.center[x];
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
    atomicMax(&shell_bound[A.set], (unsigned long long)__double_as_longlong(whole));
    atomicMax(&shell_bound[B.set], (unsigned long long)__double_as_longlong(whole));
}

/* blockIdx.y: a class of a plan. */
__global__ void __launch_bounds__(SEGMENT_THREADS) bound_parts(const __grid_constant__ arguments a)
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
    if (pair_class == FMO_PAIR_##P) bound_part<FMO_PAIR_##P>(a, plan, to.segment + n);
        FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
    }
    __syncthreads();
    if (threadIdx.x <= FMO_GPU_DEPTH_MAX && count[threadIdx.x])
        atomicAdd(&a.count[blockIdx.y * (FMO_GPU_DEPTH_MAX + 1) + threadIdx.x], count[threadIdx.x]);
}

/* ---- the lists ------------------------------------------------------------------------------ */

/* Segment n of a class in its order; returns its bound. */
__device__ float lay_out_part(const arguments &a, const target &to, const unsigned *count, int plan,
                              int n)
{
    const unsigned at = a.order[to.segment + n];
    const segment own = a.segments[at];
    const molecule &of = a.of[plan];
    const gpu_shell &A = of.shell[own.i], &B = of.shell[own.j];
    const double2 *const from = a.record + ((size_t)own.record + own.begin) * FMO_GPU_PAIR_TWOS;
    unsigned first = 0; /* of this depth */
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
                                                  << FMO_GPU_TALLY_CARRIED;
    fmo_gpu_screen_data rule;
    rule.bound = bound;
    rule.coulomb_estimate = 0.0f;
    rule.set = make_ushort2((unsigned short)A.set, (unsigned short)B.set);
    rule.counts = counts;
    to.rule[n] = rule;
    for (int x = 0; x < 3; x++) {
        to.center[(size_t)x * to.num + n] = A.center[x];
        to.center[(size_t)(3 + x) * to.num + n] = A.center[x] - B.center[x];
    }
    /* In a pair of one shell with itself all products interact themselves and count half; in a ps
     * pair of one set only the ss product does. */
    const double of_prefactor = own.i == own.j ? 0.5 : 1.0, of_ratio = A.set == B.set ? 0.5 : 1.0;
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

__global__ void __launch_bounds__(LAY_THREADS) lay_out(const __grid_constant__ arguments a)
{
    const target &to = a.to[blockIdx.y];
    const int n = blockIdx.x * LAY_THREADS + threadIdx.x, tile = n / FMO_GPU_TILE_PAIRS;
    float bound = 0.0f;
    if (!to.record) return; /* a plan that was left out */
    if (n == 0)             /* kernels look one record ahead */
        for (int t = 0; t < FMO_GPU_PAIR_TWOS; t++)
            to.record[to.records * FMO_GPU_PAIR_TWOS + t] =
                to.prim[to.records * FMO_GPU_PAIR_TWOS + t] = make_double2(0.0, 0.0);
    if (n < to.num)
        bound = lay_out_part(a, to, a.count + blockIdx.y * (FMO_GPU_DEPTH_MAX + 1),
                             blockIdx.y / CLASSES, n);
    for (int step = FMO_GPU_TILE_PAIRS / 2; step; step /= 2)
        bound = fmaxf(bound, __shfl_xor_sync(~0u, bound, step));
    if (tile < to.tiles && threadIdx.x % FMO_GPU_TILE_PAIRS == 0) to.tile_bound[tile] = bound;
}
static_assert(FMO_GPU_TILE_PAIRS == 32, "a warp finds the bound of a tile");

} // namespace

#endif
