/* The executor of lockstep.h on a GPU: declarations shared by its dispatch (lockstep_gpu.cu),
 * memory (lockstep_memory.cu), products and eigenproblems (lockstep_blas.cu) and kernels
 * (lockstep_kernels.cu). C++ only. */
#ifndef FMO_SCF_LOCKSTEP_GPU_H
#define FMO_SCF_LOCKSTEP_GPU_H

#include "driver/scf/lockstep.h"
#include "driver/scf/nvidia.h"
#include "driver/scf/purify.h"

#include <cuda_runtime.h>
#include <pthread.h>

typedef struct fmo_gpu_batch_linalg {
    fmo_batch_linalg base;
    int device, before; /* its GPU; the GPU that was current in the thread before */
    pthread_t opener;
    cudaStream_t stream;
    cublasHandle_t blas;
    cusolverDnHandle_t solver; /* created at first use */
    cudaMemPool_t pool;        /* memory pool of the GPU, for arrays and plans */
    fmo_linalg **la;           /* [threads] host backends */
    char *args;                /* arguments of a launch, in GPU memory, grown as needed */
    size_t args_bytes;
    double *results; /* numbers to be returned to the host, in GPU memory, grown as needed */
    size_t results_num;
    double *pinned; /* pinned host memory, grown as needed */
    size_t pinned_num;
} fmo_gpu_batch_linalg;

/* ---- lockstep_memory.cu ---- */

/* Records an error of a launch in all SCFs whose requests it ran. */
void fmo_gpu_batch_linalg_fail(const fmo_request *const *request, size_t num, fmo_status status,
                               const char *what, const char *why);
bool fmo_gpu_batch_linalg_ok(const fmo_request *const *request, size_t num, cudaError_t code,
                             const char *what);

cudaError_t fmo_gpu_batch_linalg_grow_results(fmo_gpu_batch_linalg *g, size_t num);
cudaError_t fmo_gpu_batch_linalg_grow_pinned(fmo_gpu_batch_linalg *g, size_t num);
void fmo_gpu_batch_linalg_leave_pinned(fmo_gpu_batch_linalg *g);
/* Copies arguments to GPU memory, which is reused in stream order; *at: their address. They are
 * pageable, so the call has read them when it returns. */
cudaError_t fmo_gpu_batch_linalg_send(fmo_gpu_batch_linalg *g, const void *args, size_t bytes,
                                      const void **at);

/* Runs requests of one kind whose numbers pass through pinned memory, request k in [begin[k],
 * begin[k + 1]), begin[0] = 0. @return true if all succeeded; otherwise the failed ones have an
 * error */
typedef bool fmo_portion_work(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                              size_t num, const size_t *begin);
void fmo_gpu_batch_linalg_in_portions(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                      size_t num, const char *what, fmo_portion_work *work);

/* Sorts requests by n, ascending. */
void fmo_gpu_batch_linalg_sort(const fmo_request **request, size_t num);
/* Copies the matrices of requests of one kind to the host, runs them in its threads, and copies the
 * results back. */
void fmo_gpu_batch_linalg_on_host(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                  size_t num);

/* ---- lockstep_blas.cu: requests of one kind ---- */

void fmo_gpu_batch_linalg_eigen(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                size_t num);

void fmo_gpu_batch_linalg_multiply(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                   size_t num);
void fmo_gpu_batch_linalg_purify(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                 size_t num);

/* ---- lockstep_kernels.cu: requests of one kind ---- */

void fmo_gpu_batch_linalg_add(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                              size_t num);
void fmo_gpu_batch_linalg_fold(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                               size_t num);
void fmo_gpu_batch_linalg_diagonal(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                   size_t num);
void fmo_gpu_batch_linalg_scale(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                size_t num);
void fmo_gpu_batch_linalg_dots(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                               size_t num);
void fmo_gpu_batch_linalg_combine(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                  size_t num);
void fmo_gpu_batch_linalg_bounds(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                 size_t num);

/* A purification whose steps are chosen on the GPU: its state and the last step. */
typedef struct fmo_gpu_sp2 {
    fmo_sp2 sp2;
    fmo_sp2_next next;
} fmo_gpu_sp2;
typedef struct fmo_gpu_sp2_args {
    double *P;            /* [n][n] */
    const double *square; /* [n][n], P^2 */
    int n, at;            /* at: index in `before` and `after` */
} fmo_gpu_sp2_args;
/* Runs one step of `num` purifications of at most n functions; finished ones do not change. All
 * arrays are in GPU memory. */
cudaError_t fmo_gpu_batch_linalg_sp2(const fmo_gpu_batch_linalg *g, const fmo_gpu_sp2_args *args,
                                     size_t num, int n, const fmo_gpu_sp2 *before,
                                     fmo_gpu_sp2 *after);

#endif
