/* Kernels with one thread for a pair: D and its bounds pair by pair, the pairs' sums into X^J, and
 * what far quartets (integrals/far/far.h) need of a pair. */
#include "accumulate/gpu/plan.h"

#include <math.h>

#include "accumulate/gpu/many.cuh"
#include "accumulate/rules/screen.h"

namespace {

enum { PAIR_THREADS = 128 };

typedef struct pairs_args {
    fmo_gpu_pairs pairs[FMO_PAIR_CLASS_COUNT];
    const float *block_max;
    const double *density;
    int sets, nao;
    unsigned long long *largest; /* of D of all pairs */
    double *coulomb;             /* spread_pairs: X^J */
    size_t sums_stride;
    unsigned copies;
    bool fixed;
} pairs_args;

/* Products of functions of a pair of a class, with sp pairs, by rows of the first shell. */
__device__ int pair_rows(int pair_class)
{
    return pair_class == FMO_PAIR_SS ? 1 : pair_class == FMO_PAIR_PS ? 4 : 3;
}
__device__ int pair_columns(int pair_class)
{
    return pair_class == FMO_PAIR_PP ? 3 : 1;
}

/* One thread per pair and product of functions: blockIdx.y is 9 times the class plus the product.
 */
enum { PRODUCTS_MAX = 9 };

/* D pair by pair, and what it can do to J of others. */
template <int N>
__global__ void take_pairs(const __grid_constant__ fmo_gpu_many<pairs_args, N> many)
{
    const pairs_args &a = many.own();
    const int pair_class = blockIdx.y / PRODUCTS_MAX, product = blockIdx.y % PRODUCTS_MAX;
    const fmo_gpu_pairs &pairs = a.pairs[pair_class];
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (product == 0) {
        float largest = 0.0f, D = 0.0f;
        if (n < pairs.num) {
            const fmo_gpu_rule rule = pairs.rule[n];
            D = a.block_max[(size_t)rule.set.x * a.sets + rule.set.y];
            largest = rule.bound * (float)fmo_screen_coulomb(D, 0.0);
            pairs.rule[n].coulomb = largest;
        }
        for (int offset = 16; offset; offset /= 2) {
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
            D = fmaxf(D, __shfl_xor_sync(0xffffffffu, D, offset));
        }
        if (threadIdx.x % FMO_GPU_TILE_PAIRS == 0 && n < pairs.num) {
            pairs.tile_coulomb[n / FMO_GPU_TILE_PAIRS] = largest;
            atomicMax(a.largest, (unsigned long long)__double_as_longlong((double)D));
        }
    }
    const int columns = pair_columns(pair_class);
    if (!pairs.density || n >= pairs.num || product >= pair_rows(pair_class) * columns) return;
    const int4 shell = pairs.shell[n];
    pairs.density[(size_t)product * pairs.num + n] =
        a.density[(size_t)(shell.x + product / columns) * a.nao + shell.y + product % columns];
}

/* The pairs' sums into X^J; parts of one pair meet there. */
template <int N>
__global__ void spread_pairs(const __grid_constant__ fmo_gpu_many<pairs_args, N> many)
{
    const pairs_args &a = many.own();
    const int pair_class = blockIdx.y / PRODUCTS_MAX, product = blockIdx.y % PRODUCTS_MAX;
    const fmo_gpu_pairs &pairs = a.pairs[pair_class];
    const int n = blockIdx.x * blockDim.x + threadIdx.x, columns = pair_columns(pair_class);
    if (n >= pairs.num || product >= pair_rows(pair_class) * columns) return;
    const int4 shell = pairs.shell[n];
    const double *const from = pairs.sums + (size_t)product * pairs.num + n;
    double *const to =
        a.coulomb + (size_t)(shell.x + product / columns) * a.nao + shell.y + product % columns;
    if (a.fixed) {
        long long sum = 0;
        for (unsigned c = 0; c < a.copies; c++)
            sum += __double_as_longlong(from[c * a.sums_stride]);
        atomicAdd((unsigned long long *)to, (unsigned long long)sum);
    } else {
        double sum = 0.0;
#pragma unroll 8
        for (unsigned c = 0; c < a.copies; c++) sum += from[c * a.sums_stride];
        atomicAdd(to, sum);
    }
}

/* A quotient, rounded up; a pair without a bound is in no quartet. */
__device__ float reach(double moment, float bound)
{
    return bound > 0.0f ? 1.00001f * (float)(moment / bound) : 0.0f;
}

/* All nodes of one pair, and what screening wants to know of it. */
template <int kind> __device__ void make_nodes_of(const fmo_gpu_pairs &pairs, int n)
{
    constexpr int fields = FMO_FAR_COEFFICIENTS(kind), twos = fmo_gpu_far_twos(kind);
    const int num = pairs.shell[n].z;
    double prim[FMO_GPU_DEPTH_MAX * FMO_PAIR_FIELDS], ratio[FMO_GPU_DEPTH_MAX], AB[3];
    double spread = 0.0, length = 0.0, middle[3];
    for (int x = 0; x < 3; x++) AB[x] = pairs.center[(size_t)(3 + x) * pairs.num + n];
    for (int m = 0; m < num; m++) {
        const double2 *const record =
            pairs.record + ((size_t)pairs.record_at[n] + m) * FMO_GPU_PAIR_TWOS;
        for (int t = 0; t < FMO_PAIR_FIELDS / 2; t++) {
            prim[m * FMO_PAIR_FIELDS + 2 * t] = record[t].x;
            prim[m * FMO_PAIR_FIELDS + 2 * t + 1] = record[t].y;
        }
        ratio[m] = record[FMO_PAIR_FIELDS / 2].x;
        spread = fmax(spread, 2.0 * prim[m * FMO_PAIR_FIELDS + FMO_PAIR_HALF]);
    }
    double moment[3], prim_place[FMO_GPU_DEPTH_MAX], prim_coefficient[FMO_GPU_DEPTH_MAX * fields];
    fmo_far_line line;
    fmo_far_largest(kind, num, prim, ratio, AB, moment);
    fmo_far_primitives(kind, num, prim, ratio, AB, prim_place, prim_coefficient);
    fmo_far_find_line(kind, num, prim_place, prim_coefficient, AB, &line);
    for (int x = 0; x < 3; x++) {
        length += AB[x] * AB[x];
        middle[x] = pairs.center[(size_t)x * pairs.num + n] + line.middle * AB[x];
    }
    const double half = line.half * sqrt(length);
    const double nearest = fmo_far_nearest(half, spread);
    double error[FMO_FAR_CHOICES];
    pairs.sphere[n] =
        make_float4((float)middle[0], (float)middle[1], (float)middle[2], (float)half);
    int cap = FMO_FAR_CHOICES;
    for (int choice = 0; choice < FMO_FAR_CHOICES; choice++) {
        double place[FMO_FAR_NODES_MAX], coefficient[FMO_FAR_NODES_MAX * fields];
        const int nodes = FMO_FAR_NODES(choice);
        const int used = fmo_far_nodes(kind, num, prim_place, prim_coefficient, &line, nodes, place,
                                       coefficient);
        if (cap > choice && (num <= nodes || line.degree <= nodes)) cap = choice;
        if (cap > choice)
            error[choice] = fmo_far_error(kind, num, prim_place, prim_coefficient, AB, &line, used,
                                          place, coefficient, nearest) /
                            pairs.rule[n].bound;
        for (int j = 0; j < nodes; j++) {
            double value[2 * twos] = {0.0};
            /* one too many stands where another does: never where the other pair is */
            for (int x = 0; x < 3; x++)
                value[x] =
                    pairs.center[(size_t)x * pairs.num + n] + place[j < used ? j : 0] * AB[x];
            for (int f = 0; f < fields && j < used; f++) value[3 + f] = coefficient[j * fields + f];
            for (int t = 0; t < twos; t++)
                pairs.far[((size_t)(fmo_gpu_far_slot(choice) + j) * twos + t) * pairs.num + n] =
                    make_double2(value[2 * t], value[2 * t + 1]);
        }
    }
    const float bound = pairs.rule[n].bound;
    pairs.fit[n] = fmo_far_fit_errors(cap, nearest, error);
    pairs.reach[n] = make_float4(reach(moment[0], bound), reach(moment[1], bound),
                                 reach(moment[2], bound), fmo_gpu_extent((float)spread, cap));
}

__global__ void make_nodes(const __grid_constant__ fmo_gpu_one<pairs_args> one)
{
    const pairs_args &a = one.own();
    const int n = blockIdx.x * blockDim.x + threadIdx.x, pair_class = blockIdx.y / PRODUCTS_MAX;
    if (blockIdx.y % PRODUCTS_MAX || n >= a.pairs[pair_class].num) return;
    if (pair_class == FMO_PAIR_SS) make_nodes_of<FMO_PAIR_SS>(a.pairs[FMO_PAIR_SS], n);
    if (pair_class == FMO_PAIR_PS) make_nodes_of<FMO_PAIR_PS>(a.pairs[FMO_PAIR_PS], n);
    if (pair_class == FMO_PAIR_PP) make_nodes_of<FMO_PAIR_PP>(a.pairs[FMO_PAIR_PP], n);
}

/* Moments of D of all nodes of a pp pair. */
__device__ void make_pp_moments(const fmo_gpu_pairs &pairs, int n)
{
    constexpr int kind = 2, geometry = fmo_gpu_far_geometry_twos(kind);
    constexpr int fields = FMO_FAR_COEFFICIENTS(kind), moments = FMO_FAR_TERMS(kind);
    static_assert(3 + fields == 2 * geometry && moments % 2 == 0, "no value is left over");
    const int cap = fmo_gpu_far_cap(pairs.reach[n].w);
    const int slots = fmo_gpu_far_slot(min(cap + 1, (int)FMO_FAR_CHOICES - 1)) +
                      (cap + 1 >= FMO_FAR_CHOICES ? FMO_FAR_NODES_MAX : 0);
    double D[FMO_FAR_PRODUCTS(kind)], folded[FMO_FAR_SUMS(kind)], AB[3];
    for (int x = 0; x < 3; x++) AB[x] = pairs.center[(size_t)(3 + x) * pairs.num + n];
    for (int x = 0; x < FMO_FAR_PRODUCTS(kind); x++)
        D[x] = pairs.density[(size_t)x * pairs.num + n];
    fmo_far_fold(kind, AB, D, folded);
    for (int slot = 0; slot < slots; slot++) {
        double2 *const far = pairs.far + (size_t)slot * fmo_gpu_far_twos(kind) * pairs.num + n;
        double node[2 * geometry], H[moments];
        FMO_UNROLL
        for (int t = 0; t < geometry; t++) {
            node[2 * t] = far[(size_t)t * pairs.num].x;
            node[2 * t + 1] = far[(size_t)t * pairs.num].y;
        }
        fmo_far_moments(kind, node + 3, folded, H);
        FMO_UNROLL
        for (int t = 0; t < moments / 2; t++)
            far[(size_t)(geometry + t) * pairs.num] = make_double2(H[2 * t], H[2 * t + 1]);
    }
}

/* What far quartets need of D besides the pairs' density. */
template <int N>
__global__ void make_moments(const __grid_constant__ fmo_gpu_many<pairs_args, N> many)
{
    const pairs_args &a = many.own();
    const int n = blockIdx.x * blockDim.x + threadIdx.x, pair_class = blockIdx.y / PRODUCTS_MAX;
    if (blockIdx.y % PRODUCTS_MAX || n >= a.pairs[pair_class].num) return;
    const fmo_gpu_pairs &pairs = a.pairs[pair_class];
    if (pair_class == FMO_PAIR_PS) {
        double line = 0.0;
        for (int x = 0; x < 3; x++)
            line += pairs.center[(size_t)(3 + x) * pairs.num + n] *
                    pairs.density[(size_t)(1 + x) * pairs.num + n];
        pairs.far_line[n] = line;
    }
    if (pair_class == FMO_PAIR_PP) make_pp_moments(pairs, n);
}

/* A kernel over all pairs. */
cudaError_t launch_pairs(const fmo_gpu_group *group, void (*one)(fmo_gpu_one<pairs_args>),
                         void (*many)(fmo_gpu_most<pairs_args>), bool fixed)
{
    return fmo_gpu_launch_group<pairs_args>(
        group, one, many, PAIR_THREADS, 0, [&](const fmo_fock_job *job, pairs_args *a) {
            const fmo_gpu_state *g = job->plan->gpu;
            int most = 1;
            for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
                a->pairs[c] = g->pairs[c];
                if (g->pairs[c].num > most) most = g->pairs[c].num;
            }
            a->block_max = g->density_max;
            a->density = g->density;
            a->sets = g->sets;
            a->nao = g->nao;
            a->largest = &g->counters->density_largest;
            a->coulomb = g->coulomb;
            a->sums_stride = g->sums_size;
            a->copies = g->copies;
            a->fixed = fixed;
            return dim3((most + PAIR_THREADS - 1) / PAIR_THREADS,
                        FMO_PAIR_CLASS_COUNT * PRODUCTS_MAX);
        });
}

/* Both forms of a kernel. */
#define PAIRS(kernel) kernel<1>, kernel<fmo_gpu_many_max<pairs_args>>

} // namespace

cudaError_t fmo_gpu_take_pairs(const fmo_gpu_group *group)
{
    return launch_pairs(group, PAIRS(take_pairs), false);
}

cudaError_t fmo_gpu_make_nodes(fmo_fock_plan *plan)
{
    const fmo_fock_job job = fmo_gpu_own_job(plan);
    const fmo_gpu_group group = fmo_gpu_group_of_one(&job);
    return launch_pairs(&group, make_nodes, NULL, false);
}

cudaError_t fmo_gpu_make_moments(const fmo_gpu_group *group)
{
    return launch_pairs(group, PAIRS(make_moments), false);
}

cudaError_t fmo_gpu_spread_coulomb(const fmo_gpu_group *group, bool fixed)
{
    return launch_pairs(group, PAIRS(spread_pairs), fixed);
}
