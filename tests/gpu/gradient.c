/* Derivatives of two-electron energies in mode fused: against mode cpu for shells of every kind,
 * operators and spins, without and with a cutoff; equal bits of repeated calls and strategies; sums
 * of forces; after a change of the density's size; batches; and with little shared memory. */
#include <fmo/gradient.h>

#include "tests/support/system.h"

static unsigned long long seed = 1992;

enum { TERMS_MAX = 3, COMPONENTS_MAX = 3 * SYSTEM_SHELL_MAX };

/* Terms with densities of their own. */
typedef struct case_of_terms {
    const char *name;
    int num;
    fmo_gradient_term term[TERMS_MAX];
} case_of_terms;

#define PLAIN         \
    {                 \
        0.0, 0.0, 0.0 \
    }
#define ERFC           \
    {                  \
        1.0, -1.0, 0.4 \
    }
#define MIXED            \
    {                    \
        0.19, 0.46, 0.33 \
    }
static const case_of_terms cases[] = {
    {"J and K", 1, {{.coulomb_weight = 1.0, .exchange_weight = 1.0}}},
    {"J", 1, {{.coulomb_weight = 1.0}}},
    {"K", 1, {{.exchange_weight = 0.7}}},
    {"two spins", 3, {{.coulomb_weight = 1.0}, {.exchange_weight = 2.0}, {.exchange_weight = 2.0}}},
    {"erfc", 1, {{NULL, 1.0, 1.0, ERFC, ERFC}}},
    {"range-separated K", 2, {{NULL, 1.0, 1.0, PLAIN, MIXED}, {NULL, -0.5, 0.25, PLAIN, ERFC}}},
};
enum { CASES = sizeof cases / sizeof *cases };

static fmo_fock_plan *plan_of(const fmo_basis *basis, fmo_mode mode, double cutoff,
                              fmo_scatter scatter)
{
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&o);
    o.mode = mode;
    o.cutoff = cutoff;
    if (mode != FMO_MODE_CPU) o.scatter = scatter;
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);
    return plan;
}

static void gradient_of(fmo_fock_plan *plan, const case_of_terms *test, int num, double *gradient)
{
    fmo_error err = {FMO_OK, ""};
    memset(gradient, 0xff, (size_t)num * sizeof *gradient);
    if (!plan) return;
    CHECK(fmo_fock_gradient(plan, test->term, test->num, gradient, &err) == FMO_OK, "%s: %s",
          test->name, err.message);
}

static double largest_of(const double *x, int num)
{
    double largest = 0.0;
    for (int k = 0; k < num; k++) largest = fmax(largest, fabs(x[k]));
    return largest;
}

/* Compares one case of terms of a molecule with mode cpu, in which the cutoff is smaller. */
static void check_case(const char *name, const test_system *s, const case_of_terms *from,
                       double cutoff, double tolerance)
{
    static double expected[COMPONENTS_MAX], got[COMPONENTS_MAX], again[COMPONENTS_MAX];
    const int num = 3 * s->nuclei;
    fmo_basis *const basis = system_basis(s);
    fmo_fock_plan *const cpu = plan_of(basis, FMO_MODE_CPU, 1e-3 * cutoff, FMO_SCATTER_AUTO);
    fmo_fock_plan *const gpu = plan_of(basis, FMO_MODE_FUSED, cutoff, FMO_SCATTER_AUTO);
    case_of_terms test = *from;
    char label[160];
    for (int t = 0; t < test.num; t++) test.term[t].density = random_density(s->aos, 1.0, &seed);
    gradient_of(cpu, &test, num, expected);
    gradient_of(gpu, &test, num, got);
    gradient_of(gpu, &test, num, again);
    const double largest = 1.0 + largest_of(expected, num);
    (void)snprintf(label, sizeof label, "%s, %s, cutoff %g", name, test.name, cutoff);
    const double worst =
        check_close(label, got, expected, (size_t)num, 3, tolerance * largest, 0.0);
    printf("%s: largest component %.3g, difference %.1e\n", label, largest - 1.0, worst);
    CHECK(memcmp(got, again, (size_t)num * sizeof *got) == 0, "%s: other bits in a second call",
          label);
    for (int x = 0; x < 3; x++) {
        double sum = 0.0;
        for (int a = 0; a < s->nuclei; a++) sum += got[3 * a + x];
        CHECK(fabs(sum) <= 1e-10 * largest, "%s: axis %d: sum of forces %g", label, x, sum);
    }
    for (int t = 0; t < test.num; t++) free((void *)test.term[t].density);
    fmo_fock_plan_destroy(cpu);
    fmo_fock_plan_destroy(gpu);
    fmo_basis_destroy(basis);
}

static void check_all(const char *name, const test_system *s, int case_num)
{
    for (int c = 0; c < case_num; c++) {
        check_case(name, s, &cases[c], 0.0, 1e-11);
        check_case(name, s, &cases[c], 1e-10, 1e-8);
    }
}

/* The same bits with another plan and strategy; and densities that are larger than the plan's pairs
 * are for, with builds in between. */
static void check_plans(const test_system *s)
{
    static double expected[COMPONENTS_MAX], got[COMPONENTS_MAX];
    const int num = 3 * s->nuclei;
    fmo_basis *const basis = system_basis(s);
    fmo_fock_plan *const first = plan_of(basis, FMO_MODE_FUSED, 1e-10, FMO_SCATTER_AUTO);
    fmo_fock_plan *const fixed = plan_of(basis, FMO_MODE_FUSED, 1e-10, FMO_SCATTER_FIXED);
    fmo_fock_plan *const cpu = plan_of(basis, FMO_MODE_CPU, 1e-13, FMO_SCATTER_AUTO);
    const size_t size = (size_t)s->aos * (size_t)s->aos;
    double *const D = random_density(s->aos, 1.0, &seed), *const J = malloc(2 * size * sizeof *J);
    case_of_terms test = cases[0];
    fmo_error err = {FMO_OK, ""};
    test.term[0].density = D;
    gradient_of(first, &test, num, expected);
    gradient_of(fixed, &test, num, got);
    CHECK(memcmp(got, expected, (size_t)num * sizeof *got) == 0, "other bits with strategy fixed");
    CHECK(fmo_fock_build(first, D, J, J + size, &err) == FMO_OK, "%s", err.message);
    gradient_of(first, &test, num, got);
    CHECK(memcmp(got, expected, (size_t)num * sizeof *got) == 0, "other bits after a build");
    for (size_t k = 0; k < size; k++) D[k] *= 20.0;
    gradient_of(first, &test, num, got);
    gradient_of(cpu, &test, num, expected);
    check_close("large density", got, expected, (size_t)num, 3, 1e-9 * largest_of(expected, num),
                0.0);
    CHECK(fmo_fock_build(first, D, J, J + size, &err) == FMO_OK, "%s", err.message);
    free(D);
    free(J);
    fmo_fock_plan_destroy(first);
    fmo_fock_plan_destroy(fixed);
    fmo_fock_plan_destroy(cpu);
    fmo_basis_destroy(basis);
}

/* Sp shells of Pople's kind along a chain. */
static void chain(test_system *s, int atoms)
{
    memset(s, 0, sizeof *s);
    for (int a = 0; a < atoms; a++) {
        system_add_atom(s, 2.6 * a, 0.7 * (a % 3), 0.4 * (a % 2));
        system_add_shell(s, 0, 6, &seed);
        system_add_shell(s, 0, 3, &seed);
        system_add_partner(s, &seed);
        system_add_shell(s, 1, 1, &seed);
    }
}

/* A batch of molecules of all kinds and sizes, with terms of one or two spins, against single
 * calls. Jobs BAD and TOO_LARGE fail, for a density with NaN and one whose derivatives are too
 * large; one job has a plan of mode cpu. */
enum { BATCH = 24, BAD = 3, TOO_LARGE = 8, ON_CPU = 9 };
static void check_batch(int num)
{
    static test_system s[BATCH];
    static case_of_terms test[BATCH];
    static double got[BATCH][COMPONENTS_MAX], expected[COMPONENTS_MAX];
    fmo_gradient_job jobs[BATCH] = {0};
    fmo_basis *basis[BATCH];
    fmo_error errs[BATCH], err = {FMO_OK, ""};
    double worst = 0.0;
    for (int k = 0; k < num; k++) {
        if (k % 4 == 3)
            chain(&s[k], 1 + k % 5);
        else if (k == 6)
            system_random_kinds(&s[k], 0, 3, 4, (const int[4]){2, 1, 1, 1}, 2, 4.0, &seed);
        else if (k % 4 == 2)
            system_random_d(&s[k], k % 8 == 2, 3, (const int[3]){2, 2, 1}, 2, 4.0, &seed);
        else
            system_random(&s[k], 2 + k % 3, 3 + k, k % 4 * 2, 3, 5.0, &seed);
        test[k] = cases[k % 5 == 4 ? 3 : 0];
        for (int t = 0; t < test[k].num; t++) {
            double *const D = random_density(s[k].aos, k == TOO_LARGE ? 1e160 : 1.0 + k, &seed);
            if (k == BAD) D[0] = NAN;
            test[k].term[t].density = D;
        }
        basis[k] = system_basis(&s[k]);
        jobs[k] = (fmo_gradient_job){.plan = plan_of(basis[k],
                                                     k == ON_CPU ? FMO_MODE_CPU : FMO_MODE_FUSED,
                                                     1e-10, FMO_SCATTER_AUTO),
                                     .terms = test[k].term,
                                     .term_num = test[k].num,
                                     .gradient = got[k],
                                     .err = &errs[k]};
        for (int x = 0; x < COMPONENTS_MAX; x++) got[k][x] = 7.0;
    }
    const fmo_status status = fmo_fock_gradient_batch(jobs, (size_t)num, &err);
    CHECK(status == (num > BAD ? FMO_ERR_INPUT : FMO_OK), "batch of %d: %s", num, err.message);
    for (int k = 0; k < num; k++) {
        const int components = 3 * s[k].nuclei, fails = k == BAD || k == TOO_LARGE;
        CHECK((jobs[k].status == FMO_OK) == !fails && jobs[k].status == errs[k].status,
              "job %d: %s", k, errs[k].message);
        CHECK(got[k][fails ? 0 : components] == 7.0, "job %d: more was written", k);
        if (!fails) gradient_of(jobs[k].plan, &test[k], components, expected);
        for (int x = 0; x < components && !fails; x++)
            worst = fmax(worst,
                         fabs(got[k][x] - expected[x]) / (1.0 + largest_of(expected, components)));
        for (int t = 0; t < test[k].num; t++) free((void *)test[k].term[t].density);
        fmo_fock_plan_destroy(jobs[k].plan);
        fmo_basis_destroy(basis[k]);
    }
    printf("batch of %d: largest difference from single calls %.1e\n", num, worst);
    CHECK(worst <= 1e-10, "batch of %d: differs by %.1e from single calls", num, worst);
}

/* Where a block may have less shared memory than one warp needs for two pairs of f shells, they are
 * refused by name; d shells are not. */
static void check_little_shared_memory(void)
{
    static test_system s;
    static double gradient[COMPONENTS_MAX];
    fmo_error err = {FMO_OK, ""};
    setenv("FMO_TEST_SHARED_BYTES", "49152", 1);
    system_random_d(&s, 1, 4, (const int[3]){3, 3, 4}, 3, 5.0, &seed);
    check_case("d, 48 KiB", &s, &cases[0], 0.0, 1e-11);
    system_random_kinds(&s, 1, 3, 4, (const int[4]){2, 2, 2, 3}, 2, 4.0, &seed);
    fmo_basis *const basis = system_basis(&s);
    fmo_fock_plan *const plan = plan_of(basis, FMO_MODE_FUSED, 0.0, FMO_SCATTER_AUTO);
    double *const D = random_density(s.aos, 1.0, &seed);
    const fmo_gradient_term term = {.density = D, .coulomb_weight = 1.0, .exchange_weight = 1.0};
    CHECK(fmo_fock_gradient(plan, &term, 1, gradient, &err) == FMO_ERR_UNSUPPORTED &&
              strstr(err.message, "shared memory") && strstr(err.message, "49152"),
          "f, 48 KiB: not refused: %s", err.message);
    free(D);
    fmo_fock_plan_destroy(plan);
    fmo_basis_destroy(basis);
    unsetenv("FMO_TEST_SHARED_BYTES");
}

/* Compares gradients of mode fused with those of mode cpu for molecules of each kind of shell. */
int main(void)
{
    static test_system s;
    int code = 0;
    if (!system_has_gpu(&code)) return code;
    system_random(&s, 1, 2, 1, 2, 3.0, &seed);
    system_add_atom(&s, 1.0, 0.0, 0.5); /* a nucleus without functions */
    check_all("one centre", &s, 1);
    system_random(&s, 4, 9, 0, 3, 5.0, &seed);
    check_all("s", &s, CASES);
    system_random(&s, 5, 7, 6, 3, 6.0, &seed);
    system_shuffle_functions(&s, &seed);
    check_all("s, p", &s, CASES);
    check_plans(&s);
    chain(&s, 4);
    check_all("sp", &s, CASES);
    system_random_d(&s, 1, 4, (const int[3]){3, 3, 4}, 3, 5.0, &seed);
    check_all("Cartesian d", &s, CASES);
    system_random_d(&s, 0, 4, (const int[3]){3, 3, 4}, 3, 5.0, &seed);
    system_shuffle_functions(&s, &seed);
    check_all("spherical d", &s, CASES);
    check_plans(&s);
    system_random_kinds(&s, 1, 3, 4, (const int[4]){2, 2, 2, 3}, 2, 4.0, &seed);
    check_all("Cartesian f", &s, CASES);
    system_random_kinds(&s, 0, 4, 4, (const int[4]){2, 2, 2, 2}, 3, 5.0, &seed);
    system_shuffle_functions(&s, &seed);
    check_all("spherical f", &s, CASES);
    check_plans(&s);
    chain(&s, 16);
    check_case("chain", &s, &cases[0], 1e-10, 1e-8);
    check_case("chain", &s, &cases[0], 1e-6, 1e-4);
    check_batch(1);
    check_batch(2);
    check_batch(BATCH);
    check_little_shared_memory();
    return check_summary();
}
