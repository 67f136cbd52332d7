/* The operations an SCF needs, on matrices in the memory of a backend: LAPACK and OpenBLAS on the
 * host (linalg_cpu.c), cuSOLVER and cuBLAS on the GPU (linalg_gpu.cu). The algorithm is written
 * once over them.
 *
 * Matrices are column-major and tight: A of r rows and c columns has element (i, j) at i + j r.
 * Errors stick: after the first one, kept in `error`, every operation does nothing and numbers
 * handed back are NaN. So a caller checks once in a cycle instead of after every line. */
#ifndef FMO_SCF_LINALG_H
#define FMO_SCF_LINALG_H

#include <fmo/fock.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fmo_linalg fmo_linalg;

typedef struct fmo_linalg_ops {
    const char *name;
    int on_device;
    void (*close)(fmo_linalg *la);
    /* Zero-filled; NULL after an error. */
    double *(*allocate)(fmo_linalg *la, size_t count);
    void (*release)(fmo_linalg *la, double *array);
    void (*upload)(fmo_linalg *la, size_t count, const double *host, double *array);
    void (*download)(fmo_linalg *la, size_t count, const double *array, double *host);
    /* y = a x + b y; with b = 0 y need not hold numbers. x may be y. */
    void (*add)(fmo_linalg *la, size_t count, double a, const double *x, double b, double *y);
    /* C = alpha op(A) op(B) + beta C; op is 'N' or 'T'; C is m x n, the inner dimension k. */
    void (*multiply)(fmo_linalg *la, char op_a, char op_b, int m, int n, int k, double alpha,
                     const double *A, const double *B, double beta, double *C);
    /* A = scale (A + sign A^T), n x n: exactly (anti)symmetric afterwards. */
    void (*fold)(fmo_linalg *la, int n, double scale, double sign, double *A);
    void (*add_to_diagonal)(fmo_linalg *la, int n, double x, double *A);
    /* Element (i, j) of A times row[i] column[j]; the factors are on the host, NULL means 1. */
    void (*scale)(fmo_linalg *la, int rows, int columns, const double *row, const double *column,
                  double *A);
    /* dot[v] = sum of V[v count + i] x[i] over i, v < m <= FMO_LINALG_VECTORS; sums in one order,
     * whatever the threads. dot is on the host. */
    void (*dots)(fmo_linalg *la, size_t count, int m, const double *V, const double *x,
                 double *dot);
    /* out = sum over v < m of c[v] V[v count ...], c on the host. */
    void (*combine)(fmo_linalg *la, size_t count, int m, const double *V, const double *c,
                    double *out);
    /* Eigenvalues, ascending, to the host; A, symmetric, becomes the eigenvectors, by columns. */
    void (*eigen)(fmo_linalg *la, int n, double *A, double *values);
    /* A, symmetric, becomes U^-1 for A = U^T U. @return 0 if A is not positive definite. */
    int (*inverse_cholesky)(fmo_linalg *la, int n, double *A);
    /* Gershgorin's bounds of the eigenvalues of a symmetric A, and its trace, to the host. */
    void (*bounds)(fmo_linalg *la, int n, const double *A, double *low, double *high,
                   double *trace);
    /* P, n x n with eigenvalues from 0 to 1 and this trace, becomes the projector onto those of its
     * `occupied` largest, nearly (purify.h); overwrites work. @return 0 if it does not converge */
    int (*purify)(fmo_linalg *la, int n, int occupied, double trace, double *P, double *work);
    /* y_ai = x_ai d_ai, or x_ai / d_ai if divide, with d_ai = e_a - e_i - shift kept at least 1e-2
     * away from 0 when divided by. x, y: rows x columns; e_a of a row, e_i of a column, on the
     * host. */
    void (*gaps)(fmo_linalg *la, int rows, int columns, const double *e_a, const double *e_i,
                 double shift, int divide, const double *x, double *y);
    void (*fock)(fmo_linalg *la, fmo_fock_plan *plan, const double *density, double *coulomb,
                 double *exchange);
    /* Work of the host alone, which does not use the backend: done when the call returns. */
    void (*on_host)(fmo_linalg *la, void (*work)(void *user), void *user);
    /* All queued work is done; what went wrong in it is known. */
    void (*finish)(fmo_linalg *la);
} fmo_linalg_ops;

enum { FMO_LINALG_VECTORS = 64 };

struct fmo_linalg {
    const fmo_linalg_ops *ops;
    fmo_error error;
    char device[96]; /* model of the GPU, or "" */
    /* Functions of plans whose builds want matrices in host memory, as those that ranks share do;
     * 0: they want them where they are. Set after opening. */
    int host_functions;
};

/* threads: of OpenBLAS, >= 1. */
fmo_status fmo_linalg_open_cpu(int threads, fmo_linalg **la, fmo_error *err);

/* While it is held OpenBLAS has one thread a call, for callers in many threads. @return what to
 * hand to fmo_linalg_release_threads */
int fmo_linalg_one_thread(void);
void fmo_linalg_release_threads(int hold);

/* On GPU number `device`, or -1, the one that the thread has chosen; the thread uses it until the
 * backend is closed. *stream: a cudaStream_t of it that all work is to go to; if NULL, one is made
 * and handed back. Without CUDA: FMO_ERR_UNSUPPORTED. */
fmo_status fmo_linalg_open_gpu(int device, void **stream, fmo_linalg **la, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
