/* Far pp pairs: nine products with charges, dipoles and quadrupoles. Implements the functions of
 * far/pair.h. */
#ifndef FMO_FAR_PP_H
#define FMO_FAR_PP_H

#include "integrals/eri/eri_common.h"

/* Coefficients of a quadrature point: sums over primitives with charge c, h = 1/(2p), P - A = s AB
 * and P - B = (1+s) AB. */
enum {
    FMO_FAR_PP_LINE,  /* c s (1+s) */
    FMO_FAR_PP_SAME,  /* c h */
    FMO_FAR_PP_A,     /* c h s */
    FMO_FAR_PP_B,     /* c h (1+s) */
    FMO_FAR_PP_HALF2, /* c h^2 */
    fmo_far_pp_coefficient_num
};

/* Sums over the quadrature points, and the corresponding parts of D. */
enum {
    FMO_FAR_SUM_AB,                    /* times AB_i AB_j */
    FMO_FAR_SUM_SAME,                  /* i = j */
    FMO_FAR_SUM_A,                     /* [3], times AB_i */
    FMO_FAR_SUM_B = FMO_FAR_SUM_A + 3, /* [3], times AB_j */
    FMO_FAR_SUM_D = FMO_FAR_SUM_B + 3, /* [6] xx xy xz yy yz zz */
    fmo_far_pp_sum_num = FMO_FAR_SUM_D + 6
};

/* Number of coefficients that multiply moments of lower order than this; they come first. */
FMO_TABLE_FUNCTION int fmo_far_pp_below(int order)
{
    return order <= 0   ? 0
           : order == 1 ? (int)FMO_FAR_PP_A
           : order == 2 ? (int)FMO_FAR_PP_HALF2
                        : (int)fmo_far_pp_coefficient_num;
}

/* The coefficient and the moment that belong to a sum over the quadrature points. */
FMO_HD int fmo_far_pp_sum_coefficient(int sum)
{
    return sum < FMO_FAR_SUM_A   ? sum
           : sum < FMO_FAR_SUM_B ? (int)FMO_FAR_PP_A
           : sum < FMO_FAR_SUM_D ? (int)FMO_FAR_PP_B
                                 : (int)FMO_FAR_PP_HALF2;
}
FMO_HD int fmo_far_pp_sum_moment(int sum)
{
    if (sum < FMO_FAR_SUM_A) return 0;
    return sum < FMO_FAR_SUM_D ? 1 + (sum - FMO_FAR_SUM_A) % 3 : 4 + sum - FMO_FAR_SUM_D;
}

FMO_HD void fmo_far_pp_fold(const fmo_real *AB, const fmo_real *D, fmo_real *folded)
{
    FMO_GPU_UNROLL
    for (int i = 0; i < 3; i++) {
        folded[FMO_FAR_SUM_A + i] = AB[0] * D[i] + AB[1] * D[3 + i] + AB[2] * D[6 + i];
        folded[FMO_FAR_SUM_B + i] = D[3 * i] * AB[0] + D[3 * i + 1] * AB[1] + D[3 * i + 2] * AB[2];
        FMO_GPU_UNROLL
        for (int j = i; j < 3; j++)
            folded[FMO_FAR_SUM_D + FMO_D(i, j)] = i == j ? D[4 * i] : D[3 * i + j] + D[3 * j + i];
    }
    folded[FMO_FAR_SUM_AB] = AB[0] * folded[FMO_FAR_SUM_B] + AB[1] * folded[FMO_FAR_SUM_B + 1] +
                             AB[2] * folded[FMO_FAR_SUM_B + 2];
    folded[FMO_FAR_SUM_SAME] = D[0] + D[4] + D[8];
}

FMO_HD void fmo_far_pp_moments(const fmo_real *coefficient, const fmo_real *folded, fmo_real *H)
{
    H[0] = coefficient[FMO_FAR_PP_LINE] * folded[FMO_FAR_SUM_AB] +
           coefficient[FMO_FAR_PP_SAME] * folded[FMO_FAR_SUM_SAME];
    FMO_GPU_UNROLL
    for (int i = 0; i < 3; i++)
        H[1 + i] = coefficient[FMO_FAR_PP_A] * folded[FMO_FAR_SUM_A + i] +
                   coefficient[FMO_FAR_PP_B] * folded[FMO_FAR_SUM_B + i];
    FMO_GPU_UNROLL
    for (int d = 0; d < 6; d++)
        H[4 + d] = coefficient[FMO_FAR_PP_HALF2] * folded[FMO_FAR_SUM_D + d];
}

FMO_HD void fmo_far_pp_potential(const fmo_real *coefficient, const fmo_real *V, fmo_real *sums)
{
    sums[FMO_FAR_SUM_AB] += coefficient[FMO_FAR_PP_LINE] * V[0];
    sums[FMO_FAR_SUM_SAME] += coefficient[FMO_FAR_PP_SAME] * V[0];
    FMO_GPU_UNROLL
    for (int i = 0; i < 3; i++) {
        sums[FMO_FAR_SUM_A + i] += coefficient[FMO_FAR_PP_A] * V[1 + i];
        sums[FMO_FAR_SUM_B + i] += coefficient[FMO_FAR_PP_B] * V[1 + i];
    }
    FMO_GPU_UNROLL
    for (int d = 0; d < 6; d++) sums[FMO_FAR_SUM_D + d] += coefficient[FMO_FAR_PP_HALF2] * V[4 + d];
}

FMO_HD void fmo_far_pp_unfold(const fmo_real *AB, const fmo_real *sums, fmo_real *J)
{
    FMO_GPU_UNROLL
    for (int i = 0; i < 3; i++) {
        FMO_GPU_UNROLL
        for (int j = 0; j < 3; j++) {
            const fmo_real t = sums[FMO_FAR_SUM_D + FMO_D(i, j)] + AB[j] * sums[FMO_FAR_SUM_B + i] +
                               AB[i] * (sums[FMO_FAR_SUM_A + j] + AB[j] * sums[FMO_FAR_SUM_AB]);
            J[3 * i + j] = i == j ? t + sums[FMO_FAR_SUM_SAME] : t;
        }
    }
}

/* Computes the coefficients of a primitive. */
FMO_HD void fmo_far_pp_coefficients(double c, double half, double s, double ratio,
                                    double *coefficient)
{
    (void)ratio;
    coefficient[FMO_FAR_PP_LINE] = c * s * (1.0 + s);
    coefficient[FMO_FAR_PP_SAME] = c * half;
    coefficient[FMO_FAR_PP_A] = c * half * s;
    coefficient[FMO_FAR_PP_B] = c * half * (1.0 + s);
    coefficient[FMO_FAR_PP_HALF2] = c * half * half;
}

/* Adds the magnitudes of a primitive's moments by order, and of the carried product. */
FMO_HD void fmo_far_pp_sizes(double c, double half, double s, double ratio, double width,
                             double *moment, double *carried)
{
    (void)ratio;
    (void)carried;
    moment[0] += c * (fabs(s * (1.0 + s)) * width * width + half);
    moment[1] += c * half * (fabs(s) + fabs(1.0 + s)) * width;
    moment[2] += c * half * half;
}

/* The factor of AB that belongs to a coefficient. */
FMO_HD double fmo_far_pp_span(int coefficient, double width)
{
    if (coefficient == FMO_FAR_PP_LINE) return width * width;
    return coefficient == FMO_FAR_PP_A || coefficient == FMO_FAR_PP_B ? width : 1.0;
}

#endif
