/* segmented: adjacent lanes with one address form a run; a segmented sum reduces each run to its
 * lowest lane, which does the update. This costs less than finding all equal addresses and is as
 * effective if equal addresses are adjacent. A lane outside the mask ends a run. */
#ifndef FMO_SCATTER_SEGMENTED_CUH
#define FMO_SCATTER_SEGMENTED_CUH

#include "scatter_common.cuh"

/* Lanes of mask that have the address of the lane just below them. */
FMO_DEVICE unsigned fmo_run_followers(unsigned mask, const void *address)
{
    const unsigned long long a = (unsigned long long)address;
    const unsigned long long below = __shfl_up_sync(mask, a, 1);
    /* The value from a lane outside the mask is undefined; & (mask << 1) excludes it. */
    return __ballot_sync(mask, below == a) & (mask << 1);
}

/* N suffix sums over each run. Bit l of reach is 1 if lanes l .. l + d - 1 are all followers, so
 * that lane l - 1 may add the sum that starts d lanes above it; reach is the same in all lanes. */
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

/* N sums over the whole warp, N a power of two; lane l gets the sum of value[l / (32 / N)].
 * Exchanging half of the values in each step takes N + 4 - log2(N) shuffles, instead of 5 N for N
 * butterfly sums. */
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

/* Adds a block for a run that fills the warp; sums with keep(sum) false are skipped. */
template <class Commit, int Rows, int Columns, typename T, class Keep>
FMO_DEVICE void fmo_commit_whole(T *address, size_t stride, const T *value, const Keep &keep)
{
    constexpr int all = Rows * Columns, capacity = fmo_power_of_two(all);
    T padded[capacity];
#pragma unroll
    for (int n = 0; n < capacity; n++) padded[n] = n < all ? value[n < all ? n : 0] : T(0);
    const T sum = fmo_whole_sum<capacity>(padded);
    const unsigned n = fmo_lane() / (32 / capacity);
    if (fmo_lane() % (32 / capacity) == 0 && n < all && keep(sum))
        Commit::add(address + n / Columns * stride + n % Columns, sum);
}

/* Values of a warp's lanes, and the addresses, first lanes and lengths of its runs. The odd pitch
 * avoids bank conflicts between lanes that read different values of one lane. */
template <int BlockThreads, int All> struct fmo_run_scratch {
    enum { PITCH = 33, LENGTH_BITS = 8 };
    double value[BlockThreads / 32][All * PITCH];
    double *address[BlockThreads / 32][32];
    int run[BlockThreads / 32][32];
};

/* Sums the blocks of the runs that start at the lanes in `heads`, and adds those sums that are not
 * below `least`. Each lane sums one element, run after run; adjacent lanes sum adjacent elements,
 * so that their updates fall into one sector of memory. Called by a whole warp. */
template <class Commit, int BlockThreads, int Rows, int Columns>
FMO_DEVICE void fmo_commit_runs(unsigned heads, unsigned followers, double *address, size_t stride,
                                const double *value, double least)
{
    constexpr int all = Rows * Columns, at_once = 32 / all;
    typedef fmo_run_scratch<BlockThreads, all> scratch_type;
    static_assert(at_once > 0, "a lane for each element");
    __shared__ scratch_type scratch;
    const int warp = (int)(fmo_thread() / 32), lane = (int)fmo_lane();
    double *const values = scratch.value[warp];
#pragma unroll
    for (int n = 0; n < all; n++) values[n * scratch_type::PITCH + lane] = value[n];
    if (heads >> lane & 1u) {
        const int run = __popc(heads & fmo_lanes_below());
        const int length = __ffs((int)~(followers >> lane >> 1));
        scratch.run[warp][run] = lane << scratch_type::LENGTH_BITS | length;
        scratch.address[warp][run] = address;
    }
    __syncwarp();
    const int n = lane % all, runs = __popc(heads);
    const double *const column = values + n * scratch_type::PITCH;
    const size_t offset = n / Columns * stride + n % Columns;
#pragma unroll 1
    for (int run = lane < all * at_once ? lane / all : runs; run < runs; run += at_once) {
        const int where = scratch.run[warp][run];
        const double *from = column + (where >> scratch_type::LENGTH_BITS);
        double sum = *from;
#pragma unroll 1
        for (int more = where % (1 << scratch_type::LENGTH_BITS); --more;) sum += *++from;
        double *const to = scratch.address[warp][run] + offset;
        __builtin_assume(__isGlobal(to)); /* otherwise the compiler emits a generic add that tests
                                             the address space */
        if (!(fabs(sum) < least)) Commit::add(to, sum);
    }
    __syncwarp();
}

/* Adds the values of runs and returns the previous value for each lane. */
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
    /* The writer is the highest lane up to this one that begins a run. */
    const unsigned heads = mask & ~followers & ~fmo_lanes_above();
    old = __shfl_sync(mask, old, 31 - __clz((int)heads));
    return (followers >> 1 >> lane) & 1u ? fmo_sum(old, above) : old;
}

/* Blocks with more values than this are summed over runs through shared memory, smaller ones by
 * shuffles. Measured on an H200, docs/log/ladder.md, 26. */
enum { FMO_RUN_SHUFFLED_MAX = 8 };

template <class Commit, int BlockThreads = 1024> struct fmo_scatter_segmented {
    static constexpr bool block_wide = false;
    static constexpr bool takes_runs = true; /* add_runs, add_single */
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
        constexpr int all = Rows * Columns;
        const unsigned followers = fmo_run_followers(mask, address);
        const bool head = !(followers >> fmo_lane() & 1u);
        T sum[all];
        if (followers == 0xfffffffeu && mask == 0xffffffffu) { /* one run, the whole warp */
            fmo_commit_whole<Commit, Rows, Columns>(address, stride, value, [](T) { return true; });
        } else {
#pragma unroll
            for (int n = 0; n < all; n++) sum[n] = value[n];
            fmo_run_suffix<all>(mask, followers, sum);
            if (head) fmo_commit_block<Commit, Rows, Columns>(address, stride, sum);
        }
        return head ? (unsigned)all : 0u;
    }
    /* add_block for a whole warp that knows its followers (lanes with the address of the lane
     * below). Lanes outside `mask` take part in the call and add nothing. Sums with magnitude below
     * `least` are skipped; NaN is not. */
    template <int Rows, int Columns>
    __device__ __forceinline__ unsigned add_runs(unsigned mask, unsigned followers, double *address,
                                                 size_t stride, const double *value,
                                                 double least) const
    {
        constexpr int all = Rows * Columns;
        const bool head = (mask & ~followers) >> fmo_lane() & 1u;
        if (followers == 0xfffffffeu && mask == 0xffffffffu) { /* one run, the whole warp */
            fmo_commit_whole<Commit, Rows, Columns>(
                address, stride, value, [least](double sum) { return !(fabs(sum) < least); });
        } else if constexpr (all > FMO_RUN_SHUFFLED_MAX) {
            fmo_commit_runs<Commit, BlockThreads, Rows, Columns>(mask & ~followers, followers,
                                                                 address, stride, value, least);
        } else {
            double sum[all];
#pragma unroll
            for (int n = 0; n < all; n++) sum[n] = value[n];
            fmo_run_suffix<all>(0xffffffffu, followers, sum);
            if (head) commit_some<Rows, Columns>(address, stride, sum, least);
        }
        return head ? (unsigned)all : 0u;
    }
    /* The same if no lane is known to have the address of the lane below it: no sums over runs. */
    template <int Rows, int Columns>
    __device__ __forceinline__ unsigned add_single(unsigned mask, double *address, size_t stride,
                                                   const double *value, double least) const
    {
        const bool adds = mask >> fmo_lane() & 1u;
        if (adds) commit_some<Rows, Columns>(address, stride, value, least);
        return adds ? (unsigned)(Rows * Columns) : 0u;
    }
    template <typename T>
    __device__ __forceinline__ T fetch_add(unsigned mask, T *address, T value) const
    {
        return fmo_segmented_fetch<Commit>(mask, address, value);
    }

  private:
    template <int Rows, int Columns>
    static __device__ __forceinline__ void commit_some(double *address, size_t stride,
                                                       const double *value, double least)
    {
#pragma unroll
        for (int n = 0; n < Rows * Columns; n++)
            if (!(fabs(value[n]) < least))
                Commit::add(address + n / Columns * stride + n % Columns, value[n]);
    }
};

#endif
