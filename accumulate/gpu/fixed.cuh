/* The scale of fixed-point sums. */
#ifndef FMO_GPU_FIXED_CUH
#define FMO_GPU_FIXED_CUH

#include <math.h>
#include <math_constants.h>

/* Space for sums in between, and for the sign. */
#define FMO_FIXED_MARGIN 4.0

/* For sums up to a bound: a power of two with FMO_FIXED_MARGIN bound scale < 2^63, finite as its
 * inverse is; NaN without a bound. */
static __device__ __forceinline__ double fmo_gpu_fixed_scale_for(double bound)
{
    return !isfinite(bound) ? CUDART_NAN
           : bound > 0.0    ? exp2(fmin(62.0 - ilogb(FMO_FIXED_MARGIN * bound), 1022.0))
                            : 0x1p60;
}

#endif
