/* The density on its way in: over internal functions, its block maxima, and as Hermite densities of
 * all primitive pairs. */
#include "accumulate/gpu/hermite/hermite.h"

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
} density_args;

/* One thread per element: sum_pq T_pa T_qb (D_pq + D_qp)/2. */
__global__ void __launch_bounds__(THREADS) order_density(density_args a)
{
    const int column = blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y;
    if (column >= a.nao) return;
    double sum = 0.0;
    for (int i = a.begin[row]; i < a.begin[row + 1]; i++) {
        const size_t p = a.from[i];
        for (int j = a.begin[column]; j < a.begin[column + 1]; j++) {
            const size_t q = a.from[j];
            sum += a.factor[i] * a.factor[j] *
                   (0.5 * a.in[p * a.caller_nao + q] + 0.5 * a.in[q * a.caller_nao + p]);
        }
    }
    a.out[(size_t)row * a.nao + column] = sum;
}

typedef struct maxima_args {
    const double *density;
    const int2 *shell;
    float *block_max, *row_max;
    int nao, shells;
} maxima_args;

/* One thread per pair of shells. */
__global__ void __launch_bounds__(THREADS) block_maxima(maxima_args a)
{
    const int t = blockIdx.x * THREADS + threadIdx.x, s = blockIdx.y;
    float largest = 0.0f;
    if (t < a.shells) {
        const int2 row = a.shell[s], column = a.shell[t];
        for (int x = 0; x < row.y; x++)
            for (int y = 0; y < column.y; y++)
                largest = fmaxf(
                    largest,
                    __double2float_ru(fabs(a.density[(size_t)(row.x + x) * a.nao + column.x + y])));
        a.block_max[(size_t)s * a.shells + t] = largest;
    }
    for (int offset = 16; offset; offset /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    if (threadIdx.x % 32 == 0) /* bits of non-negative numbers order like the numbers */
        atomicMax((unsigned *)&a.row_max[s], __float_as_uint(largest));
}

typedef struct records_args {
    fmo_hermite_pairs pairs;
    const double *density;
    const float *block_max;
    int nao, shells;
    float coulomb_weight;
} records_args;

/* One thread per record: sum_ab D_ab E^ab_p (-1)^p times the prefactor, and how much it matters.
 * Pairs of two shells stand for both of their orders; prefactors of a pair of one shell are halved
 * (types.cuh). */
template <int LA, int LB> __global__ void __launch_bounds__(THREADS) order_records(records_args a)
{
    constexpr int terms = FMO_HERMITE_COUNT(LA + LB), NB = FMO_CARTESIAN(LB);
    const int n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= a.pairs.records) return;
    const int part = a.pairs.record_part[n];
    const double2 *const record = a.pairs.record + (size_t)n * FMO_GPU_PAIR_TWOS;
    const double2 pk = record[0], xy = record[1], zh = record[2];
    const double *const center = a.pairs.center + part;
    const size_t num = (size_t)a.pairs.num;
    const double PA[3] = {xy.x, xy.y, zh.x},
                 AB[3] = {center[3 * num], center[4 * num], center[5 * num]};
    const int4 at = a.pairs.at[part];
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
    const float D =
        a.coulomb_weight *
        a.block_max[(size_t)fmo_hermite_first_shell(at) * a.shells + fmo_hermite_second_shell(at)];
    const float bound =
        __int_as_float(__double2loint(((const double *)record)[FMO_GPU_PAIR_BOUND]));
    a.pairs.record_influence[n] = nextafterf(bound, INFINITY) * (float)fmo_screen_coulomb(D, 0.0);
}

typedef void records_kernel(records_args);
records_kernel *const records_kernels[FMO_PAIR_CLASS_COUNT] = {
#define ROW(P, name, li, lj, partner) order_records<li, lj>,
    FMO_PAIR_TABLE(ROW)
#undef ROW
};

/* What a point gathers from records of a class. */
typedef struct records_view {
    const double *density;
    const float *influence;
    int records, terms;
} records_view;

typedef struct points_args {
    fmo_hermite_pairs pairs;
    records_view of[FMO_PAIR_CLASS_COUNT];
} points_args;

/* One thread per point of order N: the sum of its records, of which lighter ones have the first
 * Hermite functions alone. */
template <int N> __global__ void __launch_bounds__(THREADS) order_points(points_args a)
{
    constexpr int terms = FMO_HERMITE_COUNT(N);
    const int n = blockIdx.x * THREADS + threadIdx.x;
    float influence = 0.0f;
    if (n < a.pairs.points) {
        double sum[terms];
        FMO_UNROLL
        for (int q = 0; q < terms; q++) sum[q] = 0.0;
        for (int e = a.pairs.entry_begin[n]; e < a.pairs.entry_begin[n + 1]; e++) {
            const int2 entry = a.pairs.entry[e];
            const records_view &of = a.of[entry.x];
            influence = __fadd_ru(influence, of.influence[entry.y]);
            FMO_UNROLL
            for (int q = 0; q < terms; q++)
                if (q < of.terms) sum[q] += of.density[(size_t)q * of.records + entry.y];
        }
        a.pairs.influence[n] = influence;
        FMO_UNROLL
        for (int q = 0; q < terms; q++) a.pairs.density[(size_t)q * a.pairs.points + n] = sum[q];
    }
    for (int offset = 16; offset; offset /= 2)
        influence = fmaxf(influence, __shfl_xor_sync(0xffffffffu, influence, offset));
    if (threadIdx.x % FMO_GPU_TILE_PAIRS == 0 && n < a.pairs.points)
        a.pairs.tile_influence[n / FMO_GPU_TILE_PAIRS] = influence;
}

typedef void points_kernel(points_args);
points_kernel *const points_kernels[FMO_PAIR_CLASS_COUNT] = {
#define ROW(P, name, li, lj, partner) order_points<li + lj>,
    FMO_PAIR_TABLE(ROW)
#undef ROW
};

} // namespace

cudaError_t fmo_hermite_order_points(const fmo_fock_plan *plan, cudaStream_t stream)
{
    const fmo_gpu_hermite *const h = plan->gpu->hermite;
    points_args p = {};
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const records_args a = {h->pairs[c], h->density, h->block_max,
                                h->nao,      h->shells,  (float)plan->coulomb_weight};
        p.of[c] = {a.pairs.record_density, a.pairs.record_influence, a.pairs.records,
                   FMO_HERMITE_COUNT(fmo_pair_order(c))};
        if (!a.pairs.records) continue;
        records_kernels[c]<<<(a.pairs.records + THREADS - 1) / THREADS, THREADS, 0, stream>>>(a);
        FMO_GPU_TRY(cudaGetLastError());
    }
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        p.pairs = h->pairs[c];
        if (!p.pairs.points) continue;
        points_kernels[c]<<<(p.pairs.points + THREADS - 1) / THREADS, THREADS, 0, stream>>>(p);
        FMO_GPU_TRY(cudaGetLastError());
    }
    return cudaSuccess;
}

cudaError_t fmo_hermite_order_density(const fmo_gpu_build *build, cudaStream_t stream)
{
    const fmo_gpu_range range("density of d shells");
    const fmo_gpu_state *const g = build->plan->gpu;
    const fmo_gpu_hermite *const h = g->hermite;
    const density_args a = {build->density, h->density, h->in_begin,  h->in_from,
                            h->in_factor,   h->nao,     h->caller_nao};
    const maxima_args m = {h->density, h->shell, h->block_max, h->row_max, h->nao, h->shells};
    FMO_GPU_TRY(cudaMemsetAsync(h->coulomb, 0, h->zeroed, stream));
    order_density<<<dim3((h->nao + THREADS - 1) / THREADS, h->nao), THREADS, 0, stream>>>(a);
    FMO_GPU_TRY(cudaGetLastError());
    block_maxima<<<dim3((h->shells + THREADS - 1) / THREADS, h->shells), THREADS, 0, stream>>>(m);
    FMO_GPU_TRY(cudaGetLastError());
    return g->wanted & FMO_TERMS_J ? fmo_hermite_order_points(build->plan, stream) : cudaSuccess;
}
