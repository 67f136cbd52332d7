/* Builds with K of two densities in one pass, as for the spins of an open shell: each quartet is
 * computed once and digested with both. One pass gives J of one density, which may be a third, and
 * both K; J of another density follows by itself. Screening uses the larger of the two densities'
 * block maxima. The two densities may also be the symmetric and the antisymmetric part of a general
 * one. Such builds have matrices, and graphs, of their own (fmo_gpu_two). */
#include "accumulate/gpu/fused.h"

#include <string.h>

#include "accumulate/gpu/hermite/hermite.h"
#include "accumulate/gpu/hermite/use.h"
#include "accumulate/gpu/modes.h"
#include "accumulate/gpu/range.h"
#include "integrals/operator_rules.h"

namespace {

/* What the jobs request. Jobs of antisymmetric densities, J of which is 0, are not among those of
 * J. */
typedef struct request {
    int coulombs, exchanges;
    const fmo_fock_job *coulomb[2];  /* J of the pass; J that follows */
    const fmo_fock_job *exchange[2]; /* the jobs of both K; the same for a general density */
    bool antisymmetric[2];
} request;

/* Adds a job to the request; false if it does not fit. */
bool add_job(request *r, const fmo_fock_job *job)
{
    const int parts = fmo_build_parts(job);
    if (job->exchange) {
        if (r->exchanges + parts > 2 || !fmo_operator_is_coulomb(job->exchange_operator))
            return false;
        for (int p = 0; p < parts; p++) {
            r->antisymmetric[r->exchanges] = p > 0 || job->symmetry == FMO_ANTISYMMETRIC;
            r->exchange[r->exchanges++] = job;
        }
    }
    if (job->coulomb && job->symmetry != FMO_ANTISYMMETRIC) {
        if (r->coulombs == 2 || !fmo_operator_is_coulomb(job->coulomb_operator)) return false;
        r->coulomb[r->coulombs++] = job;
    }
    return true;
}

/* Lists a job and those that are built with it; returns their number. */
int find_jobs(const fmo_fock_job *job, const fmo_fock_job **jobs)
{
    const fmo_fock_plan *const plan = job->plan;
    jobs[0] = job;
    for (int k = 0; k < plan->also_num; k++) jobs[1 + k] = plan->also[k];
    return 1 + plan->also_num;
}

/* Allocates pinned memory if there is none yet. */
cudaError_t make_pinned(const fmo_fock_plan *plan)
{
    fmo_gpu_two *const two = &plan->gpu->two;
    const size_t n = (size_t)plan->basis->ao_num;
    FMO_GPU_TRY(fmo_gpu_make_pinned(plan));
    if (two->in) return cudaSuccess;
    FMO_GPU_TRY(
        cudaMallocHost((void **)&two->in, 8 * fmo_plan_matrix_bytes(plan) + sizeof *two->counters));
    two->out = two->in + 4 * n * n;
    two->counters = (fmo_gpu_counters *)(two->out + 4 * n * n);
    return cudaSuccess;
}

/* Queues the copy of a job's density to the GPU; `number` is its place in the pinned memory. */
cudaError_t copy_density(const fmo_fock_plan *plan, const fmo_fock_job *job, int number,
                         bool on_device, double *to)
{
    const size_t bytes = fmo_plan_matrix_bytes(plan);
    double *const pinned =
        on_device ? NULL : plan->gpu->two.in + (size_t)number * (bytes / sizeof(double));
    if (pinned) fmo_plan_copy(plan, pinned, job->density, bytes);
    return cudaMemcpyAsync(to, pinned ? pinned : job->density, bytes, cudaMemcpyDefault,
                           plan->gpu->device.stream);
}

/* The state for the pass: that of the plan with the matrices for two densities. */
fmo_gpu_state state_of(const fmo_fock_plan *plan, const request *r)
{
    const fmo_gpu_state *const g = plan->gpu;
    fmo_gpu_state own = *g;
    own.arrays = g->two.arrays;
    own.densities = 2;
    own.requested = FMO_TERMS_K | (r->coulombs ? FMO_TERMS_J : 0);
    own.antisymmetric = r->antisymmetric[0] | r->antisymmetric[1] << 1;
    fmo_gpu_place_sums(&own);
    own.hermite = NULL;
    if (fmo_gpu_uses_hermite(plan)) {
        own.hermite = g->hermite->two;
        own.hermite->grouped = 0;
        own.hermite->host_counters = g->hermite->host_counters;
    }
    return own;
}

/* Queues the pass, from the densities in `two.arrays` to J and both K. */
cudaError_t run_pass(fmo_fock_plan *plan, const request *r, bool on_device)
{
    fmo_gpu_state *const g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const bool general = r->exchange[0] == r->exchange[1];
    fmo_gpu_state own = state_of(plan, r);
    plan->gpu = &own;
    fmo_gpu_build build = fmo_gpu_own_build(plan);
    if (on_device) {
        build.coulomb = r->coulombs ? r->coulomb[0]->coulomb : NULL;
        build.exchange = r->exchange[0]->exchange;
        build.second = r->exchange[1]->exchange;
    }
    if (general) build.second = build.exchange;
    build.add_second = general;
    if (!r->coulombs) build.coulomb = NULL;
    cudaError_t code = fmo_gpu_run(&build, fmo_gpu_plan_variant(plan), false);
    if (!on_device && code == cudaSuccess) {
        const size_t first = r->coulombs ? 0 : 1, end = general ? 2 : 3;
        code = cudaMemcpyAsync(g->two.out + first * n * n, own.arrays.out + first * n * n,
                               (end - first) * n * n * sizeof(double), cudaMemcpyDeviceToHost,
                               g->device.stream);
        if (code == cudaSuccess)
            code =
                cudaMemcpyAsync(g->pinned.counters, own.arrays.counters, sizeof *g->pinned.counters,
                                cudaMemcpyDeviceToHost, g->device.stream);
        if (code == cudaSuccess && own.hermite)
            code = cudaMemcpyAsync(g->hermite->host_counters, own.hermite->counters,
                                   sizeof *own.hermite->counters, cudaMemcpyDeviceToHost,
                                   g->device.stream);
    }
    plan->gpu = g;
    g->graphs = own.graphs; /* captured in the first build */
    g->loose = own.loose;
    g->loose_cutoff = own.loose_cutoff;
    g->requested = own.requested;
    g->antisymmetric = own.antisymmetric;
    return code;
}

/* Queues J of the second density, by a build without K. */
cudaError_t run_second_coulomb(fmo_fock_plan *plan, const fmo_fock_job *job, bool on_device)
{
    fmo_gpu_state *const g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const int requested = g->requested, antisymmetric = g->antisymmetric;
    const fmo_gpu_variant *const variant = fmo_gpu_plan_variant(plan);
    fmo_gpu_build build = fmo_gpu_own_build(plan);
    const fmo_gpu_group group = fmo_gpu_group_of_one(&build);
    if (on_device) build.coulomb = job->coulomb;
    build.exchange = NULL;
    g->requested = FMO_TERMS_J;
    g->antisymmetric = 0;
    if (g->hermite) g->hermite->grouped = 0;
    FMO_GPU_TRY(copy_density(plan, job, 3, on_device, g->arrays.density_in));
    FMO_GPU_TRY(fmo_gpu_queue_sums(&build, variant, false));
    FMO_GPU_TRY(fmo_gpu_queue_finish(&group, variant));
    FMO_GPU_TRY(cudaEventRecord(g->device.finished, group.stream));
    g->requested = requested;
    g->antisymmetric = antisymmetric;
    if (on_device) return cudaSuccess;
    FMO_GPU_TRY(cudaMemcpyAsync(g->two.out + 3 * n * n, build.coulomb, fmo_plan_matrix_bytes(plan),
                                cudaMemcpyDeviceToHost, group.stream));
    return cudaMemcpyAsync(g->two.counters, g->arrays.counters, sizeof *g->two.counters,
                           cudaMemcpyDeviceToHost, group.stream);
}

/* Queues all copies and builds. */
cudaError_t queue(fmo_fock_plan *plan, const request *r, bool on_device)
{
    fmo_gpu_state *const g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    double *const in = g->two.arrays.density_in;
    FMO_GPU_TRY(fmo_gpu_follow(&g->device, g->device.stream));
    if (r->coulombs) FMO_GPU_TRY(copy_density(plan, r->coulomb[0], 0, on_device, in));
    for (int d = 0; d < 2; d++)
        FMO_GPU_TRY(
            copy_density(plan, r->exchange[d], 1 + d, on_device, in + (size_t)(1 + d) * n * n));
    FMO_GPU_TRY(run_pass(plan, r, on_device));
    return r->coulombs > 1 ? run_second_coulomb(plan, r->coulomb[1], on_device) : cudaSuccess;
}

/* Records where the results of each job are in pinned memory. */
void place_results(fmo_fock_plan *plan, const request *r, const fmo_fock_job *const *jobs, int num)
{
    fmo_gpu_two *const two = &plan->gpu->two;
    const size_t n = (size_t)plan->basis->ao_num;
    two->jobs = num;
    two->counted = r->coulombs > 1;
    for (int k = 0; k < num; k++) {
        two->result[k][0] = two->result[k][1] = NULL;
        for (int c = 0; c < r->coulombs; c++)
            if (r->coulomb[c] == jobs[k]) two->result[k][0] = two->out + (size_t)(3 * c) * n * n;
        for (int d = 1; d >= 0; d--)
            if (r->exchange[d] == jobs[k]) two->result[k][1] = two->out + (size_t)(1 + d) * n * n;
    }
}

} // namespace

/* The matrices are allocated here, so that jobs are built one by one where memory does not suffice.
 * Small plans of several molecules share launches instead. */
extern "C" int fmo_fused_shares_pass(const fmo_fock_job *const *jobs, int num, int alone)
{
    fmo_fock_plan *const plan = jobs[0]->plan;
    const fmo_fock_options *const o = &plan->options;
    request r = {};
    for (int k = 0; k < num; k++)
        if (!add_job(&r, jobs[k])) return 0;
    if (!fmo_gpu_takes_two(fmo_scatter_kernels(o->scatter), o->commit) ||
        plan->gpu->schedule != &fmo_gpu_schedule_direct || plan->others.num > 0 ||
        o->measure_classes || o->measure_accumulation ||
        (num > 1 && !alone && fmo_gpu_joins_groups(plan)))
        return 0;
    if (r.exchanges < 2) return 1;
    const fmo_gpu_inside inside(&plan->gpu->device);
    return fmo_gpu_make_two_arrays(plan, NULL) == FMO_OK ? 2 : 0;
}

/* True if a job and those in plan->also are built in one pass for K of two densities. */
static bool is_of_two(const fmo_fock_job *job)
{
    return job->plan->also_num > 0 || fmo_fused_shares_pass(&job, 1, 1) > 1;
}

/* Queues the pass of a job and those that are built with it. */
static fmo_status start_two(const fmo_fock_job *job, bool on_device, fmo_error *err)
{
    fmo_fock_plan *const plan = job->plan;
    fmo_gpu_state *const g = plan->gpu;
    const fmo_gpu_range range("fused build of two densities");
    const fmo_fock_job *jobs[FMO_GPU_TWO_JOBS];
    const int num = find_jobs(job, jobs);
    request r = {};
    for (int k = 0; k < num; k++) (void)add_job(&r, jobs[k]);
    /* they were freed if pairs have been made again since fmo_fused_shares_pass */
    const fmo_status status = fmo_gpu_make_two_arrays(plan, err);
    if (status != FMO_OK) return status;
    if (!on_device) {
        FMO_GPU_CHECK(make_pinned(plan), "copying the density", err);
        place_results(plan, &r, jobs, num);
        g->begun = fmo_now();
    }
    plan->profile.coulomb = g->boxes && r.coulombs ? FMO_COULOMB_BOXES : FMO_COULOMB_DIRECT;
    FMO_GPU_CHECK(queue(plan, &r, on_device), "fused build", err);
    for (int k = 0; k < num && on_device; k++)
        if (jobs[k]->coulomb && jobs[k]->symmetry == FMO_ANTISYMMETRIC)
            FMO_GPU_CHECK(
                cudaMemsetAsync(jobs[k]->coulomb, 0, fmo_plan_matrix_bytes(plan), g->device.stream),
                "fused build", err);
    return FMO_OK;
}

fmo_status fmo_gpu_start_one(const fmo_fock_job *job, bool on_device, fmo_error *err)
{
    return is_of_two(job) ? start_two(job, on_device, err)
                          : fmo_gpu_start_parts(job, on_device, err);
}
