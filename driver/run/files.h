/* The files of one run, and whether what was read may be used. */
#ifndef FMO_RUN_FILES_H
#define FMO_RUN_FILES_H

#include "driver/cli/options.h"

#include <fmo/dataset.h>

/** May the outputs be written, and is none of them another file of the run? Called before anything
 *  is computed, and again before they are written: hours may have passed.
 *  @param[in] path  the data set or geometry
 *  @return as driver_check_files */
fmo_status driver_check_run_files(const driver_options *options, const char *path, fmo_error *err);

/** A data set whose notices say that its physics is wrong is refused without --force.
 *  @return FMO_OK, FMO_ERR_INPUT */
fmo_status driver_check_doubts(const driver_options *options, const fmo_dataset *dataset,
                               fmo_error *err);

#endif
