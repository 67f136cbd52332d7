/* Built without CUDA: the GPU modes say so. */
#include "accumulate/gpu/gpu.h"

fmo_status fmo_gpu_probe(int *device, fmo_error *err)
{
    (void)device;
    return fmo_error_set(err, FMO_ERR_NO_DEVICE, "built without CUDA");
}

int fmo_gpu_count(void)
{
    return 0;
}

const fmo_mode_implementation fmo_mode_fused = {0};
const fmo_mode_implementation fmo_mode_split = {0};
