/* The arithmetic of far pairs (far.h) by pair class: dispatches to the functions of far_<pair>.h,
 * one for each row of the table of pairs. */
#ifndef FMO_FAR_PAIR_H
#define FMO_FAR_PAIR_H

#include "integrals/far/charge.h"
#include "integrals/far/far_ss.h"
#include "integrals/far/far_ps.h"
#include "integrals/far/far_pp.h"

/* Constants for array sizes: products ab of a pair, including those of a carried pair; coefficients
 * of a quadrature point; sums over the points. In C they are functions, and arrays have the largest
 * size of any pair. */
#define FMO_FAR_PRODUCTS(pair_class)     fmo_pair_products(pair_class, 1)
#define FMO_FAR_COEFFICIENTS(pair_class) fmo_far_coefficient_num(pair_class)
#define FMO_FAR_SUMS(pair_class)         fmo_far_sum_num(pair_class)

/* Number of coefficients of a quadrature point. */
FMO_TABLE_FUNCTION int fmo_far_coefficient_num(int pair_class)
{
#define ROW(P, name, li, lj, partner) \
    pair_class == FMO_PAIR_##P ? (int)fmo_far_##name##_coefficient_num:
    return FMO_PAIR_LOW_L_TABLE(ROW) 0;
#undef ROW
}

/* Number of sums over the quadrature points. */
FMO_TABLE_FUNCTION int fmo_far_sum_num(int pair_class)
{
#define ROW(P, name, li, lj, partner) pair_class == FMO_PAIR_##P ? (int)fmo_far_##name##_sum_num:
    return FMO_PAIR_LOW_L_TABLE(ROW) 0;
#undef ROW
}

union fmo_far_coefficient_sizes {
#define ROW(P, name, li, lj, partner) char name[fmo_far_##name##_coefficient_num];
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
};
union fmo_far_sum_sizes {
#define ROW(P, name, li, lj, partner) char name[fmo_far_##name##_sum_num];
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
};
enum {
    FMO_FAR_PRODUCTS_MAX = FMO_PAIR_LOW_L_PRODUCTS_MAX,
    FMO_FAR_COEFFICIENTS_MAX = sizeof(union fmo_far_coefficient_sizes),
    FMO_FAR_SUMS_MAX = sizeof(union fmo_far_sum_sizes)
};

/* Number of coefficients that multiply moments of lower order than this. */
FMO_TABLE_FUNCTION int fmo_far_below(int pair_class, int order)
{
#define ROW(P, name, li, lj, partner) pair_class == FMO_PAIR_##P ? fmo_far_##name##_below(order):
    return FMO_PAIR_LOW_L_TABLE(ROW) 0;
#undef ROW
}

/* The order of the moments that a coefficient multiplies. */
FMO_TABLE_FUNCTION int fmo_far_order(int pair_class, int coefficient)
{
    int order = 0;
    for (int above = 1; above <= FMO_PAIR_LOW_L_ORDER_MAX; above++)
        order += coefficient >= fmo_far_below(pair_class, above);
    return order;
}

/* The coefficient and the moment that belong to a sum over the quadrature points of a pair. */
FMO_HD int fmo_far_sum_coefficient(int pair_class, int sum)
{
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) return fmo_far_##name##_sum_coefficient(sum);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
    return 0;
}
FMO_HD int fmo_far_sum_moment(int pair_class, int sum)
{
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) return fmo_far_##name##_sum_moment(sum);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
    return 0;
}

/* Converts a density block to the form used for all quadrature points: D[products] -> [sums]. */
FMO_HD void fmo_far_fold(int pair_class, const fmo_real *AB, const fmo_real *D, fmo_real *folded)
{
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) fmo_far_##name##_fold(AB, D, folded);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
}

/* Computes the moments H of one quadrature point. */
FMO_HD void fmo_far_moments(int pair_class, const fmo_real *coefficient, const fmo_real *folded,
                            fmo_real *H)
{
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) fmo_far_##name##_moments(coefficient, folded, H);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
}

/* Adds the contribution of potential V at one quadrature point to the sums of its pair. */
FMO_HD void fmo_far_potential(int pair_class, const fmo_real *coefficient, const fmo_real *V,
                              fmo_real *sums)
{
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) fmo_far_##name##_potential(coefficient, V, sums);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
}

/* Converts sums to J: [sums] of a pair -> J[products]. */
FMO_HD void fmo_far_unfold(int pair_class, const fmo_real *AB, const fmo_real *sums, fmo_real *J)
{
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) fmo_far_##name##_unfold(AB, sums, J);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
}

/* The charge of a primitive pair (ss), its overlap integral, from its stored exponent and
 * prefactor. */
FMO_HD fmo_real fmo_far_charge(fmo_real p, fmo_real k)
{
    return FMO_FAR_CHARGE * k * fmo_rsqrt(p);
}

/* Computes a primitive's coefficients from its position s on the line and, for pairs with a
 * partner, the ratio. */
FMO_HD void fmo_far_coefficients(int pair_class, const double *prim, double ratio, double s,
                                 double *coefficient)
{
    const double c = fmo_far_charge(prim[FMO_PAIR_P], prim[FMO_PAIR_K]);
    const double half = prim[FMO_PAIR_HALF];
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) fmo_far_##name##_coefficients(c, half, s, ratio, coefficient);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
}

/* Adds the magnitudes of a primitive's moments by order, and of a carried product, for bounds. */
FMO_HD void fmo_far_sizes(int pair_class, const double *prim, double ratio, double s, double width,
                          double *moment, double *carried)
{
    const double c = fabs(fmo_far_charge(prim[FMO_PAIR_P], prim[FMO_PAIR_K]));
    const double half = prim[FMO_PAIR_HALF];
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P)   \
        fmo_far_##name##_sizes(c, half, s, ratio, width, moment, carried);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
}

/* The factor of AB that belongs to a coefficient; width is the largest |AB_x|. */
FMO_HD double fmo_far_span(int pair_class, int coefficient, double width)
{
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) return fmo_far_##name##_span(coefficient, width);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
    return 1.0;
}

#endif
