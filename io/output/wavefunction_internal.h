/* Shared by the writers of orbitals: checks. */
#ifndef FMO_IO_WAVEFUNCTION_INTERNAL_H
#define FMO_IO_WAVEFUNCTION_INTERNAL_H

#include <fmo/wavefunction.h>

/* FMO_OK, or FMO_ERR_ARGUMENT in the name of `function`. */
fmo_status fmo_wavefunction_check(const char *path, const fmo_dataset *dataset,
                                  const fmo_wavefunction *wavefunction, const char *function,
                                  fmo_error *err);

#endif
