/* FMO2 of one system of fragments: read, computed, written. */
#ifndef FMO_RUN_FRAGMENTS_H
#define FMO_RUN_FRAGMENTS_H

#include "driver/cli/options.h"

/** What is told while it runs. */
typedef struct driver_fragment_watch {
    void (*system)(const fmo_fragment_system *system, const char *basis, void *user);
    void (*iteration)(const fmo_fragment_iteration *iteration, void *user);
    /** Of pairs that take long: the finished share, now and then. */
    void (*pairs)(double fraction, double seconds, void *user);
    void *user;
} driver_fragment_watch;

typedef struct driver_fragments {
    fmo_fragment_system *system;
    bool named; /**< the message of what went wrong names the file itself, as reading does */
    char basis[64];
    char spin[280];              /**< of fragments: why a closed shell is doubtful, or "" */
    char unused[200];            /**< options that nothing came of, in one line, or "" */
    fmo_fragment_result *result; /**< NULL on error, and on other ranks than 0 */
} driver_fragments;

/** The i-th of what is worth saying, from 0: of the system, of spins, of the cutoff, of options
 * that nothing came of. NULL after the last. */
const char *driver_fragments_notice(const driver_fragments *run, int i);

/** Runs a system, and writes --output, --pairs and --heat-map. Under mpirun all ranks call it, and
 *  rank 0 hears, writes and has the result; errors are all ranks', but for FMO_ERR_OUTPUT of files.
 *  @param[in]  watch  or NULL
 *  @param[out] run    free with driver_fragments_free, also on error */
fmo_status driver_run_fragments(const driver_options *options, const char *path,
                                const driver_fragment_watch *watch, driver_fragments *run,
                                fmo_error *err);
void driver_fragments_free(driver_fragments *run);

#endif
