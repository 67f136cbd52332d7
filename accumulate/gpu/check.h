/* Macros and a function that handle CUDA's error codes: return on the first error, as a code or as
 * a status with a message. C++ only. */
#ifndef FMO_GPU_CHECK_H
#define FMO_GPU_CHECK_H

#include <cuda_runtime.h>

#include <fmo/status.h>

/* For functions that return a cudaError_t: returns the code of a failed call. */
#define FMO_GPU_TRY(call)                                     \
    do {                                                      \
        const cudaError_t fmo_gpu_code = (call);              \
        if (fmo_gpu_code != cudaSuccess) return fmo_gpu_code; \
    } while (0)

/* Converts a CUDA error to a status and a message; `what` says what failed. */
fmo_status fmo_gpu_error(cudaError_t code, const char *what, fmo_error *err);

/* For functions that return a status: returns the status of a failed call; `what` says what failed.
 */
#define FMO_GPU_CHECK(call, what, err)                                                      \
    do {                                                                                    \
        const cudaError_t fmo_gpu_code = (call);                                            \
        if (fmo_gpu_code != cudaSuccess) return fmo_gpu_error(fmo_gpu_code, (what), (err)); \
    } while (0)

#endif
