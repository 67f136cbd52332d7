/* The cycles of an SCF: from a Fock matrix to a density, from a density to its Fock matrix and
 * energy, and the iteration of both to convergence, in the orthogonal basis between two builds. See
 * docs/explanation/scf-method.md. */
#include "driver/base/clock.h"
#include "driver/scf/criteria.h"
#include "driver/scf/input.h"
#include "driver/scf/scf_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- from a Fock matrix to a density --------------------------------------------------------- */

/* Purifies P = (high - F) / (high - low) by SP2 (purify.h), followed by one McWeeny step 3x^2 -
 * 2x^3. @return 0 if it does not converge */
static int purify(fmo_scf_state *s, int occupied, const double *fock_o, double *P)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->m * (size_t)s->m;
    const int projected = s->projected.num;
    double low, high, trace;
    if (projected && !fmo_scf_remove_projected(s, fock_o, s->work2)) return 0;
    const double *const F = projected ? s->work2 : fock_o;
    op->bounds(s->la, s->m, F, &low, &high, &trace);
    const double width = high - low;
    if (!(width > 0.0)) return 0;
    op->add(s->la, size, -1.0 / width, F, 0.0, P);
    op->add_to_diagonal(s->la, s->m, high / width, P);
    if (projected) fmo_scf_shift_projected(s, -high / width, P);
    trace = ((s->m - projected) * high - trace) / width;
    if (!op->purify(s->la, s->m, occupied, trace, P, s->work)) return 0;
    if (projected) fmo_scf_restore_projected(s, P);
    op->multiply(s->la, 1.0, fmo_matrix_of(P, s->m, s->m), fmo_matrix_of(P, s->m, s->m), 0.0,
                 s->work);
    op->multiply(s->la, -2.0, fmo_matrix_of(P, s->m, s->m), fmo_matrix_of(s->work, s->m, s->m), 0.0,
                 s->work2);
    op->add(s->la, size, 3.0, s->work, 1.0, s->work2);
    op->add(s->la, size, 2.0, s->work2, 0.0, P); /* two electrons per orbital */
    op->fold(s->la, s->m, 0.5, 1.0, P);
    return s->la->error.status == FMO_OK;
}

/* Diagonalises the Fock matrix [m][m] of a channel, which is overwritten by its orbitals. */
static void diagonalise(fmo_scf_state *s, int channel, double *fock_o)
{
    double *const energy = s->orbital_energy + (size_t)channel * (size_t)s->n;
    const int occupied = s->occupied[channel];
    s->la->ops->eigen(s->la, s->m, fock_o, energy);
    if (occupied > 0 && occupied < s->m)
        s->gap = fmin(s->gap, energy[occupied] - energy[occupied - 1]);
}

/* Purifies or diagonalises the Fock matrix of each channel, and makes the density of its occupied
 * orbitals. */
void fmo_scf_solve(fmo_scf_state *s, double *fock_o, double *density_o)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->m * (size_t)s->m;
    const double start = driver_seconds();
    s->gap = INFINITY;
    if (s->restricted) fmo_scf_diagonalise_effective(s, fock_o);
    for (int c = 0; c < s->channels; c++) {
        double *const F = fock_o + (size_t)c * size, *const D = density_o + (size_t)c * size;
        const int occupied = s->occupied[c];
        if (s->solver == FMO_SCF_SOLVER_PURIFY && occupied > 0 && purify(s, occupied, F, D))
            continue;
        if (!s->restricted) diagonalise(s, c, F);
        if (occupied > 0)
            op->multiply(s->la, 2.0, fmo_matrix_of(F, s->m, occupied),
                         fmo_transpose_of(F, s->m, occupied), 0.0, D);
        else
            op->add(s->la, size, 0.0, F, 0.0, D);
        op->fold(s->la, s->m, 0.5, 1.0, D);
    }
    op->finish(s->la);
    s->solve_seconds += driver_seconds() - start;
}

void fmo_scf_density_from_orthogonal(fmo_scf_state *s)
{
    const size_t nn = (size_t)s->n * (size_t)s->n, mm = (size_t)s->m * (size_t)s->m;
    for (size_t c = 0; c < (size_t)s->channels; c++)
        fmo_scf_from_orthogonal(s, s->density_o + c * mm, s->density + c * nn);
}

void fmo_scf_canonical_orbitals(fmo_scf_state *s)
{
    const size_t nn = (size_t)s->n * (size_t)s->n, mm = (size_t)s->m * (size_t)s->m;
    const double start = driver_seconds();
    s->gap = INFINITY;
    for (int c = 0; c < s->channels; c++) {
        double *const orbitals = s->orbitals + (size_t)c * mm;
        fmo_scf_fock_to_orthogonal(s, s->fock + (size_t)c * nn, orbitals);
        if (!s->restricted) diagonalise(s, c, orbitals);
    }
    if (s->restricted) {
        fmo_scf_effective_fock(s, s->orbitals, s->coulomb);
        s->la->ops->add(s->la, mm, 1.0, s->orbitals, 0.0, s->orbitals + mm);
        s->la->ops->add(s->la, mm, 1.0, s->coulomb, 0.0, s->orbitals);
        fmo_scf_diagonalise_effective(s, s->orbitals);
    }
    s->solve_seconds += driver_seconds() - start;
}

/* ---- from a density to a Fock matrix --------------------------------------------------------- */

/* J is that of the mean of the densities, which are twice those of the spins. */
void fmo_scf_two_electron(fmo_scf_state *s, const double *density, double *out)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    const fmo_status status = fmo_fock_plan_loosen(s->plan, s->cutoff, &s->la->error);
    s->builds++;
    if (s->channels > 1) {
        op->add(s->la, size, 0.5, density, 0.0, s->work2);
        op->add(s->la, size, 0.5, density + size, 1.0, s->work2);
        if (status == FMO_OK)
            op->fock_of_spins(s->la, s->plan, s->n, s->work2, density, s->coulomb, s->exchange);
    } else if (status == FMO_OK) {
        op->fock(s->la, s->plan, density, s->coulomb, s->exchange);
    }
    for (int c = 0; c < s->channels; c++) {
        double *const G = fmo_scf_of_channel(s, out, c);
        op->add(s->la, size, 1.0, s->coulomb, 0.0, G);
        op->add(s->la, size, -0.5, s->exchange + (size_t)c * size, 1.0, G);
    }
}

/* Arguments of fit. */
typedef struct fitting {
    fmo_fock_plan *plan;
    const double *density;
    size_t size;
    int fitted;
    fmo_error err;
} fitting;

static void fit(void *user)
{
    fitting *const f = user;
    double largest = 0.0;
    for (size_t k = 0; k < f->size; k++) {
        if (!isfinite(f->density[k])) return;
        largest = fmax(largest, fabs(f->density[k]));
    }
    f->fitted = fmo_fock_plan_expect(f->plan, largest, &f->err) == FMO_OK;
}

int fmo_scf_fit_plan(fmo_scf_state *s, const double *density)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    double *const host = s->la->ops->on_device ? malloc(size * sizeof *host) : NULL;
    if (!host) return 0; /* builds on host matrices adapt the plan themselves */
    fitting f = {.plan = s->plan, .density = host, .size = size};
    op->download(s->la, size, density, host);
    op->finish(s->la);
    if (s->la->error.status == FMO_OK) op->on_host(s->la, fit, &f);
    if (f.err.status != FMO_OK && s->la->error.status == FMO_OK) s->la->error = f.err;
    free(host);
    return f.fitted;
}

/* Returns the means over channels of tr D H, tr D G and, of three terms, tr D G of the change. */
static void expectations(fmo_scf_state *s, int terms, const double *density, double *sum)
{
    const size_t size = (size_t)s->n * (size_t)s->n;
    double of_c[3];
    for (int k = 0; k < terms; k++) sum[k] = 0.0;
    for (int c = 0; c < s->channels; c++) {
        s->la->ops->dots(s->la, size, terms, fmo_scf_of_channel(s, s->core, c),
                         density + (size_t)c * size, of_c);
        for (int k = 0; k < terms; k++) sum[k] += of_c[k] / s->channels;
    }
}

/* The energy of a changed density is updated: with the change d, Tr D G(D) / 2 changes by Tr d (G +
 * G(d) / 2). Errors of builds then contribute in proportion to d and not to D. If the result is
 * NaN, the plan is adapted to the density and the build repeated once. */
double fmo_scf_build(fmo_scf_state *s, fmo_scf_how how)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n, all = (size_t)s->channels * size;
    double start = driver_seconds();
    const int terms = how == FMO_SCF_CHANGE ? 3 : 2;
    const double *const built_density = how == FMO_SCF_CHANGE ? s->built_density : s->density;
    double *const G = how == FMO_SCF_CHANGE ? s->change : s->fock_2e;
    double sum[3];
    if (how == FMO_SCF_CHANGE) op->add(s->la, all, 1.0, s->density, -1.0, s->built_density);
    for (int again = 0; again < 2; again++) {
        if (how != FMO_SCF_REUSED) fmo_scf_two_electron(s, built_density, G);
        op->finish(s->la);
        s->fock_seconds += driver_seconds() - start;
        start = driver_seconds();
        expectations(s, terms, built_density, sum);
        if (again || !isnan(sum[terms - 1]) || !fmo_scf_fit_plan(s, built_density)) break;
    }
    if (how == FMO_SCF_CHANGE) {
        s->one_electron_energy += sum[0];
        s->two_electron_energy += sum[1] + 0.5 * sum[2];
    } else {
        s->one_electron_energy = sum[0];
        if (how == FMO_SCF_FULL) s->two_electron_energy = 0.5 * sum[1];
    }
    op->add(s->la, all, 1.0, s->density, 0.0, s->built_density);
    for (int c = 0; c < s->channels; c++) {
        double *const of_c = fmo_scf_of_channel(s, s->fock_2e, c);
        double *const fock = s->fock + (size_t)c * size;
        if (how == FMO_SCF_CHANGE)
            op->add(s->la, size, 1.0, fmo_scf_of_channel(s, s->change, c), 1.0, of_c);
        op->add(s->la, size, 1.0, fmo_scf_of_channel(s, s->core, c), 0.0, fock);
        op->add(s->la, size, 1.0, of_c, 1.0, fock);
    }
    s->incremental_builds =
        how == FMO_SCF_FULL ? 0 : s->incremental_builds + (how == FMO_SCF_CHANGE);
    if (how != FMO_SCF_REUSED)
        s->largest_cutoff = how == FMO_SCF_FULL ? s->cutoff : fmax(s->largest_cutoff, s->cutoff);
    return s->nuclear_repulsion + s->one_electron_energy + s->two_electron_energy +
           fmo_scf_projected_energy(s);
}

/* ---- iteration ------------------------------------------------------------------------------- */

/* The final phase starts at the latest when the gradient is below this many times the threshold. It
 * starts with a full build and uses the requested cutoff; usually it is one cycle. */
static const double final_phase_gradient = 5.0;

/* Factor of the looser cutoff before the final phase: cutoff = factor * (gradient at which the
 * final phase starts / 5) / sqrt(number of functions), because the norm of the neglected part of a
 * Fock matrix grows with that root (docs/explanation/scf-method.md). */
static const double loose_share = 0.003;

/* The final phase may use incremental builds after its first one if the error of a build is below
 * this share of the energy threshold. */
static const double incremental_error_share = 0.3;

/* The error of an incremental build affects later density changes as well: a full build follows
 * when they are this many times larger than assumed for its cutoff. */
static const double change_growth_max = 4.0;

/* If G is cached for later SCFs, which need it to be more accurate, incremental builds use this
 * share of the looser cutoff. */
static const double cached_cutoff_share = 0.1;

/* A density that was read is assumed to have a gradient of at most this (hartree): no looser builds
 * if the final phase starts at a larger gradient. */
static const double read_density_gradient = 1e-2;

/* F += shift (1 - D/2): raises the virtual orbitals, and the open ones of ROHF by half of that. */
static void shift_levels(fmo_scf_state *s, double shift, double *fock_o)
{
    const fmo_linalg_ops *op = s->la->ops;
    const int num = s->restricted ? 1 : s->channels;
    const size_t mm = (size_t)s->m * (size_t)s->m;
    if (s->restricted) fmo_scf_total_density(s, s->work);
    op->add(s->la, (size_t)num * mm, -0.5 * shift, s->restricted ? s->work : s->density_o, 1.0,
            fock_o);
    for (size_t c = 0; c < (size_t)num; c++)
        op->add_to_diagonal(s->la, s->m, shift, fock_o + c * mm);
}

/* Cutoffs of an SCF. The error of an incremental build contributes to the energy in proportion to
 * the density changes (fmo_scf_build). If the Fock matrix may be less accurate, incremental builds
 * therefore use a cutoff that is larger in the ratio of density to change, up to `loosest`, and the
 * final phase starts as soon as that is possible. */
typedef struct cutoffs {
    double requested, loosest;
    double early;                /* before the final phase */
    double final_from, final_at; /* gradients at which the final phase may start, and starts at the
                                    latest, hartree */
    double density;  /* norm of the density over the norm of changes at a gradient of 1 */
    int final;       /* 1: the final phase has started */
    int incremental; /* 1: builds of the final phase after the first, full one may be incremental */
} cutoffs;

double fmo_scf_loose_cutoff(const fmo_scf_state *s, double gradient)
{
    return fmin(loose_share * gradient / sqrt((double)s->n), FMO_SCF_CUTOFF_MAX);
}

/* Chooses the cutoffs of an SCF from its options. */
static cutoffs begin_cutoffs(const fmo_scf_state *s, const fmo_scf_options *o)
{
    cutoffs c = {.requested = o->fock.cutoff,
                 .loosest = fmo_scf_loose_cutoff(s, o->gradient_convergence)};
    const int loosened = c.requested > 0.0 && c.loosest > c.requested; /* cutoff 0: no screening */
    /* In the orthogonal basis changes are up to four times their gradient. */
    c.density = 0.25 * sqrt((double)s->occupied[0]);
    c.incremental = loosened && FMO_SCF_CUTOFF_ERROR * c.requested * s->n <=
                                    incremental_error_share * o->energy_convergence;
    c.final_from = c.final_at = final_phase_gradient * o->gradient_convergence;
    if (c.incremental && fmo_scf_fock_is_loose(o))
        c.final_from = fmax(c.final_at, c.density * c.requested / c.loosest);
    else
        c.loosest = c.requested;
    c.early = fmo_scf_loose_cutoff(s, c.final_from / final_phase_gradient);
    c.final = !loosened || s->fock_2e_known ||
              (o->guess == FMO_SCF_GUESS_READ && c.final_from > read_density_gradient);
    if (s->caches_fock_2e) c.loosest *= cached_cutoff_share;
    return c;
}

/* Chooses the next build, and sets its cutoff in the state. */
static fmo_scf_how choose_build(fmo_scf_state *s, cutoffs *c, double gradient, int rebuild)
{
    const int begins = !c->final && gradient < c->final_from;
    const int rises = c->final && s->largest_cutoff > c->requested &&
                      s->largest_cutoff * gradient > change_growth_max * c->requested * c->density;
    const int full = rebuild || begins || rises || (gradient < c->final_at && !c->incremental);
    c->final |= begins;
    s->cutoff = !c->final ? c->early
                : full    ? c->requested
                       : fmax(c->requested, fmin(c->loosest, c->requested * c->density / gradient));
    return full ? FMO_SCF_FULL : FMO_SCF_CHANGE;
}

/* An SCF that iterates. */
typedef struct iteration {
    fmo_scf_state *s;
    const fmo_scf_options *o;
    fmo_scf_result *r;
    fmo_scf_history history;
    cutoffs c;
    fmo_scf_error_ratio error_ratio;
    fmo_scf_how how; /* how the next G is obtained */
    double lowest;   /* lowest energy of the cycles so far, hartree, without an initial density that
                        does not come from doubly occupied orbitals */
    int first;       /* 1: first cycle of this iteration */
    int is_guess;    /* 1: the density of this cycle is such an initial density */
    int alone;       /* 1: no extrapolation */
    int ediis;       /* 1: EDIIS replaces DIIS */
    int within;      /* 1: gradient and energy of this cycle are within their thresholds */
    int abrupt;      /* 1: they are, but the density has changed abruptly */
    int was_abrupt;  /* 1: this happened in a cycle so far */
    int plain;       /* 1: the last step used its own Fock matrix without extrapolation */
    double nearest;  /* smallest gradient so far, hartree */
    int idle;        /* cycles since it fell by a tenth */
    int stuck;       /* 1: EDIIS because of that, until it falls */
} iteration;

/* Starts an iteration from the density of the state. */
static iteration begin_iteration(fmo_scf_state *s, const fmo_scf_options *o, fmo_scf_result *r)
{
    const int alone = o->diis_size < FMO_SCF_HISTORY_MIN;
    /* A cached G must be as accurate as this SCF's own would be. */
    s->fock_2e_known &= s->incremental_builds < o->rebuild_cycles &&
                        (s->largest_cutoff <= o->fock.cutoff ||
                         (fmo_scf_fock_is_loose(o) &&
                          s->largest_cutoff <= fmo_scf_loose_cutoff(s, o->gradient_convergence)));
    const iteration it = {
        .s = s,
        .o = o,
        .r = r,
        .history = {.size = alone ? FMO_SCF_HISTORY_MIN : o->diis_size, .newest = -1, .guess = -1},
        .c = begin_cutoffs(s, o),
        .error_ratio = fmo_scf_error_ratio_begin(o->gradient_convergence),
        .how = s->fock_2e_known ? FMO_SCF_REUSED : FMO_SCF_FULL,
        .lowest = INFINITY,
        .nearest = INFINITY,
        .alone = alone};
    s->cutoff = it.c.final ? it.c.requested : it.c.early;
    s->fock_2e_known = 0;
    r->converged = 0;
    return it;
}

/* Enters energy and gradient of a cycle into the result, and decides whether it is the last. */
static void judge(iteration *it, double energy, double gradient)
{
    fmo_scf_result *const r = it->r;
    it->is_guess = r->cycles == 0 && it->o->guess != FMO_SCF_GUESS_CORE;
    if (it->is_guess) it->history.guess = it->history.newest;
    r->full_builds += it->how == FMO_SCF_FULL;
    const int within = fmo_scf_note_cycle(r, it->o, &it->error_ratio, it->first, energy, gradient);
    it->within = within > 0;
    it->abrupt = it->within &&
                 fmo_scf_changed_abruptly(&it->history); /* a state that may not be stationary */
    it->was_abrupt |= it->abrupt;
    r->converged = within > 1 && (!it->was_abrupt || (it->plain && !it->abrupt)) && it->c.final &&
                   (it->how == FMO_SCF_FULL || it->c.incremental);
}

/* Extrapolates, solves for the next density and chooses its build. */
static void next_density(iteration *it)
{
    const fmo_scf_options *const o = it->o;
    fmo_scf_state *const s = it->s;
    const double energy = it->r->energy, gradient = it->r->gradient;
    if (energy > it->lowest + FMO_SCF_ENERGY_RISE && gradient > FMO_SCF_EDIIS_UNTIL && !it->first)
        it->ediis = 1;
    const int again = it->plain && it->abrupt;
    const int nearer = gradient < 0.9 * it->nearest;
    it->nearest = nearer ? gradient : it->nearest;
    it->idle = nearer ? 0 : it->idle + 1;
    it->stuck = it->idle >= FMO_SCF_IDLE_MAX || (it->stuck && !nearer);
    if (it->stuck)
        it->ediis = 1;
    else if (gradient < FMO_SCF_EDIIS_UNTIL)
        it->ediis = again; /* states between the two have a lower energy */
    it->plain = it->was_abrupt && it->within && !again;
    if (!it->is_guess) it->lowest = fmin(it->lowest, energy);
    fmo_scf_extrapolate(s, &it->history, it->ediis, it->plain || it->alone, s->orbitals);
    if (o->level_shift > 0.0 && !it->plain) shift_levels(s, o->level_shift, s->orbitals);
    if (it->r->cycles < o->max_cycles) {
        fmo_scf_solve(s, s->orbitals, s->density_o);
        fmo_scf_density_from_orthogonal(s);
    }
    it->how = choose_build(s, &it->c, gradient, s->incremental_builds >= o->rebuild_cycles);
}

/* Returns 1 if the Newton solver is to continue: it was chosen and the start is good enough, or the
 * gradient has not fallen by a tenth in many cycles, or a quarter of many cycles is left. */
static int gives_up(const iteration *it)
{
    const int max_cycles = it->o->max_cycles, done = it->r->cycles;
    if (it->r->converged || done >= max_cycles) return 0;
    if (it->s->solver == FMO_SCF_SOLVER_NEWTON)
        return it->r->gradient < FMO_SCF_EDIIS_UNTIL || done >= FMO_SCF_BEFORE_NEWTON;
    return it->idle >= FMO_SCF_STUCK_MAX ||
           (max_cycles >= FMO_SCF_NEWTON_FROM && done >= max_cycles - max_cycles / 4);
}

/* Sets the density to that of lowest energy in the history, of those that consist of occupied
 * orbitals. @return 0 if there is none */
static int take_lowest(iteration *it)
{
    fmo_scf_state *const s = it->s;
    const fmo_scf_history *const h = &it->history;
    const size_t size = (size_t)s->channels * (size_t)s->m * (size_t)s->m;
    int best = -1, occupied = 0;
    for (int c = 0; c < s->channels; c++) occupied += s->occupied[c];
    for (int v = 0; v < h->num; v++) {
        const double *const D = s->history_density + (size_t)v * size;
        double square = 4.0 * occupied;               /* of orbitals */
        if (v == h->guess && s->restricted) continue; /* may be that of UHF */
        if (v == h->guess) s->la->ops->dots(s->la, size, 1, D, D, &square);
        if (fabs(square - 4.0 * occupied) < 1e-6 && (best < 0 || h->energy[v] < h->energy[best]))
            best = v;
    }
    if (best < 0) return 0;
    s->la->ops->add(s->la, size, 1.0, s->history_density + (size_t)best * size, 0.0, s->density_o);
    fmo_scf_density_from_orthogonal(s);
    return 1;
}

/* Iterates to convergence, to `max_cycles` in total, or until the Newton solver is to continue,
 * starting from the density of the state. */
fmo_status fmo_scf_converge(fmo_scf_state *s, const fmo_scf_options *o, fmo_scf_result *r,
                            fmo_error *err)
{
    iteration it = begin_iteration(s, o, r);
    fmo_status status = FMO_OK;
    int ends = 0;
    for (it.first = 1; status == FMO_OK && !ends; it.first = 0) {
        const double start = driver_seconds();
        fmo_scf_cycle cycle = fmo_scf_begin_cycle(s, it.how);
        cycle.energy_diis = it.ediis;
        const double energy = fmo_scf_build(s, it.how);
        const double gradient = fmo_scf_history_add(s, &it.history, energy);
        const int finite = isfinite(energy) && isfinite(gradient);
        if (s->la->error.status != FMO_OK) return FMO_OK; /* the caller checks for errors */
        judge(&it, energy, gradient);
        const int given_up = finite && gives_up(&it);
        ends = r->converged || given_up || r->cycles >= o->max_cycles;
        if (finite && !r->converged && !(given_up && take_lowest(&it))) next_density(&it);
        s->la->ops->finish(s->la);
        fmo_scf_report_cycle(s, o, r, cycle, start);
        status = fmo_scf_may_go_on(r, o, err);
    }
    s->cutoff = o->fock.cutoff; /* for the stability analysis */
    return status;
}
