/* Derivatives of one-electron energies with respect to the nuclei, which the basis functions
 * follow, and to point charges. The one-dimensional integrals and Hermite expansions are those of
 * one_electron.h, one order higher; docs/explanation/one-electron.md. Computed by OpenMP threads;
 * results are bitwise the same for any number of them. The two-electron part is in gradient.h. */
#ifndef FMO_ONE_ELECTRON_GRADIENT_H
#define FMO_ONE_ELECTRON_GRADIENT_H

#include <fmo/basis.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Derivative of Tr D (T + V) - Tr W S + E_nn at fixed D and W: T kinetic energy, V attraction by
 *  the nuclei, S overlap, E_nn repulsion of the nuclei. With W = sum over occupied orbitals of
 *  occupation * energy * C C^T it is the gradient of an SCF energy without its two-electron part
 *  (Pulay, Mol. Phys. 17, 197 (1969)).
 *  @param[in] density D, [nao][nao] in the caller's AO order; its symmetric part counts
 *  @param[in] weighted W, likewise, hartree; NULL: 0
 *  @param[out] gradient [nucleus_num][3] hartree/bohr
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_INPUT (nuclei coincide: their repulsion has no
 *          derivative), FMO_ERR_MEMORY; gradient is untouched on error */
FMO_API fmo_status fmo_one_electron_gradient(const fmo_basis *basis, const double *density,
                                             const double *weighted, double *gradient,
                                             fmo_error *err);

/** Derivative of the energy between a molecule and point charges, Tr D V + sum_AC Z_A q_C / R_AC
 *  with the V of fmo_charge_attraction, at fixed D.
 *  @param[in] density D, as above
 *  @param[in] charge,coord as for fmo_charge_attraction
 *  @param[out] gradient [nucleus_num][3] hartree/bohr
 *  @param[out] charge_gradient [charge_num][3] hartree/bohr, with respect to the charges'
 *          coordinates, 0 for charges of 0; NULL: not returned
 *  @return as above, FMO_ERR_INPUT also for a charge on a nucleus and as fmo_charge_attraction */
FMO_API fmo_status fmo_charge_attraction_gradient(const fmo_basis *basis, const double *density,
                                                  size_t charge_num, const double *charge,
                                                  const double *coord, double *gradient,
                                                  double *charge_gradient, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
