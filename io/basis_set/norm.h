/* Norms of primitives and contractions, for the readers of basis sets and the writers of orbitals.
 */
#ifndef FMO_IO_BASIS_SET_NORM_H
#define FMO_IO_BASIS_SET_NORM_H

#include <stdbool.h>

/* 1/sqrt(<g|g>) of x^l exp(-a r^2), and of the spherical functions of l as fmo_basis_input has them
 */
double fmo_primitive_norm(int ang_mom, double exponent);

/* <c|c> of a contraction of n normalised primitives, all of x^l or of one spherical function */
double fmo_contraction_overlap(int ang_mom, int n, const double *exponent,
                               const double *coefficient);

/* The factor that normalises function c (fmo_basis_input.ao_component) of a shell whose x^l is
 * normalised: sqrt(3) for xy, 1 for yy and for all spherical ones. */
double fmo_function_norm(int ang_mom, int c, bool cartesian);

#endif
