/* The report of an FMO2 run: text, and the JSON described in docs/reference/fmo.md. */
#ifndef FMO_REPORT_FRAGMENTS_H
#define FMO_REPORT_FRAGMENTS_H

#include "driver/run/fragments.h"

#include <jansson.h>

/** Printed before the first iteration, and after each iteration. */
void driver_report_system(const driver_options *options, const fmo_fragment_system *system,
                          const char *basis, FILE *stream);
void driver_report_iteration(const fmo_fragment_iteration *iteration, FILE *stream);
/** Printed during the pairs if there is no progress bar. seconds: since the pairs began. */
void driver_report_pairs(double fraction, double seconds, FILE *stream);

/** Prints fragments, pairs and energies; with --quiet one line. */
void driver_report_fragments(const driver_options *options, const driver_fragments *run,
                             FILE *stream);

/** Returns an entry of the document's "systems"; NULL if memory is short. */
json_t *driver_fragments_json(const driver_options *options, const driver_fragments *run);

#endif
