/* One build: the density in, J and K out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/plan/plan.h"
#include "accumulate/rules/digest.h"
#include "integrals/arguments.h"
#include "integrals/tables.h"

/* Finite, symmetric; its largest element is noted. */
static fmo_status check_density(fmo_fock_plan *plan, const double *D, fmo_error *err)
{
    const size_t n = (size_t)plan->basis->ao_num;
    double largest = 0.0;
    for (size_t i = 0; i < n * n; i++) {
        if (!isfinite(D[i]))
            return fmo_error_set(err, FMO_ERR_INPUT, "density[%zu][%zu] = %g: not finite", i / n,
                                 i % n, D[i]);
        largest = fmax(largest, fabs(D[i]));
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (fabs(D[i * n + j] - D[j * n + i]) > 1e-10 * largest)
                return fmo_error_set(err, FMO_ERR_INPUT,
                                     "density[%zu][%zu] - density[%zu][%zu] = %g: expected a "
                                     "symmetric density",
                                     i, j, j, i, D[i * n + j] - D[j * n + i]);
    plan->density_largest = largest; /* factors are at most 1 */
    return FMO_OK;
}

/* The caller's density in internal order, with its block maxima. */
static void order_density(fmo_fock_plan *plan, const double *D)
{
    const fmo_basis *b = plan->basis;
    const size_t n = (size_t)b->ao_num, ns = (size_t)b->shell_num;
    for (size_t a = 0; a < n; a++) {
        const size_t p = (size_t)b->ao_caller[a];
        for (size_t c = 0; c < n; c++) {
            const size_t q = (size_t)b->ao_caller[c];
            plan->density[a * n + c] =
                b->ao_factor[a] * b->ao_factor[c] * (0.5 * D[p * n + q] + 0.5 * D[q * n + p]);
        }
    }
    plan->density_largest = 0.0;
    for (size_t s = 0; s < ns; s++) {
        plan->row_max[s] = 0.0;
        for (size_t t = 0; t < ns; t++) {
            const fmo_shell *A = &b->shell[s], *B = &b->shell[t];
            double block = 0.0;
            for (int x = 0; x < fmo_shell_functions(A->ang_mom); x++)
                for (int y = 0; y < fmo_shell_functions(B->ang_mom); y++)
                    block = fmax(block, fabs(plan->density[(size_t)(A->ao_begin + x) * n +
                                                           (size_t)(B->ao_begin + y)]));
            plan->density_max[s * ns + t] = block;
            plan->row_max[s] = fmax(plan->row_max[s], block);
        }
        plan->density_largest = fmax(plan->density_largest, plan->row_max[s]);
    }
}

fmo_status fmo_build_begin(fmo_fock_plan *plan, const double *density, fmo_error *err)
{
    const size_t n = (size_t)plan->basis->ao_num;
    plan->built = 0;
    plan->begun = fmo_now();
    memset(plan->profile.classes, 0, sizeof plan->profile.classes);
    plan->profile.screening_seconds = plan->profile.reduce_seconds = NAN;
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        plan->profile.classes[c].seconds = plan->profile.classes[c].compute_seconds = NAN;
    plan->profile.transfer_seconds = plan->profile.gpu_seconds = NAN;
    fmo_status status = check_density(plan, density, err);
    if (status == FMO_OK && plan->mode->needs_pairs && plan->density_largest > plan->density_limit)
        status = fmo_plan_make_pairs(plan, plan->density_largest, err);
    if (status == FMO_OK && plan->mode->build) {
        order_density(plan, density);
        memset(plan->coulomb, 0, n * n * sizeof *plan->coulomb);
        memset(plan->exchange, 0, n * n * sizeof *plan->exchange);
    }
    return status;
}

void fmo_build_end(fmo_fock_plan *plan, double *coulomb, double *exchange)
{
    if (plan->mode->build) {
        fmo_basis_matrix_to_caller(plan->basis, plan->coulomb, FMO_DIGEST_FINAL_J, coulomb);
        fmo_basis_matrix_to_caller(plan->basis, plan->exchange, FMO_DIGEST_FINAL_K, exchange);
    } else {
        plan->mode->give(plan, coulomb, exchange);
    }
    plan->profile.seconds = fmo_now() - plan->begun;
    plan->built = 1;
}

/* Measures, if that is wanted; the build's own time goes on as if nothing had happened. */
static fmo_status measure(fmo_fock_plan *plan, fmo_error *err)
{
    const fmo_fock_options *o = &plan->options;
    if (!plan->mode->measure || !(o->measure_classes || o->measure_accumulation)) return FMO_OK;
    const double built = fmo_now();
    const fmo_status status = plan->mode->measure(plan, err);
    plan->begun += fmo_now() - built;
    return status;
}

static fmo_status build(fmo_fock_plan *plan, const double *density, double *coulomb,
                        double *exchange, fmo_error *err)
{
    fmo_status status = fmo_build_begin(plan, density, err);
    if (status == FMO_OK && plan->mode->build) {
        status = plan->mode->build(plan, density, err);
    } else if (status == FMO_OK) {
        fmo_fock_job job = {.plan = plan, .density = density};
        fmo_fock_job *const jobs[] = {&job};
        fmo_start how = {.on_device = 0};
        status = plan->mode->start(jobs, 1, &how, err);
        if (status == FMO_OK) status = plan->mode->finish(plan, err);
    }
    if (status == FMO_OK) status = measure(plan, err);
    if (status == FMO_OK) fmo_build_end(plan, coulomb, exchange);
    return status;
}

/* What a second call says while the first one has the plan. */
static fmo_status in_use(const char *call, fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_ARGUMENT,
                         "%s: another thread is building with this plan: make a plan for each "
                         "thread",
                         call);
}

/* Plan and matrices: there, and apart from each other. */
static fmo_status check_matrices(const char *call, const fmo_fock_plan *plan, const double *density,
                                 const double *coulomb, const double *exchange, fmo_error *err)
{
    const size_t bytes = plan ? fmo_plan_matrix_bytes(plan) : 0;
    return FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(plan), FMO_READ(density, bytes),
                               FMO_WRITTEN(coulomb, bytes), FMO_WRITTEN(exchange, bytes));
}

fmo_status fmo_fock_build(fmo_fock_plan *plan, const double *density, double *coulomb,
                          double *exchange, fmo_error *err)
{
    fmo_status status = check_matrices("fmo_fock_build", plan, density, coulomb, exchange, err);
    if (status != FMO_OK) return status;
    if (!fmo_plan_enter(plan)) return in_use("fmo_fock_build", err);
    status = build(plan, density, coulomb, exchange, err);
    fmo_plan_leave(plan);
    return status;
}

fmo_status fmo_fock_build_device(fmo_fock_plan *plan, const double *density, double *coulomb,
                                 double *exchange, fmo_error *err)
{
    fmo_status status =
        check_matrices("fmo_fock_build_device", plan, density, coulomb, exchange, err);
    if (status != FMO_OK) return status;
    if (!plan->mode->start)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_build_device: the plan's mode is %s, expected fused",
                             fmo_mode_name(plan->options.mode));
    if (!fmo_plan_enter(plan)) return in_use("fmo_fock_build_device", err);
    fmo_fock_job job = {plan, density, coulomb, exchange, FMO_OK, NULL};
    fmo_fock_job *const jobs[] = {&job};
    fmo_start how = {.on_device = 1, .lead = plan};
    status = plan->mode->start(jobs, 1, &how, err);
    fmo_plan_leave(plan);
    return status;
}
