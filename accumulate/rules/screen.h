/* The screening rule, in one place: a quartet stays if
 *
 *     Q_ij Q_kl max(4|D_ij|, 4|D_kl|, |D_ik|, |D_il|, |D_jk|, |D_jl|) >= cutoff
 *
 * with Schwarz bounds Q and block maxima |D|. Haser and Ahlrichs, J. Comput. Chem. 10, 104 (1989).
 * What an element of J has lost adds up over the whole system: in large ones the two elements of D
 * that meet the quartet in J count more, fmo_screen_coulomb_weight (weight.h) times: the D_ij and
 * D_kl of all functions here are to have that factor. */
#ifndef FMO_SCREEN_H
#define FMO_SCREEN_H

#include "integrals/real.h"

FMO_HD double fmo_screen_max(double a, double b)
{
    return a > b ? a : b;
}

/* J and K apart, for builds that leave out the half of a quartet that is not needed: the rule above
 * with the elements of D that meet the quartet in J, or in K. */
FMO_HD double fmo_screen_coulomb(double ij, double kl)
{
    return 4.0 * fmo_screen_max(ij, kl);
}
FMO_HD double fmo_screen_exchange(double row_k, double row_l)
{
    return fmo_screen_max(row_k, row_l);
}

/* The same factor from what a bra pair ij has in common for all kets: D_ij, and for each shell k
 * row(k) = max(|D_ik|, |D_jk|). */
FMO_HD double fmo_screen_density_by_rows(double ij, double kl, double row_k, double row_l)
{
    return fmo_screen_max(fmo_screen_coulomb(ij, kl), fmo_screen_exchange(row_k, row_l));
}

/* The density factor of a quartet; dmax is [nshell][nshell] block maxima, weight that of J. */
FMO_HD double fmo_screen_density(const double *dmax, long nshell, double weight, int i, int j,
                                 int k, int l)
{
    const double *di = dmax + i * nshell, *dj = dmax + j * nshell, *dk = dmax + k * nshell;
    return fmo_screen_density_by_rows(weight * di[j], weight * dk[l], fmo_screen_max(di[k], dj[k]),
                                      fmo_screen_max(di[l], dj[l]));
}

/* Primitive quartets are left out where the product of their Schwarz bounds times the density
 * factor is below this share of the cutoff. docs/explanation/screening.md. */
#define FMO_SCREEN_PRIM_SHARE 0.3

/* Sums of a quartet, or of a few, below this share of the cutoff are not added to K,
 * by strategies that sum over runs of lanes. docs/explanation/screening.md. */
#define FMO_SCREEN_ADD_SHARE 0.2

/* Quartets keep out of K where a bound that knows distance says so of their Schwarz bounds times
 * this: space for what it leaves out, and for sums of many of one sign.
 * docs/explanation/screening.md.
 */
#define FMO_SCREEN_FAR_MARGIN 1.25f

#endif
