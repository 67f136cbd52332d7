/* The GPU modes as plan.c sees them. A build without CUDA has gpu/none.c instead. */
#ifndef FMO_GPU_H
#define FMO_GPU_H

#include "accumulate/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Is there a GPU this build can use? With *device -1 the one that this thread has chosen, whose
 * number is put there. FMO_OK; FMO_ERR_NO_DEVICE with the reason (no driver, no such device, built
 * without CUDA, too old); FMO_ERR_DEVICE for a fault. */
fmo_status fmo_gpu_probe(int *device, fmo_error *err);

/* How many CUDA sees; 0 where it cannot be asked. */
int fmo_gpu_count(void);

/* What tells the first of these from all other GPUs, of other hosts too; 0 without one. */
int64_t fmo_gpu_identity(void);

extern const fmo_mode_implementation fmo_mode_fused;
extern const fmo_mode_implementation fmo_mode_split;

#ifdef __cplusplus
}
#endif
#endif
