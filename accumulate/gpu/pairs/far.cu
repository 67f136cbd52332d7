/* The data of pairs for far quartets (integrals/far, docs/explanation/gpu/far-quartets.md):
 * quadrature nodes of a pair's charge distribution, made once for a plan, and moments of the
 * density, made in every build. Also launches kernels over all pairs. */
#include "accumulate/gpu/pairs/pairs.h"

#include <math.h>

#include "accumulate/gpu/boxes/boxes.h"
#include "accumulate/gpu/schedule/schedule.h"

namespace {

/* Returns moment / bound, rounded up; 0 for a pair with a bound of 0, which is in no quartet. */
__device__ float reach(double moment, float bound)
{
    return bound > 0.0f ? 1.00001f * (float)(moment / bound) : 0.0f;
}

/* Computes the nodes of one pair for all choices of their number, and the pair's screening data for
 * far quartets: sphere, errors of the nodes (fit) and largest moments (reach). */
template <int pair_class> __device__ void make_nodes_of(const fmo_gpu_pairs &pairs, int n)
{
    constexpr int fields = FMO_FAR_COEFFICIENTS(pair_class), twos = fmo_gpu_far_twos(pair_class);
    const int num = pairs.first[n].z;
    double prim[FMO_GPU_DEPTH_MAX * FMO_PAIR_FIELDS], ratio[FMO_GPU_DEPTH_MAX], AB[3];
    double spread = 0.0, length = 0.0, prim_bounds = 0.0, middle[3];
    for (int x = 0; x < 3; x++) AB[x] = pairs.centre[(size_t)(3 + x) * pairs.num + n];
    for (int m = 0; m < num; m++) {
        const double2 *const record =
            pairs.record + ((size_t)pairs.record_at[n] + m) * FMO_GPU_PAIR_TWOS;
        for (int t = 0; t < FMO_PAIR_FIELDS / 2; t++) {
            prim[m * FMO_PAIR_FIELDS + 2 * t] = record[t].x;
            prim[m * FMO_PAIR_FIELDS + 2 * t + 1] = record[t].y;
        }
        const double2 tail = record[FMO_PAIR_FIELDS / 2];
        ratio[m] = tail.x;
        prim_bounds += (double)fmo_gpu_prim_bound(tail);
        spread = fmax(spread, 2.0 * prim[m * FMO_PAIR_FIELDS + FMO_PAIR_HALF]);
    }
    static_assert(FMO_PAIR_LOW_L_ORDER_MAX == 2,
                  "moments of order 0, 1, 2: here, far/errors.h, and "
                  "fmo_gpu_pairs.reach of types.cuh");
    double moment[3], prim_place[FMO_GPU_DEPTH_MAX], prim_coefficient[FMO_GPU_DEPTH_MAX * fields];
    fmo_far_line line;
    fmo_far_largest(pair_class, num, prim, ratio, AB, moment);
    fmo_far_primitives(pair_class, num, prim, ratio, AB, prim_place, prim_coefficient);
    fmo_far_find_line(pair_class, num, prim_place, prim_coefficient, AB, &line);
    for (int x = 0; x < 3; x++) {
        length += AB[x] * AB[x];
        middle[x] = pairs.centre[(size_t)x * pairs.num + n] + line.middle * AB[x];
    }
    const fmo_far_points prims = {num, prim_place, prim_coefficient};
    const double half = line.half * sqrt(length);
    const double nearest = fmo_far_nearest(half, spread);
    double error[FMO_FAR_CHOICES];
    pairs.sphere[n] =
        make_float4((float)middle[0], (float)middle[1], (float)middle[2], (float)half);
    int cap = FMO_FAR_CHOICES;
    for (int choice = 0; choice < FMO_FAR_CHOICES; choice++) {
        double place[FMO_FAR_NODES_MAX], coefficient[FMO_FAR_NODES_MAX * fields];
        const int nodes = FMO_FAR_NODES(choice);
        const int used = fmo_far_nodes(pair_class, num, prim_place, prim_coefficient, &line, nodes,
                                       place, coefficient);
        if (cap > choice) {
            const fmo_far_points points = {used, place, coefficient};
            error[choice] = fmo_far_error(pair_class, &prims, &points, AB, &line, nearest) /
                            pairs.screen[n].bound;
            if (fmo_far_exact(num, &line, choice, error[choice])) cap = choice;
        }
        for (int j = 0; j < nodes; j++) {
            double value[2 * twos] = {0.0};
            /* unused nodes get the place of the first, so that no distance to another pair is 0 */
            for (int x = 0; x < 3; x++)
                value[x] =
                    pairs.centre[(size_t)x * pairs.num + n] + place[j < used ? j : 0] * AB[x];
            for (int f = 0; f < fields && j < used; f++) value[3 + f] = coefficient[j * fields + f];
            for (int t = 0; t < twos; t++)
                pairs.far[((size_t)(fmo_gpu_far_slot(choice) + j) * twos + t) * pairs.num + n] =
                    make_double2(value[2 * t], value[2 * t + 1]);
        }
    }
    const float bound = pairs.screen[n].bound;
    pairs.fit[n] = fmo_far_fit_errors(cap, nearest, error);
    const float extent =
        fmo_far_extent((float)spread, cap, fmo_far_cancellation(prim_bounds, bound));
    pairs.log_prims[n] = (float)log2(prim_bounds + 1e-30) + 1e-4f;
    pairs.reach[n] = make_float4(reach(moment[0], bound), reach(moment[1], bound),
                                 reach(moment[2], bound), extent);
}

/* Computes the nodes of all pairs; one thread for each pair. */
template <int N>
__global__ void make_nodes(const __grid_constant__ fmo_gpu_many<fmo_gpu_pairs_args, N> many)
{
    const fmo_gpu_pairs_args &a = many.own();
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const int pair_class = blockIdx.y / FMO_GPU_PAIR_PRODUCTS;
    if (blockIdx.y % FMO_GPU_PAIR_PRODUCTS || n >= a.pairs[pair_class].num) return;
#define ROW(P, name, li, lj, partner) \
    if (pair_class == FMO_PAIR_##P) make_nodes_of<FMO_PAIR_##P>(a.pairs[FMO_PAIR_##P], n);
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
}

/* Computes the moments of D at all nodes of a pair, for classes that store them. */
template <int pair_class> __device__ void keep_moments(const fmo_gpu_pairs &pairs, int n)
{
    constexpr int geometry = fmo_gpu_far_geometry_twos(pair_class);
    constexpr int fields = FMO_FAR_COEFFICIENTS(pair_class);
    constexpr int moments = FMO_FAR_TERMS(fmo_pair_order(pair_class));
    static_assert(3 + fields == 2 * geometry && moments % 2 == 0, "no value is left over");
    const int cap = fmo_far_cap(pairs.reach[n].w);
    const int slots = fmo_gpu_far_slot(min(cap + 1, (int)FMO_FAR_CHOICES - 1)) +
                      (cap + 1 >= FMO_FAR_CHOICES ? FMO_FAR_NODES_MAX : 0);
    double D[FMO_FAR_PRODUCTS(pair_class)], folded[FMO_FAR_SUMS(pair_class)], AB[3];
    for (int x = 0; x < 3; x++) AB[x] = pairs.centre[(size_t)(3 + x) * pairs.num + n];
    for (int x = 0; x < FMO_FAR_PRODUCTS(pair_class); x++)
        D[x] = pairs.density[(size_t)x * pairs.num + n];
    fmo_far_fold(pair_class, AB, D, folded);
    for (int slot = 0; slot < slots; slot++) {
        double2 *const far =
            pairs.far + (size_t)slot * fmo_gpu_far_twos(pair_class) * pairs.num + n;
        double node[2 * geometry], H[moments];
        FMO_UNROLL
        for (int t = 0; t < geometry; t++) {
            node[2 * t] = far[(size_t)t * pairs.num].x;
            node[2 * t + 1] = far[(size_t)t * pairs.num].y;
        }
        fmo_far_moments(pair_class, node + 3, folded, H);
        FMO_UNROLL
        for (int t = 0; t < moments / 2; t++)
            far[(size_t)(geometry + t) * pairs.num] = make_double2(H[2 * t], H[2 * t + 1]);
    }
}

/* Computes AB times D of the p functions, for a pair of a p and an s shell. */
__device__ void fold_line(const fmo_gpu_pairs &pairs, int n)
{
    double line = 0.0;
    for (int x = 0; x < 3; x++)
        line += pairs.centre[(size_t)(3 + x) * pairs.num + n] *
                pairs.density[(size_t)(1 + x) * pairs.num + n];
    pairs.far_line[n] = line;
}

/* Computes what far quartets need of D in addition to the pairs' density; one thread for each
 * pair. */
template <int N>
__global__ void make_moments(const __grid_constant__ fmo_gpu_many<fmo_gpu_pairs_args, N> many)
{
    const fmo_gpu_pairs_args &a = many.own();
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const int pair_class = blockIdx.y / FMO_GPU_PAIR_PRODUCTS;
    if (blockIdx.y % FMO_GPU_PAIR_PRODUCTS || n >= a.pairs[pair_class].num) return;
#define ROW(P, name, li, lj, partner)                                                  \
    if (pair_class == FMO_PAIR_##P) {                                                  \
        if (fmo_gpu_far_keeps_line(FMO_PAIR_##P)) fold_line(a.pairs[FMO_PAIR_##P], n); \
        if constexpr (fmo_gpu_far_keeps_moments(FMO_PAIR_##P))                         \
            keep_moments<FMO_PAIR_##P>(a.pairs[FMO_PAIR_##P], n);                      \
    }
    FMO_PAIR_LOW_L_TABLE(ROW)
#undef ROW
}

/* The arrays of a class for far quartets, in one piece of memory that begins with `far`. */
enum { FAR_ARRAYS = 6 };
typedef struct far_arrays {
    fmo_gpu_array array[FAR_ARRAYS];
} far_arrays;

far_arrays find_far_arrays(fmo_gpu_state *g, int pair_class)
{
    fmo_gpu_pairs *const pairs = &g->pairs[pair_class];
    const size_t n = (size_t)pairs->num;
    const far_arrays a = {
        {{n * FMO_GPU_FAR_SLOTS * (size_t)fmo_gpu_far_twos(pair_class) * sizeof(double2),
          (void **)&pairs->far, NULL},
         {fmo_gpu_far_keeps_line(pair_class) ? n * sizeof(double) : 0, (void **)&pairs->far_line,
          NULL},
         {n * sizeof(float4), (void **)&pairs->sphere, NULL},
         {n * sizeof(fmo_far_fit), (void **)&pairs->fit, NULL},
         {n * sizeof(float4), (void **)&pairs->reach, NULL},
         {n * sizeof(float), (void **)&pairs->log_prims, NULL}}};
    return a;
}

} // namespace

/* The grid covers the largest class; threads beyond the end of their class have nothing to do. */
cudaError_t fmo_gpu_launch_pairs(const fmo_gpu_group *group,
                                 void (*one)(fmo_gpu_one<fmo_gpu_pairs_args>),
                                 void (*many)(fmo_gpu_most<fmo_gpu_pairs_args>), bool fixed)
{
    return fmo_gpu_launch_group<fmo_gpu_pairs_args>(
        group, one, many, FMO_GPU_PAIR_THREADS, 0,
        [&](const fmo_gpu_build *build, fmo_gpu_pairs_args *a) {
            const fmo_gpu_state *g = build->plan->gpu;
            int largest = 1;
            for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
                a->pairs[c] = g->pairs[c];
                if (g->pairs[c].num > largest) largest = g->pairs[c].num;
            }
            a->block_max = g->arrays.density_max;
            a->density = g->arrays.density;
            a->sp_shells = g->functions.sp_shells;
            a->nao = g->functions.nao;
            a->sp = g->functions.sp;
            a->coulomb_weight = (float)build->plan->coulomb_weight;
            a->largest = g->arrays.counters ? &g->arrays.counters->density_largest : NULL;
            a->coulomb = g->arrays.coulomb;
            a->sums_stride = g->arrays.sums_size;
            a->copies = g->arrays.copies;
            a->fixed = fixed;
            a->with_J = (g->requested & FMO_TERMS_J) != 0;
            return dim3((largest + FMO_GPU_PAIR_THREADS - 1) / FMO_GPU_PAIR_THREADS,
                        FMO_PAIR_LOW_L_COUNT * FMO_GPU_PAIR_PRODUCTS);
        });
}

size_t fmo_gpu_far_bytes(const fmo_fock_plan *plan)
{
    fmo_gpu_state *const g = plan->gpu;
    const bool requested = plan->options.coulomb == FMO_COULOMB_BOXES;
    size_t all = 0;
    if (!g->schedule->far || !g->functions.sp ||
        (!requested && g->primitives < fmo_tuning_gpu_far_work))
        return 0;
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++)
        all += fmo_gpu_arrays_bytes(find_far_arrays(g, c).array, FAR_ARRAYS);
    return all;
}

bool fmo_gpu_nodes_go_together(const fmo_fock_plan *plan)
{
    return plan->in_batch && !plan->gpu->device.own_stream &&
           plan->options.integrals == FMO_INTEGRALS_DIRECT && fmo_gpu_far_bytes(plan) > 0;
}

fmo_status fmo_gpu_place_far(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    const size_t all = fmo_gpu_far_bytes(plan);
    size_t available = 0;
    fmo_status status = fmo_gpu_state_available(g, &available, err);
    if (status != FMO_OK || (double)all > fmo_tuning_gpu_far_share * (double)available)
        return status;
    g->far = 1;
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT && status == FMO_OK; c++) {
        const far_arrays a = find_far_arrays(g, c);
        status = fmo_gpu_place_arrays(&g->device, "nodes of pairs", a.array, FAR_ARRAYS, err);
    }
    return status;
}

fmo_status fmo_gpu_make_far(fmo_fock_plan *plan, fmo_error *err)
{
    const fmo_gpu_build build = fmo_gpu_own_build(plan);
    const fmo_gpu_group group = fmo_gpu_group_of_one(&build);
    const fmo_status status = fmo_gpu_place_far(plan, err);
    if (status != FMO_OK || !plan->gpu->far) return status;
    FMO_GPU_CHECK(fmo_gpu_make_nodes(&group), "making nodes of pairs", err);
    return FMO_OK;
}

cudaError_t fmo_gpu_make_nodes(const fmo_gpu_group *group)
{
    return fmo_gpu_launch_pairs(group, FMO_GPU_PAIRS_KERNEL(make_nodes), false);
}

void fmo_gpu_forget_far(fmo_gpu_state *g)
{
    fmo_gpu_forget_boxes(g);
    if (!g->lists.far_K) return;
    fmo_gpu_free(&g->device, g->lists.far_K);
    g->lists.far_K = NULL;
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
        const far_arrays a = find_far_arrays(g, c);
        fmo_gpu_free(&g->device, g->pairs[c].far);
        for (int x = 0; x < FAR_ARRAYS; x++) *a.array[x].at = NULL;
    }
    g->far = 0;
}

cudaError_t fmo_gpu_make_moments(const fmo_gpu_group *group)
{
    return fmo_gpu_launch_pairs(group, FMO_GPU_PAIRS_KERNEL(make_moments), false);
}
