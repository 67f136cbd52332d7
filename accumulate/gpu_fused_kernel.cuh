/* The fused kernel: quartets from the survivors' list, one a thread, digested in registers and
 * scattered by the strategy S, a type of fmo/atomics.cuh. */
#ifndef FMO_GPU_FUSED_KERNEL_CUH
#define FMO_GPU_FUSED_KERNEL_CUH

#include "accumulate/atomics.cuh"
#include "accumulate/gpu_quartet.cuh"

/* One row of the digestion table: contract, then add the block. Every lane of `mask` calls (with a
 * block-wide strategy every thread does, and threads without a quartet pass no address). */
template <class C, class S, int ROW, int COLUMN, int DEN_ROW, int DEN_COLUMN>
static __device__ __forceinline__ unsigned
fmo_gpu_digest_term(const S &scatter, unsigned mask, bool active, const fmo_gpu_matrices &m,
                    double *matrix, const fmo_gpu_shells &at, const double *eri)
{
    constexpr int l[4] = {C::LI, C::LJ, C::LK, C::LL};
    constexpr int rows = 2 * l[ROW] + 1, columns = 2 * l[COLUMN] + 1;
    constexpr int den_rows = 2 * l[DEN_ROW] + 1, den_columns = 2 * l[DEN_COLUMN] + 1;
    double den[den_rows * den_columns], block[rows * columns];
    FMO_UNROLL
    for (int u = 0; u < den_rows; u++) {
        FMO_UNROLL
        for (int v = 0; v < den_columns; v++)
            den[u * den_columns + v] =
                __ldg(m.density + (size_t)(at.ao[DEN_ROW] + u) * m.nao + at.ao[DEN_COLUMN] + v);
    }
    fmo_digest_contract(C::LI, C::LJ, C::LK, C::LL, ROW, COLUMN, DEN_ROW, DEN_COLUMN, eri, den,
                        block);
    /* The shell of higher index is the row (digest.h): p comes after s, equal kinds are compared.
     */
    constexpr bool always = l[ROW]<l[COLUMN], never = l[ROW]> l[COLUMN];
    const bool swap = always || (!never && at.ao[ROW] < at.ao[COLUMN]);
    constexpr int out_rows = always ? columns : rows, out_columns = always ? rows : columns;
    double out[rows * columns];
    FMO_UNROLL
    for (int x = 0; x < out_rows; x++) {
        FMO_UNROLL
        for (int y = 0; y < out_columns; y++)
            out[x * out_columns + y] = swap ? block[y * out_rows + x] : block[x * out_columns + y];
    }
    double *const address = matrix + fmo_digest_place(m.nao, at.ao[ROW], at.ao[COLUMN]).base;
    return scatter.template add_block<out_rows, out_columns>(
        mask, S::block_wide && !active ? (double *)nullptr : address, (size_t)m.nao, out);
}

template <class C, class S>
__global__ void __launch_bounds__(FMO_GPU_THREADS, C::resident)
    fmo_gpu_fused(fmo_gpu_class_view view, fmo_gpu_matrices m, S scatter)
{
    const unsigned count = *view.count, stride = gridDim.x * blockDim.x;
    const size_t copy = m.copies > 1 ? blockIdx.x % m.copies * m.copy_stride : 0;
    double *const coulomb = m.coulomb + copy, *const exchange = m.exchange + copy;
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
        const fmo_gpu_shells at =
            fmo_gpu_quartet<C>(view, m.boys->row[C::order][0], m.s_shells, quartet, eri);
        __syncwarp(S::block_wide ? 0xffffffffu : mask);
        double *const J = coulomb, *const K = exchange;
#define TERM(matrix, row, column, den_row, den_column)                                           \
    issued += fmo_gpu_digest_term<C, S, row, column, den_row, den_column>(scatter, mask, active, \
                                                                          m, matrix, at, eri);
        FMO_DIGEST_TABLE(TERM)
#undef TERM
    }
    fmo_scatter_finish(scatter);
    if (m.issued) {
        for (int offset = 16; offset; offset /= 2)
            issued += __shfl_down_sync(0xffffffffu, issued, offset);
        if (threadIdx.x % 32 == 0 && issued) atomicAdd(m.issued, (unsigned long long)issued);
    }
}

#endif
