/* Linear algebra of small matrices (driver/scf/small.h): every size, graded matrices, degenerate
 * ones, those with a few huge eigenvalues; products with and without transposes. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "driver/scf/small.h"

enum { N = FMO_SMALL_MAX };

static unsigned long long seed = 5;

static double uniform(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(seed >> 11) * 0x1p-53 - 0.5;
}

/* kind: 0 random, 1 graded, 2 three eigenvalues of 1e6, 3 all equal, 4 zero, 5 diagonal. */
enum { KINDS = 6 };
static void fill(int kind, int n, double *A)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++) {
            double x = uniform();
            if (kind == 1) x *= pow(10.0, -0.2 * (i + j));
            if (kind == 2 && i == j && i < 3) x += 1e6;
            if (kind == 3) x = i == j ? 0.7 : 0.0;
            if (kind == 4) x = 0.0;
            if (kind == 5 && i != j) x = 0.0;
            A[i + j * n] = A[j + i * n] = x;
        }
}

/* Eigenvalues ascend, and eigenvectors have small residuals and are orthonormal. */
static void check_eigen(int kind, int n)
{
    static double A[N * N], Q[N * N];
    double values[N], norm = 0.0, off = 0.0, turned = 0.0;
    fill(kind, n, A);
    memcpy(Q, A, sizeof Q);
    CHECK(fmo_small_eigen(n, Q, values), "kind %d, n = %d: no end", kind, n);
    for (int k = 0; k < n; k++) norm = fmax(norm, fabs(values[k]));
    for (int k = 0; k < n; k++) {
        if (k > 0) CHECK(values[k - 1] <= values[k], "kind %d, n = %d: not ascending", kind, n);
        for (int i = 0; i < n; i++) {
            double r = -values[k] * Q[i + k * n], o = -(double)(i == k);
            for (int j = 0; j < n; j++) {
                r += A[i + j * n] * Q[j + k * n];
                o += Q[j + i * n] * Q[j + k * n];
            }
            off = fmax(off, fabs(r));
            turned = fmax(turned, fabs(o));
        }
    }
    CHECK(off <= 40.0 * n * DBL_EPSILON * norm, "kind %d, n = %d: A q - e q is %g of %g", kind, n,
          off, norm);
    CHECK(turned <= 40.0 * n * DBL_EPSILON, "kind %d, n = %d: Q^T Q - 1 is %g", kind, n, turned);
}

/* The inverse Cholesky factor X satisfies X^T A X = 1; a matrix that is not positive definite is
 * reported. */
static void check_cholesky(int n)
{
    static double A[N * N], X[N * N];
    double off = 0.0;
    fill(0, n, A);
    for (int i = 0; i < n; i++) A[i + i * n] = n + 1.0;
    memcpy(X, A, sizeof X);
    CHECK(fmo_small_inverse_cholesky(n, X), "n = %d: not positive definite", n);
    for (int i = 0; i < n; i++) /* X^T A X = 1 */
        for (int j = 0; j < n; j++) {
            double sum = -(double)(i == j);
            for (int k = 0; k < n; k++)
                for (int l = 0; l < n; l++) sum += X[k + i * n] * A[k + l * n] * X[l + j * n];
            off = fmax(off, fabs(sum));
            if (i > j) CHECK(X[i + j * n] == 0.0, "n = %d: below the diagonal", n);
        }
    CHECK(off <= 40.0 * n * DBL_EPSILON, "n = %d: X^T A X - 1 is %g", n, off);
    A[n * n - 1] = -1.0;
    CHECK(!fmo_small_inverse_cholesky(n, A), "n = %d: positive definite", n);
}

/* C = 1.5 op(A) op(B) + beta C agrees with a plain loop; beta = 0 does not read C. */
static void check_product(char op_a, char op_b, int m, int n, int k, double beta)
{
    static double A[N * N], B[N * N], C[N * N], expected[N * N];
    double off = 0.0;
    for (int i = 0; i < N * N; i++) {
        A[i] = uniform();
        B[i] = uniform();
        C[i] = beta == 0.0 ? NAN : uniform();
    }
    memcpy(expected, C, sizeof expected);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0.0;
            for (int l = 0; l < k; l++)
                sum += (op_a == 'T' ? A[l + i * k] : A[i + l * m]) *
                       (op_b == 'T' ? B[j + l * n] : B[l + j * k]);
            expected[i + j * m] = 1.5 * sum + (beta == 0.0 ? 0.0 : beta * expected[i + j * m]);
        }
    fmo_small_multiply(1.5, (fmo_matrix){A, m, k, op_a == 'T'}, (fmo_matrix){B, k, n, op_b == 'T'},
                       beta, C);
    for (int i = 0; i < m * n; i++) off = fmax(off, fabs(C[i] - expected[i]));
    CHECK(off <= 4.0 * (k + 1) * DBL_EPSILON, "%c%c %d x %d x %d: %g", op_a, op_b, m, n, k, off);
}

int main(void)
{
    for (int n = 1; n <= N; n++) {
        for (int kind = 0; kind < KINDS; kind++) check_eigen(kind, n);
        if (n <= 20 || n == N) check_cholesky(n);
    }
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            for (int n = 1; n <= N; n += 1 + n / 3)
                for (int beta = 0; beta < 2; beta++) {
                    check_product(a ? 'T' : 'N', b ? 'T' : 'N', n, n, n, 0.5 * beta);
                    check_product(a ? 'T' : 'N', b ? 'T' : 'N', n, (n + 6) % N + 1, n / 2 + 1,
                                  0.5 * beta);
                }
    return check_summary();
}
