/* native: one atomic per value, without combining. See scatter_common.cuh. */
#ifndef FMO_SCATTER_NATIVE_CUH
#define FMO_SCATTER_NATIVE_CUH

#include "scatter_common.cuh"

template <class Commit, int BlockThreads = 1024> struct fmo_scatter_native {
    static constexpr bool block_wide = false;
    static constexpr bool takes_runs = false;
    static constexpr int span = 1;

    template <typename T>
    __device__ __forceinline__ unsigned add(unsigned mask, T *address, T value) const
    {
        (void)mask;
        Commit::add(address, value);
        return 1u;
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
        (void)mask;
        return Commit::fetch_add(address, value);
    }
};

#endif
