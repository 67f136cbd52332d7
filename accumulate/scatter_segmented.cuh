/* segmented: neighbouring lanes with one address form a run; a segmented sum folds each run into
 * its lowest lane, which commits. Cheaper than finding all equal addresses, and as good where equal
 * addresses stand side by side. A lane outside the mask ends a run. */
#ifndef FMO_SCATTER_SEGMENTED_CUH
#define FMO_SCATTER_SEGMENTED_CUH

#include "scatter_common.cuh"

/* Lanes of mask that continue the run of the lane just below them. */
FMO_DEVICE unsigned fmo_run_followers(unsigned mask, const void *address)
{
    const unsigned long long a = (unsigned long long)address;
    const unsigned long long below = __shfl_up_sync(mask, a, 1);
    /* The value from a lane outside the mask is undefined; mask << 1 forbids its use. */
    return __ballot_sync(mask, below == a) & (mask << 1);
}

/* N suffix sums over each run. Bit l of reach says that lanes l .. l + d - 1 all follow, so lane
 * l - 1 may take in the sum that starts d lanes above it; reach is the same in all lanes. */
template <int N, typename T>
FMO_DEVICE void fmo_run_suffix(unsigned mask, unsigned followers, T *value)
{
    const unsigned lane = fmo_lane();
    unsigned reach = followers;
#pragma unroll 1
    for (unsigned d = 1; reach; d += d) {
        const bool takes = (reach >> 1 >> lane) & 1u;
#pragma unroll
        for (int n = 0; n < N; n++) {
            const T v = __shfl_down_sync(mask, value[n], d);
            if (takes) value[n] = fmo_sum(v, value[n]);
        }
        reach &= reach >> d;
    }
}

/* N sums over each run, right in its lowest lane only. */
template <int N, typename T>
FMO_DEVICE void fmo_run_sum(unsigned mask, unsigned followers, T *value)
{
    if (followers != 0xfffffffeu) {
        fmo_run_suffix<N>(mask, followers, value);
        return;
    }
    /* one run, the whole warp: nobody has to ask */
#pragma unroll 1
    for (unsigned d = 16; d; d /= 2) {
#pragma unroll
        for (int n = 0; n < N; n++)
            value[n] = fmo_sum(__shfl_down_sync(0xffffffffu, value[n], d), value[n]);
    }
}

template <class Commit, typename T>
FMO_DEVICE_CALL T fmo_segmented_fetch(unsigned mask, T *address, T value)
{
    const unsigned followers = fmo_run_followers(mask, address);
    T suffix = value;
    fmo_run_suffix<1>(mask, followers, &suffix);
    const T above = __shfl_down_sync(mask, suffix, 1);
    const unsigned lane = fmo_lane();
    T old = 0;
    if (!((followers >> lane) & 1u)) old = Commit::fetch_add(address, suffix);
    __syncwarp(mask);
    /* The writer: the highest lane up to this one that follows nobody. */
    const unsigned heads = mask & ~followers & ~fmo_lanes_above();
    old = __shfl_sync(mask, old, 31 - __clz((int)heads));
    return (followers >> 1 >> lane) & 1u ? fmo_sum(old, above) : old;
}

template <class Commit, int BlockThreads = 1024> struct fmo_scatter_segmented {
    static constexpr bool block_wide = false;
    static constexpr bool takes_runs = true; /* add_runs */

    template <typename T>
    __device__ __forceinline__ unsigned add(unsigned mask, T *address, T value) const
    {
        return add_block<1, 1>(mask, address, 0, &value);
    }
    template <int Rows, int Columns, typename T>
    __device__ __forceinline__ unsigned add_block(unsigned mask, T *address, size_t stride,
                                                  const T *value) const
    {
        return add_runs<Rows, Columns>(mask, fmo_run_followers(mask, address), address, stride,
                                       value);
    }
    /* add_block by a caller who knows the lanes that have the address of the lane below them. */
    template <int Rows, int Columns, typename T>
    __device__ __forceinline__ unsigned add_runs(unsigned mask, unsigned followers, T *address,
                                                 size_t stride, const T *value) const
    {
        T sum[Rows * Columns];
#pragma unroll
        for (int n = 0; n < Rows * Columns; n++) sum[n] = value[n];
        fmo_run_sum<Rows * Columns>(mask, followers, sum);
        if ((followers >> fmo_lane()) & 1u) return 0u;
        fmo_commit_block<Commit, Rows, Columns>(address, stride, sum);
        return Rows * Columns;
    }
    template <typename T>
    __device__ __forceinline__ T fetch_add(unsigned mask, T *address, T value) const
    {
        return fmo_segmented_fetch<Commit>(mask, address, value);
    }
};

#endif
