/* The data of the bounds that depend on distance (integrals/far/separation.h and, for
 * erfc(omega r)/r, attenuation.h), which screening for K uses (screen.cu): computed once for a
 * plan, for each segment of a pair. Pairs with f shells have no moments. */
#include "accumulate/gpu/hermite/state.h"

namespace {

enum { THREADS = fmo_tuning_gpu_hermite_threads };

/* The segments of pairs of one class. */
typedef struct separation_class {
    int num;
    const int4 *at, *prims;
    const double *centre;
    const double2 *prim;
    float4 *sphere;
    float *separation;
} separation_class;

typedef struct separation_args {
    separation_class of[FMO_PAIR_GPU_COUNT];
} separation_args;

/* Computes the data of one segment by one thread; blockIdx.y is the class. The prefactors of a pair
 * of one shell are halved (types.cuh), because both orders of its functions are added; the bound is
 * for the final matrix, hence the factor 2. */
template <int N>
__global__ void __launch_bounds__(THREADS)
    find_separation(const __grid_constant__ fmo_gpu_many<separation_args, N> many)
{
    const int pair_class = blockIdx.y, n = blockIdx.x * THREADS + threadIdx.x;
    const separation_class &a = many.own().of[pair_class];
    if (n >= a.num) return;
    const int4 prims = a.prims[n], at = a.at[n];
    const size_t num = (size_t)a.num;
    const double *const centre = a.centre + n;
    const double A[3] = {centre[0], centre[num], centre[2 * num]};
    const double AB[3] = {centre[3 * num], centre[4 * num], centre[5 * num]};
    const fmo_separation_prims of = {(const double *)(a.prim + (unsigned)prims.x), prims.y,
                                     FMO_GPU_PAIR_TWOS, FMO_GPU_PAIR_BOUND,
                                     (size_t)(unsigned)prims.z};
    const bool one_shell = fmo_hermite_first_shell(at) == fmo_hermite_second_shell(at);
    fmo_separation separation;
    double place[3];
    fmo_separation_place(A, &of, place, &separation);
    a.sphere[n] = make_float4(separation.x, separation.y, separation.z, separation.radius);
    a.separation[n] = separation.spread;
    a.separation[num + n] = separation.log_size;
    if (pair_class >= FMO_PAIR_UNROLLED_COUNT) return;
    fmo_separation_find_moments(fmo_pair_ang_mom(pair_class, 0), fmo_pair_ang_mom(pair_class, 1),
                                AB, one_shell ? 2.0 : 1.0, &of, place, &separation);
    for (int k = 0; k < FMO_SEPARATION_ORDERS; k++)
        a.separation[(size_t)(2 + k) * num + n] = separation.moment[k];
}

} // namespace

/* Launches find_separation for all plans of the group. */
cudaError_t fmo_hermite_make_separation(const fmo_gpu_group *group)
{
    const auto fill = [](const fmo_gpu_build *build, separation_args *a) {
        int most = 0;
        for (int c = 0; c < FMO_PAIR_GPU_COUNT; c++) {
            const fmo_hermite_pairs *const p = &build->plan->gpu->hermite->pairs[c];
            a->of[c] = {p->num,
                        p->at,
                        p->prims,
                        p->centre,
                        p->prim,
                        (float4 *)p->sphere,
                        (float *)p->separation};
            if (p->num > most) most = p->num;
        }
        return dim3((unsigned)(most + THREADS - 1) / THREADS, FMO_PAIR_GPU_COUNT);
    };
    return fmo_gpu_launch_group<separation_args>(group, find_separation<1>,
                                                 find_separation<fmo_gpu_many_max<separation_args>>,
                                                 THREADS, 0, fill);
}
