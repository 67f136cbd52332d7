/* The report for people. */
#ifndef FMO_DRIVER_REPORT_H
#define FMO_DRIVER_REPORT_H

#include "driver/cli/options.h"
#include "driver/run/batch.h"
#include "driver/run/deal.h"
#include "driver/run/scf_batch.h"

/** What an SCF is of, as it begins. */
void driver_report_begin(const driver_options *options, const driver_result *result, FILE *stream);

/** The last of an SCF's cycles, as it ends. What driver_report prints goes on from there. */
void driver_report_cycle(const driver_result *result, FILE *stream);

void driver_report(const driver_options *options, const driver_result *result, FILE *stream);

/** The last line of --batch: what the one call took. */
void driver_report_batch(const driver_batch *batch, FILE *stream);
/** The same of one that was dealt out to ranks. */
void driver_report_deal(const driver_deal *deal, int ranks, FILE *stream);

/** --scf --batch: what is said before the first molecule, of one that has a result, after the
 *  last. */
void driver_report_scf_batch_head(const driver_options *options, const driver_scf_one *one,
                                  FILE *stream);
void driver_report_scf_one(const driver_options *options, const driver_scf_one *one, FILE *stream);
void driver_report_scf_batch(const driver_options *options, const driver_scf_totals *totals,
                             FILE *stream);

/** Of what a profile is, for --profile: host, device (NULL: not known; "": none), revision, data
 * set (NULL: several). */
void driver_report_origin(const char *device, const char *sha256, FILE *stream);

/** "waters.xyz frame 3", harmless to terminals; the path alone where the file holds one. */
void driver_report_name(const driver_scf_one *one, char *text, size_t size);

#endif
