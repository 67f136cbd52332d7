/* Linear algebra of small column-major matrices in plain loops. A threaded BLAS takes an internal
 * lock in every call, which dominates the run time if many threads compute molecules of a few dozen
 * functions (docs/log/scf.md, "Many molecules"). */
#ifndef FMO_SCF_SMALL_H
#define FMO_SCF_SMALL_H

#include "driver/scf/linalg.h"
#include "driver/scf/tuning.h"

/* Largest number of rows and columns, in general and for products: for larger matrices the BLAS is
 * faster, even in one thread. */
enum { FMO_SMALL_MAX = fmo_tuning_scf_small, FMO_SMALL_PRODUCT = fmo_tuning_scf_small_product };

/* C = alpha A B + beta C. */
void fmo_small_multiply(double alpha, fmo_matrix A, fmo_matrix B, double beta, double *C);

/* Computes the eigenvalues, in ascending order, and in A's columns the eigenvectors of a symmetric
 * matrix of finite numbers; reads all of A. Householder tridiagonalisation and QR steps with
 * Wilkinson shifts: Golub and Van Loan, Matrix Computations, 8.3. Returns 0 if it does not
 * converge: A is then destroyed. */
int fmo_small_eigen(int n, double *A, double *values);

/* Overwrites a symmetric matrix, of which the upper triangle is read, by the inverse of its upper
 * Cholesky factor, with zeros below the diagonal. Returns 0 if it is not positive definite. */
int fmo_small_inverse_cholesky(int n, double *A);

#endif
