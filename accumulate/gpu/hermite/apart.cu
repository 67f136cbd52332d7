/* What screening for K takes of each part of a pair to know distance (integrals/far/apart.h). */
#include "accumulate/gpu/hermite/state.h"

namespace {

enum { THREADS = fmo_tuning_gpu_hermite_threads };

typedef struct apart_args {
    fmo_hermite_pairs pairs;
    float4 *sphere;
    float *apart;
    int la, lb;
} apart_args;

/* One thread a part. The prefactors of a pair of one shell are halved (types.cuh), as both orders
 * of its functions are added up; what is in the matrices at the end has them whole. */
__global__ void __launch_bounds__(THREADS) find_apart(const __grid_constant__ apart_args a)
{
    const int n = blockIdx.x * THREADS + threadIdx.x;
    if (n >= a.pairs.num) return;
    const int4 prims = a.pairs.prims[n], at = a.pairs.at[n];
    const size_t num = (size_t)a.pairs.num;
    const double *const center = a.pairs.center + n;
    const double A[3] = {center[0], center[num], center[2 * num]};
    const double AB[3] = {center[3 * num], center[4 * num], center[5 * num]};
    const fmo_apart_prims of = {(const double *)(a.pairs.prim + (unsigned)prims.x), prims.y,
                                FMO_GPU_PAIR_TWOS, FMO_GPU_PAIR_BOUND, (size_t)(unsigned)prims.z};
    const bool one_shell = fmo_hermite_first_shell(at) == fmo_hermite_second_shell(at);
    fmo_apart apart;
    fmo_apart_make(a.la, a.lb, A, AB, one_shell ? 2.0 : 1.0, &of, &apart);
    a.sphere[n] = make_float4(apart.x, apart.y, apart.z, apart.radius);
    a.apart[n] = apart.spread;
    a.apart[num + n] = apart.log_size;
    for (int k = 0; k < FMO_APART_ORDERS; k++) a.apart[(size_t)(2 + k) * num + n] = apart.moment[k];
}

} // namespace

cudaError_t fmo_hermite_make_apart(int pair_class, const fmo_hermite_pairs *pairs,
                                   cudaStream_t stream)
{
    static const int l[FMO_PAIR_CLASS_COUNT][2] = {
#define ROW(P, name, li, lj, partner) {li, lj},
        FMO_PAIR_TABLE(ROW)
#undef ROW
    };
    const apart_args a = {*pairs, (float4 *)pairs->sphere, (float *)pairs->apart, l[pair_class][0],
                          l[pair_class][1]};
    if (!pairs->num) return cudaSuccess;
    find_apart<<<(pairs->num + THREADS - 1) / THREADS, THREADS, 0, stream>>>(a);
    return cudaGetLastError();
}
