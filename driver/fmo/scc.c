/* Monomers to self-consistency: in each iteration every fragment's RHF in the field of the densities
 * that the others had in the iteration before, until the sum of E'_I stands still. */
#include "driver/fmo/internal.h"
#include "driver/base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Superposition of atomic densities, each atom's scaled to the charge that the part has of it. */
static fmo_status first_density(fmo_part *m, const fmo_fragment_system *s, fmo_error *err)
{
    const size_t n = (size_t)m->nao;
    const fmo_status status = fmo_scf_atomic_densities(m->basis, m->density, err);
    for (int a = 0; a < m->atom_num && status == FMO_OK; a++)
        for (int i = m->begin[a]; i < m->begin[a + 1]; i++)
            for (size_t k = 0; k < n; k++)
                m->density[(size_t)i * n + k] *= m->charge[a] / s->number[m->atom[a]];
    return status;
}

/* Whether there is a monomer for each thread: then side by side, else one by one. */
static int side_by_side(const fmo_fragments *f)
{
    return f->o.scf.fock.mode == FMO_MODE_CPU && f->threads > 1 &&
           f->system->fragment_num >= f->threads;
}

/* Calls what() for every monomer. */
static fmo_status for_all(fmo_fragments *f,
                          fmo_status (*what)(fmo_fragments *, int, int, const double *, fmo_error *),
                          const double *thresholds, fmo_error *err)
{
    const int together = side_by_side(f), n = f->system->fragment_num;
    fmo_status status = FMO_OK;
#pragma omp parallel for schedule(dynamic) num_threads(f->threads) if (together)
    for (int k = 0; k < n; k++) {
        fmo_error own = {FMO_OK, ""};
        fmo_status before;
#pragma omp atomic read
        before = status;
        if (before != FMO_OK) continue;
        const fmo_status got = what(f, k, together ? 1 : f->threads, thresholds, &own);
        if (got == FMO_OK) continue;
#pragma omp critical(fmo_fragment_error)
        {
            (void)fmo_error_set(err, got, "%s", own.message);
#pragma omp atomic write
            status = got;
        }
    }
    return status;
}

static fmo_status field_of_one(fmo_fragments *f, int k, int threads, const double *thresholds,
                               fmo_error *err)
{
    (void)threads, (void)thresholds;
    return fmo_field_of(f, &f->monomer[k], err);
}

static fmo_status solve_one(fmo_fragments *f, int k, int threads, const double *thresholds,
                            fmo_error *err)
{
    return fmo_part_solve(f, &f->monomer[k], thresholds[0], thresholds[1], threads, err);
}

static fmo_status guess_one(fmo_fragments *f, int k, int threads, const double *thresholds,
                            fmo_error *err)
{
    (void)threads, (void)thresholds;
    return first_density(&f->monomer[k], f->system, err);
}

fmo_status fmo_fragment_converge(fmo_fragments *f, fmo_error *err)
{
    const fmo_fragment_options *o = &f->o;
    const int n = f->system->fragment_num;
    fmo_fragment_result *r = f->result;
    int done = 0, converged = 0;
    double change = NAN;
    fmo_status status = o->resume ? fmo_state_read(f, &done, &converged, err)
                                  : for_all(f, guess_one, NULL, err);
    if (status != FMO_OK) return status;
    r->iterations = r->resumed = done;
    double energy = 0.0;
    for (int k = 0; k < n; k++) energy += f->monomer[k].energy;
    fmo_field_update(f);
    while (!converged && status == FMO_OK) {
        if (r->iterations >= o->max_iterations)
            return fmo_error_set(err, FMO_ERR_CHECK,
                                 "the monomers are not converged after %d iterations: the sum of "
                                 "their energies changed by %.1e (wanted %.0e); allow more "
                                 "iterations",
                                 r->iterations, change, o->convergence);
        /* As far as the field is from its end, but never looser than 1e-4 hartree. */
        const double last = isnan(change) ? 1.0 : fabs(change);
        const double thresholds[2] = {
            fmin(1e-4, fmax(o->scf.energy_convergence, 1e-3 * last)),
            fmin(1e-2, fmax(o->scf.gradient_convergence, 1e-2 * sqrt(last)))};
        const int tight = thresholds[0] <= o->scf.energy_convergence &&
                          thresholds[1] <= o->scf.gradient_convergence;
        const double start = driver_seconds();
        status = for_all(f, field_of_one, NULL, err);
        const double middle = driver_seconds();
        if (status == FMO_OK) status = for_all(f, solve_one, thresholds, err);
        const double end = driver_seconds();
        if (status != FMO_OK) return status;
        fmo_field_update(f);
        fmo_fragment_iteration report = {.iteration = ++r->iterations,
                                         .field_seconds = middle - start,
                                         .scf_seconds = end - middle};
        for (int k = 0; k < n; k++) {
            report.energy += f->monomer[k].energy;
            report.cycles += f->monomer[k].cycles;
        }
        change = r->iterations > 1 ? report.energy - energy : NAN;
        energy = report.energy;
        converged = n == 1 ? tight : tight && fabs(change) < o->convergence;
        report.energy_change = r->energy_change = change;
        report.converged = converged;
        r->field_seconds += report.field_seconds;
        r->scf_seconds += report.scf_seconds;
        if (o->state) status = fmo_state_write(f, r->iterations, converged, err);
        if (o->iteration) o->iteration(&report, o->user);
    }
    return status;
}
