/* The density on its way in: over internal functions, its block maxima, and as Hermite densities of
 * all primitive pairs. */
#include "accumulate/gpu/hermite/hermite.h"

#include "accumulate/gpu/range.h"
#include "accumulate/rules/screen.h"
#include "integrals/eri/eri_slice.h"

namespace {

enum { THREADS = 128 };

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

typedef struct points_args {
    fmo_hermite_pairs pairs;
    const double *density;
    const float *block_max;
    int nao, shells;
    float coulomb_weight;
} points_args;

/* One thread per point: sum_ab D_ab E^ab_p (-1)^p times the prefactor, and how much it matters.
 * Pairs of two shells stand for both of their orders; prefactors of a pair of one shell are halved
 * (types.cuh). */
template <int LA, int LB> __global__ void __launch_bounds__(THREADS) order_points(points_args a)
{
    constexpr int terms = FMO_HERMITE_COUNT(LA + LB);
    const int n = blockIdx.x * THREADS + threadIdx.x;
    const int2 source = n < a.pairs.points ? a.pairs.source[n] : make_int2(-1, 0);
    float influence = 0.0f, D = 0.0f;
    double sum[terms];
    for (int q = 0; q < terms; q++) sum[q] = 0.0;
    if (source.x >= 0) {
        const double2 *const record = a.pairs.record + (size_t)source.x * FMO_GPU_PAIR_TWOS;
        const double2 *const center = a.pairs.center + (size_t)source.y * 3;
        const double2 pk = record[0], xy = record[1], zh = record[2], c1 = center[1],
                      c2 = center[2];
        const double PA[3] = {xy.x, xy.y, zh.x}, AB[3] = {c1.y, c2.x, c2.y};
        const int4 at = a.pairs.at[source.y];
        double term[FMO_RULE_TERMS(LA, LB)];
        fmo_rule_terms(LA, LB, PA, AB, zh.y, -1.0, term);
        int k = 0;
        for (int i = 0; i < FMO_CARTESIAN(LA); i++)
            for (int j = 0; j < FMO_CARTESIAN(LB); j++) {
                const double d = 2.0 * pk.y * a.density[(size_t)(at.x + i) * a.nao + at.y + j];
                const int x = fmo_rule_power(LA, i, 0) + fmo_rule_power(LB, j, 0);
                const int y = fmo_rule_power(LA, i, 1) + fmo_rule_power(LB, j, 1);
                const int z = fmo_rule_power(LA, i, 2) + fmo_rule_power(LB, j, 2);
                for (int v = 0; v <= z; v++)
                    for (int u = 0; u <= y; u++)
                        for (int t = 0; t <= x; t++) sum[fmo_slice_at(t, u, v)] += d * term[k++];
            }
        D = a.coulomb_weight *
            a.block_max[(size_t)(at.z & 0xffff) * a.shells + ((unsigned)at.z >> 16)];
        influence = a.pairs.point_bound[n] * (float)fmo_screen_coulomb(D, 0.0);
    }
    if (n < a.pairs.points) {
        a.pairs.influence[n] = influence;
        for (int q = 0; q < terms; q++) a.pairs.density[(size_t)q * a.pairs.points + n] = sum[q];
    }
    for (int offset = 16; offset; offset /= 2)
        influence = fmaxf(influence, __shfl_xor_sync(0xffffffffu, influence, offset));
    if (threadIdx.x % FMO_GPU_TILE_PAIRS == 0 && n < a.pairs.points)
        a.pairs.tile_influence[n / FMO_GPU_TILE_PAIRS] = influence;
}

typedef void points_kernel(points_args);
points_kernel *const points_kernels[FMO_PAIR_CLASS_COUNT] = {
#define ROW(P, name, li, lj, partner) order_points<li, lj>,
    FMO_PAIR_TABLE(ROW)
#undef ROW
};

} // namespace

cudaError_t fmo_hermite_order_points(const fmo_fock_plan *plan, cudaStream_t stream)
{
    const fmo_gpu_hermite *const h = plan->gpu->hermite;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const points_args a = {h->pairs[c], h->density, h->block_max,
                               h->nao,      h->shells,  (float)plan->coulomb_weight};
        if (!a.pairs.points) continue;
        points_kernels[c]<<<(a.pairs.points + THREADS - 1) / THREADS, THREADS, 0, stream>>>(a);
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
