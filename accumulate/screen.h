/* The screening rule, in one place: a quartet stays if
 *
 *     Q_ij Q_kl max(4|D_ij|, 4|D_kl|, |D_ik|, |D_il|, |D_jk|, |D_jl|) >= cutoff
 *
 * with Schwarz bounds Q and block maxima |D|. Haser and Ahlrichs, J. Comput. Chem. 10, 104 (1989).
 */
#ifndef FMO_SCREEN_H
#define FMO_SCREEN_H

#include "integrals/real.h"

FMO_HD double fmo_screen_max(double a, double b)
{
    return a > b ? a : b;
}

/* The density factor of a quartet; dmax is [nshell][nshell] block maxima. */
FMO_HD double fmo_screen_density(const double *dmax, long nshell, int i, int j, int k, int l)
{
    const double *di = dmax + i * nshell, *dj = dmax + j * nshell, *dk = dmax + k * nshell;
    const double coulomb = 4.0 * fmo_screen_max(di[j], dk[l]);
    const double exchange =
        fmo_screen_max(fmo_screen_max(di[k], di[l]), fmo_screen_max(dj[k], dj[l]));
    return fmo_screen_max(coulomb, exchange);
}

#endif
