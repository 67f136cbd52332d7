/* Convergence criteria of an SCF, and when EDIIS replaces DIIS; for host and device. The method:
 * docs/explanation/scf-method.md, "Criteria of convergence". */
#ifndef FMO_SCF_CRITERIA_H
#define FMO_SCF_CRITERIA_H

#include "integrals/real.h"

/* EDIIS starts when the energy rises by more than this (hartree) while the gradient is large, and
 * ends when the gradient is below the second value (hartree). */
#define FMO_SCF_ENERGY_RISE 1e-4
#define FMO_SCF_EDIIS_UNTIL 0.1

/* EDIIS also replaces DIIS if the gradient has not fallen by a tenth in this many cycles, until it
 * does: DIIS may go on for ever, as in CN, at energies that rise and fall. */
enum { FMO_SCF_IDLE_MAX = 12 };

/* The Newton solver replaces both if the gradient has not fallen by a tenth in STUCK_MAX cycles,
 * or if a quarter of max_cycles is left; the latter only if these are at least NEWTON_FROM, so that
 * enough of them are left. */
enum { FMO_SCF_STUCK_MAX = 30, FMO_SCF_NEWTON_FROM = 40 };

/* If the Newton solver was chosen, it begins when the gradient is below FMO_SCF_EDIIS_UNTIL, at the
 * latest after this many cycles. From orbitals that are farther away its steps may lead to a local
 * minimum: in FeO and NiO in STO-3G by 0.1 hartree above that of DIIS. */
enum { FMO_SCF_BEFORE_NEWTON = 10 };

/* Convergence requires that the density did not change abruptly in the last step: |tr dD dF| of
 * that step must be below this (hartree). block/ requires instead that fewer electrons than this
 * are outside the lowest orbitals of F. If all electrons move from one centre to an equivalent one
 * and back in alternate cycles, gradient and energy change vanish, but these quantities do not. */
#define FMO_SCF_ABRUPT 0.1

/* If the gap between the highest occupied and the lowest virtual orbital is below this (hartree), a
 * stationary state may be a saddle point far above the solution, as in F2 at 7 angstrom, whose gap
 * is 1e-6 there. Its stability is then checked even if that was not requested. Of the molecules in
 * tests/scf/energies.json and energies_d.json none has a gap below 0.1. */
#define FMO_SCF_SMALL_GAP 0.05

/* The error of the energy is estimated as c g^2 for a gradient of norm g. c is determined from
 * cycles with gradients between RATIO_FROM thresholds (below, errors of loose cutoffs interfere)
 * and RATIO_TO hartree (above, the energy is not quadratic); it is at least RATIO_MIN and
 * multiplied by RATIO_SAFETY. */
#define FMO_SCF_RATIO_FROM   30.0
#define FMO_SCF_RATIO_TO     0.1
#define FMO_SCF_RATIO_MIN    0.5
#define FMO_SCF_RATIO_SAFETY 2.0

/* The ratio of the energy error to the squared gradient, determined during a run. */
typedef struct fmo_scf_error_ratio {
    double from, to; /* range of gradients that are used, hartree */
    double ratio;    /* c of E - E_end = c g^2, 1/hartree; 0: not known */
} fmo_scf_error_ratio;

FMO_HD fmo_scf_error_ratio fmo_scf_error_ratio_begin(double gradient_convergence)
{
    const fmo_scf_error_ratio f = {FMO_SCF_RATIO_FROM * gradient_convergence, FMO_SCF_RATIO_TO,
                                   0.0};
    return f;
}

/* Updates c from a gradient and the energy change of the following cycle. */
FMO_HD void fmo_scf_error_ratio_update(fmo_scf_error_ratio *f, double gradient, double change)
{
    if (gradient > f->from && gradient < f->to)
        f->ratio = fmax(f->ratio, fmax(FMO_SCF_RATIO_MIN, fabs(change) / (gradient * gradient)));
}

/* Returns the estimated error of the energy, hartree; NaN if c is not known. */
FMO_HD double fmo_scf_energy_error(const fmo_scf_error_ratio *f, double gradient)
{
    return f->ratio > 0.0 ? FMO_SCF_RATIO_SAFETY * f->ratio * gradient * gradient : (double)NAN;
}

/* Returns 1 if gradient and energy are within their thresholds; `error` is the estimate of
 * fmo_scf_energy_error. */
FMO_HD int fmo_scf_within_thresholds(double energy, double change, double error, double gradient,
                                     double energy_convergence, double gradient_convergence)
{
    /* The energy cannot converge beyond its rounding error. */
    const double noise = 1e-15 * fabs(energy) * 4.0;
    const double allowed = fmax(energy_convergence, noise);
    return gradient < gradient_convergence && (fabs(change) < allowed || error < allowed);
}

#endif
