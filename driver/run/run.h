/* One data set from file to finished result: read, plan, build (or SCF), check, write; or several
 * in one call. Prints nothing. */
#ifndef FMO_DRIVER_RUN_H
#define FMO_DRIVER_RUN_H

#include "driver/run/check.h"
#include "driver/cli/options.h"

typedef struct driver_result {
    fmo_dataset *dataset;
    int nao;
    double *matrices[DRIVER_MATRIX_COUNT]; /**< J, K, G of the last build, [nao][nao], hartree */
    double *fock;                          /**< H + G, NULL when H is not known */
    fmo_fock_profile profile;              /**< of the build with the median time */
    double seconds_min, seconds_median, seconds_max; /**< of one build each */
    /** max |G of a build - G of the first|, 0 if all were bit-equal; NaN after a single build */
    double repeat_difference;
    double trace_g;        /**< sum_i G_ii */
    double norm_g;         /**< sqrt(sum_ij G_ij^2) */
    double energy_2e;      /**< 1/2 sum_ij D_ij G_ij */
    double energy;         /**< 1/2 sum_ij D_ij (2 H + G)_ij + E_nuc; NaN when it cannot be had */
    const char *no_energy; /**< why not, else NULL */
    driver_check check;
    fmo_scf_result *scf;   /**< of an SCF, else NULL; matrices[] are NULL then */
    fmo_scf_cycle *cycles; /**< [cycle_num] */
    int cycle_num;
    fmo_error scf_verdict; /**< FMO_OK, or FMO_ERR_CHECK and why it did not converge */
} driver_result;

/** Run one data set.
 *  @param[out] result  free with driver_result_free, on error too
 *  @return FMO_OK (also when the check failed: see result->check), or what went wrong first */
fmo_status driver_run(const driver_options *options, const char *path, driver_result *result,
                      fmo_error *err);

/** The same for an SCF: what driver_run does if options->scf. Files are written of a state that
 *  did not converge, too. */
fmo_status driver_run_scf(const driver_options *options, const char *path, driver_result *result,
                          fmo_error *err);

/** Several data sets, all built in one call of fmo_fock_build_batch. */
typedef struct driver_batch {
    int count;             /**< data sets */
    int built;             /**< of them, those that took part in the call */
    driver_result *result; /**< [count] */
    fmo_error *err;        /**< [count] FMO_OK, or what went wrong with this one */
    double seconds_min, seconds_median, seconds_max; /**< of one call; NaN if nothing was built */
} driver_batch;

/** Run all data sets of the options (--batch). One that fails is left out of the call.
 *  @param[out] batch  free with driver_batch_free, on error too
 *  @return FMO_OK (see batch->err), FMO_ERR_MEMORY */
fmo_status driver_run_batch(const driver_options *options, driver_batch *batch, fmo_error *err);
void driver_batch_free(driver_batch *batch);

/* The steps of driver_run. */

/** Read the data set, make room for its matrices. */
fmo_status driver_begin(const driver_options *options, const char *path, driver_result *result,
                        fmo_error *err);

/** What is kept of each of several builds. */
typedef struct driver_repeats {
    size_t count, done;
    fmo_fock_profile *profile; /**< [count] */
    double *first;             /**< G of the first build, [nao][nao]; NULL if there is but one */
} driver_repeats;

/** Room for `count` builds. @return FMO_OK, FMO_ERR_MEMORY */
fmo_status driver_repeats_begin(driver_repeats *repeats, int count, const driver_result *result,
                                fmo_error *err);
/** Take a build's J and K, which are in the result, and the plan's profile; make G. */
fmo_status driver_repeats_take(driver_repeats *repeats, const fmo_fock_plan *plan,
                               driver_result *result, fmo_error *err);
/** The spread of the builds, and the profile of the one in the middle, into the result. */
void driver_repeats_end(driver_repeats *repeats, driver_result *result);
void driver_repeats_free(driver_repeats *repeats);

/** Energy, check and output of a result that is built. */
fmo_status driver_finish(const driver_options *options, driver_progress *progress,
                         driver_result *result, fmo_error *err);

/** What of an output's fate can be known beforehand.
 *  @param[in] option  "output" or "molden" */
fmo_status driver_check_output(const char *option, const char *output, const char *input,
                               fmo_error *err);

/** Trace, norm and energies of a finished G of a density.
 *  @param[in] core  [nao][nao] or NULL */
void driver_evaluate(driver_result *result, const double *density, const double *fock_2e,
                     const double *core, double repulsion);

/** Whether --reduce means anything to a mode. */
bool driver_mode_reduces(fmo_mode mode);

/** Whether the mode went class by class (reference does not). */
bool driver_profile_has_classes(const fmo_fock_profile *profile);

void driver_result_free(driver_result *result);

#endif
