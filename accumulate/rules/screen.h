/* Screening of quartets. A quartet is computed if
 *
 *    Q_ij Q_kl max(4|D_ij|, 4|D_kl|, |D_ik|, |D_il|, |D_jk|, |D_jl|) >= cutoff
 *
 * with Schwarz bounds Q and block maxima |D|. Haser and Ahlrichs, J. Comput. Chem. 10, 104 (1989).
 * The errors of an element of J add up over the whole system. In large systems, D_ij and D_kl,
 * which multiply the quartet in J, are therefore increased by fmo_screen_coulomb_weight (weight.h):
 * the arguments D_ij and D_kl of all functions below must include that factor. */
#ifndef FMO_SCREEN_H
#define FMO_SCREEN_H

#include "integrals/real.h"

FMO_HD double fmo_screen_max(double a, double b)
{
    return a > b ? a : b;
}

/* Density factors of J and of K alone, for builds that skip one half of a quartet's contributions:
 * the elements of D in the formula above that multiply the quartet in J, or in K. */
FMO_HD double fmo_screen_coulomb(double ij, double kl)
{
    return 4.0 * fmo_screen_max(ij, kl);
}
FMO_HD double fmo_screen_exchange(double row_k, double row_l)
{
    return fmo_screen_max(row_k, row_l);
}

/* The density factor from values that a bra pair ij shares for all kets: D_ij, and for each shell k
 * row(k) = max(|D_ik|, |D_jk|). */
FMO_HD double fmo_screen_density_by_rows(double ij, double kl, double row_k, double row_l)
{
    return fmo_screen_max(fmo_screen_coulomb(ij, kl), fmo_screen_exchange(row_k, row_l));
}

/* The density factor of a quartet. dmax: [nshell][nshell] block maxima of |D|; weight: that of J.
 */
FMO_HD double fmo_screen_density(const double *dmax, long nshell, double weight, int i, int j,
                                 int k, int l)
{
    const double *di = dmax + i * nshell, *dj = dmax + j * nshell, *dk = dmax + k * nshell;
    return fmo_screen_density_by_rows(weight * di[j], weight * dk[l], fmo_screen_max(di[k], dj[k]),
                                      fmo_screen_max(di[l], dj[l]));
}

/* Primitive quartets are skipped if the product of their Schwarz bounds times the density factor is
 * below this share of the cutoff. docs/explanation/screening.md. */
#define FMO_SCREEN_PRIM_SHARE 0.3

/* Strategies that sum over runs of lanes do not add sums to K that are below this share of the
 * cutoff. docs/explanation/screening.md. */
#define FMO_SCREEN_ADD_SHARE 0.2

/* A quartet is left out of K if a distance-dependent bound, applied to its Schwarz bounds times
 * this margin, is below the cutoff. The margin allows for the approximations of that bound and for
 * sums of many values of one sign. docs/explanation/screening.md. */
#define FMO_SCREEN_FAR_MARGIN 1.25f

#endif
