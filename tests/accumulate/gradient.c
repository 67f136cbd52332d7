/* Derivatives of two-electron energies: against differences of energies from builds, for
 * every operator and both spins; with every instruction set of this processor; invariance under
 * translations, rotations, scaling of the functions and the number of threads; the effect of the
 * cutoff; and what is refused. */
#include <fmo/gradient.h>

#include "accumulate/cpu/gradient.h"

#include "base/vector.h"
#include "tests/support/system.h"

static unsigned long long seed = 4711;

enum { TERMS_MAX = 3, COMPONENTS_MAX = 64 };

/* Terms with densities of their own. */
typedef struct case_of_terms {
    const char *name;
    int num;
    fmo_gradient_term term[TERMS_MAX];
} case_of_terms;

#define PLAIN         \
    {                 \
        1.0, 0.0, 0.0 \
    }
#define ERF           \
    {                 \
        0.0, 1.0, 0.4 \
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
    {"erf", 1, {{NULL, 1.0, 1.0, ERF, ERF}}},
    {"erfc", 1, {{NULL, 1.0, 1.0, ERFC, ERFC}}},
    {"range-separated K", 2, {{NULL, 1.0, 1.0, PLAIN, MIXED}, {NULL, -0.5, 0.25, PLAIN, ERF}}},
};
enum { CASES = sizeof cases / sizeof *cases };

/* The kernels that this processor can run; returns their number. */
static int kernels_here(fmo_cpu_gradient_kernel **kernels)
{
    int count = 0;
    kernels[count++] = fmo_cpu_gradient_bra_baseline;
#if defined(__x86_64__)
    if (fmo_vector_best() >= FMO_VECTOR_AVX2) kernels[count++] = fmo_cpu_gradient_bra_avx2;
    if (fmo_vector_best() >= FMO_VECTOR_AVX512) kernels[count++] = fmo_cpu_gradient_bra_avx512;
#endif
    return count;
}

static fmo_fock_plan *plan_of(const fmo_basis *basis, fmo_mode mode, double cutoff, int threads)
{
    fmo_fock_options o;
    fmo_fock_plan *plan = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_fock_options_init(&o);
    o.mode = mode;
    o.cutoff = cutoff;
    o.threads = threads;
    CHECK(fmo_fock_plan_create(basis, &o, &plan, &err) == FMO_OK, "%s", err.message);
    return plan;
}

/* Computes the derivative with a plan of mode cpu. */
static void gradient_of(const fmo_basis *basis, const case_of_terms *test, double cutoff,
                        int threads, double *gradient)
{
    fmo_error err = {FMO_OK, ""};
    fmo_fock_plan *const plan = plan_of(basis, FMO_MODE_CPU, cutoff, threads);
    memset(gradient, 0xff, 3 * (size_t)fmo_basis_nucleus_num(basis) * sizeof *gradient);
    if (!plan) return;
    CHECK(fmo_fock_gradient(plan, test->term, test->num, gradient, &err) == FMO_OK, "%s: %s",
          test->name, err.message);
    fmo_fock_plan_destroy(plan);
}

/* The energy of the terms, from builds without a cutoff. */
static double energy_of(const test_system *s, const case_of_terms *test)
{
    fmo_basis *const basis = system_basis(s);
    fmo_fock_plan *const plan = plan_of(basis, FMO_MODE_CPU, 0.0, 1);
    const size_t size = (size_t)s->aos * (size_t)s->aos;
    double *const J = malloc(2 * size * sizeof *J), *const K = J + size, energy = 0.0;
    for (int t = 0; t < test->num && plan; t++) {
        const fmo_gradient_term *const term = &test->term[t];
        fmo_error err = {FMO_OK, ""};
        fmo_fock_job job = {.plan = plan,
                            .density = term->density,
                            .coulomb = J,
                            .exchange = K,
                            .coulomb_operator = term->coulomb_operator,
                            .exchange_operator = term->exchange_operator};
        CHECK(fmo_fock_build_batch(&job, 1, &err) == FMO_OK, "%s", err.message);
        for (size_t x = 0; x < size; x++)
            energy += term->density[x] *
                      (0.5 * term->coulomb_weight * J[x] - 0.25 * term->exchange_weight * K[x]);
    }
    free(J);
    fmo_fock_plan_destroy(plan);
    fmo_basis_destroy(basis);
    return energy;
}

/* Gives each term of a case a density; free_terms frees them. */
static case_of_terms terms_of(const case_of_terms *from, int aos, double size)
{
    case_of_terms test = *from;
    for (int t = 0; t < test.num; t++) test.term[t].density = random_density(aos, size, &seed);
    return test;
}

static void free_terms(case_of_terms *test)
{
    for (int t = 0; t < test->num; t++) free((void *)test->term[t].density);
}

static double largest_of(const double *x, int num)
{
    double largest = 0.0;
    for (int k = 0; k < num; k++) largest = fmax(largest, fabs(x[k]));
    return largest;
}

/* Checks that the components add up to zero, as forces of a molecule do. */
static void check_sum(const char *name, const double *gradient, int nuclei)
{
    for (int x = 0; x < 3; x++) {
        double sum = 0.0;
        for (int a = 0; a < nuclei; a++) sum += gradient[3 * a + x];
        CHECK(fabs(sum) <= 1e-13 * nuclei * (1.0 + largest_of(gradient, 3 * nuclei)),
              "%s: axis %d: sum %g", name, x, sum);
    }
}

/* Compares the results of all instruction sets, called with densities in internal
 * order. */
static void check_kernels(const char *name, const fmo_basis *basis, const case_of_terms *test,
                          const double *expected, double largest)
{
    fmo_cpu_gradient_kernel *kernels[3];
    const int count = kernels_here(kernels), num = 3 * fmo_basis_nucleus_num(basis);
    fmo_fock_plan *const plan = plan_of(basis, FMO_MODE_CPU, 0.0, 1);
    const size_t n = (size_t)basis->function_num;
    case_of_terms internal = *test;
    double got[COMPONENTS_MAX];
    fmo_error err = {FMO_OK, ""};
    for (int t = 0; t < test->num; t++) {
        double *const D = malloc(n * n * sizeof *D);
        fmo_basis_matrix_from_caller(basis, test->term[t].density, FMO_SYMMETRIC_PART, D);
        internal.term[t].density = D;
    }
    for (int k = 0; k < count && plan; k++) {
        CHECK(fmo_cpu_build_gradient_by(kernels[k], plan, internal.term, test->num, got, &err) ==
                  FMO_OK,
              "%s", err.message);
        check_close(name, got, expected, (size_t)num, 3, 1e-12 * largest, 0.0);
    }
    fmo_fock_plan_destroy(plan);
    free_terms(&internal);
}

/* Five-point differences of the energy for each coordinate (under sanitizers one), and all
 * instruction sets. */
static void check_differences(const char *name, const test_system *s, const case_of_terms *from)
{
    static const double step = 2e-3, weights[4] = {1.0 / 12, -2.0 / 3, 2.0 / 3, -1.0 / 12};
    const int num = getenv("FMO_TEST_SMALL") ? 1 : 3 * s->nuclei;
    case_of_terms test = terms_of(from, s->aos, 1.0);
    fmo_basis *const basis = system_basis(s);
    double expected[COMPONENTS_MAX] = {0.0}, got[COMPONENTS_MAX];
    char label[160];
    for (int c = 0; c < num; c++)
        for (int k = 0; k < 4; k++) {
            static test_system moved;
            moved = *s;
            moved.coord[c] += (k < 2 ? k - 2 : k - 1) * step;
            expected[c] += weights[k] / step * energy_of(&moved, &test);
        }
    gradient_of(basis, &test, 0.0, 1, got);
    (void)snprintf(label, sizeof label, "%s, %s", name, test.name);
    const double largest = largest_of(got, 3 * s->nuclei);
    const double worst = check_close(label, got, expected, (size_t)num, 3, 1e-8 * largest, 0.0);
    printf("%s: largest component %.3g, difference %.1e\n", label, largest, worst);
    check_sum(label, got, s->nuclei);
    check_kernels(label, basis, &test, got, largest);
    fmo_basis_destroy(basis);
    free_terms(&test);
}

/* Functions scaled by up to 1e8 and densities by the inverse give the same derivatives. */
static void check_scaling(const test_system *s, const case_of_terms *from)
{
    static test_system scaled;
    case_of_terms test = terms_of(from, s->aos, 1.0), with = test;
    fmo_basis *const basis = system_basis(s);
    double expected[COMPONENTS_MAX], got[COMPONENTS_MAX];
    const size_t n = (size_t)s->aos;
    scaled = *s;
    for (int i = 0; i < s->aos; i++)
        scaled.ao_factor[i] *= pow(10.0, 8.0 * (2.0 * check_random(&seed) - 1.0));
    for (int t = 0; t < test.num; t++) {
        double *const D = malloc(n * n * sizeof *D);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                D[i * n + j] = test.term[t].density[i * n + j] *
                               (s->ao_factor[i] / scaled.ao_factor[i]) *
                               (s->ao_factor[j] / scaled.ao_factor[j]);
        with.term[t].density = D;
    }
    fmo_basis *const of_scaled = system_basis(&scaled);
    for (int c = 0; c < 2; c++) {
        gradient_of(basis, &test, c ? 1e-10 : 0.0, 1, expected);
        gradient_of(of_scaled, &with, c ? 1e-10 : 0.0, 1, got);
        check_close("scaled functions", got, expected, (size_t)(3 * s->nuclei), 3,
                    1e-11 * largest_of(expected, 3 * s->nuclei), 0.0);
    }
    fmo_basis_destroy(basis);
    fmo_basis_destroy(of_scaled);
    free_terms(&test);
    free_terms(&with);
}

/* A product of powers of x, y and z as the axes of its factors. */
static const int axes_of_d[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};

/* Coefficient of component `of` in the rotated component `c` of a Cartesian shell. */
static double rotated(int l, int c, int of, double R[3][3])
{
    if (l == 0) return 1.0;
    if (l == 1) return R[of][c];
    const int *const f = axes_of_d[c], *const g = axes_of_d[of];
    return g[0] == g[1] ? R[g[0]][f[0]] * R[g[0]][f[1]]
                        : R[g[0]][f[0]] * R[g[1]][f[1]] + R[g[1]][f[0]] * R[g[0]][f[1]];
}

/* Rotates a molecule of Cartesian functions with factors of 1, and its density. */
static void check_rotation(const test_system *s, const case_of_terms *from)
{
    static test_system turned;
    const double a = 0.7, b = 1.9, n[2][2] = {{cos(a), sin(a)}, {cos(b), sin(b)}};
    double R[3][3] = {{n[0][0], -n[0][1] * n[1][0], n[0][1] * n[1][1]},
                      {n[0][1], n[0][0] * n[1][0], -n[0][0] * n[1][1]},
                      {0.0, n[1][1], n[1][0]}};
    const int aos = s->aos, num = 3 * s->nuclei;
    case_of_terms test = terms_of(from, aos, 1.0), with = test;
    double got[COMPONENTS_MAX], expected[COMPONENTS_MAX] = {0.0}, still[COMPONENTS_MAX];
    turned = *s;
    for (int k = 0; k < num; k++) {
        turned.coord[k] = 0.0;
        for (int x = 0; x < 3; x++) turned.coord[k] += R[k % 3][x] * s->coord[k / 3 * 3 + x];
    }
    for (int t = 0; t < test.num; t++) {
        double *const D = calloc((size_t)aos * (size_t)aos, sizeof *D);
        for (int i = 0; i < aos; i++)
            for (int j = 0; j < aos; j++)
                for (int k = 0; k < aos; k++)
                    for (int m = 0; m < aos; m++)
                        if (s->ao_shell[k] == s->ao_shell[i] && s->ao_shell[m] == s->ao_shell[j])
                            D[i * aos + j] += rotated(s->ang_mom[s->ao_shell[i]],
                                                      s->ao_component[k], s->ao_component[i], R) *
                                              rotated(s->ang_mom[s->ao_shell[j]],
                                                      s->ao_component[m], s->ao_component[j], R) *
                                              test.term[t].density[k * aos + m];
        for (int i = 0; i < aos; i++) /* symmetric to the last bit */
            for (int j = 0; j < i; j++) D[i * aos + j] = D[j * aos + i];
        with.term[t].density = D;
    }
    fmo_basis *const basis = system_basis(s), *const other = system_basis(&turned);
    gradient_of(basis, &test, 0.0, 1, still);
    gradient_of(other, &with, 0.0, 1, got);
    for (int k = 0; k < num; k++)
        for (int x = 0; x < 3; x++) expected[k] += R[k % 3][x] * still[k / 3 * 3 + x];
    check_close("rotated", got, expected, (size_t)num, 3, 1e-11 * largest_of(expected, num), 0.0);
    fmo_basis_destroy(basis);
    fmo_basis_destroy(other);
    free_terms(&test);
    free_terms(&with);
}

/* Any number of threads gives the same bits; the default cutoff an error of 1e-8; a loose one
 * leaves something out; densities above the limit of pruning prune less. */
static void check_threads_and_cutoff(const test_system *s)
{
    const int num = 3 * s->nuclei;
    case_of_terms test = terms_of(&cases[0], s->aos, 0.5);
    fmo_basis *const basis = system_basis(s);
    double all[COMPONENTS_MAX], one[COMPONENTS_MAX], got[COMPONENTS_MAX];
    gradient_of(basis, &test, 0.0, 1, all);
    gradient_of(basis, &test, 1e-10, 1, one);
    const double error = check_close("cutoff 1e-10", one, all, (size_t)num, 3, 1e-8, 0.0);
    for (int threads = 2; threads <= 3; threads++) {
        gradient_of(basis, &test, 1e-10, threads, got);
        CHECK(memcmp(got, one, (size_t)num * sizeof *got) == 0, "other bits with %d threads",
              threads);
    }
    gradient_of(basis, &test, 1e-4, 1, got);
    const double loose = check_close("cutoff 1e-4", got, all, (size_t)num, 3, 1e-2, 0.0);
    CHECK(error > 0.0 && loose > 100.0 * error, "errors %g and %g of the cutoffs 1e-10 and 1e-4",
          error, loose);
    check_sum("cutoff 1e-4", got, s->nuclei);
    printf("errors of cutoffs 1e-10 and 1e-4: %.1e, %.1e\n", error, loose);
    double *const D = (double *)test.term[0].density;
    for (int x = 0; x < s->aos * s->aos; x++) D[x] *= 1000.0;
    gradient_of(basis, &test, 1e-10, 1, got);
    for (int k = 0; k < num; k++) got[k] *= 1e-6;
    check_close("large densities", got, all, (size_t)num, 3, 1e-8, 0.0);
    fmo_basis_destroy(basis);
    free_terms(&test);
}

/* The refusals; `gradient` stays untouched. */
static void check_refusals(const test_system *s)
{
    fmo_basis *const basis = system_basis(s);
    fmo_fock_plan *const plan = plan_of(basis, FMO_MODE_CPU, 1e-10, 1);
    fmo_fock_plan *const reference = plan_of(basis, FMO_MODE_REFERENCE, 1e-10, 1);
    const size_t n = (size_t)s->aos, num = 3 * (size_t)s->nuclei;
    double *const D = random_density(s->aos, 1.0, &seed), gradient[COMPONENTS_MAX];
    double *const J = malloc(2 * n * n * sizeof *J);
    const fmo_gradient_term good = {.density = D, .coulomb_weight = 1.0, .exchange_weight = 1.0};
    fmo_gradient_term bad = good;
    fmo_fock_profile profile;
    fmo_error err = {FMO_OK, ""};
    for (size_t x = 0; x < num; x++) gradient[x] = 1.25;
#define REFUSED(code, text, ...)                                                       \
    err = (fmo_error){FMO_OK, ""};                                                     \
    CHECK(fmo_fock_gradient(__VA_ARGS__, &err) == (code) && strstr(err.message, text), \
          "message: %s", err.message);
    REFUSED(FMO_ERR_UNSUPPORTED, "mode reference", reference, &good, 1, gradient)
    REFUSED(FMO_ERR_ARGUMENT, "plan is NULL", NULL, &good, 1, gradient)
    REFUSED(FMO_ERR_ARGUMENT, "terms is NULL", plan, NULL, 1, gradient)
    REFUSED(FMO_ERR_ARGUMENT, "gradient is NULL", plan, &good, 1, NULL)
    REFUSED(FMO_ERR_ARGUMENT, "term_num = 0", plan, &good, 0, gradient)
    REFUSED(FMO_ERR_ARGUMENT, "overlap", plan, &good, 1, D + 1)
    bad.density = NULL;
    REFUSED(FMO_ERR_ARGUMENT, "terms[0].density is NULL", plan, &bad, 1, gradient)
    bad = good;
    bad.exchange_weight = NAN;
    REFUSED(FMO_ERR_ARGUMENT, "terms[0] has the weights", plan, &bad, 1, gradient)
    bad = good;
    bad.exchange_operator = (fmo_operator){0.0, 1.0, -1.0};
    REFUSED(FMO_ERR_ARGUMENT, "terms[0]: exchange_operator", plan, &bad, 1, gradient)
    CHECK(fmo_fock_build(plan, D, J, J + n * n, &err) == FMO_OK, "%s", err.message);
    D[1] += 1.0;
    REFUSED(FMO_ERR_INPUT, "terms[0]: density[", plan, &good, 1, gradient)
    D[0] = NAN;
    REFUSED(FMO_ERR_INPUT, "terms[0]: density[0][0]", plan, &good, 1, gradient)
#undef REFUSED
    for (size_t x = 0; x < num; x++) CHECK(gradient[x] == 1.25, "component %zu was written", x);
    CHECK(fmo_fock_plan_profile(plan, &profile, &err) == FMO_OK, "%s", err.message);
    free(D);
    free(J);
    fmo_fock_plan_destroy(plan);
    fmo_fock_plan_destroy(reference);
    fmo_basis_destroy(basis);
}

/* Compares gradients of random molecules with differences of energies and with each other. */
int main(void)
{
    static test_system s;
    static const int shells[3] = {3, 3, 2}, many[3] = {12, 10, 6};
    const int small = getenv("FMO_TEST_SMALL") != NULL;
    char name[64];
    for (int cartesian = 0; cartesian < 2; cartesian++) {
        system_random_d(&s, cartesian, 3, shells, 3, 3.0, &seed);
        system_add_partner(&s, &seed);
        system_shuffle_functions(&s, &seed);
        (void)snprintf(name, sizeof name, "%s d functions", cartesian ? "Cartesian" : "spherical");
        for (int k = cartesian; k < CASES && !(small && k > 1); k += cartesian ? 3 : 1)
            check_differences(name, &s, &cases[k]);
        check_scaling(&s, &cases[3]);
    }
    for (int cartesian = 0; cartesian < 2; cartesian++) {
        static const int with_f[] = {2, 1, 1, 2};
        system_random_kinds(&s, cartesian, 2, 4, with_f, 2, 3.0, &seed);
        system_shuffle_functions(&s, &seed);
        check_differences(cartesian ? "Cartesian f functions" : "spherical f functions", &s,
                          &cases[cartesian ? 0 : 5]);
    }
    for (int cartesian = 0; cartesian < 2; cartesian++) {
        static const int with_g[] = {2, 1, 0, 1, 2};
        system_random_kinds(&s, cartesian, 2, 5, with_g, 2, 3.0, &seed);
        system_shuffle_functions(&s, &seed);
        check_differences(cartesian ? "Cartesian g functions" : "spherical g functions", &s,
                          &cases[cartesian ? 5 : 0]);
    }
    system_random_d(&s, 1, 3, shells, 3, 3.0, &seed);
    check_rotation(&s, &cases[0]);
    check_rotation(&s, &cases[6]);
    check_refusals(&s);
    system_random_d(&s, 0, 8, many, 3, 14.0, &seed);
    check_threads_and_cutoff(&s);
    return check_summary();
}
