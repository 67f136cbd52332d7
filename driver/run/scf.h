/* The SCF of one data set or geometry: read, converge, write. */
#ifndef FMO_RUN_SCF_H
#define FMO_RUN_SCF_H

#include "driver/cli/options.h"
#include "driver/run/result.h"

#include <fmo/basis_set.h>

/** Callbacks when an SCF begins, after its plan was made, and after each cycle. The result contains
 *  `cycles`, data set, notices and profile as far as they are known. */
typedef struct driver_watch {
    void (*begun)(const driver_result *result, void *user);
    void (*cycle)(const driver_result *result, void *user);
    void *user;
} driver_watch;

/** Runs the SCF of one data set or geometry. Files are written even if it did not converge.
 *  @param[in] watch  callbacks, or NULL
 *  @param[out] result  free with driver_result_free, on error too
 *  @return FMO_OK (also when it did not converge: see result->scf_verdict), or the first error */
fmo_status driver_run_scf(const driver_options *options, const char *path,
                          const driver_watch *watch, driver_result *result, fmo_error *err);

/* Steps of driver_run_scf that scf_batch.c uses too. */

/** Sets the SCF options of the command line, without callbacks. */
void driver_scf_settings(const driver_options *options, fmo_scf_options *scf);

/** Makes the data set of a molecule from a file, and the notice about the geometry's comment.
 *  Charge and multiplicity are those of the command line, or else of the comment. FMO_ERR_INPUT
 *  names the file, and the frame if there are several. */
fmo_status driver_scf_dataset(const driver_options *options, const fmo_molecule *molecule,
                              const fmo_basis_set *set, driver_result *result, fmo_error *err);

/** Reads a data set for an SCF, and takes its multiplicity unless the command line has one. */
fmo_status driver_scf_read(const driver_options *options, const char *path, driver_result *result,
                           fmo_error *err);

double driver_nuclear_charge(const fmo_basis *basis); /**< of all nuclei, in e */

/** Sets the input from result->dataset, whose arrays it points to. Also sets the numbers of
 *  electrons and functions, and the notice about the spin, in result. */
fmo_status driver_scf_input(const driver_options *options, driver_result *result,
                            fmo_scf_input *input, fmo_error *err);

/** Sets trace, norm and energies of result from G = F - H of result->scf, its notices, charges and
 *  dipole moment. */
fmo_status driver_scf_evaluate(const driver_options *options, driver_result *result,
                               fmo_error *err);

#endif
