/* Densities for gradients on a GPU: over internal functions; largest elements of blocks for the
 * screening of K; Hermite densities of all primitive pairs for J. Next: coulomb.cu. */
#include "accumulate/gpu/gradient/gradient.h"

namespace {

enum { THREADS = fmo_tuning_gpu_gradient_threads };

/* Computes an element of D over internal functions: sum_pq T_pa T_qb (D_pq + D_qp)/2. */
__global__ void __launch_bounds__(THREADS)
    order_density(const __grid_constant__ fmo_gpu_gradient h, const double *in, double *out)
{
    const fmo_gradient_molecule &own = h.molecule[blockIdx.z];
    const int column = blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y;
    if (column >= own.nao || row >= own.nao) return;
    const int *const begin = h.in_begin + own.function;
    const double *const D = in + own.given;
    const size_t n = own.caller_nao;
    double sum = 0.0;
    for (int i = begin[row]; i < begin[row + 1]; i++)
        for (int j = begin[column]; j < begin[column + 1]; j++) {
            const size_t p = h.in_from[i], q = h.in_from[j];
            sum += h.in_factor[i] * h.in_factor[j] * (0.5 * (D[p * n + q] + D[q * n + p]));
        }
    out[own.matrix + (size_t)row * own.nao + column] = sum;
}

/* Returns the largest |D| of two SP shells. */
__device__ float largest_of(const double *D, int nao, const fmo_gradient_sp_shell &i,
                            const fmo_gradient_sp_shell &j)
{
    float largest = 0.0f;
    for (int a = 0; a < fmo_gradient_functions_of(i.ang_mom); a++)
        for (int b = 0; b < fmo_gradient_functions_of(j.ang_mom); b++) {
            if (fmo_gradient_has_partner(i.ang_mom) && a == 0 && i.partner < 0) continue;
            if (fmo_gradient_has_partner(j.ang_mom) && b == 0 && j.partner < 0) continue;
            const size_t row = fmo_gradient_function(i.functions, i.ang_mom, a);
            const size_t column = fmo_gradient_function(j.functions, j.ang_mom, b);
            largest = fmaxf(largest, __double2float_ru(fabs(D[row * nao + column])));
        }
    return largest;
}

/* Computes sqrt(sum over terms of |weight| max |D|^2) of each block; one thread for each. */
__global__ void __launch_bounds__(THREADS) maxima(const __grid_constant__ fmo_gpu_gradient h,
                                                  const fmo_gradient_density *terms, int term_num)
{
    const fmo_gradient_molecule &own = h.molecule[blockIdx.z];
    const fmo_gradient_density *const term = terms + (size_t)blockIdx.z * term_num;
    const fmo_gradient_sp_shell *const sp_shell = h.sp_shell + own.sp_shell;
    const int j = blockIdx.x * THREADS + threadIdx.x, i = blockIdx.y;
    float bound = 0.0f;
    if (i >= own.sp_shells) return;
    if (j < own.sp_shells) {
        double sum = 0.0;
        for (int t = 0; t < term_num; t++) {
            const double D = largest_of(term[t].D, own.nao, sp_shell[i], sp_shell[j]);
            sum += fabs(term[t].weight) * D * D;
        }
        bound = __double2float_ru(sqrt(sum));
        h.block_max[own.block + (size_t)i * own.sp_shells + j] = bound;
    }
    for (int offset = 16; offset; offset /= 2)
        bound = fmaxf(bound, __shfl_xor_sync(0xffffffffu, bound, offset));
    if (threadIdx.x % 32 == 0) /* the bits of non-negative numbers are ordered like the numbers */
        atomicMax((unsigned *)&h.row_max[own.sp_shell + i], __float_as_uint(bound));
}

/* Computes Hermite density and strengths of a point; one thread for each. */
template <int CLASS>
__global__ void __launch_bounds__(THREADS)
    densities(const __grid_constant__ fmo_gpu_gradient h, const fmo_gradient_density *terms)
{
    constexpr int count = FMO_HERMITE_COUNT(fmo_pair_order(CLASS));
    const fmo_gradient_pairs &pairs = h.pairs[CLASS];
    const int n = blockIdx.x * THREADS + threadIdx.x;
    const int prim = n < pairs.points ? pairs.point[n] : -1;
    float2 strength = make_float2(0.0f, 0.0f);
    double H[count];
    for (int q = 0; q < count; q++) H[q] = 0.0;
    if (prim >= 0) {
        const fmo_gradient_pair &pair = pairs.pair[pairs.pair_of[prim]];
        const fmo_gradient_side side = {CLASS,
                                        fmo_pair_ang_mom(CLASS, 0),
                                        fmo_pair_ang_mom(CLASS, 1),
                                        {pair.AB[0], pair.AB[1], pair.AB[2]},
                                        pair.functions[0],
                                        pair.functions[1],
                                        pairs.prim[prim]};
        const fmo_gradient_molecule &own = h.molecule[pair.molecule];
        const fmo_gradient_density term = terms[pair.molecule];
        const fmo_gradient_sp_shell *const sp_shell = h.sp_shell + own.sp_shell;
        const float weight = (float)sqrt(own.coulomb_weight * fabs(term.weight));
        double block[FMO_GRADIENT_SPLITS_MAX];
        fmo_gradient_pair_density(h.tables, &side, term.D, own.nao, 2.0 * side.prim.k, block);
        fmo_gradient_hermite(h.tables, &side, block, H);
        const float d = weight * largest_of(term.D, own.nao, sp_shell[pair.sp_shell[0]],
                                            sp_shell[pair.sp_shell[1]]);
        strength = make_float2(d * side.prim.bound, d * side.prim.derivative_bound);
    }
    if (n < pairs.points) {
        for (int q = 0; q < count; q++)
            pairs.density[(size_t)q * pairs.points + n] = h.tables->order[q] % 2 ? -H[q] : H[q];
        pairs.strength[n] = strength;
    }
    for (int offset = 16; offset; offset /= 2) {
        strength.x = fmaxf(strength.x, __shfl_xor_sync(0xffffffffu, strength.x, offset));
        strength.y = fmaxf(strength.y, __shfl_xor_sync(0xffffffffu, strength.y, offset));
    }
    if (threadIdx.x % 32 == 0 && n < pairs.points)
        pairs.tile_strength[n / FMO_GPU_TILE_PAIRS] = strength;
}

typedef void densities_kernel(fmo_gpu_gradient, const fmo_gradient_density *);
densities_kernel *const densities_of[FMO_PAIR_GPU_COUNT] = {
#define ROW(P, name, li, lj, partner) densities<FMO_PAIR_##P>,
    FMO_PAIR_GPU_TABLE(ROW)
#undef ROW
};

unsigned blocks_for(int threads)
{
    return (unsigned)((threads + THREADS - 1) / THREADS);
}

/* A grid with a row of blocks for each row of a matrix, for all molecules. */
dim3 grid_of(const fmo_gpu_gradient *h, int rows)
{
    return dim3(blocks_for(rows), (unsigned)rows, (unsigned)h->molecules);
}

} // namespace

cudaError_t fmo_gradient_order_density(const fmo_gpu_gradient *h, const double *in, double *out,
                                       cudaStream_t stream)
{
    order_density<<<grid_of(h, h->functions), THREADS, 0, stream>>>(*h, in, out);
    return cudaGetLastError();
}

cudaError_t fmo_gradient_exchange_maxima(const fmo_gradient_pass *pass)
{
    const fmo_gpu_gradient &h = *pass->h;
    FMO_GPU_TRY(
        cudaMemsetAsync(h.row_max, 0, (size_t)h.total.sp_shell * sizeof *h.row_max, pass->stream));
    maxima<<<grid_of(&h, h.sp_shells), THREADS, 0, pass->stream>>>(h, pass->term, pass->term_num);
    return cudaGetLastError();
}

cudaError_t fmo_gradient_densities(const fmo_gradient_pass *pass)
{
    for (int c = 0; c < FMO_PAIR_GPU_COUNT; c++) {
        if (!pass->h->pairs[c].points) continue;
        densities_of[c]<<<blocks_for(pass->h->pairs[c].points), THREADS, 0, pass->stream>>>(
            *pass->h, pass->term);
        FMO_GPU_TRY(cudaGetLastError());
    }
    return cudaSuccess;
}
