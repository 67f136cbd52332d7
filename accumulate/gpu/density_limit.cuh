/* Densities in GPU memory, which nobody has looked at: whether their elements are larger than those
 * that the shell pairs of the plan were pruned for. */
#ifndef FMO_GPU_DENSITY_LIMIT_CUH
#define FMO_GPU_DENSITY_LIMIT_CUH

#include "accumulate/gpu/plan.h"

typedef struct fmo_gpu_density_limit {
    const float *row_max; /* [rows] the largest |D| of each row of blocks */
    int rows;
    float most; /* with a margin for rounding */
} fmo_gpu_density_limit;

static inline fmo_gpu_density_limit fmo_gpu_limit_of(const fmo_fock_plan *plan,
                                                     const float *row_max, int rows)
{
    const fmo_gpu_density_limit limit = {row_max, rows, (float)(1.00001 * plan->density_limit)};
    return limit;
}

/* For all threads of a block at once, which wait for each other here; threads are numbered from 0.
 * A NaN is not too large: it goes its own way. */
__device__ __forceinline__ bool fmo_gpu_density_too_large(const fmo_gpu_density_limit &limit,
                                                          int thread)
{
    const int threads = (int)(blockDim.x * blockDim.y);
    int larger = 0;
    for (int row = thread; row < limit.rows; row += threads)
        larger |= limit.row_max[row] > limit.most;
    return __syncthreads_or(larger);
}

#endif
