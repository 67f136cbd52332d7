/* Boys function by its series and by upward recursion: slow, in the precision of the includer,
 * independent of the tables in boys.h. Used to make those tables, by the reference integrals and by
 * the tests. Define FMO_REF_REAL (double or long double) before including it.
 *
 *     F_m(T) = int_0^1 t^(2m) exp(-T t^2) dt
 *
 * Source: Helgaker, Jorgensen, Olsen, Molecular Electronic-Structure Theory (2000), section 9.8. */
#ifndef FMO_BOYS_REFERENCE_H
#define FMO_BOYS_REFERENCE_H

#include <tgmath.h>

/* F[0..m_max] at T >= 0, to a few units in the last place of FMO_REF_REAL. */
static inline void boys_reference(FMO_REF_REAL T, int m_max, FMO_REF_REAL *F)
{
    const FMO_REF_REAL pi = 3.14159265358979323846264338327950288L;
    const FMO_REF_REAL exp_T = exp(-T);
    if (T < 50 + m_max) {
        /* All terms are positive for T >= 0; then downwards, which is stable:
         * F_m = exp(-T) sum_k (2T)^k / ((2m+1)(2m+3)...(2m+2k+1)) */
        FMO_REF_REAL term = 1 / (FMO_REF_REAL)(2 * m_max + 1), sum = term;
        for (int k = 1; fabs(term) > sum * (FMO_REF_REAL)1e-22L; k++) {
            term *= 2 * T / (2 * m_max + 2 * k + 1);
            sum += term;
        }
        F[m_max] = exp_T * sum;
        for (int m = m_max; m > 0; m--) F[m - 1] = (2 * T * F[m] + exp_T) / (2 * m - 1);
    } else {
        F[0] = sqrt(pi / T) / 2 * erf(sqrt(T));
        for (int m = 0; m < m_max; m++) F[m + 1] = ((2 * m + 1) * F[m] - exp_T) / (2 * T);
    }
}

#endif
