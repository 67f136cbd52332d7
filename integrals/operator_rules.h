/* What follows from an operator (fmo/operator.h) for integrals and screening.
 *
 * Integrals of a Gaussian charge distribution depend on the operator through the Boys function
 * alone: with rho = pq/(p+q), theta = omega^2/(rho + omega^2) and T = rho R^2, F_m(T) becomes
 *
 *    full F_m(T) + long_range theta^(m+1/2) F_m(theta T)
 *
 * Gill and Adamson, Chem. Phys. Lett. 261, 105 (1996).
 *
 * In Fourier space 1/r is 4 pi/k^2, and an operator is that times full + long_range exp(-k^2/(4
 * omega^2)), which lies between full and full + long_range. So |(ij|op|kl)| <= s Q_ij Q_kl with the
 * Schwarz bounds Q of 1/r and s = max(|full|, |full + long_range|): the bounds of 1/r are valid for
 * erf and erfc, and screening at cutoff/s is as strict as for 1/r. */
#ifndef FMO_OPERATOR_RULES_H
#define FMO_OPERATOR_RULES_H

#include <math.h>

#include <fmo/operator.h>

/* Returns the operator, with {1, 0, 0} for the default. */
static inline fmo_operator fmo_operator_given(fmo_operator op)
{
    if (op.full == 0.0 && op.long_range == 0.0) op.full = 1.0;
    return op;
}

static inline int fmo_operator_same(fmo_operator a, fmo_operator b)
{
    a = fmo_operator_given(a);
    b = fmo_operator_given(b);
    return a.full == b.full && a.long_range == b.long_range &&
           (a.long_range == 0.0 || a.omega == b.omega);
}

/* True for 1/r. */
static inline int fmo_operator_is_coulomb(fmo_operator op)
{
    return fmo_operator_same(op, (fmo_operator){1.0, 0.0, 0.0});
}

/* Returns the factor by which integrals can be larger than the bounds of 1/r. */
static inline double fmo_operator_bound(fmo_operator op)
{
    op = fmo_operator_given(op);
    return fmax(fabs(op.full), fabs(op.full + op.long_range));
}

/* Limits of omega, 1/bohr. Far beyond them theta^(m+1/2) underflows or omega^2 overflows, so that
 * integrals would be NaN. */
#define FMO_OMEGA_MIN 1e-10
#define FMO_OMEGA_MAX 1e10

/* True if all members are finite, and omega is within its limits where there is a long range and 0
 * where there is none. */
static inline int fmo_operator_is_valid(fmo_operator op)
{
    return isfinite(op.full) && isfinite(op.long_range) &&
           (op.long_range == 0.0 ? op.omega == 0.0
                                 : op.omega >= FMO_OMEGA_MIN && op.omega <= FMO_OMEGA_MAX);
}

#endif
