/* Integrals of far quartets (far.h), for K. Each coefficient of a pair multiplies moments of one
 * order; a pair of coefficients multiplies all derivatives of the sum of their orders. A quartet
 * therefore has FMO_FAR_BLOCKS(bra class, ket class) sums over pairs of quadrature points:
 * [coefficient of the bra][of the ket][derivative]. */
#ifndef FMO_FAR_INTEGRALS_H
#define FMO_FAR_INTEGRALS_H

#include "integrals/far/moments.h"
#include "integrals/far/pair.h"

/* Number of sums of the first `coefficients` coefficients of a pair class, each with
 * FMO_FAR_OF_ORDER(order + its own order) derivatives. */
FMO_TABLE_FUNCTION int fmo_far_row(int pair_class, int order, int coefficients)
{
    int sums = 0;
    for (int own = 0; own <= FMO_PAIR_LOW_L_ORDER_MAX; own++) {
        const int below = fmo_far_below(pair_class, own), end = fmo_far_below(pair_class, own + 1);
        const int last = coefficients < end ? coefficients : end;
        sums += last > below ? (last - below) * FMO_FAR_OF_ORDER(order + own) : 0;
    }
    return sums;
}

/* Offset of the sums of coefficients b and k. */
FMO_TABLE_FUNCTION int fmo_far_block(int bra_class, int ket_class, int b, int k)
{
    int rows = 0;
    for (int own = 0; own <= FMO_PAIR_LOW_L_ORDER_MAX; own++) {
        const int below = fmo_far_below(bra_class, own), end = fmo_far_below(bra_class, own + 1);
        const int last = b < end ? b : end;
        if (last > below)
            rows +=
                (last - below) * fmo_far_row(ket_class, own, fmo_far_coefficient_num(ket_class));
    }
    return rows + (k > 0 ? fmo_far_row(ket_class, fmo_far_order(bra_class, b), k) : 0);
}

/* Number of all sums: a constant for array sizes; in C, arrays have the largest number of any
 * quartet. */
#define FMO_FAR_BLOCKS(bra_class, ket_class) \
    fmo_far_block(bra_class, ket_class, fmo_far_coefficient_num(bra_class), 0)
enum {
    FMO_FAR_BLOCKS_MAX = FMO_FAR_COEFFICIENTS_MAX * FMO_FAR_COEFFICIENTS_MAX *
                         FMO_FAR_OF_ORDER(FMO_ERI_LOW_L_ORDER_MAX)
};

/* Adds the contribution of two quadrature points, R = P - Q, to the sums of a quartet. */
FMO_HD void fmo_far_add_nodes(int bra_class, int ket_class, const fmo_real *R,
                              const fmo_real *bra_coefficient, const fmo_real *ket_coefficient,
                              fmo_real *blocks)
{
    FMO_FAR_ORDERS
    const int bras = FMO_FAR_COEFFICIENTS(bra_class), kets = FMO_FAR_COEFFICIENTS(ket_class);
    fmo_real T[FMO_FAR_TERMS_MAX] = {0};
    fmo_far_derivatives(bra_order + ket_order, R, T);
    FMO_GPU_UNROLL
    for (int b = 0; b < bras; b++) {
        FMO_GPU_UNROLL
        for (int k = 0; k < kets; k++) {
            const int order = fmo_far_order(bra_class, b) + fmo_far_order(ket_class, k);
            const int to = fmo_far_block(bra_class, ket_class, b, k);
            const fmo_real c = bra_coefficient[b] * ket_coefficient[k];
            FMO_GPU_UNROLL
            for (int t = 0; t < FMO_FAR_OF_ORDER(order); t++)
                blocks[to + t] += c * T[FMO_FAR_TERMS(order - 1) + t];
        }
    }
}

/* From sums over pairs of quadrature points to eri[products of the bra][of the ket]. */
FMO_HD void fmo_far_integrals(int bra_class, int ket_class, const fmo_real *AB, const fmo_real *CD,
                              const fmo_real *blocks, fmo_real *eri)
{
    const int bra_sums = FMO_FAR_SUMS(bra_class), ket_sums = FMO_FAR_SUMS(ket_class);
    const int bra_products = FMO_FAR_PRODUCTS(bra_class), cds = FMO_FAR_PRODUCTS(ket_class);
    fmo_real half[FMO_FAR_SUMS_MAX][FMO_FAR_PRODUCTS_MAX] = {{0}}; /* with the ket unfolded */
    FMO_GPU_UNROLL
    for (int b = 0; b < bra_sums; b++) {
        fmo_real sums[FMO_FAR_SUMS_MAX] = {0};
        const int i = fmo_far_sum_coefficient(bra_class, b), e = fmo_far_sum_moment(bra_class, b);
        FMO_GPU_UNROLL
        for (int k = 0; k < ket_sums; k++) {
            const int j = fmo_far_sum_coefficient(ket_class, k),
                      f = fmo_far_sum_moment(ket_class, k);
            const int order = fmo_far_order(bra_class, i) + fmo_far_order(ket_class, j);
            const int at = fmo_far_index(fmo_far_power(e, 0) + fmo_far_power(f, 0),
                                         fmo_far_power(e, 1) + fmo_far_power(f, 1),
                                         fmo_far_power(e, 2) + fmo_far_power(f, 2));
            const fmo_real v =
                blocks[fmo_far_block(bra_class, ket_class, i, j) + at - FMO_FAR_TERMS(order - 1)];
            /* d/dQ = -d/dR: the sign of odd orders */
            sums[k] = fmo_far_moment_order(f) & 1 ? -v : v;
        }
        fmo_far_unfold(ket_class, CD, sums, half[b]);
    }
    FMO_GPU_UNROLL
    for (int cd = 0; cd < cds; cd++) {
        fmo_real sums[FMO_FAR_SUMS_MAX] = {0}, products[FMO_FAR_PRODUCTS_MAX] = {0};
        FMO_GPU_UNROLL
        for (int b = 0; b < bra_sums; b++) sums[b] = half[b][cd];
        fmo_far_unfold(bra_class, AB, sums, products);
        FMO_GPU_UNROLL
        for (int ab = 0; ab < bra_products; ab++) eri[ab * cds + cd] = products[ab];
    }
}

#endif
