/* The kernel for stored integrals: takes quartets from the stored list, screens them with the
 * density of the build, reads the integrals of those that remain, and digests them as in
 * kernels/near.cuh. See docs/explanation/gpu/stored.md; schedule/stored.cu fills the list. */
#ifndef FMO_GPU_STORED_KERNEL_CUH
#define FMO_GPU_STORED_KERNEL_CUH

#include "accumulate/gpu/kernels/near.cuh"
#include "accumulate/rules/screen.h"

/* Thread blocks that must fit a multiprocessor, by class. A thread holds all integrals of a quartet
 * in registers; more warps hide the latency of loading them. */
template <class C>
static constexpr int fmo_gpu_stored_blocks = C::size > 64  ? 2
                                             : C::size > 9 ? 4
                                             : C::size > 4 ? 5
                                                           : 8;

/* Doubles that the integrals of so many quartets take. They are stored in tiles of 32 quartets, in
 * a tile as [two components][quartet], and for odd numbers the last component as [quartet].
 * Neighbouring lanes thus read neighbouring 16 bytes at fixed offsets from the tile. */
template <class C> static __host__ __device__ constexpr size_t fmo_gpu_stored_size(size_t quartets)
{
    return (quartets + 31) / 32 * (32 * C::size);
}

/* Stores the integrals of quartet number `entry`. */
template <class C>
static __device__ __forceinline__ void fmo_gpu_store_integrals(double *to, size_t entry,
                                                               const double *eri)
{
    double *const tile = to + fmo_gpu_stored_size<C>(entry / 32 * 32);
    double2 *const two = (double2 *)tile + entry % 32;
    FMO_UNROLL
    for (int n = 0; n < C::size / 2; n++) two[32 * n] = make_double2(eri[2 * n], eri[2 * n + 1]);
    if (C::size % 2) tile[32 * (C::size - 1) + entry % 32] = eri[C::size - 1];
}

template <class C>
static __device__ __forceinline__ void fmo_gpu_load_integrals(const double *from, size_t entry,
                                                              double *eri)
{
    const double *const tile = from + fmo_gpu_stored_size<C>(entry / 32 * 32);
    const double2 *const two = (const double2 *)tile + entry % 32;
    FMO_UNROLL
    for (int n = 0; n < C::size / 2; n++) {
        const double2 value = fmo_gpu_load_once(two + 32 * n);
        eri[2 * n] = value.x;
        eri[2 * n + 1] = value.y;
    }
    if (C::size % 2) eri[C::size - 1] = __ldg(tile + 32 * (C::size - 1) + entry % 32);
}

/* Screened-in quartets that a warp collects, in the order of the list, until all lanes have one;
 * and the counts of the warp. */
typedef struct fmo_gpu_waiting {
    size_t entry[64]; /* ring buffer */
    int2 quartet[64];
    unsigned screened_in_num, exchanges, prim_quartets;
    unsigned pairs[2], included[2]; /* as in fmo_gpu_count; index 1: the bra includes an ss pair */
} fmo_gpu_waiting;

/* Screens 32 quartets by the rule of screen.h, with the same arithmetic as gpu/screen.cuh, and
 * writes those that remain to the ring buffer at `end`. Returns their number. Quartets with a NaN
 * estimate remain. */
static __device__ __forceinline__ unsigned
fmo_gpu_screen_stored(const fmo_gpu_class_view &view, const fmo_gpu_stored_args &a, int eri_class,
                      size_t first, fmo_gpu_waiting *waiting, unsigned end)
{
    const unsigned all = 0xffffffffu;
    const size_t entry = first + fmo_lane();
    bool stays = false, exchanges = false;
    int2 quartet = {0, 0};
    fmo_gpu_screen_data bra = {}, ket = {};
    if (entry < a.kept) {
        quartet = fmo_gpu_load_once(view.list + entry);
        quartet.y &= FMO_GPU_PAIRS_MAX - 1;
        bra = view.bra.screen[quartet.x];
        ket = view.ket.screen[quartet.y];
        const float in_J = fmo_gpu_in_J(bra, ket);
        const float in_K = fmo_gpu_in_K(
            bra, ket, fmo_gpu_exchange_of(a.block_max, a.stride, bra.sp_shell, ket.sp_shell));
        exchanges = !(in_K < a.cutoff);
        stays = exchanges || !(in_J < a.cutoff);
    }
    const unsigned staying = __ballot_sync(all, stays);
    if (!staying) return 0;
    if (stays) {
        const unsigned at = (end + __popc(staying & fmo_lanes_below())) % 64;
        waiting->entry[at] = entry;
        waiting->quartet[at] =
            make_int2(quartet.x, quartet.y | (exchanges ? (int)FMO_GPU_EXCHANGE_BIT : 0));
        atomicAdd(&waiting->prim_quartets, fmo_gpu_tally(bra.counts, FMO_GPU_TALLY_PRIMS) *
                                               fmo_gpu_tally(ket.counts, FMO_GPU_TALLY_PRIMS));
        if (view.same && quartet.x == quartet.y &&
            fmo_gpu_tally(bra.counts, FMO_GPU_TALLY_INCLUDED))
            fmo_gpu_count_diagonal(a.counters->quartets, eri_class);
    }
    const unsigned exchanging = __ballot_sync(all, exchanges);
    const unsigned both = stays ? bra.counts & ket.counts : 0u;
    const unsigned pairs = __ballot_sync(all, fmo_gpu_tally(both, FMO_GPU_TALLY_PAIRS));
    const unsigned bras =
        pairs & __ballot_sync(all, fmo_gpu_tally(bra.counts, FMO_GPU_TALLY_INCLUDED));
    const unsigned kets =
        pairs & __ballot_sync(all, fmo_gpu_tally(ket.counts, FMO_GPU_TALLY_INCLUDED));
    if (fmo_lane() == 0) {
        waiting->screened_in_num += __popc(staying);
        waiting->exchanges += __popc(exchanging);
        waiting->pairs[0] += __popc(pairs & ~bras);
        waiting->pairs[1] += __popc(bras);
        waiting->included[0] += __popc(kets & ~bras);
        waiting->included[1] += __popc(kets & bras);
    }
    __syncwarp();
    return __popc(staying);
}

/* Adds the counts of a warp to the counters. */
static __device__ __forceinline__ void
fmo_gpu_count_stored(fmo_gpu_counters *counters, int eri_class, const fmo_gpu_waiting *waiting)
{
    if (fmo_lane() != 0 || !waiting->screened_in_num) return;
    atomicAdd(&counters->screened_in_num[eri_class], (unsigned long long)waiting->screened_in_num);
    atomicAdd(&counters->exchanges[eri_class], (unsigned long long)waiting->exchanges);
    atomicAdd(&counters->prim_quartets[eri_class], (unsigned long long)waiting->prim_quartets);
    for (int includes = 0; includes < 2; includes++)
        fmo_gpu_count(counters->quartets, eri_class, includes, waiting->pairs[includes],
                      waiting->included[includes]);
}

/* Warps take pieces of the list in turn, collect screened-in quartets until all lanes have one, and
 * digest them together. A quartet that the density screens out thus costs its screening, but no
 * idle lane. */
template <class C, class S>
__global__ void __launch_bounds__(FMO_GPU_THREADS, fmo_gpu_stored_blocks<C>)
    fmo_gpu_stored(fmo_gpu_class_view view, fmo_gpu_matrices m, fmo_gpu_stored_args a)
{
    constexpr int warps = FMO_GPU_THREADS / 32;
    __shared__ fmo_gpu_waiting waiting_of[warps];
    fmo_gpu_waiting *const waiting = &waiting_of[threadIdx.x / 32];
    S scatter;
    fmo_gpu_prepare(scatter, m);
    const fmo_gpu_copy copy = fmo_gpu_copy_of_block(m);
    const unsigned lane = fmo_lane();
    unsigned issued = 0, begin = 0, waits = 0;
    /* Elements that lanes without a quartet can read where the strategy needs all threads. */
    for (unsigned n = lane; n < 64; n += 32) {
        waiting->entry[n] = 0;
        waiting->quartet[n] = make_int2(0, 0);
    }
    if (lane == 0) {
        waiting->screened_in_num = waiting->exchanges = waiting->prim_quartets = 0;
        for (int includes = 0; includes < 2; includes++)
            waiting->pairs[includes] = waiting->included[includes] = 0;
    }
    __syncwarp();
    const size_t skip = ((size_t)gridDim.x * warps - 1) * a.piece;
    size_t next = ((size_t)blockIdx.x * warps + threadIdx.x / 32) * a.piece;
    for (;;) {
        while (waits < 32 && next < a.kept) {
            waits += fmo_gpu_screen_stored(view, a, C::id, next, waiting, begin + waits);
            next += 32;
            if (next % a.piece == 0) next += skip;
        }
        if (S::block_wide ? !__syncthreads_or((int)waits) : !waits) break;
        const bool active = lane < waits;
        const unsigned mask = __ballot_sync(0xffffffffu, active);
        if (fmo_gpu_together<S> || active) {
            const unsigned at = (begin + (active ? lane : 0)) % 64;
            const int2 quartet = waiting->quartet[at];
            double eri[C::size];
            fmo_gpu_load_integrals<C>(a.eri, waiting->entry[at], eri);
            const int4 bra = __ldg(view.bra.first + quartet.x);
            const int4 ket = __ldg(view.ket.first + (quartet.y & (FMO_GPU_PAIRS_MAX - 1)));
            const fmo_gpu_shells shells = {{bra.x, bra.y, ket.x, ket.y}};
            issued += fmo_gpu_digest<C, FMO_GPU_COULOMB_ALL, 1>(
                scatter, view, m, copy, shells, fmo_gpu_lane{quartet, mask, active, active}, eri);
        }
        begin += umin(waits, 32u);
        waits -= umin(waits, 32u);
        __syncwarp();
    }
    fmo_gpu_count_stored(a.counters, C::id, waiting);
    fmo_scatter_finish(scatter);
    fmo_gpu_count_issued(m, issued);
}

#endif
