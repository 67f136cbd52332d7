/* The the executor of lockstep.h on a GPU: what its queue (lockstep_gpu.cu), its products
 * (lockstep_products.cu), its eigenproblems (lockstep_eigen.cu) and its kernels
 * (lockstep_kernels.cu) share. C++ only. */
#ifndef FMO_SCF_LOCKSTEP_GPU_H
#define FMO_SCF_LOCKSTEP_GPU_H

#include "driver/scf/lockstep.h"
#include "driver/scf/nvidia.h"
#include "driver/scf/purify.h"

#include <cuda_runtime.h>
#include <pthread.h>

typedef struct fmo_gpu_batch_linalg {
    fmo_batch_linalg base;
    int device, before; /* the GPU; the one that the thread used */
    pthread_t opener;
    cudaStream_t stream;
    cublasHandle_t blas;
    cusolverDnHandle_t solver; /* made when it is first wanted */
    cudaMemPool_t pool;        /* of the GPU; the memory of arrays and of plans */
    fmo_linalg **la;           /* [threads] backends of the host */
    char *args;                /* arguments of a launch, on the GPU, grown as needed */
    size_t args_bytes;
    double *results; /* numbers on their way to the host, on the GPU, grown as needed */
    size_t results_num;
    double *pinned; /* of the host, grown as needed */
    size_t pinned_num;
} fmo_gpu_batch_linalg;

/* ---- lockstep_gpu.cu ---- */

/* A fault of a launch is that of all whose work it was. */
void fmo_gpu_batch_linalg_fail(const fmo_request *const *request, size_t num, fmo_status status,
                               const char *what, const char *why);
bool fmo_gpu_batch_linalg_ok(const fmo_request *const *request, size_t num, cudaError_t code,
                             const char *what);

cudaError_t fmo_gpu_batch_linalg_grow_results(fmo_gpu_batch_linalg *g, size_t num);
cudaError_t fmo_gpu_batch_linalg_grow_pinned(fmo_gpu_batch_linalg *g, size_t num);
/* The arguments of all into device memory, which is used again in the order of the stream. They are
 * pageable, so the call has read them when it returns. */
cudaError_t fmo_gpu_batch_linalg_send(fmo_gpu_batch_linalg *g, const void *args, size_t bytes,
                                      const void **at);

/* By functions, n, ascending. */
void fmo_gpu_batch_linalg_sort(const fmo_request **request, size_t num);
/* Matrices of requests of one kind to the host, to its threads, and back. */
void fmo_gpu_batch_linalg_on_host(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                  size_t num);

/* ---- lockstep_eigen.cu: requests of one kind ---- */

void fmo_gpu_batch_linalg_eigen(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                size_t num);

/* ---- lockstep_products.cu: likewise ---- */

void fmo_gpu_batch_linalg_multiply(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                   size_t num);
void fmo_gpu_batch_linalg_purify(fmo_gpu_batch_linalg *g, const fmo_request *const *request,
                                 size_t num);

/* ---- lockstep_kernels.cu: likewise ---- */

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

/* A purification whose steps the GPU decides: where it is, and what the last step was. */
typedef struct fmo_gpu_sp2 {
    fmo_sp2 sp2;
    fmo_sp2_next next;
} fmo_gpu_sp2;
typedef struct fmo_gpu_sp2_args {
    double *P;            /* [n][n] */
    const double *square; /* [n][n] P^2 */
    int n, at;            /* its place in `before` and `after` */
} fmo_gpu_sp2_args;
/* A step of `num` of them, which have at most n functions; one that has ended stays as it is. All
 * in GPU memory. */
cudaError_t fmo_gpu_batch_linalg_sp2(const fmo_gpu_batch_linalg *g, const fmo_gpu_sp2_args *args,
                                     size_t num, int n, const fmo_gpu_sp2 *before,
                                     fmo_gpu_sp2 *after);

#endif
