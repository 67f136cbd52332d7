/* What follows from the density of an SCF: charges and spin populations of the atoms, dipole
 * moment. */
#ifndef FMO_RUN_PROPERTIES_H
#define FMO_RUN_PROPERTIES_H

#include "driver/cli/options.h"
#include "driver/run/result.h"

/** Computes result->charges_of_atoms and result->dipole of result->scf if a report or a file will
 * have them. Batches have neither the dipole moment nor Loewdin's charges, for which their threads
 * would wait here one for another; Loewdin's are left out after large SCFs on a GPU, too.
 *  @return FMO_OK, FMO_ERR_MEMORY, FMO_ERR_CHECK */
fmo_status driver_scf_properties(const driver_options *options, driver_result *result,
                                 fmo_error *err);

/** Returns the charges or spin populations of one kind, [charge_num]; NULL: not computed. */
const double *driver_charges_of(const driver_result *result, driver_charges kind);

#endif
