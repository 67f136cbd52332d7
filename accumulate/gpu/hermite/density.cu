/* The density for classes with d or f shells: transformed to internal functions, its block maxima,
 * and Hermite densities of all primitive pairs and points (docs/explanation/gpu/d-shells.md). Next:
 * coulomb.cu. */
#include "accumulate/gpu/hermite/any.cuh"

#include "accumulate/gpu/range.h"
#include "accumulate/rules/screen.h"
#include "integrals/eri/eri_slice.h"

namespace {

enum { THREADS = fmo_tuning_gpu_hermite_threads };

typedef struct density_args {
    const double *in;
    double *out;
    const int *begin, *from;
    const double *factor;
    int nao, caller_nao;
    double own, other; /* factors of an element and of the transposed one */
} density_args;

/* Computes an element of D over internal functions: sum_pq T_pa T_qb (D_pq + D_qp)/2, or
 * (D_pq - D_qp)/2 of an antisymmetric part. */
template <int N>
__global__ void __launch_bounds__(THREADS)
    order_density(const __grid_constant__ fmo_gpu_many<density_args, N> many)
{
    const density_args &a = many.own();
    const int column = blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y;
    if (column >= a.nao || (N > 1 && row >= a.nao)) return;
    double sum = 0.0;
    for (int i = a.begin[row]; i < a.begin[row + 1]; i++) {
        const size_t p = a.from[i];
        for (int j = a.begin[column]; j < a.begin[column + 1]; j++) {
            const size_t q = a.from[j];
            sum += a.factor[i] * a.factor[j] *
                   (a.own * a.in[p * a.caller_nao + q] + a.other * a.in[q * a.caller_nao + p]);
        }
    }
    a.out[(size_t)row * a.nao + column] = sum;
}

typedef struct maxima_args {
    const double *density;
    const int2 *shell;
    float *block_max, *row_max;
    int nao, shells;
    bool more; /* block_max is that of an earlier density, and becomes that of both */
} maxima_args;

/* Computes the largest |D| of each block of two shells, and of each row of blocks; one thread for
 * each block. */
template <int N>
__global__ void __launch_bounds__(THREADS)
    block_maxima(const __grid_constant__ fmo_gpu_many<maxima_args, N> many)
{
    const maxima_args &a = many.own();
    const int t = blockIdx.x * THREADS + threadIdx.x, s = blockIdx.y;
    float largest = 0.0f;
    if (N > 1 && s >= a.shells) return;
    if (t < a.shells) {
        const int2 row = a.shell[s], column = a.shell[t];
        for (int x = 0; x < row.y; x++)
            for (int y = 0; y < column.y; y++)
                largest = fmaxf(
                    largest,
                    __double2float_ru(fabs(a.density[(size_t)(row.x + x) * a.nao + column.x + y])));
        float *const block = &a.block_max[(size_t)s * a.shells + t];
        *block = a.more ? fmaxf(*block, largest) : largest;
    }
    for (int offset = 16; offset; offset /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    if (threadIdx.x % 32 == 0) /* the bits of non-negative numbers are ordered like the numbers */
        atomicMax((unsigned *)&a.row_max[s], __float_as_uint(largest));
}

typedef struct records_args {
    fmo_hermite_pairs pairs;
    const double *density;
    const float *block_max;
    int nao, shells, la, lb;
    float coulomb_weight;
} records_args;

/* Stores the estimate of a record for J's screening. */
__device__ __forceinline__ void store_estimate(const records_args &a, int n, int4 at)
{
    const float D =
        a.coulomb_weight *
        a.block_max[(size_t)fmo_hermite_first_shell(at) * a.shells + fmo_hermite_second_shell(at)];
    const double *const record = (const double *)(a.pairs.record + (size_t)n * FMO_GPU_PAIR_TWOS);
    const float bound = __int_as_float(__double2loint(record[FMO_GPU_PAIR_BOUND]));
    a.pairs.record_coulomb_estimate[n] =
        nextafterf(bound, INFINITY) * (float)fmo_screen_coulomb(D, 0.0);
}

/* Computes the Hermite density of a record, sum_ab D_ab E^ab_p (-1)^p times the prefactor, and its
 * estimate for J's screening; one thread for each record. A pair of two shells stands for both of
 * its orders; the prefactors of a pair of one shell are halved (types.cuh). */
template <int LA, int LB, int N>
__global__ void __launch_bounds__(THREADS)
    order_records(const __grid_constant__ fmo_gpu_many<records_args, N> many)
{
    const records_args &a = many.own();
    constexpr int terms = FMO_HERMITE_COUNT(LA + LB), NB = FMO_CARTESIAN(LB);
    const int n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= a.pairs.records) return;
    const int segment = a.pairs.record_segment[n];
    const double2 *const record = a.pairs.record + (size_t)n * FMO_GPU_PAIR_TWOS;
    const double2 pk = record[0], xy = record[1], zh = record[2];
    const double *const centre = a.pairs.centre + segment;
    const size_t num = (size_t)a.pairs.num;
    const double PA[3] = {xy.x, xy.y, zh.x},
                 AB[3] = {centre[3 * num], centre[4 * num], centre[5 * num]};
    const int4 at = a.pairs.at[segment];
    double d[FMO_CARTESIAN(LA) * NB], sum[terms];
    FMO_UNROLL
    for (int q = 0; q < terms; q++) sum[q] = 0.0;
    FMO_UNROLL
    for (int k = 0; k < FMO_CARTESIAN(LA) * NB; k++)
        d[k] = 2.0 * pk.y * a.density[(size_t)(at.x + k / NB) * a.nao + at.y + k % NB];
    fmo_slice_density(LA, LB, PA, AB, zh.y, -1.0, d, sum);
    FMO_UNROLL
    for (int q = 0; q < terms; q++)
        a.pairs.record_density[(size_t)q * a.pairs.records + n] = sum[q];
    store_estimate(a, n, at);
}

/* order_records for pairs with an f shell. */
template <int N>
__global__ void __launch_bounds__(THREADS)
    order_records_any(const __grid_constant__ fmo_gpu_many<records_args, N> many)
{
    const records_args &a = many.own();
    const int n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= a.pairs.records) return;
    const int la = a.la, lb = a.lb, NB = FMO_CARTESIAN(lb), segment = a.pairs.record_segment[n];
    const double2 *const record = a.pairs.record + (size_t)n * FMO_GPU_PAIR_TWOS;
    const double2 pk = record[0], xy = record[1], zh = record[2];
    const double *const centre = a.pairs.centre + segment;
    const size_t num = (size_t)a.pairs.num;
    const double PA[3] = {xy.x, xy.y, zh.x},
                 AB[3] = {centre[3 * num], centre[4 * num], centre[5 * num]};
    const int4 at = a.pairs.at[segment];
    double sum[FMO_HERMITE_COUNT(FMO_PAIR_GPU_ORDER_MAX)] = {};
    fmo_hermite_shape E[3];
    for (int x = 0; x < 3; x++) fmo_hermite_expand(la, lb, PA[x], PA[x] + AB[x], zh.y, E[x].E);
    for (int ab = 0; ab < FMO_CARTESIAN(la) * NB; ab++) {
        const double D = 2.0 * pk.y * a.density[(size_t)(at.x + ab / NB) * a.nao + at.y + ab % NB];
        fmo_hermite_terms_of(la, lb, ab, E, [&](int q, int degree, double e) {
            sum[q] += degree % 2 ? -D * e : D * e;
        });
    }
    for (int q = 0; q < FMO_HERMITE_COUNT(la + lb); q++)
        a.pairs.record_density[(size_t)q * a.pairs.records + n] = sum[q];
    store_estimate(a, n, at);
}

const fmo_gpu_kernels<records_args> records_kernels[FMO_PAIR_GPU_COUNT] = {
#define ROW(P, name, li, lj, partner) \
    {order_records<li, lj, 1>, order_records<li, lj, fmo_gpu_many_max<records_args>>},
    FMO_PAIR_UNROLLED_TABLE(ROW)
#undef ROW
#define ROW(P, name, li, lj, partner) \
    {order_records_any<1>, order_records_any<fmo_gpu_many_max<records_args>>},
        FMO_PAIR_ANY_GPU_TABLE(ROW)
#undef ROW
};

/* The data of records of a class that are summed in points. */
typedef struct records_view {
    const double *density;
    const float *coulomb_estimate;
    int records, terms;
} records_view;

typedef struct points_args {
    fmo_hermite_pairs pairs;
    records_view of[FMO_PAIR_GPU_COUNT];
} points_args;

/* Sums the records of a point; one thread for each point of a class. Records of lower order have
 * only the first Hermite functions. */
template <int ORDER, int N>
__global__ void __launch_bounds__(THREADS)
    order_points(const __grid_constant__ fmo_gpu_many<points_args, N> many)
{
    const points_args &a = many.own();
    constexpr int terms = FMO_HERMITE_COUNT(ORDER);
    const int n = blockIdx.x * THREADS + threadIdx.x;
    float coulomb_estimate = 0.0f;
    if (n < a.pairs.points) {
        double sum[terms];
        FMO_UNROLL
        for (int q = 0; q < terms; q++) sum[q] = 0.0;
        for (int e = a.pairs.entry_begin[n]; e < a.pairs.entry_begin[n + 1]; e++) {
            const int2 entry = a.pairs.entry[e];
            const records_view &view = a.of[entry.x];
            coulomb_estimate = __fadd_ru(coulomb_estimate, view.coulomb_estimate[entry.y]);
            FMO_UNROLL
            for (int q = 0; q < terms; q++)
                if (q < view.terms) sum[q] += view.density[(size_t)q * view.records + entry.y];
        }
        a.pairs.coulomb_estimate[n] = coulomb_estimate;
        FMO_UNROLL
        for (int q = 0; q < terms; q++) a.pairs.density[(size_t)q * a.pairs.points + n] = sum[q];
    }
    for (int offset = 16; offset; offset /= 2)
        coulomb_estimate =
            fmaxf(coulomb_estimate, __shfl_xor_sync(0xffffffffu, coulomb_estimate, offset));
    if (threadIdx.x % FMO_GPU_TILE_PAIRS == 0 && n < a.pairs.points)
        a.pairs.tile_coulomb_estimate[n / FMO_GPU_TILE_PAIRS] = coulomb_estimate;
}

const fmo_gpu_kernels<points_args> points_kernels[FMO_PAIR_GPU_COUNT] = {
#define ROW(P, name, li, lj, partner) \
    {order_points<li + lj, 1>, order_points<li + lj, fmo_gpu_many_max<points_args>>},
    FMO_PAIR_GPU_TABLE(ROW)
#undef ROW
};

/* Number of blocks for a number of threads. */
unsigned blocks_for(int threads)
{
    return (unsigned)((threads + THREADS - 1) / THREADS);
}

/* Computes the Hermite densities of all records and points, for builds that need J. */
cudaError_t order_all_points(const fmo_gpu_group *group)
{
    for (int c = 0; c < FMO_PAIR_GPU_COUNT; c++)
        FMO_GPU_TRY(fmo_gpu_launch_group<records_args>(
            group, records_kernels[c].one, records_kernels[c].many, THREADS, 0,
            [&](const fmo_gpu_build *build, records_args *a) {
                const fmo_gpu_hermite *const h = build->plan->gpu->hermite;
                if (!(build->plan->gpu->requested & FMO_TERMS_J)) return dim3(0);
                *a = {h->pairs[c],
                      h->density,
                      h->block_max,
                      h->nao,
                      h->shells,
                      fmo_pair_ang_mom(c, 0),
                      fmo_pair_ang_mom(c, 1),
                      (float)build->plan->coulomb_weight};
                return dim3(blocks_for(a->pairs.records));
            }));
    for (int c = 0; c < FMO_PAIR_GPU_COUNT; c++)
        FMO_GPU_TRY(fmo_gpu_launch_group<points_args>(
            group, points_kernels[c].one, points_kernels[c].many, THREADS, 0,
            [&](const fmo_gpu_build *build, points_args *a) {
                const fmo_gpu_hermite *const h = build->plan->gpu->hermite;
                if (!(build->plan->gpu->requested & FMO_TERMS_J)) return dim3(0);
                a->pairs = h->pairs[c];
                for (int of = 0; of < FMO_PAIR_GPU_COUNT; of++)
                    a->of[of] = {h->pairs[of].record_density, h->pairs[of].record_coulomb_estimate,
                                 h->pairs[of].records, FMO_HERMITE_COUNT(fmo_pair_order(of))};
                return dim3(blocks_for(a->pairs.points));
            }));
    return cudaSuccess;
}

/* Transforms density number `from` of the builds' densities to number `to` of the transformed ones,
 * and computes its maxima; d: as in fmo_gpu_other_factor. */
cudaError_t order_one(const fmo_gpu_group *group, int from, int to, int d)
{
    FMO_GPU_TRY(fmo_gpu_launch_group<density_args>(
        group, order_density<1>, order_density<fmo_gpu_many_max<density_args>>, THREADS, 0,
        [=](const fmo_gpu_build *build, density_args *a) {
            const fmo_gpu_hermite *const h = build->plan->gpu->hermite;
            *a = {build->density + (size_t)from * h->caller_nao * h->caller_nao,
                  h->density + (size_t)to * h->nao * h->nao,
                  h->in_begin,
                  h->in_from,
                  h->in_factor,
                  h->nao,
                  h->caller_nao,
                  fmo_gpu_own_factor(build->plan->gpu),
                  fmo_gpu_other_factor(build->plan->gpu, d)};
            return dim3(blocks_for(h->nao), (unsigned)h->nao);
        }));
    return fmo_gpu_launch_group<maxima_args>(
        group, block_maxima<1>, block_maxima<fmo_gpu_many_max<maxima_args>>, THREADS, 0,
        [=](const fmo_gpu_build *build, maxima_args *a) {
            const fmo_gpu_hermite *const h = build->plan->gpu->hermite;
            *a = {h->density + (size_t)to * h->nao * h->nao,
                  h->shell,
                  h->block_max,
                  h->row_max,
                  h->nao,
                  h->shells,
                  to > 0};
            return dim3(blocks_for(h->shells), (unsigned)h->shells);
        });
}

} // namespace

/* The three steps in order: transformation, maxima, Hermite densities. Of three densities (two.cu),
 * J's only passes through. */
cudaError_t fmo_hermite_order_density(const fmo_gpu_group *group)
{
    const fmo_gpu_range range("density of d shells");
    const fmo_gpu_state *const g = group->build->plan->gpu;
    FMO_GPU_TRY(fmo_gpu_zero(group, [](const fmo_gpu_state *g) {
        return fmo_gpu_zeroed{g->hermite->coulomb, g->hermite->zeroed};
    }));
    if (g->densities == 1) {
        FMO_GPU_TRY(order_one(group, 0, 0, 0));
        return order_all_points(group);
    }
    if (g->requested & FMO_TERMS_J) {
        FMO_GPU_TRY(order_one(group, 0, 0, -1));
        FMO_GPU_TRY(order_all_points(group));
    }
    FMO_GPU_TRY(order_one(group, 1, 0, 0));
    return order_one(group, 2, 1, 1);
}
