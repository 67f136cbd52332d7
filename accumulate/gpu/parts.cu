/* The parts of which a job may consist (accumulate/gpu/fused.h): K of an operator other than 1/r
 * and K of the antisymmetric part of a density are builds of their own, which follow each other on
 * the plan's stream. */
#include "accumulate/gpu/fused.h"

#include "accumulate/gpu/hermite/hermite.h"
#include "integrals/operator_rules.h"

/* A build of the symmetric or antisymmetric part of the density. */
typedef struct build_part {
    int wanted; /* FMO_TERMS_... */
    bool antisymmetric, with_operator;
    bool add; /* K is added to that of the part before */
} build_part;

/* Divides a job into parts; returns their number. */
static int find_parts(const fmo_fock_job *job, build_part *part)
{
    const bool other = job->exchange && !fmo_operator_is_coulomb(job->exchange_operator);
    const bool symmetric = job->symmetry != FMO_ANTISYMMETRIC;
    const int wanted = fmo_build_wanted(job);
    int num = 0;
    if (symmetric && (!other || job->coulomb))
        part[num++] = {other ? FMO_TERMS_J : wanted, false, false, false};
    if (symmetric && other) part[num++] = {FMO_TERMS_K, false, true, false};
    if (!symmetric || fmo_build_parts(job) > 1) part[num++] = {FMO_TERMS_K, true, other, symmetric};
    return num;
}

/* Queues the steps of a part with an operator, which has no far quartets and no graph. */
static cudaError_t run_with_operator(const fmo_gpu_build *build, fmo_operator op)
{
    fmo_fock_plan *const plan = build->plan;
    fmo_gpu_state *const g = plan->gpu;
    const fmo_gpu_group group = fmo_gpu_group_of_one(build);
    const fmo_gpu_variant *const own_variant = fmo_gpu_plan_variant(plan);
    const fmo_gpu_variant *const variant =
        own_variant->fixed_point ? own_variant
                                 : fmo_gpu_find_variant(FMO_SCATTER_NATIVE, FMO_COMMIT_NATIVE);
    fmo_gpu_state own = *g;
    const double bound = fmax(fmo_operator_bound(op), 1.0); /* for screening */
    op = {op.full / bound, op.long_range / bound, op.omega};
    own.with_operator = 1;
    own.density_factor = bound;
    own.far = 0;
    own.boxes = NULL;
    FMO_GPU_TRY(cudaEventRecord(g->device.start, group.stream));
    FMO_GPU_TRY(
        cudaMemcpyAsync(g->arrays.op, &op, sizeof op, cudaMemcpyHostToDevice, group.stream));
    plan->gpu = &own;
    cudaError_t code = fmo_gpu_queue_single(&group, variant);
    if (code == cudaSuccess) code = fmo_gpu_queue_finish(&group, variant);
    plan->gpu = g;
    FMO_GPU_TRY(code);
    return cudaEventRecord(g->device.finished, group.stream);
}

fmo_status fmo_gpu_check_parts(const fmo_fock_job *job, fmo_error *err)
{
    const fmo_fock_plan *const plan = job->plan;
    const bool several = plan->others.num > 0;
    if (!job->exchange || fmo_operator_is_coulomb(job->exchange_operator)) return FMO_OK;
    if (!several && plan->gpu->schedule == &fmo_gpu_schedule_direct) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                         "exchange_operator = other than 1/r with %s: use %s",
                         several ? "several GPUs" : "stored integrals on a GPU",
                         several ? "one" : "integrals = direct");
}

cudaError_t fmo_gpu_run_parts(const fmo_fock_job *job, const fmo_gpu_build *build)
{
    fmo_fock_plan *const plan = job->plan;
    fmo_gpu_state *const g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    build_part part[3];
    const int num = find_parts(job, part);
    if (job->coulomb && job->symmetry == FMO_ANTISYMMETRIC)
        FMO_GPU_TRY(cudaMemsetAsync(build->coulomb, 0, n * n * sizeof(double), g->device.stream));
    for (int k = 0; k < num; k++) {
        const fmo_gpu_build own = {plan,
                                   build->density,
                                   part[k].wanted & FMO_TERMS_J ? build->coulomb : NULL,
                                   part[k].wanted & FMO_TERMS_K ? build->exchange : NULL,
                                   part[k].add,
                                   NULL,
                                   false};
        g->wanted = part[k].wanted;
        g->antisymmetric = part[k].antisymmetric;
        FMO_GPU_TRY(part[k].with_operator ? run_with_operator(&own, job->exchange_operator)
                                          : fmo_gpu_run(&own, fmo_gpu_plan_variant(plan), false));
    }
    g->wanted = fmo_build_wanted(job);
    return cudaSuccess;
}
