/* Multipoles of all cells from those of the leaves (upwards), interactions of far cells, and
 * potentials of all cells (downwards); equations: docs/explanation/multipoles.md. A block handles
 * one cell and descends the tree (descend.cuh) to find those that it interacts with: lists of
 * interactions would take too much memory. The order of all sums depends on geometry and density
 * alone. Next: boxes.cu, which launches these kernels, and leaves.cu. */
#include "accumulate/gpu/boxes/descend.cuh"

namespace {

enum {
    ORDER = FMO_GPU_BOX_ORDER,
    TERMS = FMO_GPU_BOX_TERMS,
    FULL = FMO_GPU_BOX_FULL,
    SHIFT_THREADS = (TERMS + 31) / 32 * 32
};

/* ---- one level up, or down ------------------------------------------------------------------- */

/* Computes the multipoles of a cell of one level from those of its two children, shifted to its
 * centre. One block for each cell, one thread for each term. */
__global__ void __launch_bounds__(SHIFT_THREADS)
    shift_to_parent(const __grid_constant__ fmo_gpu_box_view v, int begin)
{
    __shared__ double2 M[TERMS], R[TERMS];
    __shared__ double inverse[FMO_GPU_BOX_INVERSES];
    const int b = begin + blockIdx.x, child = v.box[b].child, t = threadIdx.x;
    double sum[2] = {0.0, 0.0};
    if (child < 0) return; /* the whole block */
    fmo_gpu_box_invert(inverse);
    for (int half = 0; half < 2; half++) {
        double at[3];
        for (int x = 0; x < 3; x++) at[x] = v.box[child + half].centre[x] - v.box[b].centre[x];
        __syncthreads();
        if (t < 32) fmo_gpu_box_regular<false>(ORDER, at, inverse, R);
        if (t < TERMS) M[t] = v.multipole[(size_t)(child + half) * TERMS + t];
        __syncthreads();
        if (t >= TERMS) continue;
        const int2 lm = fmo_gpu_box_term(t);
        for (int j = 0; j <= lm.x; j++)
            fmo_harmonics_row((const double *)M, j, (const double *)R, lm.x - j, lm.y, sum);
    }
    if (t < TERMS) v.multipole[(size_t)b * TERMS + t] = make_double2(sum[0], sum[1]);
}

/* Adds the potential of the parent cell, expanded about the cell's own centre, to that of each cell
 * of a level. One block for each cell, one thread for each term. */
__global__ void __launch_bounds__(SHIFT_THREADS)
    shift_to_children(const __grid_constant__ fmo_gpu_box_view v, int begin)
{
    __shared__ double2 L[TERMS], R[TERMS];
    __shared__ double inverse[FMO_GPU_BOX_INVERSES];
    const int b = begin + blockIdx.x, parent = v.box[b].parent, t = threadIdx.x;
    double at[3], sum[2] = {0.0, 0.0};
    fmo_gpu_box_invert(inverse);
    for (int x = 0; x < 3; x++) at[x] = v.box[b].centre[x] - v.box[parent].centre[x];
    __syncthreads();
    if (t < 32) fmo_gpu_box_regular<false>(ORDER, at, inverse, R);
    if (t < TERMS) L[t] = v.potential[(size_t)parent * TERMS + t];
    __syncthreads();
    if (t >= TERMS) return;
    const int2 lm = fmo_gpu_box_term(t);
    fmo_potential_row(ORDER, (const double *)L, (const double *)R, lm.x, lm.y, sum);
    double2 *const to = &v.potential[(size_t)b * TERMS + t];
    *to = make_double2(to->x + sum[0], to->y + sum[1]);
}

/* ---- multipole interactions ------------------------------------------------------------------ */

/* A lane computes pairs of terms, (l, m) and (l, m + 1), m even, which use each loaded value of I
 * twice. PAIRS: such pairs up to the highest order; ROUNDS: pairs of a lane. LIST: interactions
 * that a block collects before it computes them. */
__host__ __device__ constexpr int pairs_of(int order)
{
    return (order + 2) * (order + 2) / 4;
}
enum { PAIRS = pairs_of(ORDER), ROUNDS = (PAIRS + 31) / 32, LIST = fmo_tuning_gpu_box_list };

typedef struct interaction {
    int box, order;
} interaction;

/* sum += conj(a) b, in four fused multiply-adds. */
__device__ __forceinline__ void add_conj(double2 a, double2 b, double2 &sum)
{
    sum.x = fma(a.x, b.x, fma(a.y, b.y, sum.x));
    sum.y = fma(a.x, b.y, fma(-a.y, b.x, sum.y));
}

/* Adds sum_k conj(M_jk) I_(j+l)(k+m), over all k from -j to j, to sum[r][0], and the same for m + 1
 * to sum[r][1], for NUM pairs (l, m) of a lane, the last of them only if `on`. M points to M_j0,
 * at[r] to I_(j+l)m; both have both signs of m. */
template <int NUM>
__device__ __forceinline__ void add_row(const double2 *M, int j, const double2 *const *at, bool on,
                                        double2 (*sum)[2])
{
    double2 before = make_double2(0.0, 0.0);
    for (int k = -j; k <= j; k++) {
        const double2 now = M[k];
#pragma unroll
        for (int r = 0; r < NUM; r++) {
            if (r == NUM - 1 && !on) continue;
            const double2 I = at[r][k];
            add_conj(now, I, sum[r][0]);
            add_conj(before, I, sum[r][1]);
        }
        before = now;
    }
#pragma unroll
    for (int r = 0; r < NUM; r++) {
        if (r == NUM - 1 && !on) continue;
        add_conj(before, at[r][j + 1], sum[r][1]);
    }
}

/* The terms of an expansion that a lane sums. While order - j is large the 32 lanes hold all pairs
 * (l, m), ROUNDS pairs each. Up to HALF_ORDER half a warp holds all pairs, and each half takes
 * another j; up to QUARTER_ORDER each quarter takes one of the last four j. */
enum { HALF_ORDER = 6, QUARTER_ORDER = 3 };
static_assert(pairs_of(HALF_ORDER) <= 16 && pairs_of(QUARTER_ORDER) <= 8, "lanes for all pairs");

typedef struct lane_terms {
    int l[ROUNDS], m[ROUNDS], half_l, half_m, quarter_l, quarter_m;
    double2 sum[ROUNDS][2], half[1][2], quarter[1][2];
} lane_terms;

/* Returns l and the even m of pair t. */
__device__ void find_pair(int t, int *l, int *m)
{
    *l = 0;
    while (pairs_of(*l) <= t) ++*l;
    *m = 2 * (t - (*l ? pairs_of(*l - 1) : 0));
}

typedef struct interact_warp {
    double2 M[FULL], I[FULL + 1]; /* add_row reads one element more, which does not contribute */
} interact_warp;

/* Computes one interaction by a warp: adds sum_jk conj(M_jk) I_(j+l)(k+m), j + l up to the order,
 * to the lanes' sums. The factor (-1)^l is applied later, by put_pair. */
__device__ __forceinline__ void interact_one(const fmo_gpu_box_view &v, const fmo_box *own,
                                             interaction with, interact_warp *w, lane_terms *t)
{
    const double2 *const M = v.multipole + (size_t)with.box * TERMS;
    const int order = with.order, lane = threadIdx.x % 32;
    double at[3];
    for (int x = 0; x < 3; x++) at[x] = own->centre[x] - v.box[with.box].centre[x];
    __syncwarp();
    for (int n = lane; n < FMO_HARMONIC_TERMS(order); n += 32) {
        const int2 lm = fmo_gpu_box_term(n);
        const double2 of = __ldg(M + n);
        fmo_gpu_put_both(w->M, lm.x, lm.y, of.x, of.y);
    }
    fmo_gpu_box_irregular(order, at, w->I);
    __syncwarp();
    int j = 0;
    for (; order - j > HALF_ORDER; j++) {
        const int rest = order - j, rounds = (pairs_of(rest) + 31) / 32;
        const double2 *const Mj = w->M + fmo_gpu_box_both(j, 0);
        const double2 *from[ROUNDS];
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) from[r] = w->I + fmo_gpu_box_both(j + t->l[r], t->m[r]);
        static_assert(ROUNDS == 3, "the rounds below");
        if (rounds == 1)
            add_row<1>(Mj, j, from, t->l[0] <= rest, t->sum);
        else if (rounds == 2)
            add_row<2>(Mj, j, from, t->l[1] <= rest, t->sum);
        else
            add_row<3>(Mj, j, from, t->l[2] <= rest, t->sum);
    }
    for (; order - j > QUARTER_ORDER; j += 2) {
        const int mine = j + lane / 16, rest = order - mine;
        const double2 *const from = w->I + fmo_gpu_box_both(mine + t->half_l, t->half_m);
        if (rest > QUARTER_ORDER && t->half_l <= rest)
            add_row<1>(w->M + fmo_gpu_box_both(mine, 0), mine, &from, true, t->half);
    }
    const int mine = (order > QUARTER_ORDER ? order - QUARTER_ORDER : 0) + lane / 8;
    const double2 *const from = w->I + fmo_gpu_box_both(mine + t->quarter_l, t->quarter_m);
    if (t->quarter_l <= order - mine)
        add_row<1>(w->M + fmo_gpu_box_both(mine, 0), mine, &from, true, t->quarter);
}

/* Sums a pair of terms over the lanes that hold the same pair (lane modulo `lanes`), applies (-1)^l
 * and adds the result to the warp's expansion. */
__device__ __forceinline__ void put_pair(double2 (*sum)[2], int lanes, int l, int m, int order,
                                         double2 *to)
{
    const double sign = l & 1 ? -1.0 : 1.0;
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 2; k++) {
        double2 all = sum[0][k];
        for (int offset = 16; offset >= lanes; offset /= 2) {
            all.x += __shfl_xor_sync(0xffffffffu, all.x, offset);
            all.y += __shfl_xor_sync(0xffffffffu, all.y, offset);
        }
        if ((int)(threadIdx.x % 32) >= lanes || l > order || m + k > l) continue;
        double2 *const at = to + fmo_harmonic(l, m + k);
        *at = make_double2(at->x + sign * all.x, at->y + sign * all.y);
    }
}

typedef struct interact_shared {
    descent on;
    interaction list[LIST];
    double charge[WARPS];
    interact_warp of[WARPS];
} interact_shared;

/* Returns the potential at the centre of `own` of the other cell's charge (order 0). */
__device__ __forceinline__ double interact_charge(const fmo_gpu_box_view &v, const fmo_box *own,
                                                  int other)
{
    const double *const from = v.box[other].centre;
    const double x = own->centre[0] - from[0], y = own->centre[1] - from[1],
                 z = own->centre[2] - from[2];
    return v.multipole[(size_t)other * TERMS].x * fmo_rsqrt(x * x + y * y + z * z);
}

/* Reduces an interaction's order to what the strengths of the multipoles require; returns it. */
__device__ __forceinline__ int fewer_orders(const fmo_gpu_box_view &v, int target,
                                            interaction *with)
{
    with->order = fmo_box_fewer(
        with->order, &v.box[target], v.log_load[target].moment, &v.box[with->box],
        v.strength + (size_t)with->box * FMO_GPU_BOX_STRENGTHS, v.criterion.log_cutoff);
    return with->order;
}

/* Computes fmo_box_strength, one thread for each order of each cell. */
__global__ void __launch_bounds__(THREADS)
    find_strength(const __grid_constant__ fmo_gpu_box_view v, int num)
{
    const int n = blockIdx.x * THREADS + (int)threadIdx.x;
    const int b = n / FMO_GPU_BOX_STRENGTHS, l = n % FMO_GPU_BOX_STRENGTHS;
    if (n < num)
        v.strength[n] = (float)fmo_box_strength(
            &v.box[b], (const double *)(v.multipole + (size_t)b * TERMS), l);
}

/* Computes the potential in a cell (one block) of all cells that it interacts with. Interactions of
 * order 0 are computed by the thread that finds them; others are collected in s.list and computed
 * by one warp each. The warps' sums are added in a fixed order. */
__global__ void __launch_bounds__(THREADS) interact(const __grid_constant__ fmo_gpu_box_view v)
{
    extern __shared__ double2 memory[];
    interact_shared &s = *(interact_shared *)memory;
    const int target = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const fmo_box *const own = &v.box[target];
    lane_terms t = {};
    double charge = 0.0; /* the potential's term of order 0 */
    int listed = 0;
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) find_pair(32 * r + lane, &t.l[r], &t.m[r]);
    find_pair(lane % 16, &t.half_l, &t.half_m);
    find_pair(lane % 8, &t.quarter_l, &t.quarter_m);
    descend(
        v, target, &s.on,
        [&](int what, int other, int order) {
            const bool interacts = what == INTERACT;
            if (interacts && !order) charge += interact_charge(v, own, other);
            const unsigned those = __ballot_sync(0xffffffffu, interacts && order);
            if (lane == 0) s.on.found[warp] = __popc(those);
            if (!(those >> lane & 1u)) return make_int3(0, 0, -1);
            return make_int3(other, order, __popc(those & ((1u << lane) - 1u)));
        },
        [&](int3 found, bool last) {
            int to = listed + found.z;
            for (int k = 0; k < WARPS; k++) {
                if (k < warp) to += s.on.found[k];
                listed += s.on.found[k];
            }
            if (found.z >= 0) s.list[to] = {found.x, found.y};
            if (listed + THREADS <= LIST && !last) return;
            __syncthreads();
            for (int n = threadIdx.x; n < listed; n += THREADS)
                if (!fewer_orders(v, target, &s.list[n]))
                    charge += interact_charge(v, own, s.list[n].box);
            __syncthreads();
            for (int n = warp; n < listed; n += WARPS)
                if (s.list[n].order) interact_one(v, own, s.list[n], &s.of[warp], &t);
            listed = 0;
        });
    for (int offset = 16; offset; offset /= 2)
        charge += __shfl_xor_sync(0xffffffffu, charge, offset);
    if (lane == 0) s.charge[warp] = charge;
    double2 *const mine = s.of[warp].M;
    for (int n = lane; n < TERMS; n += 32) mine[n] = make_double2(0.0, 0.0);
#pragma unroll
    for (int r = 0; r < ROUNDS; r++) put_pair(&t.sum[r], 32, t.l[r], t.m[r], ORDER, mine);
    put_pair(t.half, 16, t.half_l, t.half_m, HALF_ORDER, mine);
    put_pair(t.quarter, 8, t.quarter_l, t.quarter_m, QUARTER_ORDER, mine);
    __syncthreads();
    for (int n = threadIdx.x; n < TERMS; n += THREADS) {
        double2 all = make_double2(0.0, 0.0);
        for (int w = 0; w < WARPS; w++) {
            all.x += s.of[w].M[n].x + (n ? 0.0 : s.charge[w]);
            all.y += s.of[w].M[n].y;
        }
        v.potential[(size_t)target * TERMS + n] = all;
    }
}

} // namespace

cudaError_t fmo_gpu_box_up(const fmo_gpu_box_view *v, const fmo_boxes *tree, cudaStream_t stream)
{
    for (int level = tree->level_num - 2; level >= 0; level--) {
        const int begin = tree->level[level], num = tree->level[level + 1] - begin;
        shift_to_parent<<<num, SHIFT_THREADS, 0, stream>>>(*v, begin);
        FMO_GPU_TRY(cudaGetLastError());
    }
    return cudaSuccess;
}

cudaError_t fmo_gpu_box_interact(const fmo_gpu_box_view *v, int boxes, cudaStream_t stream)
{
    const int bytes = (int)sizeof(interact_shared), strengths = boxes * FMO_GPU_BOX_STRENGTHS;
    find_strength<<<(strengths + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*v, strengths);
    FMO_GPU_TRY(cudaGetLastError());
    FMO_GPU_TRY(cudaFuncSetAttribute(interact, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    interact<<<boxes, THREADS, (size_t)bytes, stream>>>(*v);
    return cudaGetLastError();
}

cudaError_t fmo_gpu_box_down(const fmo_gpu_box_view *v, const fmo_boxes *tree, cudaStream_t stream)
{
    for (int level = 1; level < tree->level_num; level++) {
        const int begin = tree->level[level], num = tree->level[level + 1] - begin;
        shift_to_children<<<num, SHIFT_THREADS, 0, stream>>>(*v, begin);
        FMO_GPU_TRY(cudaGetLastError());
    }
    return cudaSuccess;
}
