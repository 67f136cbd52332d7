/* FMO2 of one system: reads it, runs it with progress reports, and writes the result files. See
 * fragments.h; the method is in fmo/fragment.h and docs/explanation/fmo-method.md. */
#define _GNU_SOURCE
#include "driver/run/fragments.h"
#include "driver/base/agree.h"
#include "driver/base/checkgoto.h"
#include "driver/base/clock.h"
#include "driver/base/files.h"
#include "driver/base/interrupt.h"
#include "driver/cli/progress.h"
#include "driver/run/spin.h"
#include "base/harmless.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void driver_fragments_free(driver_fragments *run)
{
    fmo_fragment_system_destroy(run->system);
    fmo_fragment_result_destroy(run->result);
    free(run->ligand_pair);
    memset(run, 0, sizeof *run);
}

const char *driver_fragments_notice(const driver_fragments *run, int i)
{
    const char *const own[] = {run->system->notice, run->spin,
                               run->result ? run->result->notice : NULL, run->unused};
    for (size_t n = 0, k = 0; n < sizeof own / sizeof own[0]; n++)
        if (own[n] && *own[n] && k++ == (size_t)i) return own[n];
    return NULL;
}

/* Checks all files of the run. `system` and `set` have been read, and tell which files they came
 * from; NULL: not read yet. */
static fmo_status check_files(const driver_options *options, const char *path,
                              const fmo_fragment_system *system, const fmo_basis_set *set,
                              fmo_error *err)
{
    struct stat info;
    const char *basis = options->basis && stat(options->basis, &info) == 0 ? options->basis : NULL;
    if (set) basis = fmo_basis_set_path(set);
    const driver_file files[] = {
        {"system", path, false, FMO_FILE_OTHER},
        {"geometry", system ? system->geometry : NULL, false, FMO_FILE_OTHER},
        {"basis set", basis, false, FMO_FILE_OTHER},
        {"--hybrids", options->fragment_options.hybrids, false, FMO_FILE_OTHER},
        {"--ligands", options->ligands, false, FMO_FILE_OTHER},
        {"--output", options->output, true, FMO_FILE_FRAGMENTS},
        {"--state", options->fragment_options.state, true, FMO_FILE_STATE},
        {"--pairs", options->pairs, true, FMO_FILE_PAIRS},
        {"--heat-map", options->map, true, FMO_FILE_MAP},
        {"--html", options->page, true, FMO_FILE_PAGE},
        {"--cpf", options->cpf, true, FMO_FILE_CPF}};
    return driver_check_files(files, sizeof files / sizeof files[0], options->force, err);
}

typedef struct listener {
    const driver_fragment_watch *watch;
    const driver_fragments *run;
    bool begun, pairs;
    driver_progress progress;
    double fraction; /* largest reported fraction of the current task */
    double start;    /* time when the pairs began, seconds */
    double lines;    /* time of the last line about pairs, seconds */
} listener;

/* Minimum number of seconds between two lines about pairs where there is no progress bar. */
static const double line_seconds = 15.0;

/* Callback after an iteration: reports it, and restarts the progress bar. */
static void take_iteration(const fmo_fragment_iteration *iteration, void *user)
{
    listener *l = user;
    driver_progress_end(&l->progress);
    if (l->watch && !l->begun) l->watch->system(l->run->system, l->run->basis, l->watch->user);
    l->begun = true;
    if (l->watch) l->watch->iteration(iteration, l->watch->user);
    l->fraction = 0.0;
    l->pairs = iteration->converged;
    if (iteration->converged) {
        l->start = l->lines = driver_seconds();
        driver_progress_begin(&l->progress, "pairs");
    } else
        driver_progress_begin(&l->progress, "iteration %d", iteration->iteration + 1);
}

/* Updates the progress bar, which never goes back; without a bar, reports long runs of pairs every
 * line_seconds. */
static void take_progress(double fraction, void *user)
{
    listener *l = user;
    if (fraction > l->fraction) l->fraction = fraction;
    driver_progress_update(l->fraction, &l->progress);
    if (!l->pairs || !l->watch || l->progress.enabled || l->fraction >= 1.0) return;
    const double now = driver_seconds();
    if (now - l->lines < line_seconds) return;
    l->lines = now;
    l->watch->pairs(l->fraction, now - l->start, l->watch->user);
}

/* Maximum number of arrays in the result file. */
enum { ARRAYS = 22 };
typedef struct table {
    double *real;
    int *integer;
    fmo_result_array array[ARRAYS];
    int count;
} table;

/* Adds an array to the table. */
static void add(table *t, const char *name, const char *units, int rank, size_t rows,
                size_t columns, const double *real, const int *integer)
{
    t->array[t->count++] =
        (fmo_result_array){name, units, rank, {rows, columns}, real, integer, NULL};
}

/* Appends the density of each monomer ("monomer_density_3") to a copy of the other arrays. */
static fmo_status add_densities(const fmo_fragment_result *r, const table *t,
                                fmo_result_array **all, char (**names)[48], int *count,
                                fmo_error *err)
{
    const size_t n = (size_t)r->fragment_num;
    *all = malloc((n + ARRAYS) * sizeof **all);
    *names = malloc(n * sizeof **names);
    if (!*all || !*names) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the result");
    memcpy(*all, t->array, (size_t)t->count * sizeof **all);
    for (size_t k = 0; k < n; k++) {
        const size_t nao = (size_t)r->monomer[k].nao;
        snprintf((*names)[k], sizeof **names, "monomer_density_%zu", k + 1);
        (*all)[(size_t)t->count + k] = (fmo_result_array){
            (*names)[k], "dimensionless", 2, {nao, nao}, r->monomer[k].density, NULL, NULL};
    }
    *count = t->count + (int)n;
    return FMO_OK;
}

/* Copies the fragment names without control characters; "" for a fragment without a name. Returns
 * NULL, or NULL entries, if memory is short. */
static char **make_names(const fmo_fragment_system *s)
{
    const size_t n = (size_t)s->fragment_num;
    char **names = calloc(n + 1, sizeof *names);
    for (size_t k = 0; names && k < n; k++) {
        names[k] = strdup(s->fragment_name[k] ? s->fragment_name[k] : "");
        if (names[k]) fmo_text_harmless(names[k]);
    }
    return names;
}

static bool all_there(char *const *names, size_t n)
{
    size_t k = 0;
    while (names && k < n && names[k]) k++;
    return k == n;
}

static void free_names(char **names, size_t n)
{
    for (size_t k = 0; names && k < n; k++) free(names[k]);
    free(names);
}

/* Fills the table: energies, charges, monomers and pairs; names: of the fragments, or NULL. */
static void fill_table(table *t, const fmo_fragment_system *s, const fmo_fragment_result *r,
                       char *const *names)
{
    const size_t n = (size_t)r->fragment_num, pairs = (size_t)r->pair_num,
                 atoms = (size_t)r->atom_num, bonds = (size_t)s->bond_num;
    double *const energy = t->real, *const field = energy + n, *const distance = field + n;
    double *const internal = distance + pairs, *const transfer = internal + pairs;
    double *const total = transfer + pairs, *const electrostatic = total + pairs;
    int *const electrons = t->integer, *const pair = electrons + n, *const scf = pair + 2 * pairs;
    int *const fragment = scf + pairs, *const members = fragment + atoms;
    int *const bond = members + n;
    for (size_t k = 0; k < n; k++) {
        energy[k] = r->monomer[k].energy;
        field[k] = r->monomer[k].field_energy;
        electrons[k] = r->monomer[k].electron_num;
    }
    for (size_t k = 0; k < pairs; k++) {
        const fmo_fragment_pair *p = &r->pair[k];
        distance[k] = p->distance;
        internal[k] = p->internal;
        transfer[k] = p->transfer;
        total[k] = p->total;
        electrostatic[k] = p->electrostatic;
        pair[2 * k] = p->i + 1;
        pair[2 * k + 1] = p->j + 1;
        scf[k] = p->is_scf;
    }
    for (size_t a = 0; a < atoms; a++) {
        fragment[a] = s->fragment[a] + 1;
        members[s->fragment[a]]++;
    }
    for (size_t b = 0; b < 2 * bonds; b++) bond[b] = s->bond[b] + 1;
    add(t, "energy_fmo1", "hartree", 0, 0, 0, &r->energy1, NULL);
    add(t, "energy_fmo2", "hartree", 0, 0, 0, &r->energy2, NULL);
    add(t, "atom_number", NULL, 1, atoms, 0, NULL, s->number);
    add(t, "atom_coord", "bohr", 2, atoms, 3, s->coord, NULL);
    add(t, "atom_fragment", NULL, 1, atoms, 0, NULL, fragment);
    add(t, "atom_charge_fmo1", "e", 1, atoms, 0, r->charge1, NULL);
    add(t, "atom_charge_fmo2", "e", 1, atoms, 0, r->charge2, NULL);
    if (bonds) add(t, "bond", NULL, 2, bonds, 2, NULL, bond);
    if (names)
        t->array[t->count++] = (fmo_result_array){
            .name = "monomer_name", .rank = 1, .size = {n}, .text = (const char *const *)names};
    add(t, "monomer_atoms", NULL, 1, n, 0, NULL, members);
    add(t, "monomer_charge", "e", 1, n, 0, NULL, s->charge);
    add(t, "monomer_electrons", NULL, 1, n, 0, NULL, electrons);
    add(t, "monomer_energy", "hartree", 1, n, 0, energy, NULL);
    add(t, "monomer_field_energy", "hartree", 1, n, 0, field, NULL);
    if (pairs) {
        add(t, "pair", NULL, 2, pairs, 2, NULL, pair);
        add(t, "pair_is_scf", NULL, 1, pairs, 0, NULL, scf);
        add(t, "pair_distance", "van der Waals radii", 1, pairs, 0, distance, NULL);
        add(t, "pair_internal", "hartree", 1, pairs, 0, internal, NULL);
        add(t, "pair_transfer", "hartree", 1, pairs, 0, transfer, NULL);
        add(t, "pair_energy", "hartree", 1, pairs, 0, total, NULL);
        add(t, "pair_electrostatic", "hartree", 1, pairs, 0, electrostatic, NULL);
    }
}

/* Writes --output: the table, and on request the densities. */
static fmo_status write_arrays(const driver_options *options, const driver_fragments *run,
                               fmo_error *err)
{
    const fmo_fragment_system *s = run->system;
    const fmo_fragment_result *r = run->result;
    const size_t n = (size_t)r->fragment_num, pairs = (size_t)r->pair_num;
    table t = {.real = malloc((2 * n + 5 * pairs) * sizeof(double)),
               .integer = calloc(2 * n + 3 * pairs + (size_t)r->atom_num + 2 * (size_t)s->bond_num,
                                 sizeof(int))};
    fmo_result_array *all = NULL;
    char(*density_names)[48] = NULL;
    char **names = s->fragment_name ? make_names(s) : NULL;
    fmo_status status = FMO_OK;
    if (!t.real || !t.integer || (s->fragment_name && !all_there(names, n))) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the result");
        goto done;
    }
    fill_table(&t, s, r, names);
    int count = t.count;
    if (options->densities) CHECKGOTO(add_densities(r, &t, &all, &density_names, &count, err));
    status = fmo_result_write_arrays(options->output, s->path, s->sha256, run->basis,
                                     fmo_mode_name(r->mode), all ? all : t.array, count, err);
done:
    free(all);
    free(density_names);
    free_names(names, n);
    free(t.real);
    free(t.integer);
    return status;
}

/* Writes all requested files. */
static fmo_status write_files(const driver_options *options, const driver_fragments *run,
                              const fmo_basis_set *set, fmo_error *err)
{
    fmo_status status = check_files(options, run->system->path, run->system, set, err);
    if (status == FMO_OK && options->output) status = write_arrays(options, run, err);
    if (status == FMO_OK && options->pairs)
        status = fmo_fragment_write_pairs(options->pairs, run->system, run->result, err);
    if (status == FMO_OK && options->map)
        status = fmo_fragment_write_map(options->map, run->system, run->result, run->basis, err);
    if (status == FMO_OK && options->page)
        status = fmo_fragment_write_page(options->page, run->system, run->result, run->basis,
                                         run->ligand, err);
    if (status == FMO_OK && options->cpf)
        status = fmo_fragment_write_cpf(options->cpf, run->system, run->result, run->basis, err);
    return status;
}

/* Combines the fragment options with those that are shared with an SCF. */
static fmo_fragment_options fragment_options(const driver_options *options)
{
    fmo_fragment_options o = options->fragment_options;
    const fmo_scf_options own = o.scf;
    o.scf = options->scf_options;
    o.scf.fock = options->fock;
    o.scf.fock.cutoff = driver_cutoff(options);
    o.scf.fock.integrals = driver_integrals(options);
    if (!options->convergence_given) o.scf.energy_convergence = own.energy_convergence;
    if (!options->max_cycles_given) o.scf.max_cycles = own.max_cycles;
    if (!options->gradient_given) o.scf.gradient_convergence = own.gradient_convergence;
    o.scf.deal = options->fock.ranks;
    o.scf.fock.ranks = NULL;
    o.resume = options->resume;
    return o;
}

/* Spherical or Cartesian functions of d and higher shells: --functions takes precedence over the
 * file, and the file over the basis set. */
static fmo_functions choose_functions(const driver_options *options, const fmo_fragment_system *s)
{
    if (options->functions != FMO_FUNCTIONS_SET || !s->spherical) return options->functions;
    return s->spherical > 0 ? FMO_FUNCTIONS_SPHERICAL : FMO_FUNCTIONS_CARTESIAN;
}

/* Finds the fragment of --ligand. */
static fmo_status find_ligand(const driver_options *options, const char *path,
                              driver_fragments *run, fmo_error *err)
{
    fmo_error why = {FMO_OK, ""};
    if (fmo_fragment_find(run->system, options->ligand, &run->ligand, &why) == FMO_OK)
        return FMO_OK;
    return fmo_error_set(err, why.status, "%.60s: --ligand: %.420s", path, why.message);
}

/* Lists the pairs of that fragment. */
static fmo_status list_ligand(driver_fragments *run, fmo_error *err)
{
    run->ligand_pair = malloc((size_t)run->result->fragment_num * sizeof *run->ligand_pair);
    if (!run->ligand_pair) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for pairs");
    return fmo_fragment_pairs_of(run->result, run->ligand, run->ligand_pair, err);
}

/* Reads the system and its basis set. Every rank reads them itself. */
static fmo_status read_system(const driver_options *options, const char *path,
                              driver_fragments *run, fmo_basis_set **set, fmo_error *err)
{
    run->named = true;
    fmo_status status = fmo_fragment_system_read_pieces(path, options->per_fragment,
                                                        options->ligands, &run->system, err);
    if (status == FMO_OK && options->ligand) status = find_ligand(options, path, run, err);
    if (status != FMO_OK) return status;
    if (!options->basis && !run->system->basis)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "%.200s: basis: the file names no basis set that fmo ships: add "
                             "--basis NAME",
                             path);
    if (options->fragment_options.hybrids && !run->system->bond_num)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "%.200s: --hybrids has no effect on a system without cut bonds: leave "
                             "it out",
                             path);
    run->named = false;
    status = fmo_basis_set_read(options->basis ? options->basis : run->system->basis, set, err);
    if (status != FMO_OK) return status;
    fmo_basis_set_choose_functions(*set, choose_functions(options, run->system));
    driver_note_fragment_spins(run->system, run->spin, sizeof run->spin);
    snprintf(run->basis, sizeof run->basis, "%s", fmo_basis_set_name(*set));
    if (options->exact_field)
        run->system->aoc_from = run->system->ptc_from = run->system->es_dimers_from =
            FMO_FRAGMENT_NOWHERE;
    return FMO_OK;
}

/* Checks the files, reads the system, runs FMO2 on all ranks, and writes on rank 0. */
fmo_status driver_run_fragments(const driver_options *options, const char *path,
                                const driver_fragment_watch *watch, driver_fragments *run,
                                fmo_error *err)
{
    const fmo_ranks *const ranks = options->fock.ranks;
    const bool first = !ranks || ranks->rank == 0;
    fmo_basis_set *set = NULL;
    fmo_fragment_options o = fragment_options(options);
    listener l = {.watch = watch, .run = run};
    fmo_status status = FMO_OK;
    memset(run, 0, sizeof *run);
    run->ligand = -1;
    driver_progress_init(&l.progress, stderr, first && !options->quiet);
    if (first) status = check_files(options, path, NULL, NULL, err);
    if (status == FMO_OK) status = read_system(options, path, run, &set, err);
    if (status == FMO_OK && first) status = check_files(options, path, run->system, set, err);
    CHECKGOTO(driver_agree(ranks, status, err));
    l.progress.heartbeat = 1.0;
    o.iteration = take_iteration;
    o.progress = take_progress;
    o.user = &l;
    driver_progress_begin(&l.progress, options->resume ? "resumed" : "iteration 1");
    status = fmo_fragment_run(run->system, set, &o, &run->result, err);
    driver_progress_end(&l.progress);
    CHECKGOTO(status);
    if (first) {
        driver_options_unused(options, run->result->mode, run->unused, sizeof run->unused);
        if (watch && !l.begun) watch->system(run->system, run->basis, watch->user);
        driver_interrupt_hold();
        status = write_files(options, run, set, err);
        driver_interrupt_release();
        if (status == FMO_OK && options->ligand) status = list_ligand(run, err);
    }
    status = driver_agree(ranks, status, err); /* some errors end the run of all systems */
done:
    driver_progress_end(&l.progress);
    fmo_basis_set_destroy(set);
    return status;
}
