/* Argument checks shared by the two writers of orbitals, trexio.c and molden.c. */
#ifndef FMO_IO_WAVEFUNCTION_INTERNAL_H
#define FMO_IO_WAVEFUNCTION_INTERNAL_H

#include <fmo/wavefunction.h>

/* Checks the arguments of a writer. Returns FMO_OK, or FMO_ERR_ARGUMENT with a message that names
 * `function`. */
fmo_status fmo_wavefunction_check(const char *path, const fmo_dataset *dataset,
                                  const fmo_wavefunction *wavefunction, const char *function,
                                  fmo_error *err);

#endif
