/* Writes orbitals to files for other programs: TREXIO (HDF5 back end) and Molden. Next: trexio.c,
 * molden.c. */
#ifndef FMO_WAVEFUNCTION_H
#define FMO_WAVEFUNCTION_H

#include <fmo/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Orbitals over the AOs of a data set, in its AO order and normalisation. */
typedef struct fmo_wavefunction {
    int mo_num;                     /**< 1 to nao */
    const double *coefficient;      /**< [mo_num][nao], one orbital per row */
    const double *energy;           /**< [mo_num] hartree */
    const double *occupation;       /**< [mo_num] 0 to 2; of an open shell in one set 2, 1 or 0 */
    const double *overlap;          /**< [nao][nao]; NULL: computed by the writer */
    const double *core_hamiltonian; /**< [nao][nao] hartree; NULL: that of the data set */
    double total_energy;            /**< hartree, including nuclear repulsion; NaN: left out */
    int converged;                  /**< 1 or 0 */
    const char *method;             /**< "RHF", at most 60000 bytes; NULL: left out */
    const double *gradient; /**< [nucleus_num][3] hartree/bohr, derivative of total_energy, written
                               as /fmo/gradient; NULL: left out. TREXIO files only */
    /* written as /fmo/mulliken_charge and so on, to TREXIO files only; NULL: left out */
    const double *mulliken_charge; /**< [nucleus_num] Mulliken charges of the atoms, e */
    const double *loewdin_charge;  /**< [nucleus_num] Loewdin charges, e */
    const double *mulliken_spin;   /**< [nucleus_num] Mulliken populations of the spin density */
    const double *loewdin_spin;    /**< [nucleus_num] Loewdin populations of it */
    const double *dipole;          /**< [3] dipole moment about the origin, e bohr */
    /** UHF: beta orbitals, and then those above are alpha orbitals; NULL: none. */
    const double *coefficient_beta; /**< [mo_num][nao] */
    const double *energy_beta;      /**< [mo_num] hartree */
    const double *occupation_beta;  /**< [mo_num] 0 or 1 */
    /** Number of point charges in whose field the molecule is, at most 1e8; 0: none. total_energy,
     *  then written as /fmo/energy_with_charges, includes them; core_hamiltonian must not, so that
     *  the file is a data set of the molecule. TREXIO files only */
    size_t point_charge_num;
    const double *point_charge;          /**< [point_charge_num] e */
    const double *point_charge_coord;    /**< [point_charge_num][3] bohr */
    const double *point_charge_gradient; /**< [point_charge_num][3] hartree/bohr; NULL: left out */
} fmo_wavefunction;

/** Writes a TREXIO file: nucleus, electron, basis, ao, ao_1e_int (overlap, core_hamiltonian), mo,
 *  and provenance in the additional group /fmo (docs/reference/dataset-format.md). fmo_dataset_read
 *  can read it. It is written under a temporary name, synced and renamed: path always holds either
 *  the old or the complete new content.
 *  @return FMO_OK, FMO_ERR_ARGUMENT (NULL, mo_num out of range, method too long), FMO_ERR_OUTPUT
 *          (cannot write, or path is the data set itself), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_wavefunction_write_trexio(const char *path, const fmo_dataset *dataset,
                                                 const fmo_wavefunction *wavefunction,
                                                 fmo_error *err);

/** Writes a Molden file: [Atoms] in bohr, [GTO], [MO]. Molden's functions are normalised and
 *  ordered nucleus by nucleus; the coefficients are converted. Written in the same way, and with
 *  the same errors, as a TREXIO file. */
FMO_API fmo_status fmo_wavefunction_write_molden(const char *path, const fmo_dataset *dataset,
                                                 const fmo_wavefunction *wavefunction,
                                                 fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
