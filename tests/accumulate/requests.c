/* What a job can request beyond J and K of 1/r and a symmetric density: densities of each symmetry,
 * several at a time, and operators. Mode cpu against mode reference, and what is refused. PySCF is
 * the judge in tests/python/module.py. */
#include "tests/support/decay_checks.h"

static unsigned long long seed = 4711;

enum { JOBS = 8 };
static const fmo_operator operators[] = {{0}, /* 1/r */
                                         {.long_range = 1.0, .omega = 0.3},
                                         {1.0, -1.0, 0.3},
                                         {0.19, 0.46, 0.33}, /* CAM-B3LYP */
                                         {1.0, -1.0, 10.0},
                                         {-0.5, 2.0, 0.1}};
enum { OPERATORS = sizeof operators / sizeof *operators };

/* A matrix with elements in (-1, 1) of the given symmetry. */
static void fill_density(double *D, int n, fmo_symmetry symmetry)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            D[i * n + j] = 2.0 * check_random(&seed) - 1.0;
            if (symmetry == FMO_GENERAL || j > i) continue;
            D[j * n + i] = symmetry == FMO_SYMMETRIC ? D[i * n + j] : -D[i * n + j];
            if (i == j && symmetry == FMO_ANTISYMMETRIC) D[i * n + j] = 0.0;
        }
    }
    for (int i = 0; i < n && symmetry != FMO_GENERAL; i++)
        for (int j = 0; j < i; j++)
            D[i * n + j] = symmetry == FMO_SYMMETRIC ? D[j * n + i] : -D[j * n + i];
}

/* Options of a run of mode cpu. */
typedef struct run {
    const char *name;
    int threads;
    fmo_scatter scatter;
    fmo_integrals integrals;
    double cutoff, tolerance;
} run;

static const run runs[] = {
    {"one thread", 1, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT, 0.0, 1e-10},
    {"two threads", 2, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT, 0.0, 1e-10},
    {"fixed", 2, FMO_SCATTER_FIXED, FMO_INTEGRALS_DIRECT, 0.0, 1e-9},
    {"stored", 1, FMO_SCATTER_AUTO, FMO_INTEGRALS_STORED, 0.0, 1e-10},
    {"cutoff", 2, FMO_SCATTER_AUTO, FMO_INTEGRALS_DIRECT, 1e-10, 1e-8},
};

/* Builds the jobs with a plan of these options; 0: failed. */
static int build(const fmo_basis *basis, fmo_mode mode, const run *with, fmo_fock_job *jobs,
                 size_t count)
{
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&o);
    o.mode = mode;
    o.threads = with->threads;
    o.scatter = mode == FMO_MODE_CPU ? with->scatter : FMO_SCATTER_AUTO;
    o.integrals = mode == FMO_MODE_CPU ? with->integrals : FMO_INTEGRALS_DIRECT;
    o.cutoff = mode == FMO_MODE_CPU ? with->cutoff : 0.0;
    fmo_status status = fmo_fock_plan_create(basis, &o, &plan, &err);
    for (size_t k = 0; k < count; k++) jobs[k].plan = plan;
    if (status == FMO_OK) status = fmo_fock_build_batch(jobs, count, &err);
    /* again: stored integrals are those of 1/r, whatever the last jobs requested */
    if (status == FMO_OK && mode == FMO_MODE_CPU) status = fmo_fock_build_batch(jobs, count, &err);
    CHECK(status == FMO_OK, "%s: %s", with->name, err.message);
    fmo_fock_plan_destroy(plan);
    return status == FMO_OK;
}

/* Eight densities of all symmetries in one call, with the operators `J` and `K`. Every third job
 * computes J alone, every fourth K alone. */
static void compare(const char *name, const fmo_basis *basis, const run *with, int J, int K)
{
    const size_t n = (size_t)fmo_basis_ao_num(basis), size = n * n;
    double *const m = malloc(5 * JOBS * size * sizeof *m);
    fmo_fock_job got[JOBS] = {{0}}, want[JOBS] = {{0}};
    char label[160];
    if (!m) return;
    memset(m, 0xff, 5 * JOBS * size * sizeof *m);
    for (int k = 0; k < JOBS; k++) {
        double *const at = m + 5 * (size_t)k * size;
        want[k].symmetry = (fmo_symmetry)((k + J + K) % FMO_SYMMETRY_COUNT);
        fill_density(at, (int)n, want[k].symmetry);
        want[k].density = at;
        want[k].coulomb_operator = operators[J];
        want[k].exchange_operator = operators[K];
        got[k] = want[k];
        if (k % 4 != 3) want[k].coulomb = at + size, got[k].coulomb = at + 2 * size;
        if (k % 3 != 2) want[k].exchange = at + 3 * size, got[k].exchange = at + 4 * size;
        if (!want[k].coulomb && !want[k].exchange)
            want[k].coulomb = at + size, got[k].coulomb = at + 2 * size;
    }
    static const run once = {.name = "reference", .threads = 2};
    const int built = build(basis, FMO_MODE_REFERENCE, &once, want, JOBS) &&
                      build(basis, FMO_MODE_CPU, with, got, JOBS);
    for (int k = 0; k < JOBS && built; k++) {
        double largest = 1.0;
        for (size_t x = 0; x < size; x++) {
            if (want[k].coulomb) largest = fmax(largest, fabs(want[k].coulomb[x]));
            if (want[k].exchange) largest = fmax(largest, fabs(want[k].exchange[x]));
        }
        const double tolerance = with->tolerance * (with->cutoff > 0.0 ? 1.0 : largest);
        (void)snprintf(label, sizeof label, "%s, %s, %s, operators %d and %d", name, with->name,
                       fmo_symmetry_name(want[k].symmetry), J, K);
        if (want[k].coulomb)
            check_close(label, got[k].coulomb, want[k].coulomb, size, n, tolerance, 0.0);
        if (want[k].exchange)
            check_close(label, got[k].exchange, want[k].exchange, size, n, tolerance, 0.0);
    }
    free(m);
}

/* J of another molecule's density, with an operator: a block of J of both molecules. */
static void check_source(void)
{
    static test_system both, first, second;
    static const int shells[] = {2, 1, 1};
    unsigned long long start = 99;
    system_random_d(&first, 0, 1, shells, 2, 4.0, &start);
    both = first;
    system_add_atom(&both, 3.0, 1.0, 0.0);
    system_add_shell(&both, 1, 2, &start);
    system_add_shell(&both, 0, 1, &start);
    memset(&second, 0, sizeof second);
    system_add_atom(&second, 3.0, 1.0, 0.0);
    for (int k = first.shells; k < both.shells; k++) {
        second.nucleus[k - first.shells] = 0;
        second.ang_mom[k - first.shells] = both.ang_mom[k];
    }
    second.shells = both.shells - first.shells;
    second.prims = both.prims - first.prims;
    second.aos = both.aos - first.aos;
    for (int k = 0; k < second.prims; k++) {
        second.prim_shell[k] = both.prim_shell[first.prims + k] - first.shells;
        second.exponent[k] = both.exponent[first.prims + k];
        second.coefficient[k] = both.coefficient[first.prims + k];
    }
    for (int k = 0; k < second.aos; k++) {
        second.ao_shell[k] = both.ao_shell[first.aos + k] - first.shells;
        second.ao_component[k] = both.ao_component[first.aos + k];
        second.ao_factor[k] = both.ao_factor[first.aos + k];
    }
    const test_system *const system[] = {&both, &first, &second};
    fmo_basis *basis[3];
    fmo_fock_plan *plan[3] = {NULL};
    fmo_fock_options o;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    o.cutoff = 0.0;
    for (int k = 0; k < 3; k++) {
        basis[k] = system_basis(system[k]);
        CHECK(fmo_fock_plan_create(basis[k], &o, &plan[k], &err) == FMO_OK, "%s", err.message);
    }
    const int n = both.aos, na = first.aos, nb = second.aos;
    double *const D = calloc((size_t)(n * n), sizeof *D), *const J =
                                                              malloc((size_t)(n * n) * sizeof *J);
    double *const own = malloc((size_t)(nb * nb) * sizeof *own);
    double *const part = malloc((size_t)(na * na) * sizeof *part);
    double *const want = malloc((size_t)(na * na) * sizeof *want);
    for (int w = 0; w < OPERATORS && plan[0] && plan[1] && plan[2]; w++) {
        fill_density(own, nb, FMO_GENERAL);
        for (int i = 0; i < nb; i++)
            for (int j = 0; j < nb; j++) D[(na + i) * n + na + j] = own[i * nb + j];
        fmo_fock_job jobs[2] = {
            {.plan = plan[0], .density = D, .coulomb = J},
            {.plan = plan[1], .density = own, .coulomb = part, .source = plan[2]}};
        for (int k = 0; k < 2; k++) {
            jobs[k].symmetry = FMO_GENERAL;
            jobs[k].coulomb_operator = operators[w];
        }
        CHECK(fmo_fock_build_batch(jobs, 2, &err) == FMO_OK, "source: %s", err.message);
        for (int i = 0; i < na; i++)
            for (int j = 0; j < na; j++) want[i * na + j] = J[i * n + j];
        check_close("source", part, want, (size_t)(na * na), (size_t)na, 1e-10, 1e-10);
    }
    for (int k = 0; k < 3; k++) {
        fmo_fock_plan_destroy(plan[k]);
        fmo_basis_destroy(basis[k]);
    }
    free(D);
    free(J);
    free(own);
    free(part);
    free(want);
}

/* Builds one job and checks its error. */
static void refused(fmo_fock_job job, fmo_status status, const char *text)
{
    fmo_error err = {FMO_OK, ""};
    const double J = job.coulomb[0];
    CHECK(fmo_fock_build_batch(&job, 1, &err) == status && strstr(err.message, text) &&
              memcmp(&J, job.coulomb, sizeof J) == 0,
          "\"%s\" expected in \"%s\"", text, err.message);
}

/* Densities of another symmetry, unknown symmetries and wrong operators are refused by name. */
static void check_refusals(void)
{
    static test_system s;
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    double D[] = {1.0, 2.0, 3.0, 4.0}, J[4] = {-7.0}, K[4];
    memset(&s, 0, sizeof s);
    system_add_atom(&s, 0.0, 0.0, 0.0);
    system_add_shell(&s, 0, 1, &seed);
    system_add_shell(&s, 0, 1, &seed);
    fmo_basis *basis = system_basis(&s);
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);
    const fmo_fock_job job = {.plan = plan, .density = D, .coulomb = J, .exchange = K};
    fmo_fock_job bad = job;
    refused(bad, FMO_ERR_INPUT, "expected a symmetric density");
    bad.symmetry = FMO_ANTISYMMETRIC;
    refused(bad, FMO_ERR_INPUT, "expected an antisymmetric density");
    bad.symmetry = FMO_SYMMETRY_COUNT;
    refused(bad, FMO_ERR_ARGUMENT, "symmetry = 3: no such symmetry");
    static const fmo_operator wrong[] = {
        {0.0, 1.0, 0.0},      {0.0, 1.0, -0.3},  {1.0, 0.0, 0.3},     {NAN, 0.0, 0.0},
        {1.0, INFINITY, 1.0}, {0.0, 0.0, 0.3},   {0.0, 1.0, 9e-11},   {0.0, 1.0, 1e-170},
        {1.0, -1.0, 1.1e10},  {0.0, 1.0, 1e160}, {0.0, 1.0, INFINITY}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        bad = job;
        bad.symmetry = FMO_GENERAL;
        bad.coulomb_operator = wrong[k];
        refused(bad, FMO_ERR_ARGUMENT, "coulomb_operator = {full");
        bad.coulomb_operator = (fmo_operator){0};
        bad.exchange_operator = wrong[k];
        refused(bad, FMO_ERR_ARGUMENT, "exchange_operator = {full");
    }
    bad = job;
    bad.symmetry = FMO_GENERAL;
    bad.coulomb_operator = wrong[6];
    refused(bad, FMO_ERR_ARGUMENT, "omega from 1e-10 to 1e+10 if long_range is not 0");
    CHECK(!fmo_symmetry_name(FMO_SYMMETRY_COUNT), "a name out of range");
    fmo_fock_plan_destroy(plan);
    fmo_basis_destroy(basis);
}

/* What the progress callback was told. */
typedef struct told {
    double last;
    int fell;
} told;

static void note_progress(double fraction, void *user)
{
    told *const t = user;
    t->fell += fraction < t->last;
    t->last = fraction;
}

/* The progress of a build with one operator or two never falls and ends at 1, and
 * matrices at both limits of omega are finite. */
static void check_progress_and_limits(void)
{
    static const fmo_operator limits[] = {{0.0, 1.0, 1e-10}, {1.0, -1.0, 1e10}};
    static const fmo_mode modes[] = {FMO_MODE_CPU, FMO_MODE_REFERENCE};
    static const int shells[] = {3, 2, 2};
    static test_system s;
    fmo_error err = {FMO_OK, ""};
    system_random_d(&s, 0, 2, shells, 3, 6.0, &seed);
    fmo_basis *const basis = system_basis(&s);
    const size_t size = (size_t)(s.aos * s.aos);
    double *const m = malloc(3 * size * sizeof *m);
    for (int k = 0; m && k < 6; k++) {
        fmo_fock_options o;
        fmo_fock_plan *plan = NULL;
        told t = {0};
        fmo_fock_options_init(&o);
        o.mode = modes[k / 3];
        o.cutoff = 0.0;
        o.progress = note_progress;
        o.progress_user = &t;
        fill_density(m, s.aos, FMO_SYMMETRIC);
        fmo_status status = fmo_fock_plan_create(basis, &o, &plan, &err);
        fmo_fock_job job = {
            .plan = plan, .density = m, .coulomb = m + size, .exchange = m + 2 * size};
        if (k % 3 != 2) job.coulomb_operator = limits[k % 3];
        if (k % 3 == 1) job.exchange_operator = limits[1];
        if (status == FMO_OK) status = fmo_fock_build_batch(&job, 1, &err);
        CHECK(status == FMO_OK, "%s", err.message);
        CHECK(!t.fell && t.last == 1.0, "%s, operators %d: progress fell %d times and ended at %g",
              fmo_mode_name(o.mode), k % 3, t.fell, t.last);
        for (size_t x = size; x < 3 * size; x++)
            CHECK(isfinite(m[x]), "operators %d: element %zu is %g", k % 3, x, m[x]);
        fmo_fock_plan_destroy(plan);
    }
    free(m);
    fmo_basis_destroy(basis);
}

/* Every run with all pairs of operators, on s, p and d shells, spherical and Cartesian. */
int main(void)
{
    static test_system s;
    static const int shells[][3] = {{3, 2, 0}, {0, 0, 2}, {3, 2, 1}};
    const int few = getenv("FMO_TEST_SMALL") != NULL;
    for (size_t k = 0; k < sizeof shells / sizeof *shells; k++) {
        char name[64];
        system_random_d(&s, k == 1, k == 1 ? 1 : 2, shells[k], 3, 6.0, &seed);
        if (k != 1) system_shuffle_functions(&s, &seed);
        (void)snprintf(name, sizeof name, "%d s, %d p, %d d", shells[k][0], shells[k][1],
                       shells[k][2]);
        fmo_basis *const basis = system_basis(&s);
        for (int r = 0; basis && r < (int)(sizeof runs / sizeof *runs); r++)
            for (int pair = 0; pair < OPERATORS * OPERATORS; pair += few ? 7 : 1)
                if (r == 0 || pair % 5 == r)
                    compare(name, basis, &runs[r], pair / OPERATORS, pair % OPERATORS);
        fmo_basis_destroy(basis);
    }
    check_source();
    check_progress_and_limits();
    check_refusals();
    fmo_fock_options o;
    fmo_fock_options_init(&o);
    o.mode = FMO_MODE_CPU;
    decay_check(&o, few ? 8 : 14, 0, 1.0, &seed);
    decay_check(&o, few ? 8 : 14, 2, 0.5, &seed);
    o.scatter = FMO_SCATTER_FIXED;
    decay_check(&o, 8, 2, 2.0, &seed);
    return check_summary();
}
