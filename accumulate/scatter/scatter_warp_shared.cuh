/* warp-shared: the form of 2013 for Fermi. Every lane writes address and value to shared memory and
 * reads those of the other lanes; the lowest lane with an address adds the sum. The barriers, not
 * in the published code, are required by independent thread scheduling. Tabaru and Nakahira, 2013.
 */
#ifndef FMO_SCATTER_WARP_SHARED_CUH
#define FMO_SCATTER_WARP_SHARED_CUH

#include "scatter_common.cuh"

/* Adds the values of the lanes in mask. Lanes with other masks may be in this function at the same
 * time: a lane writes only its own slot, and reads only the slots of its mask. */
template <class Commit, int BlockThreads, bool Fetch, typename T>
FMO_DEVICE_CALL fmo_scattered<T> fmo_warp_shared(unsigned mask, T *address, T value)
{
    fmo_scatter_scratch<BlockThreads> *s = fmo_scatter_shared<BlockThreads>();
    const unsigned thread = fmo_thread(), first = thread & ~31u, lane = fmo_lane();
    s->address[thread] = (unsigned long long)address;
    s->value[thread] = fmo_pack(value);
    __syncwarp(mask);

    unsigned writer = lane;
    T above = 0; /* sum over higher lanes with this address, highest first */
    bool any_above = false;
    for (unsigned todo = mask; todo;) {
        const unsigned other = 31u - (unsigned)__clz((int)todo);
        todo ^= 1u << other;
        if (other == lane || s->address[first + other] != (unsigned long long)address) continue;
        if (other < lane) {
            writer = other;
        } else {
            T v;
            fmo_unpack(s->value[first + other], &v);
            above = any_above ? fmo_sum(above, v) : v;
            any_above = true;
        }
    }
    /* If there is nothing to add, value stays unchanged, so that -0 stays -0. */
    const T sum = any_above ? fmo_sum(above, value) : value;
    const unsigned issued = writer == lane;
    T old = 0;
    if (Fetch) {
        __syncwarp(mask); /* all lanes have read the values before any is overwritten by a previous
                             value */
        if (writer == lane) s->value[thread] = fmo_pack(Commit::fetch_add(address, sum));
        __syncwarp(mask);
        fmo_unpack(s->value[first + writer], &old);
        if (any_above) old = fmo_sum(old, above);
    } else if (writer == lane) {
        Commit::add(address, sum);
    }
    __syncwarp(mask); /* all lanes have read before the next call writes */
    return {old, issued};
}

template <class Commit, int BlockThreads = 1024> struct fmo_scatter_warp_shared {
    static constexpr bool block_wide = false;
    static constexpr bool takes_runs = false;
    static constexpr int span = 32;

    template <typename T>
    __device__ __forceinline__ unsigned add(unsigned mask, T *address, T value) const
    {
        return fmo_warp_shared<Commit, BlockThreads, false>(mask, address, value).issued;
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
        return fmo_warp_shared<Commit, BlockThreads, true>(mask, address, value).old;
    }
};

#endif
