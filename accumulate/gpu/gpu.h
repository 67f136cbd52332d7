/* The GPU modes as plan.c sees them. A build without CUDA has gpu/none.c instead. */
#ifndef FMO_GPU_H
#define FMO_GPU_H

#include "accumulate/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Is there a GPU this build can use? FMO_OK; FMO_ERR_NO_DEVICE with the reason (no driver, no
 * device, built without CUDA, too old); FMO_ERR_DEVICE for a fault. */
fmo_status fmo_gpu_probe(fmo_error *err);

/* The GPU that this thread uses, or -1; makes another thread use it, where that is not -1. */
int fmo_gpu_current_device(void);
void fmo_gpu_use_device(int device);

extern const fmo_mode_implementation fmo_mode_fused;
extern const fmo_mode_implementation fmo_mode_split;

#ifdef __cplusplus
}
#endif
#endif
