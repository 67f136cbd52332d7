/* The result of one data set: matrices, energies, times, the result of --check, the cycles of an
 * SCF. build.c and scf.c fill it in, driver/report reads it. */
#ifndef FMO_RUN_RESULT_H
#define FMO_RUN_RESULT_H

#include "driver/base/spread.h"
#include "driver/run/check.h"

#include <fmo/molecule.h>
#include <fmo/scf.h>

/** Charges of atoms, e, and spin populations. */
typedef enum driver_charges {
    DRIVER_MULLIKEN,
    DRIVER_LOEWDIN,
    DRIVER_MULLIKEN_SPIN,
    DRIVER_LOEWDIN_SPIN,
    DRIVER_CHARGES
} driver_charges;

typedef struct driver_result {
    fmo_dataset *dataset;
    fmo_point_charges *charges; /**< of --charges, else NULL */
    bool named;                 /**< the error message already names the file */
    int frame;                  /**< frame in a .xyz file, from 1; 0 if it is the only one */
    int nao;
    int electrons;                         /**< -1: not known */
    double *matrices[DRIVER_MATRIX_COUNT]; /**< J, K, G of the last build, [nao][nao], hartree */
    double *fock;                          /**< H + G, [nao][nao]; NULL if H is not known */
    fmo_fock_profile profile;              /**< of the build with the median time */
    driver_spread seconds;                 /**< time of one build */
    /** max |G of a build - G of the first|: 0 if all are bitwise equal, NaN after a single build */
    double repeat_difference;
    double trace_g;        /**< sum_i G_ii */
    double norm_g;         /**< sqrt(sum_ij G_ij^2) */
    double energy_2e;      /**< 1/2 sum_ij D_ij G_ij */
    double energy;         /**< 1/2 sum_ij D_ij (2 H + G)_ij + E_nuc; NaN if it is not known */
    const char *no_energy; /**< why there is no energy, else NULL */
    driver_check check;
    bool is_scf;           /**< an SCF: matrices[] are NULL */
    fmo_scf_result *scf;   /**< of a finished SCF, else NULL */
    fmo_scf_cycle *cycles; /**< [cycle_num] so far */
    int cycle_num;
    double *charges_of_atoms; /**< [DRIVER_CHARGES][charge_num], NaN if not computed; see
                                 driver_charges_of in properties.h */
    int charge_num;           /**< number of nuclei of charges_of_atoms; 0: not computed */
    double dipole[3];         /**< e bohr, about the origin of the coordinates; NaN: not computed */
    int multiplicity;         /**< 2S + 1 of an SCF, by --multiplicity or the geometry's comment */
    bool singlet_is_meant;    /**< by --multiplicity or the geometry's comment */
    char geometry_notice[160]; /**< fmo_molecule.notice, or "" */
    char spin_notice[240];     /**< why a closed-shell SCF is doubtful, or "" */
    char scf_notice[240];      /**< fmo_scf_result.notice, or "" */
    char unused[200];          /**< options that had no effect, in one line, or "" */
    fmo_error scf_verdict;     /**< FMO_OK, or FMO_ERR_CHECK and why it did not converge */
} driver_result;

/** Takes the profile of a plan's last build, and computes G from J and K of the result. */
fmo_status driver_result_take_build(driver_result *result, const fmo_fock_plan *plan,
                                    fmo_error *err);

/** What is stored for several builds of one data set; initially {0}. */
typedef struct driver_repeats {
    size_t done;
    fmo_fock_profile *profile; /**< [count] */
    double *first;             /**< G of the first build, [nao][nao] */
    double difference;         /**< max |G of a build - G of the first| */
} driver_repeats;

/** Records the build that the result has taken, of `count` in all. @return FMO_OK, FMO_ERR_MEMORY
 */
fmo_status driver_repeats_add(driver_repeats *repeats, int count, driver_result *result,
                              fmo_error *err);
/** If builds were recorded, sets the spread of the times, the profile of the build with the (lower)
 *  median time, and the largest difference. */
void driver_repeats_end(driver_repeats *repeats, driver_result *result);
void driver_repeats_free(driver_repeats *repeats);

/** Computes trace, norm and energies from G and its density.
 *  @param[in] density, fock_2e  [nao][nao]
 *  @param[in] core  H, [nao][nao], or NULL
 *  @param[in] repulsion  nuclear repulsion energy, hartree */
void driver_result_evaluate(driver_result *result, const double *density, const double *fock_2e,
                            const double *core, double repulsion);

/** Returns the i-th notice, counted from 0: of the data set, its geometry's comment, the spin of an
 *  SCF, the build, the cutoff of an SCF, unused options. Returns NULL after the last. */
const char *driver_result_notice(const driver_result *result, int i);

/** "RHF", "UHF" or "ROHF". */
const char *driver_scf_method(const fmo_scf_result *scf);

/** Whether --reduce has an effect in this mode. */
bool driver_mode_reduces(fmo_mode mode);

/** Whether the profile has counts for each ERI class (mode reference has none). */
bool driver_profile_has_classes(const fmo_fock_profile *profile);
/** Whether a class is reported: classes of s and p shells always are, others only if the molecule
 *  has such quartets. */
bool driver_profile_has_class(const fmo_fock_profile *profile, int eri_class);

void driver_result_free(driver_result *result);

#endif
