/* Overlap, kinetic energy and attraction by charges against long double references of other kinds:
 * S and T by Gauss-Hermite quadrature along the three axes (exact for these integrands), T with the
 * Laplacian taken analytically, V by McMurchie and Davidson, charge by charge; and against the
 * matrices that PySCF wrote into the data sets. All kinds of shells that there are, Cartesian. */
#include "tests/integrals/one_electron_reference.h"

#include <hdf5.h>

#include <fmo/dataset.h>
#include <fmo/one_electron.h>

#include "tests/support/calls.h"
#include "tests/support/shipped.h"
#include "tests/support/system.h"

static unsigned long long seed = 2024;

static double worst[4];

/* The largest contribution of neglected products of primitives, relative to the norms of the
 * functions (docs/explanation/accuracy.md): each is less than 1e-18 of them, also times p, 36 at
 * most. */
static const double left_out[4] = {4e-17, 1e-15, 5e-17, 4e-17};

static void check_element(const char *name, int which, int f, int g, double got, real expected,
                          real size, real norms)
{
    static const char *const matrix[4] = {"S", "T", "V", "D"};
    static const double tolerance[4] = {1e-14, 1e-14, 1e-13, 1e-14};
    const real error = fabsl(got - expected), least = left_out[which] * norms;
    CHECK(error <= tolerance[which] * size + least,
          "%s: %s(%d,%d) = %.17g, expected %.17Lg, error/size %.3Lg", name, matrix[which], f, g,
          got, expected, error / size);
    if (tolerance[which] * size > least && (double)(error / size) > worst[which])
        worst[which] = (double)(error / size);
}

/* Overlap, kinetic energy and attraction of all pairs of functions agree with the reference and are
 * symmetric. field: charges in place of the nuclei, or NULL. */
static void check_charges(const char *name, const test_system *s, const charges *field)
{
    fmo_basis *basis = system_basis(s);
    if (!basis) return;
    const size_t n = (size_t)s->aos;
    const charges nuclei = {s->nuclei, s->charge, s->coord};
    const charges *const all = field ? field : &nuclei;
    double *S = malloc(6 * n * n * sizeof *S), *T = S + n * n, *V = T + n * n, *D = V + n * n;
    real *norm = malloc(n * sizeof *norm), field_size = 1;
    memset(S, 0xff, 6 * n * n * sizeof *S); /* NaN: every element must be written */
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_overlap(basis, S, &err) == FMO_OK && fmo_kinetic(basis, T, &err) == FMO_OK &&
              fmo_dipole(basis, origin, D, &err) == FMO_OK &&
              (field ? fmo_charge_attraction(basis, (size_t)field->num, field->charge, field->coord,
                                             V, &err)
                     : fmo_nuclear_attraction(basis, V, &err)) == FMO_OK,
          "%s", err.message);
    for (int c = 0; c < all->num; c++) field_size += fabs(all->charge[c]);
    for (int f = 0; f < s->aos; f++)
        norm[f] = sqrtl(reference(s, &(charges){0, NULL, NULL}, f, f).S);
    for (int f = 0; f < s->aos; f++) {
        for (int g = 0; g <= f; g++) {
            const values v = reference(s, all, f, g);
            const size_t at = (size_t)f * n + (size_t)g, transposed = (size_t)g * n + (size_t)f;
            const real norms = norm[f] * norm[g];
            check_element(name, 0, f, g, S[at], v.S, v.size_S, norms);
            check_element(name, 1, f, g, T[at], v.T, v.size_T, norms);
            check_element(name, 2, f, g, V[at], v.V, v.size_V, norms * field_size);
            for (size_t x = 0; x < 3; x++) {
                check_element(name, 3, f, g, D[x * n * n + at], v.D[x], v.size_D[x], norms * 100);
                CHECK(D[x * n * n + at] == D[x * n * n + transposed], "%s: D%zu", name, x);
            }
            CHECK(S[at] == S[transposed] && T[at] == T[transposed] && V[at] == V[transposed],
                  "%s: not symmetric at (%d,%d)", name, f, g);
        }
    }
    free(S);
    free(norm);
    fmo_basis_destroy(basis);
}

static void check_system(const char *name, const test_system *s)
{
    check_charges(name, s, NULL);
}

/* Shells of every kind on the atoms in turn, `kinds` of each. */
static void random_shells(test_system *s, int atoms, int kinds, int depth, double box)
{
    memset(s, 0, sizeof *s);
    s->cartesian = 1;
    for (int a = 0; a < atoms; a++) {
        system_add_atom(s, box * check_random(&seed), box * check_random(&seed),
                        box * check_random(&seed));
        for (int l = 0; l < FMO_SHELL_KIND_COUNT; l++)
            for (int k = a; k < kinds; k += atoms)
                system_add_shell(s, l, 1 + (int)(check_random(&seed) * depth), &seed);
    }
}

/* Runs the comparison on random shells, shuffled, displaced, on one atom, and so far apart that
 * integrals underflow. */
static void check_random_systems(void)
{
    static test_system s;
    const int sets = getenv("FMO_TEST_FULL") ? 12 : getenv("FMO_TEST_SMALL") ? 2 : 3;
    for (int set = 0; set < sets; set++) {
        random_shells(&s, 2 + set % 3, 2, 3, set % 2 ? 3.0 : 8.0);
        for (int c = 0; c < s.nuclei; c++) s.charge[c] = 10.0 * check_random(&seed) - 2.0;
        for (int k = 0; set % 3 == 0 && k < s.prims; k++) { /* exponents 1e-2 to 1e5 */
            s.exponent[k] = pow(10.0, -2.0 + 7.0 * check_random(&seed));
            s.coefficient[k] = pow(s.exponent[k], 0.75 + 0.5 * s.ang_mom[s.prim_shell[k]]);
        }
        check_system("random", &s);
        system_shuffle_functions(&s, &seed);
        check_system("shuffled", &s);
        for (int c = 0; c < s.nuclei; c++) s.coord[3 * c + 1] += 300.0;
        check_system("displaced", &s);
    }
    random_shells(&s, 1, 2, 6, 3.0);
    check_system("one atom", &s);
    for (int l = 0; l < FMO_SHELL_KIND_COUNT; l++) {
        memset(&s, 0, sizeof s), s.cartesian = 1;
        system_add_atom(&s, 0.1, 0.2, 0.3);
        system_add_shell(&s, l, 1, &seed);
        check_system("one shell", &s);
    }

    memset(&s, 0, sizeof s), s.cartesian = 1; /* far apart: underflow */
    for (int a = 0; a < 3; a++) {
        system_add_atom(&s, 15.0 * a * a, 0.0, -20.0 * a);
        for (int l = 0; l < FMO_SHELL_KIND_COUNT; l++) system_add_shell(&s, l, 2, &seed);
    }
    check_system("far apart", &s);
}

/* A tight primitive beside a diffuse one, charges on both nuclei: the distance of the product from
 * the tight one's nucleus is a small difference. */
static void check_tight(void)
{
    static test_system s;
    for (int order = 0; order < 2; order++) {
        memset(&s, 0, sizeof s), s.cartesian = 1;
        for (int a = 0; a < 2; a++) {
            const double exponent = a == order ? 0.08 : 3e4;
            system_add_atom(&s, 0.3 + 1.7 * a, -0.4 * a, 2.1 * a);
            for (int l = 0; l < FMO_SHELL_KIND_COUNT; l++) {
                system_add_shell(&s, l, 1, &seed);
                s.exponent[s.prims - 1] = exponent;
                s.coefficient[s.prims - 1] = pow(exponent, 0.75 + 0.5 * l);
            }
        }
        check_system("tight and diffuse", &s);
    }
}

/* Exponents that several shells of a nucleus share: SP shells, a general contraction, one primitive
 * of two shells; and a nucleus with more functions than are processed together. */
static void check_shared_exponents(void)
{
    static test_system s;
    memset(&s, 0, sizeof s), s.cartesian = 1;
    for (int a = 0; a < 2; a++) {
        system_add_atom(&s, 0.0, 1.1 * a, 1.7 * a);
        s.charge[a] = 3.0 + a;
        system_add_shell(&s, 0, 3, &seed);
        system_add_partner(&s, &seed);
        for (int k = 0; k < 3; k++) system_add_shell(&s, k % FMO_SHELL_KIND_COUNT, 3, &seed);
        s.exponent[s.prims - 1] = s.exponent[s.prims - 4] = s.exponent[s.prims - 7];
        s.exponent[s.prims - 2] = s.exponent[s.prims - 5];
    }
    check_system("shared exponents", &s);
    memset(&s, 0, sizeof s), s.cartesian = 1;
    for (int a = 0; a < 2; a++) {
        system_add_atom(&s, 0.0, 0.4 * a, 0.9 * a);
        for (int k = 0; k < (a ? 2 : 30); k++)
            system_add_shell(&s, k % FMO_SHELL_KIND_COUNT, 1, &seed);
        for (int k = 0; k < (a ? 1 : 12); k++) system_add_shell(&s, FMO_ANG_MOM_MAX, 1, &seed);
    }
    check_system("grouped", &s);
}

/* Two shells at growing distances: products are neglected late enough, and they are neglected. */
static void check_left_out(void)
{
    static test_system s;
    int zeros = 0, others = 0;
    const double factor = getenv("FMO_TEST_SMALL") ? 1.6 : 1.25;
    for (double distance = 0.5; distance < 80.0; distance *= factor) {
        memset(&s, 0, sizeof s), s.cartesian = 1;
        for (int a = 0; a < 2; a++) {
            system_add_atom(&s, distance * a, 0.3 * distance * a, -0.2 * distance * a);
            for (int l = 0; l < FMO_SHELL_KIND_COUNT; l++) system_add_shell(&s, l, 2, &seed);
        }
        check_system("on their way", &s);
        fmo_basis *const basis = system_basis(&s);
        double *const S = malloc((size_t)s.aos * (size_t)s.aos * sizeof *S);
        if (!basis || fmo_overlap(basis, S, NULL) != FMO_OK) return;
        for (int g = s.aos / 2; g < s.aos; g++) {
            const values v = reference(&s, &(charges){0, NULL, NULL}, 0, g);
            const real norms = sqrtl(reference(&s, &(charges){0, NULL, NULL}, 0, 0).S *
                                     reference(&s, &(charges){0, NULL, NULL}, g, g).S);
            if (v.size_S < 1e-24L * norms) {
                CHECK(S[g] == 0.0, "S(0,%d) at %g = %g, could be left out", g, distance, S[g]);
                zeros++;
            } else {
                others++;
            }
            if (v.size_S > 1e-17L * norms)
                CHECK(S[g] != 0.0, "S(0,%d) at %g is left out", g, distance);
        }
        free(S);
        fmo_basis_destroy(basis);
    }
    CHECK(zeros >= 10 && others >= 10, "%d zeros, %d others", zeros, others);
}

/* Charges of both signs and 0, near, far and on the nuclei, in numbers around a group of lanes. */
static void check_point_charges(void)
{
    static const int numbers[] = {0, 1, 2, 7, 8, 9, 31, 40};
    static test_system s;
    double charge[40], coord[120];
    random_shells(&s, 3, 3, 3, 4.0);
    system_shuffle_functions(&s, &seed);
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        for (int c = 0; c < numbers[n]; c++) {
            const double spread = c % 3 ? 4.0 : 200.0;
            charge[c] = c % 5 == 4 ? 0.0 : 6.0 * check_random(&seed) - 3.0;
            for (int x = 0; x < 3; x++)
                coord[3 * c + x] =
                    c % 7 == 2 ? s.coord[3 * (c % 3) + x] : spread * (check_random(&seed) - 0.3);
        }
        check_charges("point charges", &s, &(charges){numbers[n], charge, coord});
    }
}

/* More charges than one block and one task have, on a small basis. */
static void check_many_charges(void)
{
    enum { MANY = 40000 };
    static test_system s;
    double *const charge = malloc(4 * MANY * sizeof *charge), *const coord = charge + MANY;
    memset(&s, 0, sizeof s), s.cartesian = 1;
    system_add_atom(&s, 0.1, 0.2, 0.3);
    system_add_shell(&s, getenv("FMO_TEST_SMALL") ? 1 : FMO_ANG_MOM_MAX, 1, &seed);
    for (int c = 0; c < MANY; c++) {
        charge[c] = check_random(&seed) - 0.4;
        for (int x = 0; x < 3; x++) coord[3 * c + x] = 60.0 * (check_random(&seed) - 0.5);
    }
    check_charges("many charges", &s,
                  &(charges){getenv("FMO_TEST_SMALL") ? MANY / 2 : MANY, charge, coord});
    free(charge);
}

/* Between two bases: as in one of all their shells, whatever orders and factors there are. */
static void check_between(void)
{
    static test_system a, b, both;
    for (int set = 0; set < 4; set++) {
        random_shells(&a, 1 + set, 2 + set, 3, 4.0);
        random_shells(&b, 2, 3, 4, 4.0);
        both = a;
        for (int n = 0; n < b.nuclei; n++) {
            system_add_atom(&both, b.coord[3 * n], b.coord[3 * n + 1], b.coord[3 * n + 2]);
            for (int t = 0; t < b.shells; t++) {
                if (b.nucleus[t] != n) continue;
                int depth = 0;
                for (int k = 0; k < b.prims; k++) depth += b.prim_shell[k] == t;
                system_add_shell(&both, b.ang_mom[t], depth, &seed);
                for (int k = b.prims - 1, to = both.prims; k >= 0; k--) {
                    if (b.prim_shell[k] != t) continue;
                    both.exponent[--to] = b.exponent[k];
                    both.coefficient[to] = b.coefficient[k];
                }
            }
        }
        test_system plain = b;
        system_shuffle_functions(&b, &seed);
        fmo_basis *const A = system_basis(&a), *const B = system_basis(&b);
        fmo_basis *const all = system_basis(&both);
        const size_t na = (size_t)a.aos, nb = (size_t)b.aos, n = na + nb;
        double *const S = malloc(n * n * sizeof *S), *const got = malloc(2 * na * nb * sizeof *got);
        double *const turned = got + na * nb, *const square = malloc(na * na * sizeof *square);
        memset(got, 0xff, 2 * na * nb * sizeof *got);
        memset(square, 0xff, na * na * sizeof *square);
        fmo_error err = {FMO_OK, ""};
        CHECK(fmo_overlap(all, S, &err) == FMO_OK && !err.message[0], "%s", err.message);
        CHECK(fmo_overlap_between(A, B, got, &err) == FMO_OK, "%s", err.message);
        CHECK(fmo_overlap_between(B, A, turned, &err) == FMO_OK, "%s", err.message);
        CHECK(fmo_overlap_between(A, A, square, &err) == FMO_OK, "%s", err.message);
        for (size_t i = 0; i < na; i++) {
            for (size_t j = 0; j < nb; j++) {
                size_t k = 0; /* b's function j in the order of `both` */
                while (plain.ao_shell[k] != b.ao_shell[j] ||
                       plain.ao_component[k] != b.ao_component[j])
                    k++;
                const double expected = S[i * n + na + k] * b.ao_factor[j];
                CHECK(fabs(got[i * nb + j] - expected) <= 1e-14 * fabs(b.ao_factor[j]),
                      "between: (%zu,%zu) = %.17g, expected %.17g", i, j, got[i * nb + j],
                      expected);
                CHECK(fabs(turned[j * na + i] - expected) <= 1e-14 * fabs(b.ao_factor[j]),
                      "between, turned: (%zu,%zu) = %.17g, expected %.17g", j, i,
                      turned[j * na + i], expected);
            }
            for (size_t j = 0; j < na; j++)
                CHECK(fabs(square[i * na + j] - S[i * n + j]) <= 1e-14, "with itself: (%zu,%zu)", i,
                      j);
        }
        free(S);
        free(got);
        free(square);
        fmo_basis_destroy(A);
        fmo_basis_destroy(B);
        fmo_basis_destroy(all);
    }
}

/* Coincident centres: atoms on one line have exact zeros between p_x and anything without it. */
static void check_zeros(void)
{
    static test_system s;
    memset(&s, 0, sizeof s), s.cartesian = 1;
    for (int a = 0; a < 3; a++) {
        system_add_atom(&s, 0.7, -0.1, a == 2 ? 2.0 : 0.3); /* two of them coincide */
        s.charge[a] = a + 1;
        for (int l = 0; l < FMO_SHELL_KIND_COUNT; l++)
            system_add_shell(&s, l, l < 2 ? 3 - l : 1, &seed);
    }
    check_system("coincident", &s);
    fmo_basis *basis = system_basis(&s);
    enum { FUNCTIONS_MAX = 128 };
    static double M[4][FUNCTIONS_MAX * FUNCTIONS_MAX];
    double charge[9], coord[27]; /* on the line, near and far */
    CHECK(s.aos <= FUNCTIONS_MAX, "%d functions", s.aos);
    if (!basis || s.aos > FUNCTIONS_MAX) {
        fmo_basis_destroy(basis);
        return;
    }
    for (int c = 0; c < 9; c++) {
        charge[c] = c - 3.5;
        coord[3 * c] = 0.7;
        coord[3 * c + 1] = -0.1;
        coord[3 * c + 2] = 0.3 + c * c;
    }
    CHECK(fmo_overlap(basis, M[0], NULL) == FMO_OK && fmo_kinetic(basis, M[1], NULL) == FMO_OK &&
              fmo_nuclear_attraction(basis, M[2], NULL) == FMO_OK &&
              fmo_charge_attraction(basis, 9, charge, coord, M[3], NULL) == FMO_OK,
          "failed");
    for (int f = 0; f < s.aos; f++)
        for (int g = 0; g < s.aos; g++)
            for (int x = 0; x < 2; x++) {
                const int odd_f = fmo_shell_power(s.ang_mom[s.ao_shell[f]], s.ao_component[f], x);
                const int odd_g = fmo_shell_power(s.ang_mom[s.ao_shell[g]], s.ao_component[g], x);
                for (int m = 0; m < 4 && (odd_f + odd_g) % 2; m++)
                    CHECK(M[m][f * s.aos + g] == 0.0, "matrix %d (%d,%d) = %g, expected 0", m, f, g,
                          M[m][f * s.aos + g]);
            }
    fmo_basis_destroy(basis);
}

/* A list that fmo_charge_attraction refuses with these words, and leaves V as it was. */
static void check_refused(const fmo_basis *basis, size_t num, const double *charge,
                          const double *coord, double *V, fmo_status expected, const char *words)
{
    fmo_error err;
    const double was = V[0];
    CHECK_REFUSED(fmo_charge_attraction(basis, num, charge, coord, V, &err), &err, expected, words);
    CHECK(V[0] == was, "written on error");
}

/* Lists of charges with wrong pointers, sizes or values are refused; no charges give a zero matrix.
 */
static void check_charge_arguments(const fmo_basis *basis)
{
    double V[9] = {5.0}, charge[2] = {1.0, 2.0}, coord[6] = {0.0}, both[64] = {1.0};
    check_refused(NULL, 2, charge, coord, V, FMO_ERR_ARGUMENT,
                  "fmo_charge_attraction: basis is NULL");
    check_refused(basis, 2, NULL, coord, V, FMO_ERR_ARGUMENT, "charge is NULL");
    check_refused(basis, 2, charge, NULL, V, FMO_ERR_ARGUMENT, "coord is NULL");
    check_refused(basis, SIZE_MAX, charge, coord, V, FMO_ERR_ARGUMENT, "charge_num = ");
    check_refused(basis, 2, both + 8, coord, both, FMO_ERR_ARGUMENT, "charge and V overlap");
    check_refused(basis, 2, charge, both + 8, both, FMO_ERR_ARGUMENT, "coord and V overlap");
    charge[1] = NAN;
    check_refused(basis, 2, charge, coord, V, FMO_ERR_INPUT, "charge[1] = nan: not finite");
    charge[1] = -INFINITY;
    check_refused(basis, 2, charge, coord, V, FMO_ERR_INPUT, "charge[1] = -inf: not finite");
    charge[1] = 0.0;
    coord[5] = INFINITY;
    check_refused(basis, 2, charge, coord, V, FMO_ERR_INPUT,
                  "coord[1][2] = inf: expected a finite");
    coord[5] = NAN;
    check_refused(basis, 2, charge, coord, V, FMO_ERR_INPUT,
                  "coord[1][2] = nan: expected a finite");
    coord[5] = -2e6;
    check_refused(basis, 2, charge, coord, V, FMO_ERR_INPUT, "coord[1][2] = -2e+06: expected");
    CHECK(fmo_charge_attraction(basis, 0, NULL, NULL, V, NULL) == FMO_OK && V[0] == 0.0 &&
              V[8] == 0.0,
          "no charges");
}

/* NULL arguments are refused by name, and nothing is written. */
static void check_arguments(void)
{
    static test_system s;
    double M[9] = {5.0};
    typedef fmo_status function(const fmo_basis *, double *, fmo_error *);
    function *const functions[3] = {fmo_overlap, fmo_kinetic, fmo_nuclear_attraction};
    static const char *const name[3] = {"fmo_overlap: basis is NULL", "fmo_kinetic: basis is NULL",
                                        "fmo_nuclear_attraction: basis is NULL"};
    system_random(&s, 1, 0, 1, 1, 3.0, &seed);
    fmo_basis *basis = system_basis(&s);
    for (int m = 0; m < 3; m++) {
        fmo_error err = {FMO_OK, ""};
        CHECK(functions[m](NULL, M, &err) == FMO_ERR_ARGUMENT, "NULL basis");
        CHECK(!strcmp(err.message, name[m]), "message: %s", err.message);
        CHECK(functions[m](basis, NULL, NULL) == FMO_ERR_ARGUMENT, "NULL matrix");
        CHECK(M[0] == 5.0, "written on error");
    }
    for (int x = 0; x < 3; x++) {
        double far[3] = {0.0, 0.0, 0.0};
        far[x] = x == 1 ? NAN : 2e6;
        fmo_error err = {FMO_OK, ""};
        CHECK(fmo_dipole(basis, far, M, &err) == FMO_ERR_INPUT && M[0] == 5.0 &&
                  strstr(err.message, "fmo_dipole: origin[") && err.message[19] == '0' + x,
              "origin: %s", err.message);
    }
    check_charge_arguments(basis);
    fmo_basis_destroy(basis);
}

/* [n][n] doubles of a file, or NULL where it has none. Caller frees. */
static double *read_matrix(hid_t file, const char *name, size_t n)
{
    char path[128];
    double *M = NULL;
    hsize_t dims[2];
    snprintf(path, sizeof path, "ao_1e_int/ao_1e_int_%s", name);
    if (H5Lexists(file, "ao_1e_int", H5P_DEFAULT) <= 0 || H5Lexists(file, path, H5P_DEFAULT) <= 0)
        return NULL;
    const hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set);
    if (H5Sget_simple_extent_ndims(space) == 2 && H5Sget_simple_extent_dims(space, dims, NULL) &&
        dims[0] == n && dims[1] == n) {
        M = malloc(n * n * sizeof *M);
        if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, M) < 0)
            free(M), M = NULL;
    }
    CHECK(M != NULL, "cannot read %s", path);
    H5Sclose(space);
    H5Dclose(set);
    return M;
}

static int compared;

/* The three matrices agree with those that a data set has, to 1e-10; counts the comparisons. */
static void check_data_set(const char *path, const char *name)
{
    static const struct {
        const char *field;
        fmo_status (*function)(const fmo_basis *, double *, fmo_error *);
    } matrices[] = {{"overlap", fmo_overlap},
                    {"kinetic", fmo_kinetic},
                    {"potential_n_e", fmo_nuclear_attraction}};
    char label[300];
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *data = read_dataset(path);
    if (!data) return;
    const fmo_basis *basis = fmo_dataset_basis(data);
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    double *got = malloc(n * n * sizeof *got), error[3] = {NAN, NAN, NAN};
    for (int m = 0; m < 3; m++) {
        double *expected = read_matrix(file, matrices[m].field, n);
        if (!expected) continue;
        snprintf(label, sizeof label, "%s of %s", matrices[m].field, name);
        CHECK(matrices[m].function(basis, got, &err) == FMO_OK, "%s", err.message);
        error[m] = check_close(label, got, expected, n * n, n, 1e-10, 0.0);
        compared++;
        free(expected);
    }
    if (!isnan(error[0]))
        printf("%-36s |dS| %.1e  |dT| %.1e  |dV| %.1e\n", name, error[0], error[1], error[2]);
    free(got);
    H5Fclose(file);
    fmo_dataset_destroy(data);
}

/* Runs all checks, and the comparison with every data set of the folder. */
int main(void)
{
    make_quadrature();
    check_arguments();
    check_random_systems();
    check_tight();
    check_shared_exponents();
    check_left_out();
    check_point_charges();
    check_many_charges();
    check_between();
    check_zeros();
    printf("random shells: largest error/size S %.1e, T %.1e, V %.1e, D %.1e\n", worst[0], worst[1],
           worst[2], worst[3]);
    shipped_each(check_data_set);
    CHECK(compared >= 30, "only %d matrices of data sets compared in %s", compared,
          shipped_folder());
    return check_summary();
}
