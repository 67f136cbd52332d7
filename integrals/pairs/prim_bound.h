/* Schwarz bounds of primitive pairs, sqrt(max_ab (ab|ab)), in closed form: the distance of a pair
 * from itself is 0, so that F_m = 1/(2m+1) and all odd derivatives vanish
 * (docs/explanation/screening.md, "Schwarz bounds"). One function for each pair class, from A - B
 * and the record of the primitive pair (eri_common.h). */
#ifndef FMO_PRIM_BOUND_H
#define FMO_PRIM_BOUND_H

#include "integrals/eri/eri_common.h"
#include "integrals/pairs/hermite_expand.h"

/* The bound from the factor common to all integrals and the largest sum of Hermite moments, in
 * units of F_0. */
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

/* The bound by the Hermite expansion of the product, for any shells: R_tuv of a pair with itself is
 * zero unless t, u and v are even; then it is a product of one factor for each of them and
 * (-p)^((t+u+v)/2) / (t+u+v+1). */
FMO_HD double fmo_prim_bound_md(int l_i, int l_j, const double *AB, const double *prim)
{
    enum { N = FMO_HERMITE_ORDERS };
    const double p = prim[FMO_PAIR_P], h = prim[FMO_PAIR_HALF];
    double E[3][FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][N], largest = 0.0;
    for (int x = 0; x < 3; x++) {
        const double PA = prim[FMO_PAIR_X + x];
        fmo_hermite_expand(l_i, l_j, PA, PA + AB[x], h, E[x]);
    }
    for (int a = 0; a < fmo_shell_functions(l_i); a++) {
        for (int b = 0; b < fmo_shell_functions(l_j); b++) {
            /* even[x][s]: sum over t + t' = 2 s of one dimension of (-1)^t' (2s-1)!! E_t E_t'
             * (-p)^s; zero for s above the sum of the powers, as E_t is */
            double even[3][N], sum = 0.0;
            int max_order[3];
            for (int x = 0; x < 3; x++) {
                const int i = fmo_shell_power(l_i, a, x), j = fmo_shell_power(l_j, b, x);
                const double *const e = E[x][i][j];
                double factor = 1.0;
                max_order[x] = i + j;
                for (int s = 0; s <= max_order[x]; s++) {
                    double products = 0.0;
                    for (int t = 2 * s > max_order[x] ? 2 * s - max_order[x] : 0;
                         t <= 2 * s && t <= max_order[x]; t++)
                        products += (t % 2 ? -1 : 1) * e[t] * e[2 * s - t];
                    even[x][s] = factor * products;
                    factor *= -p * (2 * s + 1);
                }
            }
            for (int s = 0; s <= max_order[0]; s++)
                for (int t = 0; t <= max_order[1]; t++)
                    for (int u = 0; u <= max_order[2]; u++)
                        sum += even[0][s] * even[1][t] * even[2][u] / (2 * (s + t + u) + 1);
            largest = fmax(largest, sum);
        }
    }
    return fmo_prim_bound_of(largest, prim);
}

#define FMO_PRIM_BOUND(P, name, li, lj, partner)                              \
    FMO_HD double fmo_prim_bound_##name(const double *AB, const double *prim) \
    {                                                                         \
        return fmo_prim_bound_md(li, lj, AB, prim);                           \
    }
FMO_PAIR_HIGH_L_TABLE(FMO_PRIM_BOUND)
FMO_PAIR_ANY_TABLE(FMO_PRIM_BOUND)
#undef FMO_PRIM_BOUND

#endif
