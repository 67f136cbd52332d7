/* Derivatives of energies as the modes implement them, for fmo_fock_gradient (plan/gradient.c). */
#ifndef FMO_PLAN_GRADIENT_H
#define FMO_PLAN_GRADIENT_H

#include <fmo/gradient.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As fmo_fock_gradient, with checked arguments, and with densities in internal order (fused: in the
 * caller's). The plan's pairs are those for densities of this size, plan->density_largest. */
typedef fmo_status fmo_plan_gradient(fmo_fock_plan *plan, const fmo_gradient_term *terms,
                                     int term_num, double *gradient, fmo_error *err);

fmo_plan_gradient fmo_cpu_build_gradient; /* cpu/gradient.c */
fmo_plan_gradient fmo_fused_gradient;     /* gpu/gradient/state.cu */

/* The cutoff of derivatives as a share of that of builds, so that with the default cutoff the
 * largest error of a component stays below 1e-7 hartree/bohr: docs/explanation/gradients.md. */
#define FMO_GRADIENT_CUTOFF_SHARE 0.25

#ifdef __cplusplus
}
#endif
#endif
