/* What is said of fragments: lines for people, and the JSON of docs/reference/fmo.md. */
#ifndef FMO_REPORT_FRAGMENTS_H
#define FMO_REPORT_FRAGMENTS_H

#include "driver/run/fragments.h"

#include <jansson.h>

/** Before the first iteration, and after each. */
void driver_report_system(const driver_options *options, const fmo_fragment_system *system,
                          const char *basis, FILE *stream);
void driver_report_iteration(const fmo_fragment_iteration *iteration, FILE *stream);
/** While pairs run, where no progress bar shows it. */
void driver_report_pairs(double fraction, double seconds, FILE *stream);

/** Fragments, pairs, energies; with --quiet one line. */
void driver_report_fragments(const driver_options *options, const driver_fragments *run,
                             FILE *stream);

/** An entry of the document's "systems"; NULL without memory. */
json_t *driver_fragments_json(const driver_options *options, const driver_fragments *run);

#endif
