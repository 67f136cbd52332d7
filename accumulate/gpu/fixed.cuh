/* The scale that converts sums in hartree to fixed-point integers of 64 bits. */
#ifndef FMO_GPU_FIXED_CUH
#define FMO_GPU_FIXED_CUH

#include <math.h>
#include <math_constants.h>

/* Factor of headroom for intermediate sums and for the sign. */
#define FMO_FIXED_MARGIN 4.0

/* The scale for sums up to `bound`: the largest power of two with FMO_FIXED_MARGIN * bound * scale
 * < 2^63, limited so that its inverse is finite; 2^60 for bound 0, NaN if the bound is not finite.
 */
static __device__ __forceinline__ double fmo_gpu_fixed_scale_for(double bound)
{
    return !isfinite(bound) ? CUDART_NAN
           : bound > 0.0    ? exp2(fmin(62.0 - ilogb(FMO_FIXED_MARGIN * bound), 1022.0))
                            : 0x1p60;
}

#endif
