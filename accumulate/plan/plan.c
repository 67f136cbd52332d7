/* What the making of plans, builds and modes use of a plan: its memory, notes and progress, its
 * pairs, matrices and list of tasks. See plan.h. */
#include "accumulate/plan/plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/free_memory.h"
#include "integrals/tables.h"

void fmo_plan_progress(const fmo_fock_plan *plan, double fraction)
{
    if (plan->options.progress) plan->options.progress(fraction, plan->options.progress_user);
}

size_t fmo_plan_memory(const fmo_fock_plan *plan)
{
    if (plan->options.memory) return plan->options.memory;
    const fmo_ranks *ranks = plan->options.ranks; /* each rank of a host gets an equal share of its
                                                     free memory */
    return fmo_free_memory() / (ranks && ranks->node_size > 1 ? (size_t)ranks->node_size : 1);
}

void fmo_plan_note(fmo_fock_plan *plan, const char *format, ...)
{
    char *const notice = plan->profile.notice, text[sizeof plan->profile.notice];
    const size_t used = strlen(notice);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!strstr(notice, text))
        (void)snprintf(notice + used, sizeof plan->profile.notice - used, "%s%s", used ? "; " : "",
                       text);
}

int64_t fmo_plan_quartets(const fmo_fock_plan *plan, fmo_eri_class eri_class)
{
    const int bra = fmo_eri_class_bra(eri_class), ket = fmo_eri_class_ket(eri_class);
    const int64_t bras = plan->pairs.list[bra].all, kets = plan->pairs.list[ket].all;
    return bra == ket ? bras * (bras + 1) / 2 : bras * kets;
}

void fmo_plan_take_pairs(fmo_fock_plan *plan, const fmo_fock_plan *lead)
{
    plan->lead = lead;
    plan->pairs = lead->pairs;
    plan->density_limit = lead->density_limit;
}

/* Lets the mode process new pairs with the plan's own cutoff, even if a larger one is set now. */
static fmo_status new_pairs(fmo_fock_plan *plan, fmo_error *err)
{
    const double cutoff = plan->cutoff;
    plan->cutoff = plan->options.cutoff;
    const fmo_status status = plan->mode->new_pairs(plan, err);
    plan->cutoff = cutoff;
    return status;
}

/* Updates the plans of the other GPUs after the lead's pairs have been made again. */
static fmo_status renew_others(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_status status = FMO_OK;
    for (int k = 0; k < plan->others.num; k++) fmo_plan_take_pairs(plan->others.plan[k], plan);
    for (int k = 0; k < plan->others.num && status == FMO_OK; k++)
        status = new_pairs(plan->others.plan[k], err);
    return status == FMO_OK ? plan->mode->join(plan, err) : status;
}

fmo_status fmo_plan_make_pairs(fmo_fock_plan *plan, double largest, fmo_error *err)
{
    fmo_shell_pairs pairs;
    const double limit = largest > FMO_PRUNE_DENSITY ? 2.0 * largest : FMO_PRUNE_DENSITY;
    const double prune = plan->options.cutoff * FMO_PRUNE_SHARE * (FMO_PRUNE_DENSITY / limit);
    fmo_status status =
        plan->mode->makes_pairs
            ? fmo_sp_pairs_begin(plan->basis, prune, &pairs, err)
            : fmo_shell_pairs_make(plan->basis, prune, plan->options.threads, &pairs, err);
    if (status != FMO_OK) return status;
    fmo_shell_pairs_free(&plan->pairs);
    plan->pairs = pairs;
    plan->density_limit = limit;
    if ((plan->state || plan->gpu) && plan->mode->new_pairs) status = new_pairs(plan, err);
    return status == FMO_OK && plan->others.num ? renew_others(plan, err) : status;
}

/* Replaces the matrices by larger ones. */
int fmo_plan_make_matrices(fmo_fock_plan *plan, int densities)
{
    fmo_plan_matrices *const m = &plan->matrices;
    const size_t n = (size_t)plan->basis->function_num, ns = (size_t)plan->basis->shell_num;
    const size_t bytes = (size_t)densities * n * n * sizeof(double);
    m->capacity = 0;
    free(m->density);
    free(m->coulomb);
    free(m->exchange);
    m->density = malloc(bytes);
    m->coulomb = malloc(bytes);
    m->exchange = malloc(bytes);
    if (!m->density_max) m->density_max = malloc(ns * ns * sizeof *m->density_max);
    if (!m->row_max) m->row_max = malloc(ns * sizeof *m->row_max);
    if (!m->density || !m->coulomb || !m->exchange || !m->density_max || !m->row_max) return 0;
    m->capacity = densities;
    return 1;
}

fmo_status fmo_plan_make_work(const fmo_fock_plan *plan, const fmo_work_size *size, int steps,
                              fmo_work *work, fmo_error *err)
{
    fmo_work all;
    fmo_status status = fmo_work_all(size, &all, err);
    if (status == FMO_OK && plan->shares > 1) {
        status = (steps ? fmo_work_every : fmo_work_share)(&all, size, plan->share, plan->shares,
                                                           work, err);
        fmo_work_free(&all);
    } else if (status == FMO_OK && plan->shared.pieces > 0) {
        status = fmo_work_cut(&all, size, plan->shared.pieces, work, err);
        fmo_work_free(&all);
    } else {
        *work = all;
    }
    return status;
}

fmo_status fmo_fock_plan_loosen(fmo_fock_plan *plan, double cutoff, fmo_error *err)
{
    const fmo_status checked = FMO_CHECK_ARGUMENTS("fmo_fock_plan_loosen", err, FMO_GIVEN(plan));
    if (checked != FMO_OK) return checked;
    if (!(cutoff >= plan->options.cutoff && cutoff <= 1.0))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_plan_loosen: cutoff = %g: expected %g, the plan's, to 1",
                             cutoff, plan->options.cutoff);
    plan->cutoff = cutoff;
    for (int k = 0; k < plan->others.num; k++) plan->others.plan[k]->cutoff = cutoff;
    return FMO_OK;
}

fmo_status fmo_fock_plan_expect(fmo_fock_plan *plan, double largest, fmo_error *err)
{
    fmo_status status = FMO_CHECK_ARGUMENTS("fmo_fock_plan_expect", err, FMO_GIVEN(plan));
    if (status != FMO_OK) return status;
    if (!(largest >= 0.0) || !isfinite(largest))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_plan_expect: largest = %g: expected a finite number, at "
                             "least 0",
                             largest);
    if (!plan->mode->needs_pairs || largest <= plan->density_limit) return FMO_OK;
    if (!fmo_plan_enter(plan))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_plan_expect: another thread is building with this plan");
    status = fmo_plan_make_pairs(plan, largest, err);
    fmo_plan_leave(plan);
    return status;
}

int fmo_fock_plan_device(const fmo_fock_plan *plan)
{
    return plan && plan->gpu ? plan->options.device : -1;
}

fmo_status fmo_fock_plan_profile(const fmo_fock_plan *plan, fmo_fock_profile *profile,
                                 fmo_error *err)
{
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_fock_plan_profile", err, FMO_GIVEN(plan), FMO_GIVEN(profile));
    if (checked != FMO_OK) return checked;
    if (!plan->built)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fock_plan_profile: nothing has been built with this plan yet");
    *profile = plan->profile;
    return FMO_OK;
}
