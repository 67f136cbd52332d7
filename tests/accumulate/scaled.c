/* Integrals scale with lengths: of normalised functions with exponents a s^2 at places R / s the
 * overlap is the same, the kinetic energy s^2 times and all Coulomb integrals s times as large. So
 * diffuse functions, exponents down to 1e-10, and steep ones, up to 1e12, have exact answers from
 * ordinary ones. s is a power of 4, and then all numbers of the copy are exact. */
#include <fmo/one_electron.h>
#include <fmo/potential.h>

#include "tests/support/calls.h"
#include "tests/support/system.h"

static unsigned long long seed = 20261127;

/* The same molecule, all lengths over s. */
static void scale_system(const test_system *from, double s, test_system *to)
{
    *to = *from;
    for (int x = 0; x < 3 * from->nuclei; x++) to->coord[x] /= s;
    for (int k = 0; k < from->prims; k++) {
        to->exponent[k] *= s * s;
        to->coefficient[k] *= s * sqrt(s) * pow(s, from->ang_mom[from->prim_shell[k]]);
    }
}

/* Exponents are given; coefficients are of normalised primitives. */
static void add_shell(test_system *m, int l, int depth, const double *exponent)
{
    system_add_shell(m, l, depth, &seed);
    for (int k = 0; k < depth; k++) {
        const int at = m->prims - depth + k;
        m->exponent[at] = exponent[k];
        m->coefficient[at] = (0.4 + 0.6 * check_random(&seed)) * pow(2 * exponent[k] / M_PI, 0.75) *
                             pow(2 * sqrt(exponent[k]), l) / depth;
    }
}

/* s, p and d shells, alone and contracted, on each of some atoms; exponents from 0.5 to 200, an s
 * and a p shell with the same ones. */
static void make_molecule(test_system *m, int atoms, double distance)
{
    static const double steep[] = {200.0, 31.0, 7.3}, outer[] = {1.1, 0.5}, single[] = {0.6};
    memset(m, 0, sizeof *m);
    for (int a = 0; a < atoms; a++) {
        system_add_atom(m, distance * a, 0.7 * (a & 1), 0.4 * check_random(&seed));
        add_shell(m, 0, 3, steep);
        add_shell(m, 0, 2, outer);
        add_shell(m, 1, 2, outer);
        add_shell(m, 1, 1, single);
        add_shell(m, 2, 2, outer);
        add_shell(m, 2, 1, single);
    }
}

/* Exponents from 1e-6 to 1e6 on two atoms, also in one shell. */
static void make_mixed(test_system *m)
{
    static const double wide[] = {1e6, 1.0, 1e-6}, diffuse[] = {3e-6, 1e-6}, steep[] = {4e5, 1e3};
    memset(m, 0, sizeof *m);
    for (int a = 0; a < 2; a++) {
        system_add_atom(m, 2.1 * a, 0.0, 0.3);
        for (int l = 0; l < 3; l++) {
            add_shell(m, l, 3, wide);
            add_shell(m, l, 2, diffuse);
            add_shell(m, l, 2, steep);
        }
    }
}

/* The result divided by a power of s agrees with that of the original molecule. */
static void check_scaled(const char *what, double s, int power, double *got, const double *expected,
                         size_t n, double tolerance)
{
    char name[96];
    double largest = 0.0;
    snprintf(name, sizeof name, "%s, s = %g", what, s);
    for (size_t x = 0; x < n * n; x++) {
        got[x] /= pow(s, power);
        largest = fmax(largest, fabs(expected[x]));
    }
    check_close(name, got, expected, n * n, n, tolerance * largest, 0.0);
}

typedef struct build_case {
    const char *name;
    fmo_mode mode;
    double cutoff; /* of the ordinary molecule */
    fmo_coulomb coulomb;
    double tolerance;
} build_case;

/* Modes reference and cpu, with and without screening, J by boxes. */
static void check_builds(const test_system *m, double s, const build_case *c, int cases)
{
    test_system *const scaled = malloc(sizeof *scaled);
    scale_system(m, s, scaled);
    fmo_basis *const basis = system_basis(m), *const other = system_basis(scaled);
    const size_t n = (size_t)m->aos;
    double *const D = random_density((int)n, 1.0, &seed), *const X = calloc(4 * n * n, sizeof *X);
    double *const J = X, *const K = X + n * n, *const J_s = X + 2 * n * n, *const K_s = J_s + n * n;
    for (int k = 0; k < cases; k++) {
        fmo_fock_options o;
        char name[64];
        fmo_fock_options_init(&o);
        o.mode = c[k].mode;
        o.coulomb = c[k].coulomb;
        o.cutoff = c[k].cutoff;
        fock_build(basis, &o, D, J, K, NULL);
        o.cutoff = s * c[k].cutoff;
        fock_build(other, &o, D, J_s, K_s, NULL);
        snprintf(name, sizeof name, "%s: J", c[k].name);
        check_scaled(name, s, 1, J_s, J, n, c[k].tolerance);
        snprintf(name, sizeof name, "%s: K", c[k].name);
        check_scaled(name, s, 1, K_s, K, n, c[k].tolerance);
    }
    free(X);
    free(D);
    free(scaled);
    fmo_basis_destroy(basis);
    fmo_basis_destroy(other);
}

/* Overlap, kinetic energy, attraction, and the potential of the molecule's own electrons and
 * nuclei. */
static void check_one_electron(const test_system *m, double s)
{
    test_system *const scaled = malloc(sizeof *scaled);
    scale_system(m, s, scaled);
    fmo_basis *basis[2] = {system_basis(m), system_basis(scaled)};
    const size_t n = (size_t)m->aos;
    double *const D = random_density((int)n, 1.0, &seed), *const X = calloc(8 * n * n, sizeof *X);
    fmo_error err = {FMO_OK, ""};
    for (int k = 0; k < 2; k++) {
        double *const of = X + 4 * (size_t)k * n * n;
        fmo_products *products = NULL;
        fmo_distribution *charges = NULL;
        fmo_potential_options o;
        fmo_potential_options_init(&o);
        o.cutoff *= k ? s : 1.0;
        fmo_status status = fmo_overlap(basis[k], of, &err);
        if (status == FMO_OK) status = fmo_kinetic(basis[k], of + n * n, &err);
        if (status == FMO_OK) status = fmo_nuclear_attraction(basis[k], of + 2 * n * n, &err);
        if (status == FMO_OK) status = fmo_products_create(basis[k], &products, &err);
        if (status == FMO_OK)
            status = fmo_distribution_create(products, D, (size_t)m->nuclei, m->charge,
                                             (k ? scaled : m)->coord, &charges, &err);
        const fmo_distribution *const source = charges;
        const fmo_potential_job job = {
            .products = products, .source = &source, .source_num = 1, .potential = of + 3 * n * n};
        if (status == FMO_OK) status = fmo_potentials(&job, 1, &o, &err);
        CHECK(status == FMO_OK, "s = %g: %s", s, err.message);
        fmo_distribution_destroy(charges);
        fmo_products_destroy(products);
        fmo_basis_destroy(basis[k]);
    }
    check_scaled("overlap", s, 0, X + 4 * n * n, X, n, 1e-13);
    check_scaled("kinetic", s, 2, X + 5 * n * n, X + n * n, n, 1e-13);
    check_scaled("attraction", s, 1, X + 6 * n * n, X + 2 * n * n, n, 1e-13);
    check_scaled("potential", s, 1, X + 7 * n * n, X + 3 * n * n, n, 1e-10);
    free(X);
    free(D);
    free(scaled);
}

/* One-electron integrals over functions that are f_i times as large, f_i powers of 2 from 2^-26 to
 * 2^26 through coefficients and factors, are f_i f_j times as large, but for rounding of
 * those over normalised functions. */
static void check_factors(const test_system *m)
{
    enum { CHARGES = 300 };
    double charge[CHARGES], coord[3 * CHARGES];
    test_system *const other = malloc(sizeof *other);
    *other = *m;
    double shell[SYSTEM_SHELL_MAX], f[6 * SYSTEM_SHELL_MAX];
    for (int k = 0; k < m->shells; k++) shell[k] = ldexp(1.0, (int)(27 * check_random(&seed)) - 13);
    for (int k = 0; k < m->prims; k++) other->coefficient[k] *= shell[m->prim_shell[k]];
    for (int i = 0; i < m->aos; i++) {
        other->ao_factor[i] *= ldexp(1.0, (int)(27 * check_random(&seed)) - 13);
        f[i] = shell[m->ao_shell[i]] * other->ao_factor[i];
    }
    for (int k = 0; k < CHARGES; k++) {
        charge[k] = check_random(&seed) - 0.5;
        for (int x = 0; x < 3; x++) coord[3 * k + x] = 40.0 * check_random(&seed) - 20.0;
    }
    fmo_basis *basis[2] = {system_basis(m), system_basis(other)};
    const size_t n = (size_t)m->aos;
    double *const X = calloc(8 * n * n, sizeof *X);
    for (int k = 0; k < 2; k++) {
        double *const of = X + 4 * (size_t)k * n * n;
        CHECK(fmo_overlap(basis[k], of, NULL) == FMO_OK &&
                  fmo_kinetic(basis[k], of + n * n, NULL) == FMO_OK &&
                  fmo_nuclear_attraction(basis[k], of + 2 * n * n, NULL) == FMO_OK &&
                  fmo_charge_attraction(basis[k], CHARGES, charge, coord, of + 3 * n * n, NULL) ==
                      FMO_OK,
              "one-electron integrals");
        fmo_basis_destroy(basis[k]);
    }
    double worst = 0.0;
    for (size_t x = 0; x < 4 * n * n; x++) {
        const size_t i = x / n % n, j = x % n, matrix = x / (n * n);
        const double *const size = X + (matrix == 3 ? 2 : matrix) * n * n;
        const double off = X[4 * n * n + x] / (f[i] * f[j]) - X[x];
        worst = fmax(worst, fabs(off) / sqrt(fabs(size[i * n + i] * size[j * n + j])));
    }
    CHECK(worst < 1e-13, "factors of functions: off by %g", worst);
    free(X);
    free(other);
}

/* Runs the comparisons for six powers of the scaling factor, on small molecules and, at the largest
 * and smallest exponents, on a chain. */
int main(void)
{
    static const build_case small[] = {
        {"reference", FMO_MODE_REFERENCE, 1e-10, FMO_COULOMB_DIRECT, 1e-12},
        {"cpu", FMO_MODE_CPU, 0.0, FMO_COULOMB_DIRECT, 1e-12},
        {"cpu, screened", FMO_MODE_CPU, 1e-10, FMO_COULOMB_DIRECT, 1e-9},
        {"cpu, screened little", FMO_MODE_CPU, 1e-16, FMO_COULOMB_DIRECT, 1e-12}};
    static const build_case chain[] = {
        {"chain", FMO_MODE_CPU, 1e-10, FMO_COULOMB_DIRECT, 1e-9},
        {"chain, boxes", FMO_MODE_CPU, 1e-10, FMO_COULOMB_BOXES, 1e-9}};
    test_system *const m = malloc(sizeof *m);
    static const int powers[] = {-8, -7, -5, -3, 3, 8};
    const int few = getenv("FMO_TEST_SMALL") != NULL;
    for (size_t k = 0; k < sizeof powers / sizeof *powers; k++) {
        const int power = powers[k];
        if (few && (power == -5 || power == 3)) continue;
        const double s = pow(4.0, power);
        make_molecule(m, 2, 2.5);
        check_builds(m, s, small, sizeof small / sizeof *small);
        check_one_electron(m, s);
        if (abs(power) <= 3) {
            make_mixed(m);
            check_builds(m, s, small, sizeof small / sizeof *small);
            check_one_electron(m, s);
        }
        if (power == -7 || power == 8) { /* the longest, and the steepest */
            make_molecule(m, few ? 5 : 12, 4.5);
            check_builds(m, s, chain, sizeof chain / sizeof *chain);
        }
    }
    make_molecule(m, 3, 2.5);
    check_factors(m);
    make_mixed(m);
    check_factors(m);
    free(m);
    return check_summary();
}
