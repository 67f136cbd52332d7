/* The last steps for classes with d or f shells: J from potentials, and J and K in the caller's
 * order, added to those of the kernels of s and p shells. Also the scale of fixed-point sums, and
 * the order of all steps (fmo_hermite_queue). docs/explanation/gpu/d-shells.md */
#include "accumulate/gpu/hermite/any.cuh"

#include "accumulate/gpu/density_limit.cuh"
#include "accumulate/gpu/fixed.cuh"
#include "accumulate/gpu/range.h"
#include "accumulate/rules/screen.h"
#include "accumulate/tuning.h"
#include "integrals/eri/eri_slice.h"

namespace {

enum { THREADS = fmo_tuning_gpu_hermite_threads };

/* The potentials at the points of a class. */
typedef struct potential_view {
    const double *potential;
    int points, terms, chunks;
} potential_view;

typedef struct coulomb_args {
    fmo_hermite_pairs pairs;
    int la, lb;
    potential_view of[FMO_PAIR_GPU_COUNT];
    double *J;
    int nao;
} coulomb_args;

/* Lanes that share a pair: pairs of low order have more primitives. Those of a pair with an f shell
 * share its products. */
enum { ANY_LANES = 16 };
__host__ __device__ constexpr int lanes_of(int pair_class)
{
    const int order = fmo_pair_order(pair_class);
    if (pair_class >= FMO_PAIR_UNROLLED_COUNT) return ANY_LANES;
    return order <= FMO_PAIR_LOW_L_ORDER_MAX ? 8 : order < FMO_PAIR_UNROLLED_ORDER_MAX ? 4 : 1;
}

/* Computes J_ab = sum over a pair's primitives of the prefactor times sum_p E^ab_p V_p. The lanes
 * of a pair take its primitives in turns. */
template <int P, int N>
__global__ void __launch_bounds__(THREADS)
    contract(const __grid_constant__ fmo_gpu_many<coulomb_args, N> many)
{
    const coulomb_args &a = many.own();
    constexpr int LA = fmo_pair_ang_mom(P, 0), LB = fmo_pair_ang_mom(P, 1);
    constexpr int terms = FMO_HERMITE_COUNT(LA + LB), lanes = lanes_of(P);
    constexpr int NA = FMO_CARTESIAN(LA), NB = FMO_CARTESIAN(LB);
    const int n = (blockIdx.x * THREADS + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    const bool any = n < a.pairs.whole;
    const int2 records = any ? a.pairs.records_of[n] : make_int2(0, 0);
    const int segment = any ? a.pairs.segment_of[n] : 0;
    const int4 at = a.pairs.at[segment];
    const bool one_shell = fmo_hermite_first_shell(at) == fmo_hermite_second_shell(at);
    const double *const centre = a.pairs.centre + segment;
    const size_t num = (size_t)a.pairs.num;
    const double AB[3] = {centre[3 * num], centre[4 * num], centre[5 * num]};
    double sum[NA * NB];
    FMO_UNROLL
    for (int k = 0; k < NA * NB; k++) sum[k] = 0.0;
#pragma unroll 1
    for (int r = records.x + lane; r < records.x + records.y; r += lanes) {
        const double2 *const record = a.pairs.record + (size_t)r * FMO_GPU_PAIR_TWOS;
        const double2 pk = record[0], xy = record[1], zh = record[2];
        const double PA[3] = {xy.x, xy.y, zh.x};
        const int2 point = a.pairs.point_of[r];
        const potential_view &view = a.of[point.x];
        double V[terms];
        FMO_UNROLL
        for (int p = 0; p < terms; p++) {
            V[p] = 0.0;
            for (int c = 0; c < view.chunks; c++)
                V[p] += view.potential[((size_t)c * view.terms + p) * view.points + point.y];
        }
        fmo_slice_potential(LA, LB, PA, AB, zh.y, one_shell ? 2.0 * pk.y : pk.y, V, sum);
    }
    FMO_UNROLL
    for (int k = 0; k < NA * NB; k++) {
        FMO_UNROLL
        for (int offset = lanes / 2; offset; offset /= 2)
            sum[k] += __shfl_xor_sync(0xffffffffu, sum[k], offset);
        if (!any || lane != k % lanes) continue;
        a.J[(size_t)(at.x + k / NB) * a.nao + at.y + k % NB] = sum[k];
        if (!one_shell) a.J[(size_t)(at.y + k % NB) * a.nao + at.x + k / NB] = sum[k];
    }
}

/* contract for pairs with an f shell: a lane of a pair computes every ANY_LANES-th product. */
template <int N>
__global__ void __launch_bounds__(THREADS)
    contract_any(const __grid_constant__ fmo_gpu_many<coulomb_args, N> many)
{
    const coulomb_args &a = many.own();
    const int n = (blockIdx.x * THREADS + threadIdx.x) / ANY_LANES;
    if (n >= a.pairs.whole) return;
    const int la = a.la, lb = a.lb, NB = FMO_CARTESIAN(lb), all = FMO_CARTESIAN(la) * NB;
    const int2 records = a.pairs.records_of[n];
    const int segment = a.pairs.segment_of[n];
    const int4 at = a.pairs.at[segment];
    const bool one_shell = fmo_hermite_first_shell(at) == fmo_hermite_second_shell(at);
    const double *const centre = a.pairs.centre + segment;
    const size_t num = (size_t)a.pairs.num;
    const double AB[3] = {centre[3 * num], centre[4 * num], centre[5 * num]};
    constexpr int own = (FMO_PAIR_GPU_PRODUCTS_MAX + ANY_LANES - 1) / ANY_LANES;
    double sum[own] = {};
    for (int r = records.x; r < records.x + records.y; r++) {
        const double2 *const record = a.pairs.record + (size_t)r * FMO_GPU_PAIR_TWOS;
        const double2 pk = record[0], xy = record[1], zh = record[2];
        const double PA[3] = {xy.x, xy.y, zh.x}, K = one_shell ? 2.0 * pk.y : pk.y;
        const int2 point = a.pairs.point_of[r];
        const potential_view &view = a.of[point.x];
        fmo_hermite_shape E[3];
        for (int x = 0; x < 3; x++) fmo_hermite_expand(la, lb, PA[x], PA[x] + AB[x], zh.y, E[x].E);
        for (int c = 0; c < view.chunks; c++) {
            const double *const V = view.potential + (size_t)c * view.terms * view.points + point.y;
            for (int k = 0; k < own; k++) {
                const int ab = threadIdx.x % ANY_LANES + ANY_LANES * k;
                if (ab >= all) break;
                double value = 0.0;
                fmo_hermite_terms_of(la, lb, ab, E, [&](int p, int, double e) {
                    value += e * V[(size_t)p * view.points];
                });
                sum[k] += K * value;
            }
        }
    }
    for (int k = 0; k < own; k++) {
        const int ab = threadIdx.x % ANY_LANES + ANY_LANES * k;
        if (ab >= all) break;
        a.J[(size_t)(at.x + ab / NB) * a.nao + at.y + ab % NB] = sum[k];
        if (!one_shell) a.J[(size_t)(at.y + ab % NB) * a.nao + at.x + ab / NB] = sum[k];
    }
}

const fmo_gpu_kernels<coulomb_args> contract_kernels[FMO_PAIR_GPU_COUNT] = {
#define ROW(P, name, li, lj, partner) \
    {contract<FMO_PAIR_##P, 1>, contract<FMO_PAIR_##P, fmo_gpu_many_max<coulomb_args>>},
    FMO_PAIR_UNROLLED_TABLE(ROW)
#undef ROW
#define ROW(P, name, li, lj, partner) \
    {contract_any<1>, contract_any<fmo_gpu_many_max<coulomb_args>>},
        FMO_PAIR_ANY_GPU_TABLE(ROW)
#undef ROW
};

typedef struct finish_args {
    const double *coulomb, *exchange;
    double *J, *K;           /* NULL: not requested */
    const double *scale;     /* fixed-point scale of `exchange`; NULL: doubles */
    bool antisymmetric, add; /* K = X - X^T; K is added to what is there */
    const int *begin, *from, *low_l;
    const double *factor;
    int nao, caller_nao;
    fmo_gpu_density_limit limit;
} finish_args;

/* Returns an element of X^K plus its transpose, or minus it of an antisymmetric density. */
__device__ double element(const finish_args &a, size_t row, size_t column)
{
    const double x = a.exchange[row * a.nao + column], y = a.exchange[column * a.nao + row];
    if (!a.scale) return a.antisymmetric ? x - y : x + y;
    const long long X = __double_as_longlong(x), Y = __double_as_longlong(y);
    return (double)(a.antisymmetric ? X - Y : X + Y) / *a.scale;
}

/* Computes an element in the caller's order: sum_ab T_pa T_qb J_ab, and the same of X^K plus its
 * transpose; adds it where s and p shells have written. NaN if the density is larger than the
 * plan's pairs were selected for. */
template <int N>
__global__ void __launch_bounds__(THREADS)
    finish(const __grid_constant__ fmo_gpu_many<finish_args, N> many)
{
    const finish_args &a = many.own();
    const int q = blockIdx.x * THREADS + threadIdx.x, p = blockIdx.y;
    if (N > 1 && p >= a.caller_nao) return; /* the whole block */
    const bool too_large = fmo_gpu_density_too_large(a.limit, threadIdx.x);
    if (q >= a.caller_nao) return;
    double J = too_large ? CUDART_NAN : 0.0, K = J;
    for (int i = a.begin[p]; i < a.begin[p + 1]; i++)
        for (int j = a.begin[q]; j < a.begin[q + 1]; j++) {
            const double factor = a.factor[i] * a.factor[j];
            if (a.J) J += factor * a.coulomb[(size_t)a.from[i] * a.nao + a.from[j]];
            if (a.K) K += factor * element(a, a.from[i], a.from[j]);
        }
    const size_t to = (size_t)p * a.caller_nao + q;
    const bool written = a.low_l[p] && a.low_l[q];
    if (a.J) a.J[to] = written ? a.J[to] + J : J;
    if (a.K) a.K[to] = written || a.add ? a.K[to] + K : K;
}

/* The arguments of bound_elements; m_j is shell_bound[j]. */
enum { BOUND_THREADS = fmo_tuning_gpu_bound_threads };
typedef struct bound_args {
    const float *block_max, *shell_bound;
    const int2 *shell;
    int shells;
    fmo_hermite_counters *counters;
} bound_args;
/* Computes the fixed-point scale from a bound on every element of X^K, |X_ik| <= sum_jl |D_jl| m_j
 * m_l with m_j the largest bound of a pair with shell j. One block, so that the order of summation,
 * and with it the scale, is always the same. */
template <int N>
__global__ void __launch_bounds__(BOUND_THREADS)
    bound_elements(const __grid_constant__ fmo_gpu_many<bound_args, N> many)
{
    const bound_args &a = many.own();
    __shared__ double shared[BOUND_THREADS];
    double sum = 0.0;
    for (int j = 0; j < a.shells; j++) {
        const double m = (double)a.shell_bound[j] * a.shell[j].y;
        for (int l = threadIdx.x; l < a.shells; l += BOUND_THREADS)
            sum += m * a.shell_bound[l] * a.shell[l].y * a.block_max[(size_t)j * a.shells + l];
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int half = BOUND_THREADS / 2; half; half /= 2) {
        if ((int)threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const double bound = isfinite(shared[0]) ? shared[0] : CUDART_INF;
        a.counters->fixed_bound = bound;
        a.counters->fixed_scale = fmo_gpu_fixed_scale_for(bound);
    }
}

/* Launches bound_elements for the builds that need K. */
cudaError_t bound_exchange(const fmo_gpu_group *group)
{
    return fmo_gpu_launch_group<bound_args>(
        group, bound_elements<1>, bound_elements<fmo_gpu_many_max<bound_args>>, BOUND_THREADS, 0,
        [](const fmo_gpu_build *build, bound_args *a) {
            const fmo_gpu_hermite *const h = build->plan->gpu->hermite;
            if (!(build->plan->gpu->requested & FMO_TERMS_K)) return dim3(0);
            *a = {h->block_max, h->shell_bound, h->shell, h->shells, h->counters};
            return dim3(1);
        });
}

/* Returns the arguments of a task's quartet kernel. */
fmo_hermite_exchange_args exchange_arguments(const fmo_fock_plan *plan,
                                             const fmo_hermite_task *task)
{
    const fmo_gpu_state *const g = plan->gpu;
    const fmo_gpu_hermite *const h = g->hermite;
    const int c = task->eri_class, bra = fmo_eri_class_bra(c), ket = fmo_eri_class_ket(c);
    const auto side = [h](int pair_class) {
        const fmo_hermite_pairs &from = h->pairs[pair_class];
        return fmo_hermite_exchange_pairs{from.at, from.prims, from.centre, from.prim, from.num};
    };
    fmo_hermite_exchange_args a = {};
    a.bra = side(bra);
    a.ket = side(ket);
    a.same = bra == ket;
    a.planes = fmo_hermite_planes_now(h, c);
    a.list = h->list + task->list_at;
    a.count = &h->screened_in[task - h->task];
    a.prim_cutoff = fmo_gpu_prim_cutoff(plan);
    a.boys = g->boys->row[fmo_eri_class_order(c)][0];
    a.prim_quartets = &h->counters->prim_quartets[c];
    a.matrices.density = h->density;
    a.matrices.exchange = h->exchange;
    a.matrices.nao = h->nao;
    a.matrices.exchange_least = fmo_gpu_cutoff_share(plan, FMO_SCREEN_ADD_SHARE);
    a.matrices.copies = 1;
    a.matrices.op = g->with_operator ? g->arrays.op : NULL;
    a.matrices.fixed_scale = &h->counters->fixed_scale;
    a.matrices.sink = &h->counters->sink;
    a.matrices.issued = &h->counters->issued[c];
    a.matrices.density_step = a.matrices.exchange_step = (size_t)h->nao * (size_t)h->nao;
    return a;
}

/* Returns the block with as many quartets as fit the shared memory of the GPU. */
fmo_hermite_block fit_block(fmo_hermite_block block, const fmo_gpu_device *device)
{
    while (block.quartet_bytes && block.quartets > 1 &&
           (size_t)block.shared > device->shared_bytes) {
        block.threads -= block.threads / block.quartets;
        block.shared -= block.quartet_bytes;
        block.quartets--;
    }
    return block;
}

/* Screens and computes the tasks of a class in a pass; two densities together where there is a
 * kernel that does so. The builds of a group share the resident blocks in proportion to their
 * candidates. */
cudaError_t run_class(const fmo_gpu_group *group, const fmo_hermite_variant *variant, int pass,
                      int c)
{
    const bool alone = group->num == 1;
    const fmo_hermite_kernels *const own = variant->segment[fmo_hermite_form_of(c).segment];
    const fmo_gpu_state *const g = group->build->plan->gpu;
    const fmo_hermite_block of_two = fit_block(own->block_of_two[c], &g->device);
    const bool two =
        g->densities > 1 && own->of_two[c] && (size_t)of_two.shared <= g->device.shared_bytes;
    const fmo_hermite_block block = two ? of_two : fit_block(own->block[c], &g->device);
    const int threads = block.threads, shared = block.shared;
    fmo_hermite_exchange_kernel *const one = two                ? own->of_two[c]
                                             : g->with_operator ? own->of_operator[c]
                                                                : own->kernel[c];
    const void *const kernel = alone && one ? (const void *)one : (const void *)own->group[c];
    int resident = 0;
    size_t all = 0;
    for (int k = 0; k < group->num; k++) {
        const fmo_hermite_task *const task = fmo_hermite_find_task(&group->build[k], pass, c);
        if (task) all += task->candidates;
    }
    if (!all) return cudaSuccess;
    FMO_GPU_TRY(fmo_hermite_screen(group, pass, c));
    if (shared)
        FMO_GPU_TRY(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    FMO_GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared));
    const size_t blocks = (size_t)resident * g->device.processors *
                          (alone ? fmo_tuning_gpu_waves_large : fmo_tuning_gpu_group_waves);
    for (int d = 0; d < (two ? 1 : g->densities); d++)
        FMO_GPU_TRY(fmo_gpu_launch_group<fmo_hermite_exchange_args>(
            group, one, own->group[c], threads, shared,
            [&](const fmo_gpu_build *build, fmo_hermite_exchange_args *a) {
                const fmo_hermite_task *const task = fmo_hermite_find_task(build, pass, c);
                if (!task) return dim3(0);
                *a = exchange_arguments(build->plan, task);
                a->matrices.density += d * a->matrices.density_step;
                a->matrices.exchange += d * a->matrices.exchange_step;
                const size_t needed = (task->candidates + block.quartets - 1) / block.quartets;
                const size_t own = (blocks * task->candidates + all - 1) / all;
                return dim3((unsigned)(own < needed ? own : needed), (unsigned)a->planes);
            }));
    return cudaSuccess;
}

/* Computes K, pass after pass. With side streams, which have been forked, the classes of a pass run
 * concurrently. Timed builds are not in groups. */
cudaError_t run_tasks(const fmo_gpu_group *group, const fmo_hermite_variant *variant,
                      const fmo_gpu_side_streams *side, bool timed)
{
    const fmo_gpu_build *const build = group->build;
    for (int pass = 0; pass < build->plan->gpu->hermite->passes; pass++) {
        int n = 0;
        if (side && pass) { /* a pass reuses the list of the last one */
            FMO_GPU_TRY(fmo_gpu_join(side, group->stream));
            FMO_GPU_TRY(fmo_gpu_fork(side, group->stream));
        }
        for (int c = FMO_ERI_GPU_COUNT - 1; c >= FMO_ERI_LOW_L_COUNT; c--) {
            const fmo_hermite_task *const task = fmo_hermite_find_task(build, pass, c);
            if (group->num == 1 && !task) continue;
            const cudaStream_t stream =
                side ? side->stream[n++ % FMO_GPU_PASS_TASKS] : group->stream;
            const fmo_gpu_group own = {group->build, group->num, stream};
            if (timed) FMO_GPU_TRY(cudaEventRecord(task->event[0], stream));
            FMO_GPU_TRY(run_class(&own, variant, pass, c));
            if (timed) FMO_GPU_TRY(cudaEventRecord(task->event[1], stream));
        }
    }
    return cudaSuccess;
}

} // namespace

/* ---- variants ------------------------------------------------------------------------------- */

/* X(segment, further arguments) for each segment of exchange.cu. */
#define FOUR(X, a, b, c, d, ...) \
    X(a, __VA_ARGS__) X(b, __VA_ARGS__) X(c, __VA_ARGS__) X(d, __VA_ARGS__)
#define LOW_PARTS(X, ...)            \
    FOUR(X, 0, 1, 2, 3, __VA_ARGS__) \
    FOUR(X, 4, 5, 6, 7, __VA_ARGS__) \
    FOUR(X, 8, 9, 10, 11, __VA_ARGS__)
#define PARTS(X, ...)                    \
    LOW_PARTS(X, __VA_ARGS__)            \
    FOUR(X, 12, 13, 14, 15, __VA_ARGS__) \
    X(16, __VA_ARGS__) X(17, __VA_ARGS__) X(18, __VA_ARGS__)
#define COUNT(segment, ...) +1
static_assert(PARTS(COUNT, ) == FMO_HERMITE_PARTS, "finish.cu: segments of exchange.cu");

#define EXTERN(segment, name) \
    extern const fmo_hermite_kernels fmo_hermite_kernels_##name##_##segment;
#define EXTERNS(name, ...) PARTS(EXTERN, name)
FMO_GPU_D_VARIANT_TABLE(EXTERNS)

const fmo_hermite_variant *fmo_hermite_find_variant(const fmo_gpu_variant *variant)
{
    static const fmo_hermite_variant all[] = {
#define PART(segment, name)              &fmo_hermite_kernels_##name##_##segment,
#define ROW(name, strategy, commit, ...) {strategy, commit, {PARTS(PART, name)}},
        FMO_GPU_D_VARIANT_TABLE(ROW)};
    const int last = FMO_ERI_GPU_COUNT - 1, segment = fmo_hermite_form_of(last).segment;
    for (const fmo_hermite_variant &own : all)
        if (own.scatter == variant->scatter && own.commit == variant->commit)
            return own.segment[segment]->group[last] ? &own : NULL;
    return NULL;
}

/* ---- steps ---------------------------------------------------------------------------------- */

cudaError_t fmo_hermite_make_timers(fmo_gpu_hermite *h)
{
    for (int t = 0; t < h->tasks; t++)
        for (int e = 0; e < 2; e++)
            if (!h->task[t].event[e]) FMO_GPU_TRY(cudaEventCreate(&h->task[t].event[e]));
    return cudaSuccess;
}

cudaError_t fmo_hermite_class_seconds(const fmo_gpu_hermite *h, double *seconds)
{
    for (int t = 0; t < h->tasks; t++) {
        float ms = 0.0f;
        FMO_GPU_TRY(cudaEventElapsedTime(&ms, h->task[t].event[0], h->task[t].event[1]));
        seconds[h->task[t].eri_class] += 1e-3 * ms;
    }
    return cudaSuccess;
}

/* Contracts the pairs' potentials to J: a launch for each class, for the builds that need J. */
cudaError_t fmo_hermite_contract(const fmo_gpu_group *group)
{
    for (int c = 0; c < FMO_PAIR_GPU_COUNT; c++)
        FMO_GPU_TRY(fmo_gpu_launch_group<coulomb_args>(
            group, contract_kernels[c].one, contract_kernels[c].many, THREADS, 0,
            [&](const fmo_gpu_build *build, coulomb_args *a) {
                const fmo_gpu_hermite *const h = build->plan->gpu->hermite;
                if (!(build->plan->gpu->requested & FMO_TERMS_J)) return dim3(0);
                const int own = THREADS / lanes_of(c); /* pairs of a block */
                a->pairs = h->pairs[c];
                a->la = fmo_pair_ang_mom(c, 0);
                a->lb = fmo_pair_ang_mom(c, 1);
                a->J = h->coulomb;
                a->nao = h->nao;
                for (int of = 0; of < FMO_PAIR_GPU_COUNT; of++)
                    a->of[of] = {h->pairs[of].potential, h->pairs[of].points,
                                 FMO_HERMITE_COUNT(fmo_pair_order(of)),
                                 fmo_hermite_chunks_now(h, of)};
                return dim3((unsigned)((a->pairs.whole + own - 1) / own));
            }));
    return cudaSuccess;
}

/* Queues fmo_hermite_contract on a stream, after the events that the side streams have recorded. */
static cudaError_t queue_contract(const fmo_gpu_group *group, const fmo_gpu_side_streams *side,
                                  cudaStream_t stream)
{
    const fmo_gpu_group own = {group->build, group->num, stream};
    for (int n = 0; n < FMO_GPU_PASS_TASKS && side; n++)
        FMO_GPU_TRY(cudaStreamWaitEvent(stream, side->join[n], 0));
    return fmo_hermite_contract(&own);
}

/* Queues density, fixed-point scale, potentials, J and K, concurrently on the side streams if there
 * are any. */
cudaError_t fmo_hermite_queue(const fmo_gpu_group *group, const fmo_gpu_variant *variant,
                              const fmo_gpu_side_streams *side, bool timed)
{
    const fmo_gpu_state *const g = group->build->plan->gpu;
    const fmo_hermite_variant *const own = fmo_hermite_find_variant(variant);
    if (!own) return cudaSuccess; /* the variant that omits updates of memory, for profiles */
    FMO_GPU_TRY(fmo_hermite_order_density(group));
    if (variant->fixed_point) FMO_GPU_TRY(bound_exchange(group));
    if (side) FMO_GPU_TRY(fmo_gpu_fork(side, group->stream));
    for (int bra = 0; bra < FMO_PAIR_GPU_COUNT; bra++) {
        const cudaStream_t stream = side ? side->stream[bra % FMO_GPU_PASS_TASKS] : group->stream;
        const fmo_gpu_group beside = {group->build, group->num, stream};
        FMO_GPU_TRY(fmo_hermite_coulomb(&beside, NULL, bra));
    }
    for (int n = 0; n < FMO_GPU_PASS_TASKS && side; n++) /* after the potentials */
        FMO_GPU_TRY(cudaEventRecord(side->join[n], side->stream[n]));
    /* In small systems, where the longest chain of kernels determines the time, the last step of J
     * runs on the main stream; otherwise it follows on the last side stream, which has the least
     * work for K. */
    const bool contracts = g->hermite->shares == 1; /* builds in groups are not shared by GPUs */
    const bool at_once = g->primitives < fmo_tuning_gpu_hermite_beside_work;
    if (contracts && at_once) FMO_GPU_TRY(queue_contract(group, side, group->stream));
    FMO_GPU_TRY(run_tasks(group, own, side, timed));
    if (contracts && !at_once)
        FMO_GPU_TRY(queue_contract(group, side,
                                   side ? side->stream[FMO_GPU_PASS_TASKS - 1] : group->stream));
    return side ? fmo_gpu_join(side, group->stream) : cudaSuccess;
}

/* Launches `finish` for K of density d and, with the first, J. */
static cudaError_t finish_one(const fmo_gpu_group *group, bool fixed, int d)
{
    return fmo_gpu_launch_group<finish_args>(
        group, finish<1>, finish<fmo_gpu_many_max<finish_args>>, THREADS, 0,
        [&](const fmo_gpu_build *build, finish_args *a) {
            const fmo_gpu_state *const g = build->plan->gpu;
            const fmo_gpu_hermite *const h = g->hermite;
            *a = {h->coulomb,
                  h->exchange + (size_t)d * h->nao * h->nao,
                  g->requested & FMO_TERMS_J && !d ? build->coulomb : NULL,
                  !(g->requested & FMO_TERMS_K) ? NULL
                  : d                           ? build->second
                                                : build->exchange,
                  fixed ? &h->counters->fixed_scale : NULL,
                  fmo_gpu_is_antisymmetric(g, d),
                  d ? build->add_second : build->add_exchange,
                  h->out_begin,
                  h->out_from,
                  h->out_low_l,
                  h->out_factor,
                  h->nao,
                  h->caller_nao,
                  fmo_gpu_limit_of(build->plan, h->row_max, h->shells)};
            return dim3((unsigned)((h->caller_nao + THREADS - 1) / THREADS),
                        (unsigned)h->caller_nao);
        });
}

/* Transforms J and K to the caller's order, after contracting potentials that several GPUs have
 * summed. */
cudaError_t fmo_hermite_finish(const fmo_gpu_group *group, bool fixed)
{
    const fmo_gpu_range range("J and K of d shells");
    /* the potentials of several GPUs have been summed */
    if (group->build->plan->gpu->hermite->shares > 1) FMO_GPU_TRY(fmo_hermite_contract(group));
    for (int d = 0; d < group->build->plan->gpu->densities; d++)
        FMO_GPU_TRY(finish_one(group, fixed, d));
    return cudaSuccess;
}
