/* The public call for derivatives of two-electron energies: checks its arguments, prepares the plan
 * for the densities, and calls the mode. See plan.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/plan/gradient.h"
#include "accumulate/plan/plan.h"
#include "base/arguments.h"
#include "integrals/shell_from.h"

/* Checks weight, operators and density of term t; *largest becomes the largest density element so
 * far. */
static fmo_status check_term(fmo_fock_plan *plan, const fmo_gradient_term *term, int t,
                             double *gradient, double *largest, fmo_error *err)
{
    char name[48];
    double own = 0.0;
    const fmo_fock_job job = {.plan = plan,
                              .density = term->density,
                              .coulomb_operator = term->coulomb_operator,
                              .exchange_operator = term->exchange_operator};
    fmo_error why = {FMO_OK, ""};
    snprintf(name, sizeof name, "terms[%d].density", t);
    const fmo_argument arrays[] = {
        {name, term->density, fmo_plan_matrix_bytes(plan), 0},
        FMO_WRITTEN(gradient, (size_t)plan->basis->nucleus_num * 3 * sizeof *gradient)};
    fmo_status status = fmo_arguments_check("fmo_fock_gradient", arrays, 2, err);
    if (status != FMO_OK) return status;
    if (!isfinite(term->coulomb_weight) || !isfinite(term->exchange_weight))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_gradient: terms[%d] has the weights %g and %g: expected "
                             "finite numbers",
                             t, term->coulomb_weight, term->exchange_weight);
    status = fmo_build_check_request(&job, &why);
    if (status == FMO_OK) status = fmo_build_check(&job, &own, &why);
    if (status != FMO_OK)
        return fmo_error_set(err, status, "fmo_fock_gradient: terms[%d]: %s", t, why.message);
    *largest = fmax(*largest, own);
    return FMO_OK;
}

/* Converts the densities to internal order and computes the gradient in mode cpu. */
static fmo_status run_on_cpu(const fmo_gradient_job *job, fmo_error *err)
{
    fmo_fock_plan *const plan = job->plan;
    const size_t n = (size_t)plan->basis->function_num, num = (size_t)job->term_num;
    fmo_gradient_term *const internal = malloc(num * sizeof *internal);
    double *const density = malloc(num * n * n * sizeof *density);
    fmo_status status = FMO_ERR_MEMORY;
    if (internal && density) {
        for (size_t t = 0; t < num; t++) {
            double *const D = density + t * n * n;
            fmo_basis_matrix_from_caller(plan->basis, job->terms[t].density, FMO_SYMMETRIC_PART, D);
            internal[t] = job->terms[t];
            internal[t].density = D;
        }
        status = fmo_cpu_build_gradient(plan, internal, job->term_num, job->gradient, err);
    } else {
        fmo_error_set(err, status, "fmo_fock_gradient: no memory for %d densities of %d functions",
                      job->term_num, plan->basis->ao_num);
    }
    free(internal);
    free(density);
    return status;
}

/* Checks that the plan can compute derivatives. */
static fmo_status check_plan(const fmo_fock_plan *plan, fmo_error *err)
{
    const fmo_mode mode = plan->options.mode;
    if (mode != FMO_MODE_CPU && mode != FMO_MODE_FUSED)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "fmo_fock_gradient with a plan of mode %s: use mode cpu or fused",
                             fmo_mode_name(mode));
    const int high_l = fmo_basis_shell_from(plan->basis, FMO_GPU_ANG_MOM_MAX + 1);
    if (mode == FMO_MODE_FUSED && high_l > 0)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "fmo_fock_gradient: mode fused has no derivatives of %c shells, which "
                             "the basis has: use a plan of mode cpu",
                             fmo_shell_letter(high_l));
    if (plan->shares > 1)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "fmo_fock_gradient with a plan that does a share of the work: use a "
                             "plan that does all of it");
    return FMO_OK;
}

/* Checks the arguments and densities, reserves the plan, and makes new pairs if a density has
 * larger elements than those of the plan allow. The plan stays reserved if FMO_OK is returned. */
static fmo_status begin(const fmo_gradient_job *job, fmo_error *err)
{
    fmo_fock_plan *const plan = job->plan;
    const fmo_gradient_term *const terms = job->terms;
    double *const gradient = job->gradient;
    const size_t num = job->term_num > 0 ? (size_t)job->term_num : 0;
    double largest = 0.0;
    const size_t bytes = plan ? (size_t)plan->basis->nucleus_num * 3 * sizeof *gradient : 0;
    fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_fock_gradient", err, FMO_GIVEN(plan),
                            FMO_READ(terms, num * sizeof *terms), FMO_WRITTEN(gradient, bytes));
    if (status != FMO_OK) return status;
    if (job->term_num < 1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_gradient: term_num = %d: expected at least 1",
                             job->term_num);
    status = check_plan(plan, err);
    if (status != FMO_OK) return status;
    if (!fmo_plan_enter(plan))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_gradient: another thread is building with this plan: make a "
                             "plan for each thread");
    const int built = plan->built; /* the checks of densities reset it; the profile stays valid */
    for (int t = 0; t < job->term_num && status == FMO_OK; t++)
        status = check_term(plan, &terms[t], t, gradient, &largest, err);
    if (status == FMO_OK && largest > plan->density_limit)
        status = fmo_plan_make_pairs(plan, largest, err);
    plan->density_largest = largest;
    plan->built = built;
    if (status != FMO_OK) fmo_plan_leave(plan);
    return status;
}

/* Computes the gradients of all jobs: those of mode fused together, after the others. errs:
 * [count], of each job. */
static fmo_status run_all(fmo_gradient_job *jobs, size_t count, fmo_error *errs)
{
    fmo_gradient_job **const fused = malloc((count + 1) * sizeof *fused);
    fmo_error **const fused_err = malloc((count + 1) * sizeof *fused_err);
    size_t num = 0;
    if (!fused || !fused_err) {
        free(fused);
        free(fused_err);
        return FMO_ERR_MEMORY;
    }
    for (size_t k = 0; k < count; k++) {
        errs[k] = (fmo_error){FMO_OK, ""};
        if (begin(&jobs[k], &errs[k]) != FMO_OK) continue;
        if (jobs[k].plan->options.mode == FMO_MODE_FUSED) {
            fused_err[num] = &errs[k];
            fused[num++] = &jobs[k];
            continue;
        }
        (void)run_on_cpu(&jobs[k], &errs[k]);
        fmo_plan_leave(jobs[k].plan);
    }
    if (num) fmo_fused_gradients(fused, num, fused_err);
    for (size_t k = 0; k < num; k++) fmo_plan_leave(fused[k]->plan);
    free(fused);
    free(fused_err);
    return FMO_OK;
}

fmo_status fmo_fock_gradient(fmo_fock_plan *plan, const fmo_gradient_term *terms, int term_num,
                             double *gradient, fmo_error *err)
{
    fmo_gradient_job job = {plan, terms, term_num, gradient, FMO_OK, NULL};
    fmo_error own;
    if (run_all(&job, 1, &own) != FMO_OK)
        return fmo_error_set(err, FMO_ERR_MEMORY, "fmo_fock_gradient: no memory");
    return own.status == FMO_OK ? FMO_OK : fmo_error_set(err, own.status, "%s", own.message);
}

/* Computes all gradients, and gives the first error. */
fmo_status fmo_fock_gradient_batch(fmo_gradient_job *jobs, size_t count, fmo_error *err)
{
    fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_fock_gradient_batch", err, FMO_READ(jobs, count * sizeof *jobs));
    if (status != FMO_OK) return status;
    fmo_error *const own = malloc((count + 1) * sizeof *own);
    const int done = own && run_all(jobs, count, own) == FMO_OK;
    for (size_t k = 0; k < count; k++) {
        fmo_error failure = {FMO_OK, ""};
        if (!done)
            fmo_error_set(&failure, FMO_ERR_MEMORY, "no memory for %zu gradients", count);
        else
            failure = own[k];
        jobs[k].status = failure.status;
        if (jobs[k].err) *jobs[k].err = failure;
        if (status == FMO_OK && failure.status != FMO_OK)
            status = fmo_error_set(err, failure.status, "job %zu: %s", k, failure.message);
    }
    free(own);
    return status;
}
