/* Monomers to self-consistency: in each iteration every fragment has an RHF calculation in the
 * field of the densities from the previous iteration, until the sum of E'_I and the fields no
 * longer change. Calls field.c, mix.c and solve.c; called by run.c. */
#include "driver/fmo/internal.h"
#include "driver/base/clock.h"
#include "driver/scf/sad.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Computes a superposition of atomic densities, each scaled to the nuclear charge of the atom in
 * the subsystem. */
static fmo_status first_density(fmo_subsystem *m, const fmo_fragment_system *s, fmo_atoms *atoms,
                                fmo_error *err)
{
    const size_t n = (size_t)m->nao;
    const fmo_status status = fmo_atoms_densities(atoms, m->basis, m->density, err);
    for (int a = 0; a < m->atom_num && status == FMO_OK; a++)
        for (int i = m->begin[a]; i < m->begin[a + 1]; i++)
            for (size_t k = 0; k < n; k++)
                m->density[(size_t)i * n + k] *= m->charge[a] / s->number[m->atom[a]];
    return status;
}

static fmo_status guess_one(fmo_fragments *f, int k, int threads, void *user, fmo_error *err)
{
    (void)threads;
    return first_density(&f->monomer[k], f->system, user, err);
}

/* Computes initial densities of all monomers, which share the cached atomic densities. */
static fmo_status guess(fmo_fragments *f, fmo_error *err)
{
    fmo_atoms *atoms = NULL;
    fmo_status status = fmo_fragment_agree(f, fmo_atoms_create(&atoms, err), err);
    if (status == FMO_OK) {
        status = fmo_fragment_deal(f, f->result->fragment_num, f->order, 0, guess_one, atoms, err);
        status = fmo_fragment_share(f, status, fmo_subsystem_blocks, err);
    }
    fmo_atoms_destroy(atoms);
    return status;
}

/* user: fmo_fock_options. */
static fmo_status field_of_one(fmo_fragments *f, int k, int threads, void *user, fmo_error *err)
{
    return fmo_monomers_fields(f, &f->monomer[k], 1, user, threads, err);
}

/* Far from convergence fields need less accuracy: their cutoff is this share of their residual
 * (hartree), at most cutoff_max, but not below the requested cutoff. */
static const double cutoff_share = 1e-8, cutoff_max = 1e-7;

static double field_cutoff(const fmo_scf_options *o, double far)
{
    const double loose = isnan(far) ? cutoff_max : fmin(cutoff_max, cutoff_share * far);
    return o->fock.cutoff > 0.0 ? fmax(o->fock.cutoff, loose) : 0.0; /* 0: no screening */
}

/* Ratio of an SCF's gradient threshold to the residual of the field, both in hartree. */
static const double gradient_share = 1e-2;

/* A small energy change alone may be accidental: the error of E' is proportional to that of the
 * fields, so their residual must be below this many times the energy threshold. */
static const double far_enough = 10.0;

/* Chooses the thresholds of an iteration from the residual `far` (hartree) of its fields: densities
 * need not be more accurate than the fields. In the last iterations SCFs continue below the
 * requested gradient as long as it falls; otherwise their errors dominate the differences of
 * fields, and DIIS extrapolates those (docs/log/fmo.md, "How fast"). @return 1 if the thresholds
 * are tight enough for the last iteration */
static int choose_thresholds(const fmo_scf_options *o, double far, fmo_thresholds *t)
{
    const double gradient = isnan(far) ? 1e-2 : fmin(1e-2, gradient_share * far);
    t->energy = fmax(o->energy_convergence, gradient * gradient);
    t->gradient = fmax(o->gradient_convergence, gradient);
    t->aim = gradient;
    return t->energy <= o->energy_convergence && gradient <= o->gradient_convergence;
}

/* Orbitals are computed if the last energy change was below this many times the threshold; usually
 * each change is a fifth of the previous one. */
static const double orbitals_from = 30.0;

/* Computes the fields of the densities on all ranks; rank 0, which has the history, extrapolates
 * them. *far: residual of the previous fields; replaced by that of the new ones. */
static fmo_status find_fields(fmo_fragments *f, fmo_mixer *mixer, int first, double *far,
                              fmo_error *err)
{
    const int n = f->system->fragment_num;
    fmo_fock_options fock = f->o.scf.fock;
    fock.cutoff = field_cutoff(&f->o.scf, *far);
    fmo_status status = f->ranks ? fmo_fragment_deal(f, n, f->order, 0, field_of_one, &fock, err)
                                 : fmo_monomers_fields(f, f->monomer, n, &fock, f->threads, err);
    status = fmo_fragment_gather(f, status, n, fmo_subsystem_field_blocks, f->monomer, err);
    if (status == FMO_OK && mixer) *far = fmo_mixer_next(mixer, f, first);
    if (status == FMO_OK) status = fmo_fragment_broadcast(f, far, sizeof *far, err);
    if (status == FMO_OK) status = fmo_fragment_spread(f, fmo_subsystem_field_blocks, err);
    return status;
}

fmo_status fmo_fragment_last_fields(fmo_fragments *f, fmo_error *err)
{
    double far = 0.0;
    return find_fields(f, NULL, 0, &far, err);
}

/* One iteration: fields of the densities, then densities in these fields. */
static fmo_status iterate(fmo_fragments *f, fmo_mixer *mixer, int first, double *far,
                          fmo_fragment_iteration *report, int *tight, fmo_error *err)
{
    fmo_thresholds thresholds = {0};
    const double start = driver_seconds();
    fmo_status status = find_fields(f, mixer, first, far, err);
    if (status != FMO_OK) return status;
    *tight = choose_thresholds(&f->o.scf, *far, &thresholds);
    const double middle = driver_seconds();
    /* Orbitals are computed only in iterations that may be the last. */
    const double last_change = fabs(f->result->energy_change);
    *tight &= f->result->fragment_num == 1 || last_change < orbitals_from * f->o.convergence;
    status = fmo_subsystems_solve(f, f->monomer, f->system->fragment_num, &thresholds, *tight, NULL,
                                  err);
    if (status != FMO_OK) return status;
    status = fmo_fragment_agree(f, fmo_field_update(f, err), err);
    if (status != FMO_OK) return status;
    report->residual = *far;
    report->field_seconds = middle - start;
    report->scf_seconds = driver_seconds() - middle;
    for (int k = 0; k < f->system->fragment_num; k++) {
        report->energy += f->monomer[k].energy;
        report->cycles += f->monomer[k].cycles;
    }
    return FMO_OK;
}

static fmo_status not_converged(const fmo_fragments *f, double far, fmo_error *err)
{
    if (!isfinite(f->result->energy_change) || !isfinite(far))
        return fmo_error_set(err, FMO_ERR_CHECK,
                             "the monomers are not converged after %d iteration%s; allow more "
                             "iterations",
                             f->result->iterations, f->result->iterations == 1 ? "" : "s");
    return fmo_error_set(
        err, FMO_ERR_CHECK,
        "the monomers are not converged after %d iterations: the sum of their energies changed by "
        "%.1e (threshold %.0e), residual of the fields %.1e (threshold %.0e); allow more "
        "iterations%s%s",
        f->result->iterations, f->result->energy_change, f->o.convergence, far,
        far_enough * f->o.convergence, *f->result->notice ? "; note also: " : "",
        f->result->notice);
}

/* Sets the initial densities: guessed, or read from the state file by rank 0. */
static fmo_status begin(fmo_fragments *f, int *converged, fmo_error *err)
{
    fmo_fragment_result *r = f->result;
    const size_t pairs = (size_t)r->pair_num;
    fmo_status status = FMO_OK;
    if (!f->o.resume) return guess(f, err);
    if (fmo_fragment_is_first(f)) status = fmo_state_read(f, &r->resumed, converged, err);
    status = fmo_fragment_agree(f, status, err);
    if (status == FMO_OK) status = fmo_fragment_broadcast(f, &r->resumed, sizeof r->resumed, err);
    if (status == FMO_OK) status = fmo_fragment_broadcast(f, converged, sizeof *converged, err);
    if (status == FMO_OK) status = fmo_fragment_broadcast(f, f->pair_done, pairs, err);
    if (status == FMO_OK) status = fmo_fragment_broadcast(f, r->pair, pairs * sizeof *r->pair, err);
    return status == FMO_OK ? fmo_fragment_spread(f, fmo_subsystem_blocks, err) : status;
}

/* Iterates until energy and fields have converged, and writes the state after each iteration. */
fmo_status fmo_fragment_converge(fmo_fragments *f, fmo_error *err)
{
    const fmo_fragment_options *o = &f->o;
    fmo_fragment_result *r = f->result;
    int converged = 0, tight = 0;
    int on_gpus = !fmo_subsystems_go_to_cpu(f, f->monomer, r->fragment_num);
    fmo_status status = fmo_fragment_broadcast(f, &on_gpus, sizeof on_gpus, err);
    f->shares = f->ranks && on_gpus;
    f->kept = fmo_batch_cache_create(on_gpus);
    fmo_mixer *const mixer = fmo_fragment_is_first(f) ? fmo_mixer_create(f) : NULL;
    if (!mixer && fmo_fragment_is_first(f))
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the fields");
    status = fmo_fragment_agree(f, status, err);
    if (status == FMO_OK) status = begin(f, &converged, err);
    if (status == FMO_OK) status = fmo_fragment_agree(f, fmo_field_update(f, err), err);
    r->iterations = r->resumed;
    r->energy_change = NAN;
    double energy = 0.0, far = NAN;
    for (int k = 0; k < r->fragment_num; k++) energy += f->monomer[k].energy;
    for (int first = 1; status == FMO_OK && !converged; first = 0) {
        fmo_fragment_iteration report = {.energy_change = NAN};
        if (r->iterations >= o->max_iterations) status = not_converged(f, far, err);
        if (status == FMO_OK) status = iterate(f, mixer, first, &far, &report, &tight, err);
        if (status != FMO_OK) break;
        report.iteration = ++r->iterations;
        if (report.iteration > 1) report.energy_change = report.energy - energy;
        energy = report.energy;
        r->energy_change = report.energy_change;
        r->field_seconds += report.field_seconds;
        r->scf_seconds += report.scf_seconds;
        /* A single fragment has no field. */
        report.converged = converged =
            tight && (r->fragment_num == 1 || (fabs(report.energy_change) < o->convergence &&
                                               far < far_enough * o->convergence));
        if (o->state && fmo_fragment_is_first(f))
            status = fmo_state_write(f, r->iterations, converged, err);
        if (o->state) status = fmo_fragment_agree(f, status, err);
        if (o->iteration) o->iteration(&report, o->user);
    }
    fmo_batch_cache_destroy(f->kept);
    f->kept = NULL;
    fmo_mixer_destroy(mixer);
    return status;
}
