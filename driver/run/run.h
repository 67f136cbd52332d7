/* One data set of the command line. Prints nothing, but for the progress bar. Arrows: run.c ->
 * build.c, scf.c -> result.c; batch.c -> build.c, repeats.c; deal.c -> batch.c; scf_batch.c ->
 * scf.c, scf_share.c; deal.c, scf_batch.c -> ranks.c -> nobody. */
#ifndef FMO_RUN_RUN_H
#define FMO_RUN_RUN_H

#include "driver/run/scf.h"

/** Builds, or an SCF, whichever the options ask for: driver_run_build and driver_run_scf. */
fmo_status driver_run(const driver_options *options, const char *path, const driver_watch *watch,
                      driver_result *result, fmo_error *err);

#endif
