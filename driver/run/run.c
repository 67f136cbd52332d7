/* Chooses between a build and an SCF. See run.h. */
#include "driver/run/run.h"
#include "driver/run/build.h"

fmo_status driver_run(const driver_options *options, const char *path, const driver_watch *watch,
                      driver_result *result, fmo_error *err)
{
    return options->scf ? driver_run_scf(options, path, watch, result, err)
                        : driver_run_build(options, path, result, err);
}
