/* none: a build with its commits left out, for timing what they cost. Addresses and values fold
 * into a register, which is stored only if it ends as one certain number out of 2^64. The compiler
 * cannot know that it never does, so all arithmetic up to the commit stays; folding takes integer
 * instructions only, so the count of floating-point instructions stays too. Not a strategy that
 * users can choose. */
#ifndef FMO_SCATTER_NONE_CUH
#define FMO_SCATTER_NONE_CUH

#include "scatter_common.cuh"

template <class Commit, int BlockThreads = 1024> struct fmo_scatter_none {
    static constexpr bool block_wide = false;
    static constexpr bool takes_runs = false;
    unsigned long long *sink;        /* [1] device memory */
    mutable unsigned long long bits; /* the host sets 0; lives in a register */

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
