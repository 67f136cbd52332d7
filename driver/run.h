/* One data set from file to finished result: read, plan, build, check, write. Prints nothing. */
#ifndef FMO_DRIVER_RUN_H
#define FMO_DRIVER_RUN_H

#include "check.h"
#include "options.h"

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
} driver_result;

/** Run one data set.
 *  @param[out] result  free with driver_result_free, on error too
 *  @return FMO_OK (also when the check failed: see result->check), or what went wrong first */
fmo_status driver_run(const driver_options *options, const char *path, driver_result *result,
                      fmo_error *err);

/** Whether --reduce means anything to a mode. */
bool driver_mode_reduces(fmo_mode mode);

/** Whether the mode went class by class (reference does not). */
bool driver_profile_has_classes(const fmo_fock_profile *profile);

void driver_result_free(driver_result *result);

#endif
