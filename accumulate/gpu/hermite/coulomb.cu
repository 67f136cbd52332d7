/* J of classes with d or f shells, and of all shells with an operator other than 1/r: Hermite
 * potentials of all primitive pairs from Hermite densities,
 *
 *   V_p = sum over points Q  sum_q D_q (-1)^q R_(p+q)(P - Q)
 *
 * Each bra is summed by itself, so that no two threads add to the same number. finish.cu then
 * computes J_ab = sum_p E^ab_p V_p. docs/explanation/gpu/d-shells.md */
#include "accumulate/gpu/hermite/warp.cuh"

#include "accumulate/gpu/range.h"
#include "accumulate/rules/screen.h"
#include "integrals/eri/eri_slice.h"

namespace {

enum { THREADS = fmo_tuning_gpu_hermite_threads, WARPS = THREADS / 32 };

typedef struct coulomb_args {
    fmo_hermite_pairs bra, ket;
    const double *boys;
    const fmo_operator *op; /* NULL: 1/r */
    float cutoff;
    int per;           /* warps that share a bra */
    int chunks;        /* of kets, one for each plane of the grid (y) */
    int share, shares; /* bras share, share + shares, ... are computed */
    int bra_order, ket_order;
} coulomb_args;

/* Replaces the integrals of 1/r in z->S by those of the operator (integrals/operator_rules.h). rs:
 * 1/sqrt(p + q); F: memory for order + 1 numbers. */
__device__ __forceinline__ void to_operator(const coulomb_args &a, double rs, double R2, int order,
                                            double *F, fmo_prim_quartet *z)
{
    const fmo_operator op = *a.op;
    const double root = op.omega * fmo_rsqrt(op.omega * op.omega + z->alpha), theta = root * root;
    double factor = op.long_range * rs * root;
    fmo_boys_eval(a.boys, theta * z->alpha * R2, order, F);
    FMO_UNROLL
    for (int m = 0; m <= order; m++) {
        z->S[m] = op.full * z->S[m] + factor * F[m];
        factor *= theta;
    }
}

/* Adds the potentials of the kets to those of a bra. NB, NK: orders of the Hermite functions. Lanes
 * take the points of a tile; the warps of a bra take single tiles in turns, as the first tiles have
 * the largest bounds, so that turns of 32 tiles would leave nearly all work to one warp. */
template <int NB, int NK, int N, bool OPERATOR>
__global__ void __launch_bounds__(THREADS)
    coulomb(const __grid_constant__ fmo_gpu_many<coulomb_args, N> many)
{
    const coulomb_args &a = many.own();
    constexpr int L = NB + NK, bras = FMO_HERMITE_COUNT(NB);
    __shared__ double other[WARPS][bras];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sub = warp % a.per;
    const int own = blockIdx.x * (WARPS / a.per) + warp / a.per;
    const int bra = a.share + a.shares * own;
    const bool any = bra < a.bra.points && (N == 1 || (int)blockIdx.y < a.chunks);
    double V[bras];
    FMO_UNROLL
    for (int p = 0; p < bras; p++) V[p] = 0.0;
    if (any) {
        const float bound = a.bra.point_bound[bra];
        const size_t at = a.bra.points;
        const double P[3] = {a.bra.place[bra], a.bra.place[at + bra], a.bra.place[2 * at + bra]};
        const double p = a.bra.place[3 * at + bra];
        const int tiles = a.ket.points / FMO_GPU_TILE_PAIRS;
        const int turn = sub + a.per * (int)blockIdx.y, turns = a.per * a.chunks;
        for (int first = turn; first < tiles; first += 32 * turns) {
            const int mine = first + lane * turns;
            unsigned open = __ballot_sync(
                0xffffffffu, mine < tiles && bound * a.ket.tile_coulomb_estimate[mine] >= a.cutoff);
            for (; open; open &= open - 1) {
                const int tile = first + (__ffs((int)open) - 1) * turns;
                const int ket = tile * FMO_GPU_TILE_PAIRS + lane;
                if (bound * a.ket.coulomb_estimate[ket] < a.cutoff) continue;
                const size_t to = a.ket.points;
                const double q = a.ket.place[3 * to + ket];
                fmo_prim_quartet z;
                double r[FMO_HERMITE_COUNT(L)], F[L + 1], R2 = 0.0;
                FMO_UNROLL
                for (int x = 0; x < 3; x++) {
                    z.PQ[x] = P[x] - a.ket.place[x * to + ket];
                    R2 += z.PQ[x] * z.PQ[x];
                }
                const double rs = fmo_rsqrt(p + q);
                z.alpha = p * q * (rs * rs);
                fmo_boys_eval(a.boys, z.alpha * R2, L, F);
                FMO_UNROLL
                for (int m = 0; m <= L; m++) z.S[m] = rs * F[m];
                if constexpr (OPERATOR) to_operator(a, rs, R2, L, F, &z);
                fmo_slice_coulomb(L, &z, r);
                FMO_UNROLL
                for (int k = 0; k < FMO_HERMITE_COUNT(NK); k++) {
                    const double d = a.ket.density[k * to + ket];
                    FMO_UNROLL
                    for (int b = 0; b < bras; b++)
                        V[b] += d * r[fmo_slice_at(fmo_slice_power(k, 0) + fmo_slice_power(b, 0),
                                                   fmo_slice_power(k, 1) + fmo_slice_power(b, 1),
                                                   fmo_slice_power(k, 2) + fmo_slice_power(b, 2))];
                }
            }
        }
    }
    FMO_UNROLL
    for (int b = 0; b < bras; b++) {
        for (int offset = 16; offset; offset /= 2)
            V[b] += __shfl_xor_sync(0xffffffffu, V[b], offset);
        if (lane == 0) other[warp][b] = V[b];
    }
    __syncthreads();
    for (int b = lane; b < bras && any && sub == 0; b += 32) {
        double sum = other[warp][b];
        for (int w = 1; w < a.per; w++) sum += other[warp + w][b];
        a.bra.potential[((size_t)blockIdx.y * bras + b) * a.bra.points + bra] += sum;
    }
}

/* Doubles of a warp, and bytes of a block, in shared memory for coulomb_any. */
__host__ __device__ constexpr int any_doubles(int order)
{
    return (order + 1) * (order + 1) * (order + 1);
}
__host__ __device__ constexpr int any_bytes(int order)
{
    return WARPS * any_doubles(order) * (int)sizeof(double) +
           FMO_HERMITE_COUNT(order) * (int)sizeof(int);
}

/* coulomb for the highest orders: a warp takes one ket at a time, and its lanes the Hermite
 * functions of the bra. */
template <int N>
__global__ void __launch_bounds__(THREADS)
    coulomb_any(const __grid_constant__ fmo_gpu_many<coulomb_args, N> many)
{
    const coulomb_args &a = many.own();
    constexpr int terms_max = FMO_HERMITE_COUNT(FMO_PAIR_GPU_ORDER_MAX),
                  rows = (terms_max + 31) / 32;
    constexpr int own_R = (FMO_HERMITE_COUNT(FMO_ERI_GPU_ORDER_MAX) + 31) / 32;
    extern __shared__ double memory[];
    __shared__ double other[WARPS][terms_max];
    const int L = a.bra_order + a.ket_order, bras = FMO_HERMITE_COUNT(a.bra_order);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sub = warp % a.per;
    const int own = blockIdx.x * (WARPS / a.per) + warp / a.per;
    const int bra = a.share + a.shares * own;
    const bool any = bra < a.bra.points && (N == 1 || (int)blockIdx.y < a.chunks);
    double *const R = memory + warp * any_doubles(L);
    int *const hermite = (int *)(memory + WARPS * any_doubles(L));
    double V[rows] = {};
    int place[rows];
    fmo_warp_begin(L, hermite);
    __syncthreads();
    for (int n = 0; n < rows; n++)
        place[n] = lane + 32 * n < bras ? fmo_warp_find(hermite[lane + 32 * n]).at : 0;
    if (any) {
        const float bound = a.bra.point_bound[bra];
        const size_t at = a.bra.points, to = a.ket.points;
        const double P[3] = {a.bra.place[bra], a.bra.place[at + bra], a.bra.place[2 * at + bra]};
        const double p = a.bra.place[3 * at + bra];
        const int tiles = a.ket.points / FMO_GPU_TILE_PAIRS;
        const int turn = sub + a.per * (int)blockIdx.y, turns = a.per * a.chunks;
        for (int tile = turn; tile < tiles; tile += turns) {
            if (bound * a.ket.tile_coulomb_estimate[tile] < a.cutoff) continue;
            const int first = tile * FMO_GPU_TILE_PAIRS;
            unsigned kets = __ballot_sync(0xffffffffu,
                                          bound * a.ket.coulomb_estimate[first + lane] >= a.cutoff);
            for (; kets; kets &= kets - 1) {
                const int ket = first + __ffs((int)kets) - 1;
                const double q = a.ket.place[3 * to + ket];
                const double PQ[3] = {P[0] - a.ket.place[ket], P[1] - a.ket.place[to + ket],
                                      P[2] - a.ket.place[2 * to + ket]};
                const double start = fmo_warp_start(a.op, a.boys, L, p, q, PQ);
                fmo_warp_coulomb<own_R>(start, PQ, L, fmo_warp_codes{hermite}, R);
                for (int k = 0; k < FMO_HERMITE_COUNT(a.ket_order); k++) {
                    const double d = a.ket.density[k * to + ket];
                    const double *const from = R + fmo_warp_find(hermite[k]).at;
                    FMO_UNROLL
                    for (int n = 0; n < rows; n++) V[n] += d * from[place[n]];
                }
                __syncwarp();
            }
        }
    }
    for (int n = 0; n < rows; n++)
        if (lane + 32 * n < bras) other[warp][lane + 32 * n] = V[n];
    __syncthreads();
    for (int b = lane; b < bras && any && sub == 0; b += 32) {
        double sum = other[warp][b];
        for (int w = 1; w < a.per; w++) sum += other[warp + w][b];
        a.bra.potential[((size_t)blockIdx.y * bras + b) * a.bra.points + bra] += sum;
    }
}

typedef fmo_gpu_kernels<coulomb_args> coulomb_kernels;

/* Kernels by classes of bra and ket, of 1/r and of other operators, which have single builds alone.
 * Other kernels compute 1/r of s and p shells: NULL. */
constexpr bool is_low_l(int pair_class)
{
    return pair_class < FMO_PAIR_LOW_L_COUNT;
}
/* Whether coulomb_any computes classes of these orders. */
constexpr bool is_any(int bra_order, int ket_order)
{
    return bra_order + ket_order > FMO_SLICE_ORDER_LIMIT;
}
/* The kernel for a single build; pairs with f shells have the one for several alone. */
template <int NB, int NK> constexpr auto coulomb_one(void) -> decltype(coulomb_kernels::one)
{
    if constexpr (NB > FMO_PAIR_UNROLLED_ORDER_MAX || NK > FMO_PAIR_UNROLLED_ORDER_MAX)
        return NULL;
    else
        return coulomb<NB, NK, 1, false>;
}
template <int BRA, int KET, bool OPERATOR> constexpr coulomb_kernels kernels_of(void)
{
    constexpr int NB = fmo_pair_order(BRA), NK = fmo_pair_order(KET);
    if constexpr (OPERATOR && is_any(NB, NK))
        return {coulomb_any<1>, NULL};
    else if constexpr (OPERATOR)
        return {coulomb<NB, NK, 1, true>, NULL};
    else if constexpr (is_low_l(BRA) && is_low_l(KET))
        return {NULL, NULL};
    else if constexpr (is_any(NB, NK))
        return {coulomb_any<1>, coulomb_any<fmo_gpu_many_max<coulomb_args>>};
    else
        return {coulomb_one<NB, NK>(), coulomb<NB, NK, fmo_gpu_many_max<coulomb_args>, false>};
}
template <int BRA, bool OPERATOR> coulomb_kernels kernels_of_bra(int ket)
{
    static const coulomb_kernels kernels[FMO_PAIR_GPU_COUNT] = {
#define ROW(P, name, li, lj, partner) kernels_of<BRA, FMO_PAIR_##P, OPERATOR>(),
        FMO_PAIR_GPU_TABLE(ROW)
#undef ROW
    };
    return kernels[ket];
}
template <bool OPERATOR> coulomb_kernels kernels_of_pair(int bra, int ket)
{
    switch (bra) {
#define ROW(P, name, li, lj, partner) \
    case FMO_PAIR_##P:                \
        return kernels_of_bra<FMO_PAIR_##P, OPERATOR>(ket);
        FMO_PAIR_GPU_TABLE(ROW)
#undef ROW
    default:
        return {NULL, NULL};
    }
}

/* Sets the kernel's arguments and returns its grid, 0 if there is nothing to do. If there are few
 * bras, all warps of a block share one. */
dim3 arguments(const fmo_gpu_build *build, const fmo_gpu_hermite *from, int bra, int ket,
               coulomb_args *a)
{
    const fmo_fock_plan *const plan = build->plan;
    const fmo_gpu_state *const g = plan->gpu;
    const fmo_gpu_hermite *const h = g->hermite;
    a->bra = h->pairs[bra];
    a->ket = (from ? from : h)->pairs[ket];
    const int bras = (a->bra.points + h->shares - 1) / h->shares;
    if (!(g->requested & FMO_TERMS_J) || !bras || !a->ket.points) return dim3(0);
    a->boys = g->boys->row[fmo_pair_order(bra) + fmo_pair_order(ket)][0];
    a->op = g->with_operator ? g->arrays.op : NULL;
    a->cutoff = (float)fmo_gpu_cutoff_share(plan, FMO_SCREEN_PRIM_SHARE);
    const bool few = bras * (WARPS / 2) <= fmo_tuning_gpu_hermite_warps * g->device.processors;
    a->per = few && !h->grouped ? WARPS : 1;
    a->chunks = fmo_hermite_chunks_now(h, bra);
    a->share = h->share;
    a->shares = h->shares;
    a->bra_order = fmo_pair_order(bra);
    a->ket_order = fmo_pair_order(ket);
    const int at_once = WARPS / a->per;
    return dim3((unsigned)((bras + at_once - 1) / at_once), (unsigned)a->chunks);
}

/* True if a build of the group has points of pair class bra, and of pair class ket: its own, or
 * those of `from` unless it is NULL. */
bool any_points(const fmo_gpu_group *group, const fmo_gpu_hermite *from, int bra, int ket)
{
    for (int k = 0; k < group->num; k++) {
        const fmo_gpu_hermite *const h = group->build[k].plan->gpu->hermite;
        if (h->pairs[bra].points && (from ? from : h)->pairs[ket].points) return true;
    }
    return false;
}

} // namespace

/* Launches one kernel for each class of ket pairs. Quartets of s and p shells have none, except for
 * operators other than 1/r. */
cudaError_t fmo_hermite_coulomb(const fmo_gpu_group *group, const fmo_gpu_hermite *from, int bra)
{
    const fmo_gpu_range range("J of d shells");
    const bool of_operator = group->build->plan->gpu->with_operator;
    for (int ket = 0; ket < FMO_PAIR_GPU_COUNT; ket++) {
        const coulomb_kernels kernels =
            of_operator ? kernels_of_pair<true>(bra, ket) : kernels_of_pair<false>(bra, ket);
        if (!kernels.one && !kernels.many) continue;
        const int orders[] = {fmo_pair_order(bra), fmo_pair_order(ket)};
        const int shared = is_any(orders[0], orders[1]) ? any_bytes(orders[0] + orders[1]) : 0;
        if (shared && any_points(group, from, bra, ket))
            FMO_GPU_TRY(cudaFuncSetAttribute(
                group->num == 1 ? (const void *)kernels.one : (const void *)kernels.many,
                cudaFuncAttributeMaxDynamicSharedMemorySize, any_bytes(FMO_ERI_GPU_ORDER_MAX)));
        FMO_GPU_TRY(
            fmo_gpu_launch_group<coulomb_args>(group, kernels.one, kernels.many, THREADS, shared,
                                               [&](const fmo_gpu_build *build, coulomb_args *a) {
                                                   return arguments(build, from, bra, ket, a);
                                               }));
    }
    return cudaSuccess;
}
