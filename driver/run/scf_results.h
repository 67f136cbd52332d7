/* Where the results of --scf --batch go: each into a checkpoint beside --output as it comes, all of
 * them into --output at the end, after which the checkpoint is removed. Used by rank 0. */
#ifndef FMO_RUN_SCF_RESULTS_H
#define FMO_RUN_SCF_RESULTS_H

#include "driver/run/scf_batch.h"

typedef struct driver_scf_results driver_scf_results;

/** Opens the checkpoint and, with --resume, the results of an earlier run. A checkpoint that is
 *  there already is not replaced without --resume or --force.
 *  @param[out] results  close with driver_scf_results_close; NULL without --output
 *  @return FMO_OK, FMO_ERR_INPUT, FMO_ERR_OUTPUT, FMO_ERR_MEMORY */
fmo_status driver_scf_results_open(const driver_options *options, driver_scf_results **results,
                                   fmo_error *err);

/** Sets one->key, and one->restored if the molecule has a result of an earlier run. */
fmo_status driver_scf_results_restore(driver_scf_results *results, driver_scf_one *one,
                                      fmo_error *err);

/** Appends a result to the checkpoint. An error is kept and returned by later calls of the
 *  functions below. */
void driver_scf_results_keep(driver_scf_results *results, const driver_scf_one *one);

/** Adds a molecule to the output, in the order of the input. */
fmo_status driver_scf_results_add(driver_scf_results *results, const driver_scf_one *one,
                                  fmo_error *err);

/** Writes the output and removes the checkpoint. */
fmo_status driver_scf_results_write(driver_scf_results *results, fmo_error *err);

void driver_scf_results_close(driver_scf_results *results); /**< NULL is allowed */

#endif
