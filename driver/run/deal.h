/* --batch on several ranks: data sets are distributed dynamically, largest first; a rank that has
 * finished its data sets takes the next ones. Every rank formats its reports as text, and rank 0
 * receives all texts. */
#ifndef FMO_RUN_DEAL_H
#define FMO_RUN_DEAL_H

#include "driver/run/batch.h"

#include <fmo/ranks.h>

/** The report of a data set. Texts are freed by driver_deal_free. */
typedef struct driver_output {
    int code;     /**< exit code */
    int reported; /**< whether there is output for stdout or the profile */
    char *text[3];
} driver_output;

enum { DRIVER_OUTPUT_OUT, DRIVER_OUTPUT_ERR, DRIVER_OUTPUT_JSON };

/** Formats the report of data set `index`; a NULL text is empty. */
typedef fmo_status driver_reporter(const driver_options *options, int index,
                                   const driver_result *result, fmo_error *of_it,
                                   driver_output *output, fmo_error *err);

typedef struct driver_deal {
    int count;                /**< number of data sets */
    driver_output *output;    /**< [count], on rank 0 */
    int built;                /**< number of data sets that were built */
    driver_spread seconds;    /**< total time of the builds on the rank where it was longest */
    double wall_seconds;      /**< wall-clock time of all data sets */
    bool communicator_failed; /**< set with an error: only this rank has the error, and the other
                               * ranks are waiting for it */
} driver_deal;

/** Runs all data sets of the options. Collective.
 *  @param[out] deal  free with driver_deal_free, on error too
 *  @return FMO_OK; FMO_ERR_MEMORY and other errors of a rank, which all ranks return unless
 *           deal->communicator_failed; FMO_ERR_DEVICE if the communicator failed */
fmo_status driver_run_deal(const driver_options *options, const fmo_ranks *ranks,
                           driver_reporter *report, driver_deal *deal, fmo_error *err);
void driver_deal_free(driver_deal *deal);

#endif
