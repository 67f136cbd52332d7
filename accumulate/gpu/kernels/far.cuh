/* Far quartets, whose charge distributions do not overlap: a few quadrature points (nodes) of each
 * pair's distribution replace its primitives (integrals/far/far.h,
 * docs/explanation/gpu/far-quartets.md). Those that contribute to J alone and those that contribute
 * to K are in separate lists. Each thread computes one quartet. */
#ifndef FMO_GPU_FAR_KERNEL_CUH
#define FMO_GPU_FAR_KERNEL_CUH

#include "accumulate/gpu/kernels/near.cuh"

/* Thread blocks that must fit a multiprocessor, by order of the class. */
static __host__ __device__ constexpr int fmo_gpu_far_resident(int order)
{
    constexpr int blocks[] = {FMO_TUNING_GPU_FAR_RESIDENT};
    static_assert(sizeof blocks / sizeof *blocks == FMO_ERI_LOW_L_ORDER_MAX + 1,
                  "FMO_TUNING_GPU_FAR_RESIDENT: a number for each order");
    return blocks[order];
}

/* Loads the first TWOS pairs of doubles of a node from fmo_gpu_pairs.far: centre and coefficients;
 * with all pairs of doubles also the stored moments. */
template <int TWOS>
static __device__ __forceinline__ void fmo_gpu_load_node(const fmo_gpu_pairs &pairs,
                                                         const double2 *from, double *value)
{
    FMO_UNROLL
    for (int t = 0; t < TWOS; t++) {
        const double2 two = __ldg(from + (unsigned)(t * pairs.num));
        value[2 * t] = two.x;
        value[2 * t + 1] = two.y;
    }
}

/* The contents of a far quartet's entry in a list: its pairs, their numbers of nodes, and where
 * these begin. */
struct fmo_gpu_far_pairs {
    int bra, ket, bra_nodes, ket_nodes;
    const double2 *bra_node, *ket_node;
};
template <class C>
static __device__ __forceinline__ fmo_gpu_far_pairs fmo_gpu_find_far(const fmo_gpu_class_view &view,
                                                                     int2 quartet)
{
    fmo_gpu_far_pairs p;
    const int code = (quartet.y >> FMO_GPU_KET_BITS) & FMO_GPU_FACTOR_MAX;
    const int bra_choice = code / FMO_FAR_CHOICES, ket_choice = code % FMO_FAR_CHOICES;
    p.bra = quartet.x;
    p.ket = quartet.y & (FMO_GPU_PAIRS_MAX - 1);
    p.bra_nodes = FMO_FAR_NODES(bra_choice);
    p.ket_nodes = FMO_FAR_NODES(ket_choice);
    p.bra_node =
        view.bra.far +
        (unsigned)(fmo_gpu_far_slot(bra_choice) * fmo_gpu_far_twos(C::BRA) * view.bra.num + p.bra);
    p.ket_node =
        view.ket.far +
        (unsigned)(fmo_gpu_far_slot(ket_choice) * fmo_gpu_far_twos(C::KET) * view.ket.num + p.ket);
    return p;
}

/* Loads A - B of a pair. */
static __device__ __forceinline__ void fmo_gpu_load_AB(const fmo_gpu_pairs &pairs, int pair,
                                                       double *AB)
{
    FMO_UNROLL
    for (int x = 0; x < 3; x++) AB[x] = __ldg(pairs.centre + (3 + x) * pairs.num + pair);
}

/* Loads D of a pair in the form of fmo_far_fold; nothing is loaded if the moments are stored with
 * the nodes. */
template <int PAIR>
static __device__ __forceinline__ void fmo_gpu_load_folded(const fmo_gpu_pairs &pairs, int pair,
                                                           double *folded)
{
    if (!fmo_gpu_far_keeps_moments(PAIR)) folded[0] = __ldg(pairs.density + pair);
    if (fmo_gpu_far_keeps_line(PAIR)) {
        folded[FMO_FAR_SUM_PS] = __ldg(pairs.far_line + pair);
        FMO_UNROLL
        for (int i = 0; i < 3; i++)
            folded[FMO_FAR_SUM_P + i] = __ldg(pairs.density + (1 + i) * pairs.num + pair);
    }
}

/* Loads a node and computes its moments, unless they are stored: centre, coefficients, moments. */
template <int PAIR>
static __device__ __forceinline__ void fmo_gpu_load_moments(const fmo_gpu_pairs &pairs,
                                                            const double2 *from,
                                                            const double *folded, double *value)
{
    constexpr int H = 3 + FMO_FAR_COEFFICIENTS(PAIR);
    fmo_gpu_load_node<fmo_gpu_far_twos(PAIR)>(pairs, from, value);
    if (!fmo_gpu_far_keeps_moments(PAIR)) fmo_far_moments(PAIR, value + 3, folded, value + H);
}

/* Computes what a far quartet adds to X^J of its two pairs, [products] each: the moments of each
 * pair's density in the potential of the other's. */
template <class C>
static __device__ __forceinline__ void
fmo_gpu_far_coulomb(const fmo_gpu_class_view &view, int2 quartet, double *J_bra, double *J_ket)
{
    constexpr int kb = C::BRA, kk = C::KET;
    constexpr int bra_H = 3 + FMO_FAR_COEFFICIENTS(kb), ket_H = 3 + FMO_FAR_COEFFICIENTS(kk);
    constexpr int bra_size = bra_H + FMO_FAR_TERMS(kb), ket_size = ket_H + FMO_FAR_TERMS(kk);
    const fmo_gpu_far_pairs p = fmo_gpu_find_far<C>(view, quartet);
    double bra_folded[FMO_FAR_SUMS(kb)], ket_folded[FMO_FAR_SUMS(kk)], AB[3], CD[3];
    double bra_sums[FMO_FAR_SUMS(kb)], ket_sums[FMO_FAR_SUMS(kk)];
    fmo_gpu_load_folded<kb>(view.bra, p.bra, bra_folded);
    fmo_gpu_load_folded<kk>(view.ket, p.ket, ket_folded);
    FMO_UNROLL
    for (int a = 0; a < FMO_FAR_SUMS(kb); a++) bra_sums[a] = 0.0;
    FMO_UNROLL
    for (int a = 0; a < FMO_FAR_SUMS(kk); a++) ket_sums[a] = 0.0;
#pragma unroll 1
    for (int m = 0; m < p.ket_nodes; m++) {
        double k[ket_size], V_ket[FMO_FAR_TERMS(kk)];
        fmo_gpu_load_moments<kk>(view.ket,
                                 p.ket_node + (unsigned)(m * fmo_gpu_far_twos(kk) * view.ket.num),
                                 ket_folded, k);
        FMO_UNROLL
        for (int e = 0; e < FMO_FAR_TERMS(kk); e++) V_ket[e] = 0.0;
#pragma unroll 1
        for (int n = 0; n < p.bra_nodes; n++) {
            double b[bra_size], R[3], V_bra[FMO_FAR_TERMS(kb)];
            fmo_gpu_load_moments<kb>(
                view.bra, p.bra_node + (unsigned)(n * fmo_gpu_far_twos(kb) * view.bra.num),
                bra_folded, b);
            FMO_UNROLL
            for (int x = 0; x < 3; x++) R[x] = b[x] - k[x];
            FMO_UNROLL
            for (int e = 0; e < FMO_FAR_TERMS(kb); e++) V_bra[e] = 0.0;
            fmo_far_interact(kb, kk, R, b + bra_H, k + ket_H, V_bra, V_ket);
            fmo_far_potential(kb, b + 3, V_bra, bra_sums);
        }
        fmo_far_potential(kk, k + 3, V_ket, ket_sums);
    }
    fmo_gpu_load_AB(view.bra, p.bra, AB);
    fmo_gpu_load_AB(view.ket, p.ket, CD);
    fmo_far_unfold(kb, AB, bra_sums, J_bra);
    fmo_far_unfold(kk, CD, ket_sums, J_ket);
}

/* Computes the integrals of a far quartet, eri[C::size]. Returns the first functions of the four
 * shells. */
template <class C>
static __device__ __forceinline__ fmo_gpu_shells fmo_gpu_far_quartet(const fmo_gpu_class_view &view,
                                                                     int2 quartet, double *eri)
{
    constexpr int kb = C::BRA, kk = C::KET;
    constexpr int bra_twos = fmo_gpu_far_geometry_twos(kb);
    constexpr int ket_twos = fmo_gpu_far_geometry_twos(kk);
    const fmo_gpu_far_pairs p = fmo_gpu_find_far<C>(view, quartet);
    double blocks[FMO_FAR_BLOCKS(kb, kk)], AB[3], CD[3];
    FMO_UNROLL
    for (int a = 0; a < FMO_FAR_BLOCKS(kb, kk); a++) blocks[a] = 0.0;
#pragma unroll 1
    for (int m = 0; m < p.ket_nodes; m++) {
        double k[2 * ket_twos];
        fmo_gpu_load_node<ket_twos>(
            view.ket, p.ket_node + (unsigned)(m * fmo_gpu_far_twos(kk) * view.ket.num), k);
#pragma unroll 1
        for (int n = 0; n < p.bra_nodes; n++) {
            double b[2 * bra_twos], R[3];
            fmo_gpu_load_node<bra_twos>(
                view.bra, p.bra_node + (unsigned)(n * fmo_gpu_far_twos(kb) * view.bra.num), b);
            FMO_UNROLL
            for (int x = 0; x < 3; x++) R[x] = b[x] - k[x];
            fmo_far_add_nodes(kb, kk, R, b + 3, k + 3, blocks);
        }
    }
    fmo_gpu_load_AB(view.bra, p.bra, AB);
    fmo_gpu_load_AB(view.ket, p.ket, CD);
    fmo_far_integrals(kb, kk, AB, CD, blocks, eri);
    const int4 bra = __ldg(view.bra.first + p.bra), ket = __ldg(view.ket.first + p.ket);
    const fmo_gpu_shells at = {{bra.x, bra.y, ket.x, ket.y}};
    return at;
}

/* Processes the list of far quartets that contribute to J alone; no integrals are computed. Returns
 * the number of atomics issued. */
template <class C, class S>
static __device__ __forceinline__ unsigned
fmo_gpu_build_far_J(const S &scatter, const fmo_gpu_class_view &view, fmo_gpu_copy copy)
{
    const unsigned all = 0xffffffffu;
    unsigned issued = 0;
    fmo_gpu_for_quartets<S, -1>(
        view.far_J_end - 1, *view.count[FMO_GPU_FAR_J],
        [&](int2 quartet, unsigned mask, bool active, const auto &read_on) {
            const int ket = quartet.y & (FMO_GPU_PAIRS_MAX - 1);
            double J_bra[C::N0 * C::N1], J_ket[C::N2 * C::N3];
            fmo_gpu_far_coulomb<C>(view, quartet, J_bra, J_ket);
            read_on();
            __syncwarp(fmo_gpu_together<S> ? all : mask);
            unsigned run = 0;
            if (S::takes_runs)
                run = __ballot_sync(all, __shfl_up_sync(all, quartet.x, 1) == quartet.x);
            issued += fmo_gpu_add_coulomb<C, S, 0>(scatter, mask, active, run, view, copy.J,
                                                   quartet.x, J_bra);
            issued +=
                fmo_gpu_add_coulomb<C, S, 1>(scatter, mask, active, 0, view, copy.J, ket, J_ket);
            __syncwarp(fmo_gpu_together<S> ? all : mask);
        });
    return issued;
}

/* Processes the list of far quartets that contribute to K, computing integrals from the nodes. */
template <class C, fmo_gpu_in_coulomb COULOMB, int DENSITIES, class S>
static __device__ __forceinline__ unsigned
fmo_gpu_build_far_K(const S &scatter, const fmo_gpu_class_view &view, const fmo_gpu_matrices &m,
                    fmo_gpu_copy copy)
{
    return fmo_gpu_digest_list<C, COULOMB, DENSITIES>(
        scatter, view, m, copy, view.far_K, *view.count[FMO_GPU_FAR_K],
        [&](int2 quartet, double *eri) { return fmo_gpu_far_quartet<C>(view, quartet, eri); });
}

#endif
