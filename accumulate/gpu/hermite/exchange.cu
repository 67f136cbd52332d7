/* K of classes with d or f shells: integrals of the listed quartets, digested and scattered
 * (docs/explanation/gpu/d-shells.md; integrals: integrals/eri/eri_slice.h). Compiled for each row
 * of FMO_GPU_D_VARIANT_TABLE, with FMO_VARIANT set to its name, and each segment of the classes
 * (FMO_HERMITE_EXCHANGE_TABLE), with FMO_PART set to its number. "Body" below: the slice code of
 * one function of the first shell, which serves all functions that differ from it by a turn, a
 * cyclic permutation of the axes. */
#include "accumulate/gpu/hermite/hermite.h"

#include "accumulate/gpu/kernels/near.cuh"
#define FMO_SLICE_ANG_MOM_MAX \
    (FMO_PART >= FMO_HERMITE_F_PART ? (int)FMO_SLICE_ANG_MOM_LIMIT : (int)FMO_UNROLLED_ANG_MOM_MAX)
#include "accumulate/gpu/hermite/matrix.cuh"
#include "integrals/eri/eri_slice.h"

#define CAT_(a, b, c, d) a##b##c##d
#define CAT(a, b, c, d)  CAT_(a, b, c, d)

#define VARIANT_TYPE(name, scatter, commit, ...)         \
    struct variant_##name {                              \
        typedef __VA_ARGS__ type;                        \
        static constexpr fmo_scatter strategy = scatter; \
        static constexpr fmo_commit form = commit;       \
    };
FMO_GPU_D_VARIANT_TABLE(VARIANT_TYPE)
#undef VARIANT_TYPE

typedef CAT(variant_, FMO_VARIANT, , ) variant;
typedef variant::type strategy;

/* The classes as types. A group of passes has the same functions of the body, for up to three
 * turns; those of an f shell end with the single function xyz. */
template <int E> struct fmo_hermite_class {
    static constexpr int id = E, bra = fmo_eri_class_bra(E), ket = fmo_eri_class_ket(E);
    static constexpr int LA = fmo_pair_ang_mom(bra, 0), LB = fmo_pair_ang_mom(bra, 1);
    static constexpr int LC = fmo_pair_ang_mom(ket, 0), LD = fmo_pair_ang_mom(ket, 1);
    static constexpr int N0 = FMO_CARTESIAN(LA), N1 = FMO_CARTESIAN(LB), N2 = FMO_CARTESIAN(LC),
                         N3 = FMO_CARTESIAN(LD);
    static constexpr fmo_hermite_form form = fmo_hermite_form_of(E);
    static constexpr int order = LA + LB + LC + LD, slice = N1 * N2 * N3, size = form.rows * slice;
    static constexpr int passes = fmo_hermite_passes(E), groups = (passes + 2) / 3;
    static constexpr int threads = fmo_hermite_threads(E);
    static constexpr int stride = form.shared ? threads : 1; /* integrals */
    static_assert(form.matrix || form.segment != FMO_PART || LA <= FMO_SLICE_ANG_MOM_MAX,
                  "exchange.cu: a class with f shells in a segment before FMO_HERMITE_F_PART");
    static __host__ __device__ constexpr bool single(int group)
    {
        return passes > 1 && passes % 3 == 1 && group == groups - 1;
    }
    static __host__ __device__ constexpr int first(int group)
    {
        return single(group) ? fmo_slice_function(fmo_slice_bodies(LA) - 1) : group * form.rows;
    }
    static __host__ __device__ constexpr int rows(int group)
    {
        return single(group) ? 1 : form.rows;
    }
};

/* Whether one kernel of a class serves a build, several, and an operator. */
template <class C> constexpr bool for_all = C::LA > FMO_UNROLLED_ANG_MOM_MAX;

namespace {

/* Calls each(number<0>()) to each(number<N - 1>()): a loop that is unrolled whatever its size. */
template <int N> struct number {
    static constexpr int value = N;
};
template <int N, class Each> __device__ __forceinline__ void count_to(const Each &each)
{
    if constexpr (N > 0) {
        count_to<N - 1>(each);
        each(number<N - 1>());
    }
}

/* Returns the number of function c of a shell on the body's axes in the basis's order
 * (eri_slice.h), for a turn that is not known at compile time. */
template <int L> __device__ __forceinline__ int outside(int turn, int c)
{
    return turn == 0 ? c : turn == 1 ? fmo_slice_outside(L, 1, c) : fmo_slice_outside(L, 2, c);
}

/* Reorders row[N] of a shell's functions from the body's order to the basis's. */
template <int L> __device__ __forceinline__ void turn_row(int turn, double *row)
{
    constexpr int N = FMO_CARTESIAN(L);
    if constexpr (N > 1) {
        double old[N];
        FMO_UNROLL
        for (int c = 0; c < N; c++) old[c] = row[c];
        if (turn == 1) {
            FMO_UNROLL
            for (int c = 0; c < N; c++) row[fmo_slice_outside(L, 1, c)] = old[c];
        } else if (turn == 2) {
            FMO_UNROLL
            for (int c = 0; c < N; c++) row[fmo_slice_outside(L, 2, c)] = old[c];
        }
    }
}

/* Reorders block[R][C] from the axes of one turn to those of the next. */
template <int LR, int LC> __device__ __forceinline__ void next_turn(double *block)
{
    constexpr int R = FMO_CARTESIAN(LR), C = FMO_CARTESIAN(LC);
    double old[R * C];
    FMO_UNROLL
    for (int k = 0; k < R * C; k++) old[k] = block[k];
    FMO_UNROLL
    for (int k = 0; k < R * C; k++)
        block[k] = old[fmo_slice_outside(LR, 1, k / C) * C + fmo_slice_outside(LC, 1, k % C)];
}

/* Permutes coordinates to the body's axes. */
template <class C> __device__ __forceinline__ void turn_axes(int turn, double *x)
{
    if constexpr (C::passes > 1) {
        const double x0 = x[0], x1 = x[1], x2 = x[2];
        x[0] = turn == 0 ? x0 : turn == 1 ? x1 : x2;
        x[1] = turn == 0 ? x1 : turn == 1 ? x2 : x0;
        x[2] = turn == 0 ? x2 : turn == 1 ? x0 : x1;
    }
}

/* ---- integrals ------------------------------------------------------------------------------ */

/* Loads primitive m of a segment, on the body's axes, and its bound. */
template <class C>
__device__ __forceinline__ fmo_prim_pair load_prim(const fmo_hermite_exchange_pairs &pairs, int4 at,
                                                   int m, int turn, float *bound)
{
    const double2 *const from =
        pairs.prim + (unsigned)at.x + (size_t)(m * FMO_GPU_PAIR_TWOS) * (unsigned)at.z;
    const double2 pk = __ldg(from), xy = __ldg(from + at.z), zh = __ldg(from + 2 * (size_t)at.z);
    *bound = fmo_gpu_prim_bound(__ldg(from + 3 * (size_t)at.z));
    fmo_prim_pair prim = {pk.x, pk.y, {xy.x, xy.y, zh.x}, zh.y};
    turn_axes<C>(turn, prim.d);
    return prim;
}

/* Makes the compiler discard what it has computed from the pairs' coordinates, so that it is
 * recomputed: that takes less time than keeping it in registers, or spilling it. */
template <class C> __device__ __forceinline__ void discard_coordinates(fmo_prim_quartet *z)
{
    if constexpr (C::form.recompute) {
        FMO_UNROLL
        for (int x = 0; x < 3; x++) asm volatile("" : "+d"(z->PA[x]), "+d"(z->QC[x]));
    }
}

/* Computes v[ROWS][N1][N2][N3], with stride C::stride, over a.matrices.op if OPERATOR: the
 * integrals of one quartet and ROWS functions of the first shell, from number FIRST on, on turned
 * axes. Returns the number of primitive quartets. */
template <class C, int FIRST, int ROWS, bool OPERATOR>
__device__ __forceinline__ unsigned integrals(const fmo_hermite_exchange_args &a, int2 quartet,
                                              int turn, double *v)
{
    const int ket = quartet.y & (FMO_GPU_PAIRS_MAX - 1), bra = quartet.x;
    const int code = (int)((unsigned)quartet.y >> FMO_GPU_KET_BITS) & FMO_GPU_FACTOR_MAX;
    const float cutoff = a.prim_cutoff * __int_as_float((code - FMO_GPU_FACTOR_TOP + 127) << 23);
    const int4 bras = a.bra.prims[bra], kets = a.ket.prims[ket];
    double AC[3], AB[3], CD[3];
    unsigned prims = 0;
    {
        const size_t bra_num = (size_t)a.bra.num, ket_num = (size_t)a.ket.num;
        FMO_UNROLL
        for (int x = 0; x < 3; x++) {
            AC[x] = a.bra.centre[x * bra_num + bra] - a.ket.centre[x * ket_num + ket];
            AB[x] = a.bra.centre[(3 + x) * bra_num + bra];
            CD[x] = a.ket.centre[(3 + x) * ket_num + ket];
        }
        turn_axes<C>(turn, AC);
        turn_axes<C>(turn, AB);
        turn_axes<C>(turn, CD);
    }
    FMO_UNROLL
    for (int k = 0; k < ROWS * C::slice; k++) v[k * C::stride] = 0.0;
#pragma unroll 1
    for (int m = 0; m < bras.y; m++) {
        float bound, other;
        const fmo_prim_pair p = load_prim<C>(a.bra, bras, m, turn, &bound);
#pragma unroll 1
        for (int n = 0; n < kets.y; n++) {
            const fmo_prim_pair q = load_prim<C>(a.ket, kets, n, turn, &other);
            if (bound * other < cutoff) break;
            double r[FMO_HERMITE_COUNT(C::order)];
            fmo_prim_quartet z =
                OPERATOR && (C::LA <= FMO_UNROLLED_ANG_MOM_MAX || a.matrices.op)
                    ? fmo_prim_quartet_make_of(a.matrices.op, a.boys, C::order, &p, &q, AC)
                    : fmo_prim_quartet_make(a.boys, C::order, &p, &q, AC);
            FMO_UNROLL
            for (int x = 0; x < 3; x++) {
                z.AB[x] = AB[x];
                z.CD[x] = CD[x];
            }
            fmo_slice_coulomb(C::order, &z, r);
            count_to<ROWS>([&](auto row) {
                constexpr int i = decltype(row)::value;
                discard_coordinates<C>(&z);
                fmo_slice_add(C::LA, C::LB, C::LC, C::LD, FIRST + i, 0, C::N1, &z, r,
                              v + i * C::slice * C::stride, C::stride);
            });
            prims++;
        }
    }
    return prims;
}

/* ---- digestion ------------------------------------------------------------------------------ */

/* Density d of a build, and its X^K. */
struct matrices_of {
    const double *density;
    double *exchange;
    __device__ __forceinline__ matrices_of(const fmo_gpu_matrices &m, int d)
        : density(m.density + d * m.density_step), exchange(m.exchange + d * m.exchange_step)
    {
    }
};

/* A lane's quartet: its position in the matrices, and the lanes that add together. */
typedef struct place {
    int i, j, k, l;  /* first functions */
    double factor;   /* 1/2 for a quartet of a pair with itself */
    unsigned mask;   /* lanes that add */
    unsigned same_k; /* lanes that have i, j and k in common with the lane below */
} place;

/* Finds the position of a lane's quartet. Called by all lanes of the mask, or of the warp if the
 * strategy adds warp by warp. */
template <class C>
__device__ __forceinline__ place find_place(const fmo_hermite_exchange_args &a, int2 quartet,
                                            unsigned mask)
{
    const int ket = quartet.y & (FMO_GPU_PAIRS_MAX - 1), bra = quartet.x;
    const int4 ij = a.bra.at[bra], kl = a.ket.at[ket];
    place at = {ij.x, ij.y, kl.x, kl.y, a.same && bra == ket ? 0.5 : 1.0, mask, 0};
    const unsigned callers = fmo_gpu_together<strategy> ? 0xffffffffu : mask;
    __syncwarp(callers);
    if constexpr (fmo_gpu_together<strategy>) {
        const int below = __shfl_up_sync(callers, bra, 1), k = __shfl_up_sync(callers, at.k, 1);
        at.same_k = mask & mask << 1 & __ballot_sync(callers, below == bra && k == at.k);
    }
    return at;
}

/* Adds rows[ROWS][N], on turned axes, to rows of K with the given stride. RUNS: lanes with the same
 * i, j and k add to the same addresses. Returns the number of atomics issued. */
template <int ROWS, int L, bool RUNS>
__device__ __forceinline__ unsigned add_rows(const strategy &scatter, const fmo_gpu_matrices &m,
                                             const place &at, int turn, double *to, size_t stride,
                                             double *rows)
{
    constexpr int N = FMO_CARTESIAN(L);
    FMO_UNROLL
    for (int r = 0; r < ROWS; r++) turn_row<L>(turn, rows + r * N);
    const bool active = at.mask >> (threadIdx.x % 32) & 1u;
    return fmo_gpu_scatter_block<strategy, ROWS, N, RUNS>(scatter, at.mask, active, at.same_k, to,
                                                          stride, rows, m.exchange_least);
}

/* Rows added at once: a divisor of their number, with up to as many values as `segmented` sums by
 * shuffles; of turned rows, which are not equally spaced, at most two. */
template <int ROWS, int VALUES, bool TURNED> __host__ __device__ constexpr int rows_at_once(void)
{
    int rows_max = FMO_RUN_SHUFFLED_MAX / VALUES;
    if (rows_max > ROWS) rows_max = ROWS;
    if (TURNED && rows_max > 2) rows_max = 2;
    while (rows_max > 1 && ROWS % rows_max) rows_max--;
    return rows_max > 1 ? rows_max : 1;
}

/* Loads D[N] from a row of the density, in the body's order. */
template <int L> __device__ __forceinline__ void load_row(const double *from, int turn, double *D)
{
    FMO_UNROLL
    for (int c = 0; c < FMO_CARTESIAN(L); c++) D[c] = __ldg(from + outside<L>(turn, c));
}

/* Digests the integrals of ROWS functions of the first shell, from number FIRST on, on turned
 * axes: the four terms of K (digest.h). Rows of the first shell are added to the matrix; those of
 * the second, jk[N1][N2] and jl[N1][N3] in the body's order, are summed over all passes by the
 * caller. */
template <class C, int FIRST, int ROWS>
__device__ __forceinline__ unsigned digest(const strategy &scatter, const fmo_gpu_matrices &m,
                                           const matrices_of &own, const place &at, int turn,
                                           const double *v, double *jk, double *jl)
{
    constexpr int N1 = C::N1, N2 = C::N2, N3 = C::N3, rows = ROWS;
    constexpr int at_once = rows_at_once<rows, N2, (rows < C::N0)>();
    double ik[rows * N2] = {}, il[rows * N3] = {}, D_ik[rows * N2], D_il[rows * N3];
    const size_t nao = (size_t)m.nao;
    unsigned issued = 0;
    FMO_UNROLL
    for (int i = 0; i < rows; i++) {
        const double *const D = own.density + (at.i + outside<C::LA>(turn, FIRST + i)) * nao;
        load_row<C::LC>(D + at.k, turn, D_ik + i * N2);
        load_row<C::LD>(D + at.l, turn, D_il + i * N3);
    }
    FMO_UNROLL
    for (int j = 0; j < N1; j++) {
        const double *const D = own.density + (at.j + outside<C::LB>(turn, j)) * nao;
        double D_jk[N2], D_jl[N3];
        load_row<C::LC>(D + at.k, turn, D_jk);
        load_row<C::LD>(D + at.l, turn, D_jl);
        FMO_UNROLL
        for (int i = 0; i < rows; i++) {
            FMO_UNROLL
            for (int k = 0; k < N2; k++) {
                FMO_UNROLL
                for (int l = 0; l < N3; l++) {
                    const double value = v[(i * C::slice + (j * N2 + k) * N3 + l) * C::stride];
                    ik[i * N2 + k] += D_jl[l] * value;
                    il[i * N3 + l] += D_jk[k] * value;
                    jk[j * N2 + k] += D_il[i * N3 + l] * value;
                    jl[j * N3 + l] += D_ik[i * N2 + k] * value;
                }
            }
        }
    }
    FMO_UNROLL
    for (int k = 0; k < rows * N2; k++) ik[k] *= at.factor;
    FMO_UNROLL
    for (int l = 0; l < rows * N3; l++) il[l] *= at.factor;
    FMO_UNROLL
    for (int i = 0; i < rows; i += at_once) {
        const int row = outside<C::LA>(turn, FIRST + i);
        const int next = at_once > 1 ? outside<C::LA>(turn, FIRST + i + 1) : row;
        issued += add_rows<at_once, C::LC, true>(
            scatter, m, at, turn, own.exchange + (at.i + row) * nao + at.k,
            (size_t)(ptrdiff_t)(next - row) * nao, ik + i * N2);
    }
    FMO_UNROLL
    for (int i = 0; i < rows; i++) {
        const int row = outside<C::LA>(turn, FIRST + i);
        issued += add_rows<1, C::LD, false>(
            scatter, m, at, turn, own.exchange + (at.i + row) * nao + at.l, 0, il + i * N3);
    }
    return issued;
}

/* Digests with each density in turn. Sums of two densities are in local memory between passes, and
 * in registers here. */
template <class C, int FIRST, int ROWS, int DENSITIES>
__device__ __forceinline__ unsigned
digest_all(const strategy &scatter, const fmo_gpu_matrices &m, const place &at, int turn,
           const double *v, double (*jk)[C::N1 * C::N2], double (*jl)[C::N1 * C::N3])
{
    unsigned issued = 0;
    fmo_gpu_for_densities<DENSITIES>([&](int d) {
        const matrices_of own(m, d);
        if constexpr (DENSITIES == 1) {
            issued += digest<C, FIRST, ROWS>(scatter, m, own, at, turn, v, jk[0], jl[0]);
        } else {
            double own_jk[C::N1 * C::N2], own_jl[C::N1 * C::N3];
            FMO_UNROLL
            for (int k = 0; k < C::N1 * C::N2; k++) own_jk[k] = jk[d][k];
            FMO_UNROLL
            for (int l = 0; l < C::N1 * C::N3; l++) own_jl[l] = jl[d][l];
            issued += digest<C, FIRST, ROWS>(scatter, m, own, at, turn, v, own_jk, own_jl);
            FMO_UNROLL
            for (int k = 0; k < C::N1 * C::N2; k++) jk[d][k] = own_jk[k];
            FMO_UNROLL
            for (int l = 0; l < C::N1 * C::N3; l++) jl[d][l] = own_jl[l];
        }
    });
    return issued;
}

/* Computes and digests a quartet, in one pass or in several. Where several planes of the grid (y)
 * share the quartet, each takes every a.planes-th pass. Rows of the second shell are summed over
 * the passes and added once at the end. */
template <class C, bool OPERATOR, int DENSITIES>
__device__ __forceinline__ unsigned work(const strategy &scatter,
                                         const fmo_hermite_exchange_args &a, int2 quartet,
                                         unsigned mask, unsigned *prims)
{
    constexpr int N1 = C::N1, N2 = C::N2, N3 = C::N3;
    static_assert(C::form.rows == C::N0 || C::form.rows == C::N0 / 3 || C::form.rows == 1,
                  "exchange.cu: a pass has all functions, those of a turn, or one");
    extern __shared__ double shared[];
    const fmo_gpu_matrices &m = a.matrices;
    double own[C::form.shared ? 1 : C::size];
    double jk[DENSITIES][N1 * N2] = {}, jl[DENSITIES][N1 * N3] = {};
    double *const v = C::form.shared ? shared + threadIdx.x : own;
    constexpr bool once = C::passes == 1;
    int pass = once ? 0 : (int)blockIdx.y, turn = once ? 0 : pass % 3;
    place at;
    unsigned issued = 0;
#pragma unroll 1
    for (;;) {
        unsigned computed = 0;
        count_to<C::groups>([&](auto group) {
            constexpr int g = decltype(group)::value, first = C::first(g), rows = C::rows(g);
            if (C::groups > 1 && pass / 3 != g) return;
            computed = integrals<C, first, rows, OPERATOR>(a, quartet, turn, v);
            at = find_place<C>(a, quartet, mask);
            issued += digest_all<C, first, rows, DENSITIES>(scatter, m, at, turn, v, jk, jl);
        });
        if (pass == 0) *prims += computed;
        pass += once ? 1 : a.planes;
        if (pass >= C::passes) break;
        turn = turn < 2 ? turn + 1 : 0;
        fmo_gpu_for_densities<DENSITIES>([&](int d) {
            next_turn<C::LB, C::LC>(jk[d]);
            next_turn<C::LB, C::LD>(jl[d]);
        });
    }
    fmo_gpu_for_densities<DENSITIES>([&](int d) {
        double *const exchange = matrices_of(m, d).exchange;
        FMO_UNROLL
        for (int k = 0; k < N1 * N2; k++) jk[d][k] *= at.factor;
        FMO_UNROLL
        for (int l = 0; l < N1 * N3; l++) jl[d][l] *= at.factor;
        FMO_UNROLL
        for (int j = 0; j < N1; j++) {
            double *const row = exchange + (at.j + outside<C::LB>(turn, j)) * (size_t)m.nao;
            issued +=
                add_rows<1, C::LC, true>(scatter, m, at, turn, row + at.k, 0, jk[d] + j * N2) +
                add_rows<1, C::LD, false>(scatter, m, at, turn, row + at.l, 0, jl[d] + j * N3);
        }
    });
    return issued;
}

/* Computes the quartets of the list, one for each thread, or for one thread of each plane; N
 * builds, each with K of so many densities. */
template <class C, int N, bool OPERATOR, int DENSITIES = 1>
__global__ void __launch_bounds__(C::threads, C::form.warps * 32 / C::threads)
    exchange(const __grid_constant__ fmo_gpu_many<fmo_hermite_exchange_args, N> many)
{
    const fmo_hermite_exchange_args &a = many.own();
    if (N > 1 && (int)blockIdx.y >= a.planes) return;
    strategy scatter;
    fmo_gpu_prepare(scatter, a.matrices);
    unsigned issued = 0, prims = 0;
    fmo_gpu_for_quartets<strategy, 1>(
        a.list, *a.count, [&](int2 quartet, unsigned mask, bool active, const auto &read_on) {
            unsigned computed = 0;
            read_on();
            issued += work<C, OPERATOR, DENSITIES>(scatter, a, quartet, mask, &computed);
            if (active) prims += computed;
        });
    fmo_scatter_finish(scatter);
    fmo_gpu_count_issued(a.matrices, issued);
    for (int offset = 16; offset; offset /= 2)
        prims += __shfl_down_sync(0xffffffffu, prims, offset);
    if (threadIdx.x % 32 == 0 && prims) atomicAdd(a.prim_quartets, (unsigned long long)prims);
}

/* FMO_GPU_ONLY_CLASS: a library of one s,p class, which only tests that a strategy compiles; this
 * file then has no kernels. */
#ifdef FMO_GPU_ONLY_CLASS
constexpr bool all_classes = false;
#else
constexpr bool all_classes = true;
#endif

/* The form of matrix.cuh that a class takes. Up to order 10 a team is a warp, eight of which are
 * resident, with as many tiles of rows as fit into registers and shared memory; four warps above.
 */
template <class C, int ROWS, int DENSITIES> constexpr auto one_warp(void)
{
    typedef fmo_matrix_form<C::LA, C::LB, C::LC, C::LD, 1, 4, ROWS, 2, DENSITIES> F;
    if constexpr (ROWS > 2 && (ROWS * (F::term_tiles + F::ket_tiles) > 40 || F::bytes > 113 << 10))
        return one_warp<C, ROWS - 2, DENSITIES>();
    else
        return F();
}
template <class C, int DENSITIES> constexpr auto matrix_form_of(void)
{
    if constexpr (C::order <= 10)
        return one_warp<C, 8, DENSITIES>();
    else {
        constexpr int blocks = C::order < 12 ? 3 : 2;
        return fmo_matrix_form<C::LA, C::LB, C::LC, C::LD, 4, 1, 4, blocks, DENSITIES>();
    }
}
template <class C, int DENSITIES> using matrix_form = decltype(matrix_form_of<C, DENSITIES>());

/* The kernels of a class: of one build, of one with an operator, of a group, and of two densities.
 * Those of f shells are one kernel, which takes the operator and the number of builds as arguments,
 * and one density at a time. */
template <class C> constexpr bool in_part = (all_classes && C::form.segment == FMO_PART);
template <class C, int N, bool OPERATOR, int DENSITIES> constexpr auto kernel_of(void)
{
    if constexpr (C::form.matrix)
        return fmo_matrix_exchange<matrix_form<C, DENSITIES>, strategy, N>;
    else
        return exchange<C, N, (OPERATOR || for_all<C>), DENSITIES>;
}
template <class C> constexpr fmo_hermite_exchange_kernel *kernel(void)
{
    if constexpr (in_part<C> && !for_all<C>)
        return kernel_of<C, 1, false, 1>();
    else
        return NULL;
}
template <class C> constexpr fmo_hermite_exchange_kernel *operator_kernel(void)
{
    if constexpr (in_part<C> && !for_all<C> &&
                  fmo_gpu_has_operators(variant::strategy, variant::form))
        return kernel_of<C, 1, true, 1>();
    else
        return NULL;
}
template <class C> constexpr fmo_hermite_group_kernel *group_kernel(void)
{
    if constexpr (in_part<C> &&
                  (for_all<C> || fmo_gpu_builds_groups(variant::strategy, variant::form)))
        return kernel_of<C, fmo_gpu_many_max<fmo_hermite_exchange_args>, false, 1>();
    else
        return NULL;
}

template <class C> constexpr fmo_hermite_exchange_kernel *kernel_of_two(void)
{
    if constexpr (in_part<C> && (!for_all<C> || C::form.matrix) &&
                  fmo_gpu_takes_two(variant::strategy, variant::form))
        return kernel_of<C, 1, false, 2>();
    else
        return NULL;
}

template <class C, int DENSITIES> constexpr fmo_hermite_block block(void)
{
    if constexpr (!in_part<C>)
        return {};
    else if constexpr (C::form.matrix) {
        typedef matrix_form<C, DENSITIES> F;
        return {F::threads, F::bytes, F::teams, F::team_bytes};
    } else
        return {C::threads, C::threads * fmo_hermite_bytes(C::id), C::threads, 0};
}

} // namespace

#define LOW_L(e, ...)  NULL,
#define LOW_B(e, ...)  {},
#define ROW_B(e, ...)  block<fmo_hermite_class<e>, 1>(),
#define ROW_BT(e, ...) block<fmo_hermite_class<e>, 2>(),
#define ROW(e, ...)    kernel<fmo_hermite_class<e>>(),
#define ROW_T(e, ...)  kernel_of_two<fmo_hermite_class<e>>(),
#define ROW_O(e, ...)  operator_kernel<fmo_hermite_class<e>>(),
#define ROW_G(e, ...)  group_kernel<fmo_hermite_class<e>>(),
#define HIGH(X)        FMO_ERI_HIGH_L_TABLE(X) FMO_ERI_ANY_GPU_TABLE(X)

extern const fmo_hermite_kernels CAT(fmo_hermite_kernels_, FMO_VARIANT, _, FMO_PART) = {
    {FMO_ERI_LOW_L_TABLE(LOW_B) HIGH(ROW_B)},  {FMO_ERI_LOW_L_TABLE(LOW_L) HIGH(ROW)},
    {FMO_ERI_LOW_L_TABLE(LOW_L) HIGH(ROW_O)},  {FMO_ERI_LOW_L_TABLE(LOW_L) HIGH(ROW_G)},
    {FMO_ERI_LOW_L_TABLE(LOW_B) HIGH(ROW_BT)}, {FMO_ERI_LOW_L_TABLE(LOW_L) HIGH(ROW_T)},
};
