/* Pairs of fragments. Near pairs have an RHF calculation in the field of the others, starting from
 * D^I (+) D^J, and contribute
 *     E'_IJ - E'_I - E'_J + Tr(dD^IJ U^IJ),   dD = D^IJ - D^I (+) D^J;
 * far pairs contribute the electrostatic energy of their monomers,
 *     Tr D^I u^J + Tr D^J u^I + sum D^I D^J (mn|ls) + sum Z_A Z_B / R,
 * which is computed for near pairs, too. Ranks take pieces of the list of near pairs; rank 0 adds
 * the contributions in the order of the list. Called by run.c. */
#include "driver/fmo/internal.h"
#include "driver/base/checkgoto.h"
#include "driver/base/clock.h"
#include "driver/base/tuning.h"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Largest number of pairs per batch on the CPU (CHUNK) and in mode fused (CHUNK_FUSED; a GPU is
 * idle between batches). If a batch holds all matrices at once, or should end soon, it has at most
 * CHUNK_ELEMENTS elements of each kind of matrix. CHUNK_GPU: smallest number of pairs in a piece
 * for a rank with a GPU. */
enum {
    CHUNK = fmo_tuning_pairs_cpu,
    CHUNK_FUSED = fmo_tuning_pairs_gpu,
    CHUNK_ELEMENTS = fmo_tuning_pairs_elements,
    CHUNK_GPU = fmo_tuning_pairs_rank_gpu
};

/* Pairs per batch (per thread) on the CPU when a state is written: smaller, so that an interrupted
 * run loses less. Threads wait for the last pair of each batch. */
enum { CHUNK_STATE = fmo_tuning_pairs_state, CHUNK_STATE_THREAD = fmo_tuning_pairs_state_thread };

/* Estimated work, for the progress report only: ES_WORK times the product of the monomers' numbers
 * of functions for electrostatics, the cubed number of functions for an SCF (Trp-cage in STO-3G,
 * mode cpu: 25 of 128 s). For progress reports electrostatics are computed in ES_PIECES pieces. */
enum { ES_WORK = 40, ES_PIECES = fmo_tuning_es_pieces };

/* Gradient threshold of pairs over that of monomers. */
enum { GRADIENT = 100 };

/* Change of the number of electrons of an atom by a pair. */
typedef struct population {
    int atom; /* index in the system; -1: unused */
    double change;
} population;

typedef struct task {
    int pair, cycles;
    double work; /* estimated work */
    double internal, transfer;
    size_t populations,
        population_num; /* range in pair_list.population: first entry, number of entries */
} task;

/* Pairs that have an SCF, the largest first. */
typedef struct pair_list {
    int count;
    task *task; /* [count] */
    population *population;
} pair_list;

static double functions(const fmo_fragments *f, const fmo_fragment_pair *p)
{
    return f->monomer[p->i].nao + f->monomer[p->j].nao;
}

static int by_work(const void *x, const void *y)
{
    const task *a = x, *b = y;
    return a->work != b->work ? (a->work < b->work) - (a->work > b->work) : a->pair - b->pair;
}

static double es_work(const fmo_fragments *f, const fmo_fragment_pair *p)
{
    return (double)ES_WORK * f->monomer[p->i].nao * f->monomer[p->j].nao;
}

/* Reports progress. */
static void tell(const fmo_fragments *f, double done, double all)
{
    if (f->o.progress) f->o.progress(done / all, f->o.user);
}

/* Computes the changes of the Mulliken populations by a pair. */
static fmo_status find_populations(const fmo_subsystem *pair, const double *change, const task *t,
                                   population *to, fmo_error *err)
{
    double *const electrons = malloc((size_t)pair->atom_num * sizeof *electrons);
    if (!electrons) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for populations");
    fmo_subsystem_populations(pair, change, electrons);
    for (size_t a = 0; a < t->population_num; a++)
        to[a] = a < (size_t)pair->atom_num ? (population){pair->atom[a], electrons[a]}
                                           : (population){-1, 0.0};
    free(electrons);
    return FMO_OK;
}

/* Pairs that are solved as one batch. Their matrices are made shortly before their SCF, while
 * others are being solved, and freed as soon as possible. */
typedef struct chunk {
    task *tasks;
    population *population;   /* of the whole list */
    fmo_subsystem *subsystem; /* [count] */
    double **change;          /* [count] dD, of pairs that are prepared */
    double done, all;         /* finished and total work of the whole list */
    fmo_status status;        /* status of the work after the SCFs */
    fmo_error err;
} chunk;

/* Makes the atoms and functions of a pair. */
static fmo_status begin_pair(fmo_fragments *f, int k, int threads, void *user, fmo_error *err)
{
    const chunk *c = user;
    const fmo_fragment_pair *p = &f->result->pair[c->tasks[k].pair];
    (void)threads;
    return fmo_subsystem_begin(f, p->i, p->j, &c->subsystem[k], err);
}

static void release_pair(size_t k, void *user)
{
    const chunk *c = user;
    fmo_subsystem_empty(&c->subsystem[k]);
    free(c->change[k]);
    c->change[k] = NULL;
}

/* Some pairs of a chunk. */
typedef struct some_pairs {
    const chunk *c;
    const size_t *which;
} some_pairs;

/* Makes the matrices of a pair, and D^I (+) D^J. */
static fmo_status fill_pair(fmo_fragments *f, int number, int threads, void *user, fmo_error *err)
{
    const some_pairs *s = user;
    const size_t k = s->which[number];
    const fmo_fragment_pair *p = &f->result->pair[s->c->tasks[k].pair];
    const fmo_subsystem *I = &f->monomer[p->i], *J = &f->monomer[p->j];
    fmo_subsystem *subsystem = &s->c->subsystem[k];
    const fmo_status status = fmo_subsystem_fill(f, subsystem, err);
    (void)threads;
    if (status != FMO_OK) return status;
    const size_t n = (size_t)subsystem->nao;
    double *const change = s->c->change[k] = malloc(n * n * sizeof *change);
    if (!change) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a pair");
    fmo_subsystem_add_matrix(I, I->density, 1.0, subsystem, subsystem->density);
    fmo_subsystem_add_matrix(J, J->density, 1.0, subsystem, subsystem->density);
    for (size_t i = 0; i < n * n; i++) change[i] = -subsystem->density[i];
    return FMO_OK;
}

/* Prepares everything that the SCFs of some pairs need. */
static fmo_status prepare_pairs(fmo_fragments *f, const size_t *which, size_t num,
                                const fmo_fock_options *fock, void *user, fmo_error *err)
{
    chunk *c = user;
    const int threads = fmo_fock_threads(fock->threads);
    fmo_status status =
        fmo_fragment_each(f, (int)num, threads, fill_pair, &(some_pairs){c, which}, err);
    if (status == FMO_OK)
        status = fmo_pairs_fields(f, c->subsystem, which, (int)num, fock, threads, err);
    for (size_t k = 0; k < num; k++) {
        fmo_subsystem_free_products(&c->subsystem[which[k]]);
        if (status != FMO_OK) release_pair(which[k], c);
    }
    return status;
}

/* Computes the contributions of a pair to the energy and to populations. */
static fmo_status end_pair(const fmo_fragments *f, const chunk *c, size_t k, fmo_error *err)
{
    task *const t = &c->tasks[k];
    const fmo_fragment_pair *p = &f->result->pair[t->pair];
    const fmo_subsystem *subsystem = &c->subsystem[k];
    const size_t n = (size_t)subsystem->nao;
    for (size_t i = 0; i < n * n; i++) c->change[k][i] += subsystem->density[i];
    t->cycles = subsystem->cycles;
    t->internal = subsystem->energy - f->monomer[p->i].energy - f->monomer[p->j].energy;
    t->transfer = fmo_trace(n, c->change[k], subsystem->field);
    return find_populations(subsystem, c->change[k], t, c->population + t->populations, err);
}

static void pair_solved(fmo_fragments *f, size_t k, void *user)
{
    chunk *c = user;
    const fmo_status status = end_pair(f, c, k, &c->err);
    if (c->status == FMO_OK) c->status = status;
    c->done += c->tasks[k].work;
}

static void pairs_advanced(fmo_fragments *f, double running, void *user)
{
    const chunk *const c = user;
    tell(f, c->done + running, c->all);
}

/* Runs one batch. work_before: work of the list before `begin`; all_work: of the whole list. */
static fmo_status run_chunk(fmo_fragments *f, const pair_list *list, int begin, int count,
                            double work_before, double all_work, fmo_error *err)
{
    chunk c = {.tasks = list->task + begin,
               .population = list->population,
               .subsystem = calloc((size_t)count, sizeof(fmo_subsystem)),
               .change = calloc((size_t)count, sizeof(double *)),
               .done = work_before,
               .all = all_work};
    const fmo_subsystem_callbacks callbacks = {prepare_pairs, pair_solved, pairs_advanced,
                                               release_pair,  &c,          CHUNK_ELEMENTS};
    fmo_status status = FMO_OK;
    if (!c.subsystem || !c.change) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for pairs");
        goto done;
    }
    CHECKGOTO(fmo_fragment_each(f, count, f->threads, begin_pair, &c, err));
    /* The energy of a pair is stationary in D^IJ: its error is quadratic in the gradient, while
     * that of a monomer's E' is linear. */
    const fmo_thresholds thresholds = {f->o.scf.energy_convergence,
                                       GRADIENT * f->o.scf.gradient_convergence, 0.0};
    CHECKGOTO(fmo_subsystems_solve(f, c.subsystem, count, &thresholds, 0, &callbacks, err));
    if (c.status != FMO_OK) status = fmo_error_set(err, c.status, "%s", c.err.message);
done:
    for (int k = 0; k < count && c.subsystem; k++) fmo_subsystem_destroy(&c.subsystem[k]);
    free(c.subsystem);
    free(c.change);
    return status;
}

/* Adds finished pairs to the result. */
static void add_up(fmo_fragments *f, const pair_list *list, int begin, int count)
{
    for (int k = begin; k < begin + count; k++) {
        const task *t = &list->task[k];
        fmo_fragment_pair *p = &f->result->pair[t->pair];
        p->cycles = t->cycles;
        p->internal = t->internal;
        p->transfer = t->transfer;
        p->total = p->internal + p->transfer;
        f->pair_done[t->pair] = 1;
        for (size_t a = t->populations; a < t->populations + t->population_num; a++)
            if (list->population[a].atom >= 0)
                f->pair_charge[list->population[a].atom] -= list->population[a].change;
    }
}

/* Pairs of a round, which ranks take in pieces of decreasing size: half of a rank's share of what
 * is left, but at least as many as the rank has threads, or as keep a GPU busy; one pair if ranks
 * have one thread. */
typedef struct round {
    const pair_list *list;
    const int *begin; /* [pieces + 1] index of the first pair of each piece in the list */
    double work_before, all_work;
} round_of_pairs;

static int piece_size(const fmo_fragments *f, int left)
{
    const int half = left / (2 * f->ranks->size);
    const int least = f->o.scf.fock.mode == FMO_MODE_CPU ? f->threads_first : CHUNK_GPU;
    if (f->o.scf.fock.mode == FMO_MODE_CPU && least == 1) return 1;
    const int size = half < least ? least : half < CHUNK ? half : CHUNK;
    return size < left ? size : left;
}

static fmo_status run_piece(fmo_fragments *f, int k, int threads, void *user, fmo_error *err)
{
    const round_of_pairs *r = user;
    double done = r->work_before;
    (void)threads;
    for (int t = r->begin[0]; t < r->begin[k]; t++) done += r->list->task[t].work;
    tell(f, done, r->all_work);
    return run_chunk(f, r->list, r->begin[k], r->begin[k + 1] - r->begin[k], done, r->all_work,
                     err);
}

static void piece_blocks(fmo_fragments *f, int k, void *user, fmo_block b[FMO_BLOCKS])
{
    const round_of_pairs *r = user;
    const task *first = &r->list->task[r->begin[k]], *last = &r->list->task[r->begin[k + 1] - 1];
    (void)f;
    b[0] = (fmo_block){(void *)(uintptr_t)first, (size_t)(last + 1 - first) * sizeof *first};
    b[1] = (fmo_block){r->list->population + first->populations,
                       (last->populations + last->population_num - first->populations) *
                           sizeof *r->list->population};
}

/* Runs pairs from `begin` on all ranks, and gathers the results on rank 0. */
static fmo_status run_round(fmo_fragments *f, const pair_list *list, int begin, int count,
                            double work_before, double all_work, fmo_error *err)
{
    int *const piece = malloc(((size_t)count + 1) * sizeof *piece), pieces = 0;
    round_of_pairs r = {list, piece, work_before, all_work};
    fmo_status status = FMO_OK;
    if (!piece) status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for pairs");
    status = fmo_fragment_agree(f, status, err);
    const int dealt = status == FMO_OK;
    if (dealt) {
        for (int at = begin; at < begin + count; at += piece_size(f, begin + count - at))
            piece[pieces++] = at;
        piece[pieces] = begin + count;
        status = fmo_fragment_deal(f, pieces, NULL, 1, run_piece, &r, err);
    }
    if (dealt) status = fmo_fragment_gather(f, status, pieces, piece_blocks, &r, err);
    free(piece);
    return status;
}

/* Returns the number of pairs from `begin` whose matrices fit into memory together; at most
 * `max_size`. */
static int chunk_that_fits(const fmo_fragments *f, const pair_list *list, int begin, int max_size)
{
    double elements = 0.0;
    int size = 0;
    while (size < max_size && begin + size < list->count) {
        const double n = functions(f, &f->result->pair[list->task[begin + size].pair]);
        elements += n * n;
        if (size > 0 && elements > CHUNK_ELEMENTS) break;
        size++;
    }
    return size;
}

static int chunk_size(const fmo_fragments *f, const pair_list *list, int begin)
{
    const int left = list->count - begin;
    if (f->ranks) { /* each rank has one piece of it in memory at a time */
        const int limit =
            f->o.state ? CHUNK_STATE_THREAD * f->threads_first * f->ranks->size : left;
        return limit < left ? limit : left;
    }
    if (f->o.scf.fock.mode == FMO_MODE_FUSED && !f->o.state)
        return left < CHUNK_FUSED ? left : CHUNK_FUSED;
    if (f->o.scf.fock.mode != FMO_MODE_CPU) return chunk_that_fits(f, list, begin, CHUNK_FUSED);
    if (!f->o.state) return chunk_that_fits(f, list, begin, CHUNK);
    const int num = f->threads == 1 ? CHUNK_STATE : CHUNK_STATE_THREAD * f->threads;
    return chunk_that_fits(f, list, begin, num < CHUNK ? num : CHUNK);
}

/* Runs all pairs that have an SCF, batch by batch, the largest first. done: work of the finished
 * electrostatics. */
static fmo_status all_scf_pairs(fmo_fragments *f, const pair_list *list, double done,
                                fmo_error *err)
{
    const fmo_fragment_options *o = &f->o;
    const int first = fmo_fragment_is_first(f);
    fmo_status status = FMO_OK;
    double all = done, written = -INFINITY, took = 0.0;
    for (int t = 0; t < list->count; t++) all += list->task[t].work;
    for (int t = 0; t < list->count && status == FMO_OK;) {
        const int size = chunk_size(f, list, t);
        status = f->ranks ? run_round(f, list, t, size, done, all, err)
                          : run_chunk(f, list, t, size, done, all, err);
        if (status == FMO_OK && first) add_up(f, list, t, size);
        for (int k = t; k < t + size; k++) done += list->task[k].work;
        t += size;
        const double now = driver_seconds();
        /* The state is written after the first and the last batch, and after others if that takes
         * little time. */
        if (o->state && first && status == FMO_OK &&
            (t == list->count || took < fmo_tuning_state_write_share * (now - written))) {
            status = fmo_state_write(f, f->result->iterations, 1, err);
            written = driver_seconds();
            took = written - now;
        }
        status = fmo_fragment_agree(f, status, err);
        if (status == FMO_OK) tell(f, done, all);
    }
    return status;
}

/* Computes the electrostatic energies of all pairs of one monomer with those before it. */
static fmo_status es_row(fmo_fragments *f, int k, int threads, void *user, fmo_error *err)
{
    const int row = f->system->fragment_num - 1 - k; /* the longest row first */
    (void)user;
    return fmo_field_electrostatics(f, &f->result->pair[row * (row - 1) / 2], row, threads, err);
}

/* Returns 1 if a cut bond joins two fragments: their pair needs an SCF at any distance. */
static int bonded(const fmo_fragment_system *s, int i, int j)
{
    for (int b = 0; b < s->bond_num; b++) {
        const int x = s->fragment[s->bond[2 * b]], y = s->fragment[s->bond[2 * b + 1]];
        if ((x == i && y == j) || (x == j && y == i)) return 1;
    }
    return 0;
}

static void row_blocks(fmo_fragments *f, int k, void *user, fmo_block b[FMO_BLOCKS])
{
    const int row = f->system->fragment_num - 1 - k;
    (void)user;
    b[0] =
        (fmo_block){f->result->pair + row * (row - 1) / 2, (size_t)row * sizeof *f->result->pair};
}

/* Lists all pairs, and those whose SCF is not finished yet. */
static fmo_status list_pairs(fmo_fragments *f, pair_list *list, fmo_error *err)
{
    const fmo_fragment_system *s = f->system;
    fmo_fragment_result *r = f->result;
    size_t populations = 0;
    list->task = malloc(((size_t)r->pair_num + 1) * sizeof *list->task);
    if (!list->task) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for pairs");
    for (int j = 1, k = 0; j < s->fragment_num; j++)
        for (int i = 0; i < j; i++, k++) {
            fmo_fragment_pair *p = &r->pair[k];
            p->i = i;
            p->j = j;
            p->distance = f->distance[i * s->fragment_num + j];
            p->is_bonded = bonded(s, i, j);
            /* At any distance: an atom in both fragments has no electrostatic energy with
             * itself. */
            p->is_scf = p->distance < s->es_dimers_from || p->is_bonded ||
                        fmo_subsystems_share_atom(&f->monomer[i], &f->monomer[j]);
            if (!p->is_scf) {
                r->es_pairs++;
                continue;
            }
            r->scf_pairs++;
            const double n = functions(f, p);
            if (f->pair_done[k]) continue;
            list->task[list->count++] = (task){.pair = k, .work = n * n * n};
        }
    r->resumed_pairs = r->scf_pairs - list->count;
    qsort(list->task, (size_t)list->count, sizeof *list->task, by_work);
    for (int t = 0; t < list->count; t++) {
        const fmo_fragment_pair *p = &r->pair[list->task[t].pair];
        list->task[t].populations = populations;
        list->task[t].population_num =
            (size_t)(f->monomer[p->i].atom_num + f->monomer[p->j].atom_num);
        populations += list->task[t].population_num;
    }
    list->population = malloc((populations + 1) * sizeof *list->population);
    if (!list->population) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for pairs");
    return FMO_OK;
}

/* Electrostatics of all pairs on a GPU, computed in a thread while the host prepares pairs with an
 * SCF; the two write different data. */
typedef struct es_beside {
    fmo_fragments *f;
    pthread_t thread;
    int started;
    fmo_status status;
    fmo_error err;
} es_beside;

static void *run_es(void *user)
{
    es_beside *const e = user;
    omp_set_num_threads(1); /* for this POSIX thread only: the SCFs use the others */
    fmo_fragment_result *const r = e->f->result;
    e->status = fmo_field_electrostatics(e->f, r->pair, r->pair_num, 1, &e->err);
    return NULL;
}

/* Computes the electrostatic energies of all pairs in pieces of similar work. scf: work of the SCFs
 * that follow; es: of all electrostatics. */
static fmo_status es_in_pieces(fmo_fragments *f, double scf, double es, fmo_error *err)
{
    fmo_fragment_result *const r = f->result;
    fmo_status status = FMO_OK;
    double done = 0.0;
    for (int begin = 0, end = 0; end < r->pair_num && status == FMO_OK; begin = end) {
        double piece = 0.0;
        while (end < r->pair_num && (piece < es / ES_PIECES || end - begin < f->threads))
            piece += es_work(f, &r->pair[end++]);
        status = fmo_field_electrostatics(f, r->pair + begin, end - begin, f->threads, err);
        tell(f, done += piece, scf + es);
    }
    return status;
}

/* Computes all electrostatic energies, or starts a thread that does. @param[out] done  work that is
 * finished */
static fmo_status begin_es(fmo_fragments *f, es_beside *e, const pair_list *list, double *done,
                           fmo_error *err)
{
    fmo_fragment_result *const r = f->result;
    double scf = 0.0, es = 0.0;
    *e = (es_beside){.f = f};
    *done = 0.0;
    if (f->ranks) {
        const fmo_status status = fmo_fragment_deal(f, r->fragment_num, NULL, 0, es_row, NULL, err);
        return fmo_fragment_gather(f, status, r->fragment_num, row_blocks, NULL, err);
    }
    e->started =
        f->o.scf.fock.mode == FMO_MODE_FUSED && pthread_create(&e->thread, NULL, run_es, e) == 0;
    if (e->started) return FMO_OK;
    for (int t = 0; t < list->count; t++) scf += list->task[t].work;
    for (int k = 0; k < r->pair_num; k++) es += es_work(f, &r->pair[k]);
    *done = es;
    return es_in_pieces(f, scf, es, err);
}

static fmo_status end_es(es_beside *e, fmo_error *err)
{
    if (!e->started) return FMO_OK;
    pthread_join(e->thread, NULL);
    return e->status == FMO_OK ? FMO_OK : fmo_error_set(err, e->status, "%s", e->err.message);
}

/* Lists the pairs, computes electrostatics and SCFs, and adds the changes of the charges. */
fmo_status fmo_fragment_pairs(fmo_fragments *f, fmo_error *err)
{
    pair_list list = {0};
    es_beside beside;
    double done;
    fmo_status status;
    CHECKGOTO(fmo_fragment_agree(f, list_pairs(f, &list, err), err));
    if (list.count) CHECKGOTO(fmo_fragment_last_fields(f, err));
    CHECKGOTO(begin_es(f, &beside, &list, &done, err));
    status = all_scf_pairs(f, &list, done, err);
    if (status == FMO_OK)
        status = end_es(&beside, err);
    else
        (void)end_es(&beside, NULL); /* the first error is returned */
    CHECKGOTO(status);
    for (int a = 0; a < f->system->atom_num; a++) f->result->charge2[a] += f->pair_charge[a];
done:
    free(list.task);
    free(list.population);
    return status;
}
