/* When an SCF has converged, and when plain DIIS will not do; host and device. */
#ifndef FMO_SCF_CRITERIA_H
#define FMO_SCF_CRITERIA_H

#include "integrals/real.h"

/* EDIIS takes over when the energy rises by more than this while the gradient is large, until the
 * gradient has become small; hartree. */
#define FMO_SCF_ENERGY_RISE 1e-4
#define FMO_SCF_EDIIS_UNTIL 0.1

/* A density that is at a standstill has not just come there from another: tr dD dF of the last step
 * is below this, hartree; and so many electrons at most are not in the lowest orbitals of its F.
 * Where all electrons jump from one centre to its like and back in each cycle, gradient and change
 * of the energy are zero, and this is not. */
#define FMO_SCF_JUMP 0.1

/* c of c g^2, which an energy is above its end with a gradient g, is learnt from cycles with
 * gradients of so many thresholds (below, loose cutoffs have their part) to so many hartree (above,
 * it is no parabola); at least, and times for safety. */
#define FMO_SCF_LEARN_FROM  30.0
#define FMO_SCF_LEARN_TO    0.1
#define FMO_SCF_LEAST_SHARE 0.5
#define FMO_SCF_SAFETY      2.0

/* How the energy falls with the square of the gradient, learnt from the cycles of a run. */
typedef struct fmo_scf_fall {
    double from, to; /* gradients that it is learnt from, hartree */
    double share;    /* c of E - E_end = c g^2; 0: not known */
} fmo_scf_fall;

FMO_HD fmo_scf_fall fmo_scf_fall_begin(double gradient_convergence)
{
    const fmo_scf_fall f = {FMO_SCF_LEARN_FROM * gradient_convergence, FMO_SCF_LEARN_TO, 0.0};
    return f;
}

/* A gradient, and by how much the energy changed in the cycle after it. */
FMO_HD void fmo_scf_learn(fmo_scf_fall *f, double gradient, double change)
{
    if (gradient > f->from && gradient < f->to)
        f->share = fmax(f->share, fmax(FMO_SCF_LEAST_SHARE, fabs(change) / (gradient * gradient)));
}

/* What the energy is estimated to be above the end; NaN if nothing is known. */
FMO_HD double fmo_scf_still_to_fall(const fmo_scf_fall *f, double gradient)
{
    return f->share > 0.0 ? FMO_SCF_SAFETY * f->share * gradient * gradient : (double)NAN;
}

/* Neither orbitals nor energy are far from their end; `error` is the estimate above. */
FMO_HD int fmo_scf_is_still(double energy, double change, double error, double gradient,
                            double energy_convergence, double gradient_convergence)
{
    /* Energies cannot agree better than they are rounded. */
    const double noise = 1e-15 * fabs(energy) * 4.0;
    const double allowed = fmax(energy_convergence, noise);
    return gradient < gradient_convergence && (fabs(change) < allowed || error < allowed);
}

#endif
