/* The schedule `tile`: a warp owns one bra pair (i,j), or a share of its ket pairs, and sums for
 * the rows i and j of X^K in shared memory. It screens the ket pairs and digests 32 screened-in
 * quartets at a time. X^J_ij stays in registers; X^K_ik, X^K_il, X^K_jk and X^K_jl are added to
 * these rows by plain loads and stores, where lanes with the same column take turns; only X^J_kl
 * takes atomics for each quartet. The rows and X^J_ij are added to global memory once, at the end.
 * Shared-memory atomics are not used, because for FP64 they are compare-and-swap loops. */
#ifndef FMO_GPU_TILE_KERNEL_CUH
#define FMO_GPU_TILE_KERNEL_CUH

#include "accumulate/scatter/atomics.cuh"
#include "accumulate/gpu/kernels/quartet.cuh"
#include "accumulate/rules/screen.h"

/* Arguments besides the class view, for the screening in the kernel. */
typedef struct fmo_gpu_tile_args {
    const float *block_max, *row_max;
    int stride;                    /* of block_max, as in fmo_gpu_exchange_of */
    int bra_begin, bra_step, bras; /* of the task */
    int chunks; /* number of warps that share a bra pair, each with rows of its own */
    double cutoff;
    fmo_gpu_counters *counters;
} fmo_gpu_tile_args;

/* Number of rows of shared memory of a block (one warp), [nao] doubles each. */
template <class C> static __host__ __device__ constexpr size_t fmo_gpu_tile_rows()
{
    return (size_t)(C::N0 + C::N1);
}

/* Adds a value to memory that only this warp writes; `none` of the profile only adds it to a check
 * value. */
template <class S>
static __device__ __forceinline__ void fmo_tile_update(const S &, double *to, double value)
{
    *to += value;
}

template <class Commit, int Threads>
static __device__ __forceinline__ void
fmo_tile_update(const fmo_scatter_none<Commit, Threads> &scatter, double *to, double value)
{
    (void)scatter.add(0u, to, value);
}

/* Adds block[rows][columns] of each active lane to the rows in shared memory, beginning at
 * `column`: one block for i and one for j together, since their columns are the same. Runs of
 * neighbouring lanes with one column are summed first; other lanes with the same column take turns.
 */
template <class S, int ROWS_I, int ROWS_J, int COLUMNS>
static __device__ __forceinline__ void fmo_gpu_tile_add(const S &scatter, bool active, int column,
                                                        const double *for_i, const double *for_j,
                                                        double *rows, int nao)
{
    const unsigned all = 0xffffffffu;
    constexpr int size_i = ROWS_I * COLUMNS, size = size_i + ROWS_J * COLUMNS;
    double value[size];
    FMO_UNROLL
    for (int n = 0; n < size; n++)
        value[n] = !active ? 0.0 : n < size_i ? for_i[n] : for_j[n - size_i];
    const int key = active ? column : -1 - (int)fmo_lane();
    const unsigned followers = fmo_run_followers(all, (const void *)(long long)key);
    fmo_run_suffix<size>(all, followers, value);
    const bool head = active && !(followers >> fmo_lane() & 1u);
    const unsigned heads = __ballot_sync(all, head);
    const unsigned peers = __match_any_sync(all, key) & heads;
    const int turn = __popc(peers & fmo_lanes_below());
    int turns = head ? turn + 1 : 0;
    FMO_UNROLL
    for (int offset = 16; offset; offset /= 2)
        turns = max(turns, __shfl_xor_sync(all, turns, offset));
    for (int t = 0; t < turns; t++) {
        if (head && turn == t) {
            FMO_UNROLL
            for (int n = 0; n < size; n++) {
                double *to = rows + (size_t)(n / COLUMNS) * nao + column + n % COLUMNS;
                fmo_tile_update(scatter, to, value[n]);
            }
        }
        __syncwarp();
    }
}

/* The contraction of the integrals with D for one row of the digestion table: block[ROW][COLUMN].
 */
template <class C, int ROW, int COLUMN, int DEN_ROW, int DEN_COLUMN>
static __device__ __forceinline__ void fmo_gpu_tile_term(const fmo_gpu_matrices &m,
                                                         const fmo_gpu_shells &at,
                                                         const double *eri, double *block)
{
    constexpr int size[4] = {C::N0, C::N1, C::N2, C::N3};
    double den[size[DEN_ROW] * size[DEN_COLUMN]];
    FMO_UNROLL
    for (int u = 0; u < size[DEN_ROW]; u++) {
        FMO_UNROLL
        for (int v = 0; v < size[DEN_COLUMN]; v++)
            den[u * size[DEN_COLUMN] + v] =
                __ldg(m.density + (size_t)(at.ao[DEN_ROW] + u) * m.nao + at.ao[DEN_COLUMN] + v);
    }
    fmo_digest_contract_sizes(C::N0, C::N1, C::N2, C::N3, ROW, COLUMN, DEN_ROW, DEN_COLUMN, eri,
                              den, block);
}

/* Terms of J: adds X^J of the bra to bra_sum in registers, and X^J of the ket to the matrix by
 * atomics. */
template <class C, class S, int ROW, int COLUMN, int DEN_ROW, int DEN_COLUMN>
static __device__ __forceinline__ void
fmo_gpu_tile_coulomb(const S &scatter, const fmo_gpu_matrices &m, bool active,
                     const fmo_gpu_shells &at, const double *eri, double *bra_sum)
{
    constexpr int size[4] = {C::N0, C::N1, C::N2, C::N3}, columns = size[COLUMN];
    constexpr int products = size[ROW] * columns;
    double block[products];
    fmo_gpu_tile_term<C, ROW, COLUMN, DEN_ROW, DEN_COLUMN>(m, at, eri, block);
    FMO_UNROLL
    for (int n = 0; n < products; n++) {
        if (ROW == 0)
            bra_sum[n] += active ? block[n] : 0.0;
        else if (active)
            (void)scatter.add(__activemask(),
                              m.coulomb + (size_t)(at.ao[ROW] + n / columns) * m.nao +
                                  at.ao[COLUMN] + n % columns,
                              block[n]);
    }
    __syncwarp();
}

/* Terms of K whose column is shell KET_SHELL of the ket: adds the blocks for the rows of i and j to
 * shared memory. */
template <class C, class S, int KET_SHELL>
static __device__ __forceinline__ void
fmo_gpu_tile_exchange(const S &scatter, const fmo_gpu_matrices &m, bool active,
                      const fmo_gpu_shells &at, const double *eri, double *rows)
{
    constexpr int size[4] = {C::N0, C::N1, C::N2, C::N3};
    double for_i[C::N0 * size[KET_SHELL]], for_j[C::N1 * size[KET_SHELL]];
#define TERM(matrix, row, column, den_row, den_column) \
    TERM_##matrix(row, column, den_row, den_column)
#define TERM_J(row, column, den_row, den_column)
#define TERM_K(row, column, den_row, den_column) \
    if constexpr (column == KET_SHELL)           \
        fmo_gpu_tile_term<C, row, column, den_row, den_column>(m, at, eri, row ? for_j : for_i);
    FMO_DIGEST_TABLE(TERM)
#undef TERM_K
#undef TERM_J
    fmo_gpu_tile_add<S, C::N0, C::N1, size[KET_SHELL]>(scatter, active, at.ao[KET_SHELL], for_i,
                                                       for_j, rows, m.nao);
}

/* Computes and digests one quartet in each active lane. */
template <class C, class S>
static __device__ __forceinline__ void
fmo_gpu_tile_digest(const S &scatter, const fmo_gpu_class_view &view, const fmo_gpu_matrices &m,
                    bool active, int2 quartet, double *rows, double *bra_sum)
{
    double eri[C::size];
    const fmo_gpu_shells at = fmo_gpu_quartet<C>(view, m.boys->row[C::order][0], quartet, eri);
    __syncwarp();
#define TERM_J(row, column, den_row, den_column)                                              \
    fmo_gpu_tile_coulomb<C, S, row, column, den_row, den_column>(scatter, m, active, at, eri, \
                                                                 bra_sum);
#define TERM_K(row, column, den_row, den_column)
    FMO_DIGEST_TABLE(TERM)
#undef TERM_K
#undef TERM_J
#undef TERM
    fmo_gpu_tile_exchange<C, S, 2>(scatter, m, active, at, eri, rows);
    fmo_gpu_tile_exchange<C, S, 3>(scatter, m, active, at, eri, rows);
}

/* The bra pair of a warp, and the largest element of D that may count for its quartets. */
typedef struct fmo_gpu_tile_bra {
    int number;
    int4 first;
    fmo_gpu_screen_data data;
    double max_density;
} fmo_gpu_tile_bra;

/* What a lane has counted for the profile. */
typedef struct fmo_gpu_tile_counts {
    unsigned long long quartets, included, prims;
} fmo_gpu_tile_counts;

/* Screens one ket: true if the quartet is to be computed, which is then counted. */
template <class C>
static __device__ __forceinline__ bool
fmo_gpu_tile_screen(const fmo_gpu_class_view &view, const fmo_gpu_tile_args &a,
                    const fmo_gpu_tile_bra &bra, int ket, fmo_gpu_tile_counts *counts)
{
    const fmo_gpu_screen_data ket_data = view.ket.screen[ket];
    if (!(bra.data.bound * ket_data.bound * bra.max_density >= a.cutoff)) return false;
    const float in_J = fmo_gpu_in_J(bra.data, ket_data);
    const float in_K = fmo_gpu_in_K(
        bra.data, ket_data,
        fmo_gpu_exchange_of(a.block_max, a.stride, bra.data.sp_shell, ket_data.sp_shell));
    if (!(fmaxf(in_J, in_K) >= a.cutoff)) return false;
    counts->prims += (unsigned long long)(bra.first.z * view.ket.first[ket].z);
    if (fmo_gpu_tally(bra.data.counts & ket_data.counts, FMO_GPU_TALLY_PAIRS)) {
        const unsigned includes = fmo_gpu_tally(ket_data.counts, FMO_GPU_TALLY_INCLUDED);
        counts->quartets++;
        counts->included += includes;
        if (view.same && ket == bra.number && includes)
            fmo_gpu_count_diagonal(a.counters->quartets, C::id);
    }
    return true;
}

/* Adds the sums of a warp to global memory in contiguous runs of atomics. Either triangle of X may
 * be used (digest.h). Returns the number of atomics of this lane. */
template <class C, class S>
static __device__ __forceinline__ unsigned
fmo_gpu_tile_flush(const S &scatter, const fmo_gpu_matrices &m, int4 first, const double *rows,
                   const double *bra_sum)
{
    constexpr int ni = C::N0, nj = C::N1;
    const int i0 = first.x, j0 = first.y, lane = threadIdx.x;
    unsigned issued = 0;
    for (int r = 0; r < ni + nj; r++) {
        double *to = m.exchange + (size_t)(r < ni ? i0 + r : j0 + r - ni) * m.nao;
        for (int x = lane; x < m.nao; x += 32) {
            const double value = rows[(size_t)r * m.nao + x];
            if (value != 0.0) issued += scatter.add(__activemask(), to + x, value);
        }
    }
    for (int n = 0; n < ni * nj; n++) {
        double sum = bra_sum[n];
        for (int offset = 16; offset; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
        if (lane == 0)
            issued += scatter.add(1u, m.coulomb + (size_t)(i0 + n / nj) * m.nao + j0 + n % nj, sum);
    }
    return issued;
}

/* Screens the kets of a warp's bra pair, or its share of them, digests them 32 at a time, and adds
 * the sums to the matrices at the end. */
template <class C, class S>
__global__ void __launch_bounds__(32, C::order >= 3 ? 8 : 16)
    fmo_gpu_tile(fmo_gpu_class_view view, fmo_gpu_matrices m, fmo_gpu_tile_args a, S scatter)
{
    constexpr int ni = C::N0, nj = C::N1;
    extern __shared__ double rows[]; /* [ni + nj][nao] */
    __shared__ int queue[64];
    const int lane = threadIdx.x, chunk = blockIdx.x % a.chunks;
    const int number = a.bra_begin + a.bra_step * (int)(blockIdx.x / a.chunks);
    const fmo_gpu_screen_data data = view.bra.screen[number];
    const double largest = __longlong_as_double((long long)a.counters->density_largest);
    const fmo_gpu_tile_bra bra = {number, view.bra.first[number], data,
                                  fmo_screen_max(4.0 * largest, fmaxf(a.row_max[data.sp_shell.x],
                                                                      a.row_max[data.sp_shell.y]))};
    const int kets = view.same ? number + 1 : view.ket.num;
    const int share = (kets + 32 * a.chunks - 1) / (32 * a.chunks) * 32;
    const int ket_begin = chunk * share;
    const int ket_end = min(ket_begin + share, kets);
    if (ket_begin >= ket_end) return;
    double bra_sum[ni * nj];
    int queued = 0;
    unsigned long long screened_in_num = 0;
    fmo_gpu_tile_counts own = {0, 0, 0};
    for (int n = 0; n < ni * nj; n++) bra_sum[n] = 0.0;
    for (int x = lane; x < (ni + nj) * m.nao; x += 32) rows[x] = 0.0;
    __syncwarp();
    for (int first = ket_begin; first < ket_end || queued; first += 32) {
        const int ket = first + lane;
        const bool stays = ket < ket_end && fmo_gpu_tile_screen<C>(view, a, bra, ket, &own);
        const unsigned ballot = __ballot_sync(0xffffffffu, stays);
        if (stays) queue[queued + __popc(ballot & fmo_lanes_below())] = ket;
        queued += __popc(ballot);
        screened_in_num += __popc(ballot);
        __syncwarp();
        if (queued >= 32 || (first + 32 >= ket_end && queued)) {
            const int take = queued < 32 ? queued : 32;
            const bool active = lane < take;
            const int2 quartet = make_int2(number, queue[active ? lane : 0]);
            fmo_gpu_tile_digest<C>(scatter, view, m, active, quartet, rows, bra_sum);
            const int left = lane + 32 < queued ? queue[lane + 32] : 0;
            __syncwarp();
            if (lane + 32 < queued) queue[lane] = left;
            queued -= take;
            __syncwarp();
        }
    }
    unsigned issued =
        screened_in_num ? fmo_gpu_tile_flush<C>(scatter, m, bra.first, rows, bra_sum) : 0;
    __syncwarp();
    fmo_scatter_finish(scatter);
    for (int offset = 16; offset; offset /= 2) {
        issued += __shfl_xor_sync(0xffffffffu, issued, offset);
        own.prims += __shfl_xor_sync(0xffffffffu, own.prims, offset);
        own.quartets += __shfl_xor_sync(0xffffffffu, own.quartets, offset);
        own.included += __shfl_xor_sync(0xffffffffu, own.included, offset);
    }
    if (lane == 0 && screened_in_num) {
        constexpr unsigned long long ket_adds = C::N2 * C::N3;
        atomicAdd(&a.counters->screened_in_num[C::id], screened_in_num);
        atomicAdd(&a.counters->exchanges[C::id], screened_in_num);
        atomicAdd(&a.counters->prim_quartets[C::id], own.prims);
        fmo_gpu_count(a.counters->quartets, C::id,
                      fmo_gpu_tally(data.counts, FMO_GPU_TALLY_INCLUDED), own.quartets,
                      own.included);
        atomicAdd(m.issued, issued + screened_in_num * ket_adds);
    }
}

#endif
