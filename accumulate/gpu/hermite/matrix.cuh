/* K of classes whose quartets are too large for one thread: one or several warps, a team, compute a
 * quartet together, as products of matrices on the tensor cores, in tiles of 8 x 8:
 *
 *    G[ab][u] = sum_t E^ab_t R_(t+u)     (ab|cd) = sum_u G[ab][u] E^cd_u (-1)^u
 *
 * with t and u the Hermite functions of bra and ket (McMurchie and Davidson, J. Comput. Phys. 26,
 * 218 (1978)). G is summed over the primitives of the bra before the ket is expanded. Elements of
 * both expansions are products of three numbers in shared memory, so that no matrix but G is
 * stored. docs/explanation/gpu/d-shells.md. C++ only. */
#ifndef FMO_GPU_HERMITE_MATRIX_CUH
#define FMO_GPU_HERMITE_MATRIX_CUH

#include "accumulate/gpu/hermite/tiles.cuh"
#include "accumulate/gpu/kernels/near.cuh"

/* What a kernel is compiled for: the angular momenta of the shells, the warps of a team, the
 * largest numbers of teams of a block and of tiles of rows that are computed at a time, the
 * resident blocks of a multiprocessor for which the number of registers is limited, and the
 * densities of K; and the sizes that follow. A block has as many teams as fit the shared memory of
 * the GPU. */
template <int A, int B, int C, int D, int WARPS, int TEAMS, int ROWS, int BLOCKS, int DENSITIES>
struct fmo_matrix_form {
    static constexpr int la = A, lb = B, lc = C, ld = D, order = A + B + C + D;
    static constexpr int N0 = FMO_CARTESIAN(A), N1 = FMO_CARTESIAN(B);
    static constexpr int N2 = FMO_CARTESIAN(C), N3 = FMO_CARTESIAN(D);
    static constexpr int warps = WARPS, teams = TEAMS, threads = 32 * WARPS * TEAMS;
    static constexpr int blocks = BLOCKS, densities = DENSITIES;
    /* of E, along an axis */
    static constexpr int bra_axis = (A + 1) * (B + 1) * FMO_MATRIX_TERMS;
    static constexpr int ket_axis = (C + 1) * (D + 1) * FMO_MATRIX_TERMS;
    static constexpr int bras = N0 * N1, kets = N2 * N3, sums = (N0 + N1) * (N2 + N3);
    static constexpr int bra_terms = FMO_HERMITE_COUNT(A + B), ket_terms = FMO_HERMITE_COUNT(C + D);
    static constexpr int hermites = FMO_HERMITE_COUNT(order), side = order + 1;
    static constexpr int bra_steps = (bra_terms + 3) / 4; /* of four along the sums */
    static constexpr int ket_steps = (ket_terms + 3) / 4;
    static constexpr int term_tiles = (ket_terms + 7) / 8; /* columns of G */
    static constexpr int ket_tiles = (kets + 7) / 8;       /* columns of integrals */
    static constexpr int bra_tiles = (bras + 7) / 8;
    /* chunks of rows of the same size */
    static constexpr int chunks = (bra_tiles + ROWS - 1) / ROWS;
    static constexpr int row_tiles = (bra_tiles + chunks - 1) / chunks, rows = 8 * row_tiles;
    static constexpr int own_rows = (row_tiles + WARPS - 1) / WARPS;
    static constexpr int own_kets = (ket_tiles + WARPS - 1) / WARPS;
    /* doubles from a row to the next: loads of four neighbours of eight rows use all banks */
    static constexpr int G_row = 8 * term_tiles + 4, V_row = kets + 1;
    static constexpr int cube = order * side * side + 1;
    /* of a team, in shared memory */
    static constexpr int doubles = 3 * (bra_axis + ket_axis) + cube +
                                   rows * (G_row > V_row ? G_row : V_row) + 2 * DENSITIES * sums;
    /* of the block */
    static constexpr int codes = 4 * bra_steps + 8 * term_tiles + chunks * rows + 8 * ket_tiles;
    static constexpr int team_bytes = (doubles + doubles % 2) * (int)sizeof(double);
    static constexpr int bytes =
        TEAMS * team_bytes + codes * (int)sizeof(int4) + (hermites + sums) * (int)sizeof(int);
};

/* The team waits for all its threads. */
template <class F> static __device__ __forceinline__ void fmo_matrix_wait(void)
{
    static_assert(F::warps == 1 || F::teams == 1, "matrix.cuh: barriers of teams");
    if constexpr (F::warps == 1)
        __syncwarp();
    else
        __syncthreads();
}

/* Teams of the block. */
template <class F> static __device__ __forceinline__ unsigned fmo_matrix_teams(void)
{
    return F::teams == 1 ? 1 : blockDim.x / (32 * F::warps);
}

/* The arrays of a team in shared memory. */
typedef struct fmo_matrix_team {
    int warp, lane, thread; /* of the team */
    double *bra, *ket;      /* expansions along the axes */
    double *R;              /* cube of R_tuv */
    double *block;          /* G, then integrals */
    double *D, *sums;       /* [densities][sums] blocks ik, il, jk, jl of D and of X^K */
    /* of the block: */
    int4 *bra_at, *ket_at;           /* of Hermite functions (fmo_matrix_powers) */
    int4 *bra_product, *ket_product; /* of products of functions (fmo_matrix_product) */
    int *hermite;                    /* [hermites] see warp.cuh */
    int *sum_at;                     /* [sums] of elements of D and sums (fmo_matrix_sum) */
} fmo_matrix_team;

/* Where the expansions of product a b of functions of two shells begin, along each axis. For
 * numbers behind the last product those of the first one; these are computed, but not used. */
static __device__ int4 fmo_matrix_product(int la, int lb, int number)
{
    const int NB = FMO_CARTESIAN(lb), axis = (la + 1) * (lb + 1);
    int at[3];
    if (number >= FMO_CARTESIAN(la) * NB) number = 0;
    for (int x = 0; x < 3; x++)
        at[x] = (x * axis + fmo_shell_power(la, number / NB, x) * (lb + 1) +
                 fmo_shell_power(lb, number % NB, x)) *
                FMO_MATRIX_TERMS;
    return make_int4(at[0], at[1], at[2], 0);
}

/* Where element number o of the blocks ik, il, jk and jl is: numbers of its functions in the two
 * shells, and whether these are j instead of i and l instead of k; stored as a code. */
typedef struct fmo_matrix_sum {
    int row, column, second, last;
} fmo_matrix_sum;
template <class F> static __device__ int fmo_matrix_sum_code(int o)
{
    constexpr int half = F::N0 * (F::N2 + F::N3);
    const int second = o >= half;
    const int in_half = second ? o - half : o, first = (second ? F::N1 : F::N0) * F::N2;
    const int last = in_half >= first, at = last ? in_half - first : in_half;
    const int columns = last ? F::N3 : F::N2;
    return at / columns | at % columns << 8 | second << 16 | last << 17;
}

/* Divides the shared memory and fills the tables of the block. */
template <class F>
static __device__ __forceinline__ fmo_matrix_team fmo_matrix_begin(double *memory)
{
    fmo_matrix_team s;
    s.thread = threadIdx.x % (32 * F::warps);
    s.warp = s.thread / 32;
    s.lane = s.thread % 32;
    s.bra = memory + threadIdx.x / (32 * F::warps) * (F::doubles + F::doubles % 2);
    s.ket = s.bra + 3 * F::bra_axis;
    s.R = s.ket + 3 * F::ket_axis;
    s.D = s.R + F::cube;
    s.sums = s.D + F::densities * F::sums;
    s.block = s.sums + F::densities * F::sums;
    s.bra_at = (int4 *)(memory + fmo_matrix_teams<F>() * (F::doubles + F::doubles % 2));
    s.ket_at = s.bra_at + 4 * F::bra_steps;
    s.bra_product = s.ket_at + 8 * F::term_tiles;
    s.ket_product = s.bra_product + F::chunks * F::rows;
    s.hermite = (int *)(s.ket_product + 8 * F::ket_tiles);
    s.sum_at = s.hermite + F::hermites;
    fmo_warp_begin(F::order, s.hermite);
    for (int k = threadIdx.x; k < 4 * F::bra_steps; k += blockDim.x)
        s.bra_at[k] = fmo_matrix_powers(F::side, k, F::bra_terms);
    for (int k = threadIdx.x; k < 8 * F::term_tiles; k += blockDim.x)
        s.ket_at[k] = fmo_matrix_powers(F::side, k, F::ket_terms);
    for (int k = threadIdx.x; k < F::chunks * F::rows; k += blockDim.x)
        s.bra_product[k] = fmo_matrix_product(F::la, F::lb, k);
    for (int k = threadIdx.x; k < 8 * F::ket_tiles; k += blockDim.x)
        s.ket_product[k] = fmo_matrix_product(F::lc, F::ld, k);
    for (int k = threadIdx.x; k < F::sums; k += blockDim.x) s.sum_at[k] = fmo_matrix_sum_code<F>(k);
    __syncthreads();
    return s;
}

/* Expansions of a product of functions along the axes. */
typedef struct fmo_matrix_factors {
    const double *x, *y, *z;
} fmo_matrix_factors;
static __device__ __forceinline__ fmo_matrix_factors fmo_matrix_find(const double *E, int4 product)
{
    return {E + product.x, E + product.y, E + product.z};
}

/* An element of an expansion. */
static __device__ __forceinline__ double fmo_matrix_element(const fmo_matrix_factors &f,
                                                            int4 powers)
{
    return f.x[powers.x] * f.y[powers.y] * f.z[powers.z];
}

/* Whether number n of the tiles that a warp takes in turns is one of `tiles`. */
template <class F> static __device__ __forceinline__ bool fmo_matrix_has(int warp, int n, int tiles)
{
    return F::warps * (n + 1) <= tiles || warp + F::warps * n < tiles;
}

/* Adds sum_t E^ab_t R_(t+u) of a primitive quartet to the tiles of G of a warp. */
template <class F>
static __device__ __forceinline__ void fmo_matrix_add_bra(const fmo_matrix_team &s, int first,
                                                          double g[F::own_rows][F::term_tiles][2])
{
    fmo_matrix_factors row[F::own_rows];
    const double *from[F::term_tiles];
    FMO_UNROLL
    for (int r = 0; r < F::own_rows; r++) {
        const int tile = fmo_matrix_has<F>(s.warp, r, F::row_tiles) ? s.warp + F::warps * r : 0;
        row[r] = fmo_matrix_find(s.bra, s.bra_product[first + 8 * tile + s.lane / 4]);
    }
    FMO_UNROLL
    for (int n = 0; n < F::term_tiles; n++) from[n] = s.R + s.ket_at[8 * n + s.lane / 4].w;
#pragma unroll 1
    for (int k = 0; k < F::bra_steps; k++) {
        const int4 t = s.bra_at[4 * k + s.lane % 4];
        double a[F::own_rows];
        FMO_UNROLL
        for (int r = 0; r < F::own_rows; r++) a[r] = fmo_matrix_element(row[r], t);
        FMO_UNROLL
        for (int n = 0; n < F::term_tiles; n++) {
            const double b = from[n][t.w];
            FMO_UNROLL
            for (int r = 0; r < F::own_rows; r += 2) {
                if (r + 1 < F::own_rows && fmo_matrix_has<F>(s.warp, r + 1, F::row_tiles))
                    fmo_matrix_multiply_two(a[r], a[r + 1], b, g[r][n], g[r + 1][n]);
                else if (fmo_matrix_has<F>(s.warp, r, F::row_tiles))
                    fmo_matrix_multiply(a[r], b, g[r][n]);
            }
        }
    }
}

/* Stores the tiles of G of a warp. */
template <class F>
static __device__ __forceinline__ void fmo_matrix_store(const fmo_matrix_team &s,
                                                        double g[F::own_rows][F::term_tiles][2])
{
    FMO_UNROLL
    for (int r = 0; r < F::own_rows; r++) {
        if (!fmo_matrix_has<F>(s.warp, r, F::row_tiles)) continue;
        double *const to =
            s.block + (8 * (s.warp + F::warps * r) + s.lane / 4) * F::G_row + 2 * (s.lane % 4);
        FMO_UNROLL
        for (int n = 0; n < F::term_tiles; n++) {
            to[8 * n] = g[r][n][0];
            to[8 * n + 1] = g[r][n][1];
        }
    }
}

/* Adds sum_u G[ab][u] E^cd_u (-1)^u to the integrals of a warp, columns by tiles. */
template <class F>
static __device__ __forceinline__ void fmo_matrix_add_ket(const fmo_matrix_team &s,
                                                          double v[F::own_kets][F::row_tiles][2])
{
    fmo_matrix_factors column[F::own_kets];
    FMO_UNROLL
    for (int n = 0; n < F::own_kets; n++) {
        const int tile = fmo_matrix_has<F>(s.warp, n, F::ket_tiles) ? s.warp + F::warps * n : 0;
        column[n] = fmo_matrix_find(s.ket, s.ket_product[8 * tile + s.lane / 4]);
    }
    const double *const from = s.block + s.lane / 4 * F::G_row + s.lane % 4;
#pragma unroll 1
    for (int k = 0; k < F::ket_steps; k++) {
        const int4 u = s.ket_at[4 * k + s.lane % 4];
        double a[F::row_tiles];
        FMO_UNROLL
        for (int r = 0; r < F::row_tiles; r++) a[r] = from[8 * r * F::G_row + 4 * k];
        FMO_UNROLL
        for (int n = 0; n < F::own_kets; n++) {
            if (!fmo_matrix_has<F>(s.warp, n, F::ket_tiles)) continue;
            const double b = fmo_matrix_element(column[n], u);
            FMO_UNROLL
            for (int r = 0; r + 1 < F::row_tiles; r += 2)
                fmo_matrix_multiply_two(a[r], a[r + 1], b, v[n][r], v[n][r + 1]);
            if (F::row_tiles % 2)
                fmo_matrix_multiply(a[F::row_tiles - 1], b, v[n][F::row_tiles - 1]);
        }
    }
}

/* Stores the integrals of a warp as [rows][kets]. */
template <class F>
static __device__ __forceinline__ void
fmo_matrix_store_integrals(const fmo_matrix_team &s, double v[F::own_kets][F::row_tiles][2])
{
    FMO_UNROLL
    for (int n = 0; n < F::own_kets; n++) {
        const int column = 8 * (s.warp + F::warps * n) + 2 * (s.lane % 4);
        FMO_UNROLL
        for (int r = 0; r < F::row_tiles; r++) {
            FMO_UNROLL
            for (int e = 0; e < 2; e++)
                if (column + e < F::kets)
                    s.block[(8 * r + s.lane / 4) * F::V_row + column + e] = v[n][r][e];
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
template <class F>
static __device__ void fmo_matrix_digest(const fmo_matrix_team &s, int first, int end)
{
    const int ik = F::N0 * F::N2, il = F::N0 * F::N3, jk = F::N1 * F::N2;
    for (int o = s.thread; o < F::sums; o += 32 * F::warps) {
        const fmo_matrix_sum at = fmo_matrix_find_sum(s, o);
        /* D of the two other functions */
        const double *const den =
            s.D + (at.second ? (at.last ? 0 : ik) : ik + il + (at.last ? 0 : jk));
        const int rest = at.last ? F::N2 : F::N3; /* functions of the ket's other shell */
        const int column = at.last ? at.column : at.column * F::N3, step = at.last ? F::N3 : 1;
        /* rows at0 + n step0, and those of them that are in the range */
        const int at0 = at.second ? at.row : at.row * F::N1, step0 = at.second ? F::N1 : 1;
        const int begin = first > at0 ? (first - at0 + step0 - 1) / step0 : 0;
        const int past = end > at0 ? (end - at0 + step0 - 1) / step0 : 0;
        const int num = at.second ? F::N0 : F::N1;
        double sum[F::densities] = {};
        for (int n = begin; n < (past < num ? past : num); n++) {
            const double *const v = s.block + (at0 + n * step0 - first) * F::V_row + column;
            for (int m = 0; m < rest; m++) {
                const double value = v[m * step];
                FMO_UNROLL
                for (int d = 0; d < F::densities; d++)
                    sum[d] += den[d * F::sums + n * rest + m] * value;
            }
        }
        FMO_UNROLL
        for (int d = 0; d < F::densities; d++) s.sums[d * F::sums + o] += sum[d];
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

/* The vectors between the centres of a quartet. */
typedef struct fmo_matrix_vectors {
    double AC[3], AB[3], CD[3];
} fmo_matrix_vectors;

/* The primitives of a quartet whose expansions and R_tuv are in shared memory; -1: none. */
typedef struct fmo_matrix_held {
    int bra, ket;
} fmo_matrix_held;

/* Computes what is not held of expansions and R_tuv of a primitive quartet, by different warps of
 * the team. */
template <class F>
static __device__ void fmo_matrix_prepare(const fmo_hermite_exchange_args &a,
                                          const fmo_matrix_team &s, const fmo_prim_pair &p,
                                          const fmo_prim_pair &q, bool new_bra, bool new_ket,
                                          const fmo_matrix_vectors &at)
{
    if (s.warp == 0 && new_bra) fmo_matrix_expand<F::la, F::lb>({p.d, at.AB, p.half, 1.0}, s.bra);
    if (s.warp == 1 % F::warps && new_ket)
        fmo_matrix_expand<F::lc, F::ld>({q.d, at.CD, q.half, -1.0}, s.ket);
    if (s.warp == 2 % F::warps) {
        const double PQ[3] = {at.AC[0] + (p.d[0] - q.d[0]), at.AC[1] + (p.d[1] - q.d[1]),
                              at.AC[2] + (p.d[2] - q.d[2])};
        const double start =
            fmo_warp_start(a.matrices.op, a.boys, F::order, p.p, q.p, PQ) * (p.k * q.k);
        fmo_warp_coulomb<(F::hermites + 31) / 32, F::order>(start, PQ, F::order,
                                                            fmo_warp_codes{s.hermite}, s.R);
    }
}

/* Computes the integrals of the rows from `first` on, in s.block. Returns the number of primitive
 * quartets. held: of this quartet; updated. */
template <class F>
static __device__ unsigned fmo_matrix_integrals(const fmo_hermite_exchange_args &a,
                                                const fmo_matrix_team &s, int2 quartet, int first,
                                                fmo_matrix_held *held)
{
    const int ket = quartet.y & (FMO_GPU_PAIRS_MAX - 1), bra = quartet.x;
    const int code = (int)((unsigned)quartet.y >> FMO_GPU_KET_BITS) & FMO_GPU_FACTOR_MAX;
    const float cutoff = a.prim_cutoff * __int_as_float((code - FMO_GPU_FACTOR_TOP + 127) << 23);
    const int4 bras = a.bra.prims[bra], kets = a.ket.prims[ket];
    fmo_matrix_vectors at;
    double v[F::own_kets][F::row_tiles][2];
    unsigned prims = 0;
    FMO_UNROLL
    for (int x = 0; x < 3; x++) {
        at.AC[x] =
            a.bra.centre[x * (size_t)a.bra.num + bra] - a.ket.centre[x * (size_t)a.ket.num + ket];
        at.AB[x] = a.bra.centre[(3 + x) * (size_t)a.bra.num + bra];
        at.CD[x] = a.ket.centre[(3 + x) * (size_t)a.ket.num + ket];
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
            if (held->bra != num || held->ket != n) {
                fmo_matrix_prepare<F>(a, s, p, q, held->bra != num, held->ket != n, at);
                *held = {num, n};
                fmo_matrix_wait<F>();
            }
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
template <class F>
static __device__ void fmo_matrix_load(const fmo_matrix_team &s, const fmo_gpu_matrices &m, int4 ij,
                                       int4 kl)
{
    for (int o = s.thread; o < F::sums; o += 32 * F::warps) {
        const fmo_matrix_sum at = fmo_matrix_find_sum(s, o);
        const int row = (at.second ? ij.y : ij.x) + at.row;
        const double *const from =
            m.density + (size_t)row * m.nao + (at.last ? kl.y : kl.x) + at.column;
        FMO_UNROLL
        for (int d = 0; d < F::densities; d++) {
            s.D[d * F::sums + o] = __ldg(from + d * m.density_step);
            s.sums[d * F::sums + o] = 0.0;
        }
    }
}

/* Adds the sums to X^K with the strategy. Returns the number of atomics issued by this thread. */
template <class F, class S>
static __device__ unsigned fmo_matrix_add(const S &scatter, const fmo_matrix_team &s,
                                          const fmo_gpu_matrices &m, int4 ij, int4 kl,
                                          double factor)
{
    unsigned issued = 0;
    for (int first = 0; first < F::sums; first += 32 * F::warps) {
        const int o = first + s.thread;
        const bool active = o < F::sums;
        const unsigned mask = __ballot_sync(0xffffffffu, active);
        const fmo_matrix_sum at = fmo_matrix_find_sum(s, active ? o : 0);
        const int row = (at.second ? ij.y : ij.x) + at.row;
        double *const to = m.exchange + (size_t)row * m.nao + (at.last ? kl.y : kl.x) + at.column;
        FMO_UNROLL
        for (int d = 0; d < F::densities; d++) {
            const double value = active ? factor * s.sums[d * F::sums + o] : 0.0;
            if (mask && (fmo_gpu_together<S> || active))
                issued += fmo_gpu_scatter_block<S, 1, 1, false>(scatter, mask, active, 0u,
                                                                to + d * m.exchange_step, 0, &value,
                                                                m.exchange_least);
        }
    }
    return issued;
}

/* Computes the quartets of the list, one for each team at a time; N builds. */
template <class F, class S, int N>
__global__ void __launch_bounds__(F::threads, F::blocks)
    fmo_matrix_exchange(const __grid_constant__ fmo_gpu_many<fmo_hermite_exchange_args, N> many)
{
    extern __shared__ double memory[];
    const fmo_hermite_exchange_args &a = many.own();
    const unsigned count = *a.count, teams = fmo_matrix_teams<F>();
    if (blockIdx.x * teams >= count) return;
    const fmo_matrix_team s = fmo_matrix_begin<F>(memory);
    S scatter;
    fmo_gpu_prepare(scatter, a.matrices);
    unsigned issued = 0, prims = 0;
    const unsigned own = blockIdx.x * teams + threadIdx.x / (32 * F::warps);
    for (unsigned n = own; n < count; n += gridDim.x * teams) {
        const int2 quartet = a.list[n];
        const int ket = quartet.y & (FMO_GPU_PAIRS_MAX - 1), bra = quartet.x;
        const int4 ij = a.bra.at[bra], kl = a.ket.at[ket];
        fmo_matrix_load<F>(s, a.matrices, ij, kl);
        fmo_matrix_wait<F>();
        fmo_matrix_held held = {-1, -1};
        for (int chunk = 0; chunk < F::chunks; chunk++) {
            const int first = chunk * F::rows, end = first + F::rows;
            const unsigned computed = fmo_matrix_integrals<F>(a, s, quartet, first, &held);
            if (chunk == 0) prims += computed;
            fmo_matrix_digest<F>(s, first, end < F::bras ? end : F::bras);
            fmo_matrix_wait<F>();
        }
        issued +=
            fmo_matrix_add<F>(scatter, s, a.matrices, ij, kl, a.same && bra == ket ? 0.5 : 1.0);
        fmo_matrix_wait<F>();
    }
    fmo_scatter_finish(scatter);
    fmo_gpu_count_issued(a.matrices, issued);
    if (s.thread == 0 && prims) atomicAdd(a.prim_quartets, (unsigned long long)prims);
}

#endif
