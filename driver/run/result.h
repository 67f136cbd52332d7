/* What came of one data set: matrices, energies, times, the verdict of --check, the cycles of an
 * SCF. build.h and scf.h fill it in, ../report reads it. */
#ifndef FMO_RUN_RESULT_H
#define FMO_RUN_RESULT_H

#include "driver/base/spread.h"
#include "driver/run/check.h"

#include <fmo/scf.h>

typedef struct driver_result {
    fmo_dataset *dataset;
    bool named; /**< the message of what went wrong names the file itself, as reading does */
    int frame;  /**< which of several in a .xyz file, from 1; 0: the only one */
    int nao;
    int electrons;                         /**< -1: not known */
    double *matrices[DRIVER_MATRIX_COUNT]; /**< J, K, G of the last build, [nao][nao], hartree */
    double *fock;                          /**< H + G, NULL when H is not known */
    fmo_fock_profile profile;              /**< of the build with the median time */
    driver_spread seconds;                 /**< of one build each */
    /** max |G of a build - G of the first|, 0 if all were bit-equal; NaN after a single build */
    double repeat_difference;
    double trace_g;        /**< sum_i G_ii */
    double norm_g;         /**< sqrt(sum_ij G_ij^2) */
    double energy_2e;      /**< 1/2 sum_ij D_ij G_ij */
    double energy;         /**< 1/2 sum_ij D_ij (2 H + G)_ij + E_nuc; NaN when it cannot be had */
    const char *no_energy; /**< why not, else NULL */
    driver_check check;
    bool is_scf;           /**< of an SCF: matrices[] are NULL */
    fmo_scf_result *scf;   /**< of a finished one, else NULL */
    fmo_scf_cycle *cycles; /**< [cycle_num] so far */
    int cycle_num;
    bool singlet_is_meant; /**< the command line or the geometry's comment says multiplicity 1 */
    char geometry_notice[160]; /**< as fmo_molecule.notice, or "" */
    char spin_notice[240];     /**< of an SCF: why its closed shell is doubtful, or "" */
    char scf_notice[240];      /**< as fmo_scf_result.notice, or "" */
    char unused[200];          /**< options that nothing came of, in one line, or "" */
    fmo_error scf_verdict;     /**< FMO_OK, or FMO_ERR_CHECK and why it did not converge */
} driver_result;

/** Trace, norm and energies of a finished G of a density.
 *  @param[in] density, fock_2e  [nao][nao]
 *  @param[in] core  H, [nao][nao], or NULL
 *  @param[in] repulsion  of the nuclei, hartree */
void driver_result_evaluate(driver_result *result, const double *density, const double *fock_2e,
                            const double *core, double repulsion);

/** The i-th of what is worth saying, from 0: of the data set, of its geometry's comment, of an
 * SCF's spin, of the build, of an SCF's cutoff, of options that nothing came of. NULL after the
 * last. */
const char *driver_result_notice(const driver_result *result, int i);

/** Whether --reduce means anything to a mode. */
bool driver_mode_reduces(fmo_mode mode);

/** Whether the mode went class by class (reference does not). */
bool driver_profile_has_classes(const fmo_fock_profile *profile);
/** Whether a class is one to report: those of s and p shells always, others where the molecule has
 *  quartets of them. */
bool driver_profile_has_class(const fmo_fock_profile *profile, int eri_class);

void driver_result_free(driver_result *result);

#endif
