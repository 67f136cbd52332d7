/* Mode fused (`--mode fused`): the choice of strategy and schedule for a plan, how plans are made,
 * and how builds are started, finished and timed (docs/explanation/gpu.md). Each of these files
 * calls those after it: fused.cu, group.cu (batches) and source.cu (J of another plan's density),
 * two.cu (K of two densities), single.cu, several.cu (several GPUs), queue.cu (the steps on one
 * GPU). */
#include "accumulate/gpu/fused.h"

#include <math.h>
#include <string.h>

#include "accumulate/gpu/hermite/hermite.h"
#include "accumulate/gpu/hermite/use.h"
#include "accumulate/gpu/modes.h"
#include "accumulate/gpu/range.h"

/* ---- strategies ----------------------------------------------------------------------------- */

/* Number of copies of the matrices under `auto`. How `auto` chooses: first by structure.
 * Screened-in quartets are listed by bra pair, then by the shells of the ket pair, so that
 * neighbouring lanes always share X^J_ij and share rows of X^K in runs; `segmented` sums such runs
 * at the cost of a comparison with the neighbouring lane. Then by measurement (decide_scatter): if
 * the first build issued more than a certain share of its additions as atomics, there are too few
 * runs, and `native` saves the comparison. Atomics to few addresses wait for each other in the L2
 * cache, so small matrices get copies. */
static unsigned auto_copies(double elements)
{
    return (unsigned)fmin(ceil(fmo_tuning_gpu_copies_elements / elements),
                          fmo_tuning_gpu_copies_most);
}

/* Chooses between `segmented` and `native` after the first build under `auto`, by the share of
 * additions that were issued as atomics. */
static void decide_scatter(fmo_fock_plan *plan, const fmo_gpu_counters *counters)
{
    fmo_gpu_state *g = plan->gpu;
    double adds = 0.0, issued = 0.0;
    for (int c = 0; c < FMO_ERI_LOW_L_COUNT; c++) {
        adds += (double)fmo_gpu_adds_made(g, counters, c);
        issued += (double)counters->issued[c];
    }
    plan->scatter_open = 0;
    if (issued <= fmo_tuning_gpu_few_runs * adds) return;
    plan->options.scatter = FMO_SCATTER_NATIVE;
    fmo_gpu_forget_graphs(g);
    for (int k = 0; k < plan->others.num; k++) fmo_gpu_forget_graphs(plan->others.plan[k]->gpu);
}

/* ---- schedules and their requirements ------------------------------------------------------- */

/* Number of copies of the matrices for the plan's strategy; FMO_ERR_ARGUMENT if the basis is too
 * large for it. */
static fmo_status choose_copies(const fmo_fock_plan *plan, const fmo_gpu_device *device,
                                unsigned *copies, fmo_error *err)
{
    const size_t n = (size_t)plan->basis->ao_num;
    const double elements = (double)(n * n);
    *copies = 1;
    switch (plan->options.scatter) {
    case FMO_SCATTER_BLOCK_SHARED:
        if (n > fmo_tuning_gpu_block_shared_ao_most)
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "scatter = block-shared is for small data, up to %d functions; "
                                 "this basis has %zu: use warp-shared",
                                 fmo_tuning_gpu_block_shared_ao_most, n);
        return FMO_OK;
#if FMO_EXPERIMENTS
    case FMO_SCATTER_TILE:
        return fmo_gpu_tile_check(device, n, err);
#endif
    case FMO_SCATTER_REPLICATED: /* keep each of two matrices within a share of the L2 cache */
        *copies =
            (unsigned)fmin(fmax(fmo_tuning_gpu_replicated_share * (double)device->cache_bytes /
                                    (2.0 * elements * sizeof(double)),
                                1.0),
                           fmo_tuning_gpu_replicas_most);
        return FMO_OK;
    default:
        if (plan->scatter_open) *copies = auto_copies(elements);
        return FMO_OK;
    }
}

/* The schedule of the plan's strategy. */
static const fmo_gpu_schedule *schedule_of(const fmo_fock_plan *plan)
{
#if FMO_EXPERIMENTS
    if (plan->options.scatter == FMO_SCATTER_TILE) return &fmo_gpu_schedule_tile;
#endif
    (void)plan;
    return &fmo_gpu_schedule_direct;
}

/* ---- the mode ------------------------------------------------------------------------------- */

/* Completes the state, computes stored integrals if requested, and captures the graph, so that this
 * is part of the time of the plan, not of the first build. Plans that will build in groups capture
 * their graph only when they build alone. */
static fmo_status end_state(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_status status = fmo_gpu_state_end(plan, err);
    if (status == FMO_OK) status = fmo_gpu_store(plan, err);
    if (status != FMO_OK || (plan->in_batch && fmo_gpu_joins_groups(plan))) return status;
    fmo_gpu_capture(plan, fmo_gpu_plan_variant(plan));
    if (fmo_gpu_graphs_of(plan)->graph[FMO_TERMS_ALL])
        (void)cudaGraphUpload(fmo_gpu_graphs_of(plan)->graph[FMO_TERMS_ALL],
                              plan->gpu->device.stream);
    return FMO_OK;
}

/* Queues a build of a zero density, whose results are discarded. CUDA loads a kernel at its first
 * launch, which would make the first build of a process several times slower than later ones. The
 * host does not wait for this build. Without screening (cutoff 0) it would compute all quartets, so
 * only the steps after the quartets run. */
static fmo_status rehearse(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const fmo_gpu_range range("rehearsal");
    const fmo_gpu_variant *const variant = fmo_gpu_plan_variant(plan);
    const fmo_gpu_build build = fmo_gpu_own_build(plan);
    const fmo_gpu_group group = fmo_gpu_group_of_one(&build);
    FMO_GPU_CHECK(fmo_gpu_follow(&g->device, group.stream), "loading kernels", err);
    FMO_GPU_CHECK(cudaMemsetAsync(g->arrays.density_in, 0, n * n * sizeof(double), group.stream),
                  "loading kernels", err);
    if (plan->options.cutoff > 0.0) {
        FMO_GPU_CHECK(fmo_gpu_run(&build, variant, false), "loading kernels", err);
        return FMO_OK;
    }
    FMO_GPU_CHECK(cudaMemsetAsync(g->arrays.coulomb, 0, g->arrays.zeroed, group.stream),
                  "loading kernels", err);
    if (g->hermite)
        FMO_GPU_CHECK(cudaMemsetAsync(g->hermite->coulomb, 0, g->hermite->zeroed, group.stream),
                      "loading kernels", err);
    FMO_GPU_CHECK(fmo_gpu_queue_finish(&group, variant), "loading kernels", err);
    return FMO_OK;
}

/* Chooses strategy, copies and schedule, opens the device and begins the state; pairs come next.
 * like: a plan on the same GPU that is being made, or NULL. */
static fmo_status begin(fmo_fock_plan *plan, const fmo_gpu_state *like, fmo_error *err)
{
    unsigned copies = 1;
    if (fmo_scatter_kind(plan->options.scatter) == FMO_SCATTER_CHOICE) {
        plan->options.scatter = fmo_scatter_kernels(plan->options.scatter);
        plan->scatter_open = 1;
    }
    if (!fmo_scatter_is_built(plan->options.scatter, plan->options.commit))
        return fmo_error_set(
            err, FMO_ERR_UNSUPPORTED,
            "scatter = %s, commit = %s: built without FMO_EXPERIMENTS; use scatter = auto, or "
            "configure with -DFMO_EXPERIMENTS=ON",
            fmo_scatter_name(plan->options.scatter), fmo_commit_name(plan->options.commit));
    if (!schedule_of(plan)->sums && plan->options.integrals == FMO_INTEGRALS_STORED)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "integrals = stored: scatter = %s has a schedule of its own, which "
                             "computes them in every build; use another scatter, or integrals = "
                             "direct or auto",
                             fmo_scatter_name(plan->options.scatter));
    fmo_status status = fmo_gpu_state_open_like(plan, like, err);
    if (status == FMO_OK) status = choose_copies(plan, &plan->gpu->device, &copies, err);
    if (status != FMO_OK) return status;
    plan->profile.scatter = plan->options.scatter;
    plan->profile.commit = plan->options.commit;
    return fmo_gpu_state_begin(plan, schedule_of(plan), copies, err);
}

/* Makes the nodes of far quartets of all plans that share the stream of the first, in one launch.
 * err[k] gets the error of plan k. */
static cudaError_t make_nodes_together(fmo_fock_plan *const *plans, int num, fmo_error *err)
{
    fmo_gpu_build builds[FMO_PLANS_TOGETHER];
    fmo_gpu_group group = {builds, 0, plans[0]->gpu->device.stream};
    for (int k = 0; k < num; k++)
        if (err[k].status == FMO_OK && plans[k]->gpu->device.stream == group.stream &&
            fmo_gpu_nodes_go_together(plans[k]) && fmo_gpu_place_far(plans[k], &err[k]) == FMO_OK &&
            plans[k]->gpu->far)
            builds[group.num++] = fmo_gpu_own_build(plans[k]);
    return group.num ? fmo_gpu_make_nodes(&group) : cudaSuccess;
}

/* True if the data for the distance-dependent bound on K of classes with d shells are made in one
 * launch for all plans on one stream of the caller's, where single launches would run one after the
 * other. */
static bool separation_together(const fmo_fock_plan *plan, const fmo_fock_plan *first)
{
    return plan->in_batch && !plan->gpu->device.own_stream &&
           plan->gpu->device.stream == first->gpu->device.stream;
}

/* Makes these data for all plans that wait for them. */
static cudaError_t make_separation_together(fmo_fock_plan *const *plans, int num,
                                            const fmo_error *err)
{
    fmo_gpu_build builds[FMO_PLANS_TOGETHER];
    fmo_gpu_group group = {builds, 0, plans[0]->gpu->device.stream};
    for (int k = 0; k < num; k++)
        if (err[k].status == FMO_OK && plans[k]->gpu->hermite && plans[k]->gpu->separation_later) {
            plans[k]->gpu->separation_later = false;
            builds[group.num++] = fmo_gpu_own_build(plans[k]);
        }
    return group.num ? fmo_hermite_make_separation(&group) : cudaSuccess;
}

/* Makes plans on one GPU together. A plan that fails gets its error in errs and drops out. */
extern "C" void fmo_fused_prepare_some(fmo_fock_plan *const *plans, int num, fmo_error *errs)
{
    fmo_fock_plan *good[FMO_PLANS_TOGETHER];
    fmo_error err[FMO_PLANS_TOGETHER];
    int number[FMO_PLANS_TOGETHER], left = 0;
    const fmo_gpu_inside inside(plans[0]->options.device);
    for (int k = 0; k < num; k++) {
        const fmo_gpu_state *const like = left ? good[0]->gpu : NULL;
        if (begin(plans[k], like, &errs[k]) != FMO_OK) continue;
        if (!left) /* once, because the query takes longer than the rest of a small plan */
            (void)fmo_gpu_available_memory(&plans[k]->gpu->available, NULL);
        number[left] = k;
        err[left].status = FMO_OK;
        good[left++] = plans[k];
    }
    if (left) fmo_gpu_make_sp_pairs(good, left, err);
    const cudaError_t code = left ? make_nodes_together(good, left, err) : cudaSuccess;
    for (int k = 0; k < left; k++) {
        fmo_status status = err[k].status;
        if (status == FMO_OK && code != cudaSuccess)
            status = fmo_gpu_error(code, "making nodes of pairs", &err[k]);
        good[k]->gpu->separation_later = separation_together(good[k], good[0]);
        if (status == FMO_OK) status = end_state(good[k], &err[k]);
        /* not for batches: they have many plans, and kernels of their own for groups */
        if (status == FMO_OK && !good[k]->in_batch) (void)rehearse(good[k], &err[k]);
    }
    const cudaError_t separation = left ? make_separation_together(good, left, err) : cudaSuccess;
    for (int k = 0; k < left; k++) {
        if (err[k].status == FMO_OK && separation != cudaSuccess && good[k]->gpu->hermite)
            (void)fmo_gpu_error(separation, "shell pairs", &err[k]);
        if (err[k].status != FMO_OK) errs[number[k]] = err[k];
    }
}

extern "C" fmo_status fmo_fused_prepare(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_error own = {FMO_OK, ""};
    fmo_fused_prepare_some(&plan, 1, &own);
    return own.status == FMO_OK ? FMO_OK : fmo_error_set(err, own.status, "%s", own.message);
}

/* Makes the state again after the plan's pairs have changed. */
extern "C" fmo_status fmo_fused_new_pairs(fmo_fock_plan *plan, fmo_error *err)
{
    const unsigned copies = plan->gpu->arrays.copies;
    const fmo_gpu_inside inside(plan->options.device);
    fmo_error own = {FMO_OK, ""};
    fmo_gpu_state_destroy(plan);
    fmo_status status = fmo_gpu_state_open(plan, err);
    if (status == FMO_OK) status = fmo_gpu_state_begin(plan, schedule_of(plan), copies, err);
    if (status == FMO_OK) status = fmo_gpu_available_memory(&plan->gpu->available, err);
    if (status != FMO_OK) return status;
    fmo_gpu_make_sp_pairs(&plan, 1, &own);
    if (own.status != FMO_OK) return fmo_error_set(err, own.status, "%s", own.message);
    return end_state(plan, err);
}

/* Queues a single build here, and several in group.cu. */
extern "C" fmo_status fmo_fused_start(const fmo_fock_job *const *jobs, size_t count, fmo_start *how,
                                      fmo_error *err)
{
    const fmo_fock_job *const first = jobs[0];
    for (size_t k = 0; k < count; k++) jobs[k]->plan->gpu->two.jobs = 0;
    if (count > 1 || (how->on_device && how->lead != first->plan))
        return fmo_gpu_start_groups(jobs, count, how, err);
    const fmo_gpu_inside inside(&first->plan->gpu->device);
    if (fmo_build_owner(first) != first->plan) /* with matrices on the host */
        return fmo_gpu_start_from_source(first, err);
    return fmo_gpu_start_one(first, how->on_device, err);
}

/* Waits for a build, checks its fixed-point scale, and fills in the profile. After the first build
 * under `auto` it chooses the strategy of later ones. */
extern "C" fmo_status fmo_fused_finish(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    fmo_fock_profile *profile = &plan->profile;
    const fmo_gpu_counters *counters = g->pinned.counters;
    const fmo_gpu_inside inside(&g->device);
    float ms = 0.0f;
    FMO_GPU_CHECK(cudaStreamSynchronize(g->device.last), "fused build", err);
    if (g->two.jobs && g->two.counted) fmo_gpu_add_counts(g->pinned.counters, g->two.counters);
    FMO_GPU_CHECK(cudaEventElapsedTime(&ms, g->device.start, g->device.finished), "fused build",
                  err);
    if (fmo_scatter_sums_integers(plan->options.scatter)) {
        fmo_status status = fmo_gpu_fixed_check(counters->fixed_bound, counters->fixed_scale, err);
        if (status == FMO_OK && (g->requested & FMO_TERMS_K) && fmo_gpu_uses_hermite(plan))
            status = fmo_gpu_fixed_check(g->hermite->host_counters->fixed_bound,
                                         g->hermite->host_counters->fixed_scale, err);
        if (status != FMO_OK) return status;
    }
    profile->gpu_seconds = 1e-3 * ms;
    profile->transfer_seconds = fmo_now() - g->begun - profile->gpu_seconds;
    profile->scatter = plan->options.scatter;
    profile->integrals =
        g->schedule == &fmo_gpu_schedule_stored ? FMO_INTEGRALS_STORED : FMO_INTEGRALS_DIRECT;
    if (g->others.shared) {
        FMO_GPU_CHECK(fmo_gpu_others_seconds(plan, profile->device_seconds), "fused build", err);
        fmo_gpu_add_others_counters(plan);
    }
    fmo_gpu_profile_counts(plan, counters);
    if (plan->scatter_open && g->requested == FMO_TERMS_ALL && !g->antisymmetric)
        decide_scatter(plan, counters); /* for later builds */
    fmo_plan_progress(plan, 1.0);
    return FMO_OK;
}

extern "C" void fmo_fused_copy_result(const fmo_fock_plan *plan, int job, double *coulomb,
                                      double *exchange)
{
    const fmo_gpu_state *const g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    double *const to[2] = {coulomb, exchange};
    for (int m = 0; m < 2; m++) {
        const double *const from =
            g->two.jobs ? g->two.result[job][m] : g->pinned.out + (size_t)m * n * n;
        if (to[m] && from) fmo_plan_copy(plan, to[m], from, n * n * sizeof *from);
        if (to[m] && !from) memset(to[m], 0, n * n * sizeof *to[m]);
    }
}

/* Repeats the build of the last density with the classes in sequence. seconds:
 * [FMO_ERI_CLASS_COUNT] of each class; all: of the whole build. */
static fmo_status run_timed(fmo_fock_plan *plan, const fmo_gpu_variant *variant, double *seconds,
                            double *all, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    const fmo_gpu_build build = fmo_gpu_own_build(plan);
    float ms = 0.0f;
    int *const before = &g->timed_before[!variant->commits];
    /* the first launch of a kernel loads it and must not be timed */
    for (int run_no = *before ? 1 : 0; run_no < 2; run_no++)
        FMO_GPU_CHECK(fmo_gpu_run(&build, variant, true), "timing the classes", err);
    *before = 1;
    FMO_GPU_CHECK(cudaStreamSynchronize(g->device.stream), "timing the classes", err);
    FMO_GPU_CHECK(fmo_gpu_class_seconds(g, seconds), "timing the classes", err);
    if (g->hermite && variant->commits)
        FMO_GPU_CHECK(fmo_hermite_class_seconds(g->hermite, seconds), "timing the classes", err);
    FMO_GPU_CHECK(cudaEventElapsedTime(&ms, g->device.start, g->device.finished),
                  "timing the classes", err);
    *all = 1e-3 * ms;
    return FMO_OK;
}

/* Times the classes and, if requested, the classes without updates of the matrices; what the
 * classes do not account for is screening_seconds. */
extern "C" fmo_status fmo_fused_measure(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_fock_profile *profile = &plan->profile;
    const fmo_gpu_inside inside(&plan->gpu->device);
    double seconds[FMO_ERI_CLASS_COUNT], all = 0.0;
    const fmo_gpu_range range("fused build, class after class");
    fmo_status status = run_timed(plan, fmo_gpu_plan_variant(plan), seconds, &all, err);
    if (status != FMO_OK) return status;
    profile->screening_seconds = all;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        profile->classes[c].seconds = seconds[c];
        profile->screening_seconds -= seconds[c];
    }
    if (!plan->options.measure_accumulation) return FMO_OK;
    status = run_timed(plan, fmo_gpu_variant_without_commits(), seconds, &all, err);
    const int known = plan->gpu->hermite ? (int)FMO_ERI_LOW_L_COUNT : (int)FMO_ERI_CLASS_COUNT;
    for (int c = 0; c < known && status == FMO_OK; c++)
        profile->classes[c].compute_seconds = seconds[c];
    return status;
}
