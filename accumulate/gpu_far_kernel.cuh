/* J of quartets that do not count in K and whose pairs do not overlap (integrals/far.h): the second
 * list of screening, one quartet a thread. */
#ifndef FMO_GPU_FAR_KERNEL_CUH
#define FMO_GPU_FAR_KERNEL_CUH

#include "accumulate/gpu_fused_kernel.cuh"

/* Blocks that must fit a multiprocessor, by the number of p shells. */
static __host__ __device__ constexpr int fmo_gpu_far_resident(int order)
{
    return order == 0 ? 7 : order == 1 ? 5 : order == 2 ? 4 : order == 3 ? 3 : 2;
}

/* A node as the kernel wants it, from fmo_gpu_pairs.far. */
template <int KIND> struct fmo_gpu_node {
    double place, coefficient[FMO_FAR_COEFFICIENTS(KIND)], H[FMO_FAR_TERMS(KIND)];
};
template <int KIND>
static __device__ __forceinline__ fmo_gpu_node<KIND> fmo_gpu_load_node(const fmo_gpu_pairs &pairs,
                                                                       int slot, int pair)
{
    constexpr int fixed = FMO_FAR_COEFFICIENTS(KIND) + 1, twos = fmo_gpu_far_twos(KIND);
    fmo_gpu_node<KIND> node;
    const double2 *const from = pairs.far + ((unsigned)(slot * twos) * pairs.num + pair);
    double value[2 * twos];
    FMO_UNROLL
    for (int t = 0; t < twos; t++) {
        const double2 two = __ldg(from + (unsigned)(t * pairs.num));
        value[2 * t] = two.x;
        value[2 * t + 1] = two.y;
    }
    node.place = value[0];
    FMO_UNROLL
    for (int c = 0; c < FMO_FAR_COEFFICIENTS(KIND); c++) node.coefficient[c] = value[1 + c];
    FMO_UNROLL
    for (int e = 0; e < FMO_FAR_TERMS(KIND); e++) node.H[e] = value[fixed + e];
    return node;
}

/* What a far quartet adds to X^J of its two pairs, [products] each. */
template <class C>
static __device__ __forceinline__ void
fmo_gpu_far_quartet(const fmo_gpu_class_view &view, int2 quartet, double *J_bra, double *J_ket)
{
    constexpr int kb = C::KIND_BRA, kk = C::KIND_KET;
    const int bra = quartet.x, ket = quartet.y & (FMO_GPU_PAIRS_MAX - 1);
    const int code = (quartet.y >> FMO_GPU_KET_BITS) & FMO_GPU_FACTOR_MAX;
    const int bra_choice = code / FMO_FAR_CHOICES, ket_choice = code % FMO_FAR_CHOICES;
    const int bra_slot = fmo_gpu_far_slot(bra_choice), ket_slot = fmo_gpu_far_slot(ket_choice);
    double AC[3], AB[3], CD[3], bra_sums[FMO_FAR_SUMS(kb)], ket_sums[FMO_FAR_SUMS(kk)];
    FMO_UNROLL
    for (int x = 0; x < 3; x++) {
        AC[x] = __ldg(view.bra.center + x * view.bra.num + bra) -
                __ldg(view.ket.center + x * view.ket.num + ket);
        AB[x] = __ldg(view.bra.center + (3 + x) * view.bra.num + bra);
        CD[x] = __ldg(view.ket.center + (3 + x) * view.ket.num + ket);
    }
    FMO_UNROLL
    for (int a = 0; a < FMO_FAR_SUMS(kb); a++) bra_sums[a] = 0.0;
    FMO_UNROLL
    for (int a = 0; a < FMO_FAR_SUMS(kk); a++) ket_sums[a] = 0.0;
    for (int m = 0; m < FMO_FAR_NODES(ket_choice); m++) {
        const fmo_gpu_node<kk> k = fmo_gpu_load_node<kk>(view.ket, ket_slot + m, ket);
        double from[3], V_ket[FMO_FAR_TERMS(kk)];
        FMO_UNROLL
        for (int x = 0; x < 3; x++) from[x] = AC[x] - k.place * CD[x];
        FMO_UNROLL
        for (int e = 0; e < FMO_FAR_TERMS(kk); e++) V_ket[e] = 0.0;
        for (int n = 0; n < FMO_FAR_NODES(bra_choice); n++) {
            const fmo_gpu_node<kb> b = fmo_gpu_load_node<kb>(view.bra, bra_slot + n, bra);
            double R[3], V_bra[FMO_FAR_TERMS(kb)];
            FMO_UNROLL
            for (int x = 0; x < 3; x++) R[x] = from[x] + b.place * AB[x];
            FMO_UNROLL
            for (int e = 0; e < FMO_FAR_TERMS(kb); e++) V_bra[e] = 0.0;
            fmo_far_interact(kb, kk, R, b.H, k.H, V_bra, V_ket);
            fmo_far_potential(kb, b.coefficient, V_bra, bra_sums);
        }
        fmo_far_potential(kk, k.coefficient, V_ket, ket_sums);
    }
    fmo_far_unfold(kb, AB, bra_sums, J_bra);
    fmo_far_unfold(kk, CD, ket_sums, J_ket);
}

template <class C, class S>
__global__ void __launch_bounds__(FMO_GPU_THREADS, fmo_gpu_far_resident(C::order))
    fmo_gpu_far(fmo_gpu_class_view view, fmo_gpu_matrices m)
{
    S scatter;
    fmo_gpu_prepare(scatter, m);
    const unsigned count = *view.far_count, stride = gridDim.x * blockDim.x;
    const size_t copy = fmo_gpu_copy_of_block(m).J;
    unsigned issued = 0;
    if (blockIdx.x * blockDim.x >= count) return; /* the whole block */
    for (unsigned first = blockIdx.x * blockDim.x; first < count; first += stride) {
        const bool active = first + threadIdx.x < count;
        const unsigned mask = __ballot_sync(0xffffffffu, active);
        if (!fmo_gpu_together<S> && !active) continue;
        const int2 quartet =
            fmo_gpu_load_once(view.far_end - 1 - umin(first + threadIdx.x, count - 1));
        double J_bra[C::N0 * C::N1], J_ket[C::N2 * C::N3];
        fmo_gpu_far_quartet<C>(view, quartet, J_bra, J_ket);
        __syncwarp(fmo_gpu_together<S> ? 0xffffffffu : mask);
        unsigned run = 0;
        if (S::takes_runs)
            run =
                __ballot_sync(0xffffffffu, __shfl_up_sync(0xffffffffu, quartet.x, 1) == quartet.x);
        issued +=
            fmo_gpu_add_coulomb<C, S, 0>(scatter, mask, active, run, view, copy, quartet.x, J_bra);
        issued += fmo_gpu_add_coulomb<C, S, 1>(scatter, mask, active, 0, view, copy,
                                               quartet.y & (FMO_GPU_PAIRS_MAX - 1), J_ket);
        __syncwarp(fmo_gpu_together<S> ? 0xffffffffu : mask);
    }
    fmo_scatter_finish(scatter);
    fmo_gpu_count_issued(m, issued);
}

#endif
