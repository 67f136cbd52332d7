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

static __host__ __device__ constexpr int fmo_power_of_two(int n)
{
    return n <= 1 ? 1 : 2 * fmo_power_of_two((n + 1) / 2);
}

/* N sums over the whole warp, N a power of two, of which every lane gets one: the sum of
 * value[lane / (32 / N)]. Halving what is exchanged takes N + 4 - log2(N) shuffles of a value and
 * not the butterfly's 5 N. */
template <int N, int Bit = 16, typename T> FMO_DEVICE T fmo_whole_sum(const T *value)
{
    if constexpr (N > 1) {
        const bool upper = fmo_lane() & Bit;
        T half[N / 2];
#pragma unroll
        for (int n = 0; n < N / 2; n++) {
            const T give = upper ? value[n] : value[n + N / 2];
            const T keep = upper ? value[n + N / 2] : value[n];
            half[n] = fmo_sum(__shfl_xor_sync(0xffffffffu, give, Bit), keep);
        }
        return fmo_whole_sum<N / 2, Bit / 2>(half);
    } else {
        T sum = *value;
#pragma unroll
        for (int bit = Bit; bit; bit /= 2)
            sum = fmo_sum(__shfl_xor_sync(0xffffffffu, sum, bit), sum);
        return sum;
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
        return add_folded<Rows, Columns>(mask, mask, fmo_run_followers(mask, address), address,
                                         stride, value);
    }
    /* add_block by a whole warp that knows which lanes have the address of the lane below them;
     * lanes outside `mask` call, and add nothing. */
    template <int Rows, int Columns, typename T>
    __device__ __forceinline__ unsigned add_runs(unsigned mask, unsigned followers, T *address,
                                                 size_t stride, const T *value) const
    {
        return add_folded<Rows, Columns>(0xffffffffu, mask, followers, address, stride, value);
    }
    template <typename T>
    __device__ __forceinline__ T fetch_add(unsigned mask, T *address, T value) const
    {
        return fmo_segmented_fetch<Commit>(mask, address, value);
    }

  private:
    /* `callers` take part in shuffles, those in `mask` add. */
    template <int Rows, int Columns, typename T>
    __device__ __forceinline__ unsigned add_folded(unsigned callers, unsigned mask,
                                                   unsigned followers, T *address, size_t stride,
                                                   const T *value) const
    {
        constexpr int all = Rows * Columns, room = fmo_power_of_two(all);
        const bool head = (mask & ~followers) >> fmo_lane() & 1u;
        if (followers == 0xfffffffeu && mask == 0xffffffffu) { /* one run, the whole warp */
            T padded[room];
#pragma unroll
            for (int n = 0; n < room; n++) padded[n] = n < all ? value[n < all ? n : 0] : T(0);
            const T sum = fmo_whole_sum<room>(padded);
            const unsigned n = fmo_lane() / (32 / room);
            if (fmo_lane() % (32 / room) == 0 && n < all)
                Commit::add(address + n / Columns * stride + n % Columns, sum);
        } else {
            T sum[all];
#pragma unroll
            for (int n = 0; n < all; n++) sum[n] = value[n];
            fmo_run_suffix<all>(callers, followers, sum);
            if (head) fmo_commit_block<Commit, Rows, Columns>(address, stride, sum);
        }
        return head ? (unsigned)all : 0u;
    }
};

#endif
