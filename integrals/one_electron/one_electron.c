/* Overlap, kinetic energy and nuclear attraction over contracted shells, Cartesian functions.
 * Overlap and kinetic: products of one-dimensional integrals; all three by the recursions of Obara
 * and Saika (1986), equations (A2), (A12) and (A19)-(A21). Differences are formed as in
 * eri_common.h. */
#include <fmo/one_electron.h>

#include <stdlib.h>

#include "integrals/arguments.h"
#include "integrals/basis_internal.h"
#include "integrals/boys/boys.h"
#include "integrals/threads.h"

typedef struct prim_product {
    double p, half, factor, a, b; /* factor: c_a c_b exp(-ab/p |AB|^2) */
    double PA[3], PB[3];
} prim_product;

/* One-dimensional integrals by the powers of x, y or z at A and at B. */
typedef double table_1d[FMO_SHELL_KIND_COUNT][FMO_SHELL_KIND_COUNT];

/* Overlaps without the factor sqrt(pi/p). The power at B is raised where there is one, else the
 * power at A. */
static void overlap_1d(const prim_product *z, int x, table_1d s)
{
    s[0][0] = 1.0;
    for (int i = 0; i < FMO_SHELL_KIND_COUNT; i++) {
        for (int j = 0; j < FMO_SHELL_KIND_COUNT; j++) {
            if (j > 0) {
                s[i][j] = z->PB[x] * s[i][j - 1];
                if (i > 0) s[i][j] += z->half * i * s[i - 1][j - 1];
                if (j > 1) s[i][j] += z->half * (j - 1) * s[i][j - 2];
            } else if (i > 0) {
                s[i][0] = z->PA[x] * s[i - 1][0];
                if (i > 1) s[i][0] += z->half * (i - 1) * s[i - 2][0];
            }
        }
    }
}

/* -1/2 d^2/dx^2 likewise, from s. Every term has the factor ab/p, so that nothing cancels between a
 * tight and a diffuse function. */
static void kinetic_1d(const prim_product *z, int x, table_1d s, table_1d t)
{
    const double reduced = z->a * z->b / z->p, AB = z->PB[x] - z->PA[x];
    t[0][0] = reduced * (1.0 - 2.0 * reduced * AB * AB);
    for (int i = 0; i < FMO_SHELL_KIND_COUNT; i++) {
        for (int j = 0; j < FMO_SHELL_KIND_COUNT; j++) {
            if (j > 0) {
                t[i][j] = z->PB[x] * t[i][j - 1];
                if (i > 0) t[i][j] += z->half * i * t[i - 1][j - 1];
                if (j > 1) t[i][j] += (j - 1) * (z->half * t[i][j - 2] - z->a / z->p * s[i][j - 2]);
            } else if (i > 0) {
                t[i][0] = z->PA[x] * t[i - 1][0];
                if (i > 1) t[i][0] += (i - 1) * (z->half * t[i - 2][0] - z->b / z->p * s[i - 2][0]);
            }
            if (i + j > 0) t[i][j] += 2.0 * reduced * s[i][j];
        }
    }
}

/* Powers of x, y, z of the functions of a shell; returns how many those are. */
static int shell_powers(int ang_mom, int (*power)[3])
{
    for (int c = 0; c < fmo_shell_functions(ang_mom); c++)
        for (int x = 0; x < 3; x++) power[c][x] = fmo_shell_power(ang_mom, c, x);
    return fmo_shell_functions(ang_mom);
}

typedef void block_function(const fmo_basis *basis, const prim_product *z, const fmo_shell *A,
                            const fmo_shell *B, double *block);

static void overlap_block(const fmo_basis *basis, const prim_product *z, const fmo_shell *A,
                          const fmo_shell *B, double *block)
{
    (void)basis;
    table_1d s[3];
    const double scale = z->factor * pow(M_PI / z->p, 1.5);
    int a[FMO_SHELL_FUNCTIONS_MAX][3], b[FMO_SHELL_FUNCTIONS_MAX][3];
    const int na = shell_powers(A->ang_mom, a), nb = shell_powers(B->ang_mom, b);
    for (int x = 0; x < 3; x++) overlap_1d(z, x, s[x]);
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++)
            *block++ +=
                scale * s[0][a[i][0]][b[j][0]] * s[1][a[i][1]][b[j][1]] * s[2][a[i][2]][b[j][2]];
}

static void kinetic_block(const fmo_basis *basis, const prim_product *z, const fmo_shell *A,
                          const fmo_shell *B, double *block)
{
    (void)basis;
    table_1d s[3], t[3];
    const double scale = z->factor * pow(M_PI / z->p, 1.5);
    for (int x = 0; x < 3; x++) {
        overlap_1d(z, x, s[x]);
        kinetic_1d(z, x, s[x], t[x]);
    }
    int a[FMO_SHELL_FUNCTIONS_MAX][3], b[FMO_SHELL_FUNCTIONS_MAX][3];
    const int na = shell_powers(A->ang_mom, a), nb = shell_powers(B->ang_mom, b);
    for (int i = 0; i < na; i++) {
        for (int j = 0; j < nb; j++) {
            double S[3], T[3];
            for (int x = 0; x < 3; x++) {
                S[x] = s[x][a[i][x]][b[j][x]];
                T[x] = t[x][a[i][x]][b[j][x]];
            }
            *block++ += scale * (T[0] * S[1] * S[2] + S[0] * T[1] * S[2] + S[0] * S[1] * T[2]);
        }
    }
}

/* The pairs of s and p shells, one by one. */
FMO_STATIC_ASSERT(FMO_PAIR_ORDER_MAX <= 2, "one_electron.c: attraction_block lacks pairs")

static void attraction_block(const fmo_basis *basis, const prim_product *z, const fmo_shell *A,
                             const fmo_shell *B, double *block)
{
    const int la = A->ang_mom, lb = B->ang_mom;
    const double scale = z->factor * 2.0 * M_PI / z->p;
    for (int n = 0; n < basis->nucleus_num; n++) {
        double PC[3], F[FMO_PAIR_ORDER_MAX + 1], r2 = 0.0, p[2][3];
        const double *C = basis->coord + 3 * n;
        if (basis->charge[n] == 0.0) continue;
        for (int x = 0; x < 3; x++) {
            PC[x] = (A->center[x] - C[x]) + z->PA[x];
            r2 += PC[x] * PC[x];
        }
        fmo_boys_eval(fmo_boys.row[FMO_PAIR_ORDER_MAX][0], z->p * r2, FMO_PAIR_ORDER_MAX, F);
        for (int m = 0; m <= FMO_PAIR_ORDER_MAX; m++) F[m] *= -basis->charge[n] * scale;
        if (la == 0) { /* la >= lb */
            block[0] += F[0];
            continue;
        }
        for (int m = 0; m < 2; m++)
            for (int i = 0; i < 3; i++) p[m][i] = z->PA[i] * F[m] - PC[i] * F[m + 1];
        for (int i = 0; i < 3; i++) {
            if (lb == 0) {
                block[i] += p[0][i];
                continue;
            }
            for (int j = 0; j < 3; j++)
                block[3 * i + j] +=
                    z->PB[j] * p[0][i] - PC[j] * p[1][i] + (i == j ? z->half * (F[0] - F[1]) : 0.0);
        }
    }
}

/* Products of primitives smaller than this part of the pair's largest are left out: far shells have
 * many, and the integrals keep their digits. Integrals of a product of exponent p go as its factor
 * times p^(-1/2) (kinetic energy of s shells) to p^(-3/2-l/2) (overlap, l the sum of the shells'
 * angular momenta); it has to be small by both measures. */
static const double negligible = 1e-24;

typedef struct product_size {
    double overlap, kinetic;
} product_size;

static double product_factor(const fmo_basis *basis, const fmo_shell *A, const fmo_shell *B, int k,
                             int l, double r2, product_size *size)
{
    const double a = basis->exponent[A->prim_begin + k], b = basis->exponent[B->prim_begin + l];
    const double factor = exp(-a * b / (a + b) * r2) * basis->coefficient[A->prim_begin + k] *
                          basis->coefficient[B->prim_begin + l];
    size->kinetic = fabs(factor) / sqrt(a + b);
    size->overlap = size->kinetic / (a + b);
    for (int half = A->ang_mom + B->ang_mom; half > 0; half--) size->overlap /= sqrt(a + b);
    return factor;
}

static product_size largest_product(const fmo_basis *basis, const fmo_shell *A, const fmo_shell *B,
                                    double r2)
{
    product_size largest = {0.0, 0.0}, size;
    for (int k = 0; k < A->prim_num; k++) {
        for (int l = 0; l < B->prim_num; l++) {
            (void)product_factor(basis, A, B, k, l, r2, &size);
            largest.overlap = fmax(largest.overlap, size.overlap);
            largest.kinetic = fmax(largest.kinetic, size.kinetic);
        }
    }
    return largest;
}

/* Sums a block function over primitives for every shell pair with internal i >= j. */
static fmo_status one_electron(const fmo_basis *basis, block_function *function, double *out,
                               fmo_error *err)
{
    const size_t n = (size_t)basis->function_num;
    double *X = malloc(n * n * sizeof *X);
    if (!X) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a %zu x %zu matrix", n, n);
    const int threads = fmo_threads(0);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int i = 0; i < basis->shell_num; i++) {
        for (int j = 0; j <= i; j++) {
            const fmo_shell *A = &basis->shell[i], *B = &basis->shell[j];
            double block[FMO_PAIR_PRODUCTS_MAX] = {0.0}, AB[3], r2 = 0.0;
            for (int x = 0; x < 3; x++) {
                AB[x] = A->center[x] - B->center[x];
                r2 += AB[x] * AB[x];
            }
            const product_size largest = largest_product(basis, A, B, r2);
            for (int k = 0; k < A->prim_num; k++) {
                for (int l = 0; l < B->prim_num; l++) {
                    prim_product z;
                    z.a = basis->exponent[A->prim_begin + k];
                    z.b = basis->exponent[B->prim_begin + l];
                    z.p = z.a + z.b;
                    z.half = 0.5 / z.p;
                    product_size size;
                    z.factor = product_factor(basis, A, B, k, l, r2, &size);
                    if (z.factor == 0.0 || (size.overlap < negligible * largest.overlap &&
                                            size.kinetic < negligible * largest.kinetic))
                        continue;
                    for (int x = 0; x < 3; x++) {
                        z.PA[x] = -(z.b / z.p) * AB[x];
                        z.PB[x] = (z.a / z.p) * AB[x];
                    }
                    function(basis, &z, A, B, block);
                }
            }
            const int na = fmo_shell_functions(A->ang_mom), nb = fmo_shell_functions(B->ang_mom);
            for (int a = 0; a < na; a++) {
                for (int b = 0; b < nb; b++) {
                    const size_t p = (size_t)(A->ao_begin + a), q = (size_t)(B->ao_begin + b);
                    X[p * n + q] = X[q * n + p] = block[a * nb + b];
                }
            }
        }
    }
    fmo_basis_matrix_to_caller(basis, X, 0.5, out);
    free(X);
    return FMO_OK;
}

fmo_status fmo_overlap(const fmo_basis *basis, double *S, fmo_error *err)
{
    const fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_overlap", err, FMO_GIVEN(basis), FMO_GIVEN(S));
    return status == FMO_OK ? one_electron(basis, overlap_block, S, err) : status;
}

fmo_status fmo_kinetic(const fmo_basis *basis, double *T, fmo_error *err)
{
    const fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_kinetic", err, FMO_GIVEN(basis), FMO_GIVEN(T));
    return status == FMO_OK ? one_electron(basis, kinetic_block, T, err) : status;
}

fmo_status fmo_nuclear_attraction(const fmo_basis *basis, double *V, fmo_error *err)
{
    const fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_nuclear_attraction", err, FMO_GIVEN(basis), FMO_GIVEN(V));
    return status == FMO_OK ? one_electron(basis, attraction_block, V, err) : status;
}
