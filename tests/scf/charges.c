/* Charges and spin populations of atoms: against sums with S^1/2 by Newton's iteration; sums over
 * the atoms, ghost atoms, scaled functions, errors. Against PySCF's: tests/python/results.py. */
#include <fmo/scf.h>

#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/molecule.h"

enum { ATOMS_MAX = 8, KINDS = 4 };

/* [kind][atom] in the order of the arguments */
typedef struct charges {
    double of[KINDS][ATOMS_MAX];
} charges;

static fmo_status compute(const fmo_basis *basis, const fmo_scf_result *r, charges *c,
                          fmo_error *err)
{
    for (int k = 0; k < KINDS; k++)
        for (int a = 0; a < ATOMS_MAX; a++) c->of[k][a] = NAN;
    return fmo_scf_charges(basis, r, c->of[0], c->of[1], c->of[2], c->of[3], err);
}

/* C = A B */
static void multiply(size_t n, const double *A, const double *B, double *C)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            C[i * n + j] = 0.0;
            for (size_t k = 0; k < n; k++) C[i * n + j] += A[i * n + k] * B[k * n + j];
        }
}

/* root = S^1/2 by the coupled Newton-Schulz iteration, Y' = Y T, Z' = T Z, T = (3 - Z Y)/2, of S
 * divided by a bound of its eigenvalues. */
static void find_root(size_t n, const double *S, double *root)
{
    double *const memory = calloc(4 * n * n, sizeof *memory), bound = 0.0;
    double *Y = memory, *Z = memory + n * n, *const T = Z + n * n, *const next = T + n * n;
    for (size_t i = 0; i < n; i++) {
        double row = 0.0;
        for (size_t j = 0; j < n; j++) row += fabs(S[i * n + j]);
        bound = fmax(bound, row);
    }
    for (size_t i = 0; i < n * n; i++) {
        Y[i] = S[i] / bound;
        Z[i] = i % (n + 1) == 0;
    }
    for (int step = 0; step < 60; step++) {
        multiply(n, Z, Y, T);
        for (size_t i = 0; i < n * n; i++) T[i] = 1.5 * (i % (n + 1) == 0) - 0.5 * T[i];
        multiply(n, Y, T, next);
        memcpy(Y, next, n * n * sizeof *Y);
        multiply(n, T, Z, next);
        memcpy(Z, next, n * n * sizeof *Z);
    }
    for (size_t i = 0; i < n * n; i++) root[i] = sqrt(bound) * Y[i];
    free(memory);
}

/* Adds sum_i in A (L D R)_ii to the atoms. */
static void add(const fmo_basis_input *in, const double *L, const double *D, const double *R,
                double *atoms)
{
    const size_t n = (size_t)in->ao_num;
    double *const LD = malloc(2 * n * n * sizeof *LD), *const LDR = LD + n * n;
    multiply(n, L, D, LD);
    multiply(n, LD, R, LDR);
    for (size_t i = 0; i < n; i++) atoms[in->shell_nucleus[in->ao_shell[i]]] += LDR[i * n + i];
    free(LD);
}

/* The same charges from the definitions, for functions of norm 1, spherical or of s and p shells.
 */
static void define(const fmo_basis_input *in, const fmo_scf_result *r, charges *c)
{
    const size_t n = (size_t)r->nao;
    double *const root = malloc(2 * n * n * sizeof *root), *const one = root + n * n;
    const double *const D[2] = {r->density, r->spin_density};
    find_root(n, r->overlap, root);
    for (size_t i = 0; i < n * n; i++) one[i] = i % (n + 1) == 0;
    memset(c, 0, sizeof *c);
    for (int k = 0; k < KINDS; k++) {
        if (D[k / 2]) add(in, k % 2 ? root : one, D[k / 2], k % 2 ? root : r->overlap, c->of[k]);
        for (int a = 0; a < in->nucleus_num && k < 2; a++)
            c->of[k][a] = in->nucleus_charge[a] - c->of[k][a];
    }
    free(root);
}

/* Functions multiplied by factors from 1e-3 to 1e3 have the same charges. */
static void check_scaled(const char *what, const fmo_basis_input *in, const fmo_scf_result *r,
                         const charges *expected)
{
    static unsigned long long seed = 7;
    const size_t n = (size_t)r->nao;
    double *const S = malloc((3 * n + 2) * n * sizeof *S), *const D = S + n * n,
                  *const M = D + n * n;
    double *const f = M + n * n, *const factor = f + n;
    fmo_scf_result scaled = *r;
    fmo_basis_input input = *in;
    fmo_basis *basis = NULL;
    fmo_error err = {FMO_OK, ""};
    charges got;
    for (size_t i = 0; i < n; i++) {
        f[i] = pow(10.0, 6.0 * check_random(&seed) - 3.0);
        factor[i] = f[i] * (in->ao_factor ? in->ao_factor[i] : 1.0) * (i % 3 ? 1.0 : -1.0);
    }
    for (size_t i = 0; i < n * n; i++) {
        const size_t a = i / n, b = i % n;
        const double ff = f[a] * f[b] * (!(a % 3) == !(b % 3) ? 1.0 : -1.0);
        S[i] = r->overlap[i] * ff;
        D[i] = r->density[i] / ff;
        M[i] = r->spin_density ? r->spin_density[i] / ff : 0.0;
    }
    scaled.overlap = S;
    scaled.density = D;
    scaled.spin_density = r->spin_density ? M : NULL;
    input.ao_factor = factor;
    CHECK(fmo_basis_create(&input, &basis, &err) == FMO_OK &&
              compute(basis, &scaled, &got, &err) == FMO_OK,
          "%s: %s", what, err.message);
    for (int k = 0; k < KINDS; k++)
        check_close(what, got.of[k], expected->of[k], (size_t)in->nucleus_num, 1, 1e-10, 0.0);
    fmo_basis_destroy(basis);
    free(S);
}

/* Compares with the definitions, and sums with the charge and the unpaired electrons. Each array
 * may be NULL. */
static void check_result(const char *what, const fmo_dataset *dataset, int charge, int unpaired,
                         const fmo_scf_result *r)
{
    const fmo_basis_input *const in = fmo_dataset_basis_input(dataset);
    const fmo_basis *const basis = fmo_dataset_basis(dataset);
    const size_t atoms = (size_t)in->nucleus_num;
    fmo_error err = {FMO_OK, ""};
    charges got, expected, alone;
    CHECK(compute(basis, r, &got, &err) == FMO_OK, "%s: %s", what, err.message);
    define(in, r, &expected);
    for (int k = 0; k < KINDS; k++) {
        double sum = 0.0, *one[KINDS] = {NULL};
        /* d shells in Cartesian form have another norm than that of the definitions here */
        if (k % 2 == 0 || !in->cartesian || fmo_basis_shell_num(basis, 2) == 0)
            check_close(what, got.of[k], expected.of[k], atoms, 1, 1e-11, 0.0);
        for (size_t a = 0; a < atoms; a++) sum += got.of[k][a];
        CHECK(fabs(sum - (k < 2 ? charge : unpaired)) < 1e-8, "%s: sum %d is %.12f", what, k, sum);
        one[k] = alone.of[k];
        CHECK(fmo_scf_charges(basis, r, one[0], one[1], one[2], one[3], &err) == FMO_OK &&
                  memcmp(one[k], got.of[k], atoms * sizeof(double)) == 0,
              "%s: array %d alone: %s", what, k, err.message);
    }
    check_scaled(what, in, r, &got);
}

/* Runs an SCF and checks its charges, which are stored. */
static void test(const char *what, const fmo_dataset *dataset, int charge, int multiplicity,
                 int restricted, charges *c)
{
    fmo_scf_options o;
    fmo_scf_result *r = NULL;
    fmo_error err = {FMO_OK, ""};
    const fmo_scf_input input = {.basis = fmo_dataset_basis(dataset),
                                 .electron_num = fmo_dataset_electron_num(dataset) - charge,
                                 .nuclear_repulsion = fmo_dataset_nuclear_repulsion(dataset),
                                 .multiplicity = multiplicity};
    fmo_scf_options_init(&o);
    o.fock.mode = FMO_MODE_CPU;
    o.fock.threads = 2;
    o.restricted = restricted;
    CHECK(fmo_scf_run(&input, &o, &r, &err) == FMO_OK, "%s: %s", what, err.message);
    if (r) check_result(what, dataset, charge, multiplicity - 1, r);
    if (r) (void)compute(input.basis, r, c, &err);
    fmo_scf_result_destroy(r);
}

/* A ghost atom has the negative of its population, which is 0 far from all nuclei. */
static void test_ghost(void)
{
    static const char geometry[] = "7\nwater, and the functions of one near and one far away\n"
                                   "O 0 0 0\nH 0 0.757 0.586\nH 0 -0.757 0.586\n"
                                   "@O 0 0 2.9\n@H 0 0 40\n@H 0 0 41\nGh(O) 0 0 42\n";
    char folder[] = "/tmp/fmo-scf-charges-XXXXXX";
    charges c;
    if (!mkdtemp(folder)) exit(1);
    const char *const path = folder_path(folder, "ghost.xyz");
    FILE *const file = fopen(path, "w");
    if (!file || fputs(geometry, file) < 0 || fclose(file) != 0) exit(1);
    fmo_dataset *const dataset = molecule_dataset(path, "6-31g");
    if (dataset) {
        test("water and ghosts", dataset, 0, 1, 0, &c);
        for (int k = 0; k < 2; k++) {
            CHECK(c.of[k][3] < -1e-4 && c.of[k][3] > -0.2, "near ghost: %g", c.of[k][3]);
            for (int a = 4; a < 7; a++)
                CHECK(fabs(c.of[k][a]) < 1e-12, "far ghost %d: %g", a, c.of[k][a]);
            CHECK(fabs(c.of[k][1] - c.of[k][2]) < 1e-6 && c.of[k][1] > 0.1, "hydrogen: %g, %g",
                  c.of[k][1], c.of[k][2]);
        }
    }
    fmo_dataset_destroy(dataset);
    folder_remove(folder);
}

/* Errors leave the arrays as they were. */
static void test_errors(const fmo_dataset *dataset)
{
    const fmo_basis *const basis = fmo_dataset_basis(dataset);
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    double *const M = calloc(n * n, sizeof *M), charge[ATOMS_MAX] = {5.0};
    fmo_error err = {FMO_OK, ""};
    fmo_scf_result r = {.nao = (int)n + 1, .density = M, .overlap = M};
    CHECK(fmo_scf_charges(basis, &r, charge, NULL, NULL, NULL, &err) == FMO_ERR_ARGUMENT &&
              strstr(err.message, "fmo_scf_charges: basis: has 13 functions"),
          "%s", err.message);
    r.nao--;
    M[n + 1] = NAN;
    err.status = FMO_OK;
    CHECK(fmo_scf_charges(basis, &r, charge, charge + 3, NULL, NULL, &err) == FMO_ERR_CHECK &&
              strstr(err.message, "fmo_scf_charges: a matrix of the SCF has elements that are not"),
          "%s", err.message);
    CHECK(charge[0] == 5.0 && charge[3] == 0.0, "charges after an error");
    free(M);
}

int main(void)
{
    fmo_dataset *const s_p = molecule_dataset("water001", "6-31g");
    fmo_dataset *const d = molecule_dataset("water001", "6-31g(d)");
    fmo_dataset *const spherical = molecule_dataset("h2s", "def2-svp");
    charges water, ion;
    if (!s_p || !d || !spherical) return check_summary();
    test("H2O", s_p, 0, 1, 0, &water);
    CHECK(water.of[0][0] < -0.5 && water.of[1][0] < -0.3 && water.of[2][0] == 0.0,
          "H2O: %g, %g, %g", water.of[0][0], water.of[1][0], water.of[2][0]);
    test("H2O+, ROHF", s_p, 1, 2, 1, &ion);
    CHECK(ion.of[2][0] > 0.9 && ion.of[3][0] > 0.9, "spin of O in H2O+: %g, %g", ion.of[2][0],
          ion.of[3][0]);
    test("H2O+, UHF", d, 1, 2, 0, &ion);
    test("H2O, triplet", d, 0, 3, 0, &ion);
    test("H2S", spherical, 0, 1, 0, &ion);
    test("H2S-, UHF", spherical, -1, 2, 0, &ion);
    test_ghost();
    test_errors(s_p);
    fmo_dataset_destroy(s_p);
    fmo_dataset_destroy(d);
    fmo_dataset_destroy(spherical);
    return check_summary();
}
