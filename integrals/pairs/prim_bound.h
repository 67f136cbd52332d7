/* Schwarz bounds of primitive pairs, sqrt(max_ab (ab|ab)) in closed form: with itself, at no
 * distance, F_m = 1/(2m+1), and all odd derivatives vanish (docs/theory.md, "Schwarz bounds"). One
 * function for each pair class, from A - B and the record of the primitive pair (eri_common.h). */
#ifndef FMO_PRIM_BOUND_H
#define FMO_PRIM_BOUND_H

#include "integrals/eri/eri_common.h"

/* What is left of all integrals: `largest` is that of Hermite moments, in units of F_0. */
FMO_HD double fmo_prim_bound_of(double largest, const double *prim)
{
    return fabs(prim[FMO_PAIR_K]) * sqrt(largest / sqrt(2.0 * prim[FMO_PAIR_P]));
}

FMO_HD double fmo_prim_bound_ss(const double *AB, const double *prim)
{
    (void)AB;
    return fmo_prim_bound_of(1.0, prim);
}

FMO_HD double fmo_prim_bound_ps(const double *AB, const double *prim)
{
    const double p = prim[FMO_PAIR_P], h = prim[FMO_PAIR_HALF];
    const double second = p / 3.0; /* 2 alpha F_1 */
    double largest = 0.0;
    (void)AB;
    for (int i = 0; i < 3; i++) {
        const double PA = prim[FMO_PAIR_X + i];
        largest = fmax(largest, PA * PA + h * h * second);
    }
    return fmo_prim_bound_of(largest, prim);
}

FMO_HD double fmo_prim_bound_pp(const double *AB, const double *prim)
{
    const double p = prim[FMO_PAIR_P], h = prim[FMO_PAIR_HALF];
    const double second = p / 3.0, fourth = p * p / 5.0; /* 2 alpha F_1, (2 alpha)^2 F_2 */
    double largest = 0.0;
    for (int i = 0; i < 3; i++) {
        const double PA = prim[FMO_PAIR_X + i];
        for (int j = 0; j < 3; j++) {
            const double PB = prim[FMO_PAIR_X + j] + AB[j];
            const double charge = PA * PB + (i == j ? h : 0.0);
            const double dipole = i == j ? (PA + PB) * (PA + PB) : PA * PA + PB * PB;
            const double rest =
                i == j ? 3.0 * h * h * fourth - 2.0 * charge * second : h * h * fourth;
            largest = fmax(largest, charge * charge + h * h * (dipole * second + rest));
        }
    }
    return fmo_prim_bound_of(largest, prim);
}

#endif
