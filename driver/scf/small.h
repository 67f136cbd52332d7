/* Linear algebra of small matrices, column-major, in plain loops. A BLAS library with threads locks
 * something of its own in every call: of thousands of molecules of a few dozen functions, side by
 * side on many cores, most of the time went there (docs/log/scf.md, "Many molecules"). */
#ifndef FMO_SCF_SMALL_H
#define FMO_SCF_SMALL_H

/* Up to so many rows and columns, and of products: larger ones take longer than the library's even
 * where nobody waits for it. */
enum { FMO_SMALL_MOST = 48, FMO_SMALL_PRODUCT = 32 };

/* C = alpha op(A) op(B) + beta C; op is 'N' or 'T', as cblas_dgemm has it; C is m x n. */
void fmo_small_multiply(char op_a, char op_b, int m, int n, int k, double alpha, const double *A,
                        const double *B, double beta, double *C);

/* Eigenvalues, ascending, and in A's columns eigenvectors of a symmetric matrix of finite numbers;
 * all of A is read. Householder's tridiagonal form and QR steps with Wilkinson's shifts: Golub and
 * Van Loan, Matrix Computations, 8.3. Returns 0 where that does not come to an end: A is then lost.
 */
int fmo_small_eigen(int n, double *A, double *values);

/* The inverse of the upper Cholesky factor, zeros below it, in place of a symmetric matrix, of
 * which the upper triangle is read. Returns 0 if it is not positive definite. */
int fmo_small_inverse_cholesky(int n, double *A);

#endif
