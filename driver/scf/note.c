/* What a cycle enters into the result of its SCF, and its report to the caller: the same for the
 * cycles of DIIS (cycle.c) and of the Newton solver (newton.c). */
#include "driver/base/clock.h"
#include "driver/scf/scf_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Cycles towards gradient_aim continue while the gradient is at most this fraction of the previous
 * one. */
static const double gradient_ratio_max = 0.5;

void fmo_scf_take_profile(const fmo_scf_state *s, fmo_scf_result *r)
{
    if (fmo_fock_plan_profile(s->plan, &r->fock_profile, NULL) != FMO_OK) {
        memset(&r->fock_profile, 0, sizeof r->fock_profile); /* device builds have no profile */
        r->fock_profile.threads = 1;
        r->fock_profile.coulomb = FMO_COULOMB_DIRECT;
        r->fock_profile.far_seconds = NAN;
        r->fock_profile.devices = s->devices;
    }
    snprintf(r->fock_profile.device, sizeof r->fock_profile.device, "%s",
             s->la->device[0] ? s->la->device : r->fock_profile.device);
    snprintf(r->fock_profile.mode_reason, sizeof r->fock_profile.mode_reason, "%s", s->mode_reason);
    r->fock_profile.mode = r->mode;
}

fmo_scf_cycle fmo_scf_begin_cycle(const fmo_scf_state *s, fmo_scf_how how)
{
    return (fmo_scf_cycle){.job = s->job,
                           .full_build = how == FMO_SCF_FULL,
                           .builds = s->builds,
                           .fock_seconds = s->fock_seconds,
                           .solve_seconds = s->solve_seconds};
}

int fmo_scf_note_cycle(fmo_scf_result *r, const fmo_scf_options *o, fmo_scf_error_ratio *ratio,
                       int first, double energy, double gradient)
{
    const double change = first ? NAN : energy - r->energy;
    const double before = first ? INFINITY : r->gradient;
    /* with a level shift the energy falls more slowly */
    if (!(o->level_shift > 0.0)) fmo_scf_error_ratio_update(ratio, before, change);
    r->cycles++;
    r->energy = energy;
    r->energy_change = change;
    r->gradient = gradient;
    r->energy_error = fmo_scf_energy_error(ratio, gradient);
    const int within = fmo_scf_within_thresholds(energy, change, r->energy_error, gradient,
                                                 o->energy_convergence, o->gradient_convergence);
    const double aim = fmo_scf_aim(o);
    const int no_better =
        gradient > gradient_ratio_max * before || gradient < aim || r->cycles == o->max_cycles;
    return !within ? 0 : aim <= 0.0 || no_better ? 2 : 1;
}

void fmo_scf_report_cycle(const fmo_scf_state *s, const fmo_scf_options *o, fmo_scf_result *r,
                          fmo_scf_cycle cycle, double start)
{
    if (!o->callback) return;
    fmo_scf_take_profile(s, r);
    cycle.cycle = r->cycles;
    cycle.energy = r->energy;
    cycle.energy_change = r->energy_change;
    cycle.gradient = r->gradient;
    cycle.converged = r->converged;
    cycle.so_far = r;
    cycle.builds = s->builds - cycle.builds;
    cycle.fock_seconds = s->fock_seconds - cycle.fock_seconds;
    cycle.solve_seconds = s->solve_seconds - cycle.solve_seconds;
    cycle.other_seconds = driver_seconds() - start - cycle.fock_seconds - cycle.solve_seconds;
    o->callback(&cycle, o->user);
}

fmo_status fmo_scf_may_go_on(const fmo_scf_result *r, const fmo_scf_options *o, fmo_error *err)
{
    if (!isfinite(r->energy) || !isfinite(r->gradient))
        return fmo_error_set(err, FMO_ERR_CHECK, "the energy of cycle %d is not a finite number",
                             r->cycles);
    if (o->stop && *o->stop && !o->fock.ranks && !o->deal)
        return fmo_error_set(err, FMO_ERR_CHECK, "stopped by the caller after cycle %d", r->cycles);
    return FMO_OK;
}
