/* Reads all geometries of --scf --batch before anything is computed, and names those whose
 * multiplicity does not fit their electrons. */
#ifndef FMO_RUN_SCF_SURVEY_H
#define FMO_RUN_SCF_SURVEY_H

#include "driver/cli/options.h"

typedef struct driver_scf_survey {
    long molecules;  /**< geometries, those that cannot be read included */
    long impossible; /**< those whose electrons cannot have their multiplicity */
    char names[400]; /**< files and frames of these, in one line, as far as there is space */
} driver_scf_survey;

/** Reads the geometries of all files; data sets are passed over. */
void driver_scf_survey_run(const driver_options *options, driver_scf_survey *survey);

#endif
