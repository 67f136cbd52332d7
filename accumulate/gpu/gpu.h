/* Interface of the GPU modes to plan/plan.c: probing for a GPU, and the tables of functions of
 * modes fused and split. gpu/none.c replaces them in builds without CUDA. How a build works on the
 * GPU is described in docs/explanation/gpu.md; read plan.h next. */
#ifndef FMO_GPU_H
#define FMO_GPU_H

#include "accumulate/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks whether this build can use GPU *device (numbered as by CUDA). If *device is -1, takes the
 * current GPU of the calling thread and writes its number there. Returns FMO_OK; FMO_ERR_NO_DEVICE
 * with the reason (no driver, no such device, built without CUDA, compute capability too low);
 * FMO_ERR_DEVICE if a CUDA call failed. */
fmo_status fmo_gpu_probe(int *device, fmo_error *err);

/* Number of GPUs that CUDA reports; 0 if it cannot be queried. */
int fmo_gpu_count(void);

/* Identifier of GPU 0 that is unique among the GPUs of all hosts (from its UUID); 0 if there is
 * none. */
int64_t fmo_gpu_identity(void);

extern const fmo_mode_implementation fmo_mode_fused;
extern const fmo_mode_implementation fmo_mode_split;

#ifdef __cplusplus
}
#endif
#endif
