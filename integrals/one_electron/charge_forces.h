/* The derivative of the energy between point charges and one product of two primitives, in SIMD
 * lanes, for each charge. The product's charge distribution is its Hermite expansion H, and
 *
 *    E_C = -q_C sum_tuv H_tuv R_tuv(P - C),   dE_C/dC_x = q_C sum_tuv H_tuv R_(t+1)uv,
 *
 * with R as in hermite.h, without its factors, which H contains. charge_forces.c is compiled once
 * per instruction set. */
#ifndef FMO_CHARGE_FORCES_H
#define FMO_CHARGE_FORCES_H

#include "integrals/one_electron/charge_sums.h"

FMO_STATIC_ASSERT(FMO_HERMITE_GRADIENT_MAX <=
                      (int)(sizeof fmo_hermite_term / sizeof *fmo_hermite_term),
                  "charge_forces.h: fmo_hermite_term lacks orders")

/* Adds dE_C/dC to force[x][C] (columns of view->num numbers), and computes sums[k] = sum_C q_C R_k
 * to one order above that of H, which are overwritten. offset: P - point, as for
 * fmo_charge_sums. */
typedef void fmo_charge_forces(const fmo_charge_view *view, const double *offset, double p,
                               const double *H, double *const *force, double *sums);

typedef struct fmo_charge_force_kernels {
    const char *name;
    fmo_charge_forces *forces[FMO_PAIR_CLASS_COUNT]; /* by pair class, for its order */
} fmo_charge_force_kernels;

/* One table for each vector width and instruction set. */
extern const fmo_charge_force_kernels fmo_charge_force_kernels_baseline;
extern const fmo_charge_force_kernels fmo_charge_force_kernels_avx2;   /* x86-64 */
extern const fmo_charge_force_kernels fmo_charge_force_kernels_avx512; /* x86-64 */

#endif
