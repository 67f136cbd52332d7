/* K of classes whose quartets are too large for one thread, or too many to be compiled one by one:
 * one or several warps, a team, compute a quartet together, as products of matrices on the tensor
 * cores, in tiles of 8 x 8:
 *
 *    G[ab][u] = sum_t E^ab_t R_(t+u)     (ab|cd) = sum_u G[ab][u] E^cd_u (-1)^u
 *
 * with t and u the Hermite functions of bra and ket (McMurchie and Davidson, J. Comput. Phys. 26,
 * 218 (1978)). G is summed over the primitives of the bra before the ket is expanded. Elements of
 * both expansions are products of three numbers in shared memory, so that no matrix but G is
 * stored. Angular momenta are arguments: a kernel serves all classes that fit its tiles.
 * docs/explanation/gpu/d-shells.md. C++ only. */
#ifndef FMO_GPU_HERMITE_MATRIX_CUH
#define FMO_GPU_HERMITE_MATRIX_CUH

#include "accumulate/gpu/hermite/warp.cuh"
#include "accumulate/gpu/kernels/near.cuh"

/* The sizes of a class, from the angular momenta of its shells; rows of a quartet are computed
 * `most` tiles at a time. */
typedef struct fmo_matrix_sizes {
    int order, bras, kets, sums;
    int bra_terms, ket_terms, hermites;
    int bra_steps, ket_steps;             /* of four along the sums */
    int term_tiles, ket_tiles, row_tiles; /* columns of G and of integrals; rows */
    int rows, chunks;
    int G_row, V_row; /* doubles from a row to the next: loads of four neighbours of eight rows use
                         all banks */
    int doubles;      /* of a team, in shared memory */
    int ints;         /* of the block */
} fmo_matrix_sizes;

/* E[axis][i][j][t] of a pair. */
enum { FMO_MATRIX_AXIS = 128, FMO_MATRIX_EXPANSION = 3 * FMO_MATRIX_AXIS };
FMO_STATIC_ASSERT(FMO_GPU_ANG_MOM_MAX <= 3 && FMO_PAIR_GPU_ORDER_MAX <= 7, "matrix.cuh: expansions")

/* Returns the sizes for quartets of the shells la to ld, with at most `most` tiles of rows at a
 * time. */
static __host__ __device__ constexpr fmo_matrix_sizes
fmo_matrix_sizes_of(int la, int lb, int lc, int ld, int most, int densities)
{
    fmo_matrix_sizes s = {};
    s.order = la + lb + lc + ld;
    s.bras = FMO_CARTESIAN(la) * FMO_CARTESIAN(lb);
    s.kets = FMO_CARTESIAN(lc) * FMO_CARTESIAN(ld);
    s.sums = (FMO_CARTESIAN(la) + FMO_CARTESIAN(lb)) * (FMO_CARTESIAN(lc) + FMO_CARTESIAN(ld));
    s.bra_terms = FMO_HERMITE_COUNT(la + lb);
    s.ket_terms = FMO_HERMITE_COUNT(lc + ld);
    s.hermites = FMO_HERMITE_COUNT(s.order);
    s.bra_steps = (s.bra_terms + 3) / 4;
    s.ket_steps = (s.ket_terms + 3) / 4;
    s.term_tiles = (s.ket_terms + 7) / 8;
    s.ket_tiles = (s.kets + 7) / 8;
    const int tiles = (s.bras + 7) / 8;
    s.row_tiles = tiles < most ? tiles : most;
    s.rows = 8 * s.row_tiles;
    s.chunks = (tiles + s.row_tiles - 1) / s.row_tiles;
    s.G_row = (8 * s.term_tiles + 15) / 16 * 16 + 4;
    s.V_row = s.kets + 1;
    const int side = s.order + 1;
    s.doubles = 2 * FMO_MATRIX_EXPANSION + side * side * side + side +
                s.rows * (s.G_row > s.V_row ? s.G_row : s.V_row) + 2 * densities * s.sums;
    s.ints = s.hermites + 4 * s.bra_steps + 8 * s.term_tiles + s.chunks * s.rows + 8 * s.ket_tiles +
             s.sums;
    return s;
}

/* What the kernels are compiled for: warps of a team, teams of a block, the most tiles of rows, of
 * columns of G and of integrals, the order of a class, and the resident blocks of a multiprocessor
 * for which the number of registers is limited. */
template <int WARPS, int TEAMS, int ROWS, int TERMS, int KETS, int ORDER, int BLOCKS>
struct fmo_matrix_form {
    static constexpr int warps = WARPS, teams = TEAMS, threads = 32 * WARPS * TEAMS;
    static constexpr int rows = ROWS, terms = TERMS, kets = KETS, blocks = BLOCKS;
    static constexpr int own_rows = (ROWS + WARPS - 1) / WARPS;
    static constexpr int own_kets = (KETS + WARPS - 1) / WARPS;
    static constexpr int own_hermites = (FMO_HERMITE_COUNT(ORDER) + 31) / 32;
    static constexpr bool fits(const fmo_matrix_sizes &s)
    {
        return s.term_tiles <= TERMS && s.ket_tiles <= KETS && s.order <= ORDER;
    }
    static constexpr int bytes(const fmo_matrix_sizes &s)
    {
        return TEAMS * s.doubles * (int)sizeof(double) + s.ints * (int)sizeof(int);
    }
};
typedef fmo_matrix_form<1, 4, 4, 3, 3, 9, 3> fmo_matrix_small;
typedef fmo_matrix_form<4, 1, 5, 5, 5, 10, 3> fmo_matrix_middle;
typedef fmo_matrix_form<4, 1, 5, 11, 13, FMO_ERI_GPU_ORDER_MAX, 2> fmo_matrix_large;

/* The team waits for all its threads. */
template <class F> static __device__ __forceinline__ void fmo_matrix_wait(void)
{
    if constexpr (F::warps == 1)
        __syncwarp();
    else
        __syncthreads();
}

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

/* A class and the arrays of a team in shared memory. */
typedef struct fmo_matrix_team {
    int la, lb, lc, ld;
    int N0, N1, N2, N3; /* functions */
    fmo_matrix_sizes size;
    int warp, lane, thread; /* of the team */
    double *bra, *ket;      /* expansions along the axes */
    double *R, *start;      /* cube of R_tuv; [order + 1] */
    double *block;          /* G, then integrals */
    double *D, *sums;       /* [densities][sums] blocks ik, il, jk, jl of D and of X^K */
    /* of the block: */
    int *hermite;                   /* [hermites] see warp.cuh */
    int *bra_at, *ket_at;           /* codes of Hermite functions (fmo_matrix_code) */
    int *bra_product, *ket_product; /* of products of functions (fmo_matrix_product) */
    int *sum_at;                    /* [sums] of elements of D and sums (fmo_matrix_sum) */
} fmo_matrix_team;

/* The code of a Hermite function: its place in the cube, and its powers, four bits each. Those
 * behind the last of `terms` functions have the sign bit and the place of the first one. */
static __device__ int fmo_matrix_code(int side, int hermite, int terms)
{
    if (hermite >= terms) return INT_MIN;
    const int3 p = fmo_warp_powers(hermite);
    return fmo_warp_place(side, p) | p.x << 12 | p.y << 16 | p.z << 20;
}

/* The code of product a b of functions of two shells: 4 i + j for powers i and j along each axis,
 * four bits each; -1: there is no product of this number. */
static __device__ int fmo_matrix_product(int la, int lb, int number)
{
    const int NB = FMO_CARTESIAN(lb), a = number / NB, b = number % NB;
    int code = 0;
    if (number >= FMO_CARTESIAN(la) * NB) return -1;
    for (int x = 0; x < 3; x++)
        code |= (4 * fmo_shell_power(la, a, x) + fmo_shell_power(lb, b, x)) << 4 * x;
    return code;
}

/* Where element number o of the blocks ik, il, jk and jl is: numbers of its functions in the two
 * shells, and whether these are j instead of i and l instead of k; stored as a code. */
typedef struct fmo_matrix_sum {
    int row, column, second, last;
} fmo_matrix_sum;
static __device__ int fmo_matrix_sum_code(int N0, int N1, int N2, int N3, int o)
{
    const int half = N0 * (N2 + N3), second = o >= half;
    const int in_half = second ? o - half : o, first = (second ? N1 : N0) * N2;
    const int last = in_half >= first, at = last ? in_half - first : in_half;
    const int columns = last ? N3 : N2;
    return at / columns | at % columns << 8 | second << 16 | last << 17;
}

/* Divides the shared memory and fills the tables of the block. */
template <class F, int DENSITIES>
static __device__ fmo_matrix_team fmo_matrix_begin(int4 l, double *memory)
{
    fmo_matrix_team s;
    s.la = l.x;
    s.lb = l.y;
    s.lc = l.z;
    s.ld = l.w;
    s.N0 = FMO_CARTESIAN(l.x);
    s.N1 = FMO_CARTESIAN(l.y);
    s.N2 = FMO_CARTESIAN(l.z);
    s.N3 = FMO_CARTESIAN(l.w);
    s.size = fmo_matrix_sizes_of(l.x, l.y, l.z, l.w, F::rows, DENSITIES);
    s.thread = threadIdx.x % (32 * F::warps);
    s.warp = s.thread / 32;
    s.lane = s.thread % 32;
    const int side = s.size.order + 1;
    s.bra = memory + threadIdx.x / (32 * F::warps) * s.size.doubles;
    s.ket = s.bra + FMO_MATRIX_EXPANSION;
    s.R = s.ket + FMO_MATRIX_EXPANSION;
    s.start = s.R + side * side * side;
    s.D = s.start + side;
    s.sums = s.D + DENSITIES * s.size.sums;
    s.block = s.sums + DENSITIES * s.size.sums;
    s.hermite = (int *)(memory + F::teams * s.size.doubles);
    s.bra_at = s.hermite + s.size.hermites;
    s.ket_at = s.bra_at + 4 * s.size.bra_steps;
    s.bra_product = s.ket_at + 8 * s.size.term_tiles;
    s.ket_product = s.bra_product + s.size.chunks * s.size.rows;
    s.sum_at = s.ket_product + 8 * s.size.ket_tiles;
    fmo_warp_begin(s.size.order, s.hermite);
    for (int k = threadIdx.x; k < 4 * s.size.bra_steps; k += F::threads)
        s.bra_at[k] = fmo_matrix_code(side, k, s.size.bra_terms);
    for (int k = threadIdx.x; k < 8 * s.size.term_tiles; k += F::threads)
        s.ket_at[k] = fmo_matrix_code(side, k, s.size.ket_terms);
    for (int k = threadIdx.x; k < s.size.chunks * s.size.rows; k += F::threads)
        s.bra_product[k] = fmo_matrix_product(s.la, s.lb, k);
    for (int k = threadIdx.x; k < 8 * s.size.ket_tiles; k += F::threads)
        s.ket_product[k] = fmo_matrix_product(s.lc, s.ld, k);
    for (int k = threadIdx.x; k < s.size.sums; k += F::threads)
        s.sum_at[k] = fmo_matrix_sum_code(s.N0, s.N1, s.N2, s.N3, k);
    __syncthreads();
    return s;
}

/* Expansions of a primitive pair, by one warp, E[axis][i][j][t], zero from t = i + j + 1 on. sign:
 * -1 multiplies those of odd t by -1. */
static __device__ void fmo_matrix_expand(int la, int lb, const fmo_prim_pair &pair,
                                         const double *AB, double sign, double *E)
{
    const int lane = threadIdx.x % 32, i = lane / 8, t = lane % 8;
    const double half = sign * pair.half;
    for (int level = 0; level <= la + lb; level++) {
        const int j = level - i, a = j > 0 ? i : i - 1, b = j > 0 ? j - 1 : 0;
        if (i <= la && j >= 0 && j <= lb) {
            FMO_UNROLL
            for (int x = 0; x < 3; x++) {
                const double *const from = E + x * FMO_MATRIX_AXIS + (4 * a + b) * 8;
                double value = t == 0 ? 1.0 : 0.0;
                if (level > 0) {
                    value = (j > 0 ? pair.d[x] + AB[x] : pair.d[x]) * from[t];
                    if (t > 0) value += half * from[t - 1];
                    if (t < 7) value += sign * (t + 1) * from[t + 1];
                }
                E[x * FMO_MATRIX_AXIS + (4 * i + j) * 8 + t] = value;
            }
        }
        __syncwarp();
    }
}

/* An element of an expansion, for the codes of a product and of a Hermite function. */
static __device__ __forceinline__ double fmo_matrix_element(const double *E, int product, int code)
{
    if (product < 0 || code < 0) return 0.0;
    return E[(product & 15) * 8 + (code >> 12 & 15)] *
           E[FMO_MATRIX_AXIS + (product >> 4 & 15) * 8 + (code >> 16 & 15)] *
           E[2 * FMO_MATRIX_AXIS + (product >> 8) * 8 + (code >> 20 & 15)];
}

/* Adds sum_t E^ab_t R_(t+u) of a primitive quartet to the tiles of G of a warp. */
template <class F>
static __device__ __forceinline__ void fmo_matrix_add_bra(const fmo_matrix_team &s, int first,
                                                          double g[F::own_rows][F::terms][2])
{
    int product[F::own_rows], column[F::terms];
    FMO_UNROLL
    for (int r = 0; r < F::own_rows; r++) {
        const int tile = s.warp + F::warps * r;
        product[r] = tile < s.size.row_tiles ? s.bra_product[first + 8 * tile + s.lane / 4] : -1;
    }
    FMO_UNROLL
    for (int n = 0; n < F::terms; n++)
        column[n] = n < s.size.term_tiles ? s.ket_at[8 * n + s.lane / 4] & 0xfff : 0;
#pragma unroll 1
    for (int k = 0; k < s.size.bra_steps; k++) {
        const int code = s.bra_at[4 * k + s.lane % 4];
        const double *const from = s.R + (code & 0xfff);
        double a[F::own_rows];
        FMO_UNROLL
        for (int r = 0; r < F::own_rows; r++) a[r] = fmo_matrix_element(s.bra, product[r], code);
        FMO_UNROLL
        for (int n = 0; n < F::terms; n++) {
            if (n >= s.size.term_tiles) continue;
            const double b = from[column[n]];
            FMO_UNROLL
            for (int r = 0; r < F::own_rows; r++)
                if (s.warp + F::warps * r < s.size.row_tiles) fmo_matrix_multiply(a[r], b, g[r][n]);
        }
    }
}

/* Stores the tiles of G of a warp. */
template <class F>
static __device__ __forceinline__ void fmo_matrix_store(const fmo_matrix_team &s,
                                                        double g[F::own_rows][F::terms][2])
{
    FMO_UNROLL
    for (int r = 0; r < F::own_rows; r++) {
        const int tile = s.warp + F::warps * r;
        if (tile >= s.size.row_tiles) continue;
        double *const to = s.block + (8 * tile + s.lane / 4) * s.size.G_row + 2 * (s.lane % 4);
        FMO_UNROLL
        for (int n = 0; n < F::terms; n++) {
            if (n >= s.size.term_tiles) continue;
            to[8 * n] = g[r][n][0];
            to[8 * n + 1] = g[r][n][1];
        }
    }
}

/* Adds sum_u G[ab][u] E^cd_u (-1)^u to the integrals of a warp, columns by tiles. */
template <class F>
static __device__ __forceinline__ void fmo_matrix_add_ket(const fmo_matrix_team &s,
                                                          double v[F::own_kets][F::rows][2])
{
    int product[F::own_kets];
    FMO_UNROLL
    for (int n = 0; n < F::own_kets; n++) {
        const int tile = s.warp + F::warps * n;
        product[n] = tile < s.size.ket_tiles ? s.ket_product[8 * tile + s.lane / 4] : -1;
    }
#pragma unroll 1
    for (int k = 0; k < s.size.ket_steps; k++) {
        const int u = 4 * k + s.lane % 4, code = s.ket_at[u];
        double a[F::rows];
        FMO_UNROLL
        for (int r = 0; r < F::rows; r++)
            a[r] = r < s.size.row_tiles ? s.block[(8 * r + s.lane / 4) * s.size.G_row + u] : 0.0;
        FMO_UNROLL
        for (int n = 0; n < F::own_kets; n++) {
            if (s.warp + F::warps * n >= s.size.ket_tiles) continue;
            const double b = fmo_matrix_element(s.ket, product[n], code);
            FMO_UNROLL
            for (int r = 0; r < F::rows; r++)
                if (r < s.size.row_tiles) fmo_matrix_multiply(a[r], b, v[n][r]);
        }
    }
}

/* Stores the integrals of a warp as [rows][kets]. */
template <class F>
static __device__ __forceinline__ void fmo_matrix_store_integrals(const fmo_matrix_team &s,
                                                                  double v[F::own_kets][F::rows][2])
{
    FMO_UNROLL
    for (int n = 0; n < F::own_kets; n++) {
        const int column = 8 * (s.warp + F::warps * n) + 2 * (s.lane % 4);
        FMO_UNROLL
        for (int r = 0; r < F::rows; r++) {
            if (r >= s.size.row_tiles) continue;
            FMO_UNROLL
            for (int e = 0; e < 2; e++)
                if (column + e < s.size.kets)
                    s.block[(8 * r + s.lane / 4) * s.size.V_row + column + e] = v[n][r][e];
        }
    }
}

static __device__ __forceinline__ fmo_matrix_sum fmo_matrix_find_sum(const fmo_matrix_team &s,
                                                                     int o)
{
    const int code = s.sum_at[o];
    return {code & 255, code >> 8 & 255, code >> 16 & 1, code >> 17};
}

/* Adds the terms of the integrals in rows [first, end) to the sums of all densities. */
template <class F, int DENSITIES>
static __device__ void fmo_matrix_digest(const fmo_matrix_team &s, int first, int end)
{
    const int ik = s.N0 * s.N2, il = s.N0 * s.N3, jk = s.N1 * s.N2;
    for (int o = s.thread; o < s.size.sums; o += 32 * F::warps) {
        const fmo_matrix_sum at = fmo_matrix_find_sum(s, o);
        /* D of the two other functions */
        const double *const den =
            s.D + (at.second ? (at.last ? 0 : ik) : ik + il + (at.last ? 0 : jk));
        const int rest = at.last ? s.N2 : s.N3; /* functions of the ket's other shell */
        const int column = at.last ? at.column : at.column * s.N3, step = at.last ? s.N3 : 1;
        const int begin = at.second ? first / s.N1 : 0;
        double sum[DENSITIES] = {};
        for (int n = begin; n < (at.second ? s.N0 : s.N1); n++) {
            const int row = at.second ? n * s.N1 + at.row : at.row * s.N1 + n;
            if (row < first || row >= end) continue;
            const double *const v = s.block + (row - first) * s.size.V_row + column;
            for (int m = 0; m < rest; m++) {
                const double value = v[m * step];
                FMO_UNROLL
                for (int d = 0; d < DENSITIES; d++)
                    sum[d] += den[d * s.size.sums + n * rest + m] * value;
            }
        }
        FMO_UNROLL
        for (int d = 0; d < DENSITIES; d++) s.sums[d * s.size.sums + o] += sum[d];
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

/* Computes expansions and R_tuv of a primitive quartet, by different warps of the team. */
template <class F>
static __device__ void fmo_matrix_prepare(const fmo_hermite_exchange_args &a,
                                          const fmo_matrix_team &s, const fmo_prim_pair &p,
                                          const fmo_prim_pair &q, bool new_ket, const double *AC,
                                          const double *AB, const double *CD)
{
    if (s.warp == 0) fmo_matrix_expand(s.la, s.lb, p, AB, 1.0, s.bra);
    if (s.warp == 1 % F::warps && new_ket) fmo_matrix_expand(s.lc, s.ld, q, CD, -1.0, s.ket);
    if (s.warp == 2 % F::warps) {
        const fmo_prim_quartet z =
            a.matrices.op
                ? fmo_prim_quartet_make_of(a.matrices.op, a.boys, s.size.order, &p, &q, AC)
                : fmo_prim_quartet_make(a.boys, s.size.order, &p, &q, AC);
        fmo_warp_coulomb<F::own_hermites>(z, s.size.order, s.hermite, s.start, s.R);
    }
}

/* Computes the integrals of the rows from `first` on, in s.block. Returns the number of primitive
 * quartets. */
template <class F>
static __device__ unsigned fmo_matrix_integrals(const fmo_hermite_exchange_args &a,
                                                const fmo_matrix_team &s, int2 quartet, int first)
{
    const int ket = quartet.y & (FMO_GPU_PAIRS_MAX - 1), bra = quartet.x;
    const int code = (int)((unsigned)quartet.y >> FMO_GPU_KET_BITS) & FMO_GPU_FACTOR_MAX;
    const float cutoff = a.prim_cutoff * __int_as_float((code - FMO_GPU_FACTOR_TOP + 127) << 23);
    const int4 bras = a.bra.prims[bra], kets = a.ket.prims[ket];
    double AC[3], AB[3], CD[3];
    double v[F::own_kets][F::rows][2];
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
    for (int r = 0; r < F::rows; r++) v[n][r][0] = v[n][r][1] = 0.0;
#pragma unroll 1
    for (int n = 0; n < kets.y; n++) {
        double g[F::own_rows][F::terms][2];
        float bound, other;
        const fmo_prim_pair q = fmo_matrix_prim(a.ket, kets, n, &other);
        int num = 0;
        FMO_UNROLL
        for (int r = 0; r < F::own_rows; r++) FMO_UNROLL
        for (int t = 0; t < F::terms; t++) g[r][t][0] = g[r][t][1] = 0.0;
#pragma unroll 1
        for (; num < bras.y; num++) {
            const fmo_prim_pair p = fmo_matrix_prim(a.bra, bras, num, &bound);
            if (bound * other < cutoff) break;
            fmo_matrix_prepare<F>(a, s, p, q, num == 0, AC, AB, CD);
            fmo_matrix_wait<F>();
            fmo_matrix_add_bra<F>(s, first, g);
            fmo_matrix_wait<F>();
        }
        if (!num) break; /* all further kets are smaller */
        prims += num;
        fmo_matrix_store<F>(s, g);
        fmo_matrix_wait<F>();
        fmo_matrix_add_ket<F>(s, v);
        fmo_matrix_wait<F>();
    }
    fmo_matrix_store_integrals<F>(s, v);
    fmo_matrix_wait<F>();
    return prims;
}

/* Loads the blocks ik, il, jk and jl of all D, and clears the sums. */
template <class F, int DENSITIES>
static __device__ void fmo_matrix_load(const fmo_matrix_team &s, const fmo_gpu_matrices &m, int4 ij,
                                       int4 kl)
{
    for (int o = s.thread; o < s.size.sums; o += 32 * F::warps) {
        const fmo_matrix_sum at = fmo_matrix_find_sum(s, o);
        const int row = (at.second ? ij.y : ij.x) + at.row;
        const double *const from =
            m.density + (size_t)row * m.nao + (at.last ? kl.y : kl.x) + at.column;
        FMO_UNROLL
        for (int d = 0; d < DENSITIES; d++) {
            s.D[d * s.size.sums + o] = __ldg(from + d * m.density_step);
            s.sums[d * s.size.sums + o] = 0.0;
        }
    }
}

/* Adds the sums to X^K with the strategy. Returns the number of atomics issued by this thread. */
template <class F, int DENSITIES, class S>
static __device__ unsigned fmo_matrix_add(const S &scatter, const fmo_matrix_team &s,
                                          const fmo_gpu_matrices &m, int4 ij, int4 kl,
                                          double factor)
{
    unsigned issued = 0;
    for (int first = 0; first < s.size.sums; first += 32 * F::warps) {
        const int o = first + s.thread;
        const bool active = o < s.size.sums;
        const unsigned mask = __ballot_sync(0xffffffffu, active);
        const fmo_matrix_sum at = fmo_matrix_find_sum(s, active ? o : 0);
        const int row = (at.second ? ij.y : ij.x) + at.row;
        double *const to = m.exchange + (size_t)row * m.nao + (at.last ? kl.y : kl.x) + at.column;
        FMO_UNROLL
        for (int d = 0; d < DENSITIES; d++) {
            const double value = active ? factor * s.sums[d * s.size.sums + o] : 0.0;
            if (mask && (fmo_gpu_together<S> || active))
                issued += fmo_gpu_scatter_block<S, 1, 1, false>(scatter, mask, active, 0u,
                                                                to + d * m.exchange_step, 0, &value,
                                                                m.exchange_least);
        }
    }
    return issued;
}

/* Computes the quartets of the list, one for each team at a time; N builds, each with K of so many
 * densities. */
template <class F, class S, int N, int DENSITIES>
__global__ void __launch_bounds__(F::threads, F::blocks)
    fmo_matrix_exchange(const __grid_constant__ fmo_gpu_many<fmo_hermite_exchange_args, N> many)
{
    extern __shared__ double memory[];
    const fmo_hermite_exchange_args &a = many.own();
    const unsigned count = *a.count;
    if (blockIdx.x * F::teams >= count) return;
    const fmo_matrix_team s = fmo_matrix_begin<F, DENSITIES>(a.ang_mom, memory);
    S scatter;
    fmo_gpu_prepare(scatter, a.matrices);
    unsigned issued = 0, prims = 0;
    const unsigned own = blockIdx.x * F::teams + threadIdx.x / (32 * F::warps);
    for (unsigned n = own; n < count; n += gridDim.x * F::teams) {
        const int2 quartet = a.list[n];
        const int ket = quartet.y & (FMO_GPU_PAIRS_MAX - 1), bra = quartet.x;
        const int4 ij = a.bra.at[bra], kl = a.ket.at[ket];
        fmo_matrix_load<F, DENSITIES>(s, a.matrices, ij, kl);
        fmo_matrix_wait<F>();
        for (int chunk = 0; chunk < s.size.chunks; chunk++) {
            const int first = chunk * s.size.rows, end = first + s.size.rows;
            const unsigned computed = fmo_matrix_integrals<F>(a, s, quartet, first);
            if (chunk == 0) prims += computed;
            fmo_matrix_digest<F, DENSITIES>(s, first, end < s.size.bras ? end : s.size.bras);
            fmo_matrix_wait<F>();
        }
        issued += fmo_matrix_add<F, DENSITIES>(scatter, s, a.matrices, ij, kl,
                                               a.same && bra == ket ? 0.5 : 1.0);
        fmo_matrix_wait<F>();
    }
    fmo_scatter_finish(scatter);
    fmo_gpu_count_issued(a.matrices, issued);
    if (s.thread == 0 && prims) atomicAdd(a.prim_quartets, (unsigned long long)prims);
}

#endif
