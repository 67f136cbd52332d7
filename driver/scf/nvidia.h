/* cuBLAS and cuSOLVER, loaded at run time when the first GPU backend opens: loading takes a tenth
 * of a second and 250 MB, most of the start-up cost, and machines that run no SCF on a GPU do not
 * need the libraries. C++ only, because NVIDIA's function names are macros. */
#ifndef FMO_SCF_NVIDIA_H
#define FMO_SCF_NVIDIA_H

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>
#include <pthread.h>

#include "base/status.h"

/* All library functions that we call. */
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
/* Batched eigenproblems of one size, since CUDA 12.8. */
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

/* Function pointers with the names of NVIDIA's headers: fmo_nvidia.cublasDgemm(...). */
typedef struct fmo_nvidia_calls {
#define X(function) decltype(&::function) function;
    FMO_CUBLAS_TABLE(X)
    FMO_CUSOLVER_TABLE(X)
#undef X
} fmo_nvidia_calls;

/* Fills in fmo_nvidia in the first successful call; thread-safe. Returns FMO_ERR_DEVICE with the
 * name if a library or one of its functions is missing. */
fmo_status fmo_nvidia_load(fmo_error *err);
extern fmo_nvidia_calls fmo_nvidia;

/* Loads the libraries in a thread of their own, while the caller makes a CUDA context, which takes
 * about as long. Each begin needs an end, which returns what fmo_nvidia_load returns. */
typedef struct fmo_nvidia_loading {
    pthread_t thread;
    int started;
} fmo_nvidia_loading;
void fmo_nvidia_begin(fmo_nvidia_loading *loading);
fmo_status fmo_nvidia_end(fmo_nvidia_loading *loading, fmo_error *err);

#endif
