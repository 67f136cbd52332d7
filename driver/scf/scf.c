/* Runs one RHF, UHF or ROHF calculation on the matrices of a backend (linalg.h). The steps are in
 * start.c, cycle.c, newton.c and stability.c, the memory of its result in result.c. */
#include "base/arguments.h"
#include "driver/base/clock.h"
#include "driver/scf/criteria.h"
#include "driver/scf/input.h"
#include "driver/scf/scf_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns 1 if the SCF converged to an unstable solution although FOLLOW was requested. */
static int stays_unstable(const fmo_scf_options *o, const fmo_scf_result *r)
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
    char advice[112], by[80] = "", followed[64] = "";
    if (r->rescued) snprintf(by, sizeof by, ", by the Newton solver where DIIS did not converge");
    if (r->descents)
        snprintf(followed, sizeof followed, ", after following %d unstable direction%s",
                 r->descents, r->descents == 1 ? "" : "s");
    if (stays_unstable(o, r))
        snprintf(r->verdict, sizeof r->verdict,
                 "converged in %d cycles to an unstable solution: lowest eigenvalue of the orbital "
                 "Hessian %.1e; no stable solution found by following it %d time%s",
                 r->cycles, r->hessian_lowest, r->descents, r->descents == 1 ? "" : "s");
    else if (r->converged && r->hessian_lowest < FMO_SCF_UNSTABLE)
        snprintf(r->verdict, sizeof r->verdict,
                 "converged in %d cycles to an unstable solution: lowest eigenvalue of the orbital "
                 "Hessian %.1e; follow it to a lower one",
                 r->cycles, r->hessian_lowest);
    else if (r->converged)
        snprintf(r->verdict, sizeof r->verdict, "converged in %d cycles%s%s", r->cycles, by,
                 followed);
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
                 "not converged in %d cycle%s: energy change %s (threshold %.0e), gradient %.1e "
                 "(threshold %.0e); %s%s",
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

/* Sorts the orbitals of a result of ROHF by energy: an open one may be above a virtual one. */
static void sort_orbitals(void *user)
{
    fmo_scf_sort_orbitals(user);
}

/* Copies the orbitals of a channel, their energies and occupations into arrays of the result. */
static void collect_channel(fmo_scf_state *s, int channel, double *coefficient, double *energy,
                            double *occupation)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t mm = (size_t)s->m * (size_t)s->m;
    const double *const C = s->orbitals + (size_t)channel * mm;
    op->multiply(s->la, 1.0, fmo_matrix_of(s->X, s->n, s->m), fmo_matrix_of(C, s->m, s->m), 0.0,
                 s->work);
    op->download(s->la, (size_t)s->n * (size_t)s->m, s->work, coefficient);
    for (int k = 0; k < s->m; k++) {
        energy[k] = s->orbital_energy[(size_t)channel * (size_t)s->n + (size_t)k];
        occupation[k] = k < s->occupied[channel] ? 2.0 / s->channels : 0.0;
        if (s->restricted) occupation[k] += k < s->occupied[1] ? 1.0 : 0.0;
    }
}

/* Copies all orbitals, and finds the highest occupied and the lowest virtual one. */
static void collect_orbitals(fmo_scf_state *s, fmo_scf_result *r)
{
    collect_channel(s, 0, r->coefficient, r->orbital_energy, r->occupation);
    if (s->restricted)
        s->la->ops->on_host(s->la, sort_orbitals, r);
    else if (s->channels > 1)
        collect_channel(s, 1, r->coefficient_beta, r->orbital_energy_beta, r->occupation_beta);
    r->homo = r->lumo = NAN;
    for (int c = 0; c < s->channels; c++) {
        const double *const energy = s->orbital_energy + (size_t)c * (size_t)s->n;
        for (int k = 0; k < s->m; k++) { /* fmin and fmax of NaN: the other */
            const int occupied = s->occupied[s->restricted ? 0 : c];
            if (k < occupied)
                r->homo = fmax(r->homo, energy[k]);
            else
                r->lumo = fmin(r->lumo, energy[k]);
        }
    }
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
    for (size_t k = 0; k < n * n && r->spin_density; k++) { /* D of either spin, times 2 */
        const double alpha = r->density[k], beta = r->spin_density[k];
        r->density[k] = 0.5 * (alpha + beta);
        r->spin_density[k] = 0.5 * (alpha - beta);
    }
    r->field_energy = fmo_scf_expectation(n * n, r->density, w->in->field);
    if (w->projected) {
        fmo_scf_add_matrix(n, w->in->projector, r->core_hamiltonian);
        fmo_scf_add_matrix(n, w->in->projector, r->fock);
    } else {
        r->projector_energy = fmo_scf_expectation(n * n, r->density, w->in->projector);
    }
}

/* Returns <S^2> of open shells: S_z (S_z + 1) + N_beta - tr D_alpha S D_beta S (Szabo and Ostlund,
 * Modern Quantum Chemistry, eq. 2.271). */
static double spin_square(fmo_scf_state *s)
{
    const size_t mm = (size_t)s->m * (size_t)s->m;
    const double S_z = 0.5 * (s->occupied[0] - s->occupied[1]);
    double common = 0.0;
    s->la->ops->dots(s->la, mm, 1, s->density_o, s->density_o + mm, &common);
    return S_z * (S_z + 1.0) + s->occupied[1] - 0.25 * common;
}

/* Fills in orbitals, matrices, energies of field and projector, and the profile of the last
 * state. */
static void collect(fmo_scf_state *s, const fmo_scf_input *in, const fmo_scf_options *o,
                    fmo_scf_result *r)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t n = (size_t)s->n;
    r->mo_num = s->m;
    if (fmo_scf_wants_orbitals(o)) collect_orbitals(s, r);
    op->download(s->la, n * n, s->density, r->density);
    op->download(s->la, n * n, s->fock, r->fock);
    if (s->channels > 1) {
        op->download(s->la, n * n, s->density + n * n, r->spin_density);
        op->download(s->la, n * n, s->fock + n * n, r->fock_beta);
        r->spin_square = spin_square(s);
    }
    weighing w = {in, r, s->projected.num > 0};
    r->projector_energy = fmo_scf_projected_energy(s);
    op->on_host(s->la, weigh, &w);
    r->two_electron_energy = s->two_electron_energy;
    fmo_scf_take_profile(s, r);
}

/* ---- one SCF --------------------------------------------------------------------------------- */

/* One SCF: arguments, state and result. */
typedef struct running {
    const fmo_scf_input *input;
    const fmo_scf_options *options;
    const fmo_scf_shared *shared;
    fmo_scf_state s;
    fmo_scf_result *r;
    int cached;               /* 1: the state came from the cache, or has been moved there */
    fmo_scf_options followed; /* the options if the stability has to be checked nevertheless */
    fmo_status status;        /* of `check` */
    fmo_error err;
} running;

/* Work of the host before the backend is used: checks the input and allocates the result. */
static void check(void *user)
{
    running *const c = user;
    c->status = fmo_scf_check_input(c->input, c->options, &c->err);
    if (c->status == FMO_OK && c->options->forces)
        c->status = fmo_scf_check_forces(c->input, &c->err);
    if (c->status != FMO_OK) return;
    const int n = fmo_basis_ao_num(c->input->basis);
    const int channels = fmo_scf_channels(c->input, c->options);
    c->r = fmo_scf_new_result(n, channels, c->options->restricted);
    c->s.orbital_energy = calloc((size_t)(n * channels), sizeof *c->s.orbital_energy);
    if (!c->r || !c->s.orbital_energy)
        c->status =
            fmo_error_set(&c->err, FMO_ERR_MEMORY, "no memory for the SCF of %d functions", n);
}

/* Checks the input, opens plan and backend or takes the shared ones, and calls options.begun. */
static fmo_status begin(running *c, fmo_error *err)
{
    const fmo_scf_options *const o = c->options;
    fmo_scf_state *const s = &c->s;
    if (s->la)
        s->la->ops->on_host(s->la, check, c);
    else
        check(c);
    if (c->status != FMO_OK) return fmo_error_set(err, c->status, "%s", c->err.message);
    if (s->la && s->la->error.status != FMO_OK)
        return s->la->error.status; /* there was no memory for the request itself */
    s->n = fmo_basis_ao_num(c->input->basis);
    s->channels = fmo_scf_channels(c->input, o);
    s->restricted = s->channels > 1 && o->restricted;
    c->r->multiplicity = c->input->multiplicity > 0 ? c->input->multiplicity : 1;
    s->occupied[0] = (c->input->electron_num + c->r->multiplicity - 1) / 2;
    s->occupied[1] = c->input->electron_num - s->occupied[0];
    c->r->occupied_num = s->occupied[0];
    c->r->occupied_beta_num = s->channels > 1 ? s->occupied[1] : 0;
    s->nuclear_repulsion = fmo_scf_nuclear_energy(c->input);
    fmo_scf_note_cutoff(o->fock.cutoff, FMO_SCF_CUTOFF_ERROR, 1e-2, s->n, o->energy_convergence,
                        c->r->notice, sizeof c->r->notice);
    const fmo_status status = fmo_scf_open(c->input, o, c->shared, s, c->r, err);
    if (status == FMO_OK && o->begun) {
        fmo_scf_take_profile(s, c->r);
        c->r->fock_profile.threads = s->threads;
        c->r->fock_profile.ranks = o->fock.ranks ? o->fock.ranks->size : 1;
        o->begun(c->r, o->user);
    }
    return status;
}

static void take_cached(void *user)
{
    running *const c = user;
    c->cached = fmo_scf_take_cached(&c->s, c->input, c->options, c->shared->cache, c->r);
}

static void cache(void *user)
{
    running *const c = user;
    c->cached = fmo_scf_cache_state(&c->s, c->input, c->options, c->r, c->shared->cache);
}

/* Takes the cached state, or empties the cache if it belongs to another input. */
static void open_cache(running *c)
{
    fmo_linalg *const la = c->s.la;
    fmo_scf_cache *const cache = c->shared->cache;
    if (!cache) return;
    la->ops->on_host(la, take_cached, c);
    c->s.caches_fock_2e = 1;
    if (c->cached) return;
    la->ops->release(la, cache->state.memory);
    la->ops->release(la, cache->state.projected.memory);
    fmo_scf_free_cached(cache);
}

/* Allocates the arrays and computes orthogonal functions. */
static fmo_status make_functions(running *c, fmo_error *err)
{
    fmo_scf_allocate(&c->s, c->options->diis_size);
    if (c->s.la->error.status != FMO_OK) return c->s.la->error.status;
    const fmo_status status =
        fmo_scf_orthogonalise(&c->s, c->r, c->options->linear_dependence, err);
    return status == FMO_OK ? fmo_scf_project_out(&c->s, c->input, err) : status;
}

/* Computes what the first cycle needs, or takes it from the cache: orthogonal functions,
 * one-electron matrices, initial density. */
static fmo_status prepare(running *c, fmo_error *err)
{
    const fmo_scf_input *const in = c->input;
    fmo_scf_state *const s = &c->s;
    fmo_scf_result *const r = c->r;
    const size_t size = (size_t)s->n * (size_t)s->n;
    open_cache(c);
    double start = driver_seconds();
    fmo_status status =
        fmo_scf_one_electron(s, in, c->cached ? r->overlap : c->shared->overlap, r, err);
    if (status != FMO_OK) return status;
    r->one_electron_seconds = driver_seconds() - start;
    if (!c->cached)
        status = make_functions(c, err);
    else if (!s->fock_2e_known)
        s->la->ops->upload(s->la, size, r->overlap, s->exchange);
    if (status != FMO_OK) return status;
    if (!s->projected.num) fmo_scf_add_matrix((size_t)s->n, in->projector, r->core_hamiltonian);
    if (s->solver == FMO_SCF_SOLVER_PURIFY &&
        (s->restricted || (in->projector && !s->projected.separate)))
        s->solver = FMO_SCF_SOLVER_DIAGONALISE;
    r->solver = s->solver;
    for (int k = 0; k < s->channels; k++)
        s->la->ops->upload(s->la, size, r->core_hamiltonian, fmo_scf_of_channel(s, s->core, k));
    start = driver_seconds();
    if (!s->fock_2e_known)
        status = fmo_scf_first_density(s, in, c->options, c->shared->atoms, r, err);
    r->guess_seconds = driver_seconds() - start;
    s->solve_seconds = 0.0;
    return status == FMO_OK ? s->la->error.status : status;
}

/* Computes the orbitals if they are needed. If their gap is small, options.stability becomes FOLLOW
 * unless it is set. */
static void find_orbitals(running *c)
{
    const fmo_scf_options *const o = c->options;
    const int of_density = c->s.descended || (c->s.restricted && c->r->converged);
    if (fmo_scf_wants_orbitals(o) || c->s.gap - o->level_shift < FMO_SCF_SMALL_GAP)
        (of_density ? fmo_scf_density_orbitals : fmo_scf_canonical_orbitals)(&c->s);
    if (o->stability != FMO_SCF_STABILITY_NONE || !(c->s.gap < FMO_SCF_SMALL_GAP)) return;
    c->followed = *o;
    c->followed.stability = FMO_SCF_STABILITY_FOLLOW;
    c->options = &c->followed;
}

/* Iterates to convergence, checks the stability and completes the result. */
static fmo_status solve(running *c, fmo_error *err)
{
    fmo_scf_state *const s = &c->s;
    fmo_scf_result *const r = c->r;
    fmo_status status = fmo_scf_converge(s, c->options, r, err);
    if (status == FMO_OK && s->la->error.status == FMO_OK && !r->converged &&
        r->cycles < c->options->max_cycles) {
        r->rescued = s->solver != FMO_SCF_SOLVER_NEWTON;
        status = fmo_scf_descend(s, c->options, NULL, r, err);
    }
    if (status == FMO_OK && s->la->error.status == FMO_OK) {
        find_orbitals(c);
        if (c->options->stability != FMO_SCF_STABILITY_NONE)
            status = fmo_scf_stabilise(s, c->options, r, err);
    }
    if (s->la->error.status != FMO_OK) return s->la->error.status;
    collect(s, c->input, c->options, r);
    fmo_scf_give_verdict(c->options, r);
    if (!r->converged || stays_unstable(c->options, r))
        status = fmo_error_set(err, FMO_ERR_CHECK, "SCF %s", r->verdict);
    if (status == FMO_OK && c->options->forces && s->la->ops->gradient)
        status = fmo_scf_add_batch_forces(s, c->input, c->options, r, err);
    return status;
}

/* Caches or releases the state, and closes plan and backend. */
static void end(running *c, fmo_status status)
{
    fmo_scf_state *const s = &c->s;
    if (s->la) s->la->ops->finish(s->la); /* waits for builds of the plan */
    c->cached = 0;
    if (c->shared->cache && s->channels == 1 && status == FMO_OK && s->la->error.status == FMO_OK &&
        c->options->stability == FMO_SCF_STABILITY_NONE)
        s->la->ops->on_host(s->la, cache, c);
    if (c->cached) s->memory = s->projected.memory = NULL; /* they now belong to the cache */
    fmo_scf_release(s);
    if (!c->shared->plan_cached) fmo_fock_plan_destroy(s->plan);
    if (s->la) s->la->ops->close(s->la);
    free(s->orbital_energy);
}

/* Runs an SCF step by step, and releases or caches everything, also after an error. shared: what a
 * batch provides, all zero for a single molecule. */
fmo_status fmo_scf_run_one(const char *call, const fmo_scf_input *input,
                           const fmo_scf_options *options, const fmo_scf_shared *shared,
                           fmo_scf_result **result, fmo_error *err)
{
    const double start = driver_seconds();
    fmo_scf_options defaults;
    fmo_scf_options_init(&defaults);
    running c = {.input = input, .options = options ? options : &defaults, .shared = shared};
    c.s = (fmo_scf_state){
        .job = shared->job, .la = shared->la, .plan = shared->plan, .gap = INFINITY};
    if (result) *result = NULL;
    fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(input), FMO_GIVEN(result));
    if (status == FMO_OK) status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(input->basis));
    if (status == FMO_OK) status = begin(&c, err);
    if (status == FMO_OK) status = prepare(&c, err);
    if (status == FMO_OK) status = solve(&c, err);
    if (c.s.la && c.s.la->error.status != FMO_OK) {
        status = c.s.la->error.status;
        fmo_error_set(err, status, "%s", c.s.la->error.message);
    }
    end(&c, status);
    if (c.r) {
        c.r->fock_seconds = c.s.fock_seconds;
        c.r->solve_seconds = c.s.solve_seconds;
        c.r->builds = c.s.builds;
        c.r->seconds = driver_seconds() - start;
    }
    if (status == FMO_OK || (status == FMO_ERR_CHECK && c.r && c.r->verdict[0]))
        *result = c.r;
    else
        fmo_scf_result_destroy(c.r);
    return status;
}

fmo_status fmo_scf_run(const fmo_scf_input *input, const fmo_scf_options *options,
                       fmo_scf_result **result, fmo_error *err)
{
    const fmo_scf_shared alone = {0};
    fmo_scf_options defaults;
    fmo_scf_normal normal;
    if (result) *result = NULL;
    fmo_scf_options_init(&defaults);
    fmo_status status = fmo_scf_normalise(input, options ? options : &defaults, &normal, err);
    if (status != FMO_OK) return status;
    status =
        fmo_scf_run_one("fmo_scf_run", input ? &normal.input : NULL, options, &alone, result, err);
    if (status == FMO_OK) status = fmo_scf_add_forces(&normal.input, options, result, err);
    if (result) fmo_scf_from_normal(&normal, *result);
    fmo_scf_normal_free(&normal);
    return status;
}
