/* Builds of operators other than 1/r, and which builds use the data of this folder. A plan of s and
 * p shells has them as well after J of an operator or of another molecule's density
 * (fmo_gpu_make_hermite). C++ only. */
#ifndef FMO_GPU_HERMITE_USE_H
#define FMO_GPU_HERMITE_USE_H

#include "accumulate/gpu/plan.h"

/* True for J of an operator other than 1/r, which is computed from Hermite densities for all
 * shells, those of s and p included. */
static inline bool fmo_gpu_is_hermite_coulomb(const fmo_gpu_state *g)
{
    return g->with_operator && (g->requested & FMO_TERMS_J);
}

/* True if the plan's running build uses them: that, and every build of a basis with d or f shells.
 */
static inline bool fmo_gpu_uses_hermite(const fmo_fock_plan *plan)
{
    return plan->gpu->hermite &&
           (fmo_gpu_is_hermite_coulomb(plan->gpu) || fmo_plan_high_l_shell(plan->basis) >= 0);
}

#endif
