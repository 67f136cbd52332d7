/* none: a build without atomic updates, to measure their cost. Addresses and values are combined
 * into a register, which is stored only if it has one particular value of 2^64. The compiler cannot
 * rule this out, so it keeps all arithmetic before the updates; as the combination uses integer
 * instructions only, the number of floating-point instructions stays the same. Not selectable by
 * users. */
#ifndef FMO_SCATTER_NONE_CUH
#define FMO_SCATTER_NONE_CUH

#include "scatter_common.cuh"

template <class Commit, int BlockThreads = 1024> struct fmo_scatter_none {
    static constexpr bool block_wide = false;
    static constexpr bool takes_runs = false;
    unsigned long long *sink;        /* [1] device memory */
    mutable unsigned long long bits; /* set to 0 by the host; kept in a register */

    template <typename T>
    __device__ __forceinline__ unsigned add(unsigned mask, T *address, T value) const
    {
        (void)mask;
        bits ^= fmo_pack(value) ^ (unsigned long long)address;
        return 0u;
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
        (void)add(mask, address, value);
        return 0;
    }
};

template <class Commit, int BlockThreads>
FMO_DEVICE void fmo_scatter_finish(const fmo_scatter_none<Commit, BlockThreads> &scatter)
{
    if (scatter.bits == 0x9e3779b97f4a7c15ull) *scatter.sink = scatter.bits;
}

#endif
