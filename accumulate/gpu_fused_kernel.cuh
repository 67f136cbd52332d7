/* The fused kernel: quartets from the survivors' list, one a thread, digested in registers and
 * scattered by the strategy S, a type of fmo/atomics.cuh. */
#ifndef FMO_GPU_FUSED_KERNEL_CUH
#define FMO_GPU_FUSED_KERNEL_CUH

#include "accumulate/atomics.cuh"
#include "accumulate/gpu_quartet.cuh"

/* Where the four shells of a lane's quartet are in a matrix, and which lanes continue the run of
 * the lane below: the same bra pair, and with it the same third or fourth shell. */
typedef struct fmo_gpu_place {
    unsigned row[4], column[4]; /* offset of the first row; first column */
    unsigned same_bra, same_k, same_l;
} fmo_gpu_place;

template <class S>
static __device__ __forceinline__ fmo_gpu_place fmo_gpu_find_place(const fmo_gpu_shells &at,
                                                                   int bra, unsigned mask, int nao)
{
    fmo_gpu_place p;
    FMO_UNROLL
    for (int s = 0; s < 4; s++) {
        p.column[s] = (unsigned)at.ao[s];
        p.row[s] = (unsigned)at.ao[s] * (unsigned)nao;
    }
    p.same_bra = p.same_k = p.same_l = 0;
    if (S::takes_runs) {
        const unsigned follows = mask & mask << 1; /* the lane below takes part */
        p.same_bra = follows & __ballot_sync(mask, __shfl_up_sync(mask, bra, 1) == bra);
        p.same_k = p.same_bra & __ballot_sync(mask, __shfl_up_sync(mask, at.ao[2], 1) == at.ao[2]);
        p.same_l = p.same_bra & __ballot_sync(mask, __shfl_up_sync(mask, at.ao[3], 1) == at.ao[3]);
    }
    return p;
}

/* One row of the digestion table: contract, then add the block; which triangle of X it goes to does
 * not matter (digest.h). Every lane of `mask` calls (with a block-wide strategy every thread does,
 * and threads without a quartet pass no address). */
template <class C, class S, int ROW, int COLUMN, int DEN_ROW, int DEN_COLUMN>
static __device__ __forceinline__ unsigned
fmo_gpu_digest_term(const S &scatter, unsigned mask, bool active, const fmo_gpu_matrices &m,
                    double *matrix, const fmo_gpu_place &at, const double *eri)
{
    constexpr int size[4] = {C::N0, C::N1, C::N2, C::N3};
    constexpr int rows = size[ROW], columns = size[COLUMN];
    constexpr int den_rows = size[DEN_ROW], den_columns = size[DEN_COLUMN];
    double den[den_rows * den_columns], block[rows * columns];
    FMO_UNROLL
    for (int u = 0; u < den_rows; u++) {
        const double *const row =
            m.density + (at.row[DEN_ROW] + (unsigned)(u * m.nao) + at.column[DEN_COLUMN]);
        FMO_UNROLL
        for (int v = 0; v < den_columns; v++) den[u * den_columns + v] = __ldg(row + v);
    }
    fmo_digest_contract_sizes(C::N0, C::N1, C::N2, C::N3, ROW, COLUMN, DEN_ROW, DEN_COLUMN, eri,
                              den, block);
    double *const address = matrix + (at.row[ROW] + at.column[COLUMN]);
    if constexpr (S::takes_runs) {
        const unsigned run = ROW == 2      ? 0u
                             : COLUMN == 1 ? at.same_bra
                             : COLUMN == 2 ? at.same_k
                                           : at.same_l;
        return scatter.template add_runs<rows, columns>(mask, run & mask & mask << 1, address,
                                                        (size_t)m.nao, block);
    }
    return scatter.template add_block<rows, columns>(
        mask, S::block_wide && !active ? (double *)nullptr : address, (size_t)m.nao, block);
}

/* What a strategy needs to know beyond addresses. */
template <class S>
static __device__ __forceinline__ void fmo_gpu_prepare(S &, const fmo_gpu_matrices &)
{
}
template <class Commit, int Threads>
static __device__ __forceinline__ void fmo_gpu_prepare(fmo_scatter_fixed<Commit, Threads> &scatter,
                                                       const fmo_gpu_matrices &m)
{
    scatter.scale = __ldg(m.fixed_scale);
}
template <class Commit, int Threads>
static __device__ __forceinline__ void fmo_gpu_prepare(fmo_scatter_none<Commit, Threads> &scatter,
                                                       const fmo_gpu_matrices &m)
{
    scatter.sink = m.sink;
    scatter.bits = 0;
}

template <class C, class S>
__global__ void __launch_bounds__(FMO_GPU_THREADS, C::resident)
    fmo_gpu_fused(fmo_gpu_class_view view, fmo_gpu_matrices m)
{
    S scatter;
    fmo_gpu_prepare(scatter, m);
    const unsigned count = *view.count, stride = gridDim.x * blockDim.x;
    const size_t copy = m.copies > 1 ? blockIdx.x % m.copies * m.copy_stride : 0;
    double *const J = m.coulomb + copy, *const K = m.exchange + copy;
    unsigned issued = 0;
    if (blockIdx.x * blockDim.x >= count) return; /* the whole block */
    /* The bounds are the same for a whole block; lanes without a quartet leave the mask. */
    for (unsigned first = blockIdx.x * blockDim.x; first < count; first += stride) {
        const bool active = first + threadIdx.x < count;
        const unsigned mask = __ballot_sync(0xffffffffu, active);
        if (!S::block_wide && !active) continue;
        /* A block-wide strategy needs the idle threads at its barriers: they repeat the last
         * quartet and add nothing. */
        const int2 quartet = view.list[active ? first + threadIdx.x : count - 1];
        double eri[C::size];
        const fmo_gpu_shells at = fmo_gpu_quartet<C>(view, m.boys->row[C::order][0], quartet, eri);
        __syncwarp(S::block_wide ? 0xffffffffu : mask);
        const fmo_gpu_place place = fmo_gpu_find_place<S>(at, quartet.x, mask, m.nao);
        const bool exchanges = active && ((unsigned)quartet.y & FMO_GPU_EXCHANGE_BIT);
        const unsigned exchanging = __ballot_sync(S::block_wide ? 0xffffffffu : mask, exchanges);
#define TERM(matrix, row, column, den_row, den_column)                                             \
    if (is_##matrix || S::block_wide || exchanges)                                                 \
        issued += fmo_gpu_digest_term<C, S, row, column, den_row, den_column>(                     \
            scatter, is_##matrix ? mask : exchanging, is_##matrix ? active : exchanges, m, matrix, \
            place, eri);
        constexpr bool is_J = true, is_K = false;
        FMO_DIGEST_TABLE(TERM)
#undef TERM
        __syncwarp(S::block_wide ? 0xffffffffu : mask);
    }
    fmo_scatter_finish(scatter);
    if (m.issued) {
        for (int offset = 16; offset; offset /= 2)
            issued += __shfl_down_sync(0xffffffffu, issued, offset);
        if (threadIdx.x % 32 == 0 && issued) atomicAdd(m.issued, (unsigned long long)issued);
    }
}

#endif
