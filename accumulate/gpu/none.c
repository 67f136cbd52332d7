/* Built without CUDA: the GPU modes say so. */
#include "accumulate/gpu/gpu.h"

fmo_status fmo_gpu_probe(fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_NO_DEVICE, "built without CUDA");
}

int fmo_gpu_current_device(void)
{
    return -1;
}

void fmo_gpu_use_device(int device)
{
    (void)device;
}

const fmo_mode_implementation fmo_mode_fused = {0};
const fmo_mode_implementation fmo_mode_split = {0};
