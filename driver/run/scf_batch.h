/* --scf --batch: all molecules of the command line, frames of .xyz files included, through
 * fmo_scf_run_batch, a few thousand at a time. Under mpirun all ranks call it; rank 0 hears and
 * writes. */
#ifndef FMO_RUN_SCF_BATCH_H
#define FMO_RUN_SCF_BATCH_H

#include "driver/run/scf.h"

/** One molecule and what became of it. */
typedef struct driver_scf_one {
    const char *path;
    driver_result result; /**< its dataset is NULL where it could not be made, its scf where there
                               is none */
    fmo_error err;        /**< FMO_OK, or why there is no result */
} driver_scf_one;

/** Who wants to hear of molecules. */
typedef struct driver_scf_watch {
    /** As each ends, in any order: from any thread, one at a time. Those of other ranks at the end
     *  of a portion. */
    void (*ended)(const driver_scf_one *one, void *user);
    /** Of each, in the order of the command line, some time later. */
    void (*listed)(const driver_scf_one *one, void *user);
    void *user;
} driver_scf_watch;

typedef struct driver_scf_totals {
    long molecules;   /**< all */
    long failed;      /**< of them, those without a result */
    long unconverged; /**< and those that did not converge */
    int ranks;        /**< that shared them; 1: one process */
    double seconds;   /**< from the first file to the last result */
} driver_scf_totals;

/** Files are written at the end, of whatever has a result.
 *  @param[out] totals  of all molecules, also on error
 *  @return FMO_OK (also when molecules failed: the watch has heard), or what stopped all; under
 *          mpirun on all ranks, but for FMO_ERR_OUTPUT of the file, which is rank 0's */
fmo_status driver_run_scf_batch(const driver_options *options, const driver_scf_watch *watch,
                                driver_scf_totals *totals, fmo_error *err);

#endif
