/* Shared by the writers of orbitals and the reader of basis sets: checks and normalisation. */
#ifndef FMO_IO_WAVEFUNCTION_INTERNAL_H
#define FMO_IO_WAVEFUNCTION_INTERNAL_H

#include <fmo/wavefunction.h>

/* FMO_OK, or FMO_ERR_ARGUMENT in the name of `function`. */
fmo_status fmo_wavefunction_check(const char *path, const fmo_dataset *dataset,
                                  const fmo_wavefunction *wavefunction, const char *function,
                                  fmo_error *err);

/* 1/sqrt(<g|g>) of x^l exp(-a r^2), l = 0 or 1 */
double fmo_primitive_norm(int ang_mom, double exponent);

/* <c|c> of a contraction of n normalised primitives */
double fmo_contraction_overlap(int ang_mom, int n, const double *exponent,
                               const double *coefficient);

#endif
