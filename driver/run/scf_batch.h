/* --scf --batch: runs all molecules of the command line, including all frames of .xyz files, with
 * fmo_scf_run_batch, a few thousand at a time. Collective under mpirun; rank 0 calls the callbacks
 * and writes. */
#ifndef FMO_RUN_SCF_BATCH_H
#define FMO_RUN_SCF_BATCH_H

#include "driver/run/scf.h"
#include "driver/run/scf_survey.h"

/** One molecule and its result. */
typedef struct driver_scf_one {
    const char *path;
    driver_result result; /**< dataset is NULL if it could not be made, scf is NULL if there is no
                           * result */
    fmo_error err;        /**< FMO_OK, or why there is no result */
    char key[65];         /**< of fmo_molecule_key; "" without --output */
    char *comment;        /**< comment of the geometry, or NULL */
    bool restored;        /**< the result is that of an earlier run, which is not in `result` */
} driver_scf_one;

/** Callbacks for molecules. */
typedef struct driver_scf_watch {
    /** Called once, before anything is computed, if there are several geometries. */
    void (*surveyed)(const driver_scf_survey *survey, void *user);
    /** Called when a molecule ends, restored ones included, in any order and from any thread, but
     * one call at a time. For molecules of other ranks it is called at the end of a portion. */
    void (*ended)(const driver_scf_one *one, void *user);
    /** Called for each molecule in the order of the command line, at the end of its portion. */
    void (*listed)(const driver_scf_one *one, void *user);
    void *user;
} driver_scf_watch;

typedef struct driver_scf_totals {
    long molecules;   /**< number of all molecules */
    long failed;      /**< number of those without a result */
    long unconverged; /**< number of those that did not converge */
    long restored;    /**< number of those with the result of an earlier run */
    long open;        /**< number of those computed as open shells in this run */
    int ranks;        /**< number of ranks that shared them; 1: one process */
    double seconds;   /**< wall-clock time of the whole run */
} driver_scf_totals;

/** Runs all molecules. With --output every result is appended to a checkpoint as it comes; the file
 *  is written at the end, if any molecule has a result.
 *  @param[out] totals  of all molecules, also on error
 *  @return FMO_OK (also when molecules failed, which the callbacks report), or the error that
 *           stopped the run; under mpirun the same on all ranks, except that FMO_ERR_OUTPUT is rank
 *           0's */
fmo_status driver_run_scf_batch(const driver_options *options, const driver_scf_watch *watch,
                                driver_scf_totals *totals, fmo_error *err);

#endif
