/* Far ps pairs with the ss pair that they may carry: four products, s x y z of the first shell,
 * with charges and dipoles. Implements the functions of far/pair.h. */
#ifndef FMO_FAR_PS_H
#define FMO_FAR_PS_H

#include "integrals/eri/eri_common.h"

/* Coefficients of a quadrature point: sums over primitives with charge c, h = 1/(2p), P - A = s AB
 * and the ratio r of a carried ss product. */
enum {
    FMO_FAR_PS_S,    /* c r */
    FMO_FAR_PS_LINE, /* c s */
    FMO_FAR_PS_HALF, /* c h */
    fmo_far_ps_coefficient_num
};

/* Sums over the quadrature points, and the corresponding parts of D. */
enum {
    FMO_FAR_SUM_S,  /* the carried product */
    FMO_FAR_SUM_PS, /* times AB_i */
    FMO_FAR_SUM_P,  /* [3] */
    fmo_far_ps_sum_num = FMO_FAR_SUM_P + 3
};

/* Number of coefficients that multiply moments of lower order than this; they come first. */
FMO_TABLE_FUNCTION int fmo_far_ps_below(int order)
{
    return order <= 0 ? 0 : order == 1 ? (int)FMO_FAR_PS_HALF : (int)fmo_far_ps_coefficient_num;
}

/* The coefficient and the moment that belong to a sum over the quadrature points. */
FMO_HD int fmo_far_ps_sum_coefficient(int sum)
{
    return sum < FMO_FAR_SUM_P ? sum : (int)FMO_FAR_PS_HALF;
}
FMO_HD int fmo_far_ps_sum_moment(int sum)
{
    return sum < FMO_FAR_SUM_P ? 0 : 1 + sum - FMO_FAR_SUM_P;
}

FMO_HD void fmo_far_ps_fold(const fmo_real *AB, const fmo_real *D, fmo_real *folded)
{
    folded[FMO_FAR_SUM_S] = D[0];
    folded[FMO_FAR_SUM_PS] = AB[0] * D[1] + AB[1] * D[2] + AB[2] * D[3];
    FMO_GPU_UNROLL
    for (int i = 0; i < 3; i++) folded[FMO_FAR_SUM_P + i] = D[1 + i];
}

FMO_HD void fmo_far_ps_moments(const fmo_real *coefficient, const fmo_real *folded, fmo_real *H)
{
    H[0] = coefficient[FMO_FAR_PS_S] * folded[FMO_FAR_SUM_S] +
           coefficient[FMO_FAR_PS_LINE] * folded[FMO_FAR_SUM_PS];
    FMO_GPU_UNROLL
    for (int i = 0; i < 3; i++) H[1 + i] = coefficient[FMO_FAR_PS_HALF] * folded[FMO_FAR_SUM_P + i];
}

FMO_HD void fmo_far_ps_potential(const fmo_real *coefficient, const fmo_real *V, fmo_real *sums)
{
    sums[FMO_FAR_SUM_S] += coefficient[FMO_FAR_PS_S] * V[0];
    sums[FMO_FAR_SUM_PS] += coefficient[FMO_FAR_PS_LINE] * V[0];
    FMO_GPU_UNROLL
    for (int i = 0; i < 3; i++) sums[FMO_FAR_SUM_P + i] += coefficient[FMO_FAR_PS_HALF] * V[1 + i];
}

FMO_HD void fmo_far_ps_unfold(const fmo_real *AB, const fmo_real *sums, fmo_real *J)
{
    J[0] = sums[FMO_FAR_SUM_S];
    FMO_GPU_UNROLL
    for (int i = 0; i < 3; i++) J[1 + i] = sums[FMO_FAR_SUM_P + i] + AB[i] * sums[FMO_FAR_SUM_PS];
}

/* Computes the coefficients of a primitive. */
FMO_HD void fmo_far_ps_coefficients(double c, double half, double s, double ratio,
                                    double *coefficient)
{
    coefficient[FMO_FAR_PS_S] = c * ratio;
    coefficient[FMO_FAR_PS_LINE] = c * s;
    coefficient[FMO_FAR_PS_HALF] = c * half;
}

/* Adds the magnitudes of a primitive's moments by order, and of the carried product. */
FMO_HD void fmo_far_ps_sizes(double c, double half, double s, double ratio, double width,
                             double *moment, double *carried)
{
    *carried += c * fabs(ratio);
    moment[0] += c * fabs(s) * width;
    moment[1] += c * half;
}

/* The factor of AB that belongs to a coefficient. */
FMO_HD double fmo_far_ps_span(int coefficient, double width)
{
    return coefficient == FMO_FAR_PS_LINE ? width : 1.0;
}

#endif
