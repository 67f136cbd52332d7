/* The report for people. */
#ifndef FMO_DRIVER_REPORT_H
#define FMO_DRIVER_REPORT_H

#include "driver/run/run.h"

void driver_report(const driver_options *options, const driver_result *result, FILE *stream);

/** The last line of --batch: what the one call took. */
void driver_report_batch(const driver_batch *batch, FILE *stream);

#endif
