/* Derivatives of one-electron energies against five-point differences of the library's own
 * matrices, and what symmetry demands: no force and no torque on the whole, no dependence on
 * factors of functions, the same bits for any number of threads. */
#include <omp.h>

#include <fmo/one_electron.h>
#include <fmo/one_electron_gradient.h>

#include "tests/support/calls.h"
#include "tests/support/system.h"

enum { CHARGES = 11 };

/* Point charges around a molecule, one of them 0. */
typedef struct field {
    int num;
    double charge[CHARGES], coord[3 * CHARGES];
} field;

static unsigned long long seed = 4711;

static double trace(size_t size, const double *A, const double *B)
{
    double sum = 0.0;
    for (size_t k = 0; k < size; k++) sum += A[k] * B[k];
    return sum;
}

/* Tr D (T + V) - Tr W S + repulsion of the nuclei; with charges: Tr D V + repulsion by them. */
static double energy(const test_system *s, const field *f, const double *D, const double *W)
{
    fmo_basis *basis = system_basis(s);
    if (!basis) return NAN;
    const size_t n = (size_t)s->aos, size = n * n;
    double *M = malloc(3 * size * sizeof *M), E = 0.0;
    fmo_error err = {FMO_OK, ""};
    fmo_status status;
    if (f) {
        status = fmo_charge_attraction(basis, (size_t)f->num, f->charge, f->coord, M, &err);
        E = trace(size, D, M);
        for (int c = 0; c < f->num; c++)
            for (int a = 0; a < s->nuclei; a++) {
                double r2 = 0.0;
                for (int x = 0; x < 3; x++) r2 += pow(s->coord[3 * a + x] - f->coord[3 * c + x], 2);
                E += s->charge[a] * f->charge[c] / sqrt(r2);
            }
    } else {
        status = fmo_overlap(basis, M, &err);
        if (status == FMO_OK) status = fmo_kinetic(basis, M + size, &err);
        if (status == FMO_OK) status = fmo_nuclear_attraction(basis, M + 2 * size, &err);
        E = trace(size, D, M + size) + trace(size, D, M + 2 * size) - trace(size, W, M) +
            fmo_basis_nuclear_repulsion(basis);
    }
    CHECK(status == FMO_OK, "%s", err.message);
    free(M);
    fmo_basis_destroy(basis);
    return E;
}

/* The derivative of the energy with respect to a coordinate that s or f contains. */
static double difference(const test_system *s, const field *f, const double *D, const double *W,
                         double *coordinate)
{
    const double h = 4e-4, at = *coordinate;
    double E[5];
    for (int k = -2; k <= 2; k++) {
        *coordinate = at + k * h;
        E[k + 2] = k ? energy(s, f, D, W) : 0.0;
    }
    *coordinate = at;
    return (E[0] - 8.0 * E[1] + 8.0 * E[3] - E[4]) / (12.0 * h);
}

/* The gradient, charges after the nuclei; NULL after an error. */
static double *gradient_of(const test_system *s, const field *f, const double *D, const double *W)
{
    fmo_basis *basis = system_basis(s);
    const size_t nuclei = (size_t)s->nuclei, charges = f ? (size_t)f->num : 0;
    double *g = malloc(3 * (nuclei + charges) * sizeof *g);
    fmo_error err = {FMO_OK, ""};
    memset(g, 0xff, 3 * (nuclei + charges) * sizeof *g); /* NaN */
    const fmo_status status = f ? fmo_charge_attraction_gradient(basis, D, charges, f->charge,
                                                                 f->coord, g, g + 3 * nuclei, &err)
                                : fmo_one_electron_gradient(basis, D, W, g, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    fmo_basis_destroy(basis);
    return g;
}

/* The sum of forces vanishes, and for s functions, which do not turn with the molecule at a fixed
 * density, the sum of torques. */
static void check_sums(const char *name, const test_system *s, const field *f, const double *g,
                       double size)
{
    double force[3] = {0}, torque[3] = {0};
    for (int a = 0; a < s->nuclei + (f ? f->num : 0); a++) {
        const double *const at = a < s->nuclei ? s->coord + 3 * a : f->coord + 3 * (a - s->nuclei);
        for (int x = 0; x < 3; x++) {
            const int y = (x + 1) % 3, z = (x + 2) % 3;
            force[x] += g[3 * a + x];
            torque[x] += at[y] * g[3 * a + z] - at[z] * g[3 * a + y];
        }
    }
    for (int x = 0; x < 3; x++) {
        CHECK(fabs(force[x]) <= 1e-13 * size, "%s: sum of forces %d: %.2e", name, x, force[x]);
        CHECK(fabs(torque[x]) <= 1e-12 * size || s->aos > s->shells, "%s: torque %d: %.2e", name, x,
              torque[x]);
    }
}

/* The same molecule in functions of other factors, 1e-8 to 1e8, and its density. */
static void check_factors(const char *name, const test_system *s, const field *f, const double *D,
                          const double *W, const double *g, double size)
{
    test_system t = *s;
    const int n = s->aos;
    double *scaled[2] = {random_density(n, 1.0, &seed), random_density(n, 1.0, &seed)};
    for (int i = 0; i < n; i++) t.ao_factor[i] *= pow(10.0, i % 17 - 8);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double both = pow(10.0, i % 17 - 8) * pow(10.0, j % 17 - 8);
            scaled[0][i * n + j] = D[i * n + j] / both;
            scaled[1][i * n + j] = W[i * n + j] / both;
        }
    double *h = gradient_of(&t, f, scaled[0], scaled[1]);
    for (int k = 0; k < 3 * s->nuclei; k++)
        CHECK(fabs(g[k] - h[k]) <= 1e-12 * size, "%s: factors: %d: %.15g, %.15g", name, k, g[k],
              h[k]);
    free(h);
    free(scaled[0]);
    free(scaled[1]);
}

/* Compares bits of one and three threads. */
static void check_threads(const char *name, const test_system *s, const field *f, const double *D,
                          const double *W, const double *g)
{
    const int threads = omp_get_max_threads();
    omp_set_num_threads(3);
    double *h = gradient_of(s, f, D, W);
    omp_set_num_threads(threads);
    const size_t size = 3 * (size_t)(s->nuclei + (f ? f->num : 0)) * sizeof *g;
    CHECK(memcmp(g, h, size) == 0, "%s: three threads give other bits", name);
    free(h);
}

/* One molecule, or its energy in a field. */
static void check(const char *name, test_system *s, field *f)
{
    double *D = random_density(s->aos, 0.5, &seed), *W = random_density(s->aos, 0.5, &seed),
           size = 1.0;
    omp_set_num_threads(1);
    double *g = gradient_of(s, f, D, W), worst = 0.0;
    const int nuclei = 3 * s->nuclei, all = nuclei + (f ? 3 * f->num : 0);
    for (int k = 0; k < all; k++) size = fmax(size, fabs(g[k]));
    for (int k = 0; k < all; k++) {
        const double expected =
            difference(s, f, D, W, k < nuclei ? s->coord + k : f->coord + (k - nuclei));
        CHECK(fabs(g[k] - expected) <= 2e-9 * size, "%s: component %d: %.12g, differences %.12g",
              name, k, g[k], expected);
        worst = fmax(worst, fabs(g[k] - expected));
    }
    check_sums(name, s, f, g, size);
    check_factors(name, s, f, D, W, g, size);
    check_threads(name, s, f, D, W, g);
    printf("%-28s %3d functions, largest component %.3g, largest deviation %.1e\n", name, s->aos,
           size, worst);
    free(D);
    free(W);
    free(g);
}

static void random_field(field *f, double box)
{
    f->num = CHARGES;
    for (int c = 0; c < CHARGES; c++) {
        f->charge[c] = c == 4 ? 0.0 : 2.0 * check_random(&seed) - 1.0;
        for (int x = 0; x < 3; x++)
            f->coord[3 * c + x] = box * (3.0 * check_random(&seed) - 1.0) + (c == 7 ? 60.0 : 0.0);
    }
}

/* A tight shell and a diffuse one, of which derivatives must not lose digits to each other. */
static void make_tight(test_system *s, int l)
{
    memset(s, 0, sizeof *s);
    for (int a = 0; a < 2; a++) {
        system_add_atom(s, 1.3 * a, 0.4 * a, -0.2 * a);
        system_add_shell(s, l, 1, &seed);
        s->exponent[a] = a ? 1e-2 : 1e7;
        s->coefficient[a] = pow(2 * s->exponent[a] / M_PI, 0.75) * pow(2 * sqrt(s->exponent[a]), l);
    }
}

/* Overlap and kinetic energy of a tight and a diffuse function are differentiated with the diffuse
 * one: the derivative is as exact as the integral of it. */
static void check_tight(int l)
{
    test_system s;
    make_tight(&s, l);
    s.charge[0] = s.charge[1] = 0.0;
    double *D = random_density(s.aos, 0.5, &seed), *W = random_density(s.aos, 0.5, &seed);
    double *g = gradient_of(&s, NULL, D, W);
    for (int x = 0; x < 3; x++) {
        double *const at = s.coord + 3 + x, start = *at, h = 0.05, E[5];
        for (int k = -2; k <= 2; k++) {
            *at = start + k * h;
            E[k + 2] = energy(&s, NULL, D, W);
        }
        *at = start;
        const double expected = (E[0] - 8.0 * E[1] + 8.0 * E[3] - E[4]) / (12.0 * h);
        double size = 0.0;
        for (int k = 0; k < 5; k++) size = fmax(size, fabs(E[k]));
        CHECK(fabs(g[3 + x] - expected) <= 1e-6 * size && g[3 + x] == -g[x],
              "tight %d, %d: %.12g, differences %.12g, size %.3g", l, x, g[3 + x], expected, size);
    }
    free(D);
    free(W);
    free(g);
}

/* Errors name what is wrong, and leave the output untouched. */
static void check_errors(void)
{
    test_system s;
    field f;
    fmo_error err = {FMO_OK, ""};
    double g[6] = {7, 7, 7, 7, 7, 7};
    system_random(&s, 2, 2, 0, 1, 2.0, &seed);
    random_field(&f, 2.0);
    double *D = random_density(s.aos, 0.5, &seed);
    memcpy(f.coord + 3, s.coord + 3, 3 * sizeof(double));
    fmo_basis *basis = system_basis(&s);
    CHECK_REFUSED(
        fmo_charge_attraction_gradient(basis, D, CHARGES, f.charge, f.coord, g, NULL, &err), &err,
        FMO_ERR_INPUT, "coord[1]: this charge is on nucleus 1");
    f.charge[2] = NAN;
    CHECK_REFUSED(
        fmo_charge_attraction_gradient(basis, D, CHARGES, f.charge, f.coord, g, NULL, &err), &err,
        FMO_ERR_INPUT, "charge[2]");
    fmo_basis_destroy(basis);
    memcpy(s.coord + 3, s.coord, 3 * sizeof(double));
    basis = system_basis(&s);
    CHECK_REFUSED(fmo_one_electron_gradient(basis, D, NULL, g, &err), &err, FMO_ERR_INPUT,
                  "nuclei 0 and 1");
    fmo_basis_destroy(basis);
    for (int k = 0; k < 6; k++) CHECK(g[k] == 7, "output changed after an error");
    free(D);
}

/* Checks derivatives of random molecules with all kinds of shells, with and without charges. */
int main(void)
{
    static test_system s;
    field f;
    setenv("FMO_TEST_TEAMS", "1", 1);
    for (int form = 0; form < 2; form++) {
        const int shells[3] = {6, 4, 4};
        system_random_d(&s, form, 4, shells, 3, 4.0, &seed);
        system_shuffle_functions(&s, &seed);
        s.charge[2] = 8.0;
        check(form ? "s, p, Cartesian d" : "s, p, spherical d", &s, NULL);
        random_field(&f, 4.0);
        check(form ? "charges, Cartesian d" : "charges, spherical d", &s, &f);
    }
    for (int form = 0; form < 2; form++) {
        const int shells[4] = {2, 2, 2, 3};
        system_random_kinds(&s, form, 3, 4, shells, 2, 4.0, &seed);
        system_shuffle_functions(&s, &seed);
        check(form ? "Cartesian f" : "spherical f", &s, NULL);
        random_field(&f, 4.0);
        check(form ? "charges, Cartesian f" : "charges, spherical f", &s, &f);
    }
    system_random(&s, 5, 10, 10, 4, 6.0, &seed);
    s.charge[1] = 0.0; /* a ghost */
    check("s and p, a ghost", &s, NULL);
    system_random(&s, 5, 12, 0, 3, 3.0, &seed);
    check("s alone", &s, NULL);
    random_field(&f, 3.0);
    check("charges, s alone", &s, &f);
    system_random(&s, 1, 3, 0, 2, 1.0, &seed);
    check("an atom", &s, NULL);
    for (int l = 0; l < 3; l++) check_tight(l);
    check_errors();
    return check_summary();
}
