/* K of classes with d shells: the listed quartets in slices, digested in registers and scattered.
 * Compiled once for each row of FMO_GPU_VARIANT_TABLE, with FMO_VARIANT set to its name. */
#include "accumulate/gpu/hermite/hermite.h"

#include "accumulate/gpu/kernels/near.cuh"
#include "integrals/eri/eri_slice.h"

#define CAT_(a, b) a##b
#define CAT(a, b)  CAT_(a, b)

#define VARIANT_TYPE(name, scatter, commit, ...)         \
    struct variant_##name {                              \
        typedef __VA_ARGS__ type;                        \
        static constexpr fmo_scatter strategy = scatter; \
        static constexpr fmo_commit form = commit;       \
    };
FMO_GPU_VARIANT_TABLE(VARIANT_TYPE)
#undef VARIANT_TYPE

typedef CAT(variant_, FMO_VARIANT) variant;
typedef variant::type strategy;

/* The classes as types. */
#define CLASS(e, name, li, lj, lk, ll, bra, ket)                                        \
    struct fmo_hermite_class_##name {                                                   \
        static constexpr int LA = li, LB = lj, LC = lk, LD = ll;                        \
        static constexpr int N0 = FMO_CARTESIAN(li), N1 = FMO_CARTESIAN(lj),            \
                             N2 = FMO_CARTESIAN(lk), N3 = FMO_CARTESIAN(ll);            \
        static constexpr int order = li + lj + lk + ll, slices = fmo_hermite_slices(e); \
        static constexpr bool whole = slices == 1, split = slices > N0;                 \
        static constexpr int rows = whole ? N0 : 1, seconds = split ? 1 : N1;           \
        static constexpr int size = rows * seconds * N2 * N3;                           \
    };
FMO_ERI_HEAVY_TABLE(CLASS)
#undef CLASS

namespace {

/* Functions of the body's axes outside (eri_slice.h), where the number of turns is known late. */
template <int L> __device__ __forceinline__ int outside(int turn, int c)
{
    return turn == 0 ? c : turn == 1 ? fmo_slice_outside(L, 1, c) : fmo_slice_outside(L, 2, c);
}

/* block[R][C] of the body's functions of two shells into the order outside. */
template <int LR, int LC> __device__ __forceinline__ void turn_block(int turn, double *block)
{
    constexpr int R = FMO_CARTESIAN(LR), C = FMO_CARTESIAN(LC);
    if constexpr (R * C > 1) {
        double old[R * C];
        FMO_UNROLL
        for (int k = 0; k < R * C; k++) old[k] = block[k];
        if (turn == 1) {
            FMO_UNROLL
            for (int k = 0; k < R * C; k++)
                block[fmo_slice_outside(LR, 1, k / C) * C + fmo_slice_outside(LC, 1, k % C)] =
                    old[k];
        } else if (turn == 2) {
            FMO_UNROLL
            for (int k = 0; k < R * C; k++)
                block[fmo_slice_outside(LR, 2, k / C) * C + fmo_slice_outside(LC, 2, k % C)] =
                    old[k];
        }
    }
}

/* One quartet: where it is. */
typedef struct place {
    int i, j, k, l; /* first functions */
    double factor;  /* 1/2 for a pair with itself */
} place;

/* Coordinates on the axes of a body. */
template <class C> __device__ __forceinline__ void turn_axes(int turn, double *x)
{
    if constexpr (!C::whole) {
        const double x0 = x[0], x1 = x[1], x2 = x[2];
        x[0] = turn == 0 ? x0 : turn == 1 ? x1 : x2;
        x[1] = turn == 0 ? x1 : turn == 1 ? x2 : x0;
        x[2] = turn == 0 ? x2 : turn == 1 ? x0 : x1;
    }
}

/* Primitive m of a part, on the axes of a body. */
template <class C>
__device__ __forceinline__ fmo_prim_pair load_prim(const fmo_hermite_pairs &pairs, int4 at, int m,
                                                   int turn, float *bound)
{
    const double2 *const from =
        pairs.prim + (unsigned)at.x + (size_t)(m * FMO_GPU_PAIR_TWOS) * (unsigned)at.z;
    const double2 pk = __ldg(from), xy = __ldg(from + at.z), zh = __ldg(from + 2 * (size_t)at.z);
    *bound = fmo_gpu_prim_bound(__ldg(from + 3 * (size_t)at.z));
    fmo_prim_pair prim = {pk.x, pk.y, {xy.x, xy.y, zh.x}, zh.y};
    turn_axes<C>(turn, prim.d);
    return prim;
}

/* v[rows][N1][N2][N3] of one quartet: all of it, or the slice of function A of the first shell on
 * turned axes. */
template <class C, int A, int B>
__device__ __forceinline__ place integrals(const fmo_hermite_exchange_args &a, int2 quartet,
                                           int turn, unsigned *prims, double *v)
{
    const int ket = quartet.y & (FMO_GPU_PAIRS_MAX - 1), bra = quartet.x;
    const int code = (int)((unsigned)quartet.y >> FMO_GPU_KET_BITS) & FMO_GPU_FACTOR_MAX;
    const float cutoff = a.prim_cutoff * __int_as_float((code - FMO_GPU_FACTOR_TOP + 127) << 23);
    const int4 bras = a.bra.prims[bra], kets = a.ket.prims[ket];
    double AC[3], AB[3], CD[3];
    {
        const size_t bra_num = (size_t)a.bra.num, ket_num = (size_t)a.ket.num;
        FMO_UNROLL
        for (int x = 0; x < 3; x++) {
            AC[x] = a.bra.center[x * bra_num + bra] - a.ket.center[x * ket_num + ket];
            AB[x] = a.bra.center[(3 + x) * bra_num + bra];
            CD[x] = a.ket.center[(3 + x) * ket_num + ket];
        }
        turn_axes<C>(turn, AC);
        turn_axes<C>(turn, AB);
        turn_axes<C>(turn, CD);
    }
    FMO_UNROLL
    for (int k = 0; k < C::size; k++) v[k] = 0.0;
#pragma unroll 1
    for (int m = 0; m < bras.y; m++) {
        float bound, other;
        const fmo_prim_pair p = load_prim<C>(a.bra, bras, m, turn, &bound);
#pragma unroll 1
        for (int n = 0; n < kets.y; n++) {
            const fmo_prim_pair q = load_prim<C>(a.ket, kets, n, turn, &other);
            if (bound * other < cutoff) break;
            double r[FMO_HERMITE_COUNT(C::order)];
            fmo_prim_quartet z = fmo_prim_quartet_make(a.boys, C::order, &p, &q, AC);
            FMO_UNROLL
            for (int x = 0; x < 3; x++) {
                z.AB[x] = AB[x];
                z.CD[x] = CD[x];
            }
            fmo_slice_coulomb(C::order, &z, r);
            if constexpr (C::whole) {
                FMO_UNROLL
                for (int i = 0; i < C::N0; i++)
                    fmo_slice_add(C::LA, C::LB, C::LC, C::LD, i, 0, C::N1, &z, r,
                                  v + i * (C::size / C::rows));
            } else {
                fmo_slice_add(C::LA, C::LB, C::LC, C::LD, A, B, C::seconds, &z, r, v);
            }
            ++*prims;
        }
    }
    const int4 ij = a.bra.at[bra], kl = a.ket.at[ket];
    const place at = {ij.x, ij.y, kl.x, kl.y, a.same && bra == ket ? 0.5 : 1.0};
    return at;
}

/* A block to the matrix; strategies take up to a value for each lane of a warp. */
template <int R, int C>
__device__ __forceinline__ unsigned add(const strategy &scatter, unsigned mask, double *to,
                                        size_t stride, const double *block)
{
    if constexpr (R * C <= 32)
        return scatter.template add_block<R, C>(mask, to, stride, block);
    else
        return add<R / 2, C>(scatter, mask, to, stride, block) +
               add<R - R / 2, C>(scatter, mask, to + R / 2 * stride, stride, block + R / 2 * C);
}

/* The four terms of K (digest.h) of a thread's integrals, added to blocks of the first shell, of
 * rows functions, and of the second, of `seconds`, in the body's order: ik[rows][N2], il[rows][N3],
 * jk[seconds][N2], jl[seconds][N3]. */
template <class C, int A, int B>
__device__ __forceinline__ void digest(const fmo_gpu_matrices &m, const place &at, int turn,
                                       const double *v, double *ik, double *il, double *jk,
                                       double *jl)
{
    constexpr int N1 = C::seconds, N2 = C::N2, N3 = C::N3;
    const size_t nao = (size_t)m.nao;
    FMO_UNROLL
    for (int row = 0; row < C::rows; row++) {
        const size_t i = (size_t)(at.i + (C::whole ? row : outside<C::LA>(turn, A)));
        const double *const own = v + row * (N1 * N2 * N3);
        double D_ik[N2], D_il[N3];
        FMO_UNROLL
        for (int k = 0; k < N2; k++)
            D_ik[k] = at.factor * m.density[i * nao + at.k + outside<C::LC>(turn, k)];
        FMO_UNROLL
        for (int l = 0; l < N3; l++)
            D_il[l] = at.factor * m.density[i * nao + at.l + outside<C::LD>(turn, l)];
        FMO_UNROLL
        for (int j = 0; j < N1; j++) {
            const double *const D_j =
                m.density + (size_t)(at.j + outside<C::LB>(turn, B + j)) * nao;
            double D_jk[N2], D_jl[N3];
            FMO_UNROLL
            for (int k = 0; k < N2; k++) D_jk[k] = at.factor * D_j[at.k + outside<C::LC>(turn, k)];
            FMO_UNROLL
            for (int l = 0; l < N3; l++) D_jl[l] = at.factor * D_j[at.l + outside<C::LD>(turn, l)];
            FMO_UNROLL
            for (int k = 0; k < N2; k++) {
                FMO_UNROLL
                for (int l = 0; l < N3; l++) {
                    const double value = own[(j * N2 + k) * N3 + l];
                    ik[row * N2 + k] += D_jl[l] * value;
                    il[row * N3 + l] += D_jk[k] * value;
                    jk[j * N2 + k] += D_il[l] * value;
                    jl[j * N3 + l] += D_ik[k] * value;
                }
            }
        }
    }
}

/* Blocks of one function of the first shell, in the body's order. */
template <class C>
__device__ __forceinline__ unsigned add_row(const strategy &scatter, const fmo_gpu_matrices &m,
                                            unsigned mask, const place &at, size_t i, int turn,
                                            double *ik, double *il)
{
    double *const row = m.exchange + i * (size_t)m.nao;
    turn_block<0, C::LC>(turn, ik);
    turn_block<0, C::LD>(turn, il);
    return add<1, C::N2>(scatter, mask, row + at.k, m.nao, ik) +
           add<1, C::N3>(scatter, mask, row + at.l, m.nao, il);
}

/* A whole quartet at once. */
template <class C>
__device__ __forceinline__ unsigned whole(const strategy &scatter,
                                          const fmo_hermite_exchange_args &a, int2 quartet,
                                          unsigned mask, unsigned *prims)
{
    constexpr int N1 = C::N1, N2 = C::N2, N3 = C::N3;
    const fmo_gpu_matrices &m = a.matrices;
    double v[C::size], ik[C::N0 * N2] = {}, il[C::N0 * N3] = {}, jk[N1 * N2] = {}, jl[N1 * N3] = {};
    unsigned issued = 0;
    const place at = integrals<C, 0, 0>(a, quartet, 0, prims, v);
    __syncwarp(mask);
    digest<C, 0, 0>(m, at, 0, v, ik, il, jk, jl);
    FMO_UNROLL
    for (int i = 0; i < C::N0; i++)
        issued += add_row<C>(scatter, m, mask, at, (size_t)(at.i + i), 0, ik + i * N2, il + i * N3);
    double *const j = m.exchange + (size_t)at.j * m.nao;
    issued += add<N1, N2>(scatter, mask, j + at.k, m.nao, jk);
    return issued + add<N1, N3>(scatter, mask, j + at.l, m.nao, jl);
}

/* Body number `body`, of a function of the first shell and, where quartets are split further, one
 * of the second; the first that is tried is number BODY. ik and il are added to; jk and jl, of the
 * second shell, where they are outside. */
template <class C, int BODY>
__device__ __forceinline__ void slice(const fmo_hermite_exchange_args &a, int2 quartet, int body,
                                      int turn, unsigned mask, unsigned *prims, place *at,
                                      double *ik, double *il, double *jk, double *jl)
{
    constexpr int rows = C::seconds, N2 = C::N2, N3 = C::N3, seconds = C::split ? C::N1 : 1;
    if constexpr (BODY < fmo_slice_bodies(C::LA) * seconds) {
        constexpr int A = fmo_slice_function(BODY / seconds), B = BODY % seconds;
        if (body != BODY) {
            slice<C, BODY + 1>(a, quartet, body, turn, mask, prims, at, ik, il, jk, jl);
            return;
        }
        double v[C::size], own_jk[rows * N2] = {}, own_jl[rows * N3] = {};
        *at = integrals<C, A, B>(a, quartet, turn, prims, v);
        __syncwarp(mask);
        digest<C, A, B>(a.matrices, *at, turn, v, ik, il, own_jk, own_jl);
        FMO_UNROLL
        for (int j = 0; j < rows; j++) {
            const int to = outside<C::LB>(turn, B + j);
            FMO_UNROLL
            for (int k = 0; k < N2; k++)
                jk[to * N2 + outside<C::LC>(turn, k)] += own_jk[j * N2 + k];
            FMO_UNROLL
            for (int l = 0; l < N3; l++)
                jl[to * N3 + outside<C::LD>(turn, l)] += own_jl[j * N3 + l];
        }
    }
}

/* A quartet slice after slice, or as many of them as planes of the grid (y) leave. What has the
 * second shell is summed over slices in local memory, so that it is added once. */
template <class C>
__device__ __forceinline__ unsigned sliced(const strategy &scatter,
                                           const fmo_hermite_exchange_args &a, int2 quartet,
                                           unsigned mask, unsigned *prims)
{
    constexpr int N1 = C::N1, N2 = C::N2, N3 = C::N3, seconds = C::split ? N1 : 1;
    const fmo_gpu_matrices &m = a.matrices;
    double jk[N1 * N2], jl[N1 * N3];
    place at = {0, 0, 0, 0, 0.0};
    unsigned issued = 0;
#pragma unroll 1
    for (int k = 0; k < N1 * N2; k++) jk[k] = 0.0;
#pragma unroll 1
    for (int l = 0; l < N1 * N3; l++) jl[l] = 0.0;
#pragma unroll 1
    for (int s = (int)blockIdx.y; s < C::N0; s += (int)gridDim.y) {
        const int turn = s % 3, first = outside<C::LA>(turn, fmo_slice_function(s / 3));
        double ik[N2] = {}, il[N3] = {};
        unsigned computed = 0;
#pragma unroll 1
        for (int b = 0; b < seconds; b++)
            slice<C, 0>(a, quartet, s / 3 * seconds + b, turn, mask, &computed, &at, ik, il, jk,
                        jl);
        if (s == 0) *prims += computed / seconds;
        issued += add_row<C>(scatter, m, mask, at, (size_t)(at.i + first), turn, ik, il);
    }
    FMO_UNROLL
    for (int j = 0; j < N1; j++) {
        double *const row = m.exchange + (size_t)(at.j + j) * m.nao;
        double own[N2 > N3 ? N2 : N3];
        FMO_UNROLL
        for (int k = 0; k < N2; k++) own[k] = jk[j * N2 + k];
        issued += add<1, N2>(scatter, mask, row + at.k, m.nao, own);
        FMO_UNROLL
        for (int l = 0; l < N3; l++) own[l] = jl[j * N3 + l];
        issued += add<1, N3>(scatter, mask, row + at.l, m.nao, own);
    }
    return issued;
}

/* Quartets of the list, one a thread; or, where there are few, one for each slice. */
template <class C>
__global__ void __launch_bounds__(FMO_GPU_THREADS)
    exchange(const __grid_constant__ fmo_hermite_exchange_args a)
{
    const unsigned count = *a.count, stride = gridDim.x * blockDim.x;
    strategy scatter;
    fmo_gpu_prepare(scatter, a.matrices);
    unsigned issued = 0, prims = 0;
    for (unsigned first = blockIdx.x * blockDim.x; first < count; first += stride) {
        const bool active = first + threadIdx.x < count;
        const unsigned mask = __ballot_sync(0xffffffffu, active);
        if (active) {
            const int2 quartet = a.list[first + threadIdx.x];
            if constexpr (C::whole)
                issued += whole<C>(scatter, a, quartet, mask, &prims);
            else
                issued += sliced<C>(scatter, a, quartet, mask, &prims);
        }
        __syncwarp();
    }
    fmo_scatter_finish(scatter);
    fmo_gpu_count_issued(a.matrices, issued);
    for (int offset = 16; offset; offset /= 2)
        prims += __shfl_down_sync(0xffffffffu, prims, offset);
    if (threadIdx.x % 32 == 0 && prims) atomicAdd(a.prim_quartets, (unsigned long long)prims);
}

/* FMO_GPU_ONLY_CLASS: a library of one class, of no use but to see that a strategy compiles. */
template <class C> constexpr fmo_hermite_exchange_kernel *kernel(void)
{
#ifdef FMO_GPU_ONLY_CLASS
    return NULL;
#else
    if constexpr (variant::strategy != FMO_SCATTER_COUNT &&
                  fmo_gpu_strategy_traits[variant::strategy].all_shells &&
                  variant::form == FMO_COMMIT_NATIVE)
        return exchange<C>;
    else
        return NULL;
#endif
}

} // namespace

extern const fmo_hermite_variant CAT(fmo_hermite_variant_, FMO_VARIANT) = {
    variant::strategy,
    variant::form,
    variant::strategy != FMO_SCATTER_COUNT,
    fmo_gpu_strategy_traits[variant::strategy].integers,
    {
#define LIGHT(e, ...)       NULL,
#define HEAVY(e, name, ...) kernel<fmo_hermite_class_##name>(),
        FMO_ERI_LIGHT_TABLE(LIGHT) FMO_ERI_HEAVY_TABLE(HEAVY)
#undef HEAVY
#undef LIGHT
    },
};
