/* --batch: several data sets, all built in one call of fmo_fock_build_batch. */
#ifndef FMO_RUN_BATCH_H
#define FMO_RUN_BATCH_H

#include "driver/cli/options.h"
#include "driver/run/result.h"

typedef struct driver_batch {
    int count;             /**< number of data sets */
    int built;             /**< number of those that took part in the call */
    driver_result *result; /**< [count] */
    fmo_error *err;        /**< [count] FMO_OK, or the error of this data set */
    driver_spread seconds; /**< time of one call; NaN if nothing was built */
} driver_batch;

/** Runs all data sets of the options (--batch). A data set that fails is left out of the call.
 *  @param[out] batch  free with driver_batch_free, on error too
 *  @return FMO_OK (see batch->err), FMO_ERR_MEMORY */
fmo_status driver_run_batch(const driver_options *options, driver_batch *batch, fmo_error *err);
void driver_batch_free(driver_batch *batch);

#endif
