/* The fused kernel: each thread takes one quartet of a list of screened-in quartets, computes its
 * integrals (quartet.cuh), digests them in registers (rules/digest.h), and adds the results with
 * the strategy S, a type of fmo/atomics.cuh. far.cuh treats far quartets;
 * docs/explanation/gpu/kernels.md explains the design. */
#ifndef FMO_GPU_FUSED_KERNEL_CUH
#define FMO_GPU_FUSED_KERNEL_CUH

#include "accumulate/scatter/atomics.cuh"
#include <fmo/scatter.h>
#include "accumulate/gpu/kernels/quartet.cuh"

/* Positions of a lane's quartet in the matrices (four shells) and in the lists of pairs. same_bra
 * and same_k are masks of the lanes that continue a run, i.e. have the same bra pair as the lane
 * below, or the same bra pair and the same shell k. */
typedef struct fmo_gpu_place {
    unsigned row[4], column[4]; /* offset of the first row; first column */
    int pair[2];                /* numbers of the bra and ket pairs */
    unsigned same_bra, same_k;
} fmo_gpu_place;

/* Computes the positions of a lane's quartet. Strategies that sum over runs also get the masks;
 * then all lanes must call. */
template <class S>
static __device__ __forceinline__ fmo_gpu_place fmo_gpu_find_place(const fmo_gpu_shells &at,
                                                                   int2 quartet, unsigned mask,
                                                                   int nao)
{
    fmo_gpu_place p;
    const int bra = quartet.x;
    p.pair[0] = bra;
    p.pair[1] = quartet.y & (FMO_GPU_PAIRS_MAX - 1);
    FMO_UNROLL
    for (int s = 0; s < 4; s++) {
        p.column[s] = (unsigned)at.ao[s];
        p.row[s] = (unsigned)at.ao[s] * (unsigned)nao;
    }
    p.same_bra = p.same_k = 0;
    if (S::takes_runs) {
        const unsigned follows = mask & mask << 1, all = 0xffffffffu;
        p.same_bra = follows & __ballot_sync(all, __shfl_up_sync(all, bra, 1) == bra);
        p.same_k = p.same_bra & __ballot_sync(all, __shfl_up_sync(all, at.ao[2], 1) == at.ao[2]);
    }
    return p;
}

/* Loads N neighbouring values: four, aligned, of a padded SP shell, or three p functions. */
template <int N>
static __device__ __forceinline__ void fmo_gpu_load_row(const double *from, double *to)
{
    static_assert(N == 1 || N == 3 || N == 4, "functions of a shell or SP shell");
    constexpr int single = N % 2;
    if (single) to[0] = __ldg(from);
    FMO_UNROLL
    for (int n = single; n < N; n += 2) {
        const double2 two = __ldg((const double2 *)(from + n));
        to[n] = two.x;
        to[n + 1] = two.y;
    }
}

/* Loads the block of D of two shells, [ROW][COLUMN]. */
template <class C, int ROW, int COLUMN>
static __device__ __forceinline__ void fmo_gpu_load_block(const double *density, int nao,
                                                          const fmo_gpu_place &at, double *den)
{
    constexpr int size[4] = {C::N0, C::N1, C::N2, C::N3};
    FMO_UNROLL
    for (int u = 0; u < size[ROW]; u++)
        fmo_gpu_load_row<size[COLUMN]>(density +
                                           (at.row[ROW] + (unsigned)(u * nao) + at.column[COLUMN]),
                                       den + u * size[COLUMN]);
}

/* Adds a block to a matrix with the strategy; returns the number of atomics issued. All lanes of
 * `mask` must call; with a block-wide strategy all threads of the block, with one that sums over
 * runs all lanes of the warp, where lanes without a quartet are not `active`. */
template <class S, int ROWS, int COLUMNS, bool RUNS>
static __device__ __forceinline__ unsigned
fmo_gpu_scatter_block(const S &scatter, unsigned mask, bool active, unsigned run, double *address,
                      size_t stride, const double *block, double least)
{
    if constexpr (S::takes_runs && !RUNS)
        return scatter.template add_single<ROWS, COLUMNS>(mask, address, stride, block, least);
    else if constexpr (S::takes_runs)
        return scatter.template add_runs<ROWS, COLUMNS>(mask, run & mask & mask << 1, address,
                                                        stride, block, least);
    else
        return scatter.template add_block<ROWS, COLUMNS>(
            mask, S::block_wide && !active ? (double *)nullptr : address, stride, block);
}

/* Adds a block [products] to the sums of a pair; PAIR 0 is the bra, 1 the ket. */
template <class C, class S, int PAIR>
static __device__ __forceinline__ unsigned
fmo_gpu_add_coulomb(const S &scatter, unsigned mask, bool active, unsigned run,
                    const fmo_gpu_class_view &view, size_t copy, int pair, const double *block)
{
    const fmo_gpu_pairs &to = PAIR ? view.ket : view.bra;
    constexpr int products = PAIR ? C::N2 * C::N3 : C::N0 * C::N1;
    return fmo_gpu_scatter_block<S, products, 1, !PAIR>(
        scatter, mask, active, run, to.sums + copy + (unsigned)pair, (size_t)to.num, block, 0.0);
}

/* A row of the digestion table for J: contracts the integrals with D of the other pair and adds the
 * result to the sums of this one. PAIR 0 is the bra, 1 the ket. */
template <class C, class S, int PAIR>
static __device__ __forceinline__ unsigned
fmo_gpu_digest_coulomb(const S &scatter, unsigned mask, bool active, const fmo_gpu_class_view &view,
                       size_t copy, const fmo_gpu_place &at, const double *eri)
{
    constexpr int size[4] = {C::N0, C::N1, C::N2, C::N3}, row = 2 * PAIR, den_row = 2 - row;
    constexpr int products = size[row] * size[row + 1];
    constexpr int den_products = size[den_row] * size[den_row + 1];
    const fmo_gpu_pairs &from = PAIR ? view.bra : view.ket;
    double den[den_products], block[products];
    FMO_UNROLL
    for (int n = 0; n < den_products; n++)
        den[n] = __ldg(from.density + (unsigned)(n * from.num + at.pair[1 - PAIR]));
    fmo_digest_contract_sizes(C::N0, C::N1, C::N2, C::N3, row, row + 1, den_row, den_row + 1, eri,
                              den, block);
    return fmo_gpu_add_coulomb<C, S, PAIR>(scatter, mask, active, PAIR ? 0u : at.same_bra, view,
                                           copy, at.pair[PAIR], block);
}

/* A row of the digestion table for K: contracts the integrals with a block of D, number d of the
 * densities, and adds the result to its X^K. It makes no difference which triangle of X is added
 * to, or D is read from (digest.h), so the shells of the ket are columns, because those of
 * neighbouring lanes are neighbours. */
template <class C, class S, int ROW, int COLUMN, int DEN_ROW, int DEN_COLUMN>
static __device__ __forceinline__ unsigned
fmo_gpu_digest_exchange(const S &scatter, unsigned mask, bool active, const fmo_gpu_matrices &m,
                        int d, size_t copy, const fmo_gpu_place &at, const double *eri)
{
    constexpr int size[4] = {C::N0, C::N1, C::N2, C::N3};
    double den[size[DEN_ROW] * size[DEN_COLUMN]], block[size[ROW] * size[COLUMN]];
    fmo_gpu_load_block<C, DEN_ROW, DEN_COLUMN>(m.density + d * m.density_step, m.nao, at, den);
    fmo_digest_contract_sizes(C::N0, C::N1, C::N2, C::N3, ROW, COLUMN, DEN_ROW, DEN_COLUMN, eri,
                              den, block);
    return fmo_gpu_scatter_block<S, size[ROW], size[COLUMN], COLUMN == 2>(
        scatter, mask, active, at.same_k,
        m.exchange + d * m.exchange_step + copy + (at.row[ROW] + at.column[COLUMN]), (size_t)m.nao,
        block, m.exchange_least);
}

/* True for the types of strategies that sum integers, according to the table of scatter.h. */
template <class S> static constexpr bool fmo_gpu_sums_integers = false;
#define SUMS(e, name, kind, type, commits, sums, ...) SUMS_OF_##kind(type, sums)
#define SUMS_OF_FMO_SCATTER_ELEMENT(type, sums) \
    template <class Commit, int Threads>        \
    constexpr bool fmo_gpu_sums_integers<fmo_scatter_##type<Commit, Threads>> = sums;
#define SUMS_OF_FMO_SCATTER_SCHEDULE(type, sums)
#define SUMS_OF_FMO_SCATTER_CHOICE(type, sums)
FMO_SCATTER_TABLE(SUMS)
#undef SUMS
#undef SUMS_OF_FMO_SCATTER_ELEMENT
#undef SUMS_OF_FMO_SCATTER_SCHEDULE
#undef SUMS_OF_FMO_SCATTER_CHOICE

/* Sets what a strategy needs besides addresses: the scale of fixed-point sums, or the sink of
 * `none`. */
template <class S>
static __device__ __forceinline__ void fmo_gpu_prepare(S &scatter, const fmo_gpu_matrices &m)
{
    if constexpr (fmo_gpu_sums_integers<S>) scatter.scale = __ldg(m.fixed_scale);
}
template <class Commit, int Threads>
static __device__ __forceinline__ void fmo_gpu_prepare(fmo_scatter_none<Commit, Threads> &scatter,
                                                       const fmo_gpu_matrices &m)
{
    scatter.sink = m.sink;
    scatter.bits = 0;
}

/* Adds the number of atomics that a warp issued to the counter. All threads of the warp must call.
 */
static __device__ __forceinline__ void fmo_gpu_count_issued(const fmo_gpu_matrices &m,
                                                            unsigned issued)
{
    if (!m.issued) return;
    for (int offset = 16; offset; offset /= 2)
        issued += __shfl_down_sync(0xffffffffu, issued, offset);
    if (threadIdx.x % 32 == 0 && issued) atomicAdd(m.issued, (unsigned long long)issued);
}

/* True for strategies in which threads without a quartet must take part, at barriers or to add for
 * other lanes: these threads repeat a quartet and add nothing. With other strategies they leave the
 * loop. */
template <class S> static constexpr bool fmo_gpu_together = S::block_wide || S::takes_runs;

/* Offsets of the copy that a thread block adds to. */
typedef struct fmo_gpu_copy {
    size_t J, K; /* in the pairs' sums; in X^K */
} fmo_gpu_copy;
static __device__ __forceinline__ fmo_gpu_copy fmo_gpu_copy_of_block(const fmo_gpu_matrices &m)
{
    const size_t number = m.copies > 1 ? blockIdx.x % m.copies : 0;
    const fmo_gpu_copy copy = {number * m.sums_stride, number * m.copy_stride};
    return copy;
}

/* Which quartets of a list are added to J: all; those for which `counts` is true; none. */
typedef enum fmo_gpu_in_coulomb {
    FMO_GPU_COULOMB_ALL,
    FMO_GPU_COULOMB_SOME,
    FMO_GPU_COULOMB_NONE
} fmo_gpu_in_coulomb;

/* Calls each(d) for the densities of a build. The calls for two share their instructions, so that
 * they share registers, too. */
template <int DENSITIES, class Each>
static __device__ __forceinline__ void fmo_gpu_for_densities(const Each &each)
{
    if constexpr (DENSITIES == 1) {
        each(0);
    } else {
#pragma unroll 1
        for (int d = 0; d < DENSITIES; d++) each(d);
    }
}

/* The quartet of a lane in one step of a list. */
typedef struct fmo_gpu_lane {
    int2 quartet; /* the entry of the list, without FMO_GPU_EXCHANGE_ONLY_BIT */
    unsigned mask;
    bool active, counts; /* counts: is added to J */
} fmo_gpu_lane;

/* Digests one quartet in each active lane of the mask: all rows of the digestion table, those of K
 * for each of the densities. Returns the number of atomics issued. All lanes of the mask must call;
 * with strategies that need all threads (fmo_gpu_together), all threads. */
template <class C, fmo_gpu_in_coulomb COULOMB, int DENSITIES, class S>
static __device__ __forceinline__ unsigned
fmo_gpu_digest(const S &scatter, const fmo_gpu_class_view &view, const fmo_gpu_matrices &m,
               fmo_gpu_copy copy, const fmo_gpu_shells &at, fmo_gpu_lane lane, const double *eri)
{
    unsigned issued = 0;
    const unsigned mask = lane.mask;
    const bool active = lane.active, counts = lane.counts;
    constexpr bool some = COULOMB == FMO_GPU_COULOMB_SOME, none = COULOMB == FMO_GPU_COULOMB_NONE;
    const unsigned callers = fmo_gpu_together<S> ? 0xffffffffu : mask;
    __syncwarp(callers);
    const fmo_gpu_place place = fmo_gpu_find_place<S>(at, lane.quartet, mask, m.nao);
    const bool exchanges = active && ((unsigned)lane.quartet.y & FMO_GPU_EXCHANGE_BIT);
    const unsigned exchanging = __ballot_sync(callers, exchanges);
    const unsigned counting = some ? __ballot_sync(callers, counts) : mask;
#define TERM(matrix, row, column, den_row, den_column) \
    TERM_##matrix(row, column, den_row, den_column)
#define TERM_J(row, column, den_row, den_column)                                                   \
    if (!none && (!some || S::block_wide || (S::takes_runs ? counting : counts)))                  \
        issued += fmo_gpu_digest_coulomb<C, S, row / 2>(scatter, counting, some ? counts : active, \
                                                        view, copy.J, place, eri);
#define TERM_K(row, column, den_row, den_column)                                   \
    if (S::block_wide || (S::takes_runs ? exchanging : exchanges))                 \
        issued += fmo_gpu_digest_exchange<C, S, row, column, den_row, den_column>( \
            scatter, exchanging, exchanges, m, d, copy.K, place, eri);
    FMO_DIGEST_J_TABLE(TERM)
    fmo_gpu_for_densities<DENSITIES>([&](int d) { FMO_DIGEST_K_TABLE(TERM) });
#undef TERM_K
#undef TERM_J
#undef TERM
    __syncwarp(callers);
    return issued;
}

/* All threads of the grid process a list of screened-in quartets, upwards from `list` or, with
 * DIRECTION -1, downwards. They call work(quartet, mask, active, read_on) with values as in
 * fmo_gpu_lane. The next quartet is loaded when `work` calls read_on(), late enough that no
 * instruction waits for it at once. */
template <class S, int DIRECTION, class Work>
static __device__ __forceinline__ void fmo_gpu_for_quartets(const int2 *list, unsigned count,
                                                            const Work &work)
{
    const unsigned begin = blockIdx.x * blockDim.x, stride = gridDim.x * blockDim.x;
    if (begin >= count) return; /* the whole block returns */
    const auto read = [&](unsigned first) {
        const unsigned n = umin(first + threadIdx.x, count - 1);
        return fmo_gpu_load_once(list + DIRECTION * (ptrdiff_t)n);
    };
    int2 ahead = read(begin);
    for (unsigned first = begin; first < count; first += stride) {
        const bool active = first + threadIdx.x < count;
        const unsigned mask = __ballot_sync(0xffffffffu, active);
        if (!fmo_gpu_together<S> && !active) continue;
        work(ahead, mask, active, [&] { ahead = read(first + stride); });
    }
}

/* Digests a list of quartets; COULOMB: which are added to J. integrals(quartet, eri) computes the
 * integrals of a quartet and returns the positions of its shells. Returns the number of atomics
 * issued. */
template <class C, fmo_gpu_in_coulomb COULOMB, int DENSITIES, class S, class Integrals>
static __device__ __forceinline__ unsigned
fmo_gpu_digest_list(const S &scatter, const fmo_gpu_class_view &view, const fmo_gpu_matrices &m,
                    fmo_gpu_copy copy, const int2 *list, unsigned count, const Integrals &integrals)
{
    unsigned issued = 0;
    fmo_gpu_for_quartets<S, 1>(
        list, count, [&](int2 quartet, unsigned mask, bool active, const auto &read_on) {
            double eri[C::size];
            constexpr bool some = COULOMB == FMO_GPU_COULOMB_SOME;
            const bool counts = active && !(some && (quartet.x & FMO_GPU_EXCHANGE_ONLY_BIT));
            if (some) quartet.x &= ~FMO_GPU_EXCHANGE_ONLY_BIT;
            const fmo_gpu_shells at = integrals(quartet, eri);
            read_on();
            issued += fmo_gpu_digest<C, COULOMB, DENSITIES>(
                scatter, view, m, copy, at, fmo_gpu_lane{quartet, mask, active, counts}, eri);
        });
    return issued;
}

/* Processes the list of quartets whose charge distributions may overlap. OPERATOR: integrals of
 * m.op. */
template <class C, fmo_gpu_in_coulomb COULOMB, bool OPERATOR, int DENSITIES, class S>
static __device__ __forceinline__ unsigned
fmo_gpu_build_near(const S &scatter, const fmo_gpu_class_view &view, const fmo_gpu_matrices &m,
                   fmo_gpu_copy copy)
{
    return fmo_gpu_digest_list<C, COULOMB, DENSITIES>(
        scatter, view, m, copy, view.list, *view.count[FMO_GPU_NEAR],
        [&](int2 quartet, double *eri) {
            return fmo_gpu_quartet<C, OPERATOR>(view, m.boys->row[C::order][0], quartet, eri, m.op);
        });
}

#endif
