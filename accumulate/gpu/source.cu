/* J of another molecule's density: quartets of pairs of two plans, in lists of their own, by the
 * schedule `direct`. A pair of this plan is the bra where its class is the heavier one, and the ket
 * where the other's is; the kernels digest J both ways, with a density of zeros on this side, and
 * what they add to the other plan's sums is never read. */
#include "accumulate/gpu/fused.h"
#include "accumulate/gpu/hermite/hermite.h"
#include "accumulate/gpu/range.h"

#include <string.h>

/* One plan's density, ordered, with everything that starts from zero zeroed; NULL: no density. */
static cudaError_t order(fmo_fock_plan *plan, const double *density, cudaStream_t stream)
{
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const fmo_gpu_build build = fmo_gpu_own_build(plan);
    const fmo_gpu_group group = {&build, 1, stream};
    g->wanted = FMO_TERMS_J;
    if (density)
        FMO_GPU_TRY(fmo_gpu_copy_in(plan, density, stream));
    else
        FMO_GPU_TRY(
            cudaMemsetAsync(g->arrays.density_in, 0, n * n * sizeof *g->arrays.density_in, stream));
    FMO_GPU_TRY(fmo_gpu_order_density(&group));
    if (g->hermite) FMO_GPU_TRY(fmo_hermite_order_density(&group));
    return g->far ? fmo_gpu_make_moments(&group) : cudaSuccess;
}

/* What the steps of a build see: the plan's state with the tasks between two plans, one copy of the
 * sums, as strides are the plan's, and rows of no exchange that are long enough for both. */
static fmo_gpu_state state_between(const fmo_gpu_state *g, const fmo_gpu_state *other)
{
    fmo_gpu_state between = *g;
    between.lists = g->between;
    between.schedule = &fmo_gpu_schedule_direct;
    between.far = g->far && other->far;
    between.boxes = NULL;
    between.arrays.copies = 1;
    if (other->functions.sets > g->functions.sets) {
        between.functions.sets = other->functions.sets;
        between.arrays.no_exchange = other->arrays.no_exchange;
    }
    return between;
}

static cudaError_t queue(fmo_fock_plan *plan, fmo_fock_plan *source, const double *density,
                         const fmo_gpu_variant *variant)
{
    fmo_gpu_state *const g = plan->gpu;
    const cudaStream_t stream = g->device.stream;
    const fmo_gpu_build own = fmo_gpu_own_build(plan), of_source = fmo_gpu_own_build(source);
    const fmo_gpu_build build = {plan, own.density, own.coulomb, NULL};
    const fmo_gpu_group group = {&build, 1, stream}, from = {&of_source, 1, stream};
    FMO_GPU_TRY(fmo_gpu_make_pinned(plan));
    g->begun = fmo_now();
    g->others.shared = 0;
    FMO_GPU_TRY(cudaEventRecord(g->device.start, stream));
    FMO_GPU_TRY(order(plan, NULL, stream));
    FMO_GPU_TRY(order(source, density, stream));
    if (variant->fixed_point) FMO_GPU_TRY(fmo_gpu_fixed_scale_of(&from, g));
    fmo_gpu_state between = state_between(g, source->gpu);
    fmo_gpu_hermite whole;
    if (g->hermite) { /* of all bras, whatever the plan's share of its own builds */
        whole = *g->hermite;
        whole.share = 0;
        whole.shares = 1;
        whole.grouped = 0;
        between.hermite = &whole;
    }
    plan->gpu = &between;
    cudaError_t code = fmo_gpu_run_passes(&group, variant, NULL, false);
    for (int bra = 0; bra < FMO_PAIR_CLASS_COUNT && g->hermite && code == cudaSuccess; bra++)
        code = fmo_hermite_coulomb(&group, source->gpu->hermite, bra);
    if (code == cudaSuccess && g->hermite) code = fmo_hermite_contract(&group);
    if (code == cudaSuccess) code = fmo_gpu_queue_finish(&group, variant);
    plan->gpu = g;
    FMO_GPU_TRY(code);
    FMO_GPU_TRY(cudaEventRecord(g->device.finished, stream));
    return fmo_gpu_copy_out(plan, stream);
}

/* Where one side has d shells, the other needs to know of them too. Its graphs do not. */
static fmo_status make_hermite(fmo_fock_plan *plan, fmo_error *err)
{
    if (plan->gpu->hermite) return FMO_OK;
    FMO_GPU_CHECK(cudaStreamSynchronize(plan->gpu->device.last), "J of a source", err);
    fmo_gpu_forget_graphs(plan->gpu);
    const fmo_status status = fmo_hermite_make(plan, err);
    if (status == FMO_OK && plan->gpu->pinned.in) /* which was made without */
        FMO_GPU_CHECK(fmo_hermite_make_pinned(plan->gpu->hermite), "J of a source", err);
    return status;
}

fmo_status fmo_gpu_start_from_source(const fmo_fock_job *job, fmo_error *err)
{
    fmo_fock_plan *const plan = job->plan, *const source = job->source;
    fmo_gpu_state *const g = plan->gpu;
    const fmo_gpu_range range("J of another density");
    const bool fixed = fmo_scatter_sums_integers(plan->options.scatter);
    const fmo_gpu_variant *const variant =
        fixed ? fmo_gpu_plan_variant(plan)
              : fmo_gpu_find_variant(FMO_SCATTER_SEGMENTED, FMO_COMMIT_NATIVE);
    if (!variant)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "source: scatter = segmented is not in this build");
    fmo_status status = fmo_gpu_make_lists_between(plan, g, source->gpu, &g->between, err);
    if (status == FMO_OK && source->gpu->hermite) status = make_hermite(plan, err);
    if (status == FMO_OK && g->hermite) status = make_hermite(source, err);
    if (status != FMO_OK) return status;
    FMO_GPU_CHECK(fmo_gpu_follow(&source->gpu->device, g->device.stream), "J of a source", err);
    FMO_GPU_CHECK(fmo_gpu_follow(&g->device, g->device.stream), "J of a source", err);
    plan->profile.coulomb = FMO_COULOMB_DIRECT;
    FMO_GPU_CHECK(queue(plan, source, job->density, variant), "J of a source", err);
    return FMO_OK;
}
