/* The derivative of K: quartets that pass screening, those of low order computed by a thread each
 * (integrals/eri/eri_gradient_low.h), others by a warp (matrix.cuh). A warp takes items, a bra with
 * some tiles of kets or a part of a tile, sums the derivatives of the bra over them, and adds those
 * of the kets quartet by quartet. Compiled once for each part of the classes, with FMO_PART set to
 * its number. */
#include "accumulate/gpu/gradient/matrix.cuh"

#include "integrals/eri/eri_gradient_low.h"

namespace {

enum { TILE = FMO_GPU_TILE_PAIRS };

typedef struct exchange_args {
    fmo_gradient_pairs bra, ket;
    bool same;         /* bra and ket are the same list */
    int tiles, chunks; /* tiles of kets of an item; how many such chunks there are */
    int parts;         /* items into which a chunk of one tile is divided, a power of two */
    const double *boys;
    fmo_operator op;
    const fmo_gradient_molecule *molecule;
    const fmo_gradient_density *term;
    int term_num;
    const float *block_max, *row_max;
    float cutoff, prim_cutoff;
    unsigned *item;
    fmo_gradient_sums sums;
    bool sums_shared;
} exchange_args;

__device__ __forceinline__ float estimate(float bound, float derivative_bound, float2 ket)
{
    return fmaxf(bound * ket.y, derivative_bound * ket.x);
}

__device__ __forceinline__ double sum_lanes(double x)
{
    for (int offset = 16; offset; offset /= 2) x += __shfl_xor_sync(0xffffffffu, x, offset);
    return x;
}

/* The largest product of two density elements of K that a quartet is multiplied with. */
__device__ __forceinline__ float density_of(const exchange_args &a, const fmo_gradient_pair &bra,
                                            const fmo_gradient_pair &ket)
{
    const fmo_gradient_molecule &own = a.molecule[bra.molecule];
    const float *const i = a.block_max + own.block + (size_t)bra.sp_shell[0] * own.sp_shells;
    const float *const j = a.block_max + own.block + (size_t)bra.sp_shell[1] * own.sp_shells;
    return i[ket.sp_shell[0]] * j[ket.sp_shell[1]] + i[ket.sp_shell[1]] * j[ket.sp_shell[0]];
}

/* True if the quartet has a derivative that counts: not all functions are on one nucleus. */
__device__ __forceinline__ bool counts(const exchange_args &a, const fmo_gradient_pair &bra,
                                       const fmo_gradient_pair &ket, float density)
{
    const int nucleus = bra.nucleus[0];
    const bool alone =
        bra.nucleus[1] == nucleus && ket.nucleus[0] == nucleus && ket.nucleus[1] == nucleus;
    return !alone &&
           estimate(bra.bound, bra.derivative_bound, make_float2(ket.bound, ket.derivative_bound)) *
                   density >=
               a.cutoff;
}

/* The classes whose quartets are computed by a thread each, in registers; the others are by a warp.
 */
template <int CLASS> struct is_low_order {
    static constexpr int order = fmo_eri_class_order(CLASS),
                         bra = fmo_pair_order(fmo_eri_class_bra(CLASS));
    static constexpr bool value = CLASS < FMO_ERI_UNROLLED_COUNT &&
                                  order <= (int)FMO_GRADIENT_LOW_ORDER_MAX &&
                                  bra <= (int)FMO_GRADIENT_LOW_PAIR_MAX;
};
template <int CLASS> constexpr bool is_low = is_low_order<CLASS>::value;

/* Lanes that compute a quartet together. */
template <int CLASS> constexpr int lanes_of = is_low<CLASS> ? 1 : 32;

template <int CLASS> struct shells_of {
    static constexpr int bra = fmo_eri_class_bra(CLASS), ket = fmo_eri_class_ket(CLASS);
    static constexpr int LA = fmo_pair_ang_mom(bra, 0), LB = fmo_pair_ang_mom(bra, 1);
    static constexpr int LC = fmo_pair_ang_mom(ket, 0), LD = fmo_pair_ang_mom(ket, 1);
    typedef fmo_gradient_matrix_form<LA, LB, LC, LD> form;
};

/* The largest number of warps of a block, which has as many as fit the shared memory of the GPU. */
template <int CLASS> __host__ __device__ constexpr int find_warps(void)
{
    int warps = fmo_tuning_gpu_gradient_threads / 32;
    while (!is_low<CLASS> && warps > 1 &&
           warps * shells_of<CLASS>::form::doubles * (int)sizeof(double) >
               (int)fmo_tuning_gpu_gradient_block_bytes)
        warps--;
    return warps;
}
template <int CLASS> constexpr int max_warps = find_warps<CLASS>();

/* A quartet of pairs, and the largest product of density elements that it is multiplied with. */
typedef struct own_quartet {
    const fmo_gradient_pair &bra, &ket;
    float density;
    bool half; /* of a pair with itself */
} own_quartet;

/* True if a primitive quartet counts. */
__device__ __forceinline__ bool prim_counts(const exchange_args &a, const fmo_gradient_prim &p,
                                            const fmo_gradient_prim &q, float density)
{
    return !(estimate(p.bound, p.derivative_bound, make_float2(q.bound, q.derivative_bound)) *
                 density <
             a.prim_cutoff);
}

/* Adds all primitive quartets to sum[9], by one thread. */
template <int CLASS>
__device__ __forceinline__ void add_low_quartet(const exchange_args &a, const own_quartet &own,
                                                double *sum)
{
    typedef shells_of<CLASS> of;
    const fmo_gradient_pair &bra = own.bra, &ket = own.ket;
    fmo_gradient_quartet z = {};
    z.boys = a.boys;
    z.op = a.op;
    z.term = a.term + (size_t)bra.molecule * a.term_num;
    z.term_num = a.term_num;
    z.nao = a.molecule[bra.molecule].nao;
    z.bra.a = bra.functions[0], z.bra.b = bra.functions[1];
    z.ket.a = ket.functions[0], z.ket.b = ket.functions[1];
    FMO_UNROLL
    for (int x = 0; x < 3; x++) {
        z.AC[x] = bra.A[x] - ket.A[x];
        z.bra.AB[x] = bra.AB[x];
        z.ket.AB[x] = ket.AB[x];
    }
#pragma unroll 1
    for (int m = bra.begin; m < bra.begin + bra.num; m++) {
        z.bra.prim = a.bra.prim[m];
        if (own.half) z.bra.prim.k *= 0.5;
#pragma unroll 1
        for (int n = ket.begin; n < ket.begin + ket.num; n++) {
            z.ket.prim = a.ket.prim[n];
            if (!prim_counts(a, z.bra.prim, z.ket.prim, own.density)) continue;
            fmo_gradient_low_exchange(of::LA, of::LB, of::LC, of::LD, &z, sum);
        }
    }
}

/* What a warp keeps for quartets of high order: its arrays, the codes of its lanes' Hermite
 * functions (warp.cuh), and the primitive pair of the bra whose expansions are in memory, -1 for
 * none. */
template <class F> struct high_state {
    fmo_gradient_matrix_memory s;
    int code[F::own_hermites], bra;
};

/* The same by a warp; of products of the ket with a chunk in memory (F::in_chunks), that chunk. */
template <int CLASS, class F>
__device__ __forceinline__ void add_high_quartet(const exchange_args &a, high_state<F> *state,
                                                 const own_quartet &own, int chunk, double *sum)
{
    const fmo_gradient_matrix_memory &s = state->s;
    const fmo_gradient_pair &bra = own.bra, &ket = own.ket;
    const double AC[3] = {bra.A[0] - ket.A[0], bra.A[1] - ket.A[1], bra.A[2] - ket.A[2]};
    const bool of_operator = a.op.long_range != 0.0 || a.op.full != 1.0;
    fmo_gradient_matrix_density<F>(s, chunk, a.term + (size_t)bra.molecule * a.term_num, a.term_num,
                                   a.molecule[bra.molecule].nao, bra.functions, ket.functions);
    if (threadIdx.x % 32 < F::slots)
        s.ket[(threadIdx.x % 32 + 1) * F::of_ket - 1] = -1.0; /* empty */
    __syncwarp();
#pragma unroll 1
    for (int m = 0; m < bra.num; m++) {
        const fmo_gradient_matrix_pairs pairs = {a.bra.prim + bra.begin + m, a.ket.prim, bra.AB,
                                                 ket.AB, s.bra};
        if (state->bra != bra.begin + m)
            fmo_gradient_matrix_expand<F::la, F::lb, F::I, F::J>(*pairs.bra, bra.AB, 1.0, s.bra);
        state->bra = bra.begin + m;
        int next = ket.begin;
        for (;;) {
            int num = 0;
            for (; next < ket.begin + ket.num && num < F::slots; next++) {
                if (!prim_counts(a, *pairs.bra, pairs.kets[next], own.density)) continue;
                fmo_gradient_matrix_fill<F>(a.boys, of_operator ? &a.op : NULL, pairs,
                                            own.half ? 0.5 : 1.0, next, AC, state->code,
                                            s.ket + num * F::of_ket);
                num++;
            }
            if (!num) break;
            fmo_gradient_matrix_quartets<F>(s, chunk, num, pairs, sum);
            __syncwarp();
        }
    }
}

/* Adds the derivatives with respect to the bra's nuclei. */
__device__ __forceinline__ void add_bra(const exchange_args &a, unsigned long long *sums,
                                        const fmo_gradient_pair &bra, const double *sum)
{
    const int lane = threadIdx.x % 32;
    double own = 0.0;
    FMO_UNROLL
    for (int x = 0; x < 3; x++) {
        const double first = sum_lanes(sum[x]), both = sum_lanes(sum[3 + x]);
        if (lane == x) own = first;
        if (lane == 3 + x) own = both - first;
    }
    if (lane < 6)
        fmo_gradient_add(a.sums, sums, bra.molecule, 3 * bra.nucleus[lane / 3] + lane % 3, own);
}

/* Adds the derivatives with respect to the kets' nuclei, each lane those of its quartet; the sums
 * of lanes that are not `active` are zero. */
template <int CLASS>
__device__ __forceinline__ void add_kets(const exchange_args &a, unsigned long long *sums,
                                         int molecule, const int *nucleus, bool active,
                                         const double *sum)
{
    FMO_UNROLL
    for (int second = 0; second < 2; second++) {
        const int lowest = __shfl_sync(0xffffffffu, nucleus[second], 0);
        const int own = active ? nucleus[second] : lowest;
        const bool same = __all_sync(0xffffffffu, own == lowest);
        FMO_UNROLL
        for (int x = 0; x < 3; x++) {
            double value = second ? -sum[3 + x] - sum[6 + x] : sum[6 + x];
            if (same) value = sum_lanes(value);
            if (same ? threadIdx.x % 32 == 0 : active)
                fmo_gradient_add(a.sums, sums, molecule, 3 * own + x, value);
        }
    }
}

/* A ket that passed screening, with the density that multiplies its quartet. */
typedef struct queued_ket {
    int ket;
    float density;
} queued_ket;

/* Memory of a warp. */
template <int CLASS> struct warp_memory {
    queued_ket *queue; /* [QUEUE] */
    unsigned long long *sums;
    high_state<typename shells_of<CLASS>::form> high;
};
enum { QUEUE = 2 * 32 };

/* Computes `num` quartets of the queue from `first` on, up to one for each lane. */
template <int CLASS>
__device__ __forceinline__ void add_low_queue(const exchange_args &a, warp_memory<CLASS> &w,
                                              int own, int first, int num, double *of_bra)
{
    const int lane = threadIdx.x % 32;
    double sum[9] = {};
    int nucleus[2] = {0, 0};
    if (lane < num) {
        const queued_ket from = w.queue[first + lane];
        const fmo_gradient_pair &ket = a.ket.pair[from.ket];
        nucleus[0] = ket.nucleus[0];
        nucleus[1] = ket.nucleus[1];
        add_low_quartet<CLASS>(a, {a.bra.pair[own], ket, from.density, a.same && from.ket == own},
                               sum);
    }
    __syncwarp();
    FMO_UNROLL
    for (int x = 0; x < 6; x++) of_bra[x] += sum[x];
    add_kets<CLASS>(a, w.sums, a.bra.pair[own].molecule, nucleus, lane < num, sum);
}

/* Computes a quartet of the queue by all lanes. */
template <int CLASS>
__device__ __forceinline__ void add_high_queue(const exchange_args &a, warp_memory<CLASS> &w,
                                               int own, int first, double *of_bra)
{
    const int lane = threadIdx.x % 32;
    const queued_ket from = w.queue[first];
    const fmo_gradient_pair &bra = a.bra.pair[own], &ket = a.ket.pair[from.ket];
    double sum[9] = {}, mine = 0.0;
    typedef typename shells_of<CLASS>::form F;
#pragma unroll 1
    for (int chunk = 0; chunk < (F::in_chunks ? F::chunks : 1); chunk++)
        add_high_quartet<CLASS>(a, &w.high, {bra, ket, from.density, a.same && from.ket == own},
                                chunk, sum);
    FMO_UNROLL
    for (int x = 0; x < 6; x++) of_bra[x] += sum[x];
    FMO_UNROLL
    for (int x = 0; x < 3; x++) {
        const double both = sum_lanes(sum[3 + x]), third = sum_lanes(sum[6 + x]);
        if (lane == x) mine = third;
        if (lane == 3 + x) mine = -both - third;
    }
    if (lane < 6)
        fmo_gradient_add(a.sums, w.sums, bra.molecule, 3 * ket.nucleus[lane / 3] + lane % 3, mine);
}

/* Computes `num` quartets of the queue from `first` on, as many as a warp computes at a time. */
template <int CLASS>
__device__ __forceinline__ void add_queue(const exchange_args &a, warp_memory<CLASS> &w, int own,
                                          int first, int num, double *of_bra)
{
    __syncwarp();
    if constexpr (is_low<CLASS>)
        add_low_queue<CLASS>(a, w, own, first, num, of_bra);
    else
        add_high_queue<CLASS>(a, w, own, first, of_bra);
    __syncwarp();
}

/* Computes one item, a bra with tiles [first, end) of its molecule's kets, or with `part` of them.
 * Kets that pass screening wait in a queue until there are enough for all lanes. */
template <int CLASS>
__device__ __forceinline__ void add_item(const exchange_args &a, warp_memory<CLASS> &w, int own,
                                         int first, int end, int part)
{
    constexpr int groups = 32 / lanes_of<CLASS>;
    const fmo_gradient_pair &bra = a.bra.pair[own];
    const fmo_gradient_molecule &molecule = a.molecule[bra.molecule];
    const auto &of = molecule.of[fmo_eri_class_ket(CLASS)];
    const int lane = threadIdx.x % 32, kets = a.same ? own + 1 : of.pair + of.pairs;
    const float *const rows = a.row_max + molecule.sp_shell;
    const float density_bound = 2.0f * rows[bra.sp_shell[0]] * rows[bra.sp_shell[1]];
    double of_bra[6] = {};
    int queued = 0;
    bool any = false;
    if (!bra.num) return; /* padding */
    first += of.pair / TILE;
    end += of.pair / TILE;
    for (int tile = first; tile < end && tile * TILE < kets; tile++) {
        if (estimate(bra.bound, bra.derivative_bound, a.ket.tile[tile]) * density_bound < a.cutoff)
            continue;
        const int mine = tile * TILE + lane;
        float density = 0.0f;
        bool stays = false;
        if (mine < kets && lane % a.parts == part) {
            const fmo_gradient_pair &ket = a.ket.pair[mine];
            density = density_of(a, bra, ket);
            stays = counts(a, bra, ket, density);
        }
        const unsigned ballot = __ballot_sync(0xffffffffu, stays);
        if (stays) w.queue[queued + __popc(ballot & ((1u << lane) - 1u))] = {mine, density};
        queued += __popc(ballot);
        any = any || queued;
        for (; queued >= groups; queued -= groups)
            add_queue<CLASS>(a, w, own, queued - groups, groups, of_bra);
    }
    if (groups > 1 && queued) add_queue<CLASS>(a, w, own, 0, queued, of_bra);
    if (any) add_bra(a, w.sums, bra, of_bra);
}

/* ---- the kernel ----------------------------------------------------------------------------- */

/* Doubles of shared memory of a block of so many warps beside sums: tables and arrays of matrices,
 * and queues. */
template <int CLASS> __host__ __device__ constexpr int matrix_doubles(int warps)
{
    typedef typename shells_of<CLASS>::form F;
    return is_low<CLASS> ? 0 : F::table_doubles + warps * F::doubles;
}
template <int CLASS> __host__ __device__ constexpr int block_doubles(int warps)
{
    static_assert(sizeof(queued_ket) == sizeof(double), "exchange.cu: size of the queue");
    return matrix_doubles<CLASS>(warps) + warps * QUEUE;
}

/* Blocks that must fit a multiprocessor, by the order of a class: limits the registers of a
 * thread. */
template <int CLASS> constexpr int resident(void)
{
    constexpr int blocks[] = {FMO_TUNING_GPU_GRADIENT_RESIDENT};
    if constexpr (is_low<CLASS>)
        return blocks[fmo_eri_class_order(CLASS)];
    else
        return shells_of<CLASS>::form::ket_tiles == 1 ? 3 : 2;
}

/* Computes items until there are none left. */
template <int CLASS>
__global__ void __launch_bounds__(32 * max_warps<CLASS>, resident<CLASS>())
    exchange(const __grid_constant__ exchange_args a)
{
    extern __shared__ double shared[];
    const int warps = blockDim.x / 32;
    unsigned long long *const own_sums =
        (unsigned long long *)(shared + block_doubles<CLASS>(warps));
    warp_memory<CLASS> w;
    w.queue = (queued_ket *)(shared + matrix_doubles<CLASS>(warps)) + threadIdx.x / 32 * QUEUE;
    w.sums = a.sums_shared ? own_sums : a.sums.sum;
    const unsigned of_bra = (unsigned)(a.chunks * a.parts), items = a.bra.pairs * of_bra;
    for (int k = threadIdx.x; a.sums_shared && k < a.sums.components; k += blockDim.x)
        own_sums[k] = 0;
    if constexpr (!is_low<CLASS>)
        w.high.s = fmo_gradient_matrix_begin<typename shells_of<CLASS>::form>(shared);
    __syncthreads();
    if constexpr (!is_low<CLASS>) {
        w.high.bra = -1;
        FMO_UNROLL
        for (int n = 0; n < shells_of<CLASS>::form::own_hermites; n++)
            w.high.code[n] = w.high.s.hermite[threadIdx.x % 32 + 32 * n];
    }
    for (;;) {
        unsigned item = 0;
        if (threadIdx.x % 32 == 0) item = atomicAdd(a.item, 1u);
        item = __shfl_sync(0xffffffffu, item, 0);
        if (item >= items) break;
        const int own = (int)(item % of_bra), first = own / a.parts * a.tiles;
        add_item<CLASS>(a, w, (int)(item / of_bra), first, first + a.tiles, own % a.parts);
    }
    __syncthreads();
    for (int k = threadIdx.x; a.sums_shared && k < a.sums.components; k += blockDim.x)
        if (own_sums[k]) atomicAdd(&a.sums.sum[k], own_sums[k]);
}

/* The shape of the launch of a class. */
typedef struct block_shape {
    int warps;
    bool sums_shared;
    size_t bytes; /* of shared memory */
} block_shape;

/* Returns the largest block that fits the shared memory of the GPU; one that does not fit if there
 * is none. Sums of small molecules are kept there too, unless a block has a single warp then. */
template <int CLASS> block_shape find_shape(const fmo_gradient_pass *pass)
{
    const size_t sums_bytes = (size_t)pass->h->sums.components * sizeof *pass->h->sums.sum;
    block_shape shape = {max_warps<CLASS>, sums_bytes <= fmo_tuning_gpu_gradient_sums_bytes, 0};
    for (;;) {
        shape.bytes = block_doubles<CLASS>(shape.warps) * sizeof(double) +
                      (shape.sums_shared ? sums_bytes : 0);
        if (shape.bytes <= pass->shared_bytes) return shape;
        if (shape.warps > 1)
            shape.warps--;
        else if (shape.sums_shared)
            shape.sums_shared = false;
        else
            return shape;
    }
}

/* Sets the arguments and launches the kernel of a class. */
template <int CLASS> cudaError_t launch(const fmo_gradient_pass *pass, cudaStream_t stream)
{
    constexpr int bra = fmo_eri_class_bra(CLASS), ket = fmo_eri_class_ket(CLASS);
    const fmo_gpu_gradient &h = *pass->h;
    if (!h.pairs[bra].pairs || !h.pairs[ket].pairs) return cudaSuccess;
    const block_shape shape = find_shape<CLASS>(pass);
    const int all = (h.pairs[ket].pairs_max + TILE - 1) / TILE;
    int blocks = 0;
    if (shape.bytes > pass->shared_bytes) {
        *pass->lacking_bytes = shape.bytes;
        return cudaErrorLaunchOutOfResources;
    }
    FMO_GPU_TRY(cudaFuncSetAttribute(exchange<CLASS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)shape.bytes));
    FMO_GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, exchange<CLASS>,
                                                              32 * shape.warps, shape.bytes));
    const int grid = blocks * pass->processors, warps = grid * shape.warps;
    /* some items for each warp, but no fewer kets than it computes at a time */
    const int bra_items =
        (fmo_tuning_gpu_gradient_items * warps + h.pairs[bra].pairs - 1) / h.pairs[bra].pairs;
    const int tiles = bra_items < all ? (all + bra_items - 1) / bra_items : 1;
    int parts = 1;
    while (parts < lanes_of<CLASS> && parts * all < bra_items) parts *= 2;
    exchange_args args = {};
    args.bra = h.pairs[bra];
    args.ket = h.pairs[ket];
    args.same = bra == ket;
    args.tiles = tiles;
    args.chunks = (all + tiles - 1) / tiles;
    args.parts = parts;
    args.boys = pass->boys;
    args.op = pass->op;
    args.molecule = h.molecule;
    args.term = pass->term;
    args.term_num = pass->term_num;
    args.block_max = h.block_max;
    args.row_max = h.row_max;
    args.cutoff = pass->cutoff;
    args.prim_cutoff = pass->prim_cutoff;
    args.item = h.item + CLASS;
    args.sums = h.sums;
    args.sums_shared = shape.sums_shared;
    exchange<CLASS><<<(unsigned)grid, 32 * shape.warps, shape.bytes, stream>>>(args);
    return cudaGetLastError();
}

} // namespace

#define CAT_(a, b) a##b
#define CAT(a, b)  CAT_(a, b)

/* The part of a class: those of one bra class. */
cudaError_t CAT(fmo_gradient_exchange_, FMO_PART)(const fmo_gradient_pass *pass,
                                                  cudaStream_t stream)
{
#define ROW(e, name, li, lj, lk, ll, bra, ket) \
    if constexpr ((bra) == FMO_PART) FMO_GPU_TRY(launch<e>(pass, stream));
    FMO_ERI_GPU_TABLE(ROW)
#undef ROW
    return cudaSuccess;
}
