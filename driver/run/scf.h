/* The SCF of one data set or geometry: read, converge, write. */
#ifndef FMO_RUN_SCF_H
#define FMO_RUN_SCF_H

#include "driver/cli/options.h"
#include "driver/run/result.h"

#include <fmo/basis_set.h>

/** Who wants to hear that an SCF begins, when the plan is made, and of each cycle as it ends; the
 *  result has its `cycles`, data set, notices and profile so far. */
typedef struct driver_watch {
    void (*begun)(const driver_result *result, void *user);
    void (*cycle)(const driver_result *result, void *user);
    void *user;
} driver_watch;

/** Files are written of a state that did not converge, too.
 *  @param[in] watch  or NULL
 *  @param[out] result  free with driver_result_free, on error too
 *  @return FMO_OK (also when it did not converge: see result->scf_verdict), or what went wrong
 *          first */
fmo_status driver_run_scf(const driver_options *options, const char *path,
                          const driver_watch *watch, driver_result *result, fmo_error *err);

/* Parts of it, for scf_batch.c. */

/** What the command line says of an SCF, without callbacks. */
fmo_status driver_scf_settings(const driver_options *options, fmo_scf_options *scf, fmo_error *err);

/** The data set of a molecule from a file, into result, with what is to be said of its comment: of
 *  the charge and multiplicity of the command line, else the comment.
 *  FMO_ERR_INPUT names the file, and the frame if there are several. */
fmo_status driver_scf_dataset(const driver_options *options, const fmo_molecule *molecule,
                              const fmo_basis_set *set, driver_result *result, fmo_error *err);

double driver_nuclear_charge(const fmo_basis *basis); /**< of all nuclei, e */

/** The molecule of result->dataset; its arrays are the data set's. Electrons, functions and what is
 *  to be said of its spin go into result. */
fmo_status driver_scf_input(const driver_options *options, driver_result *result,
                            fmo_scf_input *input, fmo_error *err);

/** The numbers that builds have, too: of G = F - H of result->scf; and its notices. */
fmo_status driver_scf_evaluate(const driver_options *options, driver_result *result,
                               fmo_error *err);

#endif
