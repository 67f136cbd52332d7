/* Check of densities in GPU memory, which the host does not see: are their elements larger than the
 * limit for which the shell pairs of the plan were pruned (fmo_fock_plan.density_limit)? The
 * kernels that write J and K then write NaN. */
#ifndef FMO_GPU_DENSITY_LIMIT_CUH
#define FMO_GPU_DENSITY_LIMIT_CUH

#include "accumulate/gpu/plan.h"

typedef struct fmo_gpu_density_limit {
    const float *row_max; /* [rows] largest |D| of each row of blocks */
    int rows;
    float element; /* the limit, with a margin for rounding */
} fmo_gpu_density_limit;

static inline fmo_gpu_density_limit fmo_gpu_limit_of(const fmo_fock_plan *plan,
                                                     const float *row_max, int rows)
{
    const fmo_gpu_density_limit limit = {row_max, rows, (float)(1.00001 * plan->density_limit)};
    return limit;
}

/* True if an element exceeds the limit. All threads of a block must call, as it contains a barrier;
 * `thread` is the number of the thread in the block, from 0. NaN does not count as too large, since
 * it propagates by itself. */
__device__ __forceinline__ bool fmo_gpu_density_too_large(const fmo_gpu_density_limit &limit,
                                                          int thread)
{
    const int threads = (int)(blockDim.x * blockDim.y);
    int larger = 0;
    for (int row = thread; row < limit.rows; row += threads)
        larger |= limit.row_max[row] > limit.element;
    return __syncthreads_or(larger);
}

#endif
