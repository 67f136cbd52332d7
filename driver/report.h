/* The report for people. */
#ifndef FMO_DRIVER_REPORT_H
#define FMO_DRIVER_REPORT_H

#include "run.h"

void driver_report(const driver_options *options, const driver_result *result, FILE *stream);

#endif
