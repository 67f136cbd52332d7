/* Several builds of one data set: their spread in time and in G. */
#ifndef FMO_RUN_REPEATS_H
#define FMO_RUN_REPEATS_H

#include "driver/run/result.h"

/** What is kept of each of several builds. */
typedef struct driver_repeats {
    size_t count, done;
    fmo_fock_profile *profile; /**< [count] */
    double *first;             /**< G of the first build, [nao][nao]; NULL if there is but one */
} driver_repeats;

/** Space for `count` builds. @return FMO_OK, FMO_ERR_MEMORY */
fmo_status driver_repeats_begin(driver_repeats *repeats, int count, const driver_result *result,
                                fmo_error *err);
/** Take a build's J and K, which are in the result, and the plan's profile; make G. */
fmo_status driver_repeats_take(driver_repeats *repeats, const fmo_fock_plan *plan,
                               driver_result *result, fmo_error *err);
/** The spread of the builds, and the profile of the one in the (lower) middle, into the result. */
void driver_repeats_end(driver_repeats *repeats, driver_result *result);
void driver_repeats_free(driver_repeats *repeats);

#endif
