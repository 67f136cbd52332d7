/* Sp pairs made on the GPU, for one plan or for several at a time (docs/gpu/plans.md): shells go
 * up, sizes come down, and the lists are left where the kernels want them (types.cuh).
 *
 * Pairs are looked for row by row: shell i of a row with some of the shells j that it may stand
 * before, in the order of the sets, by one warp. The first pass counts; the host then knows where
 * each row's pairs begin, and asks for memory. The second pass makes primitives, sorted in their
 * pair, and parts; then bounds of parts, from which their order follows; then all is put in its
 * place. Parts come in the order of sets, so that a stable sort by depth and bound is the whole
 * order (rules/pair_order.h).
 *
 * This file is compiled without contraction to fused multiply-adds: primitives have the bits that
 * shell_pair.c would give them, and both passes find the same. */
#include "accumulate/gpu/pairs/pairs.h"

#include <cub/device/device_radix_sort.cuh>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrals/eri/eri.h"
#include "integrals/pairs/prim_bound.h"
#include "integrals/pairs/prim_pair.h"

namespace {

__device__ const double exp_table[128][2] = {
#include "integrals/pairs/exp_table.inc"
};

enum {
    CLASSES = FMO_PAIR_LIGHT_COUNT,
    ROW_WARPS = 4,   /* of a block */
    ROW_PIECES = 16, /* of a shell i */
    PART_THREADS = 64,
    LAY_THREADS = 128,
    DEPTHS = 3,
    /* The key of a part: plan and class, depth, bound in steps of 2^8. */
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
    const int *order[FMO_SHELL_LIGHT_COUNT]; /* shells of a kind by their sets */
    double threshold;
} molecule;

/* Shell i of a class of a plan with some of the shells j in their order, and where the pairs go. */
typedef struct row {
    int molecule, pair_class, shell, begin, end;
    unsigned part, record;
} row;

/* What a row comes to; parts by depth. */
typedef struct row_size {
    unsigned records, parts[DEPTHS];
} row_size;

/* A part before sorting. */
typedef struct part {
    int i, j;
    unsigned record; /* the pair's first */
    int begin, prims;
    int whole; /* primitives of the pair */
} part;

/* Where the parts of a class of a plan go. */
typedef struct target {
    unsigned part; /* the first one */
    int num, tiles;
    int shift; /* functions of a set before those of its heavier shell */
    size_t records;
    int4 *first;
    fmo_gpu_rule *rule;
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
    part *parts;
    unsigned *key, *order;
    float *part_bound; /* rounded up */
    const target *to;  /* [plans][CLASSES] */
    unsigned *count;   /* [plans][CLASSES][FMO_GPU_DEPTH_MAX + 1] parts by depth */
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
    FMO_PAIR_LIGHT_TABLE(ROW)
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

__device__ unsigned parts_of(int prims, int depth)
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
    unsigned records = 0, parts[DEPTHS] = {0};
    for (int begin = row.begin; begin < row.end; begin += own.pairs) {
        found_pair pair;
        int earlier, kept = 0;
        if (next_pair<pair_class>(of, row, own, begin, &pair))
            kept = count_primitives<pair_class>(of, pair, own);
        kept = pair_sum(kept, own, &earlier);
        if (own.first || own.pair >= own.pairs) kept = 0; /* one lane of a pair counts it */
        records += (unsigned)kept;
        for (int d = 0; d < DEPTHS; d++) parts[d] += parts_of(kept, depth_of(d));
    }
    for (int step = 16; step; step /= 2) {
        records += __shfl_xor_sync(~0u, records, step);
        for (int d = 0; d < DEPTHS; d++) parts[d] += __shfl_xor_sync(~0u, parts[d], step);
    }
    if (lane) return;
    size->records = records;
    for (int d = 0; d < DEPTHS; d++) size->parts[d] = parts[d];
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
    unsigned records = row.record, parts = row.part;
    for (int begin = row.begin; begin < row.end; begin += own.pairs) {
        found_pair pair;
        int own_at = 0, some = 0;
        const bool has = next_pair<pair_class>(of, row, own, begin, &pair);
        if (has) some = count_primitives<pair_class>(of, pair, own);
        const int kept = pair_sum(some, own, &own_at);
        const bool leads = has && own.first == 0;
        const int num = leads ? (int)parts_of(kept, depth) : 0;
        unsigned record = before(leads ? (unsigned)kept : 0u, lane, &records);
        const unsigned first = before((unsigned)num, lane, &parts);
        record = __shfl_sync(~0u, record, (own.pair * own.width) & 31);
        if (some) write_bounds<pair_class>(of, pair, own, a.bound + record + own_at);
        __syncwarp();
        if (some) write_primitives<pair_class>(a, of, pair, own, record, kept, own_at);
        for (int p = 0, from = 0; p < num; p++) {
            const int prims = (kept - from) / (num - p);
            const int j = of.order[fmo_pair_ang_mom(pair_class, 1)][begin + own.pair];
            const part one = {row.shell, j, record, from, prims, kept};
            a.parts[first + p] = one;
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
    FMO_PAIR_LIGHT_TABLE(ROW)
#undef ROW
}

/* ---- bounds of parts ------------------------------------------------------------------------ */

/* The arithmetic of a class of quartets by its number: its sums, what a primitive quartet adds to
 * them, and integrals of a pair with itself. */
constexpr __host__ __device__ int sums_of(int eri_class)
{
#define ROW(e, name, ...) eri_class == e ? eri_##name##_acc:
    return FMO_ERI_LIGHT_TABLE(ROW) 0;
#undef ROW
}
template <int eri_class>
__device__ __forceinline__ void add_quartet(const fmo_prim_quartet *z, double *acc)
{
#define ROW(e, name, ...) \
    if constexpr (eri_class == e) eri_##name##_prim(z, acc);
    FMO_ERI_LIGHT_TABLE(ROW)
#undef ROW
}
template <int eri_class>
__device__ __forceinline__ void finish_quartets(const double *AB, const double *acc,
                                                double *integrals)
{
#define ROW(e, name, ...) \
    if constexpr (eri_class == e) eri_##name##_finish(AB, AB, acc, integrals);
    FMO_ERI_LIGHT_TABLE(ROW)
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
    const part own = a.parts[at];
    const molecule &of = a.of[plan];
    const gpu_shell &A = of.shell[own.i], &B = of.shell[own.j];
    const double2 *const record = a.record + (size_t)own.record * FMO_GPU_PAIR_TWOS;
    unsigned long long *const shell_bound = a.to[plan * CLASSES + pair_class].shell_bound;
    double AB[3];
    for (int x = 0; x < 3; x++) AB[x] = A.center[x] - B.center[x];
    const double bound =
        bound_of<pair_class>(a, AB, record + (size_t)own.begin * FMO_GPU_PAIR_TWOS, own.prims);
    const unsigned depth = FMO_GPU_DEPTH_MAX - own.prims;
    a.part_bound[at] = nextafterf((float)bound, INFINITY);
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
__global__ void __launch_bounds__(PART_THREADS) bound_parts(const __grid_constant__ arguments a)
{
    __shared__ unsigned count[FMO_GPU_DEPTH_MAX + 1];
    const target &to = a.to[blockIdx.y];
    const int n = blockIdx.x * PART_THREADS + threadIdx.x;
    const int plan = blockIdx.y / CLASSES, pair_class = blockIdx.y % CLASSES;
    if ((int)(blockIdx.x * PART_THREADS) >= to.num) return;
    if (threadIdx.x <= FMO_GPU_DEPTH_MAX) count[threadIdx.x] = 0;
    __syncthreads();
    if (n < to.num) {
        atomicAdd(&count[a.parts[to.part + n].prims], 1u);
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) bound_part<FMO_PAIR_##P>(a, plan, to.part + n);
        FMO_PAIR_LIGHT_TABLE(ROW)
#undef ROW
    }
    __syncthreads();
    if (threadIdx.x <= FMO_GPU_DEPTH_MAX && count[threadIdx.x])
        atomicAdd(&a.count[blockIdx.y * (FMO_GPU_DEPTH_MAX + 1) + threadIdx.x], count[threadIdx.x]);
}

/* ---- the lists ------------------------------------------------------------------------------ */

/* Part n of a class in its order; returns its bound. */
__device__ float lay_out_part(const arguments &a, const target &to, const unsigned *count, int plan,
                              int n)
{
    const unsigned at = a.order[to.part + n];
    const part own = a.parts[at];
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
    const float bound = a.part_bound[at];
    records += (size_t)place * own.prims;
    to.first[n] = make_int4(A.first - to.shift, B.first, own.prims, (int)stride);
    to.prim_at[n] = (unsigned)prim_at;
    to.record_at[n] = (unsigned)records;
    unsigned counts = (unsigned)own.prims << FMO_GPU_TALLY_PRIMS;
    if (own.begin == 0)
        counts |= 1u << FMO_GPU_TALLY_PAIRS | (unsigned)(from[FMO_PAIR_FIELDS / 2].x != 0.0)
                                                  << FMO_GPU_TALLY_CARRIED;
    fmo_gpu_rule rule;
    rule.bound = bound;
    rule.influence = 0.0f;
    rule.set = make_ushort2((unsigned short)A.set, (unsigned short)B.set);
    rule.counts = counts;
    to.rule[n] = rule;
    for (int x = 0; x < 3; x++) {
        to.center[(size_t)x * to.num + n] = A.center[x];
        to.center[(size_t)(3 + x) * to.num + n] = A.center[x] - B.center[x];
    }
    /* In a pair of one shell with itself all products meet themselves and count half; in a ps pair
     * of one set only the ss product does. */
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

/* ---- the host's part ------------------------------------------------------------------------ */

/* What is made for some plans, in two pieces of memory: `up` as it is copied to the GPU. */
typedef struct making {
    fmo_fock_plan *const *plan;
    int num;
    fmo_gpu_device *device; /* the first one's, with its stream */
    char *up, *up_at;       /* host; device */
    size_t up_bytes, used;
    void *work; /* device */
    size_t work_bytes;
    molecule *of;
    row *rows;
    int row_num;
    int *depth;
    const int *order[FMO_PLANS_TOGETHER]; /* of the shells of each, s, then p */
    target *to;
    row_size *sizes; /* host */
    arguments args;
} making;

/* Room for n elements in `up`, and where it is on the device. */
template <class T> T *put(making *m, size_t n, T **on_device)
{
    T *const at = (T *)(m->up + m->used);
    *on_device = (T *)(m->up_at + m->used);
    m->used += (n * sizeof(T) + 255) / 256 * 256;
    return at;
}

int light_shells(const fmo_basis *b)
{
    int num = 0;
    for (int l = 0; l < FMO_SHELL_LIGHT_COUNT; l++) num += b->shell_num_l[l];
    return num;
}

/* Shells i (side 0) or j of a class: of a pair that others carry those without partner. */
int shells_of(const fmo_gpu_state *g, const fmo_basis *b, int pair_class, int side)
{
    return fmo_pair_carrier(pair_class) != FMO_PAIR_NONE
               ? g->functions.s_sets
               : b->shell_num_l[fmo_pair_ang_mom(pair_class, side)];
}

/* Shells j of a row: as few as a warp takes at a time, but no more than ROW_PIECES rows for a shell
 * i with so many primitives. */
int piece_of(int shells, int prims)
{
    const int pairs = 32 / row_width(prims), most = pairs * ROW_PIECES;
    return pairs * ((shells + most - 1) / most);
}

/* The most rows that a class has. */
size_t most_rows(const fmo_gpu_state *g, const fmo_basis *b, int pair_class)
{
    return shells_of(g, b, pair_class, 1) ? (size_t)shells_of(g, b, pair_class, 0) * ROW_PIECES : 0;
}

/* Shells of a plan, and their order. */
void put_molecule(making *m, int k, int *partner)
{
    const fmo_fock_plan *const plan = m->plan[k];
    const fmo_basis *const b = plan->basis;
    const fmo_gpu_functions *const f = &plan->gpu->functions;
    const int shells = light_shells(b), s_num = b->shell_num_l[0];
    molecule *const of = &m->of[k];
    gpu_shell *shell, *shell_at;
    double *exponent, *exponent_at, *coefficient, *coefficient_at;
    int *order, *order_at;
    shell = put(m, (size_t)shells, &shell_at);
    exponent = put(m, (size_t)b->prim_num, &exponent_at);
    coefficient = put(m, (size_t)b->prim_num, &coefficient_at);
    order = put(m, (size_t)shells, &order_at);
    fmo_sp_partners(b, partner);
    memcpy(exponent, b->exponent, (size_t)b->prim_num * sizeof *exponent);
    memcpy(coefficient, b->coefficient, (size_t)b->prim_num * sizeof *coefficient);
    int *const p_order = order + s_num;
    m->order[k] = order;
    for (int i = 0; i < shells; i++) {
        const fmo_shell *const from = &b->shell[i];
        gpu_shell *const to = &shell[i];
        memset(to, 0, sizeof *to);
        memcpy(to->center, from->center, sizeof to->center);
        to->smallest = to->largest = b->exponent[from->prim_begin];
        for (int p = from->prim_begin + 1; p < from->prim_begin + from->prim_num; p++) {
            to->smallest = fmin(to->smallest, b->exponent[p]);
            to->largest = fmax(to->largest, b->exponent[p]);
        }
        to->prim_begin = from->prim_begin;
        to->prim_num = from->prim_num;
        to->partner = partner[i];
        to->set = f->set_of_shell[i];
        to->first = fmo_gpu_first_function(f, b, i);
        if (i >= s_num)
            p_order[to->set - f->s_sets] = i;
        else if (to->partner < 0)
            order[to->set] = i;
    }
    for (int p = 0, s = f->s_sets; p < shells - s_num; p++)
        if (partner[p_order[p]] >= 0) order[s++] = partner[p_order[p]];
    of->shell = shell_at;
    of->exponent = exponent_at;
    of->coefficient = coefficient_at;
    of->order[0] = order_at;
    of->order[1] = order_at + s_num;
    of->threshold = fmo_shell_pairs_threshold(&plan->pairs);
}
static_assert(FMO_SHELL_LIGHT_COUNT == 2, "s shells, then p shells");

void put_rows(making *m, int k)
{
    const fmo_fock_plan *const plan = m->plan[k];
    const fmo_basis *const b = plan->basis;
    const int *const order = m->order[k], *const p_order = order + b->shell_num_l[0];
    for (int c = 0; c < CLASSES; c++) {
        const int num = shells_of(plan->gpu, b, c, 0), others = shells_of(plan->gpu, b, c, 1);
        const int *const first = fmo_pair_ang_mom(c, 0) ? p_order : order;
        for (int n = 0; n < num; n++) {
            const int piece = piece_of(others, b->shell[first[n]].prim_num);
            for (int begin = 0; begin < others; begin += piece) {
                const int end = begin + piece < others ? begin + piece : others;
                const row own = {k, c, first[n], begin, end, 0, 0};
                m->rows[m->row_num++] = own;
            }
        }
    }
}

/* Bytes of `up`, and rows at most. */
size_t measure(const making *m, int *rows)
{
    size_t bytes = 0, all = 0;
    *rows = 0;
    for (int k = 0; k < m->num; k++) {
        const fmo_basis *const b = m->plan[k]->basis;
        const size_t shells = (size_t)light_shells(b), prims = (size_t)b->prim_num;
        bytes += shells * (sizeof(gpu_shell) + sizeof(int)) + 2 * prims * sizeof(double) + 4 * 256;
        for (int c = 0; c < CLASSES; c++) all += most_rows(m->plan[k]->gpu, b, c);
    }
    *rows = (int)all;
    bytes += (size_t)m->num * (sizeof(molecule) + sizeof(int) + CLASSES * sizeof(target)) +
             all * sizeof(row) + 4 * 256;
    return (bytes + 255) / 256 * 256;
}

int blocks_for(int num, int of_block)
{
    return (num + of_block - 1) / of_block;
}

/* Shells up, sizes of rows down. */
fmo_status count_pairs(making *m, fmo_error *err)
{
    int rows = 0, shells = 1;
    const cudaStream_t stream = m->device->stream;
    m->up_bytes = measure(m, &rows);
    for (int k = 0; k < m->num; k++)
        if (m->plan[k]->basis->shell_num > shells) shells = m->plan[k]->basis->shell_num;
    const size_t size_bytes = ((size_t)rows + 1) * sizeof(row_size);
    int *const partner = (int *)malloc((size_t)shells * sizeof *partner);
    m->up = (char *)calloc(1, m->up_bytes);
    m->sizes = (row_size *)malloc(size_bytes);
    if (!partner || !m->up || !m->sizes) {
        free(partner);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d rows of shell pairs", rows);
    }
    const fmo_status status =
        fmo_gpu_alloc(m->device, "shells", m->up_bytes + size_bytes, (void **)&m->up_at, err);
    if (status == FMO_OK) {
        molecule *of_at;
        m->of = put(m, (size_t)m->num, &of_at);
        m->depth = put(m, (size_t)m->num, (int **)&m->args.depth);
        m->to = put(m, (size_t)m->num * CLASSES, (target **)&m->args.to);
        for (int k = 0; k < m->num; k++) put_molecule(m, k, partner);
        m->rows = put(m, 0, &m->args.rows); /* the last: there may be fewer */
        for (int k = 0; k < m->num; k++) put_rows(m, k);
        m->used += (size_t)m->row_num * sizeof *m->rows;
        m->args.of = of_at;
        m->args.row_num = m->row_num;
        m->args.sizes = (row_size *)(m->up_at + m->up_bytes);
    }
    free(partner);
    if (status != FMO_OK || !m->row_num) return status;
    FMO_GPU_CHECK(cudaMemcpyAsync(m->up_at, m->up, m->used, cudaMemcpyHostToDevice, stream),
                  "copying shells", err);
    walk_rows<false><<<blocks_for(m->row_num, ROW_WARPS), 32 * ROW_WARPS, 0, stream>>>(m->args);
    FMO_GPU_CHECK(cudaGetLastError(), "counting shell pairs", err);
    FMO_GPU_CHECK(cudaMemcpyAsync(m->sizes, m->args.sizes, (size_t)m->row_num * sizeof *m->sizes,
                                  cudaMemcpyDeviceToHost, stream),
                  "counting shell pairs", err);
    FMO_GPU_CHECK(cudaStreamSynchronize(stream), "counting shell pairs", err);
    return FMO_OK;
}

/* What is known of a plan's pairs now: their primitives, and with them the depth of parts. rows:
 * those of the plan. */
int find_depth(fmo_gpu_state *g, const row *rows, const row_size *sizes, int num)
{
    for (int n = 0; n < num; n++) g->prim_num[rows[n].pair_class] += (int64_t)sizes[n].records;
    fmo_gpu_count_primitive_quartets(g);
    const int depth = fmo_gpu_contraction_depth(g->primitives);
    for (int d = 0; d < DEPTHS; d++)
        if (depth_of(d) == depth) return d;
    return 0;
}

/* Numbers of pairs of a plan, and what follows from them; bytes of what it will ask for. */
fmo_status size_plan(const fmo_fock_plan *plan, const row *rows, const row_size *sizes, int num,
                     int d, size_t *bytes, fmo_error *err)
{
    fmo_gpu_state *const g = plan->gpu;
    size_t parts[CLASSES] = {};
    for (int n = 0; n < num; n++) parts[rows[n].pair_class] += sizes[n].parts[d];
    for (int c = 0; c < CLASSES; c++) {
        const size_t values = (size_t)(g->prim_num[c] + 1) * FMO_GPU_PAIR_FIELDS;
        if (values / 2 > UINT32_MAX || g->functions.nao > UINT16_MAX ||
            parts[c] > FMO_GPU_PAIRS_MAX)
            return fmo_error_set(err, FMO_ERR_MEMORY,
                                 "%zu pairs of shells, %lld of primitives, %d functions are more "
                                 "than the GPU's indices hold",
                                 parts[c], (long long)g->prim_num[c], g->functions.nao);
        g->pairs[c].num = (int)parts[c];
        g->arrays.sums_size += parts[c] * (size_t)fmo_pair_products(c, g->functions.sp);
    }
    const fmo_status status = fmo_gpu_make_work(plan, g, err);
    if (status == FMO_OK) *bytes = fmo_gpu_state_bytes(plan);
    return status;
}

/* Memory of a class of a plan. */
fmo_status place_list(fmo_gpu_state *g, int pair_class, target *to, fmo_error *err)
{
    const int sp = g->functions.sp;
    fmo_gpu_pairs *const pairs = &g->pairs[pair_class];
    const size_t records = (size_t)g->prim_num[pair_class];
    const fmo_gpu_list_arrays lists = fmo_gpu_find_list_arrays(
        pairs, pair_class, (size_t)pairs->num, (records + 1) * FMO_GPU_PAIR_FIELDS, sp);
    const fmo_status status =
        fmo_gpu_place_arrays(&g->device, "shell pairs", lists.array, lists.num, err);
    if (status != FMO_OK) return status;
    to->num = pairs->num;
    to->tiles = pairs->num / FMO_GPU_TILE_PAIRS + 1;
    to->shift = fmo_pair_functions(pair_class, 0, sp) - fmo_pair_functions(pair_class, 0, 0);
    to->records = records;
    to->first = (int4 *)pairs->first;
    to->rule = pairs->rule;
    to->prim_at = (unsigned *)pairs->prim_at;
    to->record_at = (unsigned *)pairs->record_at;
    to->tile_bound = (float *)pairs->tile_bound;
    to->center = (double *)pairs->center;
    to->prim = (double2 *)pairs->prim;
    to->record = (double2 *)pairs->record;
    to->shell_bound = (unsigned long long *)g->arrays.shell_bound;
    return FMO_OK;
}

/* Memory of a plan, which is used on a stream first; nothing is made of one that fails. */
fmo_status place_plan(const fmo_fock_plan *plan, cudaStream_t stream, target *to, fmo_error *err)
{
    fmo_gpu_state *const g = plan->gpu;
    const size_t bytes = (size_t)g->functions.sets * sizeof *g->arrays.shell_bound;
    fmo_status status = FMO_OK;
    if (fmo_scatter_sums_integers(plan->options.scatter))
        status = fmo_gpu_alloc(&g->device, "Schwarz bounds", bytes, (void **)&g->arrays.shell_bound,
                               err);
    for (int c = 0; c < CLASSES && status == FMO_OK; c++) status = place_list(g, c, &to[c], err);
    if (status != FMO_OK) return status;
    if (g->device.placed)
        FMO_GPU_CHECK(cudaStreamWaitEvent(stream, g->device.placed, 0), "shell pairs", err);
    if (g->arrays.shell_bound)
        FMO_GPU_CHECK(cudaMemsetAsync(g->arrays.shell_bound, 0, bytes, stream), "Schwarz bounds",
                      err);
    return FMO_OK;
}

/* The second pass and all that follows. */
fmo_status fill(making *m, size_t records, size_t parts, int most, fmo_error *err)
{
    arguments *const a = &m->args;
    const cudaStream_t stream = m->device->stream;
    const size_t counts = (size_t)m->num * CLASSES * (FMO_GPU_DEPTH_MAX + 1);
    unsigned *key_out = NULL, *order_out = NULL;
    char *temporary = NULL;
    size_t temporary_bytes = 0;
    int key_bits = DEPTH_BITS + OCTET_BITS;
    while (m->num * CLASSES > 1 << (key_bits - DEPTH_BITS - OCTET_BITS)) key_bits++;
    FMO_GPU_CHECK(cub::DeviceRadixSort::SortPairs(NULL, temporary_bytes, a->key, key_out, a->order,
                                                  order_out, (int)parts, 0, key_bits, stream),
                  "sorting shell pairs", err);
    const fmo_gpu_array arrays[] = {
        {records * sizeof *a->bound, (void **)&a->bound, NULL},
        {records * FMO_GPU_PAIR_TWOS * sizeof *a->record, (void **)&a->record, NULL},
        {parts * sizeof *a->parts, (void **)&a->parts, NULL},
        {parts * sizeof *a->key, (void **)&a->key, NULL},
        {parts * sizeof *a->key, (void **)&key_out, NULL},
        {parts * sizeof *a->order, (void **)&a->order, NULL},
        {parts * sizeof *a->order, (void **)&order_out, NULL},
        {parts * sizeof *a->part_bound, (void **)&a->part_bound, NULL},
        {counts * sizeof *a->count, (void **)&a->count, NULL},
        {temporary_bytes, (void **)&temporary, NULL},
    };
    const int num = sizeof arrays / sizeof *arrays;
    m->work_bytes = fmo_gpu_arrays_bytes(arrays, num);
    /* in memory that the first plan will use later, if there is enough */
    void *memory = fmo_gpu_stock_left(m->device, m->work_bytes);
    if (!memory) {
        const fmo_status status = fmo_gpu_alloc_passing(m->device, "shell pairs on their way",
                                                        m->work_bytes, &m->work, err);
        if (status != FMO_OK) return status;
        memory = m->work;
    }
    fmo_gpu_put_arrays(memory, arrays, num);
    FMO_GPU_CHECK(fmo_gpu_boys(&a->boys), "the table of the Boys function", err);
    FMO_GPU_CHECK(cudaMemcpyAsync(m->up_at, m->up, m->used, cudaMemcpyHostToDevice, stream),
                  "copying shells", err);
    FMO_GPU_CHECK(cudaMemsetAsync(a->count, 0, counts * sizeof *a->count, stream),
                  "making shell pairs", err);
    if (m->row_num)
        walk_rows<true><<<blocks_for(m->row_num, ROW_WARPS), 32 * ROW_WARPS, 0, stream>>>(*a);
    FMO_GPU_CHECK(cudaGetLastError(), "making shell pairs", err);
    const dim3 bounds(blocks_for(most, PART_THREADS), m->num * CLASSES);
    bound_parts<<<bounds, PART_THREADS, 0, stream>>>(*a);
    FMO_GPU_CHECK(cudaGetLastError(), "bounds of shell pairs", err);
    FMO_GPU_CHECK(cub::DeviceRadixSort::SortPairs(temporary, temporary_bytes, a->key, key_out,
                                                  a->order, order_out, (int)parts, 0, key_bits,
                                                  stream),
                  "sorting shell pairs", err);
    a->order = order_out;
    const dim3 lists(blocks_for(most + FMO_GPU_TILE_PAIRS, LAY_THREADS), m->num * CLASSES);
    lay_out<<<lists, LAY_THREADS, 0, stream>>>(*a);
    FMO_GPU_CHECK(cudaGetLastError(), "laying out shell pairs", err);
    return FMO_OK;
}

/* From the sizes of rows on. A plan that there is no memory for is left out. */
fmo_status make_lists(making *m, fmo_error *errs, fmo_error *err)
{
    fmo_gpu_device *stocked[FMO_PLANS_TOGETHER];
    size_t bytes[FMO_PLANS_TOGETHER], records = 0, parts = 0;
    size_t left = m->plan[0]->gpu->available; /* of the GPU's memory */
    int end[FMO_PLANS_TOGETHER], choice[FMO_PLANS_TOGETHER], most = 1, kept_rows = 0, good = 0;
    for (int k = 0, begin = 0; k < m->num; begin = end[k++]) {
        for (end[k] = begin; end[k] < m->row_num && m->rows[end[k]].molecule == k;) end[k]++;
        const int num = end[k] - begin;
        choice[k] = find_depth(m->plan[k]->gpu, m->rows + begin, m->sizes + begin, num);
        m->depth[k] = depth_of(choice[k]);
        m->plan[k]->gpu->available = left;
        if (size_plan(m->plan[k], m->rows + begin, m->sizes + begin, num, choice[k], &bytes[good],
                      &errs[k]) != FMO_OK)
            continue;
        left = left > bytes[good] ? left - bytes[good] : 1;
        stocked[good++] = &m->plan[k]->gpu->device;
    }
    if (good) fmo_gpu_stock_up(stocked, bytes, good);
    for (int k = 0; k < m->num; k++) {
        target *const to = &m->to[(size_t)k * CLASSES];
        if (!m->plan[k]->gpu->device.stock) m->plan[k]->gpu->available = 0; /* each asks again */
        if (errs[k].status != FMO_OK ||
            place_plan(m->plan[k], m->device->stream, to, &errs[k]) != FMO_OK) {
            memset(to, 0, CLASSES * sizeof *to);
            continue;
        }
        for (int n = k ? end[k - 1] : 0; n < end[k]; n++) {
            row *const own = &m->rows[kept_rows];
            const int first = n == (k ? end[k - 1] : 0);
            *own = m->rows[n];
            own->part = (unsigned)parts;
            own->record = (unsigned)records;
            if (first || own->pair_class != own[-1].pair_class)
                to[own->pair_class].part = (unsigned)parts;
            parts += m->sizes[n].parts[choice[k]];
            records += m->sizes[n].records;
            kept_rows++;
        }
        for (int c = 0; c < CLASSES; c++)
            if (to[c].num > most) most = to[c].num;
    }
    m->row_num = m->args.row_num = kept_rows;
    if (records > UINT32_MAX || parts > INT_MAX)
        return fmo_error_set(err, FMO_ERR_MEMORY,
                             "%zu pairs of shells, %zu of primitives are more than the GPU's "
                             "indices hold",
                             parts, records);
    return fill(m, records, parts, most, err);
}

} // namespace

void fmo_gpu_make_sp_pairs(fmo_fock_plan *const *plan, int num, fmo_error *errs)
{
    making m = {};
    fmo_error err = {FMO_OK, ""};
    m.plan = plan;
    m.num = num;
    m.device = &plan[0]->gpu->device;
    fmo_status status = count_pairs(&m, &err);
    if (status == FMO_OK) status = make_lists(&m, errs, &err);
    /* memory on its way is given back when nothing uses it any longer */
    if (status == FMO_OK) {
        const cudaError_t code = cudaStreamSynchronize(m.device->stream);
        if (code != cudaSuccess) status = fmo_gpu_error(code, "making shell pairs", &err);
    }
    fmo_gpu_free_passing(m.device, m.work, m.work_bytes);
    if (m.device->pooled) fmo_gpu_free(m.device, m.up_at);
    free(m.up);
    free(m.sizes);
    for (int k = 0; k < num; k++)
        if (status != FMO_OK && errs[k].status == FMO_OK) errs[k] = err;
}
