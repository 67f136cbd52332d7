/* The report for people. */
#ifndef FMO_DRIVER_REPORT_H
#define FMO_DRIVER_REPORT_H

#include "driver/cli/options.h"
#include "driver/run/batch.h"
#include "driver/run/deal.h"

/** The last of an SCF's cycles, as it ends; before the first one what the SCF is of. What
 *  driver_report prints goes on from there. */
void driver_report_cycle(const driver_options *options, const driver_result *result, FILE *stream);

void driver_report(const driver_options *options, const driver_result *result, FILE *stream);

/** The last line of --batch: what the one call took. */
void driver_report_batch(const driver_batch *batch, FILE *stream);
/** The same of one that was dealt out to ranks. */
void driver_report_deal(const driver_deal *deal, int ranks, FILE *stream);

#endif
