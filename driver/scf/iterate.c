/* Iterates an SCF to convergence: error and gradient of a Fock matrix, extrapolation from the
 * history, next density; in the orthogonal basis between two builds. See
 * docs/explanation/scf-method.md. */
#include "driver/base/clock.h"
#include "driver/scf/criteria.h"
#include "driver/scf/cutoff.h"
#include "driver/scf/scf_internal.h"

#include <math.h>

/* The final phase starts at the latest when the gradient is below this many times the threshold. It
 * starts with a full build and uses the requested cutoff; usually it is one cycle. */
static const double nearly = 5.0;

/* Factor of the looser cutoff before the final phase: cutoff = factor * (gradient at which the
 * final phase starts / 5) / sqrt(number of functions), because the norm of the neglected part of a
 * Fock matrix grows with that root (docs/explanation/scf-method.md). */
static const double loose_share = 0.003;

/* The final phase may use incremental builds after its first one if the error of a build is below
 * this share of the energy threshold. */
static const double little = 0.3;

/* The error of an incremental build affects later density changes as well: a full build follows
 * when they are this many times larger than assumed for its cutoff. */
static const double rises_most = 4.0;

/* If G is cached for later SCFs, which need it to be more accurate, incremental builds use this
 * share of the looser cutoff. */
static const double keeps_share = 0.1;

/* A density that was read is assumed to have a gradient of at most this (hartree): no looser builds
 * if the final phase starts at a larger gradient. */
static const double given_is_near = 1e-2;

/* Cycles towards gradient_aim continue while the gradient is at most this fraction of the previous
 * one. */
static const double falls_enough = 0.5;

/* History of Fock matrices. Slots are filled cyclically; B and T are indexed by slot. */
typedef struct past {
    int size, held, newest;
    int guess; /* slot of an initial density that does not come from doubly occupied orbitals, or -1
                */
    double energy[FMO_DIIS_MAX], B[FMO_DIIS_MAX][FMO_DIIS_MAX], T[FMO_DIIS_MAX][FMO_DIIS_MAX];
} past;

/* Lists the slots from the oldest to the newest. */
static void order_of(const past *p, int slot[])
{
    for (int i = 0; i < p->held; i++) slot[i] = (p->newest + 1 + i + (p->size - p->held)) % p->size;
}

/* Stores F and D of this cycle in the orthogonal basis, and the error F D - D F, whose norm is sqrt
 * 2 times that of the gradient 2 F_ai. @return the norm of the gradient, hartree */
static double remember(fmo_scf_state *s, past *p, double energy)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->m * (size_t)s->m;
    p->newest = (p->newest + 1) % p->size;
    if (p->newest == p->guess) p->guess = -1; /* overwritten */
    if (p->held < p->size) p->held++;
    const size_t at = (size_t)p->newest * size;
    double *fock = s->past_fock + at, *error = s->past_error + at, *density = s->past_density + at;
    fmo_scf_fock_to_orthogonal(s, s->fock, fock);
    op->multiply(s->la, 1.0, fmo_matrix_of(fock, s->m, s->m),
                 fmo_matrix_of(s->density_o, s->m, s->m), 0.0, error);
    op->fold(s->la, s->m, 1.0, -1.0, error);
    op->add(s->la, size, 1.0, s->density_o, 0.0, density);
    p->energy[p->newest] = energy;
    double row[FMO_DIIS_MAX], column[FMO_DIIS_MAX], errors[FMO_DIIS_MAX];
    op->dots(s->la, size, p->held, s->past_error, error, errors);
    op->dots(s->la, size, p->held, s->past_fock, density, row);    /* tr D_new F_v */
    op->dots(s->la, size, p->held, s->past_density, fock, column); /* tr D_v F_new */
    for (int v = 0; v < p->held; v++) {
        p->B[p->newest][v] = p->B[v][p->newest] = errors[v];
        p->T[p->newest][v] = row[v];
        p->T[v][p->newest] = column[v];
    }
    return sqrt(0.5 * p->B[p->newest][p->newest]);
}

/* Returns 1 if the last density differs much from the one before (criteria.h). */
static int has_jumped(const past *p)
{
    const int a = p->newest, b = (a + p->size - 1) % p->size;
    return p->held > 1 && fabs(p->T[a][a] - p->T[a][b] - p->T[b][a] + p->T[b][b]) > FMO_SCF_JUMP;
}

/* Computes the extrapolated Fock matrix by DIIS or EDIIS; plain: the last one without
 * extrapolation. */
static void extrapolate(fmo_scf_state *s, const past *p, int ediis, int plain, double *fock_o)
{
    int slot[FMO_DIIS_MAX], m = 0;
    double B[FMO_DIIS_MAX][FMO_DIIS_MAX], T[FMO_DIIS_MAX][FMO_DIIS_MAX], E[FMO_DIIS_MAX];
    double c[FMO_DIIS_MAX] = {0.0}, by_slot[FMO_DIIS_MAX] = {0.0};
    order_of(p, slot);
    for (int i = 0; i < p->held; i++)
        if (p->held == 1 || !ediis || slot[i] != p->guess) slot[m++] = slot[i];
    for (int i = 0; i < m; i++) {
        E[i] = p->energy[slot[i]];
        for (int j = 0; j < m; j++) {
            B[i][j] = p->B[slot[i]][slot[j]];
            T[i][j] = p->T[slot[i]][slot[j]];
        }
    }
    if (plain)
        c[m - 1] = 1.0;
    else if (ediis)
        fmo_ediis_coefficients(m, E, (const double(*)[FMO_DIIS_MAX])T, c);
    else
        fmo_diis_coefficients(m, (const double(*)[FMO_DIIS_MAX])B, c);
    for (int i = 0; i < m; i++) by_slot[slot[i]] = c[i];
    s->la->ops->combine(s->la, (size_t)s->m * (size_t)s->m, p->held, s->past_fock, by_slot, fock_o);
}

/* Cutoffs of an SCF. The error of an incremental build contributes to the energy in proportion to
 * the density changes (build.c). If the Fock matrix may be less accurate, incremental builds
 * therefore use a cutoff that is larger in the ratio of density to change, up to `loose`, and the
 * final phase starts as soon as that is possible. */
typedef struct cutoffs {
    double asked, loose, before; /* before: the final phase */
    double begin, near; /* gradients at which the final phase starts, and starts at the latest */
    double density;     /* norm of the density over the norm of changes at a gradient of 1 */
    int last;           /* 1: the final phase has started */
    int changes; /* 1: builds of the final phase after the first, full one may be incremental */
} cutoffs;

/* Returns the cutoff that matches a gradient; at most FMO_SCF_CUTOFF_MOST. */
static double loose_cutoff(const fmo_scf_state *s, double gradient)
{
    return fmin(loose_share * gradient / sqrt((double)s->n), FMO_SCF_CUTOFF_MOST);
}

/* Chooses the cutoffs of an SCF from its options. */
static cutoffs begin_cutoffs(const fmo_scf_state *s, const fmo_scf_options *o)
{
    cutoffs c = {.asked = o->fock.cutoff, .loose = loose_cutoff(s, o->gradient_convergence)};
    const int loosened = c.asked > 0.0 && c.loose > c.asked; /* cutoff 0: no screening */
    /* In the orthogonal basis changes are up to four times their gradient. */
    c.density = 0.25 * sqrt((double)s->occupied);
    c.changes = loosened && FMO_SCF_CUTOFF_ERROR * c.asked * s->n <= little * o->energy_convergence;
    c.begin = c.near = nearly * o->gradient_convergence;
    if (c.changes && o->loose_fock)
        c.begin = fmax(c.near, c.density * c.asked / c.loose);
    else
        c.loose = c.asked;
    c.before = loose_cutoff(s, c.begin / nearly);
    c.last = !loosened || s->known || (o->guess == FMO_SCF_GUESS_READ && c.begin > given_is_near);
    if (s->keeps) c.loose *= keeps_share;
    return c;
}

/* Chooses the next build, and sets its cutoff in the state. */
static fmo_scf_how choose_build(fmo_scf_state *s, cutoffs *c, double gradient, int rebuild)
{
    const int begins = !c->last && gradient < c->begin;
    const int rises = c->last && s->widest > c->asked &&
                      s->widest * gradient > rises_most * c->asked * c->density;
    const int full = rebuild || begins || rises || (gradient < c->near && !c->changes);
    c->last |= begins;
    s->cutoff = !c->last ? c->before
                : full   ? c->asked
                         : fmax(c->asked, fmin(c->loose, c->asked * c->density / gradient));
    return full ? FMO_SCF_FULL : FMO_SCF_CHANGE;
}

static int is_stopped(const fmo_scf_options *o)
{
    return o->stop && *o->stop && !o->fock.ranks && !o->deal;
}

/* Iterates to convergence or to `max_cycles` in total, starting from the density of the state. */
fmo_status fmo_scf_converge(fmo_scf_state *s, const fmo_scf_options *o, int ediis,
                            fmo_scf_result *r, fmo_error *err)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size_o = (size_t)s->m * (size_t)s->m;
    const int alone = o->diis_size < FMO_SCF_PAST_LEAST; /* no extrapolation */
    past p = {.size = alone ? FMO_SCF_PAST_LEAST : o->diis_size, .newest = -1, .guess = -1};
    /* A cached G must be as accurate as this SCF's own would be. */
    s->known &= s->changes < o->rebuild_cycles &&
                (s->widest <= o->fock.cutoff ||
                 (o->loose_fock && s->widest <= loose_cutoff(s, o->gradient_convergence)));
    cutoffs c = begin_cutoffs(s, o);
    s->cutoff = c.last ? c.asked : c.before;
    fmo_scf_how how = s->known ? FMO_SCF_KNOWN : FMO_SCF_FULL;
    s->known = 0;
    fmo_scf_fall falls = fmo_scf_fall_begin(o->gradient_convergence);
    double lowest = INFINITY;
    int doubt = 0, plain = 0; /* doubt: a density has jumped; plain: the last step used its own Fock
                                 matrix without extrapolation */
    r->converged = 0;
    for (int first = 1; r->cycles < o->max_cycles && !r->converged; first = 0) {
        const double start = driver_seconds(), fock = s->fock_seconds, solve = s->solve_seconds;
        const double energy = fmo_scf_build(s, how);
        const double gradient = remember(s, &p, energy);
        const double change = first ? NAN : energy - r->energy;
        if (s->la->error.status != FMO_OK) return FMO_OK; /* the caller checks for errors */
        const int is_guess = r->cycles == 0 && o->guess != FMO_SCF_GUESS_CORE;
        if (is_guess) p.guess = p.newest;
        const double before = first ? INFINITY : r->gradient;
        /* with a level shift the energy falls more slowly */
        if (!(o->level_shift > 0.0)) fmo_scf_learn(&falls, before, change);
        r->cycles++;
        r->full_builds += how == FMO_SCF_FULL;
        r->energy = energy;
        r->energy_change = change;
        r->gradient = gradient;
        r->energy_error = fmo_scf_still_to_fall(&falls, gradient);
        const int still = fmo_scf_is_still(energy, change, r->energy_error, gradient,
                                           o->energy_convergence, o->gradient_convergence);
        const int no_better = gradient > falls_enough * before || gradient < o->gradient_aim ||
                              r->cycles == o->max_cycles;
        const int jumps = still && has_jumped(&p); /* a state that may not be stationary */
        doubt |= jumps;
        r->converged = still && (!doubt || (plain && !jumps)) && c.last &&
                       (how == FMO_SCF_FULL || c.changes) && (o->gradient_aim <= 0.0 || no_better);
        const int is_ediis = ediis, is_full = how == FMO_SCF_FULL;
        if (isfinite(energy) && isfinite(gradient) && !r->converged) {
            if (energy > lowest + FMO_SCF_ENERGY_RISE && gradient > FMO_SCF_EDIIS_UNTIL && !first)
                ediis = 1;
            const int again = plain && jumps;
            if (gradient < FMO_SCF_EDIIS_UNTIL)
                ediis = again; /* states between the two have a lower energy */
            plain = doubt && still && !again;
            if (!is_guess) lowest = fmin(lowest, energy);
            extrapolate(s, &p, ediis, plain || alone, s->orbitals);
            if (o->level_shift > 0.0 && !plain) { /* F + shift (1 - D/2) */
                op->add(s->la, size_o, -0.5 * o->level_shift, s->density_o, 1.0, s->orbitals);
                op->add_to_diagonal(s->la, s->m, o->level_shift, s->orbitals);
            }
            if (r->cycles < o->max_cycles) {
                fmo_scf_solve(s, s->orbitals, s->density_o);
                fmo_scf_from_orthogonal(s, s->density_o, s->density);
            }
            how = choose_build(s, &c, gradient, s->changes >= o->rebuild_cycles);
        }
        op->finish(s->la);
        if (o->callback) {
            fmo_scf_take_profile(s, r);
            fmo_scf_cycle report = {.job = s->job,
                                    .cycle = r->cycles,
                                    .energy = energy,
                                    .energy_change = change,
                                    .gradient = gradient,
                                    .full_build = is_full,
                                    .energy_diis = is_ediis,
                                    .converged = r->converged,
                                    .so_far = r,
                                    .fock_seconds = s->fock_seconds - fock,
                                    .solve_seconds = s->solve_seconds - solve};
            report.other_seconds =
                driver_seconds() - start - report.fock_seconds - report.solve_seconds;
            o->callback(&report, o->user);
        }
        if (!isfinite(energy) || !isfinite(gradient))
            return fmo_error_set(err, FMO_ERR_CHECK,
                                 "the energy of cycle %d is not a finite number", r->cycles);
        if (is_stopped(o))
            return fmo_error_set(err, FMO_ERR_CHECK, "stopped by the caller after cycle %d",
                                 r->cycles);
    }
    s->cutoff = o->fock.cutoff; /* for the stability analysis */
    return FMO_OK;
}
