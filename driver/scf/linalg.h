/* Linear algebra operations of an SCF, on matrices in the memory of a backend: LAPACK and OpenBLAS
 * on the host (linalg_cpu.c), cuSOLVER and cuBLAS on the GPU (linalg_gpu.cu). The SCF algorithm is
 * written once on top of them.
 *
 * Matrices are column-major and contiguous: A of r rows and c columns has element (i, j) at i + j
 * r. Errors are sticky: after the first one, recorded in `error`, every operation does nothing and
 * returned numbers are NaN, so a caller needs to check only once per cycle. */
#ifndef FMO_SCF_LINALG_H
#define FMO_SCF_LINALG_H

#include <fmo/gradient.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fmo_linalg fmo_linalg;

/* A factor of a matrix product: a stored matrix, or the transpose of one. */
typedef struct fmo_matrix {
    const double *at;
    int rows, columns; /* of the factor */
    int transposed;    /* 1: stored is its transpose, a matrix of `columns` rows */
} fmo_matrix;

/* Returns the stored matrix of so many rows and columns as a factor. */
static inline fmo_matrix fmo_matrix_of(const double *at, int rows, int columns)
{
    const fmo_matrix factor = {at, rows, columns, 0};
    return factor;
}

/* Returns the transpose of the stored matrix of so many rows and columns as a factor. */
static inline fmo_matrix fmo_transpose_of(const double *at, int rows, int columns)
{
    const fmo_matrix factor = {at, columns, rows, 1};
    return factor;
}

/* Energies of virtual orbitals a and occupied orbitals i, in host memory; with them a difference is
 * d_ai = e_a - e_i - shift. */
typedef struct fmo_orbital_gaps {
    const double *e_a, *e_i;
    int virtual_num, occupied_num;
    double shift;
} fmo_orbital_gaps;

typedef struct fmo_linalg_ops {
    const char *name;
    int on_device;
    void (*close)(fmo_linalg *la);
    /* Returns a zero-filled array; NULL after an error. */
    double *(*allocate)(fmo_linalg *la, size_t count);
    void (*release)(fmo_linalg *la, double *array);
    void (*upload)(fmo_linalg *la, size_t count, const double *host, double *array);
    void (*download)(fmo_linalg *la, size_t count, const double *array, double *host);
    /* y = a x + b y; with b = 0, y may be uninitialised. x may be y. */
    void (*add)(fmo_linalg *la, size_t count, double a, const double *x, double b, double *y);
    /* C = alpha A B + beta C. */
    void (*multiply)(fmo_linalg *la, double alpha, fmo_matrix A, fmo_matrix B, double beta,
                     double *C);
    /* A = scale (A + sign A^T), n x n: exactly symmetric or antisymmetric afterwards. */
    void (*fold)(fmo_linalg *la, int n, double scale, double sign, double *A);
    void (*add_to_diagonal)(fmo_linalg *la, int n, double x, double *A);
    /* Multiplies column j of A by factor[j], in host memory. */
    void (*scale_columns)(fmo_linalg *la, int rows, int columns, const double *factor, double *A);
    /* dot[v] = sum of V[v count + i] x[i] over i, for v < m <= FMO_LINALG_VECTORS. The order of
     * summation does not depend on the number of threads. dot is in host memory. */
    void (*dots)(fmo_linalg *la, size_t count, int m, const double *V, const double *x,
                 double *dot);
    /* out = sum over v < m of c[v] V[v count ...]; c is in host memory. */
    void (*combine)(fmo_linalg *la, size_t count, int m, const double *V, const double *c,
                    double *out);
    /* Eigenvalues in ascending order go to host memory; the symmetric A is overwritten by the
     * eigenvectors, as columns. */
    void (*eigen)(fmo_linalg *la, int n, double *A, double *values);
    /* The symmetric A is overwritten by U^-1, where A = U^T U. @return 0 if A is not positive
     * definite */
    int (*inverse_cholesky)(fmo_linalg *la, int n, double *A);
    /* Gershgorin bounds of the eigenvalues of a symmetric A, and its trace, in host memory. */
    void (*bounds)(fmo_linalg *la, int n, const double *A, double *low, double *high,
                   double *trace);
    /* P, n x n with eigenvalues between 0 and 1 and this trace, is overwritten by an approximate
     * projector onto the eigenvectors of its `occupied` largest eigenvalues (purify.h); overwrites
     * work. @return 0 if it does not converge */
    int (*purify)(fmo_linalg *la, int n, int occupied, double trace, double *P, double *work);
    /* y_ai = x_ai d_ai, or x_ai / d_ai if divide; a divisor is kept at least 1e-2 away from 0. x
     * and y have a row for each virtual and a column for each occupied orbital. */
    void (*gaps)(fmo_linalg *la, const fmo_orbital_gaps *gaps, int divide, const double *x,
                 double *y);
    /* Builds J and K of a density; all matrices are in the memory of the backend. */
    void (*fock)(fmo_linalg *la, fmo_fock_plan *plan, const double *density, double *coulomb,
                 double *exchange);
    /* Builds J of one density and K of two, which stand one after the other and so do their K. */
    void (*fock_of_spins)(fmo_linalg *la, fmo_fock_plan *plan, int n, const double *total,
                          const double *spins, double *coulomb, double *exchange);
    /* Runs a function that works on host memory only and does not use the backend; returns when it
     * is done. */
    void (*on_host)(fmo_linalg *la, void (*work)(void *user), void *user);
    /* Waits until all queued work is done and its errors are known. */
    void (*finish)(fmo_linalg *la);
    /* Computes the derivative of the plan's two-electron energy (fmo/gradient.h) together with
     * those of other SCFs, from and to host memory. NULL: the backend belongs to one SCF. */
    void (*gradient)(fmo_linalg *la, fmo_fock_plan *plan, const fmo_gradient_term *terms,
                     int term_num, double *gradient);
} fmo_linalg_ops;

enum { FMO_LINALG_VECTORS = 64 };
/* Largest number of vectors in dots and combine. */

struct fmo_linalg {
    const fmo_linalg_ops *ops;
    fmo_error error;
    char device[96]; /* model of the GPU, or "" */
    /* Number of functions of plans that are built on matrices in host memory, as those shared by
     * ranks; 0: builds use matrices in the memory of the backend. Set it after opening. */
    int host_functions;
};

/* Opens the host backend. threads: of OpenBLAS, >= 1. */
fmo_status fmo_linalg_open_cpu(int threads, fmo_linalg **la, fmo_error *err);

/* Limits OpenBLAS to one thread per call until fmo_linalg_release_threads, for callers that run
 * many threads. @return the argument of fmo_linalg_release_threads */
int fmo_linalg_one_thread(void);
void fmo_linalg_release_threads(int hold);

/* Opens the backend of GPU number `device`; -1: the current GPU of the thread. The thread uses that
 * GPU until the backend is closed. *stream: a cudaStream_t for all work; if NULL, a stream is made
 * and returned there. Without CUDA: FMO_ERR_UNSUPPORTED. */
fmo_status fmo_linalg_open_gpu(int device, void **stream, fmo_linalg **la, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
