/* block-shared: the block form of 2013. All threads of a block write address and value to shared
 * memory and read those of all others; the lowest thread with an address adds the sum: one atomic
 * per address and block, for work that grows with the square of the block size. For small data, and
 * only where all threads of the block call equally often; with address NULL a thread adds nothing.
 * Tabaru and Nakahira, 2013. */
#ifndef FMO_SCATTER_BLOCK_SHARED_CUH
#define FMO_SCATTER_BLOCK_SHARED_CUH

#include "scatter_common.cuh"

/* Adds the values of a block and, with Fetch, returns the previous value in the serial order
 * "highest thread first". */
template <class Commit, int BlockThreads, bool Fetch, typename T>
FMO_DEVICE_CALL fmo_scattered<T> fmo_block_shared(T *address, T value)
{
    fmo_scatter_scratch<BlockThreads> *s = fmo_scatter_shared<BlockThreads>();
    const unsigned thread = fmo_thread(), threads = blockDim.x * blockDim.y * blockDim.z;
    s->address[thread] = (unsigned long long)address;
    s->value[thread] = fmo_pack(value);
    __syncthreads();

    unsigned writer = thread;
    T above = 0; /* sum over higher threads with this address, highest first */
    bool any_above = false;
    if (address) {
        for (unsigned other = 0; other < thread && writer == thread; other++)
            if (s->address[other] == (unsigned long long)address) writer = other;
        if (Fetch || writer == thread) {
            for (unsigned other = threads - 1; other > thread; other--) {
                if (s->address[other] != (unsigned long long)address) continue;
                T v;
                fmo_unpack(s->value[other], &v);
                above = any_above ? fmo_sum(above, v) : v;
                any_above = true;
            }
        }
    }
    const bool commits = address && writer == thread;
    const T sum = any_above ? fmo_sum(above, value) : value;
    const unsigned issued = commits;
    T old = 0;
    if (Fetch) {
        __syncthreads(); /* all threads have read the values before any is overwritten by a previous
                            value */
        if (commits) s->value[thread] = fmo_pack(Commit::fetch_add(address, sum));
        __syncthreads();
        if (address) fmo_unpack(s->value[writer], &old);
        if (any_above) old = fmo_sum(old, above);
    } else if (commits) {
        Commit::add(address, sum);
    }
    __syncthreads(); /* all threads have read before the next call writes */
    return {old, issued};
}

template <class Commit, int BlockThreads = 1024> struct fmo_scatter_block_shared {
    static constexpr bool block_wide = true;
    static constexpr bool takes_runs = false;
    static constexpr int span = 0;

    template <typename T>
    __device__ __forceinline__ unsigned add(unsigned mask, T *address, T value) const
    {
        (void)mask;
        return fmo_block_shared<Commit, BlockThreads, false>(address, value).issued;
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
        return fmo_block_shared<Commit, BlockThreads, true>(address, value).old;
    }
};

#endif
