/* Several builds of one data set: the spread of their times and of G. */
#ifndef FMO_RUN_REPEATS_H
#define FMO_RUN_REPEATS_H

#include "driver/run/result.h"

/** Data stored for the builds of one data set. */
typedef struct driver_repeats {
    size_t count, done;
    fmo_fock_profile *profile; /**< [count] */
    double *first;             /**< G of the first build, [nao][nao]; NULL if it is the only one */
} driver_repeats;

/** Allocates memory for `count` builds. @return FMO_OK, FMO_ERR_MEMORY */
fmo_status driver_repeats_begin(driver_repeats *repeats, int count, const driver_result *result,
                                fmo_error *err);
/** Records a build: the plan's profile, and G computed from J and K of the result. */
fmo_status driver_repeats_take(driver_repeats *repeats, const fmo_fock_plan *plan,
                               driver_result *result, fmo_error *err);
/** Sets the spread of the times, and the profile of the build with the (lower) median time. */
void driver_repeats_end(driver_repeats *repeats, driver_result *result);
void driver_repeats_free(driver_repeats *repeats);

#endif
