/* Derivatives of energies as the modes implement them, for fmo_fock_gradient (plan/gradient.c). */
#ifndef FMO_PLAN_GRADIENT_H
#define FMO_PLAN_GRADIENT_H

#include <fmo/gradient.h>

#ifdef __cplusplus
extern "C" {
#endif

/* cpu/gradient.c: as fmo_fock_gradient, with checked arguments and densities in internal order. The
 * plan's pairs are those for densities of this size, plan->density_largest. */
fmo_status fmo_cpu_build_gradient(fmo_fock_plan *plan, const fmo_gradient_term *terms, int term_num,
                                  double *gradient, fmo_error *err);
/* gpu/gradient/call.cu: the same for many jobs of mode fused, with densities in the caller's order.
 * Sets errs[k] if job k fails. */
void fmo_fused_gradients(fmo_gradient_job *const *jobs, size_t num, fmo_error *const *errs);

/* The cutoff of derivatives as a share of that of builds, so that with the default cutoff the
 * largest error of a component stays below 1e-7 hartree/bohr: docs/explanation/gradients.md. */
#define FMO_GRADIENT_CUTOFF_SHARE 0.25

#ifdef __cplusplus
}
#endif
#endif
