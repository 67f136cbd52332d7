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

/* The modes that compute derivatives. */
static fmo_plan_gradient *const mode_gradient[FMO_MODE_COUNT] = {
    [FMO_MODE_CPU] = fmo_cpu_build_gradient, [FMO_MODE_FUSED] = fmo_fused_gradient};

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

/* Converts the densities to internal order and calls the mode. */
static fmo_status run(fmo_fock_plan *plan, const fmo_gradient_term *terms, int term_num,
                      double *gradient, fmo_error *err)
{
    const size_t n = (size_t)plan->basis->function_num;
    fmo_gradient_term *const internal = malloc((size_t)term_num * sizeof *internal);
    double *const density = malloc((size_t)term_num * n * n * sizeof *density);
    fmo_status status = FMO_ERR_MEMORY;
    if (internal && density) {
        for (int t = 0; t < term_num; t++) {
            double *const D = density + (size_t)t * n * n;
            fmo_basis_matrix_from_caller(plan->basis, terms[t].density, FMO_SYMMETRIC_PART, D);
            internal[t] = terms[t];
            internal[t].density = D;
        }
        status = mode_gradient[plan->options.mode](plan, internal, term_num, gradient, err);
    } else {
        fmo_error_set(err, status, "fmo_fock_gradient: no memory for %d densities of %d functions",
                      term_num, plan->basis->ao_num);
    }
    free(internal);
    free(density);
    return status;
}

/* Checks the arguments and densities, makes new pairs if a density has larger elements than those
 * of the plan allow, and computes the gradient in the plan's mode. */
fmo_status fmo_fock_gradient(fmo_fock_plan *plan, const fmo_gradient_term *terms, int term_num,
                             double *gradient, fmo_error *err)
{
    const size_t num = term_num > 0 ? (size_t)term_num : 0;
    double largest = 0.0;
    fmo_status status = FMO_CHECK_ARGUMENTS(
        "fmo_fock_gradient", err, FMO_GIVEN(plan), FMO_READ(terms, num * sizeof *terms),
        FMO_WRITTEN(gradient, plan ? (size_t)plan->basis->nucleus_num * 3 * sizeof *gradient : 0));
    if (status != FMO_OK) return status;
    if (term_num < 1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_gradient: term_num = %d: expected at least 1", term_num);
    if (!mode_gradient[plan->options.mode])
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "fmo_fock_gradient with a plan of mode %s: use mode cpu or fused",
                             fmo_mode_name(plan->options.mode));
    const int high_l = fmo_basis_shell_from(plan->basis, FMO_UNROLLED_ANG_MOM_MAX + 1);
    if (plan->options.mode == FMO_MODE_FUSED && high_l > 0)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "fmo_fock_gradient: mode fused has no derivatives of %c shells, which "
                             "the basis has: use a plan of mode cpu",
                             fmo_shell_letter(high_l));
    if (plan->shares > 1)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "fmo_fock_gradient with a plan that does a share of the work: use a "
                             "plan that does all of it");
    if (!fmo_plan_enter(plan))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_gradient: another thread is building with this plan: make a "
                             "plan for each thread");
    const int built = plan->built; /* the checks of densities reset it; the profile stays valid */
    for (int t = 0; t < term_num && status == FMO_OK; t++)
        status = check_term(plan, &terms[t], t, gradient, &largest, err);
    if (status == FMO_OK && largest > plan->density_limit)
        status = fmo_plan_make_pairs(plan, largest, err);
    plan->density_largest = largest;
    if (status == FMO_OK && plan->options.mode == FMO_MODE_FUSED)
        status = fmo_fused_gradient(plan, terms, term_num, gradient, err);
    else if (status == FMO_OK)
        status = run(plan, terms, term_num, gradient, err);
    plan->built = built;
    fmo_plan_leave(plan);
    return status;
}

fmo_status fmo_fock_gradient_batch(fmo_gradient_job *jobs, size_t count, fmo_error *err)
{
    fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_fock_gradient_batch", err, FMO_READ(jobs, count * sizeof *jobs));
    if (status != FMO_OK) return status;
    for (size_t k = 0; k < count; k++) {
        fmo_gradient_job *const job = &jobs[k];
        fmo_error own = {FMO_OK, ""};
        job->status = fmo_fock_gradient(job->plan, job->terms, job->term_num, job->gradient, &own);
        if (job->err) *job->err = own;
        if (status == FMO_OK && job->status != FMO_OK)
            status = fmo_error_set(err, job->status, "job %zu: %s", k, own.message);
    }
    return status;
}
