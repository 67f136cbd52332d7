/* The result of an SCF: allocation, contents copied from the state, verdict in words, release. */
#include "driver/scf/scf_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fmo_scf_result_destroy(fmo_scf_result *r)
{
    if (!r) return;
    free(r->coefficient);
    free(r->orbital_energy);
    free(r->occupation);
    free(r->density);
    free(r->fock);
    free(r->overlap);
    free(r->core_hamiltonian);
    free(r);
}

/* Allocates a result with zeros in its arrays and NaN in its energies. */
fmo_scf_result *fmo_scf_new_result(int nao)
{
    const size_t n = (size_t)nao;
    fmo_scf_result *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->nao = nao;
    r->energy = r->two_electron_energy = r->energy_change = r->gradient = r->energy_error =
        r->homo = r->lumo = r->hessian_lowest = NAN;
    r->coefficient = calloc(n * n, sizeof(double));
    r->orbital_energy = calloc(n, sizeof(double));
    r->occupation = calloc(n, sizeof(double));
    r->density = calloc(n * n, sizeof(double));
    r->fock = calloc(n * n, sizeof(double));
    r->overlap = calloc(n * n, sizeof(double));
    r->core_hamiltonian = calloc(n * n, sizeof(double));
    if (r->coefficient && r->orbital_energy && r->occupation && r->density && r->fock &&
        r->overlap && r->core_hamiltonian)
        return r;
    fmo_scf_result_destroy(r);
    return NULL;
}

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

int fmo_scf_stays_unstable(const fmo_scf_options *o, const fmo_scf_result *r)
{
    return r->converged && r->hessian_lowest < FMO_SCF_UNSTABLE &&
           o->stability == FMO_SCF_STABILITY_FOLLOW;
}

/* Writes advice for an SCF that has not converged, "first, ... or ...", according to its
 * options. */
static void advise(const fmo_scf_options *o, const char *first, size_t size, char *text)
{
    char shift[48] = "a level shift of 0.3";
    if (o->level_shift > 0.0)
        snprintf(shift, sizeof shift, "another level shift than %g", o->level_shift);
    snprintf(text, size, "%s%s%s%s may help", first, o->guess_is_fixed ? " or " : ", ", shift,
             o->guess_is_fixed ? "" : " or another guess");
}

/* Writes the verdict: converged, unstable, stopped, alternating densities, or not converged with
 * advice. */
void fmo_scf_give_verdict(const fmo_scf_options *o, fmo_scf_result *r)
{
    char advice[112];
    if (fmo_scf_stays_unstable(o, r))
        snprintf(r->verdict, sizeof r->verdict,
                 "converged in %d cycles to an unstable solution: lowest eigenvalue of the orbital "
                 "Hessian %.1e; no stable solution found by following it %d time%s",
                 r->cycles, r->hessian_lowest, r->descents, r->descents == 1 ? "" : "s");
    else if (r->converged && r->hessian_lowest < FMO_SCF_UNSTABLE)
        snprintf(r->verdict, sizeof r->verdict,
                 "converged in %d cycles to an unstable solution: lowest eigenvalue of the orbital "
                 "Hessian %.1e; follow it to a lower one",
                 r->cycles, r->hessian_lowest);
    else if (r->converged && r->descents)
        snprintf(r->verdict, sizeof r->verdict,
                 "converged in %d cycles, after following %d unstable direction%s", r->cycles,
                 r->descents, r->descents == 1 ? "" : "s");
    else if (r->converged)
        snprintf(r->verdict, sizeof r->verdict, "converged in %d cycles", r->cycles);
    else if (!isfinite(r->energy) || !isfinite(r->gradient))
        snprintf(r->verdict, sizeof r->verdict,
                 "stopped in cycle %d: the energy is not a finite number", r->cycles);
    else if (r->gradient < o->gradient_convergence &&
             fabs(r->energy_change) < o->energy_convergence) {
        advise(o, "other distances", sizeof advice, advice);
        snprintf(r->verdict, sizeof r->verdict,
                 "not converged in %d cycles: in each cycle electrons move between equivalent "
                 "centres that are far apart; %s",
                 r->cycles, advice);
    } else {
        char change[12] = "not known";
        if (isfinite(r->energy_change)) snprintf(change, sizeof change, "%.1e", r->energy_change);
        char loose[72] =
            ""; /* the error of builds then exceeds the requested accuracy of the energy */
        if (o->fock.cutoff > o->energy_convergence)
            snprintf(loose, sizeof loose, ", or a cutoff of less than %g (default %g)",
                     o->fock.cutoff, FMO_SCF_CUTOFF);
        advise(o, "more cycles", sizeof advice, advice);
        snprintf(r->verdict, sizeof r->verdict,
                 "not converged in %d cycle%s: energy change %s (wanted %.0e), gradient %.1e "
                 "(wanted %.0e); %s%s",
                 r->cycles, r->cycles == 1 ? "" : "s", change, o->energy_convergence, r->gradient,
                 o->gradient_convergence, advice, loose);
    }
}

double fmo_scf_expectation(size_t size, const double *density, const double *M)
{
    double sum = 0.0;
    for (size_t i = 0; M && i < size; i++) sum += density[i] * M[i];
    return sum;
}

/* Copies the orbitals, their energies and occupations into the result. */
static void collect_orbitals(fmo_scf_state *s, fmo_scf_result *r)
{
    const fmo_linalg_ops *op = s->la->ops;
    op->multiply(s->la, 1.0, fmo_matrix_of(s->X, s->n, s->m),
                 fmo_matrix_of(s->orbitals, s->m, s->m), 0.0, s->work);
    op->download(s->la, (size_t)s->n * (size_t)s->m, s->work, r->coefficient);
    for (int k = 0; k < s->m; k++) {
        r->orbital_energy[k] = s->orbital_energy[k];
        r->occupation[k] = k < s->occupied ? 2.0 : 0.0;
    }
    r->homo = s->orbital_energy[s->occupied - 1];
    r->lumo = s->occupied < s->m ? s->orbital_energy[s->occupied] : NAN;
}

/* Arguments of weigh, which sums energies and matrices on the host. */
typedef struct weighing {
    const fmo_scf_input *in;
    fmo_scf_result *r;
    int projected; /* 1: the matrices do not contain the projector yet */
} weighing;

static void weigh(void *user)
{
    const weighing *const w = user;
    fmo_scf_result *const r = w->r;
    const size_t n = (size_t)r->nao;
    r->field_energy = fmo_scf_expectation(n * n, r->density, w->in->field);
    if (w->projected) {
        fmo_scf_add_matrix(n, w->in->projector, r->core_hamiltonian);
        fmo_scf_add_matrix(n, w->in->projector, r->fock);
    } else {
        r->projector_energy = fmo_scf_expectation(n * n, r->density, w->in->projector);
    }
}

void fmo_scf_collect(fmo_scf_state *s, const fmo_scf_input *in, const fmo_scf_options *o,
                     fmo_scf_result *r)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t n = (size_t)s->n;
    r->mo_num = s->m;
    if (fmo_scf_wants_orbitals(o)) collect_orbitals(s, r);
    op->download(s->la, n * n, s->density, r->density);
    op->download(s->la, n * n, s->fock, r->fock);
    weighing w = {in, r, s->projected.num > 0};
    r->projector_energy = fmo_scf_projected_energy(s);
    op->on_host(s->la, weigh, &w);
    r->two_electron_energy = s->two_electron_energy;
    fmo_scf_take_profile(s, r);
}
