/* Checks the files of one run, and whether its input may be used. */
#ifndef FMO_RUN_FILES_H
#define FMO_RUN_FILES_H

#include "driver/cli/options.h"

#include <fmo/dataset.h>

/** Checks that the outputs can be written and that none of them is another file of the run. Called
 *  before anything is computed and again, possibly hours later, before they are written.
 *  @param[in] path  the data set or geometry
 *  @return the same as driver_check_files */
fmo_status driver_check_run_files(const driver_options *options, const char *path, fmo_error *err);
/** The same for all data sets or geometries of a batch. */
fmo_status driver_check_all_run_files(const driver_options *options, fmo_error *err);

/** Refuses a data set with a notice about doubtful physics, unless --force is given.
 *  @return FMO_OK, FMO_ERR_INPUT */
fmo_status driver_check_doubts(const driver_options *options, const fmo_dataset *dataset,
                               fmo_error *err);

#endif
