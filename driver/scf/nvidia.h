/* cuBLAS and cuSOLVER, which are loaded when the first GPU backend opens, not with the program:
 * they take a tenth of a second and 250 MB, most of what a start costs, and a machine that runs
 * no SCF on a GPU need not have them. C++ only, as NVIDIA's names are macros. */
#ifndef FMO_SCF_NVIDIA_H
#define FMO_SCF_NVIDIA_H

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>
#include <pthread.h>

#include "base/status.h"

/* All functions of theirs that we call. */
#define FMO_CUBLAS_TABLE(X)      \
    X(cublasCreate)              \
    X(cublasDestroy)             \
    X(cublasSetStream)           \
    X(cublasSetAtomicsMode)      \
    X(cublasSetPointerMode)      \
    X(cublasGetStatusString)     \
    X(cublasDgemm)               \
    X(cublasDgemmBatched)        \
    X(cublasDgemmGroupedBatched) \
    X(cublasDdot)                \
    X(cublasDtrsm)
/* Eigenproblems of one size at once, from CUDA 12.8 on. */
#if CUDART_VERSION >= 12080
#define FMO_CUSOLVER_BATCHED_TABLE(X)    \
    X(cusolverDnCreateParams)            \
    X(cusolverDnDestroyParams)           \
    X(cusolverDnXsyevBatched_bufferSize) \
    X(cusolverDnXsyevBatched)
#else
#define FMO_CUSOLVER_BATCHED_TABLE(X)
#endif
#define FMO_CUSOLVER_TABLE(X)         \
    FMO_CUSOLVER_BATCHED_TABLE(X)     \
    X(cusolverDnCreate)               \
    X(cusolverDnDestroy)              \
    X(cusolverDnSetStream)            \
    X(cusolverDnSetDeterministicMode) \
    X(cusolverDnDsyevd_bufferSize)    \
    X(cusolverDnDsyevd)               \
    X(cusolverDnDpotrf_bufferSize)    \
    X(cusolverDnDpotrf)

/* By the names that they have in NVIDIA's headers: fmo_nvidia.cublasDgemm(...). */
typedef struct fmo_nvidia_calls {
#define X(function) decltype(&::function) function;
    FMO_CUBLAS_TABLE(X)
    FMO_CUSOLVER_TABLE(X)
#undef X
} fmo_nvidia_calls;

/* Filled in by the first call that succeeds; any number of threads may call. FMO_ERR_DEVICE: a
 * library, or a function of it, that is not there, with its name. */
fmo_status fmo_nvidia_load(fmo_error *err);
extern fmo_nvidia_calls fmo_nvidia;

/* The same beside what the caller does meanwhile, which is to make a context on a GPU: that takes
 * as long. Whoever has begun ends it, too; the end says what fmo_nvidia_load says. */
typedef struct fmo_nvidia_loading {
    pthread_t thread;
    int started;
} fmo_nvidia_loading;
void fmo_nvidia_begin(fmo_nvidia_loading *loading);
fmo_status fmo_nvidia_end(fmo_nvidia_loading *loading, fmo_error *err);

#endif
