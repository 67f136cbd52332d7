/* The scale of fixed-point sums (strategy `fixed`), from a bound on the matrices, and the check
 * that it leaves enough digits. The strategy itself is scatter/scatter_fixed.cuh. */
#include "accumulate/gpu/fixed.cuh"
#include "accumulate/gpu/plan.h"

#include "accumulate/rules/screen.h"
#include "accumulate/tuning.h"

namespace {

/* The bound on all elements of X: |X^J| <= max Q sum_kl |D_kl| Q_kl over pairs, and |X^K_ik| <=
 * sum_jl |D_jl| m_j m_l with m_j the largest Q of a pair with shell j. One block computes it, so
 * that the order of the sums, and therefore the scale, never changes. */
enum { BOUND_THREADS = fmo_tuning_gpu_bound_threads };

/* Sum of a value over all threads of the block. shared: [BOUND_THREADS]. */
__device__ double block_sum(double value, double *shared)
{
    __syncthreads();
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int half = BOUND_THREADS / 2; half; half /= 2) {
        if ((int)threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    return shared[0];
}

typedef struct bound_args {
    fmo_gpu_pairs pairs[FMO_PAIR_LOW_L_COUNT];
    const float *block_max;
    const double *shell_bound;
    const double *sums_bound; /* [sums_sp_shells] shell_bound of the plan whose X^J is computed */
    int sp_shells, single_s, width, sp, sums_sp_shells;
    double *bound, *scale;
} bound_args;

#define FIXED_QUANTUM_MAX 1e-13

/* Computes the bound and the scale of a build. */
template <int N>
__global__ void __launch_bounds__(BOUND_THREADS)
    bound_elements(const __grid_constant__ fmo_gpu_many<bound_args, N> many)
{
    const bound_args &a = many.own();
    __shared__ double shared[BOUND_THREADS];
    double coulomb = 0.0, exchange = 0.0, largest = 0.0;
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
        const double functions = fmo_pair_products(c, a.sp);
        for (int n = threadIdx.x; n < a.pairs[c].num; n += BOUND_THREADS) {
            const fmo_gpu_screen_data data = a.pairs[c].screen[n];
            coulomb += functions * data.bound *
                       a.block_max[(size_t)data.sp_shell.x * a.sp_shells + data.sp_shell.y];
        }
    }
    for (int j = 0; j < a.sp_shells; j++) {
        const double m = a.shell_bound[j] * (j < a.single_s ? 1.0 : a.width);
        for (int l = threadIdx.x; l < a.sp_shells; l += BOUND_THREADS)
            exchange += m * a.shell_bound[l] * (l < a.single_s ? 1.0 : a.width) *
                        a.block_max[(size_t)j * a.sp_shells + l];
    }
    for (int j = 0; j < a.sums_sp_shells; j++) largest = fmo_screen_max(largest, a.sums_bound[j]);
    coulomb = largest * block_sum(coulomb, shared);
    exchange = block_sum(exchange, shared);
    if (threadIdx.x == 0) {
        const double bound = isfinite(coulomb) && isfinite(exchange)
                                 ? fmo_screen_max(coulomb, exchange)
                                 : CUDART_INF; /* because a maximum may lose a NaN */
        *a.bound = bound;
        *a.scale = fmo_gpu_fixed_scale_for(bound);
    }
}

} // namespace

/* Arguments for the scale of the sums of `sums`, made from the density of `g`; the two may be the
 * same. */
static void bound_arguments(const fmo_gpu_state *g, const fmo_gpu_state *sums, bound_args *a)
{
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) a->pairs[c] = g->pairs[c];
    a->block_max = g->arrays.density_max;
    a->shell_bound = g->arrays.shell_bound;
    a->sums_bound = sums->arrays.shell_bound;
    a->sp_shells = g->functions.sp_shells;
    a->single_s = g->functions.single_s;
    a->width = g->functions.width;
    a->sp = g->functions.sp;
    a->sums_sp_shells = sums->functions.sp_shells;
    a->bound = &sums->arrays.counters->fixed_bound;
    a->scale = &sums->arrays.counters->fixed_scale;
}

cudaError_t fmo_gpu_fixed_scale(const fmo_gpu_group *group)
{
    return fmo_gpu_launch_group<bound_args>(
        group, bound_elements<1>, bound_elements<fmo_gpu_many_max<bound_args>>, BOUND_THREADS, 0,
        [](const fmo_gpu_build *build, bound_args *a) {
            bound_arguments(build->plan->gpu, build->plan->gpu, a);
            return dim3(1);
        });
}

cudaError_t fmo_gpu_fixed_scale_of(const fmo_gpu_group *density, const fmo_gpu_state *sums)
{
    fmo_gpu_one<bound_args> args;
    bound_arguments(density->build->plan->gpu, sums, &args.of[0]);
    bound_elements<1><<<1, BOUND_THREADS, 0, density->stream>>>(args);
    return cudaGetLastError();
}

fmo_status fmo_gpu_fixed_check(double bound, double scale, fmo_error *err)
{
    if (!isfinite(bound))
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "scatter = fixed: no finite bound on the Fock matrix; use another "
                             "strategy");
    if (1.0 / scale > FIXED_QUANTUM_MAX)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "scatter = fixed: elements may reach %.3g hartree, which leaves a "
                             "resolution of %.3g, coarser than %g; use another strategy",
                             bound, 1.0 / scale, FIXED_QUANTUM_MAX);
    return FMO_OK;
}
