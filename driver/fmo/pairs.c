/* Pairs of fragments. Near ones: RHF of the pair in the field of the others, from D^I (+) D^J,
 *     E'_IJ - E'_I - E'_J + Tr(dD^IJ U^IJ),   dD = D^IJ - D^I (+) D^J;
 * far ones by the electrostatics of their monomers,
 *     Tr D^I u^J + Tr D^J u^I + sum D^I D^J (mn|ls) + sum Z_A Z_B / R. */
#include "driver/fmo/internal.h"
#include "driver/base/checkgoto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/one_electron.h>

typedef struct task {
    int pair;
    double work; /* about what it costs */
} task;

typedef struct progress {
    fmo_fragments *f;
    double done, all;
} progress;

static int by_work(const void *x, const void *y)
{
    const task *a = x, *b = y;
    return a->work != b->work ? (a->work < b->work) - (a->work > b->work) : a->pair - b->pair;
}

/* What a pair adds to its atoms' electrons. */
static fmo_status add_populations(fmo_fragments *f, const fmo_part *pair, const double *change,
                                  fmo_error *err)
{
    double *const population = malloc((size_t)pair->atom_num * sizeof *population);
    if (!population) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for populations");
    fmo_part_populations(pair, change, population);
#pragma omp critical(fmo_fragment_populations)
    for (int a = 0; a < pair->atom_num; a++)
        f->result->charge2[pair->atom[a]] -= population[a];
    free(population);
    return FMO_OK;
}

static fmo_status scf_pair(fmo_fragments *f, fmo_fragment_pair *p, int threads, fmo_error *err)
{
    const fmo_part *I = &f->monomer[p->i], *J = &f->monomer[p->j];
    fmo_part pair;
    fmo_status status = fmo_part_create(f, p->i, p->j, threads, &pair, err);
    if (status != FMO_OK) return status;
    const size_t n = (size_t)pair.nao;
    double *const change = malloc(n * n * sizeof *change); /* dD */
    if (!change) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a pair");
        goto done;
    }
    fmo_part_add_matrix(I, I->density, 1.0, &pair, pair.density);
    fmo_part_add_matrix(J, J->density, 1.0, &pair, pair.density);
    for (size_t i = 0; i < n * n; i++) change[i] = -pair.density[i];
    CHECKGOTO(fmo_field_of(f, &pair, err));
    CHECKGOTO(fmo_part_solve(f, &pair, f->o.scf.energy_convergence, f->o.scf.gradient_convergence,
                             threads, err));
    for (size_t i = 0; i < n * n; i++) change[i] += pair.density[i];
    p->cycles = pair.cycles;
    p->internal = pair.energy - I->energy - J->energy;
    p->transfer = fmo_trace(n, change, pair.field);
    p->total = p->internal + p->transfer;
    CHECKGOTO(add_populations(f, &pair, change, err));
done:
    free(change);
    fmo_part_destroy(&pair);
    return status;
}

/* Tr D^x V of the nuclei of another monomer. */
static fmo_status attraction(const fmo_part *x, const fmo_part *other, double *V, double *energy,
                             fmo_error *err)
{
    const fmo_status status =
        fmo_charge_attraction(x->basis, other->atom_num, other->charge, other->coord, V, err);
    if (status == FMO_OK) *energy += fmo_trace((size_t)x->nao, x->density, V);
    return status;
}

static fmo_status es_pair(fmo_fragments *f, fmo_fragment_pair *p, double *work, fmo_error *err)
{
    const fmo_part *I = &f->monomer[p->i], *J = &f->monomer[p->j];
    double energy = 0.0;
    fmo_status status = attraction(I, J, work, &energy, err);
    if (status == FMO_OK) status = attraction(J, I, work, &energy, err);
    if (status != FMO_OK) return status;
    omp_set_lock(&f->lock[p->i]);
    status = fmo_field_coulomb(f, J, p->i, I->density, work, err);
    omp_unset_lock(&f->lock[p->i]);
    if (status != FMO_OK) return status;
    energy += fmo_trace((size_t)J->nao, J->density, work);
    for (int a = 0; a < I->atom_num; a++)
        for (int b = 0; b < J->atom_num; b++) {
            double r2 = 0.0;
            for (int x = 0; x < 3; x++) {
                const double d = I->coord[3 * a + x] - J->coord[3 * b + x];
                r2 += d * d;
            }
            energy += I->charge[a] * J->charge[b] / sqrt(r2);
        }
    p->internal = p->total = energy;
    return FMO_OK;
}

/* After a pair: how far we are. */
static void note(progress *at, double work)
{
    const fmo_fragment_options *o = &at->f->o;
#pragma omp critical(fmo_fragment_progress)
    {
        at->done += work;
        if (o->progress) o->progress(at->done / at->all, o->user);
    }
}

/* A result or the first error. */
static void take_error(fmo_status got, const fmo_error *own, fmo_status *status, fmo_error *err)
{
    if (got == FMO_OK) return;
#pragma omp critical(fmo_fragment_error)
    {
        (void)fmo_error_set(err, got, "%s", own->message);
#pragma omp atomic write
        *status = got;
    }
}

static fmo_status all_scf_pairs(fmo_fragments *f, const task *tasks, int count, progress *at,
                                fmo_error *err)
{
    const int together = f->o.scf.fock.mode == FMO_MODE_CPU && f->threads > 1 && count >= f->threads;
    fmo_status status = FMO_OK;
#pragma omp parallel for schedule(dynamic) num_threads(f->threads) if (together)
    for (int t = 0; t < count; t++) {
        fmo_error own = {FMO_OK, ""};
        fmo_status before;
#pragma omp atomic read
        before = status;
        if (before != FMO_OK) continue;
        fmo_fragment_pair *p = &f->result->pair[tasks[t].pair];
        const fmo_status got = scf_pair(f, p, together ? 1 : f->threads, &own);
        note(at, tasks[t].work);
        take_error(got, &own, &status, err);
    }
    return status;
}

/* Row by row: the monomer with the larger number is the thread's. */
static fmo_status all_es_pairs(fmo_fragments *f, fmo_error *err)
{
    const int n = f->system->fragment_num;
    const int together = f->o.scf.fock.mode == FMO_MODE_CPU && f->threads > 1 && n > f->threads;
    fmo_status status = FMO_OK;
#pragma omp parallel for schedule(dynamic) num_threads(f->threads) if (together)
    for (int row = n - 1; row > 0; row--) {
        int most = 0;
        for (int k = 0; k < n; k++) most = f->monomer[k].nao > most ? f->monomer[k].nao : most;
        fmo_error own = {FMO_OK, ""};
        fmo_status got = FMO_OK, before;
#pragma omp atomic read
        before = status;
        double *const work = malloc((size_t)most * (size_t)most * sizeof *work);
        if (!work) got = fmo_error_set(&own, FMO_ERR_MEMORY, "no memory for a pair");
        for (int k = 0; k < row && got == FMO_OK && before == FMO_OK; k++) {
            fmo_fragment_pair *p = &f->result->pair[row * (row - 1) / 2 + k];
            if (p->is_scf) continue;
            got = es_pair(f, p, work, &own);
        }
        free(work);
        take_error(got, &own, &status, err);
    }
    return status;
}

/* Whether a cut bond joins two fragments: their pair has to have an SCF, however far. */
static int bonded(const fmo_fragment_system *s, int i, int j)
{
    for (int b = 0; b < s->bond_num; b++) {
        const int x = s->fragment[s->bond[2 * b]], y = s->fragment[s->bond[2 * b + 1]];
        if ((x == i && y == j) || (x == j && y == i)) return 1;
    }
    return 0;
}

fmo_status fmo_fragment_pairs(fmo_fragments *f, fmo_error *err)
{
    const fmo_fragment_system *s = f->system;
    fmo_fragment_result *r = f->result;
    progress at = {.f = f};
    task *const tasks = malloc(((size_t)r->pair_num + 1) * sizeof *tasks);
    if (!tasks) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for pairs");
    for (int j = 1, k = 0; j < s->fragment_num; j++)
        for (int i = 0; i < j; i++, k++) {
            fmo_fragment_pair *p = &r->pair[k];
            p->i = i;
            p->j = j;
            p->distance = f->distance[i * s->fragment_num + j];
            p->is_scf = p->distance < s->es_dimers_from || bonded(s, i, j);
            if (!p->is_scf) {
                r->es_pairs++;
                continue;
            }
            const double n = f->monomer[i].nao + f->monomer[j].nao;
            tasks[r->scf_pairs++] = (task){k, n * n * n};
            at.all += n * n * n;
        }
    qsort(tasks, (size_t)r->scf_pairs, sizeof *tasks, by_work);
    fmo_status status = all_es_pairs(f, err);
    if (status == FMO_OK) status = all_scf_pairs(f, tasks, r->scf_pairs, &at, err);
    free(tasks);
    return status;
}
