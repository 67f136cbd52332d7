/* --batch over several ranks: data sets are dealt out, largest first; whoever has one done takes
 * the next. Every rank turns its results into text, and rank 0 gets all texts. */
#ifndef FMO_RUN_DEAL_H
#define FMO_RUN_DEAL_H

#include "driver/run/batch.h"

#include <fmo/ranks.h>

/** What there is to say of a data set. Texts are free()d by driver_deal_free. */
typedef struct driver_said {
    int code;     /**< exit code */
    int reported; /**< whether there is something on stdout, or in the profile */
    char *text[3];
} driver_said;

enum { DRIVER_SAID_OUT, DRIVER_SAID_ERR, DRIVER_SAID_JSON };

/** Fills in what is to be said of data set `index`; NULL texts are empty. */
typedef fmo_status driver_tell(const driver_options *options, int index,
                               const driver_result *result, fmo_error *of_it, driver_said *said,
                               fmo_error *err);

typedef struct driver_deal {
    int count;                /**< data sets */
    driver_said *said;        /**< [count], on rank 0 */
    int built;                /**< data sets that were built */
    driver_spread seconds;    /**< in builds, on the rank that was longest in them */
    double wall_seconds;      /**< from the first to the last */
    bool communicator_failed; /**< after an error: this rank alone has it, the others wait for it */
} driver_deal;

/** Collective. @param[out] deal  free with driver_deal_free, on error too
 *  @return FMO_OK; FMO_ERR_MEMORY and others of a rank, which all ranks return unless deal->failed;
 *          FMO_ERR_DEVICE */
fmo_status driver_run_deal(const driver_options *options, const fmo_ranks *ranks, driver_tell *tell,
                           driver_deal *deal, fmo_error *err);
void driver_deal_free(driver_deal *deal);

#endif
