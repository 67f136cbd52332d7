/* One-electron integrals over contracted shells: overlap, also between two bases, dipole moment,
 * kinetic energy, attraction by the nuclei and by point charges. The first three after Obara and
 * Saika, J. Chem. Phys. 84, 3963 (1986), attraction after McMurchie and Davidson, J. Comput. Phys.
 * 26, 218 (1978). Computed by OpenMP threads; results are bitwise the same for any number of them.
 */
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

/** Overlap matrix of the functions of two bases, S_ij = <i of a|j of b>; a and b may be the same.
 *  @param[out] S [nao of a][nao of b] row-major; rows in the AO order and normalisation of a's
 *          caller, columns in those of b's
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY; S is untouched on error */
FMO_API fmo_status fmo_overlap_between(const fmo_basis *a, const fmo_basis *b, double *S,
                                       fmo_error *err);

/** Dipole moment matrices D_xij = <i| x - O_x |j>, and the same for y and z, in bohr. The electrons
 *  of a density P contribute -sum_ij P_ij D_xij to the dipole moment.
 *  @param[in]  origin O, [3] bohr, at most 1e6 in size
 *  @param[out] D  [3][nao][nao], each symmetric, row-major, in the caller's AO order
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_INPUT (origin), FMO_ERR_MEMORY; D is undefined after
 *          FMO_ERR_MEMORY and untouched on other errors */
FMO_API fmo_status fmo_dipole(const fmo_basis *basis, const double *origin, double *D,
                              fmo_error *err);

/** Kinetic energy matrix T_ij = <i| -1/2 nabla^2 |j>, hartree; arguments as for fmo_overlap. */
FMO_API fmo_status fmo_kinetic(const fmo_basis *basis, double *T, fmo_error *err);

/** Nuclear attraction V_ij = <i| sum_A -Z_A/|r-R_A| |j>, hartree; arguments as for fmo_overlap. */
FMO_API fmo_status fmo_nuclear_attraction(const fmo_basis *basis, double *V, fmo_error *err);

/** Attraction by point charges V_ij = <i| sum_A -q_A/|r-R_A| |j>, hartree, without the nuclei of
 *  the basis.
 *  @param[in] charge_num any number; 0: V is 0, and charge and coord may be NULL
 *  @param[in] charge [charge_num] finite, in units of e; charges of 0 are skipped
 *  @param[in] coord [charge_num][3] bohr, at most 1e6 in size
 *  @param[out] V [nao][nao] symmetric, row-major, in the caller's AO order
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_INPUT (the message names the number), FMO_ERR_MEMORY;
 *          V is untouched on error */
FMO_API fmo_status fmo_charge_attraction(const fmo_basis *basis, size_t charge_num,
                                         const double *charge, const double *coord, double *V,
                                         fmo_error *err);

/** Energy of the nuclei and point charges with each other, sum_AC Z_A q_C / R_AC, hartree. Infinite
 *  if a charge is on a nucleus; charges and nuclei of 0 do not count.
 *  @param[in] charge,coord as above
 *  @return 0 if basis, charge or coord is NULL */
FMO_API double fmo_charge_repulsion(const fmo_basis *basis, size_t charge_num, const double *charge,
                                    const double *coord);

#ifdef __cplusplus
}
#endif
#endif
