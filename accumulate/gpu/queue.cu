/* The steps of a build that one GPU does, from the density to X: the kernels of a strategy, the
 * launches in sequence or as a CUDA graph, in which classes run concurrently. Builds of all GPUs
 * and of all parts of a job are in single.cu. */
#include "accumulate/gpu/fused.h"

#include <string.h>

#include "accumulate/gpu/boxes/boxes.h"
#include "accumulate/gpu/hermite/hermite.h"
#include "accumulate/gpu/hermite/use.h"

/* ---- strategies ------------------------------------------------------------------------------ */

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
const fmo_gpu_variant *fmo_gpu_variant_without_commits(void)
{
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
        if (!variants[v]->commits) return variants[v];
    return NULL;
}

const fmo_gpu_variant *fmo_gpu_plan_variant(const fmo_fock_plan *plan)
{
    return fmo_gpu_find_variant(fmo_scatter_kernels(plan->options.scatter), plan->options.commit);
}

bool fmo_gpu_joins_groups(const fmo_fock_plan *plan)
{
    const fmo_gpu_state *g = plan->gpu;
    const fmo_gpu_variant *variant = fmo_gpu_plan_variant(plan);
    return g->schedule->groups && !g->boxes && !plan->others.num &&
           fmo_scatter_kind(plan->options.scatter) == FMO_SCATTER_ELEMENT &&
           variant->group[FMO_GPU_NEAR][0] && fmo_gpu_is_small(g) && g->lists.passes == 1 &&
           (!g->hermite || g->hermite->passes == 1);
}

/* ---- streams for concurrent work ------------------------------------------------------------- */

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

/* ---- the steps ------------------------------------------------------------------------------- */

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
    if (!fmo_gpu_is_hermite_coulomb(g))
        FMO_GPU_TRY(fmo_gpu_run_passes(group, variant, side, timed));
    if (g->boxes && side) FMO_GPU_TRY(join_beside(side, group));
    if (high_l) return join_beside(high_l, group);
    return fmo_gpu_uses_hermite(group->build->plan) ? fmo_hermite_queue(group, variant, NULL, timed)
                                                    : cudaSuccess;
}

/* Captures the steps from density_in to X as a CUDA graph. If the capture fails, builds launch
 * their kernels one by one. */
void fmo_gpu_capture(fmo_fock_plan *plan, const fmo_gpu_variant *variant)
{
    fmo_gpu_state *g = plan->gpu;
    fmo_gpu_graphs *const graphs = fmo_gpu_graphs_of(plan);
    const fmo_gpu_build build = fmo_gpu_own_build(plan);
    fmo_gpu_group group = {&build, 1, NULL};
    fmo_gpu_side_streams side, high_l;
    cudaGraph_t graph = NULL;
    const int number = fmo_gpu_graph_number(g);
    const bool with_high_l = fmo_gpu_uses_hermite(plan);
    graphs->tried[number] = 1;
    if (!g->schedule->graph) return;
    memset(&side, 0, sizeof side);
    memset(&high_l, 0, sizeof high_l);
    cudaError_t code = cudaStreamCreateWithFlags(&group.stream, cudaStreamNonBlocking);
    if (code == cudaSuccess) code = side_streams_create(&side);
    if (code == cudaSuccess && with_high_l) code = side_streams_create(&high_l);
    if (code == cudaSuccess)
        code = cudaStreamBeginCapture(group.stream, cudaStreamCaptureModeThreadLocal);
    if (code == cudaSuccess) {
        code = queue(&group, variant, &side, with_high_l ? &high_l : NULL, false);
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
    if (!timed && !graphs->tried[number]) fmo_gpu_capture(plan, variant);
    if (!timed && graphs->graph[number])
        return cudaGraphLaunch(graphs->graph[number], group.stream);
    return queue(&group, variant, NULL, NULL, timed);
}

cudaError_t fmo_gpu_queue_single(const fmo_gpu_group *group, const fmo_gpu_variant *variant)
{
    return queue(group, variant, NULL, NULL, false);
}
