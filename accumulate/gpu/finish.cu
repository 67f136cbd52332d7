/* The last steps of a build: adding the pairs' sums to X^J, and J and K from X (final equations of
 * rules/digest.h). They follow the quartet kernels of kernels/. */
#include "accumulate/gpu/pairs/pairs.h"

#include "accumulate/gpu/density_limit.cuh"
#include "accumulate/gpu/range.h"
#include "accumulate/rules/digest.h"
#include "accumulate/tuning.h"

#include <math_constants.h>

namespace {

enum { FINISH_TILE = fmo_tuning_gpu_finish_tile };

/* Adds the pairs' sums, over all copies, to X^J; segments of one pair are added to the same block.
 */
template <int N>
__global__ void spread_sums(const __grid_constant__ fmo_gpu_many<fmo_gpu_pairs_args, N> many)
{
    const fmo_gpu_pairs_args &a = many.own();
    const int pair_class = blockIdx.y / FMO_GPU_PAIR_PRODUCTS,
              product = blockIdx.y % FMO_GPU_PAIR_PRODUCTS;
    const fmo_gpu_pairs &pairs = a.pairs[pair_class];
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    const int columns = fmo_pair_functions(pair_class, 1, a.sp);
    if (n >= pairs.num || product >= fmo_pair_products(pair_class, a.sp)) return;
    const int4 shell = pairs.first[n];
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

typedef struct finish_args {
    const double *coulomb, *exchange;
    double *J, *K; /* NULL: not requested */
    size_t copy_stride;
    unsigned copies;
    const double *scale;     /* scale of the fixed-point numbers, NULL for floating-point sums */
    bool antisymmetric, add; /* K = X - X^T; K is added to what is there */
    const int *ao_caller;
    const double *ao_factor;
    int nao, caller_nao;
    fmo_gpu_density_limit limit;
} finish_args;

/* An element of X, summed over copies, or converted from fixed point. */
__device__ double element(const double *X, size_t at, unsigned copies, const finish_args &a)
{
    if (a.scale) return (double)__double_as_longlong(X[at]) / *a.scale;
    double sum = 0.0;
#pragma unroll 8
    for (unsigned c = 0; c < copies; c++) sum += X[at + c * a.copy_stride];
    return sum;
}

/* J = 2 (X^J + X^J^T), K = X^K + X^K^T, or X^K - X^K^T of an antisymmetric density, tile by tile
 * through shared memory so that both triangles are read along rows. Under `fixed` integers are
 * added first, so that the order does not matter. J and K are NaN if the density exceeds the limit
 * for which the plan's pairs were pruned. */
template <int N> __global__ void finish(const __grid_constant__ fmo_gpu_many<finish_args, N> many)
{
    const finish_args &a = many.own();
    __shared__ double mirror[2][FINISH_TILE][FINISH_TILE + 1];
    const int row0 = blockIdx.y * FINISH_TILE, column0 = blockIdx.x * FINISH_TILE;
    const int x = threadIdx.x, y = threadIdx.y;
    if (column0 + y < a.nao && row0 + x < a.nao) {
        const size_t at = (size_t)(column0 + y) * a.nao + row0 + x;
        mirror[0][y][x] = element(a.coulomb, at, 1, a);
        mirror[1][y][x] = element(a.exchange, at, a.copies, a);
    }
    const bool too_large = fmo_gpu_density_too_large(a.limit, y * FINISH_TILE + x);
    const int row = row0 + y, column = column0 + x;
    if (row >= a.nao || column >= a.nao || a.ao_caller[row] < 0 || a.ao_caller[column] < 0) return;
    const size_t at = (size_t)row * a.nao + column;
    const double factor = too_large ? CUDART_NAN : a.ao_factor[row] * a.ao_factor[column];
    const size_t to = (size_t)a.ao_caller[row] * a.caller_nao + a.ao_caller[column];
    if (a.J)
        a.J[to] = FMO_DIGEST_FINAL_J * factor * (element(a.coulomb, at, 1, a) + mirror[0][x][y]);
    if (!a.K) return;
    const double mirrored = a.antisymmetric ? -mirror[1][x][y] : mirror[1][x][y];
    const double K =
        FMO_DIGEST_FINAL_K * factor * (element(a.exchange, at, a.copies, a) + mirrored);
    a.K[to] = a.add ? a.K[to] + K : K;
}

} // namespace

cudaError_t fmo_gpu_spread_sums(const fmo_gpu_group *group, bool fixed)
{
    return fmo_gpu_launch_pairs(group, FMO_GPU_PAIRS_KERNEL(spread_sums), fixed);
}

/* Launches `finish` for K of density d and, with the first, J of all builds of the group. */
static cudaError_t finish_one(const fmo_gpu_group *group, bool fixed, int d)
{
    return fmo_gpu_launch_group<finish_args>(
        group, finish<1>, finish<fmo_gpu_many_max<finish_args>>, dim3(FINISH_TILE, FINISH_TILE), 0,
        [&](const fmo_gpu_build *build, finish_args *a) {
            const fmo_gpu_functions *f = &build->plan->gpu->functions;
            const fmo_gpu_arrays *x = &build->plan->gpu->arrays;
            const int n = f->nao, tiles = (n + FINISH_TILE - 1) / FINISH_TILE;
            *a = {x->coulomb,
                  x->exchange + (size_t)d * x->copies * n * n,
                  d ? NULL : build->coulomb,
                  d ? build->second : build->exchange,
                  (size_t)n * n,
                  x->copies,
                  fixed ? &x->counters->fixed_scale : NULL,
                  fmo_gpu_is_antisymmetric(build->plan->gpu, d),
                  d ? build->add_second : build->add_exchange,
                  f->ao_caller,
                  f->ao_factor,
                  n,
                  build->plan->basis->ao_num,
                  fmo_gpu_limit_of(build->plan, x->row_max, f->sp_shells)};
            return dim3(tiles, tiles);
        });
}

cudaError_t fmo_gpu_finish(const fmo_gpu_group *group, bool fixed)
{
    const fmo_gpu_range range("J and K");
    for (int d = 0; d < group->build->plan->gpu->densities; d++)
        FMO_GPU_TRY(finish_one(group, fixed, d));
    return cudaSuccess;
}
