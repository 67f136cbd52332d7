/* First steps of a build: the density in the kernels' order, its block maxima, and the density and
 * Coulomb estimate of every pair. Screening (screen.cu) and the quartet kernels read them. */
#include "accumulate/gpu/pairs/pairs.h"

#include <math.h>

#include "accumulate/gpu/range.h"
#include "accumulate/rules/screen.h"
#include "accumulate/tuning.h"

namespace {

enum { SET_THREADS = fmo_tuning_gpu_density_threads };

/* Memory to be set to zero. */
typedef struct zero_args {
    uint4 *at;
    size_t num;
} zero_args;

enum { ZERO_THREADS = fmo_tuning_gpu_zero_threads, ZERO_ROUNDS = fmo_tuning_gpu_zero_rounds };

template <int N>
__global__ void __launch_bounds__(ZERO_THREADS)
    zero(const __grid_constant__ fmo_gpu_many<zero_args, N> many)
{
    const zero_args &a = many.own();
    const size_t begin = (size_t)blockIdx.x * ZERO_THREADS * ZERO_ROUNDS + threadIdx.x;
    for (size_t k = 0; k < ZERO_ROUNDS; k++)
        if (begin + k * ZERO_THREADS < a.num)
            a.at[begin + k * ZERO_THREADS] = make_uint4(0, 0, 0, 0);
}

typedef struct density_args {
    const double *in;
    double *out;
    float *block_max, *row_max;
    const int *ao_caller;
    const double *ao_factor;
    int nao, caller_nao, sp_shells, single_s;
    int width;         /* functions of an SP shell with a p shell */
    double own, other; /* factors of an element and of the transposed one */
    bool more;         /* block_max is that of an earlier density, and becomes that of both */
} density_args;

/* Threads for a block of two SP shells, which has up to 4 x 4 elements. */
enum { BLOCK_ELEMENTS = 16, DENSITY_BLOCKS = SET_THREADS / BLOCK_ELEMENTS };

/* Converts the symmetric or antisymmetric part of the density to the kernels' order, one element
 * per thread. Computes the largest |D| of each block of SP shells and of each row of blocks. */
template <int N>
__global__ void order_density(const __grid_constant__ fmo_gpu_many<density_args, N> many)
{
    const density_args &a = many.own();
    const int element = threadIdx.x % BLOCK_ELEMENTS, s = blockIdx.y;
    const int t = blockIdx.x * DENSITY_BLOCKS + threadIdx.x / BLOCK_ELEMENTS;
    float largest = 0.0f;
    if (N > 1 && s >= a.sp_shells) return;
    if (t < a.sp_shells) {
        const int row = element / 4, column = element % 4;
        const int rows = s < a.single_s ? 1 : a.width, columns = t < a.single_s ? 1 : a.width;
        if (row < rows && column < columns) {
            const int x = fmo_gpu_sp_shell_begin(s, a.single_s, a.width) + row;
            const int y = fmo_gpu_sp_shell_begin(t, a.single_s, a.width) + column;
            const int p = a.ao_caller[x], q = a.ao_caller[y];
            double d = 0.0;
            if (p >= 0 && q >= 0)
                d = a.ao_factor[x] * a.ao_factor[y] *
                    (a.own * a.in[(size_t)p * a.caller_nao + q] +
                     a.other * a.in[(size_t)q * a.caller_nao + p]);
            a.out[(size_t)x * a.nao + y] = d;
            largest = __double2float_ru(fabs(d));
        }
    }
    for (int offset = 1; offset < 32; offset *= 2) {
        if (offset == BLOCK_ELEMENTS && element == 0 && t < a.sp_shells)
            a.block_max[(size_t)s * a.sp_shells + t] =
                a.more ? fmaxf(a.block_max[(size_t)s * a.sp_shells + t], largest) : largest;
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    }
    if (threadIdx.x % 32 == 0) /* the bits of non-negative floats compare like the numbers */
        atomicMax((unsigned *)&a.row_max[s], __float_as_uint(largest));
}

/* Copies D to [product][pair], and computes the Coulomb estimate of each pair and the largest of
 * each tile. */
template <int N>
__global__ void order_pairs(const __grid_constant__ fmo_gpu_many<fmo_gpu_pairs_args, N> many)
{
    const fmo_gpu_pairs_args &a = many.own();
    const int pair_class = blockIdx.y / FMO_GPU_PAIR_PRODUCTS,
              product = blockIdx.y % FMO_GPU_PAIR_PRODUCTS;
    const fmo_gpu_pairs &pairs = a.pairs[pair_class];
    const int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (product == 0) {
        float largest = 0.0f, D = 0.0f;
        if (n < pairs.num) {
            const fmo_gpu_screen_data data = pairs.screen[n];
            D = a.coulomb_weight *
                a.block_max[(size_t)data.sp_shell.x * a.sp_shells + data.sp_shell.y];
            if (a.with_J) largest = data.bound * (float)fmo_screen_coulomb(D, 0.0);
            pairs.screen[n].coulomb_estimate = largest;
        }
        for (int offset = 16; offset; offset /= 2) {
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
            D = fmaxf(D, __shfl_xor_sync(0xffffffffu, D, offset));
        }
        if (threadIdx.x % FMO_GPU_TILE_PAIRS == 0 && n < pairs.num) {
            pairs.tile_coulomb_estimate[n / FMO_GPU_TILE_PAIRS] = largest;
            atomicMax(a.largest, (unsigned long long)__double_as_longlong((double)D));
        }
    }
    const int columns = fmo_pair_functions(pair_class, 1, a.sp);
    if (!pairs.density || n >= pairs.num || product >= fmo_pair_products(pair_class, a.sp)) return;
    const int4 shell = pairs.first[n];
    pairs.density[(size_t)product * pairs.num + n] =
        a.density[(size_t)(shell.x + product / columns) * a.nao + shell.y + product % columns];
}

/* Converts density number `from` of the builds' densities to number `to` of the converted ones; d:
 * as in fmo_gpu_other_factor. */
cudaError_t order_one(const fmo_gpu_group *group, int from, int to, int d)
{
    return fmo_gpu_launch_group<density_args>(
        group, order_density<1>, order_density<fmo_gpu_many_max<density_args>>, SET_THREADS, 0,
        [=](const fmo_gpu_build *build, density_args *a) {
            const fmo_gpu_state *g = build->plan->gpu;
            const fmo_gpu_functions *f = &g->functions;
            const fmo_gpu_arrays *x = &g->arrays;
            const size_t n = (size_t)build->plan->basis->ao_num;
            *a = {build->density + (size_t)from * n * n,
                  x->density + (size_t)to * f->nao * f->nao,
                  x->density_max,
                  x->row_max,
                  f->ao_caller,
                  f->ao_factor,
                  f->nao,
                  build->plan->basis->ao_num,
                  f->sp_shells,
                  f->single_s,
                  f->width,
                  fmo_gpu_own_factor(g),
                  fmo_gpu_other_factor(g, d),
                  to > 0};
            return dim3((f->sp_shells + DENSITY_BLOCKS - 1) / DENSITY_BLOCKS, f->sp_shells);
        });
}

} // namespace

cudaError_t fmo_gpu_zero(const fmo_gpu_group *group, fmo_gpu_zeroed (*of)(const fmo_gpu_state *))
{
    if (group->num == 1) {
        const fmo_gpu_zeroed own = of(group->build->plan->gpu);
        return cudaMemsetAsync(own.at, 0, own.bytes, group->stream);
    }
    return fmo_gpu_launch_group<zero_args>(
        group, zero<1>, zero<fmo_gpu_many_max<zero_args>>, ZERO_THREADS, 0,
        [of](const fmo_gpu_build *build, zero_args *a) {
            const fmo_gpu_zeroed own = of(build->plan->gpu);
            const unsigned block = ZERO_THREADS * ZERO_ROUNDS;
            *a = {(uint4 *)own.at, own.bytes / sizeof *a->at};
            return dim3((unsigned)((a->num + block - 1) / block));
        });
}

/* Queues the steps for all builds of a group: the sums are set to zero, the densities converted
 * with their block maxima, and the density of every pair is written. */
cudaError_t fmo_gpu_order_density(const fmo_gpu_group *group)
{
    const fmo_gpu_range range("density");
    FMO_GPU_TRY(fmo_gpu_zero(group, [](const fmo_gpu_state *g) {
        return fmo_gpu_zeroed{g->arrays.coulomb, g->arrays.zeroed};
    }));
    const fmo_gpu_state *const g = group->build->plan->gpu;
    if (g->densities == 1) {
        FMO_GPU_TRY(order_one(group, 0, 0, 0));
        return fmo_gpu_launch_pairs(group, FMO_GPU_PAIRS_KERNEL(order_pairs), false);
    }
    /* J's density only passes through: its pairs are copied before those of K take its place */
    const bool coulomb = g->requested & FMO_TERMS_J;
    FMO_GPU_TRY(order_one(group, coulomb ? 0 : 1, 0, coulomb ? -1 : 0));
    FMO_GPU_TRY(fmo_gpu_launch_pairs(group, FMO_GPU_PAIRS_KERNEL(order_pairs), false));
    FMO_GPU_TRY(order_one(group, 1, 0, 0));
    return order_one(group, 2, 1, 1);
}
