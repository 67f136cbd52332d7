/* Far ss pairs: one charge. Implements the functions of far/pair.h. */
#ifndef FMO_FAR_SS_H
#define FMO_FAR_SS_H

#include "integrals/eri/eri_common.h"

/* Coefficients of a quadrature point and sums over points: only the charge c. */
enum { fmo_far_ss_coefficient_num = 1, fmo_far_ss_sum_num = 1 };

/* Number of coefficients that multiply moments of lower order than this; they come first. */
FMO_TABLE_FUNCTION int fmo_far_ss_below(int order)
{
    return order > 0;
}

/* The coefficient and the moment that belong to a sum over the quadrature points. */
FMO_HD int fmo_far_ss_sum_coefficient(int sum)
{
    (void)sum;
    return 0;
}
FMO_HD int fmo_far_ss_sum_moment(int sum)
{
    (void)sum;
    return 0;
}

FMO_HD void fmo_far_ss_fold(const fmo_real *AB, const fmo_real *D, fmo_real *folded)
{
    (void)AB;
    folded[0] = D[0];
}

FMO_HD void fmo_far_ss_moments(const fmo_real *coefficient, const fmo_real *folded, fmo_real *H)
{
    H[0] = coefficient[0] * folded[0];
}

FMO_HD void fmo_far_ss_potential(const fmo_real *coefficient, const fmo_real *V, fmo_real *sums)
{
    sums[0] += coefficient[0] * V[0];
}

FMO_HD void fmo_far_ss_unfold(const fmo_real *AB, const fmo_real *sums, fmo_real *J)
{
    (void)AB;
    J[0] = sums[0];
}

/* Computes the coefficients of a primitive. */
FMO_HD void fmo_far_ss_coefficients(double c, double half, double s, double ratio,
                                    double *coefficient)
{
    (void)half;
    (void)s;
    (void)ratio;
    coefficient[0] = c;
}

/* Adds the magnitudes of a primitive's moments by order, and of the carried product. */
FMO_HD void fmo_far_ss_sizes(double c, double half, double s, double ratio, double width,
                             double *moment, double *carried)
{
    (void)half;
    (void)s;
    (void)ratio;
    (void)width;
    (void)carried;
    moment[0] += c;
}

/* The factor of AB that belongs to a coefficient. */
FMO_HD double fmo_far_ss_span(int coefficient, double width)
{
    (void)coefficient;
    (void)width;
    return 1.0;
}

#endif
