/* Single builds of mode fused: on all GPUs of a plan, with copies of matrices that are on the host,
 * and the parts of which a job may consist: J and K of operators other than 1/r and K of the
 * antisymmetric part of a density are builds of their own, which follow each other on the plan's
 * stream. */
#include "accumulate/gpu/fused.h"

#include <string.h>

#include "accumulate/gpu/hermite/hermite.h"
#include "accumulate/gpu/hermite/use.h"
#include "accumulate/gpu/range.h"
#include "integrals/far/attenuation.h"
#include "integrals/operator_rules.h"

/* ---- one build ------------------------------------------------------------------------------- */

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
    fmo_plan_copy(plan, g->pinned.in, density, matrix);
    return cudaMemcpyAsync(g->arrays.density_in, g->pinned.in, matrix, cudaMemcpyHostToDevice,
                           stream);
}

cudaError_t fmo_gpu_copy_out(const fmo_fock_plan *plan, cudaStream_t stream)
{
    const fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const size_t begin = g->requested & FMO_TERMS_J ? 0 : n * n;
    const size_t end = g->requested & FMO_TERMS_K ? 2 * n * n : n * n;
    FMO_GPU_TRY(cudaMemcpyAsync(g->pinned.out + begin, g->arrays.out + begin,
                                (end - begin) * sizeof(double), cudaMemcpyDeviceToHost, stream));
    if (g->hermite)
        FMO_GPU_TRY(cudaMemcpyAsync(g->hermite->host_counters, g->hermite->counters,
                                    sizeof *g->hermite->counters, cudaMemcpyDeviceToHost, stream));
    if (g->others.shared) FMO_GPU_TRY(fmo_gpu_copy_others_counters(plan, stream));
    return cudaMemcpyAsync(g->pinned.counters, g->arrays.counters, sizeof *g->pinned.counters,
                           cudaMemcpyDeviceToHost, stream);
}

/* ---- the parts of a job ---------------------------------------------------------------------- */

/* A build of the symmetric or antisymmetric part of the density. */
typedef struct build_part {
    int requested; /* FMO_TERMS_... */
    bool antisymmetric;
    const fmo_operator *op; /* NULL: 1/r */
    bool add;               /* K is added to that of the part before */
} build_part;

/* Returns the operator of a part, from that of the job. */
static const fmo_operator *other_operator(const fmo_operator *op)
{
    return fmo_operator_is_coulomb(*op) ? NULL : op;
}

/* Divides a job into parts; returns their number. K is in the last one, whose counters are those of
 * the job. */
static int find_parts(const fmo_fock_job *job, build_part *part)
{
    const fmo_operator *const of_J = other_operator(&job->coulomb_operator);
    const fmo_operator *const of_K = other_operator(&job->exchange_operator);
    const bool symmetric = job->symmetry != FMO_ANTISYMMETRIC;
    const int requested = fmo_build_requested(job);
    const int others = requested & ((of_J ? FMO_TERMS_J : 0) | (of_K ? FMO_TERMS_K : 0));
    int num = 0;
    if (symmetric && (others & FMO_TERMS_J)) part[num++] = {FMO_TERMS_J, false, of_J, false};
    if (symmetric && requested != others) part[num++] = {requested & ~others, false, NULL, false};
    if (symmetric && (others & FMO_TERMS_K)) part[num++] = {FMO_TERMS_K, false, of_K, false};
    if (!symmetric || fmo_build_parts(job) > 1) part[num++] = {FMO_TERMS_K, true, of_K, symmetric};
    return num;
}

/* Queues the sums of a part with an operator, and J and K of those of all GPUs. J is computed by
 * the first of several GPUs alone. */
static cudaError_t queue_with_operator(const fmo_gpu_build *build, const fmo_gpu_variant *variant)
{
    const fmo_fock_plan *const plan = build->plan;
    const fmo_gpu_group group = fmo_gpu_group_of_one(build);
    const bool shared = plan->others.num > 0 && !fmo_gpu_is_hermite_coulomb(plan->gpu);
    if (shared) FMO_GPU_TRY(fmo_gpu_queue_others(build, variant, false));
    FMO_GPU_TRY(fmo_gpu_queue_single(&group, variant));
    if (shared) FMO_GPU_TRY(fmo_gpu_add_others(build, variant->fixed_point));
    return fmo_gpu_queue_finish(&group, variant);
}

/* Queues the steps of a part with an operator. */
static cudaError_t run_with_operator(const fmo_gpu_build *build, fmo_operator op)
{
    fmo_fock_plan *const plan = build->plan;
    fmo_gpu_state *const g = plan->gpu;
    const cudaStream_t stream = g->device.stream;
    const fmo_gpu_variant *const own_variant = fmo_gpu_plan_variant(plan);
    const fmo_gpu_variant *const variant =
        own_variant->fixed_point ? own_variant
                                 : fmo_gpu_find_variant(FMO_SCATTER_NATIVE, FMO_COMMIT_NATIVE);
    const double bound = fmax(fmo_operator_bound(op), 1.0); /* for screening */
    fmo_gpu_state own = fmo_gpu_state_of_operator(g, bound, fmo_attenuation_range(op));
    fmo_gpu_hermite whole;
    op = {op.full / bound, op.long_range / bound, op.omega};
    if (fmo_gpu_is_hermite_coulomb(&own) && plan->others.num) {
        whole = *g->hermite;
        whole.share = 0;
        whole.shares = 1;
        own.hermite = &whole;
    }
    FMO_GPU_TRY(cudaMemcpyAsync(g->arrays.op, &op, sizeof op, cudaMemcpyHostToDevice, stream));
    FMO_GPU_TRY(cudaEventRecord(g->device.start, stream));
    plan->gpu = &own;
    const cudaError_t code = queue_with_operator(build, variant);
    plan->gpu = g;
    g->others.shared = own.others.shared;
    FMO_GPU_TRY(code);
    return cudaEventRecord(g->device.finished, stream);
}

/* Queues a build for each part of a job; J of an antisymmetric density is set to zero. */
static cudaError_t run_parts(const fmo_fock_job *job, const fmo_gpu_build *build)
{
    fmo_fock_plan *const plan = job->plan;
    fmo_gpu_state *const g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    build_part part[3];
    const int num = find_parts(job, part);
    g->others.shared = 0;
    if (job->coulomb && job->symmetry == FMO_ANTISYMMETRIC)
        FMO_GPU_TRY(cudaMemsetAsync(build->coulomb, 0, n * n * sizeof(double), g->device.stream));
    for (int k = 0; k < num; k++) {
        const fmo_gpu_build own = {plan,
                                   build->density,
                                   part[k].requested & FMO_TERMS_J ? build->coulomb : NULL,
                                   part[k].requested & FMO_TERMS_K ? build->exchange : NULL,
                                   part[k].add,
                                   NULL,
                                   false};
        g->requested = part[k].requested;
        g->antisymmetric = part[k].antisymmetric;
        FMO_GPU_TRY(part[k].op ? run_with_operator(&own, *part[k].op)
                               : fmo_gpu_run(&own, fmo_gpu_plan_variant(plan), false));
    }
    g->requested = fmo_build_requested(job);
    return cudaSuccess;
}

/* Makes the data on the stream of the plan, and waits for builds that are in progress. */
fmo_status fmo_gpu_make_hermite(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_state *const g = plan->gpu;
    if (g->hermite) return FMO_OK;
    FMO_GPU_CHECK(cudaStreamSynchronize(g->device.last), "shell pairs for J", err);
    const fmo_status status = fmo_hermite_make(plan, err);
    if (status != FMO_OK)
        fmo_hermite_free(g);
    else if (g->pinned.in) /* made earlier, without hermite */
        FMO_GPU_CHECK(fmo_hermite_make_pinned(g->hermite), "shell pairs for J", err);
    return status;
}

/* ---- a job ----------------------------------------------------------------------------------- */

/* Queues the copies of the matrices and the builds between them. */
fmo_status fmo_gpu_start_parts(const fmo_fock_job *job, bool on_device, fmo_error *err)
{
    fmo_fock_plan *plan = job->plan;
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const fmo_gpu_range range("fused build");
    const cudaStream_t stream = g->device.stream;
    const bool plain_J = fmo_operator_is_coulomb(job->coulomb_operator);
    fmo_gpu_build build = fmo_gpu_own_build(plan);
    fmo_status status = FMO_OK;
    if (job->coulomb && !plain_J) status = fmo_gpu_make_hermite(plan, err);
    if (status != FMO_OK) return status;
    if (g->hermite) g->hermite->grouped = 0;
    plan->profile.coulomb =
        g->boxes && job->coulomb && plain_J ? FMO_COULOMB_BOXES : FMO_COULOMB_DIRECT;
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
    FMO_GPU_CHECK(run_parts(job, &build), "fused build", err);
    if (!on_device) FMO_GPU_CHECK(fmo_gpu_copy_out(plan, stream), "fused build", err);
    return FMO_OK;
}
