/* Runs one data set of the command line; prints nothing but the progress bar. Dependencies in this
 * folder: run.c -> build.c, scf.c -> result.c; batch.c -> build.c, repeats.c; deal.c -> batch.c;
 * scf_batch.c -> scf.c, scf_share.c; deal.c, scf_batch.c -> ranks.c. */
#ifndef FMO_RUN_RUN_H
#define FMO_RUN_RUN_H

#include "driver/run/scf.h"

/** Calls driver_run_build or, for --scf, driver_run_scf. */
fmo_status driver_run(const driver_options *options, const char *path, const driver_watch *watch,
                      driver_result *result, fmo_error *err);

#endif
