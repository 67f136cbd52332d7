/* CUDA's error codes: out of a function at the first one, and as a status with a message. C++ only.
 */
#ifndef FMO_GPU_CHECK_H
#define FMO_GPU_CHECK_H

#include <cuda_runtime.h>

#include <fmo/status.h>

/* In a function that returns a cudaError_t: returns what a call returns unless it is a success. */
#define FMO_GPU_TRY(call)                                     \
    do {                                                      \
        const cudaError_t fmo_gpu_code = (call);              \
        if (fmo_gpu_code != cudaSuccess) return fmo_gpu_code; \
    } while (0)

/* A CUDA error as a status and a message. */
fmo_status fmo_gpu_error(cudaError_t code, const char *what, fmo_error *err);

/* In a function that returns a status: the same, `what` says what failed. */
#define FMO_GPU_CHECK(call, what, err)                                                      \
    do {                                                                                    \
        const cudaError_t fmo_gpu_code = (call);                                            \
        if (fmo_gpu_code != cudaSuccess) return fmo_gpu_error(fmo_gpu_code, (what), (err)); \
    } while (0)

#endif
