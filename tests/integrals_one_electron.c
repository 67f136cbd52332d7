/* Overlap, kinetic energy and nuclear attraction against long double references of other kinds: S
 * and T by Gauss-Hermite quadrature in three dimensions (exact for these integrands), T with the
 * Laplacian taken analytically, V by McMurchie and Davidson; and against the matrices that PySCF
 * wrote into the data sets. */
#define FMO_REF_REAL long double
#include "integrals/eri/eri_reference.h"

#include <dirent.h>
#include <hdf5.h>

#include <fmo/dataset.h>
#include <fmo/one_electron.h>

#include "test_system.h"

typedef long double real;

static unsigned long long seed = 2024;

/* Nodes and weights for int exp(-x^2) f(x) dx, exact for polynomials up to degree 7. */
enum { NODES = 4 };
static real node[NODES], weight[NODES];

static void make_quadrature(void)
{
    /* H_4(x) = 16 x^4 - 48 x^2 + 12: x^2 = (3 -+ sqrt 6) / 2, w = sqrt(pi) / (4 (3 -+ sqrt 6)) */
    const real pi = acosl(-1.0L), six = sqrtl(6.0L);
    for (int s = 0; s < 2; s++) {
        const real t = s ? 3 + six : 3 - six;
        node[2 * s] = sqrtl(t / 2);
        node[2 * s + 1] = -sqrtl(t / 2);
        weight[2 * s] = weight[2 * s + 1] = sqrtl(pi) / (4 * t);
    }
    for (int degree = 0; degree <= 6; degree += 2) { /* int x^d = Gamma((d+1)/2) */
        real sum = 0;
        for (int k = 0; k < NODES; k++) sum += weight[k] * powl(node[k], degree);
        const real want = tgammal((degree + 1) * 0.5L);
        CHECK(fabsl(sum / want - 1) < 1e-18L, "quadrature of x^%d: %.20Lg, %.20Lg", degree, sum,
              want);
    }
}

typedef struct values {
    real S, T, V; /* integrals */
    /* What errors are measured against: sums of absolute values, each times 1 + ab/p |AB|^2, the
     * condition number of the exponential; for T the size of ab/p (3 - 2 ab/p |AB|^2) S. */
    real size_S, size_T, size_V;
} values;

/* One pair of primitives, components i of A and j of B. */
static void add_primitive(const test_system *s, const double *A, int la, int i, real a,
                          const double *B, int lb, int j, real b, real factor, values *v)
{
    const real pi = acosl(-1.0L), p = a + b;
    real P[3], PA[3], PB[3], r2 = 0, E[3][2][2][3];
    for (int x = 0; x < 3; x++) {
        const real AB = (real)A[x] - B[x];
        r2 += AB * AB;
        PA[x] = -b / p * AB;
        PB[x] = a / p * AB;
        P[x] = A[x] + PA[x];
        eri_reference_hermite(PA[x], PB[x], p, E[x]);
    }
    const real exponent = a * b / p * r2, condition = 1 + exponent;
    factor *= expl(-exponent);
    for (int n = 0; n < NODES * NODES * NODES; n++) {
        const int at[3] = {n / NODES / NODES, n / NODES % NODES, n % NODES};
        real rA[3], rB[3], rB2 = 0, w = factor / (p * sqrtl(p));
        for (int x = 0; x < 3; x++) {
            const real u = node[at[x]] / sqrtl(p);
            w *= weight[at[x]];
            rA[x] = u + PA[x];
            rB[x] = u + PB[x];
            rB2 += rB[x] * rB[x];
        }
        const real bra = la ? rA[i] : 1, ket = lb ? rB[j] : 1;
        const real laplacian = (4 * b * b * rB2 - (lb ? 10 : 6) * b) * ket;
        v->S += w * bra * ket;
        v->size_S += condition * fabsl(w * bra * ket);
        v->T -= w * bra * laplacian / 2;
        v->size_T += condition * fabsl(w * bra * ket) * a * b / p * (3 + 2 * exponent) +
                     1e-5L * fabsl(w * bra * laplacian); /* rounding of the reference */
    }
    for (int c = 0; c < s->nuclei; c++) {
        real PC[3], R[ERI_REF_DIM][ERI_REF_DIM][ERI_REF_DIM];
        int pa[3], pb[3];
        for (int x = 0; x < 3; x++) {
            PC[x] = P[x] - s->coord[3 * c + x];
            pa[x] = fmo_shell_power(la, i, x);
            pb[x] = fmo_shell_power(lb, j, x);
        }
        eri_reference_coulomb(la + lb, p, PC, R);
        for (int t = 0; t <= pa[0] + pb[0]; t++)
            for (int u = 0; u <= pa[1] + pb[1]; u++)
                for (int w = 0; w <= pa[2] + pb[2]; w++) {
                    const real term = -s->charge[c] * 2 * pi / p * factor * E[0][pa[0]][pb[0]][t] *
                                      E[1][pa[1]][pb[1]][u] * E[2][pa[2]][pb[2]][w] * R[t][u][w];
                    v->V += term;
                    v->size_V += condition * fabsl(term);
                }
    }
}

/* Element (f, g) of the caller's functions. */
static values reference(const test_system *s, int f, int g)
{
    const int A = s->ao_shell[f], B = s->ao_shell[g];
    values v = {0};
    for (int k = 0; k < s->prims; k++)
        for (int l = 0; l < s->prims; l++)
            if (s->prim_shell[k] == A && s->prim_shell[l] == B)
                add_primitive(s, s->coord + 3 * s->nucleus[A], s->ang_mom[A], s->ao_component[f],
                              s->exponent[k], s->coord + 3 * s->nucleus[B], s->ang_mom[B],
                              s->ao_component[g], s->exponent[l],
                              (real)s->coefficient[k] * s->coefficient[l] * s->ao_factor[f] *
                                  s->ao_factor[g],
                              &v);
    return v;
}

static double worst[3];

static void check_element(const char *name, int which, int f, int g, double got, real want,
                          real size)
{
    static const char *const matrix[3] = {"S", "T", "V"};
    static const double tolerance[3] = {1e-14, 1e-14, 1e-13};
    const double error = (double)fabsl(got - want);
    CHECK(error <= tolerance[which] * (double)size + 1e-300,
          "%s: %s(%d,%d) = %.17g, want %.17Lg, error/size %.3g", name, matrix[which], f, g, got,
          want, error / (double)size);
    if (size > 1e-250L && error / (double)size > worst[which]) worst[which] = error / (double)size;
}

static void check_system(const char *name, const test_system *s)
{
    fmo_basis *basis = system_basis(s);
    if (!basis) return;
    const size_t n = (size_t)s->aos;
    double *S = malloc(3 * n * n * sizeof *S), *T = S + n * n, *V = T + n * n;
    memset(S, 0xff, 3 * n * n * sizeof *S); /* NaN: every element must be written */
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_overlap(basis, S, &err) == FMO_OK && fmo_kinetic(basis, T, &err) == FMO_OK &&
              fmo_nuclear_attraction(basis, V, &err) == FMO_OK,
          "%s", err.message);
    for (int f = 0; f < s->aos; f++) {
        for (int g = 0; g < s->aos; g++) {
            const values v = reference(s, f, g);
            const size_t at = (size_t)f * n + (size_t)g, transposed = (size_t)g * n + (size_t)f;
            check_element(name, 0, f, g, S[at], v.S, v.size_S);
            check_element(name, 1, f, g, T[at], v.T, v.size_T);
            check_element(name, 2, f, g, V[at], v.V, v.size_V);
            CHECK(S[at] == S[transposed] && T[at] == T[transposed] && V[at] == V[transposed],
                  "%s: not symmetric at (%d,%d)", name, f, g);
        }
    }
    free(S);
    fmo_basis_destroy(basis);
}

static void check_random_systems(void)
{
    static test_system s;
    for (int set = 0; set < 12; set++) {
        system_random(&s, 2 + set % 3, 3, 3, 4, set % 2 ? 3.0 : 8.0, &seed);
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
    system_random(&s, 1, 2, 2, 6, 3.0, &seed);
    check_system("one atom", &s);
    system_random(&s, 1, 1, 0, 1, 3.0, &seed);
    check_system("one s shell", &s);
    system_random(&s, 1, 0, 1, 1, 3.0, &seed);
    check_system("one p shell", &s);

    memset(&s, 0, sizeof s); /* far apart: underflow */
    for (int a = 0; a < 3; a++) {
        system_add_atom(&s, 15.0 * a * a, 0.0, -20.0 * a);
        system_add_shell(&s, 0, 2, &seed);
        system_add_shell(&s, 1, 2, &seed);
    }
    check_system("far apart", &s);
}

/* Coincident centres: atoms on one line have exact zeros between p_x and anything without it. */
static void check_zeros(void)
{
    static test_system s;
    memset(&s, 0, sizeof s);
    for (int a = 0; a < 3; a++) {
        system_add_atom(&s, 0.7, -0.1, a == 2 ? 2.0 : 0.3); /* two of them coincide */
        s.charge[a] = a + 1;
        system_add_shell(&s, 0, 3, &seed);
        system_add_shell(&s, 1, 2, &seed);
    }
    check_system("coincident", &s);
    fmo_basis *basis = system_basis(&s);
    double M[3][12 * 12];
    if (!basis) return;
    CHECK(fmo_overlap(basis, M[0], NULL) == FMO_OK && fmo_kinetic(basis, M[1], NULL) == FMO_OK &&
              fmo_nuclear_attraction(basis, M[2], NULL) == FMO_OK,
          "failed");
    for (int f = 0; f < s.aos; f++)
        for (int g = 0; g < s.aos; g++)
            for (int x = 0; x < 2; x++) {
                const int odd_f = s.ang_mom[s.ao_shell[f]] && s.ao_component[f] == x;
                const int odd_g = s.ang_mom[s.ao_shell[g]] && s.ao_component[g] == x;
                for (int m = 0; m < 3 && odd_f != odd_g; m++)
                    CHECK(M[m][f * s.aos + g] == 0.0, "matrix %d (%d,%d) = %g, want 0", m, f, g,
                          M[m][f * s.aos + g]);
            }
    fmo_basis_destroy(basis);
}

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

static void check_data_set(const char *name, int *compared)
{
    static const struct {
        const char *field;
        fmo_status (*function)(const fmo_basis *, double *, fmo_error *);
    } matrices[] = {{"overlap", fmo_overlap},
                    {"kinetic", fmo_kinetic},
                    {"potential_n_e", fmo_nuclear_attraction}};
    char path[1024], label[300];
    fmo_dataset *data = NULL;
    fmo_error err = {FMO_OK, ""};
    snprintf(path, sizeof path, "%s/%s", FMO_DATASET_DIR, name);
    const fmo_status status = fmo_dataset_read(path, &data, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    if (status != FMO_OK) return;
    const fmo_basis *basis = fmo_dataset_basis(data);
    const size_t n = (size_t)fmo_basis_ao_num(basis);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    double *got = malloc(n * n * sizeof *got), error[3] = {NAN, NAN, NAN};
    for (int m = 0; m < 3; m++) {
        double *want = read_matrix(file, matrices[m].field, n);
        if (!want) continue;
        snprintf(label, sizeof label, "%s of %s", matrices[m].field, name);
        CHECK(matrices[m].function(basis, got, &err) == FMO_OK, "%s", err.message);
        error[m] = check_close(label, got, want, n * n, n, 1e-10, 0.0);
        ++*compared;
        free(want);
    }
    if (!isnan(error[0]))
        printf("%-36s |dS| %.1e  |dT| %.1e  |dV| %.1e\n", name, error[0], error[1], error[2]);
    free(got);
    H5Fclose(file);
    fmo_dataset_destroy(data);
}

static int is_data_set(const struct dirent *e)
{
    const size_t length = strlen(e->d_name);
    return length > 3 && !strcmp(e->d_name + length - 3, ".h5");
}

int main(void)
{
    int compared = 0;
    make_quadrature();
    check_arguments();
    check_random_systems();
    check_zeros();
    printf("random shells: largest error/size S %.1e, T %.1e, V %.1e\n", worst[0], worst[1],
           worst[2]);
    struct dirent **entry = NULL;
    const int entries = scandir(FMO_DATASET_DIR, &entry, is_data_set, alphasort);
    for (int i = 0; i < entries; i++) {
        check_data_set(entry[i]->d_name, &compared);
        free(entry[i]);
    }
    free(entry);
    CHECK(compared >= 30, "only %d matrices of data sets compared in %s", compared,
          FMO_DATASET_DIR);
    return check_summary();
}
