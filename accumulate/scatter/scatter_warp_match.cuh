/* warp-match: match_any tells each lane which lanes share its address; the values of such a group
 * are summed as a tree in log2(size) steps, all groups at once, and its lowest lane does the
 * update. */
#ifndef FMO_SCATTER_WARP_MATCH_CUH
#define FMO_SCATTER_WARP_MATCH_CUH

#include "scatter_common.cuh"

FMO_DEVICE unsigned fmo_match(unsigned mask, const void *address)
{
    return __match_any_sync(mask, (unsigned long long)address);
}

/* N sums over a whole warp, valid in lane 0. The loops are not unrolled, as they would be several
 * times the size of the surrounding code. */
template <int N> FMO_DEVICE void fmo_warp_sum(int *value)
{
#pragma unroll
    for (int n = 0; n < N; n++) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        value[n] = (int)__reduce_add_sync(~0u, (unsigned)value[n]);
#else
#pragma unroll 1
        for (int d = 16; d; d >>= 1)
            value[n] = fmo_sum(value[n], __shfl_down_sync(~0u, value[n], d));
#endif
    }
}
template <int N, typename T> FMO_DEVICE void fmo_warp_sum(T *value)
{
#pragma unroll 1
    for (int d = 16; d; d >>= 1) {
#pragma unroll
        for (int n = 0; n < N; n++)
            value[n] = fmo_sum(value[n], __shfl_down_sync(~0u, value[n], d));
    }
}

/* N sums over each group of lanes of mask, valid in the group's lowest lane. In every step a lane
 * of even rank adds the values of its nearest higher partner, lanes of odd rank drop out, and ranks
 * are halved. */
template <int N, typename T> FMO_DEVICE void fmo_group_sum(unsigned mask, unsigned group, T *value)
{
    unsigned rank = (unsigned)__popc(group & fmo_lanes_below());
    unsigned higher = group & fmo_lanes_above();
#pragma unroll 1
    while (__any_sync(mask, (int)higher)) {
        const unsigned partner = higher ? fmo_lowest(higher) : fmo_lane();
#pragma unroll
        for (int n = 0; n < N; n++) {
            const T v = __shfl_sync(mask, value[n], (int)partner);
            if (higher) value[n] = fmo_sum(v, value[n]);
        }
        higher &= ~__ballot_sync(mask, (int)(rank & 1u));
        rank >>= 1;
    }
}

/* Suffix sums over each group: value plus those of all higher lanes of the group. Each lane keeps a
 * pointer to the nearest higher lane not yet included, whose distance doubles in every step. */
template <typename T> FMO_DEVICE T fmo_group_suffix(unsigned mask, unsigned group, T value)
{
    const unsigned higher = group & fmo_lanes_above();
    int next = higher ? (int)fmo_lowest(higher) : -1;
#pragma unroll 1
    while (__any_sync(mask, next >= 0)) {
        const int from = next >= 0 ? next : (int)fmo_lane();
        const T v = __shfl_sync(mask, value, from);
        const int jump = __shfl_sync(mask, next, from);
        if (next >= 0) {
            value = fmo_sum(v, value);
            next = jump;
        }
    }
    return value;
}

/* Previous values for groups of any shape: the lowest lane does the update, the others add the
 * suffix sums above them. */
template <class Commit, typename T>
FMO_DEVICE_CALL T fmo_group_fetch(unsigned mask, unsigned group, T *address, T value)
{
    const T suffix = fmo_group_suffix(mask, group, value);
    const unsigned higher = group & fmo_lanes_above();
    const T above = __shfl_sync(mask, suffix, (int)(higher ? fmo_lowest(higher) : fmo_lane()));
    T old = 0;
    if (!(group & fmo_lanes_below())) old = Commit::fetch_add(address, suffix);
    __syncwarp(mask);
    old = __shfl_sync(mask, old, (int)fmo_lowest(group));
    return higher ? fmo_sum(old, above) : old;
}

template <class Commit, int BlockThreads = 1024> struct fmo_scatter_warp_match {
    static constexpr bool block_wide = false;
    static constexpr bool takes_runs = false;
    static constexpr int span = 32;

    template <typename T>
    __device__ __forceinline__ unsigned add(unsigned mask, T *address, T value) const
    {
        return add_block<1, 1>(mask, address, 0, &value);
    }
    template <int Rows, int Columns, typename T>
    __device__ __forceinline__ unsigned add_block(unsigned mask, T *address, size_t stride,
                                                  const T *value) const
    {
        const unsigned group = fmo_match(mask, address);
        T sum[Rows * Columns];
#pragma unroll
        for (int n = 0; n < Rows * Columns; n++) sum[n] = value[n];
        if (group == ~0u) /* true in all 32 lanes at once, so this branch does not diverge */
            fmo_warp_sum<Rows * Columns>(sum);
        else
            fmo_group_sum<Rows * Columns>(mask, group, sum);
        if (group & fmo_lanes_below()) return 0u;
        fmo_commit_block<Commit, Rows, Columns>(address, stride, sum);
        return Rows * Columns;
    }
    template <typename T>
    __device__ __forceinline__ T fetch_add(unsigned mask, T *address, T value) const
    {
        return fmo_group_fetch<Commit>(mask, fmo_match(mask, address), address, value);
    }
};

#endif
