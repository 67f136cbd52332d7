/* A data set: a TREXIO file (HDF5 back end) with a basis and a density, read and checked whole.
 * The format, and every reason for which a file is refused, is in docs/reference/dataset-format.md.
 */
#ifndef FMO_DATASET_H
#define FMO_DATASET_H

#include <stdbool.h>
#include <fmo/basis.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A data set in memory. */
typedef struct fmo_dataset fmo_dataset;

/** Read a file, check everything in it that is used, close it.
 *  @param[out] dataset  free with fmo_dataset_destroy; NULL on error
 *  @return FMO_OK, FMO_ERR_INPUT (message names file, field, what was expected), FMO_ERR_MEMORY.
 *  Nothing is allocated before the sizes in the file have been found consistent. */
FMO_API fmo_status fmo_dataset_read(const char *path, fmo_dataset **dataset, fmo_error *err);
FMO_API void fmo_dataset_destroy(fmo_dataset *dataset); /**< NULL is fine */

/** As fmo_dataset_read, for a file that need not hold a density or orbitals: fmo_dataset_density()
 *  is NULL if it holds neither /fmo/density nor orbitals with occupations. */
FMO_API fmo_status fmo_dataset_read_basis(const char *path, fmo_dataset **dataset, fmo_error *err);

/* What a data set holds. Of a data set that is NULL: NULL, NaN, 0 nuclei, -1 electrons, "?". */
FMO_API const char *fmo_dataset_path(const fmo_dataset *dataset); /**< as it was given */
FMO_API const char *
fmo_dataset_sha256(const fmo_dataset *dataset); /**< of the file, 64 hex digits */
FMO_API const fmo_basis *
fmo_dataset_basis(const fmo_dataset *dataset); /**< owned by the data set */
/** What that basis was made of, in the order of the file; owned by the data set. */
FMO_API const fmo_basis_input *fmo_dataset_basis_input(const fmo_dataset *dataset);
/** Atomic number of a nucleus (0-based), by its label, else its charge; 0 when it is no element. */
FMO_API int fmo_dataset_nucleus_number(const fmo_dataset *dataset, int nucleus);

/** Symmetric density [nao][nao] in the file's AO order; NULL if the data set has none, which only
 *  those of fmo_dataset_create and fmo_dataset_read_basis may. */
FMO_API const double *fmo_dataset_density(const fmo_dataset *dataset);
/** "/fmo/density", "mo_coefficient and mo_occupation", or "none". */
FMO_API const char *fmo_dataset_density_source(const fmo_dataset *dataset);

/** Things worth telling the user, e.g. fractional occupations; i = 0, 1, ... until NULL. */
FMO_API const char *fmo_dataset_notice(const fmo_dataset *dataset, int i);
/** Whether notice i is the only evidence that the physics is wrong: electrons, energies or charges
 *  that contradict the rest of the file. fmo-driver refuses such a file without --force. */
FMO_API bool fmo_dataset_is_doubtful(const fmo_dataset *dataset, int i);

/** [nao][nao] hartree: the file's core Hamiltonian, else kinetic + potential_n_e (+ ecp), else
 *  computed at the first call (two threads may call at once); NULL when there is no memory. */
FMO_API const double *fmo_dataset_core_hamiltonian(const fmo_dataset *dataset);
/** "ao_1e_int_core_hamiltonian", "ao_1e_int_kinetic + ao_1e_int_potential_n_e" (with
 *  "+ ao_1e_int_ecp" where it is used), "computed". */
FMO_API const char *fmo_dataset_core_hamiltonian_source(const fmo_dataset *dataset);
/** Hartree; not finite when charged nuclei coincide, in which case there is no energy. */
FMO_API double fmo_dataset_nuclear_repulsion(const fmo_dataset *dataset);
FMO_API int fmo_dataset_electron_num(const fmo_dataset *dataset); /**< -1 if the file has none */

/* Reference values the file carries in /fmo, in hartree; NULL (NaN for the energy) without. */
FMO_API const double *fmo_dataset_reference_coulomb(const fmo_dataset *dataset);  /**< [nao][nao] */
FMO_API const double *fmo_dataset_reference_exchange(const fmo_dataset *dataset); /**< [nao][nao] */
FMO_API const double *fmo_dataset_reference_fock_2e(const fmo_dataset *dataset);  /**< [nao][nao] */
FMO_API double fmo_dataset_reference_energy(const fmo_dataset *dataset); /**< NaN without */
FMO_API const char *fmo_dataset_basis_name(const fmo_dataset *dataset); /**< "" when not recorded */
FMO_API const char *fmo_dataset_formula(const fmo_dataset *dataset);    /**< "H16O8" (Hill order) */

/** Number (0-based) of the AO's nucleus, its element label and "s", "px", "py", "pz", "dxx" ... or
 *  "d0" "d+1" "d-1" "d+2" "d-2", as "12 O px", for messages about matrix elements. @param[out] text
 * of size bytes */
FMO_API void fmo_dataset_ao_label(const fmo_dataset *dataset, int ao, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
