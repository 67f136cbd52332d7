/* One build: checks and reorders the density, calls the mode, and returns J and K. See plan.h. */
#include <math.h>
#include <string.h>

#include "accumulate/plan/ranks.h"
#include "base/arguments.h"
#include "base/names.h"
#include "integrals/operator_rules.h"
#include "integrals/tables.h"

int fmo_build_alike(const fmo_fock_job *a, const fmo_fock_job *b)
{
    return fmo_build_requested(a) == fmo_build_requested(b) &&
           fmo_operator_same(a->coulomb_operator, b->coulomb_operator) &&
           fmo_operator_same(a->exchange_operator, b->exchange_operator);
}

const char *fmo_symmetry_name(fmo_symmetry symmetry)
{
    static const char *const names[FMO_SYMMETRY_COUNT] = {FMO_SYMMETRY_TABLE(FMO_NAMES_NAME)};
    return (unsigned)symmetry < FMO_SYMMETRY_COUNT ? names[symmetry] : NULL;
}

static fmo_status check_operator(const char *name, fmo_operator op, fmo_error *err)
{
    if (fmo_operator_is_valid(op)) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_ARGUMENT,
                         "%s = {full %g, long_range %g, omega %g}: expected finite numbers, and "
                         "omega from %g to %g if long_range is not 0, else 0",
                         name, op.full, op.long_range, op.omega, FMO_OMEGA_LEAST, FMO_OMEGA_MOST);
}

/* Checks symmetry and operators of a job, and refuses those that the plan's mode does not have. */
fmo_status fmo_build_check_request(const fmo_fock_job *job, fmo_error *err)
{
    const fmo_fock_plan *const plan = job->plan;
    if ((unsigned)job->symmetry >= FMO_SYMMETRY_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "symmetry = %d: no such symmetry",
                             (int)job->symmetry);
    fmo_status status = check_operator("coulomb_operator", job->coulomb_operator, err);
    if (status == FMO_OK) status = check_operator("exchange_operator", job->exchange_operator, err);
    if (status != FMO_OK) return status;
    const int other_K = job->exchange && !fmo_operator_is_coulomb(job->exchange_operator);
    if ((job->symmetry != FMO_SYMMETRIC || other_K) && plan->options.scatter == FMO_SCATTER_TILE &&
        plan->options.mode == FMO_MODE_FUSED)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "%s = %s with scatter = %s: use another scatter",
                             other_K ? "exchange_operator" : "symmetry",
                             other_K ? "other than 1/r" : fmo_symmetry_name(job->symmetry),
                             fmo_scatter_name(plan->options.scatter));
    if (job->symmetry != FMO_SYMMETRIC && !plan->mode->takes_symmetries)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "symmetry = %s with a plan of mode %s: use mode cpu",
                             fmo_symmetry_name(job->symmetry), fmo_mode_name(plan->options.mode));
    const int others = (fmo_operator_is_coulomb(job->coulomb_operator) ? 0 : FMO_TERMS_J) |
                       (fmo_operator_is_coulomb(job->exchange_operator) ? 0 : FMO_TERMS_K);
    const int lacking = others & fmo_build_requested(job) & ~plan->mode->takes_operators;
    if (lacking)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "%s = other than 1/r with a plan of mode %s: use mode cpu",
                             lacking & FMO_TERMS_J ? "coulomb_operator" : "exchange_operator",
                             fmo_mode_name(plan->options.mode));
    return FMO_OK;
}

/* Converts the parts of the caller's densities to internal order, and finds the block maxima over
 * all of them. */
static void order_densities(fmo_fock_plan *plan, const fmo_fock_job *const *jobs, int num)
{
    const fmo_basis *b = plan->basis;
    fmo_plan_matrices *const m = &plan->matrices;
    const size_t n = (size_t)b->function_num, ns = (size_t)b->shell_num;
    m->num = 0;
    for (int d = 0; d < num; d++) {
        for (int p = 0; p < fmo_build_parts(jobs[d]); p++, m->num++) {
            const int symmetric = p == 0 && jobs[d]->symmetry != FMO_ANTISYMMETRIC;
            m->part[m->num] = symmetric ? FMO_SYMMETRIC_PART : FMO_ANTISYMMETRIC_PART;
            fmo_basis_matrix_from_caller(b, jobs[d]->density, m->part[m->num],
                                         m->density + (size_t)m->num * n * n);
        }
    }
    plan->density_largest = 0.0;
    for (size_t s = 0; s < ns; s++) {
        const fmo_shell *A = &b->shell[s];
        m->row_max[s] = 0.0;
        for (size_t t = 0; t < ns; t++) {
            const fmo_shell *B = &b->shell[t];
            double block = 0.0;
            for (int d = 0; d < m->num; d++) {
                const double *const density = m->density + (size_t)d * n * n;
                for (int x = A->ao_begin; x < A->ao_begin + fmo_shell_functions(A->ang_mom); x++)
                    for (int y = 0; y < fmo_shell_functions(B->ang_mom); y++)
                        block =
                            fmax(block, fabs(density[(size_t)x * n + (size_t)(B->ao_begin + y)]));
            }
            m->density_max[s * ns + t] = block;
            m->row_max[s] = fmax(m->row_max[s], block);
        }
        plan->density_largest = fmax(plan->density_largest, m->row_max[s]);
    }
}

/* Returns the larger bound of the operators of the matrices that a job requests. */
static double largest_bound(const fmo_fock_job *job)
{
    return fmax(job->coulomb ? fmo_operator_bound(job->coulomb_operator) : 0.0,
                job->exchange ? fmo_operator_bound(job->exchange_operator) : 0.0);
}

/* Resets the profile, prepares the plans of the job and of its source for densities of this size
 * (pairs, and memory for matrices), and converts the densities. */
fmo_status fmo_build_begin(const fmo_fock_job *const *jobs, int num, double largest, fmo_error *err)
{
    fmo_fock_plan *const plan = jobs[0]->plan, *const owner = fmo_build_owner(jobs[0]);
    fmo_fock_plan *const plans[] = {plan, owner};
    fmo_fock_profile *const profile = &plan->profile;
    fmo_plan_matrices *const m = &plan->matrices;
    const size_t n = (size_t)plan->basis->function_num;
    fmo_status status = FMO_OK;
    int parts = 0;
    if (plan->mode->start) largest *= fmax(1.0, largest_bound(jobs[0]));
    for (int d = 0; d < num; d++) parts += fmo_build_parts(jobs[d]);
    plan->begun = fmo_now();
    memset(profile->classes, 0, sizeof profile->classes);
    profile->screening_seconds = profile->reduce_seconds = profile->far_seconds = NAN;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        profile->classes[c].seconds = profile->classes[c].compute_seconds = NAN;
    profile->transfer_seconds = profile->gpu_seconds = NAN;
    for (int k = 0; k < FMO_DEVICES_MAX; k++) profile->device_seconds[k] = NAN;
    profile->densities = num;
    for (int k = 0; k < (owner != plan ? 2 : 1) && status == FMO_OK; k++) {
        plans[k]->density_largest = largest;
        if (plan->mode->needs_pairs && largest > plans[k]->density_limit)
            status = fmo_plan_make_pairs(plans[k], largest, err);
        if (status == FMO_OK && plan->mode->build && parts > plans[k]->matrices.capacity &&
            !fmo_plan_make_matrices(plans[k], parts))
            status =
                fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d densities of %d functions",
                              parts, plans[k]->basis->ao_num);
    }
    if (status != FMO_OK || !plan->mode->build) return status;
    order_densities(owner, jobs, num);
    m->num = parts;
    m->requested = fmo_build_requested(jobs[0]);
    m->coulomb_operator = fmo_operator_given(jobs[0]->coulomb_operator);
    m->exchange_operator = fmo_operator_given(jobs[0]->exchange_operator);
    m->given = jobs[0]->density;
    memset(m->coulomb, 0, (size_t)parts * n * n * sizeof *m->coulomb);
    memset(m->exchange, 0, (size_t)parts * n * n * sizeof *m->exchange);
    return FMO_OK;
}

/* Copies J and K of a job to the caller; `at` is the number of its first density. The densities are
 * not needed any more, and their memory takes K of an antisymmetric part. */
static void give_matrices(const fmo_fock_job *job, int at)
{
    const fmo_fock_plan *const plan = job->plan;
    const fmo_plan_matrices *const m = &plan->matrices;
    const size_t n = (size_t)plan->basis->function_num, ao = (size_t)plan->basis->ao_num;
    const size_t first = (size_t)at * n * n;
    if (job->coulomb && job->symmetry == FMO_ANTISYMMETRIC)
        memset(job->coulomb, 0, ao * ao * sizeof *job->coulomb);
    else if (job->coulomb)
        fmo_basis_matrix_to_caller(plan->basis, m->coulomb + first, FMO_DIGEST_FINAL_J,
                                   FMO_SYMMETRIC_PART, job->coulomb);
    if (!job->exchange) return;
    fmo_basis_matrix_to_caller(plan->basis, m->exchange + first, FMO_DIGEST_FINAL_K, m->part[at],
                               job->exchange);
    if (fmo_build_parts(job) == 1) return;
    fmo_basis_matrix_to_caller(plan->basis, m->exchange + first + n * n, FMO_DIGEST_FINAL_K,
                               FMO_ANTISYMMETRIC_PART, m->density);
    for (size_t x = 0; x < ao * ao; x++) job->exchange[x] += m->density[x];
}

void fmo_build_end(const fmo_fock_job *const *jobs, int num)
{
    fmo_fock_plan *const plan = jobs[0]->plan;
    for (int d = 0, at = 0; d < num && plan->mode->build; at += fmo_build_parts(jobs[d++]))
        give_matrices(jobs[d], at);
    if (plan->shared.coulomb) {
        const size_t bytes = fmo_plan_matrix_bytes(plan);
        if (jobs[0]->coulomb) fmo_plan_copy(plan, jobs[0]->coulomb, plan->shared.coulomb, bytes);
        if (jobs[0]->exchange) fmo_plan_copy(plan, jobs[0]->exchange, plan->shared.exchange, bytes);
    } else if (plan->mode->copy_result) {
        for (int d = 0; d < num; d++)
            plan->mode->copy_result(plan, d, jobs[d]->coulomb, jobs[d]->exchange);
    }
    plan->profile.seconds = fmo_now() - plan->begun;
    plan->built = 1;
}

/* Runs the measurements that the options request; their time is not counted in the build's. */
static fmo_status measure(fmo_fock_plan *plan, fmo_error *err)
{
    const fmo_fock_options *o = &plan->options;
    if (!plan->mode->measure || !(o->measure_classes || o->measure_accumulation)) return FMO_OK;
    const double built = fmo_now();
    const fmo_status status = plan->mode->measure(plan, err);
    plan->begun += fmo_now() - built;
    return status;
}

/* Counts the quartets between two plans that screening removed. */
static void count_between(fmo_fock_plan *plan, const fmo_fock_plan *source)
{
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++) {
        const int bra = fmo_eri_class_bra(c), ket = fmo_eri_class_ket(c);
        fmo_class_profile *p = &plan->profile.classes[c];
        p->quartets_skipped =
            (int64_t)plan->pairs.list[bra].all * source->pairs.list[ket].all - p->quartets;
        if (bra != ket)
            p->quartets_skipped += (int64_t)plan->pairs.list[ket].all * source->pairs.list[bra].all;
    }
}

/* Runs a rank's share of the work or all of it; on rank 0 the results of all ranks are then in
 * place of its own. */
fmo_status fmo_build(const fmo_fock_job *const *jobs, int num, double largest, fmo_error *err)
{
    fmo_fock_plan *const plan = jobs[0]->plan, *const owner = fmo_build_owner(jobs[0]);
    const fmo_ranks *const ranks = plan->shared.ranks;
    const int requested = fmo_build_requested(jobs[0]);
    fmo_error own = {FMO_OK, ""}; /* other ranks need the message even if the caller does not */
    fmo_status status = fmo_build_begin(jobs, num, largest, &own);
    if (status == FMO_OK && plan->mode->build) {
        status = plan->mode->build(plan, owner != plan ? owner : NULL, &own);
    } else if (status == FMO_OK) {
        fmo_start how = {.on_device = 0};
        status = plan->mode->start(jobs, 1, &how, &own);
        if (status == FMO_OK) status = plan->mode->finish(plan, &own);
        if (status == FMO_OK && ranks)
            plan->mode->copy_result(plan, 0, requested & FMO_TERMS_J ? plan->shared.coulomb : NULL,
                                    requested & FMO_TERMS_K ? plan->shared.exchange : NULL);
    }
    if (ranks) status = fmo_ranks_end_build(plan, requested, status, &own);
    if (status == FMO_OK && owner == plan && !ranks) status = measure(plan, &own);
    if (status != FMO_OK) return fmo_error_set(err, status, "%s", own.message);
    if (owner != plan) count_between(plan, owner);
    if (!ranks || ranks->rank == 0) fmo_build_end(jobs, num);
    return FMO_OK;
}

fmo_status fmo_build_shared(const fmo_fock_job *job, double largest, fmo_error *err)
{
    fmo_fock_job part[2] = {*job, *job};
    const int two = job->plan->mode->build && job->coulomb && job->exchange &&
                    !fmo_operator_same(job->coulomb_operator, job->exchange_operator);
    fmo_status status = FMO_OK;
    if (two) part[0].coulomb = part[1].exchange = NULL;
    for (int k = 0; k <= two && status == FMO_OK; k++) {
        const fmo_fock_job *const jobs[] = {&part[k]};
        status = fmo_ranks_begin_build(&part[k], largest, err);
        if (status == FMO_OK) status = fmo_build(jobs, 1, largest, err);
    }
    return status;
}

/* The error of a second call while a first one uses the plan. */
static fmo_status in_use(const char *call, fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_ARGUMENT,
                         "%s: another thread is building with this plan: make a plan for each "
                         "thread",
                         call);
}

/* The error of a call without an output. */
static fmo_status no_output(const char *call, fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_ARGUMENT,
                         "%s: coulomb and exchange are NULL: give one of them", call);
}

/* Checks arguments and density, and builds. Ranks that share the plan get the density first. */
fmo_status fmo_fock_build(fmo_fock_plan *plan, const double *density, double *coulomb,
                          double *exchange, fmo_error *err)
{
    const fmo_fock_job job = {
        .plan = plan, .density = density, .coulomb = coulomb, .exchange = exchange};
    const fmo_fock_job *const jobs[] = {&job};
    double largest = 0.0;
    const size_t bytes = plan ? fmo_plan_matrix_bytes(plan) : 0;
    fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_fock_build", err, FMO_GIVEN(plan), FMO_READ(density, bytes),
                            FMO_MAY_WRITE(coulomb, bytes), FMO_MAY_WRITE(exchange, bytes));
    if (status != FMO_OK) return status;
    if (!coulomb && !exchange) return no_output("fmo_fock_build", err);
    if (!fmo_plan_enter(plan)) return in_use("fmo_fock_build", err);
    status = fmo_build_check(&job, &largest, err);
    if (status == FMO_OK)
        status = plan->shared.ranks ? fmo_build_shared(&job, largest, err)
                                    : fmo_build(jobs, 1, largest, err);
    fmo_plan_leave(plan);
    return status;
}

/* Queues one build with matrices in GPU memory. */
fmo_status fmo_fock_build_device(fmo_fock_plan *plan, const double *density, double *coulomb,
                                 double *exchange, fmo_error *err)
{
    const size_t bytes = plan ? fmo_plan_matrix_bytes(plan) : 0;
    fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_fock_build_device", err, FMO_GIVEN(plan), FMO_READ(density, bytes),
                            FMO_MAY_WRITE(coulomb, bytes), FMO_MAY_WRITE(exchange, bytes));
    if (status != FMO_OK) return status;
    if (!coulomb && !exchange) return no_output("fmo_fock_build_device", err);
    if (plan->shared.ranks)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_build_device: the plan is shared by ranks: give matrices on "
                             "the host");
    if (!plan->mode->start)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_build_device: the plan's mode is %s, expected fused",
                             fmo_mode_name(plan->options.mode));
    if (!fmo_plan_enter(plan)) return in_use("fmo_fock_build_device", err);
    const fmo_fock_job job = {
        .plan = plan, .density = density, .coulomb = coulomb, .exchange = exchange};
    const fmo_fock_job *const jobs[] = {&job};
    fmo_start how = {.on_device = 1, .lead = plan};
    status = plan->mode->start(jobs, 1, &how, err);
    fmo_plan_leave(plan);
    return status;
}
