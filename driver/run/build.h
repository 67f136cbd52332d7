/* Processes one data set: read, plan, build, check, write. Dependencies in this folder: build.c,
 * scf.c -> result.c, files.c; batch.c -> build.c; deal.c -> batch.c; scf_batch.c -> scf.c,
 * scf_share.c; deal.c, scf_batch.c -> ranks.c. */
#ifndef FMO_RUN_BUILD_H
#define FMO_RUN_BUILD_H

#include "driver/cli/options.h"
#include "driver/run/result.h"

/** Runs one data set.
 *  @param[out] result  free with driver_result_free, on error too
 *  @return FMO_OK (also when the check failed: see result->check), or the first error */
fmo_status driver_run_build(const driver_options *options, const char *path, driver_result *result,
                            fmo_error *err);

/* The first and the last step of driver_run_build, which batch.c uses too. */

/** Reads the data set and allocates its matrices. */
fmo_status driver_build_begin(const driver_options *options, const char *path,
                              driver_result *result, fmo_error *err);

/** Computes the energy of a built result, checks it and writes the output. */
fmo_status driver_build_finish(const driver_options *options, driver_progress *progress,
                               driver_result *result, fmo_error *err);

#endif
