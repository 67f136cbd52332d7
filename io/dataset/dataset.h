/* A data set: a TREXIO file (HDF5 back end) with a basis and a density, read and checked as a
 * whole. The format, and every reason for which a file is rejected, is in
 * docs/reference/dataset-format.md. */
#ifndef FMO_DATASET_H
#define FMO_DATASET_H

#include <stdbool.h>
#include <fmo/basis.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A data set in memory. */
typedef struct fmo_dataset fmo_dataset;

/** Reads a file and checks all of its content that is used.
 *  @param[out] dataset  free with fmo_dataset_destroy; NULL on error
 *  @return FMO_OK, FMO_ERR_INPUT (message names file, field, what was expected), FMO_ERR_MEMORY.
 *          Memory is allocated only after the sizes in the file have been found consistent. */
FMO_API fmo_status fmo_dataset_read(const char *path, fmo_dataset **dataset, fmo_error *err);
FMO_API void fmo_dataset_destroy(fmo_dataset *dataset); /**< NULL is allowed */

/** Like fmo_dataset_read, for a file that need not hold a density or orbitals:
 *  fmo_dataset_density() is NULL if it holds neither /fmo/density nor orbitals with occupations. */
FMO_API fmo_status fmo_dataset_read_basis(const char *path, fmo_dataset **dataset, fmo_error *err);

/* Contents of a data set. For dataset = NULL these return NULL, NaN, 0 nuclei, -1 electrons or
 * "?". */
FMO_API const char *fmo_dataset_path(const fmo_dataset *dataset); /**< as passed by the caller */
FMO_API const char *
fmo_dataset_sha256(const fmo_dataset *dataset); /**< SHA-256 of the file, 64 hex digits */
FMO_API const fmo_basis *
fmo_dataset_basis(const fmo_dataset *dataset); /**< owned by the data set */
/** Input from which the basis was made, in the order of the file; owned by the data set. */
FMO_API const fmo_basis_input *fmo_dataset_basis_input(const fmo_dataset *dataset);
/** Atomic number of a nucleus (0-based), from its label or else its charge; 0 if it is not an
 *  element. */
FMO_API int fmo_dataset_nucleus_number(const fmo_dataset *dataset, int nucleus);

/** Symmetric density [nao][nao] in the AO order of the file; NULL if the data set has none, which
 *  is possible only after fmo_dataset_create and fmo_dataset_read_basis. */
FMO_API const double *fmo_dataset_density(const fmo_dataset *dataset);
/** "/fmo/density", "mo_coefficient and mo_occupation", the same with ", sum of both spins", or
 *  "none". */
FMO_API const char *fmo_dataset_density_source(const fmo_dataset *dataset);

/** Messages for the user, e.g. about fractional occupations; i = 0, 1, ... until NULL. */
FMO_API const char *fmo_dataset_notice(const fmo_dataset *dataset, int i);
/** True if notice i reports physics that contradicts the rest of the file: the number of electrons,
 *  energies or charges. fmo-driver rejects such a file without --force. */
FMO_API bool fmo_dataset_is_doubtful(const fmo_dataset *dataset, int i);

/** Core Hamiltonian [nao][nao] in hartree: that of the file, else kinetic + potential_n_e (+ ecp),
 *  else computed by the first call (concurrent calls are safe); NULL if there is no memory. */
FMO_API const double *fmo_dataset_core_hamiltonian(const fmo_dataset *dataset);
/** "ao_1e_int_core_hamiltonian", "ao_1e_int_kinetic + ao_1e_int_potential_n_e" (with "+
 *  ao_1e_int_ecp" where it is used), or "computed". */
FMO_API const char *fmo_dataset_core_hamiltonian_source(const fmo_dataset *dataset);
/** Nuclear repulsion energy in hartree; not finite if charged nuclei coincide, and then no total
 *  energy exists. */
FMO_API double fmo_dataset_nuclear_repulsion(const fmo_dataset *dataset);
FMO_API int fmo_dataset_electron_num(const fmo_dataset *dataset); /**< -1 if the file has none */
/** 2S + 1 with S of electron/up_num and dn_num, or of the molecule; 0 if it is not known. */
FMO_API int fmo_dataset_multiplicity(const fmo_dataset *dataset);
/** D_alpha - D_beta [nao][nao] of orbitals of both spins, or of one set with singly occupied
 *  orbitals; NULL if the data set has none, as for closed shells. */
FMO_API const double *fmo_dataset_spin_density(const fmo_dataset *dataset);

/* Reference values of the file's group /fmo, in hartree; NULL (NaN for the energy) if absent. */
FMO_API const double *fmo_dataset_reference_coulomb(const fmo_dataset *dataset);  /**< [nao][nao] */
FMO_API const double *fmo_dataset_reference_exchange(const fmo_dataset *dataset); /**< [nao][nao] */
FMO_API const double *fmo_dataset_reference_fock_2e(const fmo_dataset *dataset);  /**< [nao][nao] */
FMO_API double fmo_dataset_reference_energy(const fmo_dataset *dataset); /**< NaN if absent */
FMO_API const char *fmo_dataset_basis_name(const fmo_dataset *dataset);  /**< "" if not recorded */
FMO_API const char *fmo_dataset_formula(const fmo_dataset *dataset); /**< "H16O8" (Hill order) */

/** Writes a label of an AO for messages about matrix elements, as "12 O px": the 0-based index of
 *  its nucleus, its element, and "s", "px", "py", "pz", "dxx" ... or "d0" "d+1" "d-1" "d+2" "d-2".
 *  @param[out] text  of size bytes */
FMO_API void fmo_dataset_ao_label(const fmo_dataset *dataset, int ao, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
