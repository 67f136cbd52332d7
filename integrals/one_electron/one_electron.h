/* One-electron integrals over s and p shells: overlap, kinetic energy, nuclear attraction.
 * Obara and Saika, J. Chem. Phys. 84, 3963 (1986). */
#ifndef FMO_ONE_ELECTRON_H
#define FMO_ONE_ELECTRON_H

#include <fmo/basis.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Overlap matrix S_ij = <i|j>.
 *  @param[out] S  [nao][nao] symmetric, row-major, in the caller's AO order
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY; S is untouched on error */
FMO_API fmo_status fmo_overlap(const fmo_basis *basis, double *S, fmo_error *err);

/** Kinetic energy matrix T_ij = <i| -1/2 nabla^2 |j>, hartree; as fmo_overlap. */
FMO_API fmo_status fmo_kinetic(const fmo_basis *basis, double *T, fmo_error *err);

/** Nuclear attraction V_ij = <i| sum_A -Z_A/|r-R_A| |j>, hartree; as fmo_overlap. */
FMO_API fmo_status fmo_nuclear_attraction(const fmo_basis *basis, double *V, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
