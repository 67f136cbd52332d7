/* The field of all other fragments K on a subsystem x,
 *     U = sum_K [ - sum_A Z_A (m|1/r_A|n) + V^K ],
 * where V^K depends on the distance R(x,K): sum_ls D^K_ls (mn|ls) for near fragments; only (D^K
 * S)_ss on the diagonal for farther ones; for far ones nuclei and electrons together are Mulliken
 * charges. Called by scc.c and pairs.c. See docs/explanation/fmo-method.md, "The field". */
#include "driver/fmo/internal.h"
#include "driver/base/tuning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static fmo_status no_memory(fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a field");
}

static fmo_potential_options options(const fmo_fock_options *fock, int threads)
{
    fmo_potential_options o;
    fmo_potential_options_init(&o);
    o.mode = fock->mode;
    o.device = fock->device;
    o.device_num = fock->device_num;
    memcpy(o.devices, fock->devices, sizeof o.devices);
    o.cutoff = fock->cutoff;
    o.threads = threads;
    return o;
}

/* Number of approximations of a monomer: near, farther, far. */
enum { VIEWS = 3 };

/* Sets up the three approximations of a monomer, jobs[0 .. VIEWS - 1], with diagonal (D S)_ss. The
 * largest monomers come first. */
static fmo_status see_one(fmo_fragments *f, int number, int threads, void *user, fmo_error *err)
{
    const int k = f->order[number];
    fmo_distribution_job *const jobs = (fmo_distribution_job *)user + VIEWS * number;
    const fmo_subsystem *m = &f->monomer[k];
    const size_t n = (size_t)m->nao;
    double *const diagonal = calloc(n * n, sizeof *diagonal);
    (void)threads;
    for (int view = 0; view < VIEWS; view++)
        jobs[view] = (fmo_distribution_job){m->products, NULL,     (size_t)m->atom_num,
                                            m->charge,   m->coord, NULL};
    if (!diagonal) return no_memory(err);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < n; l++)
            diagonal[i * n + i] += m->density[i * n + l] * m->overlap[l * n + i];
    fmo_subsystem_populations(m, m->density, f->mulliken[k]);
    for (int a = 0; a < m->atom_num; a++) f->mulliken[k][a] = m->charge[a] - f->mulliken[k][a];
    jobs[0].density = m->density;
    jobs[1].density = diagonal;
    jobs[2].charge = f->mulliken[k];
    return FMO_OK;
}

/* Computes the distributions of all monomers. */
static fmo_status see_all(fmo_fragments *f, fmo_error *err)
{
    const int n = f->system->fragment_num;
    const size_t num = VIEWS * (size_t)n;
    const fmo_potential_options o = options(&f->o.scf.fock, f->threads);
    fmo_distribution_job *const jobs = calloc(num + 1, sizeof *jobs);
    if (!jobs) return no_memory(err);
    fmo_status status = fmo_fragment_each(f, n, f->threads, see_one, jobs, err);
    for (int k = 0; k < n; k++) {
        fmo_distribution_destroy(f->exact[k]);
        fmo_distribution_destroy(f->aoc[k]);
        fmo_distribution_destroy(f->point[k]);
        f->exact[k] = f->aoc[k] = f->point[k] = NULL;
    }
    if (status == FMO_OK) status = fmo_distributions_create(jobs, num, &o, err);
    for (int number = 0; number < n; number++) {
        const int k = f->order[number];
        fmo_distribution_job *const own = &jobs[VIEWS * number];
        f->exact[k] = own[0].distribution;
        f->aoc[k] = own[1].distribution;
        f->point[k] = own[2].distribution;
        free((void *)(uintptr_t)own[1].density);
    }
    free(jobs);
    return status;
}

/* Collects the Mulliken charges of all monomers in one distribution. */
static fmo_status see_points(fmo_fragments *f, fmo_error *err)
{
    const fmo_fragment_system *s = f->system;
    const size_t capacity = (size_t)(s->atom_num + s->bond_num);
    double *const charge = malloc(4 * capacity * sizeof *charge), *const coord = charge + capacity;
    size_t num = 0;
    if (!charge) return no_memory(err);
    for (int k = 0; k < s->fragment_num; k++) {
        const fmo_subsystem *m = &f->monomer[k];
        const size_t atoms = (size_t)m->atom_num;
        memcpy(charge + num, f->mulliken[k], atoms * sizeof *charge);
        memcpy(coord + 3 * num, m->coord, 3 * atoms * sizeof *coord);
        num += atoms;
    }
    fmo_distribution_destroy(f->points);
    const fmo_status status =
        fmo_distribution_create(f->monomer[0].products, NULL, num, charge, coord, &f->points, err);
    free(charge);
    return status;
}

fmo_status fmo_field_update(fmo_fragments *f, fmo_error *err)
{
    const fmo_status status = see_all(f, err);
    return status == FMO_OK ? see_points(f, err) : status;
}

/* Returns the distribution of a fragment in an approximation. */
static const fmo_distribution *view(const fmo_fragments *f, int k, fmo_seen seen)
{
    return seen == FMO_SEEN_EXACT ? f->exact[k] : seen == FMO_SEEN_AOC ? f->aoc[k] : f->point[k];
}

static fmo_seen seen_as(const fmo_fragments *f, const fmo_subsystem *subsystem, int k)
{
    const int n = f->system->fragment_num;
    double R = f->distance[subsystem->fragment[0] * n + k];
    if (subsystem->fragments == 2) R = fmin(R, f->distance[subsystem->fragment[1] * n + k]);
    if (R < f->system->aoc_from) return FMO_SEEN_EXACT;
    return R < f->system->ptc_from ? FMO_SEEN_AOC : FMO_SEEN_CHARGES;
}

static int is_own(const fmo_subsystem *subsystem, int k)
{
    return k == subsystem->fragment[0] ||
           (subsystem->fragments == 2 && k == subsystem->fragment[1]);
}

/* Returns 1 if a subsystem sees a fragment as point charges. */
static int sees_charges(const fmo_fragments *f, const fmo_subsystem *subsystem, int k)
{
    return !is_own(subsystem, k) && seen_as(f, subsystem, k) == FMO_SEEN_CHARGES;
}

/* Returns 1 if charges of fragments that are not far are few: far charges are then computed as all
 * charges minus these, otherwise from a list of the subsystem's own. A GPU processes sources one
 * after the other, 32 charges at a time each. *num: number of charges of far
 * ones */
static int near_are_few(const fmo_fragments *f, const fmo_subsystem *subsystem, size_t *num)
{
    size_t all = 0;
    *num = 0;
    for (int k = 0; k < f->system->fragment_num; k++) {
        const size_t charges = (size_t)f->monomer[k].atom_num;
        all += charges;
        if (sees_charges(f, subsystem, k)) *num += charges;
    }
    return (double)(all - *num) <= fmo_tuning_field_difference_share * (double)all;
}

/* Copies the far charges into one allocation: coordinates, then charges. */
static double *list_charges(const fmo_fragments *f, const fmo_subsystem *subsystem, size_t num)
{
    double *const coord = malloc(4 * num * sizeof *coord);
    double *const charge = coord ? coord + 3 * num : NULL;
    size_t at = 0;
    for (int k = 0; k < f->system->fragment_num && coord; k++) {
        const fmo_subsystem *const m = &f->monomer[k];
        const size_t atoms = (size_t)m->atom_num;
        if (!sees_charges(f, subsystem, k)) continue;
        memcpy(coord + 3 * at, m->coord, 3 * atoms * sizeof *coord);
        memcpy(charge + at, f->mulliken[k], atoms * sizeof *charge);
        at += atoms;
    }
    return coord;
}

/* Makes the job that computes the field of a subsystem; its lists are freed by free_sources. */
static fmo_status make_field_job(fmo_fragments *f, fmo_subsystem *subsystem, fmo_potential_job *job,
                                 fmo_error *err)
{
    const int n = f->system->fragment_num;
    const size_t capacity = 2 * (size_t)n + 1;
    const fmo_distribution **const source = malloc(capacity * sizeof(*source));
    double *const weight = malloc(capacity * sizeof *weight);
    size_t num = 0, charges = 0;
    const int all = near_are_few(f, subsystem, &charges), listed = !all && charges > 0;
    *job = (fmo_potential_job){.products = subsystem->products,
                               .source = source,
                               .weight = weight,
                               .potential = subsystem->field};
    if (listed) {
        job->coord = list_charges(f, subsystem, charges);
        job->charge = job->coord ? job->coord + 3 * charges : NULL;
        job->charge_num = charges;
    }
    if (!source || !weight || (listed && !job->coord)) return no_memory(err);
    if (all) {
        source[num] = f->points;
        weight[num++] = 1.0;
    }
    for (int k = 0; k < n; k++) {
        const fmo_seen seen = seen_as(f, subsystem, k);
        const int own = is_own(subsystem, k), point = sees_charges(f, subsystem, k);
        if (all && !point) {
            source[num] = f->point[k];
            weight[num++] = -1.0;
        }
        if (own || point) continue;
        source[num] = view(f, k, seen);
        weight[num++] = 1.0;
    }
    job->source_num = num;
    return FMO_OK;
}

static void free_sources(fmo_potential_job *job)
{
    free((void *)(uintptr_t)job->source);
    free((void *)(uintptr_t)job->weight);
    free((void *)(uintptr_t)job->coord);
}

fmo_status fmo_monomers_fields(fmo_fragments *f, fmo_subsystem *monomers, int count,
                               const fmo_fock_options *fock, int threads, fmo_error *err)
{
    fmo_potential_job *const jobs = calloc((size_t)count + 1, sizeof *jobs);
    fmo_status status = jobs ? FMO_OK : no_memory(err);
    for (int k = 0; k < count && status == FMO_OK; k++)
        status = make_field_job(f, &monomers[k], &jobs[k], err);
    if (status == FMO_OK) {
        const fmo_potential_options o = options(fock, threads);
        status = fmo_potentials(jobs, (size_t)count, &o, err);
    }
    for (int k = 0; k < count && jobs; k++) free_sources(&jobs[k]);
    free(jobs);
    return status;
}

/* ---- pairs -----------------------------------------------------------------------------------
 * In the functions of its monomer I, the field of a pair IJ is that of I, without J, and corrected
 * for fragments K that are nearer to J and therefore seen in another approximation; V of its nuclei
 * is V of I's nuclei plus V of J's. The pair itself needs only products between I and J. */

/* Jobs of a pair: field and V of products between its monomers (BETWEEN), and in the functions of
 * either. */
enum { BETWEEN, OF_I, OF_J, PLACES, PAIR_JOBS = 2 * PLACES };

typedef struct pairs_call {
    fmo_subsystem *pairs;
    const size_t *which;
    fmo_potential_job *jobs; /* [count][PAIR_JOBS]: U in the order above, then V */
} pairs_call;

/* Makes the job for the difference of the fields of a pair and of its monomer, in the functions of
 * the monomer. */
static fmo_status look_again(const fmo_fragments *f, const fmo_subsystem *pair, int side,
                             fmo_potential_job *job, fmo_error *err)
{
    const fmo_subsystem *const own = &f->monomer[pair->fragment[side]];
    const int n = f->system->fragment_num, other = pair->fragment[1 - side];
    size_t num = 1;
    for (int k = 0; k < n; k++)
        if (!is_own(pair, k) && seen_as(f, pair, k) != seen_as(f, own, k)) num += 2;
    const fmo_distribution **const source = malloc(num * sizeof(*source));
    double *const weight = malloc(num * sizeof *weight);
    job->source = source;
    job->weight = weight;
    if (!source || !weight) return no_memory(err);
    source[0] = view(f, other, seen_as(f, own, other));
    weight[0] = -1.0;
    num = 1;
    for (int k = 0; k < n; k++) {
        const fmo_seen now = seen_as(f, pair, k), before = seen_as(f, own, k);
        if (is_own(pair, k) || now == before) continue;
        source[num] = view(f, k, now);
        weight[num++] = 1.0;
        source[num] = view(f, k, before);
        weight[num++] = -1.0;
    }
    job->source_num = num;
    return FMO_OK;
}

/* Makes the jobs of a pair and allocates their matrices; the field between the monomers is written
 * to the pair's. */
static fmo_status make_pair_jobs(fmo_fragments *f, int k, int threads, void *user, fmo_error *err)
{
    const pairs_call *const c = user;
    fmo_subsystem *const pair = &c->pairs[c->which[k]];
    fmo_potential_job *const job = c->jobs + PAIR_JOBS * k, *const V = job + PLACES;
    const fmo_subsystem *const own[PLACES] = {pair, &f->monomer[pair->fragment[0]],
                                              &f->monomer[pair->fragment[1]]};
    fmo_status status = make_field_job(f, pair, &job[BETWEEN], err);
    (void)threads;
    for (int side = 0; side < 2 && status == FMO_OK; side++)
        status = look_again(f, pair, side, &job[OF_I + side], err);
    if (status != FMO_OK) return status;
    V[BETWEEN].charge_num = (size_t)pair->atom_num;
    V[BETWEEN].charge = pair->charge;
    V[BETWEEN].coord = pair->coord;
    for (int side = 0; side < 2; side++) {
        const fmo_subsystem *const other = own[OF_J - side];
        V[OF_I + side].charge_num = (size_t)other->atom_num;
        V[OF_I + side].charge = other->charge;
        V[OF_I + side].coord = other->coord;
    }
    for (int p = 0; p < PLACES; p++) {
        const size_t size = (size_t)own[p]->nao * (size_t)own[p]->nao;
        job[p].products = V[p].products = own[p]->products;
        if (p != BETWEEN) job[p].potential = malloc(size * sizeof(double));
        V[p].potential = malloc(size * sizeof(double));
        if (!job[p].potential || !V[p].potential) return no_memory(err);
    }
    return FMO_OK;
}

/* Adds the potentials of a pair's jobs to its field and core. Elements of atoms in both monomers
 * are taken from the first, as both give the same. */
static fmo_status take_pair_jobs(fmo_fragments *f, int k, int threads, void *user, fmo_error *err)
{
    const pairs_call *const c = user;
    fmo_subsystem *const pair = &c->pairs[c->which[k]];
    fmo_potential_job *const job = c->jobs + PAIR_JOBS * k, *const V = job + PLACES;
    const size_t size = (size_t)pair->nao * (size_t)pair->nao;
    (void)threads, (void)err;
    for (size_t i = 0; i < size; i++) pair->core[i] += V[BETWEEN].potential[i];
    for (int side = 1; side >= 0; side--) {
        const fmo_subsystem *const own = &f->monomer[pair->fragment[side]];
        const size_t own_size = (size_t)own->nao * (size_t)own->nao;
        double *const U = job[OF_I + side].potential, *const core = V[OF_I + side].potential;
        for (size_t i = 0; i < own_size; i++) {
            U[i] += own->field[i];
            core[i] += own->core[i];
        }
        fmo_subsystem_add_matrix(own, U, 0.0, pair, pair->field);
        fmo_subsystem_add_matrix(own, core, 0.0, pair, pair->core);
    }
    return FMO_OK;
}

/* Makes the jobs of all pairs, computes all potentials in one call, and assembles the matrices. */
fmo_status fmo_pairs_fields(fmo_fragments *f, fmo_subsystem *pairs, const size_t *which, int count,
                            const fmo_fock_options *fock, int threads, fmo_error *err)
{
    const size_t num = PAIR_JOBS * (size_t)count;
    pairs_call c = {pairs, which, calloc(num + 1, sizeof *c.jobs)};
    fmo_status status = c.jobs ? FMO_OK : no_memory(err);
    if (status == FMO_OK) status = fmo_fragment_each(f, count, threads, make_pair_jobs, &c, err);
    if (status == FMO_OK) {
        const fmo_potential_options o = options(fock, threads);
        status = fmo_potentials(c.jobs, num, &o, err);
    }
    if (status == FMO_OK) status = fmo_fragment_each(f, count, threads, take_pair_jobs, &c, err);
    for (size_t k = 0; k < num && c.jobs; k++) {
        const size_t place = k % PAIR_JOBS;
        if (place < PLACES) free_sources(&c.jobs[k]);
        if (place != BETWEEN) free(c.jobs[k].potential);
    }
    free(c.jobs);
    return status;
}

/* Returns 1 if both contain nuclei of one atom: the two sides of a cut bond, or two fragments
 * attached to the same atom. Both lists ascend. */
int fmo_subsystems_share_atom(const fmo_subsystem *I, const fmo_subsystem *J)
{
    for (int a = 0, b = 0; a < I->atom_num && b < J->atom_num;) {
        if (I->atom[a] == J->atom[b]) return 1;
        if (I->atom[a] < J->atom[b])
            a++;
        else
            b++;
    }
    return 0;
}

/* Computes the electrostatic energies of all pairs in one call; NaN where both fragments have
 * nuclei of one atom. */
fmo_status fmo_field_electrostatics(fmo_fragments *f, fmo_fragment_pair *pairs, int count,
                                    int threads, fmo_error *err)
{
    fmo_electrostatics_job *const jobs = malloc(((size_t)count + 1) * sizeof *jobs);
    size_t num = 0;
    if (!jobs) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for electrostatics");
    for (int k = 0; k < count; k++) {
        fmo_fragment_pair *const p = &pairs[k];
        const int none = fmo_subsystems_share_atom(&f->monomer[p->i], &f->monomer[p->j]);
        p->electrostatic = none ? NAN : 0.0;
        if (!none) jobs[num++] = (fmo_electrostatics_job){.a = f->exact[p->i], .b = f->exact[p->j]};
    }
    const fmo_potential_options o = options(&f->o.scf.fock, threads);
    const fmo_status status = fmo_electrostatics(jobs, num, &o, err);
    num = 0;
    for (int k = 0; k < count && status == FMO_OK; k++) {
        fmo_fragment_pair *const p = &pairs[k];
        if (isnan(p->electrostatic)) continue;
        p->electrostatic = jobs[num++].energy;
        if (!p->is_scf) p->internal = p->total = p->electrostatic;
    }
    free(jobs);
    return status;
}
