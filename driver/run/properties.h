/* What follows from the density of an SCF: charges and spin populations of the atoms, dipole
 * moment. */
#ifndef FMO_RUN_PROPERTIES_H
#define FMO_RUN_PROPERTIES_H

#include "driver/cli/options.h"
#include "driver/run/result.h"

/** Computes result->charges and result->dipole of result->scf if a report or a file will have them.
 *  Loewdin's charges, whose eigenproblem takes longer than a small SCF on a GPU, and the dipole
 * moment are left out in batches, and Loewdin's also of large molecules whose SCF ran on a GPU.
 *  @return FMO_OK, FMO_ERR_MEMORY, FMO_ERR_CHECK */
fmo_status driver_scf_properties(const driver_options *options, driver_result *result,
                                 fmo_error *err);

/** Returns the charges or spin populations of one kind, [charge_num]; NULL: not computed. */
const double *driver_charges_of(const driver_result *result, driver_charges kind);

#endif
