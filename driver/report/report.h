/* The report as text. */
#ifndef FMO_DRIVER_REPORT_H
#define FMO_DRIVER_REPORT_H

#include "driver/cli/options.h"
#include "driver/run/batch.h"
#include "driver/run/deal.h"
#include "driver/run/scf_batch.h"

/** Prints the system and settings when an SCF begins. */
void driver_report_begin(const driver_options *options, const driver_result *result, FILE *stream);

/** Prints the last cycle when it ends. The output of driver_report follows it. */
void driver_report_cycle(const driver_result *result, FILE *stream);

void driver_report(const driver_options *options, const driver_result *result, FILE *stream);

/** Prints the last line of --batch: the time of the one call. */
void driver_report_batch(const driver_batch *batch, FILE *stream);
/** The same for a batch that was distributed among ranks. */
void driver_report_deal(const driver_deal *deal, int ranks, FILE *stream);

/** --scf --batch: the head, printed before the first molecule; a molecule with a result; and the
 *  totals, after the last molecule. */
void driver_report_scf_batch_head(const driver_options *options, const driver_scf_one *one,
                                  FILE *stream);
void driver_report_scf_one(const driver_options *options, const driver_scf_one *one, FILE *stream);
void driver_report_scf_batch(const driver_options *options, const driver_scf_totals *totals,
                             FILE *stream);

/** Prints the origin of a profile, for --profile: host, device (NULL: not known; "": none),
 *  revision, and the data set's hash (NULL: several data sets). */
void driver_report_origin(const char *device, const char *sha256, FILE *stream);

/** Writes "waters.xyz frame 3", or the path alone if the file has one frame; safe to print on a
 *  terminal. */
void driver_report_name(const driver_scf_one *one, char *text, size_t size);

#endif
