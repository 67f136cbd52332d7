/* The derivative of J: Hermite potentials V_p of one order more than the primitive pairs they act
 * on, from Hermite densities, and their contraction with the derivatives of these pairs' densities.
 * Each potential is summed by one warp in a fixed order. */
#include "accumulate/gpu/gradient/gradient.h"

#include "accumulate/gpu/hermite/warp.cuh"
#include "accumulate/gpu/range.h"
#include "integrals/eri/eri_slice.h"

namespace {

enum { THREADS = fmo_tuning_gpu_gradient_threads, WARPS = THREADS / 32, TILE = FMO_GPU_TILE_PAIRS };

typedef struct coulomb_args {
    fmo_gradient_pairs bra, ket;
    int ket_class;
    const fmo_gradient_molecule *molecule;
    const double *boys;
    fmo_operator op;
    float cutoff;
} coulomb_args;

/* The estimate of the derivatives of two points, from bounds and derivative bounds times densities.
 */
__device__ __forceinline__ float estimate(float2 bra, float2 ket)
{
    return 4.0f * fmaxf(bra.x * ket.y, bra.y * ket.x);
}

/* Adds the potentials of the kets, points of order NK, to those of a bra, a point of order NB. */
template <int NB, int NK>
__global__ void __launch_bounds__(THREADS) potentials(const __grid_constant__ coulomb_args a)
{
    constexpr int L = NB + 1 + NK, bras = FMO_HERMITE_COUNT(NB + 1);
    const int lane = threadIdx.x % 32, bra = blockIdx.x * WARPS + threadIdx.x / 32;
    if (bra >= a.bra.points) return;
    const float2 own = a.bra.strength[bra];
    const size_t at = a.bra.points, to = a.ket.points;
    const double P[3] = {a.bra.place[bra], a.bra.place[at + bra], a.bra.place[2 * at + bra]};
    const double p = a.bra.place[3 * at + bra];
    double V[bras];
    FMO_UNROLL
    for (int b = 0; b < bras; b++) V[b] = 0.0;
    const fmo_gradient_molecule &molecule = a.molecule[a.bra.tile_molecule[bra / TILE]];
    const int begin = molecule.of[a.ket_class].point / TILE;
    const int end = begin + molecule.of[a.ket_class].points / TILE;
    for (int first = begin; first < end; first += 32) {
        const int mine = first + lane;
        unsigned open = __ballot_sync(
            0xffffffffu, mine < end && estimate(own, a.ket.tile_strength[mine]) >= a.cutoff);
        for (; open; open &= open - 1) {
            const int ket = (first + __ffs((int)open) - 1) * TILE + lane;
            if (estimate(own, a.ket.strength[ket]) < a.cutoff) continue;
            const double q = a.ket.place[3 * to + ket], rs = fmo_rsqrt(p + q);
            double r[FMO_HERMITE_COUNT(L)], start[FMO_GRADIENT_ORDER_MAX + 1], PQ[3], R2 = 0.0;
            FMO_UNROLL
            for (int x = 0; x < 3; x++) {
                PQ[x] = P[x] - a.ket.place[x * to + ket];
                R2 += PQ[x] * PQ[x];
            }
            fmo_gradient_start(a.boys, a.op, L, p * q * (rs * rs), R2, rs, start);
            fmo_slice_derivatives(L, start, PQ, r);
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
    FMO_UNROLL
    for (int b = 0; b < bras; b++) {
        for (int offset = 16; offset; offset /= 2)
            V[b] += __shfl_xor_sync(0xffffffffu, V[b], offset);
        if (lane == 0) a.bra.potential[b * at + bra] += V[b];
    }
}

/* Doubles of shared memory of a warp of potentials_any: R of order L. */
__host__ __device__ constexpr int doubles_of_R(int L)
{
    return L * (L + 1) * (L + 1) + 1;
}
int bytes_of_any(int L)
{
    return (int)sizeof(int) * FMO_HERMITE_COUNT(L) + 8 +
           WARPS * doubles_of_R(L) * (int)sizeof(double);
}

/* The same for points of any orders: a warp computes R of one ket at a time (warp.cuh), and a lane
 * has every 32nd potential. */
__global__ void __launch_bounds__(THREADS)
    potentials_any(const __grid_constant__ coulomb_args a, int bra_order, int ket_order)
{
    constexpr int own_V = (FMO_GRADIENT_RAISED_MAX + 31) / 32;
    constexpr int own_R = (FMO_HERMITE_COUNT(FMO_GRADIENT_ORDER_MAX) + 31) / 32;
    extern __shared__ double memory[];
    const int L = bra_order + 1 + ket_order, bras = FMO_HERMITE_COUNT(bra_order + 1);
    const int lane = threadIdx.x % 32, bra = blockIdx.x * WARPS + threadIdx.x / 32;
    double *const R = memory + threadIdx.x / 32 * doubles_of_R(L);
    int *const hermite = (int *)(memory + WARPS * doubles_of_R(L));
    fmo_warp_begin(L, hermite);
    __syncthreads();
    if (bra >= a.bra.points) return;
    const float2 own = a.bra.strength[bra];
    const size_t at = a.bra.points, to = a.ket.points;
    const double P[3] = {a.bra.place[bra], a.bra.place[at + bra], a.bra.place[2 * at + bra]};
    const double p = a.bra.place[3 * at + bra];
    const bool of_operator = a.op.long_range != 0.0 || a.op.full != 1.0;
    const fmo_gradient_molecule &molecule = a.molecule[a.bra.tile_molecule[bra / TILE]];
    const int begin = molecule.of[a.ket_class].point / TILE;
    const int end = begin + molecule.of[a.ket_class].points / TILE;
    double V[own_V] = {};
    for (int tile = begin; tile < end; tile++) {
        if (estimate(own, a.ket.tile_strength[tile]) < a.cutoff) continue;
        const float2 mine = a.ket.strength[tile * TILE + lane];
        unsigned open = __ballot_sync(0xffffffffu, estimate(own, mine) >= a.cutoff);
        for (; open; open &= open - 1) {
            const int ket = tile * TILE + __ffs((int)open) - 1;
            const double PQ[3] = {P[0] - a.ket.place[ket], P[1] - a.ket.place[to + ket],
                                  P[2] - a.ket.place[2 * to + ket]};
            const double start = fmo_warp_start(
                of_operator ? &a.op : NULL, a.boys + (size_t)L * FMO_BOYS_ROWS * FMO_BOYS_ROW_SIZE,
                L, p, a.ket.place[3 * to + ket], PQ);
            fmo_warp_coulomb<own_R>(start, PQ, L, fmo_warp_codes{hermite}, R);
            for (int k = 0; k < FMO_HERMITE_COUNT(ket_order); k++) {
                const double d = a.ket.density[k * to + ket];
                const double *const from = R + fmo_warp_find(hermite[k]).at;
                FMO_UNROLL
                for (int n = 0; n < own_V; n++)
                    if (lane + 32 * n < bras)
                        V[n] += d * from[fmo_warp_find(hermite[lane + 32 * n]).at];
            }
            __syncwarp();
        }
    }
    FMO_UNROLL
    for (int n = 0; n < own_V; n++)
        if (lane + 32 * n < bras) a.bra.potential[(lane + 32 * n) * at + bra] += V[n];
}
static_assert(FMO_GPU_TILE_PAIRS == 32, "coulomb.cu: a lane for each ket of a tile");

/* Contracts the potentials at the points of a class; one thread for each. */
template <int CLASS>
__global__ void __launch_bounds__(THREADS)
    contract(const __grid_constant__ fmo_gpu_gradient h, const fmo_gradient_density *terms)
{
    const fmo_gradient_pairs &pairs = h.pairs[CLASS];
    const int n = blockIdx.x * THREADS + threadIdx.x;
    const int prim = n < pairs.points ? pairs.point[n] : -1;
    if (prim < 0) return;
    const fmo_gradient_pair &pair = pairs.pair[pairs.pair_of[prim]];
    const fmo_gradient_side side = {CLASS,
                                    fmo_pair_ang_mom(CLASS, 0),
                                    fmo_pair_ang_mom(CLASS, 1),
                                    {pair.AB[0], pair.AB[1], pair.AB[2]},
                                    pair.functions[0],
                                    pair.functions[1],
                                    pairs.prim[prim]};
    const int own = pair.molecule;
    const fmo_gradient_density term = terms[own];
    double block[FMO_GRADIENT_SPLITS_MAX], sum[6] = {};
    fmo_gradient_pair_density(h.tables, &side, term.D, h.molecule[own].nao,
                              2.0 * term.weight * side.prim.k, block);
    fmo_gradient_in_potential(h.tables, &side, block, pairs.potential + n, pairs.points, sum);
    for (int x = 0; x < 3; x++) {
        fmo_gradient_add(h.sums, h.sums.sum, own, 3 * pair.nucleus[0] + x, sum[x]);
        fmo_gradient_add(h.sums, h.sums.sum, own, 3 * pair.nucleus[1] + x, sum[3 + x] - sum[x]);
    }
}

typedef void contract_kernel(fmo_gpu_gradient, const fmo_gradient_density *);
contract_kernel *const contract_of[FMO_PAIR_GPU_COUNT] = {
#define ROW(P, name, li, lj, partner) contract<FMO_PAIR_##P>,
    FMO_PAIR_GPU_TABLE(ROW)
#undef ROW
};

typedef void potentials_kernel(coulomb_args);
#define KETS(nb)                                                                    \
    {                                                                               \
        potentials<nb, 0>, potentials<nb, 1>, potentials<nb, 2>, potentials<nb, 3>, \
            potentials<nb, 4>                                                       \
    }
potentials_kernel *const potentials_of[5][5] = {KETS(0), KETS(1), KETS(2), KETS(3), KETS(4)};
static_assert(FMO_PAIR_UNROLLED_ORDER_MAX == 4, "coulomb.cu: orders up to 4");

/* Adds the potentials of a class of kets to those of a class of bras. */
cudaError_t launch_potentials(const coulomb_args &args, int bra_order, int ket_order,
                              cudaStream_t stream)
{
    const unsigned blocks = (unsigned)((args.bra.points + WARPS - 1) / WARPS);
    if (bra_order <= FMO_PAIR_UNROLLED_ORDER_MAX && ket_order <= FMO_PAIR_UNROLLED_ORDER_MAX) {
        potentials_of[bra_order][ket_order]<<<blocks, THREADS, 0, stream>>>(args);
    } else {
        const int bytes = bytes_of_any(bra_order + 1 + ket_order);
        FMO_GPU_TRY(cudaFuncSetAttribute(potentials_any,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         bytes_of_any(FMO_GRADIENT_ORDER_MAX)));
        potentials_any<<<blocks, THREADS, bytes, stream>>>(args, bra_order, ket_order);
    }
    return cudaGetLastError();
}

} // namespace

/* For each class of bras: potentials of all classes of kets, then the contraction. */
cudaError_t fmo_gradient_coulomb(const fmo_gradient_pass *pass)
{
    const fmo_gpu_range range("gradient of J");
    const fmo_gpu_gradient &h = *pass->h;
    for (int b = FMO_PAIR_GPU_COUNT - 1; b >= 0; b--) {
        const fmo_gradient_pairs &bra = h.pairs[b];
        if (!bra.points) continue;
        FMO_GPU_TRY(cudaMemsetAsync(bra.potential, 0,
                                    FMO_HERMITE_COUNT(fmo_pair_order(b) + 1) * (size_t)bra.points *
                                        sizeof(double),
                                    pass->stream));
        for (int k = FMO_PAIR_GPU_COUNT - 1; k >= 0; k--) {
            if (!h.pairs[k].points) continue;
            const coulomb_args args = {bra,      h.pairs[k],       k, h.molecule, pass->boys,
                                       pass->op, pass->prim_cutoff};
            FMO_GPU_TRY(
                launch_potentials(args, fmo_pair_order(b), fmo_pair_order(k), pass->stream));
        }
        contract_of
            [b]<<<(unsigned)((bra.points + THREADS - 1) / THREADS), THREADS, 0, pass->stream>>>(
                h, pass->term);
        FMO_GPU_TRY(cudaGetLastError());
    }
    return cudaSuccess;
}
