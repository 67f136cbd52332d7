/* Multipoles of a leaf from the density of its pairs, and X^J of the pairs from the leaf's
 * potential. A warp handles one pair, primitive by primitive, which is exact, unlike the nodes of
 * far quartets. The arithmetic of primitives is that of far quartets (integrals/far); equations:
 * docs/explanation/multipoles.md. Next: interact.cu. */
#include "accumulate/gpu/boxes/leaves.h"
#include "accumulate/tuning.h"

#include <math.h>

namespace {

enum {
    WARPS = fmo_tuning_gpu_box_warps,
    THREADS = 32 * WARPS,
    ORDER = FMO_GPU_BOX_ORDER,
    TERMS = FMO_GPU_BOX_TERMS,
    ROUNDS = (TERMS + 31) / 32, /* terms of a lane */
    PAIR_ORDER = FMO_PAIR_LOW_L_ORDER_MAX,
    PAIR_TERMS = FMO_HARMONIC_TERMS(PAIR_ORDER)
};
static_assert(PAIR_ORDER == 2, "moments of a pair: multipoles_of, derivatives_of");
static_assert((int)FMO_GPU_DEPTH_MAX <= 32, "a lane for each primitive");

/* A primitive in shared memory, computed by one lane for its warp. */
typedef struct primitive {
    double at[3]; /* relative to the leaf's centre */
    double coefficient[FMO_FAR_COEFFICIENTS_MAX];
    double2 q[PAIR_TERMS]; /* its multipoles, contracted with the density */
} primitive;

typedef struct warp_shared {
    double2 R[FMO_GPU_BOX_FULL];
    primitive prim[FMO_GPU_DEPTH_MAX];
} warp_shared;

/* Converts Hermite moments H, up to order L, to multipoles: those of the derivative (t u v) of a
 * unit charge are d_tuv R_lm (docs/explanation/theory.md). */
template <int L> __device__ void multipoles_of(const double *H, double2 *q)
{
    q[0] = make_double2(H[0], 0.0);
    if (L < 1) return;
    q[1] = make_double2(H[3], 0.0);
    q[2] = make_double2(-0.5 * H[1], -0.5 * H[2]);
    if (L < 2) return;
    q[3] = make_double2(H[9] - 0.5 * (H[4] + H[7]), 0.0);
    q[4] = make_double2(-0.5 * H[6], -0.5 * H[8]);
    q[5] = make_double2(0.25 * (H[4] - H[7]), 0.25 * H[5]);
}

/* Returns the potential and its derivatives up to order L from its expansion q. */
template <int L> __device__ void derivatives_of(const double2 *q, double *V)
{
    V[0] = q[0].x;
    if (L < 1) return;
    V[1] = -q[2].x;
    V[2] = -q[2].y;
    V[3] = q[1].x;
    if (L < 2) return;
    V[4] = 0.5 * (q[5].x - q[3].x);
    V[5] = 0.5 * q[5].y;
    V[6] = -q[4].x;
    V[7] = -0.5 * (q[5].x + q[3].x);
    V[8] = -q[4].y;
    V[9] = q[3].x;
}

/* Returns the class of a pair, numbered class after class. */
__device__ int class_of(const fmo_gpu_box_view &v, int item)
{
    int c = 0;
    while (item >= v.first[c + 1]) c++;
    return c;
}

/* Computes position, relative to `centre`, and coefficients of primitive m of pair n. */
template <int PAIR>
__device__ __forceinline__ void find_primitive(const fmo_gpu_pairs &pairs, int n, int m,
                                               const double *centre, const double *AB,
                                               primitive *to)
{
    const double2 *const record =
        pairs.record + ((size_t)pairs.record_at[n] + m) * FMO_GPU_PAIR_TWOS;
    double prim[FMO_PAIR_FIELDS], place;
    for (int t = 0; t < FMO_PAIR_FIELDS / 2; t++) {
        prim[2 * t] = record[t].x;
        prim[2 * t + 1] = record[t].y;
    }
    const double ratio = record[FMO_PAIR_FIELDS / 2].x;
    fmo_far_primitives(PAIR, 1, prim, &ratio, AB, &place, to->coefficient);
    for (int x = 0; x < 3; x++)
        to->at[x] = pairs.centre[(size_t)x * pairs.num + n] - centre[x] + place * AB[x];
}

/* Adds the multipoles of pair n, about the leaf's centre, to the lanes' sums. Each lane prepares
 * one primitive; then the warp adds the primitives one by one, a term of the expansion for each
 * lane. */
template <int PAIR>
__device__ __forceinline__ void collect(const fmo_gpu_pairs &pairs, int n, const double *centre,
                                        const double *inverse, warp_shared *own,
                                        double sum[ROUNDS][2])
{
    constexpr int L = fmo_pair_order(PAIR);
    const int lane = threadIdx.x % 32, num = pairs.first[n].z;
    __syncwarp();
    if (lane < num) {
        double D[FMO_FAR_PRODUCTS(PAIR)], folded[FMO_FAR_SUMS(PAIR)], AB[3], H[FMO_FAR_TERMS(L)];
        for (int x = 0; x < 3; x++) AB[x] = pairs.centre[(size_t)(3 + x) * pairs.num + n];
        for (int x = 0; x < FMO_FAR_PRODUCTS(PAIR); x++)
            D[x] = pairs.density[(size_t)x * pairs.num + n];
        fmo_far_fold(PAIR, AB, D, folded);
        find_primitive<PAIR>(pairs, n, lane, centre, AB, &own->prim[lane]);
        fmo_far_moments(PAIR, own->prim[lane].coefficient, folded, H);
        multipoles_of<L>(H, own->prim[lane].q);
    }
    __syncwarp();
    for (int m = 0; m < num; m++) {
        const primitive *const p = &own->prim[m];
        fmo_gpu_box_regular<false>(ORDER, p->at, inverse, own->R);
        __syncwarp();
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            const int t = 32 * r + lane;
            if (t >= TERMS) break;
            const int2 at = fmo_gpu_box_term(t);
            for (int j = 0; j <= L && j <= at.x; j++)
                fmo_harmonics_row((const double *)p->q, j, (const double *)own->R, at.x - j, at.y,
                                  sum[r]);
        }
        __syncwarp();
    }
}

/* Threads of the blocks that compute the loads of cells, one block each: more for the first cells,
 * which hold most pairs. */
enum {
    LARGE_BOXES = fmo_tuning_gpu_box_load_boxes,
    LARGE_THREADS = fmo_tuning_gpu_box_load_threads_large,
    SMALL_THREADS = fmo_tuning_gpu_box_load_threads_small
};

/* Computes the load of a cell (fmo_box_load): the largest 4 |D| B and the sum of |D| times moments
 * of its pairs, with the largest values that depend on geometry alone; stores the logarithms. */
template <int SIZE>
__global__ void __launch_bounds__(SIZE)
    compute_loads(const __grid_constant__ fmo_gpu_box_leaves_args a, int first)
{
    __shared__ double charges[SIZE / 32], weights[SIZE / 32];
    const fmo_gpu_box_view &v = a.view;
    const int b = first + (int)blockIdx.x, begin = v.box[b].begin, end = v.box[b].end;
    double charge = 0.0, weighted = 0.0;
    for (int k = begin + (int)threadIdx.x; k < end; k += SIZE) {
        const int item = v.item[k], c = class_of(v, item);
        const fmo_gpu_screen_data data = a.pairs[c].screen[item - v.first[c]];
        const double D =
            data.bound > 0.0f ? (double)data.coulomb_estimate / (double)data.bound : 0.0;
        weighted = fmax(weighted, D * v.bound[item]);
        charge += D * v.moment[item];
    }
    for (int offset = 16; offset; offset /= 2) {
        charge += __shfl_xor_sync(0xffffffffu, charge, offset);
        weighted = fmax(weighted, __shfl_xor_sync(0xffffffffu, weighted, offset));
    }
    if (threadIdx.x % 32 == 0) {
        charges[threadIdx.x / 32] = charge;
        weights[threadIdx.x / 32] = weighted;
    }
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < SIZE / 32; w++) {
        charge += charges[w];
        weighted = fmax(weighted, weights[w]);
    }
    /* the Coulomb estimate contains the factor 4 and J's weight, which charges do not */
    fmo_box_load load = {v.largest_bound[b], weighted, v.largest_moment[b],
                         charge / (4.0 * a.weight)};
    fmo_box_take_logs(&load);
    v.log_load[b] = load;
}

/* Computes the multipoles of a leaf; one block for each leaf, whose warps take pairs in turns and
 * whose sums are added in a fixed order. */
__global__ void __launch_bounds__(THREADS)
    collect_leaves(const __grid_constant__ fmo_gpu_box_leaves_args a)
{
    __shared__ warp_shared shared[WARPS];
    __shared__ double inverse[FMO_GPU_BOX_INVERSES];
    const fmo_gpu_box_view &v = a.view;
    const int b = v.of_leaf[blockIdx.x], warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const fmo_box box = v.box[b];
    double sum[ROUNDS][2] = {};
    fmo_gpu_box_invert(inverse);
    __syncthreads();
    for (int k = box.begin + warp; k < box.end; k += WARPS) {
        const int item = v.item[k], c = class_of(v, item), n = item - v.first[c];
#define ROW(P, name, li, lj, partner) \
    if (c == FMO_PAIR_##P)            \
        collect<FMO_PAIR_##P>(a.pairs[FMO_PAIR_##P], n, box.centre, inverse, &shared[warp], sum);
        FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < ROUNDS; r++)
        if (32 * r + lane < TERMS)
            shared[warp].R[32 * r + lane] = make_double2(sum[r][0], sum[r][1]);
    __syncthreads();
    for (int t = threadIdx.x; t < TERMS; t += THREADS) {
        double2 all = shared[0].R[t];
        for (int w = 1; w < WARPS; w++) {
            all.x += shared[w].R[t].x;
            all.y += shared[w].R[t].y;
        }
        v.multipole[(size_t)b * TERMS + t] = all;
    }
}

/* Adds a lane's terms of sum_m L_lm conj(R_(l-j)(m-k)): m >= 0 = at.y, together with the
 * contribution of -m. R has both signs of m. */
__device__ __forceinline__ void add_shifted(double2 L, int2 at, const double2 *R, int j, int k,
                                            double2 *to)
{
    const int rest = at.x - j, less = at.y - k, more = at.y + k;
    const double weight = at.y ? 1.0 : 0.5;
    if (rest < 0) return;
    if (less <= rest && less >= -rest) {
        const double2 r = R[fmo_gpu_box_both(rest, less)];
        to->x += weight * (L.x * r.x + L.y * r.y);
        to->y += weight * (L.y * r.x - L.x * r.y);
    }
    if (more <= rest) { /* -m: (-1)^k times the conjugate of the sum for -k */
        const double2 r = R[fmo_gpu_box_both(rest, more)];
        const double sign = k & 1 ? -weight : weight;
        to->x += sign * (L.x * r.x + L.y * r.y);
        to->y -= sign * (L.y * r.x - L.x * r.y);
    }
}

/* Adds X^J of pair n, from the potential expanded about the leaf's centre, to the pair's sums. For
 * each primitive the warp computes the potential and its derivatives at its position; the
 * contributions of all primitives are summed before one atomic add for each product of
 * functions. */
template <int PAIR>
__device__ __forceinline__ void contract(const fmo_gpu_pairs &pairs, int n, const double *centre,
                                         const double *inverse, const double2 *potential,
                                         const double *scale, warp_shared *own)
{
    constexpr int L = fmo_pair_order(PAIR), products = FMO_FAR_PRODUCTS(PAIR);
    const int lane = threadIdx.x % 32, num = pairs.first[n].z;
    double sums[FMO_FAR_SUMS(PAIR)], J[products], AB[3];
    for (int x = 0; x < 3; x++) AB[x] = pairs.centre[(size_t)(3 + x) * pairs.num + n];
#pragma unroll
    for (int s = 0; s < FMO_FAR_SUMS(PAIR); s++) sums[s] = 0.0;
    __syncwarp();
    if (lane < num) find_primitive<PAIR>(pairs, n, lane, centre, AB, &own->prim[lane]);
    __syncwarp();
    for (int m = 0; m < num; m++) {
        const primitive *const p = &own->prim[m];
        double2 q[FMO_HARMONIC_TERMS(L)];
        double V[FMO_FAR_TERMS(L)];
        fmo_gpu_box_regular<true>(ORDER, p->at, inverse, own->R);
        __syncwarp();
#pragma unroll
        for (int t = 0; t < FMO_HARMONIC_TERMS(L); t++) q[t] = make_double2(0.0, 0.0);
        for (int r = 0; r < ROUNDS; r++) {
            const int t = 32 * r + lane;
            if (t >= TERMS) break;
            const double2 of = potential[t];
            const int2 at = fmo_gpu_box_term(t);
#pragma unroll
            for (int j = 0; j <= L; j++)
#pragma unroll
                for (int k = 0; k <= j; k++)
                    add_shifted(of, at, own->R, j, k, &q[fmo_harmonic(j, k)]);
        }
#pragma unroll
        for (int t = 0; t < FMO_HARMONIC_TERMS(L); t++)
            for (int offset = 16; offset; offset /= 2) {
                q[t].x += __shfl_xor_sync(0xffffffffu, q[t].x, offset);
                q[t].y += __shfl_xor_sync(0xffffffffu, q[t].y, offset);
            }
        derivatives_of<L>(q, V);
        fmo_far_potential(PAIR, p->coefficient, V, sums);
        __syncwarp();
    }
    fmo_far_unfold(PAIR, AB, sums, J);
#pragma unroll
    for (int x = 0; x < products; x++) {
        if (lane != x) continue;
        double *const to = pairs.sums + (size_t)x * pairs.num + n;
        if (scale)
            atomicAdd((unsigned long long *)to, (unsigned long long)__double2ll_rn(J[x] * *scale));
        else
            atomicAdd(to, J[x]);
    }
}

/* Adds X^J of the pairs of a leaf; one block for each leaf, one warp for each pair in turn. */
__global__ void __launch_bounds__(THREADS)
    contract_leaves(const __grid_constant__ fmo_gpu_box_leaves_args a)
{
    __shared__ warp_shared shared[WARPS];
    __shared__ double inverse[FMO_GPU_BOX_INVERSES];
    __shared__ double2 potential[TERMS];
    const fmo_gpu_box_view &v = a.view;
    const int b = v.of_leaf[blockIdx.x], warp = threadIdx.x / 32;
    const fmo_box box = v.box[b];
    fmo_gpu_box_invert(inverse);
    for (int t = threadIdx.x; t < TERMS; t += THREADS)
        potential[t] = v.potential[(size_t)b * TERMS + t];
    __syncthreads();
    for (int k = box.begin + warp; k < box.end; k += WARPS) {
        const int item = v.item[k], c = class_of(v, item), n = item - v.first[c];
#define ROW(P, name, li, lj, partner)                                                             \
    if (c == FMO_PAIR_##P)                                                                        \
        contract<FMO_PAIR_##P>(a.pairs[FMO_PAIR_##P], n, box.centre, inverse, potential, a.scale, \
                               &shared[warp]);
        FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
    }
}

/* Computes a pair's position, sizes, the sum of its primitives' Schwarz bounds and its moment, the
 * size of all its charges. For a distance d, a moment H of order k contributes to the orders left
 * out at most as much as a charge k! H / d^k at that distance. */
template <int PAIR>
__device__ void find_extent(const fmo_gpu_pairs &pairs, int n, double cutoff, fmo_box_item *item,
                            double *bound, double *moment)
{
    constexpr int L = fmo_pair_order(PAIR);
    const int num = pairs.first[n].z;
    double place[FMO_GPU_DEPTH_MAX], weight[FMO_GPU_DEPTH_MAX][4], AB[3];
    double low = HUGE_VAL, high = -HUGE_VAL, length = 0.0, spread = 0.0, bounds = 0.0;
    for (int x = 0; x < 3; x++) {
        AB[x] = pairs.centre[(size_t)(3 + x) * pairs.num + n];
        length += AB[x] * AB[x];
    }
    for (int m = 0; m < num; m++) {
        const double2 *const record =
            pairs.record + ((size_t)pairs.record_at[n] + m) * FMO_GPU_PAIR_TWOS;
        double prim[FMO_PAIR_FIELDS];
        for (int t = 0; t < FMO_PAIR_FIELDS / 2; t++) {
            prim[2 * t] = record[t].x;
            prim[2 * t + 1] = record[t].y;
        }
        bounds += (double)fmo_gpu_prim_bound(record[FMO_PAIR_FIELDS / 2]);
        spread = fmax(spread, 2.0 * prim[FMO_PAIR_HALF]);
        place[m] = fmo_far_place(prim, AB);
        low = fmin(low, place[m]);
        high = fmax(high, place[m]);
        for (int k = 0; k < 4; k++) weight[m][k] = 0.0;
        fmo_far_sizes(PAIR, prim, record[FMO_PAIR_FIELDS / 2].x, place[m], fmo_far_width(AB),
                      weight[m], &weight[m][3]);
    }
    const double d = L > 0 ? 0.5 * sqrt(spread) : 0.0, middle = 0.5 * (low + high);
    double sum = 0.0, powers = 0.0;
    for (int m = 0; m < num; m++) {
        const double all = weight[m][0] + (L > 0 ? weight[m][1] / d : 0.0) +
                           (L > 1 ? 2.0 * weight[m][2] / (d * d) : 0.0);
        const double larger = fmax(all, weight[m][3]); /* or of the partner's products (SP) */
        sum += larger;
        powers += larger * pow(fabs(place[m] - middle) * sqrt(length), (double)FMO_BOX_POWER);
    }
    for (int x = 0; x < 3; x++)
        item->centre[x] = pairs.centre[(size_t)x * pairs.num + n] + middle * AB[x];
    item->extent = 0.5 * (high - low) * sqrt(length) + d;
    item->radius = (sum > 0.0 ? pow(powers / sum, 1.0 / FMO_BOX_POWER) : 0.0) + d;
    item->spread = spread;
    item->reach = sqrt(spread * fmo_box_T(log(bounds / cutoff)));
    *bound = bounds;
    *moment = sum;
}

/* One thread for each pair of all classes. */
__global__ void find_extents(const __grid_constant__ fmo_gpu_box_extents_args a)
{
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= a.first[FMO_PAIR_LOW_L_COUNT]) return;
#define ROW(P, name, li, lj, partner)                                                            \
    if (item >= a.first[FMO_PAIR_##P] && item < a.first[FMO_PAIR_##P + 1])                       \
        find_extent<FMO_PAIR_##P>(a.pairs[FMO_PAIR_##P], item - a.first[FMO_PAIR_##P], a.cutoff, \
                                  &a.item[item], &a.bound[item], &a.moment[item]);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
}

} // namespace

cudaError_t fmo_gpu_box_loads(const fmo_gpu_box_leaves_args *args, int boxes, cudaStream_t stream)
{
    const int large = boxes < LARGE_BOXES ? boxes : (int)LARGE_BOXES;
    compute_loads<LARGE_THREADS><<<large, LARGE_THREADS, 0, stream>>>(*args, 0);
    FMO_GPU_TRY(cudaGetLastError());
    if (boxes == large) return cudaSuccess;
    compute_loads<SMALL_THREADS><<<boxes - large, SMALL_THREADS, 0, stream>>>(*args, large);
    return cudaGetLastError();
}

cudaError_t fmo_gpu_box_collect(const fmo_gpu_box_leaves_args *args, cudaStream_t stream)
{
    collect_leaves<<<args->view.leaves, THREADS, 0, stream>>>(*args);
    return cudaGetLastError();
}

cudaError_t fmo_gpu_box_contract(const fmo_gpu_box_leaves_args *args, cudaStream_t stream)
{
    contract_leaves<<<args->view.leaves, THREADS, 0, stream>>>(*args);
    return cudaGetLastError();
}

cudaError_t fmo_gpu_box_extents(const fmo_gpu_box_extents_args *args, cudaStream_t stream)
{
    const int num = args->first[FMO_PAIR_LOW_L_COUNT];
    find_extents<<<(num + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*args);
    return cudaGetLastError();
}
