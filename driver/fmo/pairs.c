/* Pairs of fragments. Near ones: RHF of the pair in the field of the others, from D^I (+) D^J,
 *     E'_IJ - E'_I - E'_J + Tr(dD^IJ U^IJ),   dD = D^IJ - D^I (+) D^J;
 * far ones by the electrostatics of their monomers,
 *     Tr D^I u^J + Tr D^J u^I + sum D^I D^J (mn|ls) + sum Z_A Z_B / R. */
#include "driver/fmo/internal.h"
#include "driver/base/checkgoto.h"
#include "driver/base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/one_electron.h>

/* Pairs of a batch: many for each thread, few enough for their matrices. */
enum { CHUNK = 64 };

/* With a state, on the CPU: fewer are lost with a run that is killed. Threads wait for the last
 * pair of each. */
enum { CHUNK_STATE = 8, CHUNK_STATE_THREAD = 16 };

/* The state is written after the first and the last chunk, and else if that takes less than this
 * share of the time since the last time. */
static const double write_share = 0.01;

/* Times the gradient at which monomers are converged. */
enum { GRADIENT = 100 };

typedef struct task {
    int pair;
    double work; /* about what it costs */
} task;

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
    for (int a = 0; a < pair->atom_num; a++) f->pair_charge[pair->atom[a]] -= population[a];
    free(population);
    return FMO_OK;
}

/* Pairs that are solved as one batch. */
typedef struct chunk {
    const task *tasks;
    fmo_part *part;  /* [count] */
    double **change; /* [count] dD */
} chunk;

/* A pair, D^I (+) D^J, and its field. */
static fmo_status begin_pair(fmo_fragments *f, int k, int threads, void *user, fmo_error *err)
{
    const chunk *c = user;
    const fmo_fragment_pair *p = &f->result->pair[c->tasks[k].pair];
    const fmo_part *I = &f->monomer[p->i], *J = &f->monomer[p->j];
    fmo_part *part = &c->part[k];
    const fmo_status status = fmo_part_create(f, p->i, p->j, threads, part, err);
    if (status != FMO_OK) return status;
    const size_t n = (size_t)part->nao;
    c->change[k] = malloc(n * n * sizeof(double));
    if (!c->change[k]) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a pair");
    fmo_part_add_matrix(I, I->density, 1.0, part, part->density);
    fmo_part_add_matrix(J, J->density, 1.0, part, part->density);
    for (size_t i = 0; i < n * n; i++) c->change[k][i] = -part->density[i];
    return fmo_field_of(f, part, err);
}

/* What it adds to the energy and to charges. */
static fmo_status end_pair(fmo_fragments *f, const chunk *c, int k, fmo_error *err)
{
    fmo_fragment_pair *p = &f->result->pair[c->tasks[k].pair];
    fmo_part *part = &c->part[k];
    const size_t n = (size_t)part->nao;
    for (size_t i = 0; i < n * n; i++) c->change[k][i] += part->density[i];
    p->cycles = part->cycles;
    p->internal = part->energy - f->monomer[p->i].energy - f->monomer[p->j].energy;
    p->transfer = fmo_trace(n, c->change[k], part->field);
    p->total = p->internal + p->transfer;
    f->pair_done[c->tasks[k].pair] = 1;
    return add_populations(f, part, c->change[k], err);
}

static fmo_status run_chunk(fmo_fragments *f, const task *tasks, int count, fmo_error *err)
{
    chunk c = {.tasks = tasks,
               .part = calloc((size_t)count, sizeof(fmo_part)),
               .change = calloc((size_t)count, sizeof(double *))};
    fmo_status status = FMO_OK;
    if (!c.part || !c.change) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for pairs");
        goto done;
    }
    CHECKGOTO(fmo_fragment_each(f, count, begin_pair, &c, err));
    /* Their energy is stationary in D^IJ: it is off by the square of the gradient, where monomers'
     * E' are off by the gradient. */
    CHECKGOTO(fmo_parts_solve(f, c.part, count, f->o.scf.energy_convergence,
                              GRADIENT * f->o.scf.gradient_convergence, err));
    CHECKGOTO(fmo_parts_refine(f, c.part, count, err));
    for (int k = 0; k < count; k++) CHECKGOTO(end_pair(f, &c, k, err));
done:
    for (int k = 0; k < count; k++) {
        if (c.part) fmo_part_destroy(&c.part[k]);
        if (c.change) free(c.change[k]);
    }
    free(c.part);
    free(c.change);
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

static int chunk_size(const fmo_fragments *f)
{
    if (!f->o.state || f->o.scf.fock.mode != FMO_MODE_CPU) return CHUNK;
    const int wanted = f->threads == 1 ? CHUNK_STATE : CHUNK_STATE_THREAD * f->threads;
    return wanted < CHUNK ? wanted : CHUNK;
}

/* Chunks of pairs, the largest first. */
static fmo_status all_scf_pairs(fmo_fragments *f, const task *tasks, int count, fmo_error *err)
{
    const fmo_fragment_options *o = &f->o;
    const int most = chunk_size(f);
    fmo_status status = FMO_OK;
    double done = 0.0, all = 0.0, written = -INFINITY, took = 0.0;
    for (int t = 0; t < count; t++) all += tasks[t].work;
    for (int t = 0; t < count && status == FMO_OK;) {
        int size = 0;
        for (; size < most && t + size < count; size++) done += tasks[t + size].work;
        status = run_chunk(f, tasks + t, size, err);
        t += size;
        const double now = driver_seconds();
        if (o->state && status == FMO_OK && (t == count || took < write_share * (now - written))) {
            status = fmo_state_write(f, f->result->iterations, 1, err);
            written = driver_seconds();
            took = written - now;
        }
        if (o->progress && status == FMO_OK) o->progress(done / all, o->user);
    }
    return status;
}

/* All electrostatic pairs of one monomer with those before it. */
static fmo_status es_row(fmo_fragments *f, int k, int threads, void *user, fmo_error *err)
{
    const int row = f->system->fragment_num - 1 - k; /* the longest first */
    const size_t most = *(const size_t *)user;
    double *const work = malloc(most * most * sizeof *work);
    fmo_status status = FMO_OK;
    (void)threads;
    if (!work) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a pair");
    for (int i = 0; i < row && status == FMO_OK; i++) {
        fmo_fragment_pair *p = &f->result->pair[row * (row - 1) / 2 + i];
        if (!p->is_scf) status = es_pair(f, p, work, err);
    }
    free(work);
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
    size_t most = 0;
    int count = 0;
    task *const tasks = malloc(((size_t)r->pair_num + 1) * sizeof *tasks);
    if (!tasks) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for pairs");
    for (int j = 1, k = 0; j < s->fragment_num; j++)
        for (int i = 0; i < j; i++, k++) {
            fmo_fragment_pair *p = &r->pair[k];
            p->i = i;
            p->j = j;
            p->distance = f->distance[i * s->fragment_num + j];
            p->is_bonded = bonded(s, i, j);
            p->is_scf = p->distance < s->es_dimers_from || p->is_bonded;
            if (!p->is_scf) {
                r->es_pairs++;
                continue;
            }
            r->scf_pairs++;
            const double n = f->monomer[i].nao + f->monomer[j].nao;
            if (!f->pair_done[k]) tasks[count++] = (task){k, n * n * n};
        }
    r->resumed_pairs = r->scf_pairs - count;
    qsort(tasks, (size_t)count, sizeof *tasks, by_work);
    for (int k = 0; k < s->fragment_num; k++)
        if ((size_t)f->monomer[k].nao > most) most = (size_t)f->monomer[k].nao;
    fmo_status status = fmo_fragment_each(f, s->fragment_num, es_row, &most, err);
    if (status == FMO_OK) status = all_scf_pairs(f, tasks, count, err);
    for (int a = 0; a < s->atom_num; a++) r->charge2[a] += f->pair_charge[a];
    free(tasks);
    return status;
}
