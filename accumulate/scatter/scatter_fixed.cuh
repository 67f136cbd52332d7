/* fixed: each value is rounded to a multiple of 1/scale and added as a 64-bit integer, stored in
 * place of the double. Integer sums do not depend on their order, so results are bitwise the same
 * for any launch shape. Zero has the same bits in both forms; fmo_fixed_value() converts at the
 * end. The caller chooses the scale (a power of two is best) so that no |sum| reaches 2^63/scale.
 */
#ifndef FMO_SCATTER_FIXED_CUH
#define FMO_SCATTER_FIXED_CUH

#include "scatter_warp_match.cuh"

/* Converts a fixed-point integer to the number it represents. */
FMO_DEVICE double fmo_fixed_value(long long bits, double scale)
{
    return (double)bits / scale;
}
/* The same for an element in memory. */
FMO_DEVICE double fmo_fixed_value(const double *address, double scale)
{
    return fmo_fixed_value(__double_as_longlong(*address), scale);
}

/* Sum over the lanes of mask, valid in its lowest lane; exact mod 2^64. */
FMO_DEVICE unsigned long long fmo_fixed_sum(unsigned mask, unsigned long long value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    /* 27 bits at a time: the sum of 32 such numbers is less than 2^32. */
    const unsigned part = (1u << 27) - 1u;
    const unsigned low = __reduce_add_sync(mask, (unsigned)value & part);
    const unsigned mid = __reduce_add_sync(mask, (unsigned)(value >> 27) & part);
    const unsigned high = __reduce_add_sync(mask, (unsigned)(value >> 54));
    return low + ((unsigned long long)mid << 27) + ((unsigned long long)high << 54);
#else
    long long sum = (long long)value;
    fmo_group_sum<1>(mask, mask, &sum);
    return (unsigned long long)sum;
#endif
}

template <class Commit, int BlockThreads = 1024> struct fmo_scatter_fixed {
    static constexpr bool block_wide = false;
    static constexpr bool takes_runs = false;
    double scale;

    __device__ __forceinline__ unsigned add(unsigned mask, double *address, double value) const
    {
        return add_block<1, 1>(mask, address, 0, &value);
    }
    template <int Rows, int Columns>
    __device__ __forceinline__ unsigned add_block(unsigned mask, double *address, size_t stride,
                                                  const double *value) const
    {
        unsigned long long sum[Rows * Columns];
#pragma unroll
        for (int n = 0; n < Rows * Columns; n++)
            sum[n] = (unsigned long long)__double2ll_rn(value[n] * scale);
        int same;
        (void)__match_all_sync(mask, (unsigned long long)address, &same);
        if (same) { /* the same in all lanes of the mask */
#pragma unroll
            for (int n = 0; n < Rows * Columns; n++) sum[n] = fmo_fixed_sum(mask, sum[n]);
            if (mask & fmo_lanes_below()) return 0u;
        }
        fmo_commit_block<fmo_commit_native, Rows, Columns>((unsigned long long *)address, stride,
                                                           sum);
        return Rows * Columns;
    }
    __device__ __forceinline__ double fetch_add(unsigned mask, double *address, double value) const
    {
        (void)mask;
        const long long add = __double2ll_rn(value * scale);
        return fmo_fixed_value(
            (long long)atomicAdd((unsigned long long *)address, (unsigned long long)add), scale);
    }
};

#endif
