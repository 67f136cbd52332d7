/* Finds the quartets of classes with d or f shells that contribute to K and lists them
 * (rules/screen.h, docs/explanation/screening.md). Next: exchange.cu, which computes them. */
#include "accumulate/gpu/hermite/hermite.h"

#include "accumulate/gpu/range.h"
#include "accumulate/rules/screen.h"
#include "integrals/far/attenuation.h"

#include <math.h>

namespace {

enum {
    WARPS = fmo_tuning_gpu_hermite_screen_warps,
    THREADS = 32 * WARPS,
    TILE = FMO_GPU_TILE_PAIRS,
    QUEUE = fmo_tuning_gpu_hermite_screen_queue
};

/* Bounds that depend on distance: none, that of 1/r, that of erfc(omega r)/r. */
enum { BOUND_SCHWARZ, BOUND_SEPARATION, BOUND_ERFC };

/* The screening data of a class of pairs. */
typedef struct screen_pairs {
    const int4 *at;
    const float *bound, *tile_bound, *separation;
    const float4 *sphere;
    int num;
} screen_pairs;

typedef struct screen_args {
    screen_pairs bra, ket;
    bool same;
    int bound;                          /* the bound that is tested after Schwarz's: BOUND_... */
    float range;                        /* fmo_attenuation_range, for BOUND_ERFC */
    int orders[2];                      /* of bra and ket */
    int bra_begin, bras, share, shares; /* bras share, share + shares, ... are screened */
    int tiles;                          /* examined together by a warp, up to 32 */
    int shells;
    float cutoff;
    const float *block_max, *row_max;
    int2 *list;
    unsigned *count;
    unsigned long long *quartets, *screened_in_num;
} screen_args;

/* Loads the data of the bound that depends on distance. */
__device__ __forceinline__ fmo_separation load_separation(const screen_pairs &pairs, int segment)
{
    const float4 sphere = pairs.sphere[segment];
    fmo_separation separation = {sphere.x,
                                 sphere.y,
                                 sphere.z,
                                 sphere.w,
                                 pairs.separation[segment],
                                 pairs.separation[pairs.num + segment],
                                 {}};
    FMO_UNROLL
    for (int n = 0; n < FMO_SEPARATION_ORDERS; n++)
        separation.moment[n] = pairs.separation[(size_t)(2 + n) * pairs.num + segment];
    return separation;
}

/* The data of a pair for the decay of erfc(omega r)/r. */
__device__ __forceinline__ fmo_attenuation_side side_of(const fmo_separation &pair, int order)
{
    return {pair.x, pair.y, pair.z, pair.radius, pair.spread, order};
}

/* Returns the bound that depends on distance for quartets of a class. */
int find_bound(const fmo_fock_plan *plan, int eri_class)
{
    const fmo_gpu_state *const g = plan->gpu;
    if (plan->cutoff <= 0.0) return BOUND_SCHWARZ;
    if (g->with_operator) return isfinite(g->operator_range) ? BOUND_ERFC : BOUND_SCHWARZ;
    return eri_class < FMO_ERI_UNROLLED_COUNT ? BOUND_SEPARATION : BOUND_SCHWARZ;
}

/* Whether a quartet of density factor D also reaches the cutoff by the bound that depends on
 * distance. */
__device__ __forceinline__ bool near_enough(const screen_args &a, const fmo_separation &own,
                                            int ket, float D)
{
    const float worth = FMO_SCREEN_FAR_MARGIN * D;
    const fmo_separation other = load_separation(a.ket, ket);
    if (a.bound == BOUND_ERFC)
        return own.log_size + other.log_size + fmo_far_log2(worth / a.cutoff) +
                   fmo_attenuation(side_of(own, a.orders[0]), side_of(other, a.orders[1]),
                                   a.range) >=
               0.0f;
    return fmo_separation_bound(&own, &other, fmo_far_log2(worth / a.cutoff)) * worth >= a.cutoff;
}

/* Returns the code of a density factor, rounded to the safe side, in the bits of a list's entry
 * above the ket (types.cuh). */
__device__ unsigned factor_code(float factor)
{
    const float code = (float)FMO_GPU_FACTOR_TOP - 1e-4f - log2f(fmaxf(factor, 1e-30f));
    return (unsigned)fminf(fmaxf(code, 0.0f), (float)FMO_GPU_FACTOR_MAX) << FMO_GPU_KET_BITS;
}

/* Appends a warp's queue of kets to the list. */
__device__ void flush(const screen_args &a, int bra, const unsigned *queue, unsigned queued)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned base = 0;
    __syncwarp();
    if (lane == 0) base = atomicAdd(a.count, queued);
    base = __shfl_sync(0xffffffffu, base, 0);
    for (unsigned k = lane; k < queued; k += 32) a.list[base + k] = make_int2(bra, (int)queue[k]);
    __syncwarp();
}

/* Screens the kets of one bra; the blocks along y share the kets. Each lane of a warp first tests a
 * tile of kets by its largest bound; then, for each tile that may contain a screened-in quartet,
 * each lane tests one ket. Screened-in kets are queued in shared memory, then appended to the
 * list. */
template <int N>
__global__ void __launch_bounds__(THREADS)
    screen(const __grid_constant__ fmo_gpu_many<screen_args, N> many)
{
    const screen_args &a = many.own();
    if (N > 1 && (int)blockIdx.x >= a.bras) return;
    __shared__ unsigned queues[WARPS][QUEUE + 32];
    __shared__ unsigned counted[2];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int bra = a.share + a.shares * (a.bra_begin + (int)blockIdx.x);
    const int kets = a.same ? bra + 1 : a.ket.num;
    const int4 at = a.bra.at[bra];
    const unsigned first_shell = fmo_hermite_first_shell(at);
    const unsigned second_shell = fmo_hermite_second_shell(at);
    const size_t i = (size_t)first_shell * a.shells, j = (size_t)second_shell * a.shells;
    const float bound = a.bra.bound[bra];
    const float most = bound * fmaxf(a.row_max[first_shell], a.row_max[second_shell]);
    const fmo_separation own = load_separation(a.bra, bra);
    unsigned *const queue = queues[warp];
    unsigned queued = 0, screened_in_num = 0, quartets = 0;
    if (threadIdx.x < 2) counted[threadIdx.x] = 0;
    __syncthreads();
    const int step = WARPS * (int)gridDim.y * a.tiles;
    for (int first = a.tiles * (warp + WARPS * (int)blockIdx.y); first * TILE < kets;
         first += step) {
        const int mine = first + lane;
        unsigned open = __ballot_sync(0xffffffffu, lane < a.tiles && mine * TILE < kets &&
                                                       most * a.ket.tile_bound[mine] >= a.cutoff);
        for (; open; open &= open - 1) {
            const int ket = (first + __ffs((int)open) - 1) * TILE + lane;
            bool stays = false;
            unsigned code = 0;
            if (ket < kets) {
                const int4 to = a.ket.at[ket];
                const unsigned k = fmo_hermite_first_shell(to), l = fmo_hermite_second_shell(to);
                const float D = fmaxf(fmaxf(a.block_max[i + k], a.block_max[j + k]),
                                      fmaxf(a.block_max[i + l], a.block_max[j + l]));
                stays = bound * a.ket.bound[ket] * D >= a.cutoff;
                if (stays && a.bound != BOUND_SCHWARZ) stays = near_enough(a, own, ket, D);
                code = factor_code(D) | (unsigned)ket;
                quartets += stays && to.w && at.w;
            }
            const unsigned ballot = __ballot_sync(0xffffffffu, stays);
            if (stays) queue[queued + __popc(ballot & ((1u << lane) - 1u))] = code;
            queued += __popc(ballot);
            screened_in_num += stays;
            if (queued >= QUEUE) {
                flush(a, bra, queue, queued);
                queued = 0;
            }
        }
    }
    if (queued) flush(a, bra, queue, queued);
    for (int offset = 16; offset; offset /= 2) {
        screened_in_num += __shfl_down_sync(0xffffffffu, screened_in_num, offset);
        quartets += __shfl_down_sync(0xffffffffu, quartets, offset);
    }
    if (lane == 0) {
        atomicAdd(&counted[0], screened_in_num);
        atomicAdd(&counted[1], quartets);
    }
    __syncthreads();
    if (threadIdx.x == 0 && counted[0]) {
        atomicAdd(a.screened_in_num, (unsigned long long)counted[0]);
        atomicAdd(a.quartets, (unsigned long long)counted[1]);
    }
}

/* Selects the screening data of a class. */
screen_pairs pairs_to_screen(const fmo_hermite_pairs &from)
{
    return {from.at, from.bound, from.tile_bound, from.separation, from.sphere, from.num};
}

} // namespace

const fmo_hermite_task *fmo_hermite_find_task(const fmo_gpu_build *build, int pass, int eri_class)
{
    const fmo_gpu_hermite *const h = build->plan->gpu->hermite;
    if (!(build->plan->gpu->requested & FMO_TERMS_K)) return NULL;
    for (int t = 0; t < h->tasks; t++)
        if (h->task[t].pass == pass && h->task[t].eri_class == eri_class) return &h->task[t];
    return NULL;
}

/* Launches `screen` for the builds of a group that have a task of class c in the pass. */
cudaError_t fmo_hermite_screen(const fmo_gpu_group *group, int pass, int c)
{
    const fmo_gpu_range range("screening of d shells");
    const int bra = fmo_eri_class_bra(c), ket = fmo_eri_class_ket(c);
    /* if there are few bras, several blocks share each */
    const int least =
        fmo_tuning_gpu_hermite_screen_blocks * group->build->plan->gpu->device.processors;
    int bras = 0;
    for (int k = 0; k < group->num; k++) {
        const fmo_hermite_task *const task = fmo_hermite_find_task(&group->build[k], pass, c);
        if (task) bras += task->bra_end - task->bra_begin;
    }
    if (!bras) return cudaSuccess;
    const int bra_blocks = (least + bras - 1) / bras;
    return fmo_gpu_launch_group<screen_args>(
        group, screen<1>, screen<fmo_gpu_many_max<screen_args>>, THREADS, 0,
        [&](const fmo_gpu_build *build, screen_args *a) {
            const fmo_hermite_task *const task = fmo_hermite_find_task(build, pass, c);
            if (!task) return dim3(0);
            const fmo_gpu_hermite *const h = build->plan->gpu->hermite;
            const int all = (h->pairs[ket].num + TILE - 1) / TILE;
            const int fit = all / (WARPS * bra_blocks), tiles = fit < 2 ? 2 : fit > 32 ? 32 : fit;
            const int groups = (all + tiles * WARPS - 1) / (tiles * WARPS);
            *a = {pairs_to_screen(h->pairs[bra]),
                  pairs_to_screen(h->pairs[ket]),
                  bra == ket,
                  find_bound(build->plan, c),
                  build->plan->gpu->operator_range,
                  {fmo_pair_order(bra), fmo_pair_order(ket)},
                  task->bra_begin,
                  task->bra_end - task->bra_begin,
                  h->share,
                  h->shares,
                  tiles,
                  h->shells,
                  fmo_gpu_screen_cutoff(build->plan),
                  h->block_max,
                  h->row_max,
                  h->list + task->list_at,
                  &h->screened_in[task - h->task],
                  &h->counters->quartets[c],
                  &h->counters->screened_in_num[c]};
            return dim3((unsigned)a->bras, (unsigned)(bra_blocks < groups ? bra_blocks : groups));
        });
}
