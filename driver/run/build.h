/* One data set from file to finished result: read, plan, build, check, write. */
#ifndef FMO_RUN_BUILD_H
#define FMO_RUN_BUILD_H

#include "driver/cli/options.h"
#include "driver/run/result.h"

/** @param[out] result  free with driver_result_free, on error too
 *  @return FMO_OK (also when the check failed: see result->check), or what went wrong first */
fmo_status driver_run_build(const driver_options *options, const char *path, driver_result *result,
                            fmo_error *err);

/* Its ends, which batch.c has in common with it. */

/** Read the data set, make space for its matrices. */
fmo_status driver_build_begin(const driver_options *options, const char *path,
                              driver_result *result, fmo_error *err);

/** Energy, check and output of a result that is built. */
fmo_status driver_build_finish(const driver_options *options, driver_progress *progress,
                               driver_result *result, fmo_error *err);

#endif
