/* The cycles of an RHF calculation. Fock matrix, energy, gradient, extrapolation, new density: all
 * on matrices of a backend (linalg.h), in an orthogonal basis between two Fock builds. */
#include "driver/report/clock.h"
#include "driver/scf/scf_internal.h"

#include <fmo/one_electron.h>

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "integrals/names.h"

#define CHECKGOTO(call)                  \
    do {                                 \
        status = (call);                 \
        if (status != FMO_OK) goto done; \
    } while (0)

/* Functions from which purification beats the eigenproblem on a GPU. */
enum { PURIFY_FROM = 48 };

/* EDIIS takes over when the energy rises by more than this while the gradient is large, until the
 * gradient has become small. */
static const double energy_rise = 1e-4, ediis_until = 0.1;

/* With a gradient below this many times the threshold the next cycle is likely the last, so it gets
 * a full build. */
static const double nearly = 10.0;

FMO_NAMES(fmo_scf_guess, fmo_scf_guess, FMO_SCF_GUESS_TABLE)
FMO_NAMES(fmo_scf_solver, fmo_scf_solver, FMO_SCF_SOLVER_TABLE)
FMO_NAMES(fmo_scf_stability, fmo_scf_stability, FMO_SCF_STABILITY_TABLE)

void fmo_scf_options_init(fmo_scf_options *options)
{
    if (!options) return;
    memset(options, 0, sizeof *options);
    fmo_fock_options_init(&options->fock);
    options->fock.cutoff = 1e-12;
    options->guess = FMO_SCF_GUESS_SAD;
    options->max_cycles = 100;
    options->energy_convergence = 1e-9;
    options->gradient_convergence = 3e-5;
    options->diis_size = 8;
    options->rebuild_cycles = 12;
    options->linear_dependence = 1e-7;
}

static fmo_status check_input(const fmo_scf_input *in, const fmo_scf_options *o, fmo_error *err)
{
    const int n = fmo_basis_ao_num(in->basis);
    if ((unsigned)o->guess >= FMO_SCF_GUESS_COUNT || (unsigned)o->solver >= FMO_SCF_SOLVER_COUNT ||
        (unsigned)o->stability >= FMO_SCF_STABILITY_COUNT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_scf_run: guess, solver or stability is none of its enum");
    if (o->max_cycles < 1 || o->rebuild_cycles < 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_scf_run: max_cycles = %d, rebuild_cycles = %d: expected at least "
                             "1 and 0",
                             o->max_cycles, o->rebuild_cycles);
    if (o->diis_size < 1 || o->diis_size > FMO_DIIS_MAX)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_scf_run: diis_size = %d: expected 1 to %d",
                             o->diis_size, FMO_DIIS_MAX);
    if (!(o->energy_convergence > 0.0) || !(o->gradient_convergence > 0.0) ||
        !(o->level_shift >= 0.0) || !(o->linear_dependence >= 0.0) || !isfinite(o->level_shift) ||
        !(o->linear_dependence < 1.0))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_scf_run: expected positive convergence thresholds, level_shift "
                             ">= 0 and linear_dependence from 0 to 1");
    if (o->guess == FMO_SCF_GUESS_READ && !in->density)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "guess read needs a density, and there is none; use guess sad");
    if (in->electron_num < 0)
        return fmo_error_set(err, FMO_ERR_INPUT, "the number of electrons is not known");
    if (in->electron_num == 0)
        return fmo_error_set(err, FMO_ERR_INPUT, "no electrons: choose a lower --charge");
    if (in->electron_num % 2)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "%d electrons: RHF needs an even number; choose another --charge",
                             in->electron_num);
    if (in->electron_num > 2 * n)
        return fmo_error_set(
            err, FMO_ERR_INPUT,
            "%d electrons do not fit into %d functions: choose a larger basis or a "
            "higher --charge",
            in->electron_num, n);
    if (!isfinite(in->nuclear_repulsion))
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "no finite nuclear repulsion: do two nuclei coincide?");
    return FMO_OK;
}

/* ---- setting up ---------------------------------------------------------------------------- */

static fmo_status one_electron(const fmo_scf_input *in, fmo_scf_result *r, fmo_error *err)
{
    const size_t size = (size_t)r->nao * (size_t)r->nao;
    fmo_status status = fmo_overlap(in->basis, r->overlap, err);
    if (status == FMO_OK && in->core_hamiltonian) {
        memcpy(r->core_hamiltonian, in->core_hamiltonian, size * sizeof *r->core_hamiltonian);
        return FMO_OK;
    }
    double *V = malloc(size * sizeof *V);
    if (!V) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the core Hamiltonian");
    if (status == FMO_OK) status = fmo_kinetic(in->basis, r->core_hamiltonian, err);
    if (status == FMO_OK) status = fmo_nuclear_attraction(in->basis, V, err);
    for (size_t i = 0; i < size && status == FMO_OK; i++) r->core_hamiltonian[i] += V[i];
    free(V);
    return status;
}

/* X with X^T S X = 1. Functions are normalised first, so that the threshold means the same in any
 * normalisation. By Cholesky's factor where that is proved to leave nothing to drop: the smallest
 * eigenvalue is at least 1 / ||U^-1||_F^2. Else canonical: eigenvectors over the roots of their
 * eigenvalues, those with small ones left out. */
static fmo_status orthogonalise(fmo_scf_state *s, fmo_scf_result *r, double threshold,
                                fmo_error *err)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t n = (size_t)s->n;
    double *norm = malloc(n * sizeof *norm), *value = malloc(n * sizeof *value), square = NAN;
    fmo_status status = FMO_OK;
    if (!norm || !value) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory");
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        if (!(r->overlap[i * n + i] > 0.0)) {
            status = fmo_error_set(err, FMO_ERR_INPUT, "function %zu has the norm %g", i,
                                   r->overlap[i * n + i]);
            goto done;
        }
        norm[i] = 1.0 / sqrt(r->overlap[i * n + i]);
    }
    op->upload(s->la, n * n, r->overlap, s->X);
    op->scale(s->la, s->n, s->n, norm, norm, s->X);
    if (op->inverse_cholesky(s->la, s->n, s->X)) op->dots(s->la, n * n, 1, s->X, s->X, &square);
    r->overlap_smallest = 1.0 / square;
    s->m = s->n;
    if (!(r->overlap_smallest > threshold)) {
        op->upload(s->la, n * n, r->overlap, s->work);
        op->scale(s->la, s->n, s->n, norm, norm, s->work);
        op->fold(s->la, s->n, 0.5, 1.0, s->work);
        op->eigen(s->la, s->n, s->work, value);
        r->overlap_smallest = value[0];
        while (r->dropped < s->n && !(value[r->dropped] > threshold)) r->dropped++;
        s->m = s->n - r->dropped;
        for (int k = r->dropped; k < s->n; k++) value[k] = 1.0 / sqrt(value[k]);
        op->add(s->la, n * (size_t)s->m, 1.0, s->work + n * (size_t)r->dropped, 0.0, s->X);
        op->scale(s->la, s->n, s->m, NULL, value + r->dropped, s->X);
    }
    op->scale(s->la, s->n, s->m, norm, NULL, s->X);
    if (s->la->error.status == FMO_OK && s->occupied > s->m)
        status = fmo_error_set(err, FMO_ERR_INPUT,
                               "%d electrons do not fit into the %d linearly independent functions "
                               "of %d: choose a larger basis",
                               2 * s->occupied, s->m, s->n);
done:
    free(norm);
    free(value);
    return status;
}

static fmo_status first_density(fmo_scf_state *s, const fmo_scf_input *in, const fmo_scf_options *o,
                                fmo_scf_result *r, fmo_error *err)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    if (o->guess == FMO_SCF_GUESS_CORE) {
        fmo_scf_to_orthogonal(s, s->core, s->past_fock);
        fmo_scf_solve(s, s->past_fock, s->density_o);
        fmo_scf_from_orthogonal(s, s->density_o, s->density);
        return FMO_OK;
    }
    fmo_status status = FMO_OK;
    if (o->guess == FMO_SCF_GUESS_SAD)
        status = fmo_scf_atomic_densities(in->basis, r->density, err);
    else
        memcpy(r->density, in->density, size * sizeof *r->density);
    if (status != FMO_OK) return status;
    op->upload(s->la, size, r->density, s->density);
    op->fold(s->la, s->n, 0.5, 1.0, s->density);
    /* X^-1 D X^-T = X^T S D S X */
    op->upload(s->la, size, r->overlap, s->work);
    op->multiply(s->la, 'N', 'N', s->n, s->n, s->n, 1.0, s->density, s->work, 0.0, s->work2);
    op->multiply(s->la, 'N', 'N', s->n, s->n, s->n, 1.0, s->work, s->work2, 0.0, s->coulomb);
    fmo_scf_to_orthogonal(s, s->coulomb, s->density_o);
    return FMO_OK;
}

/* ---- a cycle ------------------------------------------------------------------------------- */

void fmo_scf_two_electron(fmo_scf_state *s, const double *density, double *out)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    op->fock(s->la, s->plan, density, s->coulomb, s->exchange);
    op->add(s->la, size, 1.0, s->coulomb, 0.0, out);
    op->add(s->la, size, -0.5, s->exchange, 1.0, out);
}

/* F of the density, and its energy. G of a full build, or G of before plus that of the change. */
static double build(fmo_scf_state *s, int full)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->n * (size_t)s->n;
    const double start = driver_seconds();
    if (full) {
        fmo_scf_two_electron(s, s->density, s->fock_2e);
    } else {
        op->add(s->la, size, 1.0, s->density, -1.0, s->built);
        fmo_scf_two_electron(s, s->built, s->work);
        op->add(s->la, size, 1.0, s->work, 1.0, s->fock_2e);
    }
    op->finish(s->la);
    s->fock_seconds += driver_seconds() - start;
    op->add(s->la, size, 1.0, s->density, 0.0, s->built);
    op->add(s->la, size, 1.0, s->core, 0.0, s->fock);
    op->add(s->la, size, 1.0, s->fock_2e, 1.0, s->fock);
    double energy[2];
    op->dots(s->la, size, 2, s->core_and_fock, s->density, energy);
    return s->nuclear_repulsion + 0.5 * (energy[0] + energy[1]);
}

/* The past Fock matrices. Slots are filled in turn; B and T go by slot. */
typedef struct past {
    int size, held, newest;
    int guess; /* slot of a first density that is not one of doubly occupied orbitals, or -1 */
    double energy[FMO_DIIS_MAX], B[FMO_DIIS_MAX][FMO_DIIS_MAX], T[FMO_DIIS_MAX][FMO_DIIS_MAX];
} past;

/* Slots from the oldest to the newest. */
static void order_of(const past *p, int slot[])
{
    for (int i = 0; i < p->held; i++) slot[i] = (p->newest + 1 + i + (p->size - p->held)) % p->size;
}

/* Takes F and D of this cycle, in the orthogonal functions; error F D - D F, whose norm is sqrt 2
 * times that of the gradient 2 F_ai. @return the gradient's norm */
static double remember(fmo_scf_state *s, past *p, double energy)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size = (size_t)s->m * (size_t)s->m;
    p->newest = (p->newest + 1) % p->size;
    if (p->newest == p->guess) p->guess = -1; /* gone */
    if (p->held < p->size) p->held++;
    const size_t at = (size_t)p->newest * size;
    double *fock = s->past_fock + at, *error = s->past_error + at, *density = s->past_density + at;
    fmo_scf_to_orthogonal(s, s->fock, fock);
    op->multiply(s->la, 'N', 'N', s->m, s->m, s->m, 1.0, fock, s->density_o, 0.0, error);
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

static void extrapolate(fmo_scf_state *s, const past *p, int ediis, double *fock_o)
{
    int slot[FMO_DIIS_MAX], m = 0;
    double B[FMO_DIIS_MAX][FMO_DIIS_MAX], T[FMO_DIIS_MAX][FMO_DIIS_MAX], E[FMO_DIIS_MAX];
    double c[FMO_DIIS_MAX], by_slot[FMO_DIIS_MAX] = {0.0};
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
    if (ediis)
        fmo_ediis_coefficients(m, E, (const double(*)[FMO_DIIS_MAX])T, c);
    else
        fmo_diis_coefficients(m, (const double(*)[FMO_DIIS_MAX])B, c);
    for (int i = 0; i < m; i++) by_slot[slot[i]] = c[i];
    s->la->ops->combine(s->la, (size_t)s->m * (size_t)s->m, p->held, s->past_fock, by_slot, fock_o);
}

/* Cycles until convergence or `max_cycles` in all; the density of the state is the first. */
static fmo_status converge(fmo_scf_state *s, const fmo_scf_options *o, int ediis, fmo_scf_result *r,
                           fmo_error *err)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t size_o = (size_t)s->m * (size_t)s->m;
    past p = {.size = o->diis_size, .newest = -1, .guess = -1};
    int full = 1, since_full = 0;
    double lowest = INFINITY;
    r->converged = 0;
    for (int first = 1; r->cycles < o->max_cycles && !r->converged; first = 0) {
        const double start = driver_seconds(), fock = s->fock_seconds, solve = s->solve_seconds;
        const double energy = build(s, full);
        const double gradient = remember(s, &p, energy);
        const double change = first ? NAN : energy - r->energy;
        if (s->la->error.status != FMO_OK) return FMO_OK; /* the caller looks */
        const int is_guess = r->cycles == 0 && o->guess != FMO_SCF_GUESS_CORE;
        if (is_guess) p.guess = p.newest;
        r->cycles++;
        r->full_builds += full;
        r->energy = energy;
        r->energy_change = change;
        r->gradient = gradient;
        since_full = full ? 0 : since_full + 1;
        /* Energies cannot agree better than they are rounded. */
        const double noise = 1e-15 * fabs(energy) * 4.0;
        const int still =
            gradient < o->gradient_convergence && fabs(change) < fmax(o->energy_convergence, noise);
        r->converged = still && full;
        const int is_ediis = ediis;
        if (isfinite(energy) && isfinite(gradient) && !r->converged) {
            if (energy > lowest + energy_rise && gradient > ediis_until && !first) ediis = 1;
            if (gradient < ediis_until) ediis = 0;
            if (!is_guess) lowest = fmin(lowest, energy);
            extrapolate(s, &p, ediis, s->orbitals);
            if (o->level_shift > 0.0) { /* + shift (1 - D/2) */
                op->add(s->la, size_o, -0.5 * o->level_shift, s->density_o, 1.0, s->orbitals);
                op->add_to_diagonal(s->la, s->m, o->level_shift, s->orbitals);
            }
            if (r->cycles < o->max_cycles) {
                fmo_scf_solve(s, s->orbitals, s->density_o);
                fmo_scf_from_orthogonal(s, s->density_o, s->density);
            }
            full = since_full >= o->rebuild_cycles || gradient < nearly * o->gradient_convergence;
        }
        op->finish(s->la);
        if (o->callback) {
            fmo_scf_cycle report = {.cycle = r->cycles,
                                    .energy = energy,
                                    .energy_change = change,
                                    .gradient = gradient,
                                    .full_build = since_full == 0,
                                    .energy_diis = is_ediis,
                                    .fock_seconds = s->fock_seconds - fock,
                                    .solve_seconds = s->solve_seconds - solve};
            report.other_seconds =
                driver_seconds() - start - report.fock_seconds - report.solve_seconds;
            o->callback(&report, o->user);
        }
        if (!isfinite(energy) || !isfinite(gradient))
            return fmo_error_set(err, FMO_ERR_CHECK,
                                 "the energy of cycle %d is not a finite number", r->cycles);
    }
    return FMO_OK;
}

/* ---- after the cycles ---------------------------------------------------------------------- */

/* Canonical orbitals of the last Fock matrix, neither extrapolated nor shifted. */
static void canonical_orbitals(fmo_scf_state *s)
{
    const double start = driver_seconds();
    fmo_scf_to_orthogonal(s, s->fock, s->orbitals);
    s->la->ops->eigen(s->la, s->m, s->orbitals, s->orbital_energy);
    s->solve_seconds += driver_seconds() - start;
}

/* Turns the occupied orbitals by `angle` along a direction [virtual][occupied]: the density of the
 * space spanned by Y = C_occ + angle C_vir V, which are the lowest "orbitals" of -Y Y^T. */
static void turn_orbitals(fmo_scf_state *s, const double *direction, double angle)
{
    const fmo_linalg_ops *op = s->la->ops;
    const int nocc = s->occupied, nvir = s->m - nocc;
    const double *virtuals = s->orbitals + (size_t)s->m * (size_t)nocc;
    double *Y = s->work2, *M = s->past_fock;
    op->add(s->la, (size_t)s->m * (size_t)nocc, 1.0, s->orbitals, 0.0, Y);
    op->multiply(s->la, 'N', 'N', s->m, nocc, nvir, angle, virtuals, direction, 1.0, Y);
    op->multiply(s->la, 'N', 'T', s->m, s->m, nocc, -1.0, Y, Y, 0.0, M);
    op->fold(s->la, s->m, 0.5, 1.0, M);
    fmo_scf_solve(s, M, s->density_o);
    fmo_scf_from_orthogonal(s, s->density_o, s->density);
}

/* Checks the converged state; where it is unstable and that is wanted, goes down from there. */
static fmo_status stabilise(fmo_scf_state *s, const fmo_scf_options *o, fmo_scf_result *r,
                            fmo_error *err)
{
    enum { DESCENTS = 10 };
    const double unstable = -1e-5; /* hartree; rounding makes zeros of either sign */
    const int nocc = s->occupied, nvir = s->m - nocc;
    fmo_status status = FMO_OK;
    if (nvir == 0) return FMO_OK;
    double *direction = s->la->ops->allocate(s->la, (size_t)nvir * (size_t)nocc);
    while (r->converged && s->la->error.status == FMO_OK && status == FMO_OK) {
        const double start = driver_seconds(), fock = s->fock_seconds, solve = s->solve_seconds;
        r->hessian_lowest = fmo_scf_hessian_lowest(s, direction);
        r->stability_seconds += driver_seconds() - start;
        s->fock_seconds = fock;
        s->solve_seconds = solve;
        if (!(r->hessian_lowest < unstable) || o->stability != FMO_SCF_STABILITY_FOLLOW ||
            r->descents == DESCENTS)
            break;
        turn_orbitals(s, direction, 0.5);
        r->descents++;
        status = converge(s, o, 1, r, err);
        if (status == FMO_OK) canonical_orbitals(s);
    }
    s->la->ops->release(s->la, direction);
    return status;
}

static void give_verdict(const fmo_scf_options *o, fmo_scf_result *r)
{
    if (r->converged && r->hessian_lowest < -1e-5)
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
    else
        snprintf(r->verdict, sizeof r->verdict,
                 "not converged in %d cycle%s: energy change %.1e (wanted %.0e), gradient %.1e "
                 "(wanted %.0e); more cycles, a level shift of 0.3 or another guess may help",
                 r->cycles, r->cycles == 1 ? "" : "s", r->energy_change, o->energy_convergence,
                 r->gradient, o->gradient_convergence);
}

static fmo_status collect(fmo_scf_state *s, fmo_scf_result *r, fmo_error *err)
{
    const fmo_linalg_ops *op = s->la->ops;
    const size_t n = (size_t)s->n, m = (size_t)s->m;
    op->multiply(s->la, 'N', 'N', s->n, s->m, s->m, 1.0, s->X, s->orbitals, 0.0, s->work);
    op->download(s->la, n * m, s->work, r->coefficient);
    op->download(s->la, n * n, s->density, r->density);
    op->download(s->la, n * n, s->fock, r->fock);
    for (int k = 0; k < s->m; k++) {
        r->orbital_energy[k] = s->orbital_energy[k];
        r->occupation[k] = k < s->occupied ? 2.0 : 0.0;
    }
    r->mo_num = s->m;
    r->occupied_num = s->occupied;
    r->homo = s->orbital_energy[s->occupied - 1];
    r->lumo = s->occupied < s->m ? s->orbital_energy[s->occupied] : NAN;
    if (fmo_fock_plan_profile(s->plan, &r->fock_profile, NULL) != FMO_OK) {
        memset(&r->fock_profile, 0, sizeof r->fock_profile); /* device builds keep none */
        r->fock_profile.threads = 1;
    }
    snprintf(r->fock_profile.device, sizeof r->fock_profile.device, "%s",
             s->la->device[0] ? s->la->device : r->fock_profile.device);
    (void)err;
    return FMO_OK;
}

/* ---- all of it ----------------------------------------------------------------------------- */

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

static fmo_scf_result *new_result(int nao)
{
    const size_t n = (size_t)nao;
    fmo_scf_result *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->nao = nao;
    r->energy = r->energy_change = r->gradient = r->homo = r->lumo = r->hessian_lowest = NAN;
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

/* Every array of the state. The past is as large as DIIS wants it. */
static void allocate(fmo_scf_state *s, int diis_size)
{
    const size_t n = (size_t)s->n, size = n * n;
    double **const squares[] = {&s->X,    &s->density, &s->built,    &s->fock_2e,   &s->coulomb,
                                &s->work, &s->work2,   &s->exchange, &s->density_o, &s->orbitals};
    for (size_t k = 0; k < sizeof squares / sizeof squares[0]; k++)
        *squares[k] = s->la->ops->allocate(s->la, size);
    s->core_and_fock = s->la->ops->allocate(s->la, 2 * size);
    s->core = s->core_and_fock;
    s->fock = s->core_and_fock ? s->core_and_fock + size : NULL;
    s->past_fock = s->la->ops->allocate(s->la, (size_t)diis_size * size);
    s->past_error = s->la->ops->allocate(s->la, (size_t)diis_size * size);
    s->past_density = s->la->ops->allocate(s->la, (size_t)diis_size * size);
}

static void release(fmo_scf_state *s)
{
    if (!s->la) return;
    double *const arrays[] = {s->X,          s->density,     s->built,         s->fock_2e,
                              s->coulomb,    s->work,        s->work2,         s->exchange,
                              s->density_o,  s->orbitals,    s->core_and_fock, s->past_fock,
                              s->past_error, s->past_density};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        s->la->ops->release(s->la, arrays[k]);
}

/* The plan and the backend that its mode works with. */
static fmo_status open_backend(const fmo_scf_input *in, const fmo_scf_options *o, fmo_scf_state *s,
                               fmo_scf_result *r, char *reason, size_t reason_size, fmo_error *err)
{
    fmo_fock_options fock = o->fock;
    fmo_error no_gpu = {FMO_OK, ""};
    if (fock.mode == FMO_MODE_AUTO) {
        const fmo_status gpu = fmo_gpu_available(&no_gpu);
        fock.mode = gpu == FMO_OK ? FMO_MODE_FUSED : FMO_MODE_CPU;
        snprintf(reason, reason_size, "%s%.140s",
                 gpu == FMO_OK ? "a GPU answers" : "no GPU: ", no_gpu.message);
    }
    const int threads = fock.threads > 0 ? fock.threads : omp_get_max_threads();
    /* `fixed` promises bits that threads do not change; OpenBLAS does so with one. */
    const int blas_threads = fock.scatter == FMO_SCATTER_FIXED ? 1 : threads;
    fmo_status status;
    if (fock.mode == FMO_MODE_FUSED && fmo_gpu_available(NULL) == FMO_OK)
        status = fmo_linalg_open_gpu(&fock.stream, &s->la, err);
    else
        status = fmo_linalg_open_cpu(blas_threads, &s->la, err);
    const double start = driver_seconds();
    if (status == FMO_OK) status = fmo_fock_plan_create(in->basis, &fock, &s->plan, err);
    r->plan_seconds = driver_seconds() - start;
    r->mode = fock.mode;
    if (status != FMO_OK) return status;
    r->device = s->la->ops->on_device;
    s->solver = o->solver;
    if (s->solver == FMO_SCF_SOLVER_AUTO)
        s->solver =
            r->device && s->n >= PURIFY_FROM ? FMO_SCF_SOLVER_PURIFY : FMO_SCF_SOLVER_DIAGONALISE;
    r->solver = s->solver;
    return FMO_OK;
}

fmo_status fmo_scf_run(const fmo_scf_input *input, const fmo_scf_options *options,
                       fmo_scf_result **result, fmo_error *err)
{
    const double start = driver_seconds();
    fmo_scf_options defaults;
    fmo_scf_state s = {0};
    char reason[160] = "";
    if (!result || !input || !input->basis)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_scf_run: NULL");
    *result = NULL;
    fmo_scf_options_init(&defaults);
    const fmo_scf_options *o = options ? options : &defaults;
    fmo_scf_result *r = NULL;
    double lap;
    fmo_status status = check_input(input, o, err);
    if (status != FMO_OK) return status;
    s.n = fmo_basis_ao_num(input->basis);
    s.occupied = input->electron_num / 2;
    s.nuclear_repulsion = input->nuclear_repulsion;
    r = new_result(s.n);
    s.orbital_energy = malloc((size_t)s.n * sizeof *s.orbital_energy);
    if (!r || !s.orbital_energy) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the SCF of %d functions", s.n);
        goto done;
    }
    CHECKGOTO(open_backend(input, o, &s, r, reason, sizeof reason, err));
    lap = driver_seconds();
    CHECKGOTO(one_electron(input, r, err));
    r->one_electron_seconds = driver_seconds() - lap;
    allocate(&s, o->diis_size);
    s.la->ops->upload(s.la, (size_t)s.n * (size_t)s.n, r->core_hamiltonian, s.core);
    CHECKGOTO(s.la->error.status);
    CHECKGOTO(orthogonalise(&s, r, o->linear_dependence, err));
    lap = driver_seconds();
    CHECKGOTO(first_density(&s, input, o, r, err));
    r->guess_seconds = driver_seconds() - lap;
    s.solve_seconds = 0.0;
    CHECKGOTO(s.la->error.status);
    status = converge(&s, o, 0, r, err);
    CHECKGOTO(s.la->error.status);
    if (status == FMO_OK) {
        canonical_orbitals(&s);
        if (o->stability != FMO_SCF_STABILITY_NONE) status = stabilise(&s, o, r, err);
    }
    CHECKGOTO(s.la->error.status);
    CHECKGOTO(collect(&s, r, err));
    give_verdict(o, r);
    if (!r->converged) status = fmo_error_set(err, FMO_ERR_CHECK, "SCF %s", r->verdict);
done:
    if (s.la && s.la->error.status != FMO_OK) {
        status = s.la->error.status;
        fmo_error_set(err, status, "%s", s.la->error.message);
    }
    release(&s);
    fmo_fock_plan_destroy(s.plan);
    if (s.la) s.la->ops->close(s.la);
    free(s.orbital_energy);
    if (r) {
        snprintf(r->fock_profile.mode_reason, sizeof r->fock_profile.mode_reason, "%s", reason);
        r->fock_profile.mode = r->mode;
        r->fock_seconds = s.fock_seconds;
        r->solve_seconds = s.solve_seconds;
        r->seconds = driver_seconds() - start;
    }
    if (status == FMO_OK || (status == FMO_ERR_CHECK && r && r->cycles > 0))
        *result = r;
    else
        fmo_scf_result_destroy(r);
    return status;
}
