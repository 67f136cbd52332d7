/* FMO2 of one fragmented system: reads, computes and writes it. */
#ifndef FMO_RUN_FRAGMENTS_H
#define FMO_RUN_FRAGMENTS_H

#include "driver/cli/options.h"

/** Callbacks during a run, on rank 0. */
typedef struct driver_fragment_watch {
    void (*system)(const fmo_fragment_system *system, const char *basis, void *user);
    void (*iteration)(const fmo_fragment_iteration *iteration, void *user);
    /** During long runs of pairs: the finished fraction, and the seconds since the pairs began. */
    void (*pairs)(double fraction, double seconds, void *user);
    void *user;
} driver_fragment_watch;

typedef struct driver_fragments {
    fmo_fragment_system *system;
    bool named;       /**< the error message already names the file */
    int ligand;       /**< fragment of --ligand, or -1 */
    int *ligand_pair; /**< [fragment_num - 1] its pairs, the strongest first, or NULL */
    char basis[64];
    char spin[280];              /**< why a closed-shell fragment is doubtful, or "" */
    char unused[200];            /**< options that had no effect, in one line, or "" */
    fmo_fragment_result *result; /**< NULL on error, and on ranks other than 0 */
} driver_fragments;

/** Returns the i-th notice, counted from 0: of the system, its spins, the cutoff, unused options.
 *  Returns NULL after the last. */
const char *driver_fragments_notice(const driver_fragments *run, int i);

/** Runs a system, and writes --output, --pairs, --heat-map, --html and --cpf. Collective under
 * mpirun: rank 0 calls the callbacks, writes the files and gets the result. All ranks return the
 * same error, except FMO_ERR_OUTPUT of files.
 *  @param[in]  watch  callbacks, or NULL
 *  @param[out] run    free with driver_fragments_free, also on error */
fmo_status driver_run_fragments(const driver_options *options, const char *path,
                                const driver_fragment_watch *watch, driver_fragments *run,
                                fmo_error *err);
void driver_fragments_free(driver_fragments *run);

#endif
