/* K of classes whose quartets are too large for one thread: the warps of a block compute a quartet
 * together, as products of matrices on the tensor cores, in tiles of 8 x 8:
 *
 *    G[ab][u] = sum_t E^ab_t R_(t+u)     (ab|cd) = sum_u G[ab][u] E^cd_u (-1)^u
 *
 * with t and u the Hermite functions of bra and ket (McMurchie and Davidson, J. Comput. Phys. 26,
 * 218 (1978)). G is summed over the primitives of the bra before the ket is expanded. Elements of
 * both expansions are products of three numbers in shared memory, so that no matrix but G is
 * stored. docs/explanation/gpu/d-shells.md. C++ only. */
#ifndef FMO_GPU_HERMITE_MATRIX_CUH
#define FMO_GPU_HERMITE_MATRIX_CUH

#include "accumulate/gpu/hermite/hermite.h"

#include <limits.h>

#include "accumulate/gpu/kernels/near.cuh"
#include "integrals/eri/eri_slice.h"

/* Sizes of a class C of exchange.cu. */
template <class C> struct fmo_matrix_form {
    static constexpr int up(int n, int to) { return (n + to - 1) / to * to; }
    static constexpr int bras = C::N0 * C::N1, kets = C::N2 * C::N3;
    static constexpr int bra_order = C::LA + C::LB, ket_order = C::LC + C::LD;
    static constexpr int bra_terms = FMO_HERMITE_COUNT(bra_order),
                         ket_terms = FMO_HERMITE_COUNT(ket_order);
    /* steps of four along the sums, tiles of columns of G and of integrals, tiles of rows */
    static constexpr int bra_steps = up(bra_terms, 4) / 4, ket_steps = up(ket_terms, 4) / 4;
    static constexpr int term_tiles = up(ket_terms, 8) / 8, ket_tiles = up(kets, 8) / 8;
    static constexpr int all_tiles = up(bras, 8) / 8;
    /* rows computed at a time */
    static constexpr int row_tiles = all_tiles < 5 ? all_tiles : 5, rows = 8 * row_tiles;
    static constexpr int chunks = (all_tiles + row_tiles - 1) / row_tiles;
    static constexpr int warps = ket_tiles < 3 ? 3 : ket_tiles < 5 ? ket_tiles : 5;
    static constexpr int threads = 32 * warps;
    static constexpr int own_rows = (row_tiles + warps - 1) / warps; /* tiles of a warp */
    static constexpr int own_kets = (ket_tiles + warps - 1) / warps;
    static constexpr int side = C::order + 1, cube = side * side * side; /* R_tuv */
    static constexpr int bra_T = bra_order + 1, ket_T = ket_order + 1;
    static constexpr int bra_E = (C::LA + 1) * (C::LB + 1) * bra_T,
                         ket_E = (C::LC + 1) * (C::LD + 1) * ket_T; /* of an axis */
    /* doubles from one row to the next, so that loads of four neighbours of eight rows use all
     * banks */
    static constexpr int G_row = up(8 * term_tiles, 16) + 4, V_row = kets + 1;
    static constexpr int block = rows * (G_row > V_row ? G_row : V_row);
    static constexpr int sums = (C::N0 + C::N1) * (C::N2 + C::N3);
    static constexpr int hermites = FMO_HERMITE_COUNT(C::order);
    static constexpr size_t bytes =
        sizeof(double) * (3 * (bra_E + ket_E) + cube + block + 2 * sums + C::order + 1) +
        sizeof(int) * (hermites + 4 * bra_steps + 8 * term_tiles);
};

/* D = A B + D for tiles of 8 x 4, 4 x 8 and 8 x 8: a lane has element [lane / 4][lane % 4] of A,
 * [lane % 4][lane / 4] of B, and [lane / 4][2 (lane % 4)] of D with its right neighbour. */
static __device__ __forceinline__ void fmo_matrix_multiply(double a, double b, double *d)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d[0]), "+d"(d[1])
        : "d"(a), "d"(b));
#else
    const int lane = threadIdx.x % 32;
    FMO_UNROLL
    for (int k = 0; k < 4; k++) {
        const double row = __shfl_sync(0xffffffffu, a, lane / 4 * 4 + k);
        FMO_UNROLL
        for (int n = 0; n < 2; n++)
            d[n] += row * __shfl_sync(0xffffffffu, b, (2 * (lane % 4) + n) * 4 + k);
    }
#endif
}

/* The arrays of a block in shared memory. */
template <class C> struct fmo_matrix_shared {
    typedef fmo_matrix_form<C> F;
    double *bra, *ket; /* [3][..] expansions along the axes */
    double *R, *start; /* [cube]; [order + 1] */
    double *block;     /* G, then integrals */
    double *D, *sums;  /* [sums] blocks ik, il, jk, jl of D and of X^K */
    int *hermite;      /* [hermites] place in the cube, axis of the recursion, and power along it */
    int *bra_at;       /* [4 bra_steps] codes of Hermite functions (fmo_matrix_code) */
    int *ket_at;       /* [8 term_tiles] */

    __device__ explicit fmo_matrix_shared(double *at)
    {
        bra = at;
        ket = bra + 3 * F::bra_E;
        R = ket + 3 * F::ket_E;
        start = R + F::cube;
        block = start + C::order + 1;
        D = block + F::block;
        sums = D + F::sums;
        hermite = (int *)(sums + F::sums);
        bra_at = hermite + F::hermites;
        ket_at = bra_at + 4 * F::bra_steps;
    }
};

/* Place of R_tuv in the cube. */
template <class C> static __device__ __forceinline__ int fmo_matrix_place(int t, int u, int v)
{
    constexpr int side = fmo_matrix_form<C>::side;
    return t + side * (u + side * v);
}

/* The code of a Hermite function: its place in the cube, and its powers, four bits each. Columns
 * behind the last of `terms` functions have the sign bit and the place of the first one. */
template <class C> static __device__ int fmo_matrix_code(int hermite, int terms)
{
    static_assert(fmo_matrix_form<C>::cube < 1 << 12 && C::order < 16, "matrix.cuh: codes");
    if (hermite >= terms) return INT_MIN;
    const int t = fmo_slice_power(hermite, 0), u = fmo_slice_power(hermite, 1),
              v = fmo_slice_power(hermite, 2);
    return fmo_matrix_place<C>(t, u, v) | t << 12 | u << 16 | v << 20;
}

/* Fills the tables of Hermite functions. */
template <class C> static __device__ void fmo_matrix_begin(const fmo_matrix_shared<C> &s)
{
    typedef fmo_matrix_form<C> F;
    for (int k = threadIdx.x; k < F::hermites; k += F::threads) {
        const int t = fmo_slice_power(k, 0), u = fmo_slice_power(k, 1), v = fmo_slice_power(k, 2);
        const int axis = t > 0 ? 0 : u > 0 ? 1 : 2, power = axis == 0 ? t : axis == 1 ? u : v;
        s.hermite[k] = fmo_matrix_place<C>(t, u, v) | axis << 16 | power << 20;
    }
    for (int k = threadIdx.x; k < 4 * F::bra_steps; k += F::threads)
        s.bra_at[k] = fmo_matrix_code<C>(k, F::bra_terms);
    for (int k = threadIdx.x; k < 8 * F::term_tiles; k += F::threads)
        s.ket_at[k] = fmo_matrix_code<C>(k, F::ket_terms);
    for (int k = threadIdx.x; k < F::cube; k += F::threads) s.R[k] = 0.0;
}

/* Expansions of a primitive pair, by one warp, E[axis][i][j][t], zero from t = i + j + 1 on. sign:
 * -1 multiplies those of odd t by -1. */
template <int LA, int LB>
static __device__ void fmo_matrix_expand(const fmo_prim_pair &pair, const double *AB, double sign,
                                         double *E)
{
    constexpr int T = LA + LB + 1, most = 3 * (LA + 1) * T;
    const int lane = threadIdx.x % 32;
    const double half = sign * pair.half;
    for (int level = 0; level <= LA + LB; level++) {
        for (int e = lane; e < most; e += 32) {
            const int x = e / ((LA + 1) * T), i = e / T % (LA + 1), t = e % T, j = level - i;
            if (j < 0 || j > LB) continue;
            const int a = j > 0 ? i : i - 1, b = j > 0 ? j - 1 : 0;
            const double *const from = E + ((x * (LA + 1) + a) * (LB + 1) + b) * T;
            const double PA = pair.d[x];
            double value = level == 0 && t == 0 ? 1.0 : 0.0;
            if (level > 0 && t <= level) {
                value = (j > 0 ? PA + AB[x] : PA) * from[t];
                if (t > 0) value += half * from[t - 1];
                if (t + 1 < T) value += sign * (t + 1) * from[t + 1];
            }
            E[((x * (LA + 1) + i) * (LB + 1) + j) * T + t] = value;
        }
        __syncwarp();
    }
}

/* R_tuv of a primitive quartet, by one warp, level by level. */
template <class C>
static __device__ void fmo_matrix_coulomb(const fmo_prim_quartet &z, const fmo_matrix_shared<C> &s)
{
    typedef fmo_matrix_form<C> F;
    constexpr int own = (F::hermites + 31) / 32;
    const int lane = threadIdx.x % 32;
    if (lane == 0) {
        double power = 1.0;
        FMO_UNROLL
        for (int m = 0; m <= C::order; m++) {
            s.start[m] = power * z.S[m];
            power *= -2.0 * z.alpha;
        }
    }
    __syncwarp();
    if (lane == 0) s.R[0] = s.start[C::order];
    __syncwarp();
    double value[own];
    for (int m = C::order - 1; m >= 0; m--) {
        const int orders = C::order - m;
        const int num = (orders + 1) * (orders + 2) * (orders + 3) / 6;
        FMO_UNROLL
        for (int n = 0; n < own; n++) {
            const int k = lane + 32 * n;
            if (k >= num) continue;
            const int code = s.hermite[k], at = code & 0xffff, axis = code >> 16 & 15;
            const int power = code >> 20;
            const int step = axis == 0 ? 1 : axis == 1 ? F::side : F::side * F::side;
            if (k == 0)
                value[n] = s.start[m];
            else {
                value[n] = (axis == 0 ? z.PQ[0] : axis == 1 ? z.PQ[1] : z.PQ[2]) * s.R[at - step];
                if (power > 1) value[n] += (power - 1) * s.R[at - 2 * step];
            }
        }
        __syncwarp();
        FMO_UNROLL
        for (int n = 0; n < own; n++)
            if (lane + 32 * n < num) s.R[s.hermite[lane + 32 * n] & 0xffff] = value[n];
        __syncwarp();
    }
}

/* Where the expansions of a product of functions of two shells begin along each axis; -1: there is
 * no product of this number. */
typedef struct fmo_matrix_product {
    int at[3];
} fmo_matrix_product;
template <int LA, int LB>
static __device__ __forceinline__ fmo_matrix_product fmo_matrix_find_product(int number)
{
    constexpr int T = LA + LB + 1, axis = (LA + 1) * (LB + 1) * T, NB = FMO_CARTESIAN(LB);
    const int a = number / NB, b = number % NB;
    fmo_matrix_product product = {{-1, -1, -1}};
    if (number >= FMO_CARTESIAN(LA) * NB) return product;
    FMO_UNROLL
    for (int x = 0; x < 3; x++)
        product.at[x] = x * axis + (fmo_md_power(LA, a, x) * (LB + 1) + fmo_md_power(LB, b, x)) * T;
    return product;
}

/* An element of an expansion, for the code of a Hermite function. */
static __device__ __forceinline__ double
fmo_matrix_element(const double *E, const fmo_matrix_product &product, int code)
{
    if (product.at[0] < 0 || code < 0) return 0.0;
    return E[product.at[0] + (code >> 12 & 15)] * E[product.at[1] + (code >> 16 & 15)] *
           E[product.at[2] + (code >> 20 & 15)];
}

/* Adds sum_t E^ab_t R_(t+u) of a primitive quartet to the tiles of G of a warp. */
template <class C>
static __device__ __forceinline__ void
fmo_matrix_add_bra(const fmo_matrix_shared<C> &s, int first,
                   double g[fmo_matrix_form<C>::own_rows][fmo_matrix_form<C>::term_tiles][2])
{
    typedef fmo_matrix_form<C> F;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    fmo_matrix_product product[F::own_rows];
    int column[F::term_tiles];
    FMO_UNROLL
    for (int r = 0; r < F::own_rows; r++)
        product[r] = fmo_matrix_find_product<C::LA, C::LB>(
            warp + F::warps * r < F::row_tiles ? first + 8 * (warp + F::warps * r) + lane / 4
                                               : F::bras);
    FMO_UNROLL
    for (int n = 0; n < F::term_tiles; n++) column[n] = s.ket_at[8 * n + lane / 4] & 0xfff;
#pragma unroll 1
    for (int k = 0; k < F::bra_steps; k++) {
        const int code = s.bra_at[4 * k + lane % 4];
        const double *const from = s.R + (code & 0xfff);
        double a[F::own_rows];
        FMO_UNROLL
        for (int r = 0; r < F::own_rows; r++) a[r] = fmo_matrix_element(s.bra, product[r], code);
        FMO_UNROLL
        for (int n = 0; n < F::term_tiles; n++) {
            const double b = from[column[n]];
            FMO_UNROLL
            for (int r = 0; r < F::own_rows; r++)
                if (r + 1 < F::own_rows || warp + F::warps * r < F::row_tiles)
                    fmo_matrix_multiply(a[r], b, g[r][n]);
        }
    }
}

/* Stores the tiles of G of a warp. */
template <class C>
static __device__ __forceinline__ void
fmo_matrix_store(const fmo_matrix_shared<C> &s,
                 double g[fmo_matrix_form<C>::own_rows][fmo_matrix_form<C>::term_tiles][2])
{
    typedef fmo_matrix_form<C> F;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    FMO_UNROLL
    for (int r = 0; r < F::own_rows; r++) {
        const int tile = warp + F::warps * r;
        if (tile >= F::row_tiles) continue;
        double *const to = s.block + (8 * tile + lane / 4) * F::G_row + 2 * (lane % 4);
        FMO_UNROLL
        for (int n = 0; n < F::term_tiles; n++) {
            to[8 * n] = g[r][n][0];
            to[8 * n + 1] = g[r][n][1];
        }
    }
}

/* Adds sum_u G[ab][u] E^cd_u (-1)^u to the integrals of a warp, columns by tiles. */
template <class C>
static __device__ __forceinline__ void
fmo_matrix_add_ket(const fmo_matrix_shared<C> &s,
                   double v[fmo_matrix_form<C>::own_kets][fmo_matrix_form<C>::row_tiles][2])
{
    typedef fmo_matrix_form<C> F;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    fmo_matrix_product product[F::own_kets];
    FMO_UNROLL
    for (int n = 0; n < F::own_kets; n++)
        product[n] = fmo_matrix_find_product<C::LC, C::LD>(8 * (warp + F::warps * n) + lane / 4);
#pragma unroll 1
    for (int k = 0; k < F::ket_steps; k++) {
        const int u = 4 * k + lane % 4, code = s.ket_at[u];
        double a[F::row_tiles];
        FMO_UNROLL
        for (int r = 0; r < F::row_tiles; r++) a[r] = s.block[(8 * r + lane / 4) * F::G_row + u];
        FMO_UNROLL
        for (int n = 0; n < F::own_kets; n++) {
            const int tile = warp + F::warps * n;
            if (tile >= F::ket_tiles) continue;
            const double b = fmo_matrix_element(s.ket, product[n], code);
            FMO_UNROLL
            for (int r = 0; r < F::row_tiles; r++) fmo_matrix_multiply(a[r], b, v[n][r]);
        }
    }
}

/* Stores the integrals of a warp as [rows][kets]. */
template <class C>
static __device__ __forceinline__ void
fmo_matrix_store_integrals(const fmo_matrix_shared<C> &s,
                           double v[fmo_matrix_form<C>::own_kets][fmo_matrix_form<C>::row_tiles][2])
{
    typedef fmo_matrix_form<C> F;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    FMO_UNROLL
    for (int n = 0; n < F::own_kets; n++) {
        const int column = 8 * (warp + F::warps * n) + 2 * (lane % 4);
        FMO_UNROLL
        for (int r = 0; r < F::row_tiles; r++) {
            FMO_UNROLL
            for (int e = 0; e < 2; e++)
                if (column + e < F::kets)
                    s.block[(8 * r + lane / 4) * F::V_row + column + e] = v[n][r][e];
        }
    }
}

/* Where element number o of the blocks ik, il, jk and jl is: numbers of its functions in the two
 * shells, and whether these are j instead of i and l instead of k. */
typedef struct fmo_matrix_sum {
    int row, column, second, last;
} fmo_matrix_sum;
template <class C> static __device__ __forceinline__ fmo_matrix_sum fmo_matrix_find_sum(int o)
{
    constexpr int ik = C::N0 * C::N2, il = C::N0 * C::N3, jk = C::N1 * C::N2;
    if (o < ik) return {o / C::N2, o % C::N2, 0, 0};
    o -= ik;
    if (o < il) return {o / C::N3, o % C::N3, 0, 1};
    o -= il;
    if (o < jk) return {o / C::N2, o % C::N2, 1, 0};
    o -= jk;
    return {o / C::N3, o % C::N3, 1, 1};
}

/* Adds the terms of the integrals in rows [first, end) to the sums. */
template <class C>
static __device__ void fmo_matrix_digest(const fmo_matrix_shared<C> &s, int first, int end)
{
    typedef fmo_matrix_form<C> F;
    constexpr int ik = C::N0 * C::N2, il = C::N0 * C::N3, jk = C::N1 * C::N2;
    const double *const D[2][2] = {{s.D, s.D + ik}, {s.D + ik + il, s.D + ik + il + jk}};
    for (int o = threadIdx.x; o < F::sums; o += F::threads) {
        const fmo_matrix_sum at = fmo_matrix_find_sum<C>(o);
        const double *const den = D[!at.second][!at.last];
        const int rest = at.last ? C::N2 : C::N3; /* functions of the ket's other shell */
        const int column = at.last ? at.column : at.column * C::N3, step = at.last ? C::N3 : 1;
        const int begin = at.second ? first / C::N1 : 0;
        double sum = 0.0;
        for (int n = begin; n < (at.second ? C::N0 : C::N1); n++) {
            const int row = at.second ? n * C::N1 + at.row : at.row * C::N1 + n;
            if (row < first || row >= end) continue;
            const double *const v = s.block + (row - first) * F::V_row + column;
            for (int m = 0; m < rest; m++) sum += den[n * rest + m] * v[m * step];
        }
        s.sums[o] += sum;
    }
}

/* A primitive of a segment, and its bound. */
static __device__ __forceinline__ fmo_prim_pair
fmo_matrix_prim(const fmo_hermite_exchange_pairs &pairs, int4 at, int m, float *bound)
{
    const double2 *const from =
        pairs.prim + (unsigned)at.x + (size_t)(m * FMO_GPU_PAIR_TWOS) * (unsigned)at.z;
    const double2 pk = __ldg(from), xy = __ldg(from + at.z), zh = __ldg(from + 2 * (size_t)at.z);
    *bound = fmo_gpu_prim_bound(__ldg(from + 3 * (size_t)at.z));
    const fmo_prim_pair prim = {pk.x, pk.y, {xy.x, xy.y, zh.x}, zh.y};
    return prim;
}

/* Computes the integrals of the rows from `first` on, in s.block. Returns the number of primitive
 * quartets. */
template <class C, bool OPERATOR>
static __device__ unsigned fmo_matrix_integrals(const fmo_hermite_exchange_args &a,
                                                const fmo_matrix_shared<C> &s, int2 quartet,
                                                int first)
{
    typedef fmo_matrix_form<C> F;
    const int ket = quartet.y & (FMO_GPU_PAIRS_MAX - 1), bra = quartet.x;
    const int code = (int)((unsigned)quartet.y >> FMO_GPU_KET_BITS) & FMO_GPU_FACTOR_MAX;
    const float cutoff = a.prim_cutoff * __int_as_float((code - FMO_GPU_FACTOR_TOP + 127) << 23);
    const int4 bras = a.bra.prims[bra], kets = a.ket.prims[ket];
    const int warp = threadIdx.x / 32;
    double AC[3], AB[3], CD[3];
    double v[F::own_kets][F::row_tiles][2];
    unsigned prims = 0;
    FMO_UNROLL
    for (int x = 0; x < 3; x++) {
        AC[x] =
            a.bra.center[x * (size_t)a.bra.num + bra] - a.ket.center[x * (size_t)a.ket.num + ket];
        AB[x] = a.bra.center[(3 + x) * (size_t)a.bra.num + bra];
        CD[x] = a.ket.center[(3 + x) * (size_t)a.ket.num + ket];
    }
    FMO_UNROLL
    for (int n = 0; n < F::own_kets; n++) FMO_UNROLL
    for (int r = 0; r < F::row_tiles; r++) v[n][r][0] = v[n][r][1] = 0.0;
#pragma unroll 1
    for (int n = 0; n < kets.y; n++) {
        double g[F::own_rows][F::term_tiles][2];
        float bound, other;
        const fmo_prim_pair q = fmo_matrix_prim(a.ket, kets, n, &other);
        int num = 0;
        FMO_UNROLL
        for (int r = 0; r < F::own_rows; r++) FMO_UNROLL
        for (int t = 0; t < F::term_tiles; t++) g[r][t][0] = g[r][t][1] = 0.0;
#pragma unroll 1
        for (; num < bras.y; num++) {
            const fmo_prim_pair p = fmo_matrix_prim(a.bra, bras, num, &bound);
            if (bound * other < cutoff) break;
            if (warp == 0) fmo_matrix_expand<C::LA, C::LB>(p, AB, 1.0, s.bra);
            if (warp == 1 && num == 0) fmo_matrix_expand<C::LC, C::LD>(q, CD, -1.0, s.ket);
            if (warp == 2) {
                const fmo_prim_quartet z =
                    OPERATOR ? fmo_prim_quartet_make_of(a.matrices.op, a.boys, C::order, &p, &q, AC)
                             : fmo_prim_quartet_make(a.boys, C::order, &p, &q, AC);
                fmo_matrix_coulomb<C>(z, s);
            }
            __syncthreads();
            fmo_matrix_add_bra<C>(s, first, g);
            __syncthreads();
        }
        if (!num) break; /* all further kets are smaller */
        prims += num;
        fmo_matrix_store<C>(s, g);
        __syncthreads();
        fmo_matrix_add_ket<C>(s, v);
        __syncthreads();
    }
    fmo_matrix_store_integrals<C>(s, v);
    __syncthreads();
    return prims;
}

/* Loads the blocks ik, il, jk and jl of D, and clears the sums. */
template <class C>
static __device__ void fmo_matrix_load(const fmo_matrix_shared<C> &s, const fmo_gpu_matrices &m,
                                       int4 ij, int4 kl)
{
    typedef fmo_matrix_form<C> F;
    for (int o = threadIdx.x; o < F::sums; o += F::threads) {
        const fmo_matrix_sum at = fmo_matrix_find_sum<C>(o);
        const int row = (at.second ? ij.y : ij.x) + at.row;
        s.D[o] = __ldg(m.density + (size_t)row * m.nao + (at.last ? kl.y : kl.x) + at.column);
        s.sums[o] = 0.0;
    }
}

/* Adds the sums to X^K with the strategy. Returns the number of atomics issued by this thread. */
template <class C, class S>
static __device__ unsigned fmo_matrix_add(const S &scatter, const fmo_matrix_shared<C> &s,
                                          const fmo_gpu_matrices &m, int4 ij, int4 kl,
                                          double factor)
{
    typedef fmo_matrix_form<C> F;
    unsigned issued = 0;
    for (int first = 0; first < F::sums; first += F::threads) {
        const int o = first + threadIdx.x;
        const bool active = o < F::sums;
        const unsigned mask = __ballot_sync(0xffffffffu, active);
        const fmo_matrix_sum at = fmo_matrix_find_sum<C>(active ? o : 0);
        const int row = (at.second ? ij.y : ij.x) + at.row;
        double value = active ? factor * s.sums[o] : 0.0;
        double *const to = m.exchange + (size_t)row * m.nao + (at.last ? kl.y : kl.x) + at.column;
        if (mask && (fmo_gpu_together<S> || active))
            issued += fmo_gpu_scatter_block<S, 1, 1, false>(scatter, mask, active, 0u, to, 0,
                                                            &value, m.exchange_least);
    }
    return issued;
}

/* Computes the quartets of the list, one for each block at a time; N builds. */
template <class C, class S, int N, bool OPERATOR>
__global__ void __launch_bounds__(fmo_matrix_form<C>::threads)
    fmo_matrix_exchange(const __grid_constant__ fmo_gpu_many<fmo_hermite_exchange_args, N> many)
{
    typedef fmo_matrix_form<C> F;
    extern __shared__ double memory[];
    const fmo_hermite_exchange_args &a = many.own();
    const fmo_matrix_shared<C> s(memory);
    S scatter;
    fmo_gpu_prepare(scatter, a.matrices);
    unsigned issued = 0, prims = 0;
    const unsigned count = *a.count;
    if (blockIdx.x >= count) return;
    fmo_matrix_begin<C>(s);
    for (unsigned n = blockIdx.x; n < count; n += gridDim.x) {
        const int2 quartet = a.list[n];
        const int ket = quartet.y & (FMO_GPU_PAIRS_MAX - 1), bra = quartet.x;
        const int4 ij = a.bra.at[bra], kl = a.ket.at[ket];
        fmo_matrix_load<C>(s, a.matrices, ij, kl);
        __syncthreads();
        for (int chunk = 0; chunk < F::chunks; chunk++) {
            const int first = chunk * F::rows, end = first + F::rows;
            const unsigned computed = fmo_matrix_integrals<C, OPERATOR>(a, s, quartet, first);
            if (chunk == 0) prims += computed;
            fmo_matrix_digest<C>(s, first, end < F::bras ? end : F::bras);
            __syncthreads();
        }
        issued +=
            fmo_matrix_add<C>(scatter, s, a.matrices, ij, kl, a.same && bra == ket ? 0.5 : 1.0);
        __syncthreads();
    }
    fmo_scatter_finish(scatter);
    fmo_gpu_count_issued(a.matrices, issued);
    if (threadIdx.x == 0 && prims) atomicAdd(a.prim_quartets, (unsigned long long)prims);
}

#endif
