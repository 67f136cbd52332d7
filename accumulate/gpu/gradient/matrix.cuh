/* The derivative of K for classes of high order: a warp computes a primitive quartet as products of
 * matrices on the tensor cores. With the products of density elements
 *
 *    G[ab][cd] = sum over terms  weight (D_ac D_bd + D_ad D_bc)
 *
 * and the expansions E of both pairs in Hermite functions,
 *
 *    C[r][cd] = sum_ab E[ab][r] G[ab][cd],     H[r][c] = sum_cd C[r][cd] E[cd][c].
 *
 * Rows r are the Hermite functions p of E, then those of its derivatives with respect to x, y and z
 * of A - B at constant P (docs/explanation/gradients.md), which are of lower order; columns c are
 * the same of the ket, with (-1)^q. The sum of H R_(p+q) over rows and columns of E is the energy,
 * with R_(p+q+1x) its derivative with respect to P, and over those of a derivative of E, the
 * derivative with respect to A - B or C - D. A p shell and its s partner are four functions.
 * C++ only. */
#ifndef FMO_GPU_GRADIENT_MATRIX_CUH
#define FMO_GPU_GRADIENT_MATRIX_CUH

#include "accumulate/gpu/gradient/gradient.h"
#include "accumulate/gpu/hermite/tiles.cuh"

/* Sizes of a class of shells A to D. */
template <int A, int B, int C, int D> struct fmo_gradient_matrix_form {
    static constexpr int la = A, lb = B, lc = C, ld = D, order = A + B + C + D + 1;
    static constexpr bool partner(int l) { return l + 1 == FMO_SHELL_LOW_L_COUNT; }
    static constexpr int functions(int l) { return FMO_CARTESIAN(l) + partner(l); }
    static constexpr int tiles(int num) { return (num + 7) / 8; }
    static constexpr int NA = functions(A), NB = functions(B), NC = functions(C), ND = functions(D);
    /* powers along an axis; the last row of a p shell is for its s partner */
    static constexpr int powers(int l) { return l + 1 + partner(l); }
    static constexpr int I = powers(A), J = powers(B), K = powers(C), L = powers(D);
    static constexpr int bras = NA * NB, kets = NC * ND;
    static constexpr int hermites = FMO_HERMITE_COUNT(order), side = order + 1;
    static constexpr int own_hermites = (hermites + 31) / 32; /* of a lane */
    /* tiles of rows of E, and of its derivatives; of columns of E, and of all, without a gap */
    static constexpr int E_rows = tiles(FMO_HERMITE_COUNT(A + B));
    static constexpr int derivative_rows = tiles(3 * FMO_HERMITE_COUNT(A + B - 1));
    static constexpr int E_columns = tiles(FMO_HERMITE_COUNT(C + D));
    static constexpr int all_columns =
        tiles(FMO_HERMITE_COUNT(C + D) + 3 * FMO_HERMITE_COUNT(C + D - 1));
    static constexpr int bra_steps = (bras + 3) / 4, ket_tiles = tiles(kets);
    /* chunks of the products of the ket */
    static constexpr int chunks = (ket_tiles + fmo_tuning_gpu_gradient_matrix_columns - 1) /
                                  fmo_tuning_gpu_gradient_matrix_columns;
    static constexpr int chunk = (ket_tiles + chunks - 1) / chunks;
    /* large G are computed and used chunk by chunk */
    static constexpr bool in_chunks = chunks > 1 &&
                                      bras *kets * 8 > (int)fmo_tuning_gpu_gradient_density_bytes;
    static constexpr int G_tiles = in_chunks ? chunk : chunks * chunk;
    /* doubles from a row of G to the next: loads of four rows of eight use all banks */
    static constexpr int G_row = 8 * G_tiles + (G_tiles % 2 ? 0 : 8);
    static constexpr int bra_axis = I * J * FMO_MATRIX_TERMS, ket_axis = K * L * FMO_MATRIX_TERMS;
    static constexpr int cube = order * side * side + 1;
    static constexpr int blocks = (NA + NB) * (NC + ND);
    static constexpr int fixed = 6 * bra_axis + 4 * bra_steps * G_row + blocks;
    static constexpr int of_ket = 6 * ket_axis + cube + 1;
    static constexpr int room = fmo_tuning_gpu_gradient_matrix_bytes / 8 - fixed;
    static constexpr int slots = room < 2 * of_ket ? 1 : room < 3 * of_ket ? 2 : 3;
    /* of a warp */
    static constexpr int doubles = (fixed + slots * of_ket + 1) / 2 * 2;
    /* of the block */
    static constexpr int codes =
        8 * (E_rows + derivative_rows + all_columns + chunks * chunk) + 4 * bra_steps;
    static constexpr int table_doubles = 2 * codes + 16 * own_hermites;
};

/* The arrays in shared memory. */
typedef struct fmo_gradient_matrix_memory {
    double *bra;              /* E[2][3][I][J][t] of the bra: expansions, then their derivatives */
    double *G, *blocks;       /* [4 bra_steps][G_row]; blocks AC, AD, BC, BD of D */
    double *ket;              /* [slots] E of the ket, R, number of the primitive pair or -1 */
    const int4 *row, *column; /* see fmo_gradient_matrix_term */
    const int4 *bra_product, *ket_product; /* of products: where E begins along each axis */
    const int *hermite;                    /* see warp.cuh */
} fmo_gradient_matrix_memory;

/* A row or column: where its elements of E or of a derivative are, from the beginning of a product
 * along each axis; and the place of its Hermite function in R, with the kind: 0 for E, 1 to 3 for
 * its derivatives, and none behind the last. stride: from E to its derivatives. */
enum { FMO_GRADIENT_MATRIX_NONE = 4, FMO_GRADIENT_MATRIX_KIND = 16 };
static __device__ int4 fmo_gradient_matrix_term(int side, int order, int stride, int n)
{
    const int all = FMO_HERMITE_COUNT(order), low = FMO_HERMITE_COUNT(order - 1);
    const int kind = n < all ? 0 : low && n < all + 3 * low ? 1 + (n - all) / low : 4;
    int4 term = make_int4(FMO_MATRIX_TERMS - 1, 0, 0, 0); /* elements that are 0 */
    if (kind < FMO_GRADIENT_MATRIX_NONE)
        term = fmo_matrix_powers(side, kind ? (n - all) % low : n, all);
    if (kind == 1) term.x += stride;
    if (kind == 2) term.y += stride;
    if (kind == 3) term.z += stride;
    term.w |= kind << FMO_GRADIENT_MATRIX_KIND;
    return term;
}
static __device__ __forceinline__ int fmo_gradient_matrix_place(int4 term)
{
    return term.w & ((1 << FMO_GRADIENT_MATRIX_KIND) - 1);
}
static __device__ __forceinline__ int fmo_gradient_matrix_kind(int4 term)
{
    return term.w >> FMO_GRADIENT_MATRIX_KIND;
}

/* Power of an axis in function n of a shell, or the row of the s partner. */
static __device__ int fmo_gradient_matrix_row(int l, int n, int x)
{
    if (!fmo_gradient_has_partner(l)) return fmo_shell_power(l, n, x);
    return n == 0 ? (x == 0 ? l + 1 : 0) : n - 1 == x;
}

/* Where the expansions of product number `n` of the functions of two shells begin; for numbers
 * behind the last those of the first, which are multiplied by 0. */
static __device__ int4 fmo_gradient_matrix_product(int la, int lb, int NA, int NB, int I, int J,
                                                   int n)
{
    int at[3];
    if (n >= NA * NB) n = 0;
    for (int x = 0; x < 3; x++)
        at[x] = ((x * I + fmo_gradient_matrix_row(la, n / NB, x)) * J +
                 fmo_gradient_matrix_row(lb, n % NB, x)) *
                FMO_MATRIX_TERMS;
    return make_int4(at[0], at[1], at[2], 0);
}

/* Divides the memory: the tables of the block, which are filled, then the arrays of each warp. */
template <class F>
static __device__ fmo_gradient_matrix_memory fmo_gradient_matrix_begin(double *memory)
{
    constexpr int all = FMO_HERMITE_COUNT(F::la + F::lb), rows = F::E_rows + F::derivative_rows;
    fmo_gradient_matrix_memory s;
    int4 *const row = (int4 *)memory, *const column = row + 8 * rows;
    int4 *const bra_product = column + 8 * F::all_columns;
    int4 *const ket_product = bra_product + 4 * F::bra_steps;
    int *const hermite = (int *)(ket_product + 8 * F::chunks * F::chunk);
    double *const own = memory + F::table_doubles + threadIdx.x / 32 * F::doubles;
    fmo_warp_begin(F::order, hermite);
    for (int k = threadIdx.x; k < 8 * rows; k += blockDim.x) {
        /* derivatives begin with a tile of their own */
        const int n = k < 8 * F::E_rows ? k : all + k - 8 * F::E_rows;
        const bool none = k < 8 * F::E_rows && k >= all;
        row[k] =
            fmo_gradient_matrix_term(F::side, F::la + F::lb, 3 * F::bra_axis, none ? 4 * all : n);
    }
    for (int k = threadIdx.x; k < 8 * F::all_columns; k += blockDim.x)
        column[k] = fmo_gradient_matrix_term(F::side, F::lc + F::ld, 3 * F::ket_axis, k);
    for (int k = threadIdx.x; k < 4 * F::bra_steps; k += blockDim.x)
        bra_product[k] = fmo_gradient_matrix_product(F::la, F::lb, F::NA, F::NB, F::I, F::J, k);
    for (int k = threadIdx.x; k < 8 * F::chunks * F::chunk; k += blockDim.x)
        ket_product[k] = fmo_gradient_matrix_product(F::lc, F::ld, F::NC, F::ND, F::K, F::L, k);
    s.row = row, s.column = column;
    s.bra_product = bra_product, s.ket_product = ket_product;
    s.hermite = hermite;
    s.bra = own;
    s.G = s.bra + 6 * F::bra_axis;
    for (int k = threadIdx.x % 32; k < 4 * F::bra_steps * F::G_row; k += 32)
        s.G[k] = 0.0; /* rows and columns behind the last stay so */
    s.blocks = s.G + 4 * F::bra_steps * F::G_row;
    s.ket = s.blocks + F::blocks;
    return s;
}

/* The density of a quartet, G, of all terms; of a chunk of its columns where F::in_chunks. A lane
 * has columns cd. */
template <class F>
static __device__ __forceinline__ void
fmo_gradient_matrix_density(const fmo_gradient_matrix_memory &s, int chunk,
                            const fmo_gradient_density *term, int term_num, int nao,
                            const fmo_gradient_functions *bra, const fmo_gradient_functions *ket)
{
    constexpr int columns = F::NC + F::ND;
    const int lane = threadIdx.x % 32;
    for (int t = 0; t < term_num; t++) {
        const double *const D = term[t].D;
        FMO_UNROLL
        for (int k = lane; k < F::blocks; k += 32) { /* [a, b][c, d] */
            const int i = k / columns, j = k % columns;
            const int row = i < F::NA ? fmo_gradient_function(bra[0], F::la, i)
                                      : fmo_gradient_function(bra[1], F::lb, i - F::NA);
            const int column = j < F::NC ? fmo_gradient_function(ket[0], F::lc, j)
                                         : fmo_gradient_function(ket[1], F::ld, j - F::NC);
            s.blocks[k] = __ldg(D + (size_t)row * (size_t)nao + column);
        }
        __syncwarp();
        FMO_UNROLL
        for (int column = lane; column < (F::in_chunks ? 8 * F::chunk : F::kets); column += 32) {
            const int at = F::in_chunks ? 8 * F::chunk * chunk + column : column;
            const int cd = at < F::kets ? at : 0;
            const double weight = at < F::kets ? term[t].weight : 0.0;
            const double *const c = s.blocks + cd / F::ND, *const d = s.blocks + F::NC + cd % F::ND;
            double of_c[F::NB], of_d[F::NB]; /* D_bc and D_bd */
            FMO_UNROLL
            for (int b = 0; b < F::NB; b++) {
                of_c[b] = weight * c[(F::NA + b) * columns];
                of_d[b] = weight * d[(F::NA + b) * columns];
            }
            FMO_UNROLL
            for (int a = 0; a < F::NA; a++) {
                const double a_c = c[a * columns], a_d = d[a * columns];
                FMO_UNROLL
                for (int b = 0; b < F::NB; b++) {
                    double *const to = &s.G[(a * F::NB + b) * F::G_row + column];
                    const double value = a_c * of_d[b] + a_d * of_c[b];
                    *to = t ? *to + value : value;
                }
            }
        }
        __syncwarp();
    }
}

/* Computes E[2][3][I][J][t] of a primitive pair, by one warp: expansions, then their derivatives.
 */
template <int LA, int LB, int I, int J>
static __device__ __forceinline__ void
fmo_gradient_matrix_expand(const fmo_gradient_prim &prim, const double *AB, double sign, double *E)
{
    constexpr int axis = I * J * FMO_MATRIX_TERMS;
    const int lane = threadIdx.x % 32, x = lane / FMO_MATRIX_TERMS, t = lane % FMO_MATRIX_TERMS;
    const double of_i = -prim.b_over_p, of_j = 1.0 - prim.b_over_p;
    double e[LA + 1][LB + 1];
    fmo_matrix_expand_lane<LA, LB>({prim.PA, AB, 0.5 / prim.p, sign}, e);
    FMO_UNROLL
    for (int i = 0; i < I; i++) {
        FMO_UNROLL
        for (int j = 0; j < J; j++) { /* i > LA, j > LB: s partners, along the first axis */
            const int a = i > LA ? 0 : i, b = j > LB ? 0 : j;
            const double ratio = (i > LA ? prim.ratio[0] : 1.0) * (j > LB ? prim.ratio[1] : 1.0);
            double derivative = 0.0;
            if (a > 0) derivative = of_i * a * e[a ? a - 1 : 0][b];
            if (b > 0) derivative += of_j * b * e[a][b ? b - 1 : 0];
            if (x >= 3 || ((i > LA || j > LB) && x > 0)) continue;
            double *const to = E + x * axis + (i * J + j) * FMO_MATRIX_TERMS + t;
            to[0] = ratio * e[a][b];
            to[3 * axis] = ratio * derivative;
        }
    }
    __syncwarp();
}

/* An element of an expansion or of a derivative. */
static __device__ __forceinline__ double fmo_gradient_matrix_element(const double *E, int4 product,
                                                                     int4 term)
{
    return E[product.x + term.x] * E[product.y + term.y] * E[product.z + term.z];
}

/* Multiplies tiles of A of ROWS blocks of rows with a tile of B. */
template <int ROWS>
static __device__ __forceinline__ void fmo_gradient_matrix_multiply(const double *a, double b,
                                                                    double (*d)[2])
{
    FMO_UNROLL
    for (int r = 0; r + 1 < ROWS; r += 2)
        fmo_matrix_multiply_two(a[r], a[r + 1], b, d[r], d[r + 1]);
    if (ROWS % 2) fmo_matrix_multiply(a[ROWS - 1], b, d[ROWS - 1]);
}

/* Computes C of ROWS tiles of rows and a chunk of products of the ket. */
template <class F, int ROWS>
static __device__ __forceinline__ void
fmo_gradient_matrix_bra(const fmo_gradient_matrix_memory &s, const double *bra, int first,
                        int chunk, double C[F::chunk][ROWS][2])
{
    const int lane = threadIdx.x % 32;
    const double *const G =
        s.G + lane % 4 * F::G_row + (F::in_chunks ? 0 : 8 * F::chunk * chunk) + lane / 4;
    int4 term[ROWS];
    FMO_UNROLL
    for (int r = 0; r < ROWS; r++) {
        term[r] = s.row[8 * (first + r) + lane / 4];
        FMO_UNROLL
        for (int j = 0; j < F::chunk; j++) C[j][r][0] = C[j][r][1] = 0.0;
    }
#pragma unroll 1
    for (int k = 0; k < F::bra_steps; k++) {
        const int4 product = s.bra_product[4 * k + lane % 4];
        double a[ROWS];
        FMO_UNROLL
        for (int r = 0; r < ROWS; r++) a[r] = fmo_gradient_matrix_element(bra, product, term[r]);
        FMO_UNROLL
        for (int j = 0; j < F::chunk; j++)
            fmo_gradient_matrix_multiply<ROWS>(a, G[4 * k * F::G_row + 8 * j], C[j]);
    }
}

/* Computes a tile of columns of H from C. Columns 2k and 2k + 1 of a tile of C are column k of two
 * tiles of A, so that C stays in registers. */
template <class F, int ROWS>
static __device__ __forceinline__ void
fmo_gradient_matrix_ket(const fmo_gradient_matrix_memory &s, const double *ket, int chunk,
                        int column, const double C[F::chunk][ROWS][2], double H[ROWS][2])
{
    const int lane = threadIdx.x % 32;
    const int4 term = s.column[8 * column + lane / 4];
    FMO_UNROLL
    for (int r = 0; r < ROWS; r++) H[r][0] = H[r][1] = 0.0;
    FMO_UNROLL
    for (int j = 0; j < F::chunk; j++) {
        FMO_UNROLL
        for (int e = 0; e < (F::kets > 1 ? 2 : 1); e++) {
            const int4 product = s.ket_product[8 * (F::chunk * chunk + j) + 2 * (lane % 4) + e];
            double a[ROWS];
            FMO_UNROLL
            for (int r = 0; r < ROWS; r++) a[r] = C[j][r][e];
            fmo_gradient_matrix_multiply<ROWS>(a, fmo_gradient_matrix_element(ket, product, term),
                                               H);
        }
    }
}

/* Adds the contribution of ROWS tiles of rows of E and one primitive pair of the ket. sums: the
 * energy, then its derivatives with respect to P and to C - D. */
template <class F, int ROWS>
static __device__ __forceinline__ void
fmo_gradient_matrix_add_energy(const fmo_gradient_matrix_memory &s, const double *ket, int first,
                               int chunk, const double C[F::chunk][ROWS][2], double *sums)
{
    const int lane = threadIdx.x % 32;
    const double *R[ROWS];
    FMO_UNROLL
    for (int r = 0; r < ROWS; r++)
        R[r] = ket + 6 * F::ket_axis + fmo_gradient_matrix_place(s.row[8 * (first + r) + lane / 4]);
#pragma unroll 1
    for (int t = 0; t < F::all_columns; t++) {
        double H[ROWS][2];
        fmo_gradient_matrix_ket<F, ROWS>(s, ket, chunk, t, C, H);
        FMO_UNROLL
        for (int e = 0; e < 2; e++) {
            const int4 term = s.column[8 * t + 2 * (lane % 4) + e];
            const int place = fmo_gradient_matrix_place(term),
                      kind = fmo_gradient_matrix_kind(term);
            double own = 0.0;
            FMO_UNROLL
            for (int r = 0; r < ROWS; r++) own += H[r][e] * R[r][place];
            FMO_UNROLL
            for (int x = 0; x < 3; x++)
                if (kind == 1 + x) sums[4 + x] += own;
            if (kind) continue;
            sums[0] += own;
            FMO_UNROLL
            for (int r = 0; r < ROWS; r++) {
                sums[1] += H[r][e] * R[r][place + 1];
                sums[2] += H[r][e] * R[r][place + F::side];
                sums[3] += H[r][e] * R[r][place + F::side * F::side];
            }
        }
    }
}

/* Adds ROWS tiles of rows of derivatives: those with respect to A - B. */
template <class F, int ROWS>
static __device__ __forceinline__ void
fmo_gradient_matrix_add_bra(const fmo_gradient_matrix_memory &s, const double *ket, int first,
                            int chunk, const double C[F::chunk][ROWS][2], double *sums)
{
    const int lane = threadIdx.x % 32;
    double own[ROWS] = {};
#pragma unroll 1
    for (int t = 0; t < F::E_columns; t++) {
        double H[ROWS][2];
        fmo_gradient_matrix_ket<F, ROWS>(s, ket, chunk, t, C, H);
        FMO_UNROLL
        for (int e = 0; e < 2; e++) {
            const int4 term = s.column[8 * t + 2 * (lane % 4) + e];
            if (fmo_gradient_matrix_kind(term)) continue;
            const double *const R = ket + 6 * F::ket_axis + fmo_gradient_matrix_place(term);
            FMO_UNROLL
            for (int r = 0; r < ROWS; r++)
                own[r] += H[r][e] * R[fmo_gradient_matrix_place(s.row[8 * (first + r) + lane / 4])];
        }
    }
    FMO_UNROLL
    for (int r = 0; r < ROWS; r++) {
        const int kind = fmo_gradient_matrix_kind(s.row[8 * (first + r) + lane / 4]);
        FMO_UNROLL
        for (int x = 0; x < 3; x++)
            if (kind == 1 + x) sums[x] += own[r];
    }
}

/* The primitive pairs of a quartet, and the vectors between their shells. */
typedef struct fmo_gradient_matrix_pairs {
    const fmo_gradient_prim *bra, *kets;
    const double *AB, *CD;
    const double *E; /* of the bra */
} fmo_gradient_matrix_pairs;

/* Adds ROWS tiles of rows, of E or of its derivatives, for the primitive pairs of the ket in the
 * slots: to the derivatives with respect to A, to A and B together, and to C, to[9]; a part of them
 * in each lane. */
template <class F, int ROWS, bool DERIVATIVES>
static __device__ __forceinline__ void
fmo_gradient_matrix_add(const fmo_gradient_matrix_memory &s, int own_chunk, int first, int num,
                        const fmo_gradient_matrix_pairs &pairs, double *to)
{
#pragma unroll 1
    for (int chunk = own_chunk; chunk < (F::in_chunks ? own_chunk + 1 : F::chunks); chunk++) {
        double C[F::chunk][ROWS][2];
        fmo_gradient_matrix_bra<F, ROWS>(s, pairs.E, first, chunk, C);
#pragma unroll 1
        for (int n = 0; n < num; n++) {
            const double *const ket = s.ket + n * F::of_ket;
            if constexpr (DERIVATIVES) {
                fmo_gradient_matrix_add_bra<F, ROWS>(s, ket, first, chunk, C, to);
            } else {
                const fmo_gradient_prim &p = *pairs.bra, &q = pairs.kets[(int)ket[F::of_ket - 1]];
                const double b = p.b_over_p, a = 1.0 - b, d = q.b_over_p, c = 1.0 - d;
                double sums[7] = {};
                fmo_gradient_matrix_add_energy<F, ROWS>(s, ket, first, chunk, C, sums);
                const double of_bra = -2.0 * p.p * a * b * sums[0];
                const double of_ket = -2.0 * q.p * c * d * sums[0];
                FMO_UNROLL
                for (int x = 0; x < 3; x++) {
                    to[x] += a * sums[1 + x] + of_bra * pairs.AB[x];
                    to[3 + x] += sums[1 + x];
                    to[6 + x] += sums[4 + x] - c * sums[1 + x] + of_ket * pairs.CD[x];
                }
            }
        }
    }
}

/* Adds tiles [FIRST, END) of rows. */
template <class F, int FIRST, int END, bool DERIVATIVES>
static __device__ __forceinline__ void
fmo_gradient_matrix_add_rows(const fmo_gradient_matrix_memory &s, int chunk, int num,
                             const fmo_gradient_matrix_pairs &pairs, double *to)
{
    constexpr int rows_max = fmo_tuning_gpu_gradient_matrix_rows, whole = (END - FIRST) / rows_max;
    constexpr int rest = (END - FIRST) % rows_max;
#pragma unroll 1
    for (int k = 0; k < whole; k++)
        fmo_gradient_matrix_add<F, rows_max, DERIVATIVES>(s, chunk, FIRST + rows_max * k, num,
                                                          pairs, to);
    if constexpr (rest > 0)
        fmo_gradient_matrix_add<F, rest, DERIVATIVES>(s, chunk, END - rest, num, pairs, to);
}

/* Adds the derivatives of a primitive pair of the bra with those of the ket in the slots. */
template <class F>
static __device__ void fmo_gradient_matrix_quartets(const fmo_gradient_matrix_memory &s, int chunk,
                                                    int num, const fmo_gradient_matrix_pairs &pairs,
                                                    double *to)
{
    constexpr int rows = F::E_rows + F::derivative_rows;
    fmo_gradient_matrix_add_rows<F, 0, F::E_rows, false>(s, chunk, num, pairs, to);
    fmo_gradient_matrix_add_rows<F, F::E_rows, rows, true>(s, chunk, num, pairs, to);
}

/* Computes the expansions of a primitive pair of the ket, unless the slot has them, and R with one
 * of the bra, whose prefactor is multiplied by `factor`. */
template <class F>
static __device__ __forceinline__ void
fmo_gradient_matrix_fill(const double *boys, const fmo_operator *op,
                         const fmo_gradient_matrix_pairs &pairs, double factor, int number,
                         const double *AC, const int *code, double *slot)
{
    const fmo_gradient_prim &p = *pairs.bra, &q = pairs.kets[number];
    const double PQ[3] = {AC[0] + (p.PA[0] - q.PA[0]), AC[1] + (p.PA[1] - q.PA[1]),
                          AC[2] + (p.PA[2] - q.PA[2])};
    const bool held = (int)slot[F::of_ket - 1] == number;
    __syncwarp();
    if (!held) {
        fmo_gradient_matrix_expand<F::lc, F::ld, F::K, F::L>(q, pairs.CD, -1.0, slot);
        if (threadIdx.x % 32 == 0) slot[F::of_ket - 1] = number;
    }
    const double start =
        fmo_warp_start(op, boys + (size_t)F::order * FMO_BOYS_ROWS * FMO_BOYS_ROW_SIZE, F::order,
                       p.p, q.p, PQ) *
        (factor * p.k * q.k);
    fmo_warp_coulomb<F::own_hermites, F::order>(
        start, PQ, F::order, [&](int n) { return code[n]; }, slot + 6 * F::ket_axis);
}

#endif
