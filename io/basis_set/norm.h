/* Norms of Gaussian primitives and contractions, for the readers of basis sets and the writers of
 * orbitals. Next: norm.c. */
#ifndef FMO_IO_BASIS_SET_NORM_H
#define FMO_IO_BASIS_SET_NORM_H

/* Returns 1/sqrt(<g|g>) of g = x^l exp(-a r^2); the same factor normalises the spherical functions
 * of l in the convention of fmo_basis_input. */
double fmo_primitive_norm(int ang_mom, double exponent);

/* Returns <c|c> of a contraction of n normalised primitives with the same angular part, x^l or a
 * spherical function. */
double fmo_contraction_overlap(int ang_mom, int n, const double *exponent,
                               const double *coefficient);

#endif
