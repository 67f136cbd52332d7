/* The parts of an SCF: DIIS and EDIIS coefficients, atomic densities, orthogonalisation, the
 * guesses and refusals of fmo_scf_run's input. */
#include <fmo/basis_set.h>
#include <fmo/one_electron.h>
#include <fmo/scf.h>

#include "driver/scf/scf_internal.h"
#include "tests/support/calls.h"
#include "tests/support/shipped.h"

/* ---- DIIS ---------------------------------------------------------------------------------- */

/* m error vectors of `size` numbers: B, and what the coefficients make of them. */
static double diis_norm(int m, int size, const double *e, double *c)
{
    double B[FMO_DIIS_MAX][FMO_DIIS_MAX] = {{0.0}}, square = 0.0, sum = 0.0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            for (int x = 0; x < size; x++) B[i][j] += e[i * size + x] * e[j * size + x];
    fmo_diis_coefficients(m, (const double(*)[FMO_DIIS_MAX])B, c);
    for (int i = 0; i < m; i++) sum += c[i];
    CHECK(fabs(sum - 1.0) < 1e-12, "coefficients of DIIS add up to %.15g", sum);
    for (int x = 0; x < size; x++) {
        double r = 0.0;
        for (int i = 0; i < m; i++) r += c[i] * e[i * size + x];
        square += r * r;
    }
    return sqrt(square);
}

/* DIIS finds an exact combination, the best one of random vectors, and does not fail for linearly
 * dependent or zero errors. */
static void test_diis(void)
{
    double c[FMO_DIIS_MAX];
    /* An exact combination exists: 1/4 of the first and 3/4 of the second add up to zero. */
    const double opposite[] = {3.0, 0.0, 6.0, -1.0, 0.0, -2.0};
    CHECK(diis_norm(2, 3, opposite, c) < 1e-12, "not zero");
    CHECK(fabs(c[0] - 0.25) < 1e-12 && fabs(c[1] - 0.75) < 1e-12, "c = %g, %g", c[0], c[1]);
    /* The same vector twice and one of another size: no failure, and still the best result. */
    const double twice[] = {1.0, 2.0, 0.0, 1.0, 2.0, 0.0, 1e-6, -2e-6, 1e-6};
    CHECK(fabs(diis_norm(3, 3, twice, c) - sqrt(4.2e-12)) < 1e-8, "double vectors spoil DIIS");
    /* Random vectors: no small change of the coefficients is better. */
    unsigned long long seed = 5;
    double e[6 * 9];
    for (size_t i = 0; i < sizeof e / sizeof *e; i++) e[i] = check_random(&seed) - 0.5;
    const double best = diis_norm(6, 9, e, c);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            double square = 0.0, d[6];
            memcpy(d, c, sizeof d);
            d[i] += 1e-3;
            d[j] -= 1e-3;
            for (int x = 0; x < 9; x++) {
                double r = 0.0;
                for (int k = 0; k < 6; k++) r += d[k] * e[k * 9 + x];
                square += r * r;
            }
            CHECK(sqrt(square) >= best, "moving %d and %d improves on DIIS", i, j);
        }
    /* A zero error: the newest vector is taken. */
    const double zero[] = {1.0, 0.0, 0.0, 0.0};
    CHECK(diis_norm(2, 2, zero, c) == 0.0 && c[1] == 1.0, "a zero error is not chosen");
}

/* Energies E(x) = x^2 - 2 x q of "densities" x: D = x, F = 2 (x - q), so that E is the quadratic
 * that EDIIS assumes, tr D F = 2 x (x - q). */
static void test_ediis(void)
{
    const double q = 0.3, x[3] = {-1.0, 2.0, 1.0};
    double E[3], T[3][FMO_DIIS_MAX], c[FMO_DIIS_MAX];
    for (int i = 0; i < 3; i++) {
        E[i] = x[i] * x[i] - 2.0 * x[i] * q;
        for (int j = 0; j < 3; j++) T[i][j] = x[i] * 2.0 * (x[j] - q);
    }
    fmo_ediis_coefficients(3, E, (const double(*)[FMO_DIIS_MAX])T, c);
    double sum = 0.0, at = 0.0;
    for (int i = 0; i < 3; i++) {
        CHECK(c[i] >= 0.0, "c[%d] = %g is negative", i, c[i]);
        sum += c[i];
        at += c[i] * x[i];
    }
    CHECK(fabs(sum - 1.0) < 1e-12 && fabs(at - q) < 1e-12, "sum %g, minimum at %g instead of %g",
          sum, at, q);
    /* A minimum outside: the nearest corner. */
    for (int i = 0; i < 3; i++) {
        E[i] = x[i] * x[i] - 2.0 * x[i] * 7.0;
        for (int j = 0; j < 3; j++) T[i][j] = x[i] * 2.0 * (x[j] - 7.0);
    }
    fmo_ediis_coefficients(3, E, (const double(*)[FMO_DIIS_MAX])T, c);
    CHECK(c[1] == 1.0 && c[0] == 0.0 && c[2] == 0.0, "c = %g, %g, %g", c[0], c[1], c[2]);
    /* A maximum between two: the lower end, not the stationary point. */
    for (int i = 0; i < 2; i++) {
        E[i] = -(x[i] * x[i] - 2.0 * x[i] * q);
        for (int j = 0; j < 2; j++) T[i][j] = -x[i] * 2.0 * (x[j] - q);
    }
    fmo_ediis_coefficients(2, E, (const double(*)[FMO_DIIS_MAX])T, c);
    CHECK(c[1] == 1.0, "c = %g, %g at a maximum", c[0], c[1]);
}

/* ---- atoms --------------------------------------------------------------------------------- */

/* Electrons in a density, sum D S. */
static double electrons(const double *D, const double *S, size_t size)
{
    double sum = 0.0;
    for (size_t i = 0; i < size; i++) sum += D[i] * S[i];
    return sum;
}

/* The superposition of atomic densities has the right number of electrons, is symmetric, and
 * couples only functions of one kind on one atom. */
static void test_atoms(const char *name, double neutral)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = read_shipped(name);
    if (!dataset) return;
    const fmo_basis *basis = fmo_dataset_basis(dataset);
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    double *D = malloc(n * n * sizeof *D), *S = malloc(n * n * sizeof *S);
    CHECK(fmo_scf_atomic_densities(basis, D, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_overlap(basis, S, &err) == FMO_OK, "%s", err.message);
    CHECK(fabs(electrons(D, S, n * n) - neutral) < 1e-9, "%s: %.12g electrons in the atoms, not %g",
          name, electrons(D, S, n * n), neutral);
    for (size_t i = 0; i < n; i++) {
        char row[64], column[64];
        fmo_dataset_ao_label(dataset, (int)i, row, sizeof row);
        CHECK(D[i * n + i] * S[i * n + i] >= 0.0, "%s: D[%zu][%zu] = %g", name, i, i, D[i * n + i]);
        for (size_t j = 0; j < n; j++) {
            fmo_dataset_ao_label(dataset, (int)j, column, sizeof column);
            CHECK(D[i * n + j] == D[j * n + i], "%s: not symmetric at %zu, %zu", name, i, j);
            /* "3 O px": functions of two nuclei, or of two kinds, do not couple. */
            const int same_atom = atoi(row) == atoi(column);
            const int same_kind = strcmp(strrchr(row, ' '), strrchr(column, ' ')) == 0;
            CHECK((same_atom && same_kind) || D[i * n + j] == 0.0, "%s: D(%s; %s) = %g", name, row,
                  column, D[i * n + j]);
        }
    }
    free(D);
    free(S);
    fmo_dataset_destroy(dataset);
}

/* An atom with d electrons in Cartesian functions: they are in the five spherical ones of a shell,
 * evenly, so that of normalised functions <xx> = <xy> and <xx, yy> = -<xx>/2. */
static void test_cartesian_atom(void)
{
    int number[] = {36};
    double coord[] = {0.1, 0.2, -0.3};
    const fmo_molecule atom = {.nucleus_num = 1, .number = number, .coord = coord};
    fmo_error err = {FMO_OK, ""};
    fmo_basis_set *set = NULL;
    fmo_dataset *dataset = NULL;
    CHECK(fmo_basis_set_read("6-31g*", &set, &err) == FMO_OK &&
              fmo_dataset_create(&atom, set, 0, &dataset, &err) == FMO_OK,
          "%s", err.message);
    fmo_basis_set_destroy(set);
    if (!dataset) return;
    const fmo_basis *basis = fmo_dataset_basis(dataset);
    const size_t n = (size_t)fmo_basis_ao_num(basis), d = n - 6;
    double *D = malloc(n * n * sizeof *D), *S = malloc(n * n * sizeof *S);
    CHECK(fmo_scf_atomic_densities(basis, D, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_overlap(basis, S, &err) == FMO_OK, "%s", err.message);
    CHECK(fabs(electrons(D, S, n * n) - 36.0) < 1e-9, "%.12g electrons", electrons(D, S, n * n));
    enum { XX, XY, XZ, YY, YZ, ZZ };
    const double xx = D[d * n + d];
    CHECK(xx > 1e-6, "no d electrons: %g", xx);
    for (int i = XX; i <= ZZ; i++)
        for (int j = XX; j <= ZZ; j++) {
            const int square = (i == XX || i == YY || i == ZZ) && (j == XX || j == YY || j == ZZ);
            const double expected = i == j ? xx : square ? -0.5 * xx : 0.0;
            const double got = D[(d + (size_t)i) * n + d + (size_t)j];
            CHECK(fabs(got - expected) < 1e-12, "d functions %d, %d: %g, not %g", i, j, got,
                  expected);
        }
    free(D);
    free(S);
    fmo_dataset_destroy(dataset);
}

/* The closed-shell atom's guess is its RHF solution: one SCF cycle does not move it. */
static void test_atom_is_exact(void)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = read_shipped("he2_6-31g");
    if (!dataset) return;
    fmo_scf_options options;
    fmo_scf_result *result = NULL;
    fmo_scf_options_init(&options);
    options.fock.mode = FMO_MODE_CPU;
    options.max_cycles = 1;
    const fmo_scf_input input = {.basis = fmo_dataset_basis(dataset),
                                 .electron_num = 4,
                                 .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset)};
    CHECK(fmo_scf_run(&input, &options, &result, &err) == FMO_ERR_CHECK && result,
          "one cycle cannot be called converged");
    if (result) {
        CHECK(fabs(result->energy - fmo_dataset_reference_energy(dataset)) < 1e-9,
              "He2, far apart: atoms give %.12f, RHF %.12f", result->energy,
              fmo_dataset_reference_energy(dataset));
        CHECK(result->gradient < 1e-5, "gradient %g", result->gradient);
    }
    fmo_scf_result_destroy(result);
    fmo_dataset_destroy(dataset);
}

/* ---- orthogonalisation --------------------------------------------------------------------- */

/* H2 with a third s shell, `apart` bohr beside the first, of nearly its exponent, and factors that
 * make functions of any norm. */
static fmo_basis *nearly_dependent(double apart, double factor)
{
    const double charge[] = {1.0, 1.0, 0.0};
    const double coord[] = {0.0, 0.0, 0.0, 0.0, 0.0, 1.4, apart, 0.0, 0.0};
    const int nucleus[] = {0, 1, 2}, ang_mom[] = {0, 0, 0}, prim_shell[] = {0, 1, 2};
    const double exponent[] = {0.8, 0.8, 0.8}, coefficient[] = {0.6, 0.6, 0.6};
    const int ao_shell[] = {0, 1, 2}, component[] = {0, 0, 0};
    const double factors[] = {1.0, factor, 1.0 / factor};
    const fmo_basis_input input = {3,       charge,   coord,      3,        nucleus,
                                   ang_mom, 3,        prim_shell, exponent, coefficient,
                                   3,       ao_shell, component,  factors,  0};
    fmo_basis *basis = NULL;
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_basis_create(&input, &basis, &err) == FMO_OK, "%s", err.message);
    return basis;
}

/* The energy of two nuclei with nearly dependent functions; the expected number of functions is
 * dropped, and the orbitals are orthonormal. */
static double energy_with(double apart, double factor, double threshold, int dropped)
{
    fmo_basis *basis = nearly_dependent(apart, factor);
    fmo_error err = {FMO_OK, ""};
    fmo_scf_options options;
    fmo_scf_result *r = NULL;
    fmo_scf_options_init(&options);
    options.fock.mode = FMO_MODE_CPU;
    options.fock.cutoff = 0.0;
    options.linear_dependence = threshold;
    options.energy_convergence = 1e-12;
    options.gradient_convergence = 1e-8;
    const fmo_scf_input input = {
        .basis = basis, .electron_num = 2, .nuclear_repulsion = fmo_basis_nuclear_repulsion(basis)};
    CHECK(fmo_scf_run(&input, &options, &r, &err) == FMO_OK, "%s", err.message);
    double energy = NAN;
    if (r) {
        energy = r->energy;
        CHECK(r->dropped == dropped && r->mo_num == 3 - dropped,
              "%g bohr apart, threshold %g: %d functions dropped, not %d", apart, threshold,
              r->dropped, dropped);
        /* C S C^T = 1 */
        for (int p = 0; p < r->mo_num; p++)
            for (int q = 0; q < r->mo_num; q++) {
                double sum = 0.0;
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        sum += r->coefficient[p * 3 + i] * r->overlap[i * 3 + j] *
                               r->coefficient[q * 3 + j];
                CHECK(fabs(sum - (p == q)) < 1e-7, "orbitals %d and %d overlap by %g", p, q, sum);
            }
        CHECK(fabs(electrons(r->density, r->overlap, 9) - 2.0) < 1e-7, "not two electrons");
    }
    fmo_scf_result_destroy(r);
    fmo_basis_destroy(basis);
    return energy;
}

static void test_orthogonalisation(void)
{
    /* 1e-5 bohr: the smallest eigenvalue is some 1e-11. */
    const double kept = energy_with(0.2, 1.0, 1e-7, 0);
    CHECK(fabs(energy_with(0.2, 50.0, 1e-7, 0) - kept) < 1e-10, "the norm of functions matters");
    const double dropped = energy_with(1e-5, 1.0, 1e-7, 1);
    CHECK(fabs(energy_with(1e-5, 50.0, 1e-7, 1) - dropped) < 1e-9,
          "the norm of functions decides what is dropped");
    CHECK(kept < dropped + 1e-9, "more functions give a higher energy: %.12f, %.12f", kept,
          dropped);
    energy_with(0.2, 1.0, 0.05, 1); /* a threshold above the eigenvalue */
}

/* ---- input --------------------------------------------------------------------------------- */

static void refused(const fmo_scf_input *input, const fmo_scf_options *options, fmo_status expected,
                    const char *word)
{
    fmo_error err;
    fmo_scf_result *result = (fmo_scf_result *)&err; /* must become NULL */
    CHECK_REFUSED(fmo_scf_run(input, options, &result, &err), &err, expected, word);
    CHECK(!result, "a result in spite of \"%s\"", word);
}

/* ---- gap ------------------------------------------------------------------------------------- */

/* The stability of H2 at a distance (bohr) at which the gap of about 1 / distance is, or is not,
 * below 0.05 hartree, although neither stability nor orbitals are requested. */
static void check_gap(double distance, int orbitals, int checked)
{
    const double charge[] = {1.0, 1.0}, coord[] = {0.0, 0.0, 0.0, 0.0, 0.0, distance};
    const int nucleus[] = {0, 1}, ang_mom[] = {0, 0}, index[] = {0, 1}, component[] = {0, 0};
    const double exponent[] = {0.03, 0.03}, coefficient[] = {0.05, 0.05}, factor[] = {1.0, 1.0};
    const fmo_basis_input in = {2,        charge,      coord, 2,     nucleus,   ang_mom, 2, index,
                                exponent, coefficient, 2,     index, component, factor,  0};
    fmo_basis *basis = NULL;
    fmo_error err = {FMO_OK, ""};
    fmo_scf_options options;
    fmo_scf_result *r = NULL;
    fmo_scf_options_init(&options);
    options.fock.mode = FMO_MODE_CPU;
    options.orbitals = orbitals;
    CHECK(fmo_basis_create(&in, &basis, &err) == FMO_OK, "%s", err.message);
    const fmo_scf_input input = {
        .basis = basis, .electron_num = 2, .nuclear_repulsion = fmo_basis_nuclear_repulsion(basis)};
    CHECK(fmo_scf_run(&input, &options, &r, &err) == FMO_OK, "%s", err.message);
    if (r)
        CHECK(isfinite(r->hessian_lowest) == checked && !(r->hessian_lowest < 0.0),
              "H2 at %g bohr, gap %g: lowest eigenvalue %g", distance, r->lumo - r->homo,
              r->hessian_lowest);
    fmo_scf_result_destroy(r);
    fmo_basis_destroy(basis);
}

/* Wrong inputs and options of an SCF are refused with a message that names them. */
static void test_refusals(void)
{
    fmo_basis *basis = nearly_dependent(0.2, 1.0);
    fmo_scf_options options;
    const fmo_scf_input good = {.basis = basis, .electron_num = 2, .nuclear_repulsion = 1.0};
    fmo_scf_input input = good;
    input.electron_num = 3;
    refused(&input, NULL, FMO_ERR_INPUT, "3 electrons: RHF needs an even number");
    input.electron_num = 0;
    refused(&input, NULL, FMO_ERR_INPUT, "no electrons");
    input.electron_num = -1;
    refused(&input, NULL, FMO_ERR_INPUT, "not known");
    input.electron_num = 8;
    refused(&input, NULL, FMO_ERR_INPUT, "do not fit into 3 functions");
    input = good;
    input.nuclear_repulsion = INFINITY;
    refused(&input, NULL, FMO_ERR_INPUT, "coincide");
#define OPTION(field, value, status, word)      \
    do {                                        \
        fmo_scf_options_init(&options);         \
        options.field = value;                  \
        refused(&good, &options, status, word); \
    } while (0)
    OPTION(guess, FMO_SCF_GUESS_READ, FMO_ERR_INPUT, "guess read needs a density");
    OPTION(guess, FMO_SCF_GUESS_COUNT, FMO_ERR_ARGUMENT, "guess");
    OPTION(max_cycles, 0, FMO_ERR_ARGUMENT, "max_cycles = 0");
    OPTION(diis_size, FMO_SCF_DIIS_MAX + 1, FMO_ERR_ARGUMENT, "diis_size = 17");
    OPTION(energy_convergence, 0.0, FMO_ERR_ARGUMENT, "positive");
    OPTION(level_shift, -1.0, FMO_ERR_ARGUMENT, "level_shift");
    OPTION(linear_dependence, NAN, FMO_ERR_ARGUMENT, "linear_dependence");
    OPTION(fock.cutoff, 2.0, FMO_ERR_ARGUMENT, "cutoff = 2");
#undef OPTION
    /* Too many electrons for what is left after dropping. */
    fmo_basis *dependent = nearly_dependent(1e-5, 1.0);
    input = good;
    input.basis = dependent;
    input.electron_num = 6;
    refused(&input, NULL, FMO_ERR_INPUT, "2 linearly independent functions");
    fmo_basis_destroy(dependent);
    fmo_basis_destroy(basis);
}

/* In mode fused integrals are kept for those who ask; in the others where they fit. */
static void test_integrals(void)
{
    fmo_scf_options o;
    fmo_scf_options_init(&o);
    CHECK(fmo_scf_integrals(&o, FMO_MODE_CPU) == FMO_INTEGRALS_AUTO, "mode cpu");
    CHECK(fmo_scf_integrals(&o, FMO_MODE_FUSED) == FMO_INTEGRALS_DIRECT, "mode fused");
    o.auto_in_fused = 1;
    CHECK(fmo_scf_integrals(&o, FMO_MODE_FUSED) == FMO_INTEGRALS_AUTO, "auto by name");
    for (int given = 0; given < 2; given++)
        for (int k = FMO_INTEGRALS_DIRECT; k <= FMO_INTEGRALS_STORED; k++) {
            o.auto_in_fused = given;
            o.fock.integrals = (fmo_integrals)k;
            CHECK(fmo_scf_integrals(&o, FMO_MODE_FUSED) == o.fock.integrals, "%s by name",
                  fmo_integrals_name(o.fock.integrals));
        }
}

/* Runs all checks. */
int main(void)
{
    test_integrals();
    test_diis();
    test_ediis();
    test_atoms("h2o_6-31g", 10.0);
    test_atoms("h2s_hcl_6-31g", 36.0);
    test_atoms("ch3oh_6-31g_shuffled", 18.0);
    test_atoms("nh3_3-21g_sph_shuffled", 10.0);
    test_atoms("hehp_sto-3g", 3.0);
    test_atoms("h2o_6-31gd", 10.0);
    test_atoms("ch2o_cc-pvdz_sph", 16.0);
    test_atoms("h2o_def2-svp_sph_shuffled", 10.0);
    test_atoms("hbr_def2-svp_sph", 36.0);
    test_cartesian_atom();
    test_atom_is_exact();
    test_orthogonalisation();
    for (int orbitals = 0; orbitals < 2; orbitals++) {
        check_gap(20.8, orbitals, 1);
        check_gap(15.0, orbitals, 0);
    }
    test_refusals();
    return check_summary();
}
