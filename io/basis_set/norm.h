/* Norms of primitives and contractions, for the readers of basis sets and the writers of orbitals.
 */
#ifndef FMO_IO_BASIS_SET_NORM_H
#define FMO_IO_BASIS_SET_NORM_H

/* 1/sqrt(<g|g>) of x^l exp(-a r^2), l = 0 or 1 */
double fmo_primitive_norm(int ang_mom, double exponent);

/* <c|c> of a contraction of n normalised primitives */
double fmo_contraction_overlap(int ang_mom, int n, const double *exponent,
                               const double *coefficient);

#endif
