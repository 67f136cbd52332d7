/* Mode fused (`--mode fused`): the choice of strategy and schedule for a plan, and single builds.
 * All steps of a build are on one stream; in a CUDA graph the tasks of a pass run concurrently. See
 * docs/explanation/gpu.md; batches are in group.cu, several GPUs in several.cu. */
#include "accumulate/gpu/fused.h"

#include <math.h>
#include <string.h>

#include "accumulate/gpu/boxes/boxes.h"
#include "accumulate/gpu/hermite/hermite.h"
#include "accumulate/gpu/modes.h"
#include "accumulate/gpu/range.h"

/* ---- strategies ----------------------------------------------------------------------------- */

static const fmo_gpu_variant *const variants[] = {
#define ROW(name, ...) &fmo_gpu_variant_##name,
    FMO_GPU_VARIANT_TABLE(ROW)
#undef ROW
};

const fmo_gpu_variant *fmo_gpu_find_variant(fmo_scatter scatter, fmo_commit commit)
{
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        if (variants[v]->commits && variants[v]->scatter == scatter &&
            variants[v]->commit == commit)
            return variants[v];
    return NULL;
}

/* The kernels without updates of the matrices, for the profile. */
static const fmo_gpu_variant *variant_without_commits(void)
{
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        if (!variants[v]->commits) return variants[v];
    return NULL;
}

const fmo_gpu_variant *fmo_gpu_plan_variant(const fmo_fock_plan *plan)
{
    return fmo_gpu_find_variant(fmo_scatter_kernels(plan->options.scatter), plan->options.commit);
}

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

/* ---- builds --------------------------------------------------------------------------------- */

static cudaError_t side_streams_create(fmo_gpu_side_streams *side)
{
    FMO_GPU_TRY(cudaEventCreateWithFlags(&side->fork, cudaEventDisableTiming));
    for (int n = 0; n < FMO_GPU_PASS_TASKS; n++) {
        FMO_GPU_TRY(cudaStreamCreateWithFlags(&side->stream[n], cudaStreamNonBlocking));
        FMO_GPU_TRY(cudaEventCreateWithFlags(&side->join[n], cudaEventDisableTiming));
    }
    FMO_GPU_TRY(cudaStreamCreateWithFlags(&side->beside, cudaStreamNonBlocking));
    FMO_GPU_TRY(cudaEventCreateWithFlags(&side->beside_fork, cudaEventDisableTiming));
    FMO_GPU_TRY(cudaEventCreateWithFlags(&side->beside_join, cudaEventDisableTiming));
    return cudaSuccess;
}

static void side_streams_destroy(fmo_gpu_side_streams *side)
{
    for (int n = 0; n < FMO_GPU_PASS_TASKS; n++) {
        if (side->stream[n]) (void)cudaStreamDestroy(side->stream[n]);
        if (side->join[n]) (void)cudaEventDestroy(side->join[n]);
    }
    if (side->fork) (void)cudaEventDestroy(side->fork);
    if (side->beside) (void)cudaStreamDestroy(side->beside);
    if (side->beside_fork) (void)cudaEventDestroy(side->beside_fork);
    if (side->beside_join) (void)cudaEventDestroy(side->beside_join);
}

/* Make the stream `beside` wait for the group's stream, and the group's for `beside`. */
static cudaError_t fork_beside(const fmo_gpu_side_streams *side, const fmo_gpu_group *group)
{
    FMO_GPU_TRY(cudaEventRecord(side->beside_fork, group->stream));
    return cudaStreamWaitEvent(side->beside, side->beside_fork, 0);
}
static cudaError_t join_beside(const fmo_gpu_side_streams *side, const fmo_gpu_group *group)
{
    FMO_GPU_TRY(cudaEventRecord(side->beside_join, side->beside));
    return cudaStreamWaitEvent(group->stream, side->beside_join, 0);
}

/* Computes J of far pairs by multipole expansions. The lists of near cells come first, because
 * screening needs them; with side streams the rest runs concurrently with the following steps until
 * join_beside. */
static cudaError_t queue_boxes(const fmo_gpu_group *group, const fmo_gpu_variant *variant,
                               const fmo_gpu_side_streams *side)
{
    const fmo_fock_plan *plan = group->build->plan;
    FMO_GPU_TRY(fmo_gpu_box_neighbours(plan, group->stream));
    if (side) FMO_GPU_TRY(fork_beside(side, group));
    return fmo_gpu_box_potentials(plan, variant->fixed_point, side ? side->beside : group->stream);
}

/* Queues the steps from a density to X on the group's stream. side, high_l: streams for concurrent
 * work, or NULL. Classes with d shells use those of high_l, so that neither they nor the other
 * classes wait for the last warps of each other's passes. */
static cudaError_t queue(const fmo_gpu_group *group, const fmo_gpu_variant *variant,
                         const fmo_gpu_side_streams *side, const fmo_gpu_side_streams *high_l,
                         bool timed)
{
    const fmo_gpu_state *g = group->build->plan->gpu;
    FMO_GPU_TRY(fmo_gpu_queue_density(group, variant));
    if (high_l) {
        FMO_GPU_TRY(fork_beside(high_l, group));
        const fmo_gpu_group beside = {group->build, group->num, high_l->beside};
        FMO_GPU_TRY(fmo_hermite_queue(&beside, variant, high_l, timed));
    }
    if (g->boxes) FMO_GPU_TRY(queue_boxes(group, variant, side));
    FMO_GPU_TRY(fmo_gpu_run_passes(group, variant, side, timed));
    if (g->boxes && side) FMO_GPU_TRY(join_beside(side, group));
    if (high_l) return join_beside(high_l, group);
    return g->hermite ? fmo_hermite_queue(group, variant, NULL, timed) : cudaSuccess;
}

/* Captures the steps from density_in to X as a CUDA graph. If the capture fails, builds launch
 * their kernels one by one. */
static void capture(fmo_fock_plan *plan, const fmo_gpu_variant *variant)
{
    fmo_gpu_state *g = plan->gpu;
    fmo_gpu_graphs *const graphs = fmo_gpu_graphs_of(plan);
    const fmo_gpu_build build = fmo_gpu_own_build(plan);
    fmo_gpu_group group = {&build, 1, NULL};
    fmo_gpu_side_streams side, high_l;
    cudaGraph_t graph = NULL;
    const int number = fmo_gpu_graph_number(g);
    graphs->tried[number] = 1;
    if (!g->schedule->graph) return;
    memset(&side, 0, sizeof side);
    memset(&high_l, 0, sizeof high_l);
    cudaError_t code = cudaStreamCreateWithFlags(&group.stream, cudaStreamNonBlocking);
    if (code == cudaSuccess) code = side_streams_create(&side);
    if (code == cudaSuccess && g->hermite) code = side_streams_create(&high_l);
    if (code == cudaSuccess)
        code = cudaStreamBeginCapture(group.stream, cudaStreamCaptureModeThreadLocal);
    if (code == cudaSuccess) {
        code = queue(&group, variant, &side, g->hermite ? &high_l : NULL, false);
        const cudaError_t ended = cudaStreamEndCapture(group.stream, &graph);
        if (code == cudaSuccess && ended == cudaSuccess &&
            cudaGraphInstantiate(&graphs->graph[number], graph, 0) != cudaSuccess)
            graphs->graph[number] = NULL;
    }
    if (graph) (void)cudaGraphDestroy(graph);
    side_streams_destroy(&side);
    side_streams_destroy(&high_l);
    if (group.stream) (void)cudaStreamDestroy(group.stream);
    (void)cudaGetLastError();
}

cudaError_t fmo_gpu_queue_sums(const fmo_gpu_build *build, const fmo_gpu_variant *variant,
                               bool timed)
{
    fmo_fock_plan *plan = build->plan;
    fmo_gpu_state *g = plan->gpu;
    const fmo_gpu_group group = fmo_gpu_group_of_one(build);
    if (timed) FMO_GPU_TRY(fmo_gpu_make_timers(g));
    if (timed && g->hermite) FMO_GPU_TRY(fmo_hermite_make_timers(g->hermite));
    const fmo_gpu_graphs *const graphs = fmo_gpu_graphs_of(plan);
    const int number = fmo_gpu_graph_number(g);
    if (!timed && !graphs->tried[number]) capture(plan, variant);
    if (!timed && graphs->graph[number])
        return cudaGraphLaunch(graphs->graph[number], group.stream);
    return queue(&group, variant, NULL, NULL, timed);
}

cudaError_t fmo_gpu_queue_single(const fmo_gpu_group *group, const fmo_gpu_variant *variant)
{
    return queue(group, variant, NULL, NULL, false);
}

cudaError_t fmo_gpu_run(const fmo_gpu_build *build, const fmo_gpu_variant *variant, bool timed)
{
    fmo_gpu_state *g = build->plan->gpu;
    const fmo_gpu_group group = fmo_gpu_group_of_one(build);
    FMO_GPU_TRY(cudaEventRecord(g->device.start, group.stream));
    const bool shared = build->plan->others.num > 0; /* with other GPUs */
    if (shared) FMO_GPU_TRY(fmo_gpu_queue_others(build, variant, timed));
    FMO_GPU_TRY(fmo_gpu_queue_sums(build, variant, timed));
    if (shared) FMO_GPU_TRY(fmo_gpu_add_others(build, variant->fixed_point));
    FMO_GPU_TRY(fmo_gpu_queue_finish(&group, variant));
    return cudaEventRecord(g->device.finished, group.stream);
}

cudaError_t fmo_gpu_copy_in(fmo_fock_plan *plan, const double *density, cudaStream_t stream)
{
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num, matrix = n * n * sizeof(double);
    if (!g->pinned.in) { /* done once; counts as time of the plan, not of its first build */
        const double before = fmo_now();
        FMO_GPU_TRY(fmo_gpu_make_pinned(plan));
        const double taken = fmo_now() - before;
        plan->profile.plan_seconds += taken;
        plan->begun += taken;
    }
    g->begun = fmo_now();
    memcpy(g->pinned.in, density, matrix);
    return cudaMemcpyAsync(g->arrays.density_in, g->pinned.in, matrix, cudaMemcpyHostToDevice,
                           stream);
}

cudaError_t fmo_gpu_copy_out(const fmo_fock_plan *plan, cudaStream_t stream)
{
    const fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const size_t begin = g->wanted & FMO_TERMS_J ? 0 : n * n;
    const size_t end = g->wanted & FMO_TERMS_K ? 2 * n * n : n * n;
    FMO_GPU_TRY(cudaMemcpyAsync(g->pinned.out + begin, g->arrays.out + begin,
                                (end - begin) * sizeof(double), cudaMemcpyDeviceToHost, stream));
    if (g->hermite)
        FMO_GPU_TRY(cudaMemcpyAsync(g->hermite->host_counters, g->hermite->counters,
                                    sizeof *g->hermite->counters, cudaMemcpyDeviceToHost, stream));
    if (g->others.shared) FMO_GPU_TRY(fmo_gpu_copy_others_counters(plan, stream));
    return cudaMemcpyAsync(g->pinned.counters, g->arrays.counters, sizeof *g->pinned.counters,
                           cudaMemcpyDeviceToHost, stream);
}

/* Queues the copies of the matrices and the build between them. */
fmo_status fmo_gpu_start_one(const fmo_fock_job *job, bool on_device, fmo_error *err)
{
    fmo_fock_plan *plan = job->plan;
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const fmo_gpu_range range("fused build");
    const cudaStream_t stream = g->device.stream;
    fmo_gpu_build build = fmo_gpu_own_build(plan);
    if (fmo_gpu_is_of_two(job)) return fmo_gpu_start_two(job, on_device, err);
    if (g->hermite) g->hermite->grouped = 0;
    plan->profile.coulomb =
        g->boxes && (fmo_build_wanted(job) & FMO_TERMS_J) ? FMO_COULOMB_BOXES : FMO_COULOMB_DIRECT;
    const fmo_status status = fmo_gpu_check_parts(job, err);
    if (status != FMO_OK) return status;
    FMO_GPU_CHECK(fmo_gpu_follow(&g->device, stream), "copying the density", err);
    if (on_device) {
        build.coulomb = job->coulomb;
        build.exchange = job->exchange;
        FMO_GPU_CHECK(cudaMemcpyAsync(g->arrays.density_in, job->density, n * n * sizeof(double),
                                      cudaMemcpyDeviceToDevice, stream),
                      "copying the density", err);
    } else {
        FMO_GPU_CHECK(fmo_gpu_copy_in(plan, job->density, stream), "copying the density", err);
    }
    FMO_GPU_CHECK(fmo_gpu_run_parts(job, &build), "fused build", err);
    if (!on_device) FMO_GPU_CHECK(fmo_gpu_copy_out(plan, stream), "fused build", err);
    return FMO_OK;
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
    capture(plan, fmo_gpu_plan_variant(plan));
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
        if (status == FMO_OK && g->hermite && (g->wanted & FMO_TERMS_K))
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
    if (plan->scatter_open && g->wanted == FMO_TERMS_ALL && !g->antisymmetric)
        decide_scatter(plan, counters); /* for later builds */
    fmo_plan_progress(plan, 1.0);
    return FMO_OK;
}

extern "C" void fmo_fused_give(const fmo_fock_plan *plan, int job, double *coulomb,
                               double *exchange)
{
    const fmo_gpu_state *const g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    double *const to[2] = {coulomb, exchange};
    for (int m = 0; m < 2; m++) {
        const double *const from =
            g->two.jobs ? g->two.result[job][m] : g->pinned.out + (size_t)m * n * n;
        if (to[m] && from) memcpy(to[m], from, n * n * sizeof *from);
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
    status = run_timed(plan, variant_without_commits(), seconds, &all, err);
    const int known = plan->gpu->hermite ? (int)FMO_ERI_LOW_L_COUNT : (int)FMO_ERI_CLASS_COUNT;
    for (int c = 0; c < known && status == FMO_OK; c++)
        profile->classes[c].compute_seconds = seconds[c];
    return status;
}
