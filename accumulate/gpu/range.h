/* Phases of a build as NVTX ranges, for Nsight Systems and Nsight Compute. C++ only. */
#ifndef FMO_GPU_RANGE_H
#define FMO_GPU_RANGE_H

#include <nvtx3/nvToolsExt.h>

/* A range that is open while the object is in scope. */
struct fmo_gpu_range {
    explicit fmo_gpu_range(const char *name) { (void)nvtxRangePushA(name); }
    ~fmo_gpu_range() { (void)nvtxRangePop(); }
    fmo_gpu_range(const fmo_gpu_range &) = delete;
    fmo_gpu_range &operator=(const fmo_gpu_range &) = delete;
};

#endif
