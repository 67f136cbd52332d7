/* J of another molecule's density: quartets of one pair of each of two plans, in lists of their
 * own, by the schedule `direct`. A pair of this plan is the bra if its class is the higher one or
 * the same, otherwise the ket. The kernels digest J in both directions; the density of this plan is
 * zero, and what they add to the sums of the other plan is never read. Classes with d shells and
 * operators other than 1/r: from the Hermite densities of the other plan. */
#include "accumulate/gpu/fused.h"
#include "accumulate/gpu/hermite/hermite.h"
#include "accumulate/gpu/hermite/use.h"
#include "accumulate/gpu/range.h"
#include "integrals/operator_rules.h"

#include <math.h>
#include <string.h>

/* Converts the density of one plan, times `factor`, to the kernels' order and sets its sums to
 * zero. density: on the host; NULL: a zero density. */
static cudaError_t order(fmo_fock_plan *plan, const double *density, double factor,
                         cudaStream_t stream)
{
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const fmo_gpu_build build = fmo_gpu_own_build(plan);
    const fmo_gpu_group group = {&build, 1, stream};
    g->requested = FMO_TERMS_J;
    g->antisymmetric = 0;
    if (density)
        FMO_GPU_TRY(fmo_gpu_copy_in(plan, density, stream));
    else
        FMO_GPU_TRY(
            cudaMemsetAsync(g->arrays.density_in, 0, n * n * sizeof *g->arrays.density_in, stream));
    g->density_factor = factor;
    cudaError_t code = fmo_gpu_order_density(&group);
    if (code == cudaSuccess && g->hermite) code = fmo_hermite_order_density(&group);
    g->density_factor = 1.0;
    FMO_GPU_TRY(code);
    return g->far ? fmo_gpu_make_moments(&group) : cudaSuccess;
}

/* The state for the steps of this build: that of plan `g` with the tasks between the two plans, one
 * copy of the sums (strides are those of the plan) and a row of zeros for K that is long enough for
 * both plans. */
static fmo_gpu_state state_between(const fmo_gpu_state *g, const fmo_gpu_state *other)
{
    fmo_gpu_state between = *g;
    between.lists = g->between;
    between.schedule = &fmo_gpu_schedule_direct;
    between.far = g->far && other->far;
    between.boxes = NULL;
    between.arrays.copies = 1;
    if (other->functions.sp_shells > g->functions.sp_shells) {
        between.functions.sp_shells = other->functions.sp_shells;
        between.arrays.no_exchange = other->arrays.no_exchange;
    }
    return between;
}

/* Queues the steps from the density to J; plan->gpu is the state for them. */
static cudaError_t queue_between(const fmo_gpu_group *group, const fmo_fock_plan *source,
                                 const fmo_gpu_variant *variant)
{
    const fmo_fock_plan *const plan = group->build->plan;
    const fmo_gpu_state *const g = plan->gpu;
    if (!fmo_gpu_is_hermite_coulomb(g))
        FMO_GPU_TRY(fmo_gpu_run_passes(group, variant, NULL, false));
    for (int bra = 0; bra < FMO_PAIR_GPU_COUNT && g->hermite; bra++)
        FMO_GPU_TRY(fmo_hermite_coulomb(group, source->gpu->hermite, bra));
    if (g->hermite) FMO_GPU_TRY(fmo_hermite_contract(group));
    FMO_GPU_TRY(fmo_gpu_queue_finish(group, variant));
    /* this plan may have s and p shells alone */
    return g->hermite && !fmo_gpu_uses_hermite(plan)
               ? fmo_hermite_finish(group, variant->fixed_point)
               : cudaSuccess;
}

/* Queues the whole build, from the source's density on the host to J in pinned memory. */
static cudaError_t queue(const fmo_fock_job *job, const fmo_gpu_variant *variant)
{
    fmo_fock_plan *const plan = job->plan, *const source = job->source;
    fmo_gpu_state *const g = plan->gpu;
    fmo_operator op = job->coulomb_operator;
    const bool other = !fmo_operator_is_coulomb(op);
    const double bound = other ? fmax(fmo_operator_bound(op), 1.0) : 1.0; /* for screening */
    const cudaStream_t stream = g->device.stream;
    const fmo_gpu_build own = fmo_gpu_own_build(plan), of_source = fmo_gpu_own_build(source);
    const fmo_gpu_build build = {plan, own.density, own.coulomb, NULL, false, NULL, false};
    const fmo_gpu_group group = {&build, 1, stream}, from = {&of_source, 1, stream};
    FMO_GPU_TRY(fmo_gpu_make_pinned(plan));
    g->begun = fmo_now();
    g->others.shared = 0;
    FMO_GPU_TRY(cudaEventRecord(g->device.start, stream));
    FMO_GPU_TRY(order(plan, NULL, 1.0, stream));
    FMO_GPU_TRY(order(source, job->density, bound, stream));
    if (variant->fixed_point) FMO_GPU_TRY(fmo_gpu_fixed_scale_of(&from, g));
    fmo_gpu_state between = state_between(g, source->gpu);
    fmo_gpu_hermite whole;
    if (g->hermite) { /* all bras, whatever the plan's share of its own builds */
        whole = *g->hermite;
        whole.share = 0;
        whole.shares = 1;
        whole.grouped = 0;
        between.hermite = &whole;
    }
    if (other) {
        op = {op.full / bound, op.long_range / bound, op.omega};
        between.with_operator = 1;
        FMO_GPU_TRY(cudaMemcpyAsync(g->arrays.op, &op, sizeof op, cudaMemcpyHostToDevice, stream));
    }
    plan->gpu = &between;
    const cudaError_t code = queue_between(&group, source, variant);
    plan->gpu = g;
    FMO_GPU_TRY(code);
    FMO_GPU_TRY(cudaEventRecord(g->device.finished, stream));
    return fmo_gpu_copy_out(plan, stream);
}

/* Makes what both plans need for this build, then queues it. They need the data of hermite/ if one
 * of them has d or f shells, or for an operator. */
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
    const bool other = !fmo_operator_is_coulomb(job->coulomb_operator);
    if (status == FMO_OK && (other || source->gpu->hermite))
        status = fmo_gpu_make_hermite(plan, err);
    if (status == FMO_OK && g->hermite) status = fmo_gpu_make_hermite(source, err);
    if (status != FMO_OK) return status;
    FMO_GPU_CHECK(fmo_gpu_follow(&source->gpu->device, g->device.stream), "J of a source", err);
    FMO_GPU_CHECK(fmo_gpu_follow(&g->device, g->device.stream), "J of a source", err);
    plan->profile.coulomb = FMO_COULOMB_DIRECT;
    FMO_GPU_CHECK(queue(job, variant), "J of a source", err);
    return FMO_OK;
}
