/* Moments, derivatives of 1/R, and the interaction of the moments of two quadrature points (far.h).
 * Both are arrays [1 + 3 + 6 + ...]: 1, x y z, xx xy xz yy yz zz, ..., up to an order: for a pair
 * the sum of its angular momenta. */
#ifndef FMO_FAR_MOMENTS_H
#define FMO_FAR_MOMENTS_H

#include "integrals/eri/eri_common.h"

/* Number of moments, or derivatives, up to an order, and of one order; constants. */
#define FMO_FAR_TERMS(order)    (((order) + 1) * ((order) + 2) * ((order) + 3) / 6)
#define FMO_FAR_OF_ORDER(order) (((order) + 1) * ((order) + 2) / 2)

enum {
    FMO_FAR_MOMENTS_MAX = FMO_FAR_TERMS(FMO_PAIR_LOW_L_ORDER_MAX),
    FMO_FAR_TERMS_MAX = FMO_FAR_TERMS(FMO_ERI_LOW_L_ORDER_MAX)
};

/* Index of derivative x^nx y^ny z^nz. */
FMO_HD int fmo_far_index(int nx, int ny, int nz)
{
    const int order = nx + ny + nz, rest = ny + nz;
    return order * (order + 1) * (order + 2) / 6 + rest * (rest + 1) / 2 + nz;
}

/* Power of x (0), y (1) or z (2) in moment n. */
FMO_HD int fmo_far_power(int n, int x)
{
    const int i = n < 4 ? n - 1 : n < 7 ? 0 : n < 9 ? 1 : 2;
    const int j = n < 4 ? -1 : n < 7 ? n - 4 : n < 9 ? n - 6 : 2;
    return n == 0 ? 0 : (i == x) + (j == x);
}

/* Index of the derivative by n coordinates, each 0 to 2. */
FMO_HD int fmo_far_at(int n, const int *by)
{
    int power[3] = {0, 0, 0};
    FMO_GPU_UNROLL
    for (int k = 0; k < n; k++) {
        FMO_GPU_UNROLL
        for (int x = 0; x < 3; x++) power[x] += by[k] == x;
    }
    return fmo_far_index(power[0], power[1], power[2]);
}

FMO_STATIC_ASSERT(FMO_PAIR_LOW_L_ORDER_MAX <= 2, "far/moments.h: fmo_far_power lacks moments")

/* The order of moment n. */
FMO_HD int fmo_far_moment_order(int n)
{
    return n < FMO_FAR_TERMS(0) ? 0 : n < FMO_FAR_TERMS(1) ? 1 : 2;
}

/* Computes all derivatives of 1/|R| with respect to R up to an order (at most 4). */
FMO_HD void fmo_far_derivatives(int order, const fmo_real *R, fmo_real *T)
{
    const fmo_real r1 = fmo_rsqrt(R[0] * R[0] + R[1] * R[1] + R[2] * R[2]), r2 = r1 * r1;
    const fmo_real g1 = -r1 * r2, g2 = -3.0 * g1 * r2, g3 = -5.0 * g2 * r2, g4 = -7.0 * g3 * r2;
    T[0] = r1;
    FMO_GPU_UNROLL
    for (int i = 0; i < 3 && order >= 1; i++) {
        T[1 + i] = R[i] * g1;
        FMO_GPU_UNROLL
        for (int j = i; j < 3 && order >= 2; j++) {
            const int ij[2] = {i, j};
            const fmo_real RR = R[i] * R[j];
            T[fmo_far_at(2, ij)] = i == j ? RR * g2 + g1 : RR * g2;
            FMO_GPU_UNROLL
            for (int k = j; k < 3 && order >= 3; k++) {
                const int ijk[3] = {i, j, k};
                fmo_real t = RR * (R[k] * g3);
                if (i == j) t += R[k] * g2;
                if (i == k) t += R[j] * g2;
                if (j == k) t += R[i] * g2;
                T[fmo_far_at(3, ijk)] = t;
                FMO_GPU_UNROLL
                for (int l = k; l < 3 && order >= 4; l++) {
                    const int ijkl[4] = {i, j, k, l};
                    const int deltas = (i == j && k == l) + (i == k && j == l) + (i == l && j == k);
                    fmo_real f = RR * (R[k] * R[l] * g4);
                    if (i == j) f += R[k] * R[l] * g3;
                    if (i == k) f += R[j] * R[l] * g3;
                    if (i == l) f += R[j] * R[k] * g3;
                    if (j == k) f += R[i] * R[l] * g3;
                    if (j == l) f += R[i] * R[k] * g3;
                    if (k == l) f += R[i] * R[j] * g3;
                    if (deltas) f += deltas * g2;
                    T[fmo_far_at(4, ijkl)] = f;
                }
            }
        }
    }
}

FMO_STATIC_ASSERT(FMO_ERI_LOW_L_ORDER_MAX <= 4, "far/moments.h: fmo_far_derivatives lacks orders")

/* Declares bra_order and ket_order of bra_class and ket_class. Written out for CUDA, because with
 * calls of fmo_pair_order, even inlined ones, nvcc 13.0 leaves arrays of fused kernels in local
 * memory. */
#if defined(__CUDACC__)
#define FMO_FAR_ORDERS                \
    int bra_order = 0, ket_order = 0; \
    FMO_PAIR_LOW_L_TABLE(FMO_FAR_ORDERS_ROW)
#define FMO_FAR_ORDERS_ROW(P, name, li, lj, partner)          \
    bra_order += (bra_class == FMO_PAIR_##P) * ((li) + (lj)); \
    ket_order += (ket_class == FMO_PAIR_##P) * ((li) + (lj));
#else
#define FMO_FAR_ORDERS \
    const int bra_order = fmo_pair_order(bra_class), ket_order = fmo_pair_order(ket_class);
#endif

/* Adds to the potentials (and their derivatives) of two quadrature points at each other, R = P - Q.
 */
FMO_HD void fmo_far_interact(int bra_class, int ket_class, const fmo_real *R, const fmo_real *H_bra,
                             const fmo_real *H_ket, fmo_real *V_bra, fmo_real *V_ket)
{
    FMO_FAR_ORDERS
    fmo_real T[FMO_FAR_TERMS_MAX];
    fmo_far_derivatives(bra_order + ket_order, R, T);
    FMO_GPU_UNROLL
    for (int e = 0; e < FMO_FAR_TERMS(bra_order); e++) {
        FMO_GPU_UNROLL
        for (int f = 0; f < FMO_FAR_TERMS(ket_order); f++) {
            const fmo_real t = T[fmo_far_index(fmo_far_power(e, 0) + fmo_far_power(f, 0),
                                               fmo_far_power(e, 1) + fmo_far_power(f, 1),
                                               fmo_far_power(e, 2) + fmo_far_power(f, 2))];
            if (fmo_far_moment_order(f) & 1) { /* d/dQ = -d/dR: the sign of odd orders */
                V_bra[e] -= t * H_ket[f];
                V_ket[f] -= t * H_bra[e];
            } else {
                V_bra[e] += t * H_ket[f];
                V_ket[f] += t * H_bra[e];
            }
        }
    }
}

#endif
