/* FMO2 from end to end: distances, monomers, pairs, and the energy
 *     E = sum_I E'_I + sum_IJ [ contribution of the pair ].
 * Public functions are in fragment.h. Read next: scc.c, pairs.c. */
#include "driver/fmo/internal.h"
#include "base/arguments.h"
#include "base/free_memory.h"
#include "base/threads.h"
#include "driver/base/agree.h"
#include "driver/base/checkgoto.h"
#include "driver/base/clock.h"
#include "driver/base/hash.h"
#include "driver/base/tuning.h"
#include "driver/scf/input.h"
#include "driver/scf/lockstep.h"
#include "integrals/shell_from.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Van der Waals radii in angstrom, as in OpenFMO; 2 beyond chlorine. */
static double radius(int number)
{
    static const double radii[] = {0.0,  1.20, 1.20, 1.37, 1.45, 1.45, 1.50, 1.50, 1.40,
                                   1.35, 1.30, 1.57, 1.36, 1.24, 1.17, 1.80, 1.75, 1.70};
    const int known = sizeof radii / sizeof radii[0];
    return number < known ? radii[number] : 2.0;
}

/* Computes R(I,J) = min |r_a - r_b| / (w_a + w_b) over the atoms of both. */
static void measure(fmo_fragments *f)
{
    const fmo_fragment_system *s = f->system;
    const int n = s->fragment_num;
    for (int k = 0; k < n * n; k++) f->distance[k] = INFINITY;
    for (int a = 0; a < s->atom_num; a++)
        for (int b = 0; b < a; b++) {
            const int i = s->fragment[a], j = s->fragment[b];
            double r2 = 0.0;
            for (int x = 0; x < 3; x++) {
                const double d = s->coord[3 * a + x] - s->coord[3 * b + x];
                r2 += d * d;
            }
            const double R = sqrt(r2) * (s->bohr > 0.0 ? s->bohr : FMO_FRAGMENT_BOHR) /
                             (radius(s->number[a]) + radius(s->number[b]));
            f->distance[i * n + j] = f->distance[j * n + i] = fmin(R, f->distance[i * n + j]);
        }
}

void fmo_fragment_options_init(fmo_fragment_options *options)
{
    if (!options) return;
    memset(options, 0, sizeof *options);
    fmo_scf_options_init(&options->scf);
    options->scf.gradient_convergence = 1e-7;
    options->scf.max_cycles = 200;
    options->max_iterations = 60;
    options->convergence = 1e-8;
    options->projector = 1e6;
}

void fmo_fragment_result_destroy(fmo_fragment_result *r)
{
    if (!r) return;
    for (int k = 0; r->monomer && k < r->fragment_num; k++) {
        free(r->monomer[k].density);
        free(r->monomer[k].atom);
        free(r->monomer[k].charge);
    }
    free(r->monomer);
    free(r->pair);
    free(r->charge1);
    free(r->charge2);
    free(r);
}

static fmo_status no_memory(fmo_error *err)
{
    return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the fragments");
}

/* Checks that memory for the data of all pairs, far ones included, is free. Operating systems grant
 * more memory than they have, and kill the process that uses it. */
static fmo_status check_table(const fmo_fragments *f, size_t pairs, fmo_error *err)
{
    const size_t one =
        sizeof *f->result->pair + sizeof *f->pair_done + sizeof *f->mine + 2 * sizeof *f->distance;
    const double bytes = (double)pairs * (double)one, there = (double)fmo_free_memory();
    if (bytes <= there) return FMO_OK;
    return fmo_error_set(
        err, FMO_ERR_MEMORY,
        "the data of the %zu pairs of %d fragments need %.3g GB, and %.3g GB are free; make "
        "fragments larger (with a PDB file --per-fragment), or use a smaller system",
        pairs, f->system->fragment_num, 1e-9 * bytes, 1e-9 * there);
}

/* Allocates the result and all arrays by fragment or pair. */
static fmo_status allocate(fmo_fragments *f, fmo_error *err)
{
    const size_t n = (size_t)f->system->fragment_num, atoms = (size_t)f->system->atom_num;
    const fmo_status status = check_table(f, n * (n - 1) / 2, err);
    if (status != FMO_OK) return status;
    fmo_fragment_result *r = f->result = calloc(1, sizeof *r);
    if (!r) return no_memory(err);
    r->fragment_num = (int)n;
    r->atom_num = (int)atoms;
    r->pair_num = (int)(n * (n - 1) / 2);
    r->monomer = calloc(n, sizeof *r->monomer);
    r->pair = calloc((size_t)r->pair_num + 1, sizeof *r->pair);
    r->charge1 = calloc(atoms, sizeof *r->charge1);
    r->charge2 = calloc(atoms, sizeof *r->charge2);
    f->pair_done = calloc((size_t)r->pair_num + 1, sizeof *f->pair_done);
    f->pair_charge = calloc(atoms, sizeof *f->pair_charge);
    f->mine = calloc(n + (size_t)r->pair_num, sizeof *f->mine);
    f->order = calloc(n, sizeof *f->order);
    f->job = calloc(n, sizeof *f->job);
    f->distance = calloc(n * n, sizeof *f->distance);
    f->monomer = calloc(n, sizeof *f->monomer);
    f->exact = calloc(n, sizeof(fmo_distribution *));
    f->aoc = calloc(n, sizeof(fmo_distribution *));
    f->point = calloc(n, sizeof(fmo_distribution *));
    f->mulliken = calloc(n, sizeof(double *));
    if (!r->monomer || !r->pair || !r->charge1 || !r->charge2 || !f->pair_done || !f->pair_charge ||
        !f->mine || !f->order || !f->job || !f->distance || !f->monomer || !f->exact || !f->aoc ||
        !f->point || !f->mulliken)
        return no_memory(err);
    return FMO_OK;
}

/* Frees everything except the result. */
static void release(fmo_fragments *f)
{
    const int n = f->system->fragment_num;
    for (int k = 0; k < n; k++) {
        if (f->monomer) fmo_subsystem_destroy(&f->monomer[k]);
        if (f->exact) fmo_distribution_destroy(f->exact[k]);
        if (f->aoc) fmo_distribution_destroy(f->aoc[k]);
        if (f->point) fmo_distribution_destroy(f->point[k]);
        if (f->mulliken) free(f->mulliken[k]);
    }
    for (int z = 0; z < 119; z++) fmo_hybrids_destroy(f->hybrids[z]);
    free(f->pair_done);
    free(f->pair_charge);
    free(f->mine);
    free(f->order);
    free(f->job);
    free(f->buffer);
    free(f->distance);
    free(f->monomer);
    free(f->exact);
    free(f->aoc);
    free(f->point);
    fmo_distribution_destroy(f->points);
    free(f->mulliken);
}

/* Default number of threads beside the GPUs of a host, shared by its ranks, and the smallest number
 * per rank: more threads wait for each other longer than they help (docs/log/fmo.md, "How
 * fast"). */
enum {
    THREADS_BESIDE = fmo_tuning_fragment_threads,
    THREADS_BESIDE_MIN = fmo_tuning_fragment_threads_least
};

static int threads_beside(const fmo_fragments *f)
{
    const int share = THREADS_BESIDE / (f->ranks ? f->ranks->node_size : 1);
    return share > THREADS_BESIDE_MIN ? share : THREADS_BESIDE_MIN;
}

/* Returns the number of threads that the user set, or all; ranks of a host share its cores. */
static int threads_of_all(const fmo_fragments *f)
{
    const int requested = f->o.scf.fock.threads;
    const int divided = f->ranks && !fmo_threads_are_specified(requested);
    return fmo_fock_threads(divided ? f->ranks->cores : requested);
}

/* Chooses Cartesian or spherical functions for all subsystems. Subsystems without d shells use the
 * corresponding order of functions, too, because matrices of one subsystem are copied into those of
 * another. The basis set is queried for a molecule with one atom of each element, since its choice
 * may depend on the elements. */
static fmo_status choose_functions(fmo_fragments *f, fmo_error *err)
{
    enum { ELEMENTS = 119 };
    const fmo_fragment_system *s = f->system;
    int number[ELEMENTS], num = 0, electrons = 0;
    double coord[3 * ELEMENTS] = {0.0};
    fmo_dataset *one = NULL;
    fmo_error why = {FMO_OK, ""};
    for (int z = 1; z < ELEMENTS; z++)
        for (int a = 0; a < s->atom_num; a++) {
            if (s->number[a] != z) continue;
            coord[3 * num] = 100.0 * num;
            number[num++] = z;
            electrons += z;
            break;
        }
    const fmo_molecule elements = {.nucleus_num = num, .number = number, .coord = coord};
    const fmo_status status = fmo_dataset_create(&elements, f->set, -(electrons % 2), &one, &why);
    if (status != FMO_OK) return fmo_error_set(err, status, "fragments: %s", why.message);
    f->functions =
        fmo_dataset_basis_input(one)->cartesian ? FMO_FUNCTIONS_CARTESIAN : FMO_FUNCTIONS_SPHERICAL;
    fmo_dataset_destroy(one);
    return FMO_OK;
}

/* Leaves a basis with f shells, whose potentials no GPU computes, to the CPU under mode auto. */
static void leave_f_to_cpu(const fmo_basis *basis, fmo_mode requested, fmo_fragments *f)
{
    fmo_fock_options *fock = &f->o.scf.fock;
    if (!basis || requested != FMO_MODE_AUTO || fock->mode != FMO_MODE_FUSED) return;
    const int high_l = fmo_basis_shell_from(basis, FMO_UNROLLED_ANG_MOM_MAX + 1);
    if (high_l < 0) return;
    fock->mode = FMO_MODE_CPU;
    snprintf(f->result->mode_reason, sizeof f->result->mode_reason,
             "potentials of %c shells are computed on the CPU", fmo_shell_letter(high_l));
}

/* Chooses mode and threads for all fragments; rank 0 chooses the mode for all ranks. */
static fmo_status choose_mode(fmo_fragments *f, fmo_error *err)
{
    fmo_fock_options *fock = &f->o.scf.fock;
    const fmo_fragment_system *s = f->system;
    const fmo_molecule whole = {.nucleus_num = s->atom_num, .number = s->number, .coord = s->coord};
    int electrons = 0;
    fmo_dataset *all = NULL; /* NULL also if it cannot be made: the fragment reports the error */
    fmo_status status = FMO_OK;
    for (int a = 0; a < s->atom_num; a++) electrons += s->number[a];
    (void)fmo_dataset_create(&whole, f->set, -(electrons % 2), &all, NULL);
    const fmo_mode requested = fock->mode;
    if (fmo_fragment_is_first(f))
        status = fmo_fock_choose_mode(fmo_dataset_basis(all), fock, &fock->mode,
                                      f->result->mode_reason, err);
    if (status == FMO_OK) leave_f_to_cpu(fmo_dataset_basis(all), requested, f);
    fmo_dataset_destroy(all);
    status = fmo_fragment_agree(f, status, err);
    f->threads = f->threads_cpu = f->threads_first = threads_of_all(f);
    if (fock->mode == FMO_MODE_FUSED && fock->threads <= 0 && f->threads > threads_beside(f))
        f->threads = threads_beside(f);
    fock->threads = f->threads_cpu;
    if (status == FMO_OK) status = fmo_fragment_broadcast(f, &fock->mode, sizeof fock->mode, err);
    if (status == FMO_OK)
        status = fmo_fragment_broadcast(f, &f->threads_first, sizeof f->threads_first, err);
    if (status != FMO_OK) return status;
    if (f->ranks && fock->mode == FMO_MODE_CPU && fock->memory == 0) /* for the SCFs of pairs */
        fock->memory = fmo_free_memory() / 2 / (size_t)f->ranks->node_size;
    f->result->ranks = f->ranks ? f->ranks->size : 1;
    f->result->mode = fock->mode;
    /* The current GPU of the calling thread is not inherited by new threads. */
    if (fock->mode == FMO_MODE_FUSED && fock->device < 0 && fock->device_num == 0)
        fock->device = fmo_batch_linalg_thread_gpu();
    f->result->threads = f->threads;
    return FMO_OK;
}

static fmo_status make_monomer(fmo_fragments *f, int k, int threads, void *user, fmo_error *err)
{
    fmo_subsystem *m = &f->monomer[k];
    fmo_status status = fmo_subsystem_begin(f, k, -1, m, err);
    if (status == FMO_OK) status = fmo_subsystem_fill(f, m, err);
    (void)threads, (void)user;
    if (status != FMO_OK) return status;
    f->mulliken[k] = calloc((size_t)m->atom_num, sizeof(double));
    return f->mulliken[k] ? FMO_OK : no_memory(err);
}

typedef struct sized {
    int functions, fragment;
} sized;

static int by_size(const void *x, const void *y)
{
    const sized *a = x, *b = y;
    return a->functions != b->functions
               ? (a->functions < b->functions) - (a->functions > b->functions)
               : a->fragment - b->fragment;
}

/* Makes all monomers on every rank, and checks that they are the same on all. */
static fmo_status make_monomers(fmo_fragments *f, fmo_error *err)
{
    const int n = f->system->fragment_num;
    fmo_status status = fmo_fragment_each(f, n, f->threads, make_monomer, NULL, err);
    sized *const all = malloc((size_t)n * sizeof *all);
    if (status == FMO_OK && !all) status = no_memory(err);
    for (int k = 0; k < n && status == FMO_OK; k++) all[k] = (sized){f->monomer[k].nao, k};
    if (status == FMO_OK) qsort(all, (size_t)n, sizeof *all, by_size);
    for (int k = 0; k < n && status == FMO_OK; k++) f->order[k] = all[k].fragment;
    free(all);
    if (status == FMO_OK) status = fmo_fragment_allocate(f, err);
    return driver_agree_on(f->ranks, status, status == FMO_OK ? fmo_fragments_identity(f) : 0,
                           "its fragments differ from those of rank 0: every rank reads the files "
                           "itself, so all hosts need the same files",
                           err);
}

/* Counts the functions of the whole system, and notes if the cutoff is too loose for it. */
static void note_cutoff(fmo_fragments *f)
{
    const fmo_fragment_system *s = f->system;
    fmo_fragment_result *r = f->result;
    for (int k = 0; k < r->fragment_num; k++) {
        const fmo_subsystem *m = &f->monomer[k];
        for (int a = 0; a < m->atom_num; a++) /* ghost atoms are counted in their own fragment */
            if (s->fragment[m->atom[a]] == k) r->nao += m->begin[a + 1] - m->begin[a];
    }
    fmo_scf_note_cutoff(f->o.scf.fock.cutoff, FMO_FRAGMENT_CUTOFF_ERROR, FMO_SCF_CUTOFF_MAX, r->nao,
                        f->o.convergence, r->notice, sizeof r->notice);
}

/* Copies the monomers' properties to the result. */
static fmo_status collect_monomers(fmo_fragments *f, fmo_error *err)
{
    const fmo_fragment_system *s = f->system;
    fmo_fragment_result *r = f->result;
    for (int a = 0; a < s->atom_num; a++) r->charge1[a] = r->charge2[a] = s->number[a];
    for (int k = 0; k < r->fragment_num; k++) {
        const fmo_subsystem *m = &f->monomer[k];
        fmo_fragment_monomer *to = &r->monomer[k];
        const size_t size = (size_t)m->nao * (size_t)m->nao;
        to->nao = m->nao;
        to->electron_num = m->electron_num;
        to->energy = m->energy;
        to->field_energy = m->field_energy;
        to->homo = m->homo;
        to->lumo = m->lumo;
        to->atom_num = m->atom_num;
        to->density = malloc(size * sizeof *to->density);
        to->atom = malloc((size_t)m->atom_num * sizeof *to->atom);
        to->charge = malloc((size_t)m->atom_num * sizeof *to->charge);
        if (!to->density || !to->atom || !to->charge) return no_memory(err);
        memcpy(to->density, m->density, size * sizeof *to->density);
        memcpy(to->atom, m->atom, (size_t)m->atom_num * sizeof *to->atom);
        memcpy(to->charge, m->charge, (size_t)m->atom_num * sizeof *to->charge);
        const fmo_status status = fmo_distribution_dipole(f->exact[k], to->dipole, err);
        if (status != FMO_OK) return status;
        for (int a = 0; a < m->atom_num; a++) {
            const double population = m->charge[a] - f->mulliken[k][a];
            r->charge1[m->atom[a]] -= population;
            r->charge2[m->atom[a]] -= population;
        }
        r->electron_num += m->electron_num;
        r->energy1 += m->energy;
    }
    return FMO_OK;
}

/* Returns a hash of the options that must agree on all ranks. */
static uint64_t options_digest(const fmo_fragment_options *o)
{
    const double numbers[] = {o->max_iterations, o->convergence, o->projector, o->state != NULL,
                              o->resume != 0};
    uint64_t sum = fmo_scf_options_digest(&o->scf);
    driver_hash(&sum, numbers, sizeof numbers);
    return sum;
}

/* Checks that the options are in their ranges. */
static fmo_status check_options(const fmo_fragment_options *o, fmo_error *err)
{
    if (o->scf.fock.ranks)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fragment_run: scf.fock.ranks: expected NULL; ranks share "
                             "fragments by scf.deal");
    if (o->max_iterations < 1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fragment_run: max_iterations = %d: expected 1 or more",
                             o->max_iterations);
    if (!(o->convergence > 0.0))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fragment_run: convergence = %g: expected more than 0",
                             o->convergence);
    if (!(o->projector > 0.0) || !isfinite(o->projector))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fragment_run: projector = %g: expected more than 0, and finite",
                             o->projector);
    if (o->resume && !o->state)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "fmo_fragment_run: resume = %d without a state file to continue from",
                             o->resume);
    return fmo_scf_check_options(&o->scf, err);
}

/* Runs all steps from the first allocation to the energy. */
static fmo_status run(fmo_fragments *f, double start, fmo_error *err)
{
    void *starting = NULL; /* GPUs that are being started */
    fmo_status status;
    CHECKGOTO(fmo_fragment_agree(f, allocate(f, err), err));
    CHECKGOTO(fmo_fragment_agree(f, choose_functions(f, err), err));
    CHECKGOTO(choose_mode(f, err));
    /* SCFs run concurrently, one per thread */
    CHECKGOTO(fmo_fragment_agree(f, fmo_check_blas_memory(f->threads, err), err));
    if (f->o.scf.fock.mode == FMO_MODE_FUSED)
        starting = fmo_batch_linalg_begin_gpus(&f->o.scf.fock);
    measure(f);
    CHECKGOTO(fmo_fragment_agree(f, fmo_fragment_read_hybrids(f, err), err));
    CHECKGOTO(make_monomers(f, err));
    note_cutoff(f);
    f->result->setup_seconds = driver_seconds() - start;
    CHECKGOTO(fmo_fragment_converge(f, err));
    CHECKGOTO(fmo_fragment_agree(f, collect_monomers(f, err), err));
    const double pairs = driver_seconds();
    CHECKGOTO(fmo_fragment_pairs(f, err));
    f->result->pair_seconds = driver_seconds() - pairs;
    f->result->energy2 = f->result->energy1;
    for (int k = 0; k < f->result->pair_num; k++) f->result->energy2 += f->result->pair[k].total;
    f->result->seconds = driver_seconds() - start;
done:
    fmo_batch_linalg_end_gpus(starting);
    return status;
}

/* Checks the arguments, on all ranks if there are several, and runs the calculation. */
fmo_status fmo_fragment_run(const fmo_fragment_system *system, const fmo_basis_set *set,
                            const fmo_fragment_options *options, fmo_fragment_result **result,
                            fmo_error *err)
{
    const double start = driver_seconds();
    fmo_fragments f = {.system = system, .set = set};
    fmo_error unseen = {FMO_OK, ""};
    if (!err) err = &unseen;
    if (result) *result = NULL;
    fmo_fragment_options_init(&f.o);
    if (options) f.o = *options;
    f.ranks = f.o.scf.deal;
    fmo_status status = FMO_CHECK_ARGUMENTS("fmo_fragment_run", err, FMO_GIVEN(system),
                                            FMO_GIVEN(set), FMO_GIVEN(result));
    if (status == FMO_OK) status = fmo_fragment_system_check(system, err);
    if (status == FMO_OK) status = check_options(&f.o, err);
    status = driver_agree_on(f.ranks, status, options_digest(&f.o), FMO_SCF_OTHER_OPTIONS, err);
    if (status != FMO_OK) return status;
    if (!fmo_fragment_is_first(&f)) {
        f.o.iteration = NULL;
        f.o.progress = NULL;
    }
    status = run(&f, start, err);
    release(&f);
    if (status == FMO_OK && fmo_fragment_is_first(&f))
        *result = f.result;
    else
        fmo_fragment_result_destroy(f.result);
    return status;
}
