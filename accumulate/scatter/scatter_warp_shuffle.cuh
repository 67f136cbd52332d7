/* warp-shuffle: the form of 2013 for Kepler. Every lane reads address and value of every other lane
 * by shuffles; the lowest lane with an address adds the sum. All lanes of the mask take part in
 * every shuffle: the loop runs over the mask, and only the use of the values received is
 * conditional. Tabaru and Nakahira, 2013. */
#ifndef FMO_SCATTER_WARP_SHUFFLE_CUH
#define FMO_SCATTER_WARP_SHUFFLE_CUH

#include "scatter_common.cuh"

/* Adds the values of the lanes in mask and, with Fetch, returns the previous value. */
template <class Commit, bool Fetch, typename T>
FMO_DEVICE_CALL fmo_scattered<T> fmo_warp_shuffle(unsigned mask, T *address, T value)
{
    const unsigned lane = fmo_lane();
    unsigned writer = lane;
    T above = 0; /* sum over higher lanes with this address, highest first */
    bool any_above = false;
    for (unsigned todo = mask; todo;) {
        const unsigned other = 31u - (unsigned)__clz((int)todo);
        todo ^= 1u << other;
        const unsigned long long a = __shfl_sync(mask, (unsigned long long)address, (int)other);
        const T v = __shfl_sync(mask, value, (int)other);
        if (a == (unsigned long long)address) {
            if (other < lane) writer = other;
            if (other > lane) {
                above = any_above ? fmo_sum(above, v) : v;
                any_above = true;
            }
        }
    }
    const T sum = any_above ? fmo_sum(above, value) : value;
    const unsigned issued = writer == lane;
    T old = 0;
    if (Fetch) {
        if (writer == lane) old = Commit::fetch_add(address, sum);
        __syncwarp(mask);
        old = __shfl_sync(mask, old, (int)writer);
        if (any_above) old = fmo_sum(old, above);
    } else if (writer == lane) {
        Commit::add(address, sum);
    }
    return {old, issued};
}

template <class Commit, int BlockThreads = 1024> struct fmo_scatter_warp_shuffle {
    static constexpr bool block_wide = false;
    static constexpr bool takes_runs = false;
    static constexpr int span = 32;

    template <typename T>
    __device__ __forceinline__ unsigned add(unsigned mask, T *address, T value) const
    {
        return fmo_warp_shuffle<Commit, false>(mask, address, value).issued;
    }
    template <int Rows, int Columns, typename T>
    __device__ __forceinline__ unsigned add_block(unsigned mask, T *address, size_t stride,
                                                  const T *value) const
    {
        return fmo_add_each<Rows, Columns>(*this, mask, address, stride, value);
    }
    template <typename T>
    __device__ __forceinline__ T fetch_add(unsigned mask, T *address, T value) const
    {
        return fmo_warp_shuffle<Commit, true>(mask, address, value).old;
    }
};

#endif
