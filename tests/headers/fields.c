/* Valid calls of the public functions that take structs, with one or several fields changed to
 * wrong values: negative counts, the largest numbers, undefined enumerators, NaN, NULL. A call
 * returns a status; on error it has written nothing. The fields are those of fields_table.h.
 * `fields --list` prints them; `fields ROUNDS [SEED]`. */
#include <limits.h>
#include <stdint.h>
#include <unistd.h>

#include <fmo/dataset.h>
#include <fmo/fragment.h>
#include <fmo/gmpi.h>
#include <fmo/gmpi_net.h>
#include <fmo/gradient.h>
#include <fmo/molecule.h>
#include <fmo/potential.h>
#include <fmo/result.h>
#include <fmo/wavefunction.h>

#include "tests/support/check.h"
#include "tests/headers/fields_table.h"

/* The one instance of each struct. */
static fmo_basis_input of_fmo_basis_input;
static fmo_molecule of_fmo_molecule;
static fmo_fragment_system of_fmo_fragment_system;
static fmo_atom_label of_fmo_atom_label; /* the first of the system */
static fmo_fock_options of_fmo_fock_options;
static fmo_potential_options of_fmo_potential_options;
static fmo_scf_options of_fmo_scf_options;
static fmo_fragment_options of_fmo_fragment_options;
static fmo_gmpi_options of_fmo_gmpi_options;
static fmo_gmpi_net of_fmo_gmpi_net;
static fmo_ranks of_fmo_ranks;
static fmo_operator of_fmo_operator;
static fmo_fock_job of_fmo_fock_job;
static fmo_gradient_term of_fmo_gradient_term;
static fmo_gradient_job of_fmo_gradient_job;
static fmo_distribution_job of_fmo_distribution_job;
static fmo_potential_job of_fmo_potential_job;
static fmo_electrostatics_job of_fmo_electrostatics_job;
static fmo_scf_input of_fmo_scf_input;
static fmo_scf_job of_fmo_scf_job;
static fmo_result of_fmo_result;
static fmo_result_array of_fmo_result_array;
static fmo_molecule_result of_fmo_molecule_result;
static fmo_wavefunction of_fmo_wavefunction;
static fmo_fragment_result of_fmo_fragment_result;
static fmo_fragment_pair of_fmo_fragment_pair;

typedef struct row {
    const char *of, *name;
    kind kind;
    size_t length;
    void *at;
    size_t bytes;
} row;
#define ROW(s, f, k, n) {#s, #f, k, n, &of_##s.f, sizeof of_##s.f},
static const row table[] = {FIELDS(ROW)};
#undef ROW
enum { ROWS = sizeof table / sizeof *table };

/* Objects that stay: an H2, its basis, plan and data set, two of its distributions. */
static fmo_basis_set *set;
static fmo_dataset *dataset;
static const fmo_basis *basis;
static fmo_fock_plan *plan;
static fmo_products *products;
static fmo_distribution *charges[2];
static char path[64];
static unsigned long long seed = 1;
static int changed_rows;
static const char *what[4];

/* The arrays of the valid state, renewed before every call; each has exactly its own size, so that
 * a sanitizer finds reads beyond it. */
enum { ARRAYS = 64 };
static void *array[ARRAYS];
static int arrays;

static void *keep(const void *from, size_t bytes)
{
    void *const copy = malloc(bytes);
    if (!copy || arrays == ARRAYS) abort();
    memcpy(copy, from, bytes);
    return array[arrays++] = copy;
}
#define WHOLES_OF(...) keep((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}))
#define REALS_OF(...)  keep((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}))

/* Outputs hold this until a call has written them. */
static const double untouched = 12345.0;
static double J[4], K[4], gradient[6];

static int is_untouched(const double *M)
{
    return M[0] == untouched && M[1] == untouched && M[2] == untouched && M[3] == untouched;
}

/* ---- a network that always fails ------------------------------------------------------------ */

static int no_broadcast(void *user, void *data, size_t bytes)
{
    (void)user, (void)data, (void)bytes;
    return 1;
}
static int no_first(void *user, int mine, void *data, size_t bytes, int *who)
{
    (void)user, (void)mine, (void)data, (void)bytes, (void)who;
    return 1;
}
static int no_sum(void *user, void *data, size_t count, int integers)
{
    (void)user, (void)data, (void)count, (void)integers;
    return 1;
}
static int no_send(void *user, const void *data, size_t bytes)
{
    (void)user, (void)data, (void)bytes;
    return 1;
}
static int no_receive(void *user, int rank, void *data, size_t bytes)
{
    (void)user, (void)rank, (void)data, (void)bytes;
    return 1;
}
static int no_restart(void *user)
{
    (void)user;
    return 1;
}
static void no_destroy(void *user)
{
    (void)user;
}
static int no_next(void *user, int64_t *work_item)
{
    (void)user, (void)work_item;
    return 1;
}

#include "tests/headers/fields_state.h"

/* ---- calls ----------------------------------------------------------------------------------- */

/* A call must return a status with a message, and on error have written nothing. */
static void answered(const char *call, fmo_status status, const fmo_error *err, int clean)
{
    CHECK((unsigned)status < FMO_STATUS_COUNT && (status == FMO_OK) == (err->message[0] == '\0'),
          "%s with %s, %s: status %d, \"%s\"", call, what[0], what[1], (int)status, err->message);
    CHECK(status == FMO_OK || clean, "%s with %s, %s: written after \"%s\"", call, what[0], what[1],
          err->message);
    if (changed_rows == 0) CHECK(status == FMO_OK, "%s, nothing changed: %s", call, err->message);
}

/* The same for calls that write a file. */
static void wrote(const char *call, fmo_status status, const fmo_error *err)
{
    answered(call, status, err, access(path, F_OK) != 0);
    (void)unlink(path);
}

#define CALL(call, clean, ...)                   \
    do {                                         \
        fmo_error err = {FMO_OK, ""};            \
        const fmo_status status = (__VA_ARGS__); \
        answered(call, status, &err, (clean));   \
    } while (0)
#define WRITES(call, ...)                        \
    do {                                         \
        fmo_error err = {FMO_OK, ""};            \
        const fmo_status status = (__VA_ARGS__); \
        wrote(call, status, &err);               \
    } while (0)

static void call_input(void)
{
    fmo_basis *made = NULL;
    fmo_dataset *data = NULL;
    CALL("fmo_basis_create", !made, fmo_basis_create(&of_fmo_basis_input, &made, &err));
    if (made && fmo_basis_ao_num(made) == 2)
        CALL("fmo_overlap", 1,
             fmo_fock_workspace(made, &of_fmo_fock_options, &(fmo_fock_memory){0, 0}, &err));
    fmo_basis_destroy(made);
    CALL("fmo_dataset_create", !data, fmo_dataset_create(&of_fmo_molecule, set, 0, &data, &err));
    fmo_dataset_destroy(data);
}

/* Calls the functions that take options of builds and jobs; an error must leave J and K untouched.
 */
static void call_builds(void)
{
    fmo_fock_plan *own = NULL;
    fmo_mode mode;
    fmo_fock_memory memory;
    const fmo_basis *const of[] = {basis};
    CALL("fmo_fock_choose_mode", 1,
         fmo_fock_choose_mode(basis, &of_fmo_fock_options, &mode, NULL, &err));
    CALL("fmo_fock_workspace", 1, fmo_fock_workspace(basis, &of_fmo_fock_options, &memory, &err));
    CALL("fmo_fock_plan_create_batch", !own,
         fmo_fock_plan_create_batch(of, 1, &of_fmo_fock_options, &own, &err));
    fmo_fock_plan_destroy(own);
    own = NULL;
    CALL("fmo_fock_plan_create", !own,
         fmo_fock_plan_create(basis, &of_fmo_fock_options, &own, &err));
    if (own)
        CALL("fmo_fock_build", is_untouched(J) && is_untouched(K),
             fmo_fock_build(own, of_fmo_fock_job.density, J, K, &err));
    for (int i = 0; i < 6; i++) gradient[i] = untouched;
    of_fmo_gradient_term.exchange_operator = of_fmo_operator;
    if (own)
        CALL("fmo_fock_gradient", gradient[0] == untouched && gradient[5] == untouched,
             fmo_fock_gradient(own, &of_fmo_gradient_term, 1, gradient, &err));
    fmo_fock_plan_destroy(own);
    for (int i = 0; i < 6; i++) gradient[i] = untouched;
    CALL("fmo_fock_gradient_batch", gradient[0] == untouched && gradient[5] == untouched,
         fmo_fock_gradient_batch(&of_fmo_gradient_job, 1, &err));
    for (int i = 0; i < 4; i++) J[i] = K[i] = untouched;
    of_fmo_fock_job.exchange_operator = of_fmo_operator;
    CALL("fmo_fock_build_batch", is_untouched(J) && is_untouched(K),
         fmo_fock_build_batch(&of_fmo_fock_job, 1, &err));
}

/* Options that would make a run endless are limited. */
static void bound(void)
{
    if (changed_rows < 2) return;
    if (of_fmo_scf_options.max_cycles > 60) of_fmo_scf_options.max_cycles = 60;
    if (of_fmo_fragment_options.max_iterations > 20) of_fmo_fragment_options.max_iterations = 20;
}

/* Calls the functions that take options and input of SCFs; a result in spite of an error is allowed
 * only without convergence. */
static void call_scf(void)
{
    fmo_scf_result *result = NULL;
    bound();
    of_fmo_scf_options.fock = of_fmo_fock_options;
    {
        fmo_error err = {FMO_OK, ""};
        const fmo_status status =
            fmo_scf_run(&of_fmo_scf_input, &of_fmo_scf_options, &result, &err);
        answered("fmo_scf_run", status, &err, !result || status == FMO_ERR_CHECK);
    }
    fmo_scf_result_destroy(result);
    of_fmo_scf_job.input = of_fmo_scf_input;
    {
        fmo_error err = {FMO_OK, ""};
        const fmo_status status = fmo_scf_run_batch(&of_fmo_scf_job, 1, &of_fmo_scf_options, &err);
        result = of_fmo_scf_job.result;
        answered("fmo_scf_run_batch", status, &err, !result || status == FMO_ERR_CHECK);
    }
    fmo_scf_result_destroy(result);
}

/* Calls the functions of fragments with the present values of the fields. */
static void call_fragments(void)
{
    fmo_fragment_result *result = NULL;
    fmo_fragment_system *const s = &of_fmo_fragment_system;
    bound();
    of_fmo_fragment_options.scf = of_fmo_scf_options;
    of_fmo_fragment_options.scf.fock = of_fmo_fock_options;
    CALL("fmo_fragment_system_check", 1, fmo_fragment_system_check(s, &err));
    (void)fmo_fragment_electron_num(s, changed_rows);
    CALL("fmo_fragment_run", !result,
         fmo_fragment_run(s, set, &of_fmo_fragment_options, &result, &err));
    fmo_fragment_result_destroy(result);
    WRITES("fmo_fragment_write_pairs",
           fmo_fragment_write_pairs(path, s, &of_fmo_fragment_result, &err));
    WRITES("fmo_fragment_write_map",
           fmo_fragment_write_map(path, s, &of_fmo_fragment_result, "sto-3g", &err));
    if (s->label) s->label[0] = of_fmo_atom_label;
    if (changed_rows < 2) { /* large files take time */
        WRITES("fmo_fragment_write_page",
               fmo_fragment_write_page(path, s, &of_fmo_fragment_result, "sto-3g", 1, &err));
        WRITES("fmo_fragment_write_cpf",
               fmo_fragment_write_cpf(path, s, &of_fmo_fragment_result, "sto-3g", &err));
    }
    int fragment = -1, pair[1] = {-1};
    if (changed_rows == 0)
        CALL("fmo_fragment_find", 1, fmo_fragment_find(s, "A:LIG401", &fragment, &err));
    else
        (void)fmo_fragment_find(s, "A:LIG401", &fragment, NULL);
    if (of_fmo_fragment_result.fragment_num <= 2)
        CALL("fmo_fragment_pairs_of", pair[0] < 0,
             fmo_fragment_pairs_of(&of_fmo_fragment_result, 0, pair, &err));
}

static void call_potentials(void)
{
    const fmo_potential_options *const o = &of_fmo_potential_options;
    fmo_distribution_job *const job = &of_fmo_distribution_job;
    CALL("fmo_distributions_create", !job->distribution, fmo_distributions_create(job, 1, o, &err));
    fmo_distribution_destroy(job->distribution);
    job->distribution = NULL;
    CALL("fmo_distribution_create", !job->distribution,
         fmo_distribution_create(job->products, job->density, job->charge_num, job->charge,
                                 job->coord, &job->distribution, &err));
    fmo_distribution_destroy(job->distribution);
    CALL("fmo_potentials", 1, fmo_potentials(&of_fmo_potential_job, 1, o, &err));
    CALL("fmo_electrostatics", 1, fmo_electrostatics(&of_fmo_electrostatics_job, 1, o, &err));
}

static void call_results(void)
{
    fmo_molecules_file *file = NULL;
    WRITES("fmo_result_write", fmo_result_write(path, dataset, &of_fmo_result, &err));
    WRITES("fmo_result_write_arrays",
           fmo_result_write_arrays(path, NULL, NULL, NULL, NULL, &of_fmo_result_array, 1, &err));
    WRITES("fmo_wavefunction_write_trexio",
           fmo_wavefunction_write_trexio(path, dataset, &of_fmo_wavefunction, &err));
    WRITES("fmo_wavefunction_write_molden",
           fmo_wavefunction_write_molden(path, dataset, &of_fmo_wavefunction, &err));
    if (fmo_molecules_file_create("cpu", 1e-10, &file, NULL) != FMO_OK) return;
    fmo_error added = {FMO_OK, ""};
    const fmo_status taken = fmo_molecules_file_add(file, dataset, &of_fmo_molecule_result, &added);
    answered("fmo_molecules_file_add", taken, &added, 1);
    if (taken == FMO_OK)
        WRITES("fmo_molecules_file_write", fmo_molecules_file_write(file, path, &err));
    fmo_molecules_file_destroy(file);
}

/* A network that fails makes every call fail, whichever field is changed. */
static void call_ranks(void)
{
    const int changed = changed_rows;
    fmo_gmpi *group = NULL;
    fmo_fock_plan *own = NULL;
    fmo_scf_options o = of_fmo_scf_options;
    int device = 0;
    changed_rows = 1;
    CALL("fmo_ranks_agree", 1, fmo_ranks_agree(&of_fmo_ranks, FMO_OK, &err));
    CALL("fmo_ranks_broadcast", 1, fmo_ranks_broadcast(&of_fmo_ranks, J, sizeof J, &err));
    CALL("fmo_ranks_collect", 1,
         fmo_ranks_collect(&of_fmo_ranks, FMO_OK, NULL, 0, NULL, NULL, &err));
    CALL("fmo_ranks_gpu", 1, fmo_ranks_gpu(&of_fmo_ranks, &device, &err));
    CALL("fmo_fock_serve", 1, fmo_fock_serve(&of_fmo_ranks, &of_fmo_fock_options, &err));
    of_fmo_fock_options.ranks = &of_fmo_ranks;
    CALL("fmo_fock_plan_create", !own,
         fmo_fock_plan_create(basis, &of_fmo_fock_options, &own, &err));
    fmo_fock_plan_destroy(own);
    o.deal = &of_fmo_ranks;
    of_fmo_scf_job = (fmo_scf_job){.input = of_fmo_scf_input};
    CALL("fmo_scf_run_batch", !of_fmo_scf_job.result,
         fmo_scf_run_batch(&of_fmo_scf_job, 1, &o, &err));
    if (fmo_gpu_num() == 0) {
        CALL("fmo_gmpi_create", !group, fmo_gmpi_create(&of_fmo_gmpi_options, &group, &err));
        CALL("fmo_gmpi_create_over", !group,
             fmo_gmpi_create_over(&of_fmo_gmpi_options, &of_fmo_gmpi_net, &group, &err));
    }
    changed_rows = changed;
}

/* Which structs a group of calls takes. */
static const struct {
    void (*call)(void);
    const char *of; /* blanks around each */
} groups[] = {
    {call_input, " fmo_basis_input fmo_molecule "},
    {call_builds,
     " fmo_fock_options fmo_fock_job fmo_gradient_term fmo_gradient_job fmo_operator "},
    {call_scf, " fmo_scf_options fmo_fock_options fmo_scf_input fmo_scf_job "},
    {call_fragments, " fmo_fragment_system fmo_atom_label fmo_fragment_options fmo_fragment_result "
                     "fmo_fragment_pair fmo_scf_options fmo_fock_options "},
    {call_potentials, " fmo_potential_options fmo_distribution_job fmo_potential_job "
                      "fmo_electrostatics_job "},
    {call_results, " fmo_result fmo_result_array fmo_molecule_result fmo_wavefunction "},
    {call_ranks, " fmo_ranks fmo_gmpi_options fmo_gmpi_net fmo_fock_options "},
};
enum { GROUPS = sizeof groups / sizeof *groups };

/* ---- changes --------------------------------------------------------------------------------- */

static const int wholes[] = {-1, 0, INT_MIN, INT_MAX, 1, -2, INT_MAX - 1};
static const double reals[] = {NAN, INFINITY, -INFINITY, -1.0, 0.0, 1e308, -1e308};
static const size_t sizes[] = {SIZE_MAX, 0, SIZE_MAX / 2, SIZE_MAX / 8 + 1, 1};
enum { VALUES = sizeof wholes / sizeof *wholes, SIZE_VALUES = sizeof sizes / sizeof *sizes };

/* Puts value `v` into the field of a row, or into `element` of its array. Returns 0 if there is no
 * such value. */
static int change(const row *r, int v, size_t element)
{
    void *at = r->at;
    if (r->kind == WHOLES || r->kind == REALS) {
        memcpy(&at, r->at, sizeof at);
        if (v == VALUES) memset(r->at, 0, r->bytes);
        if (v == VALUES || !at) return v <= VALUES;
    }
    switch (r->kind) {
    case WHOLE:
    case WHOLES:
        if (v < VALUES) memcpy((int *)at + element, &wholes[v], sizeof wholes[v]);
        return v < VALUES;
    case REAL:
    case REALS:
        if (v < VALUES) memcpy((double *)at + element, &reals[v], sizeof reals[v]);
        return v < VALUES;
    case SIZE:
        if (v < SIZE_VALUES) memcpy((size_t *)at + element, &sizes[v], sizeof sizes[v]);
        return v < SIZE_VALUES;
    case POINTER:
    case TEXT:
        if (v == 0) memset(r->at, 0, r->bytes);
        return v == 0;
    case WRITTEN:
        if (v == 0) memset(r->at, 0x5a, r->bytes);
        return v == 0;
    case LEFT:
        break;
    }
    return 0;
}

static int belongs(int group, const row *r)
{
    char name[64];
    snprintf(name, sizeof name, " %s ", r->of);
    return strstr(groups[group].of, name) != NULL;
}

static size_t below(size_t limit)
{
    return (size_t)(check_random(&seed) * (double)limit);
}

/* Every value of every field alone; then several at a time. */
static void run(int group, int rounds)
{
    fill();
    changed_rows = 0;
    what[0] = what[1] = "nothing";
    groups[group].call();
    for (int k = 0; k < ROWS; k++)
        for (int v = 0; belongs(group, &table[k]); v++) {
            fill();
            if (!change(&table[k], v, v % 2 ? table[k].length - 1 : 0)) break;
            changed_rows = 1;
            what[0] = table[k].name;
            groups[group].call();
        }
    for (int n = 0; n < rounds; n++) {
        fill();
        const int rows = 2 + (int)below(3);
        changed_rows = 0;
        for (int tries = 0; tries < 1000 && changed_rows < rows; tries++) {
            const row *const r = &table[below(ROWS)];
            if (!belongs(group, r) || !change(r, (int)below(VALUES + 1), below(r->length)))
                continue;
            what[changed_rows++] = r->name;
        }
        groups[group].call();
    }
}

static int list(void)
{
#define ONE(s) printf("%s\n", #s);
    FIELDS_NOT_READ(ONE)
#undef ONE
    for (int k = 0; k < ROWS; k++) {
        int groups_of_it = 0;
        for (int g = 0; g < GROUPS; g++) groups_of_it += belongs(g, &table[k]);
        if (groups_of_it) printf("%s %s\n", table[k].of, table[k].name);
    }
    return 0;
}

/* Makes the objects that the calls need: a data set, a plan, products and charge distributions. */
static int begin(void)
{
    fmo_error err = {FMO_OK, ""};
    snprintf(path, sizeof path, "fields_%ld.out", (long)getpid());
    fill();
    fmo_fock_options *const o = &of_fmo_fock_options;
    const double density[] = {0.6, 0.6, 0.6, 0.6}, far[] = {9.0, 0.0, 0.0}, one[] = {1.0};
    fmo_status status = fmo_basis_set_read(FMO_DATASET_DIR "/basis/sto-3g.json", &set, &err);
    if (status == FMO_OK) status = fmo_dataset_create(&of_fmo_molecule, set, 0, &dataset, &err);
    basis = fmo_dataset_basis(dataset);
    if (status == FMO_OK) status = fmo_fock_plan_create(basis, o, &plan, &err);
    if (status == FMO_OK) status = fmo_products_create(basis, &products, &err);
    if (status == FMO_OK)
        status = fmo_distribution_create(products, density, 0, NULL, NULL, &charges[0], &err);
    if (status == FMO_OK)
        status = fmo_distribution_create(products, NULL, 1, one, far, &charges[1], &err);
    CHECK(status == FMO_OK, "%s", err.message);
    return status == FMO_OK;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--list") == 0) return list();
    const int rounds = argc > 1 ? atoi(argv[1]) : 200;
    if (argc > 2) seed = strtoull(argv[2], NULL, 10);
    const int begun = begin();
    for (int g = 0; begun && g < GROUPS; g++) run(g, rounds);
    while (arrays) free(array[--arrays]);
    fmo_distribution_destroy(charges[0]);
    fmo_distribution_destroy(charges[1]);
    fmo_products_destroy(products);
    fmo_fock_plan_destroy(plan);
    fmo_dataset_destroy(dataset);
    fmo_basis_set_destroy(set);
    return check_summary();
}
