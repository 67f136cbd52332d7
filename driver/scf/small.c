/* Implementation of small.h: plain loops over columns. Used by linalg_cpu.c. */
#include "driver/scf/small.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double dot(int n, const double *x, const double *y)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static void add(int n, double a, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++) y[i] += a * x[i];
}

/* c[0] to c[columns-1] += b times a, in columns of C with stride m. */
static void add_to_columns(int m, int columns, const double *b, const double *restrict a, double *c)
{
    if (columns == 4) {
        double *const c1 = c + m, *const c2 = c1 + m, *const c3 = c2 + m;
        for (int i = 0; i < m; i++) {
            c[i] += b[0] * a[i];
            c1[i] += b[1] * a[i];
            c2[i] += b[2] * a[i];
            c3[i] += b[3] * a[i];
        }
        return;
    }
    for (int j = 0; j < columns; j++) add(m, b[j], a, c + j * m);
}

/* Transposes A if needed, then updates four columns of C at a time. */
void fmo_small_multiply(double alpha, fmo_matrix A, fmo_matrix B, double beta, double *C)
{
    const int m = A.rows, n = B.columns, k = A.columns;
    double transposed[FMO_SMALL_MAX * FMO_SMALL_MAX];
    if (A.transposed) { /* so that the loops run along columns */
        for (int i = 0; i < m; i++)
            for (int l = 0; l < k; l++) transposed[l * m + i] = A.at[i * k + l];
        A.at = transposed;
    }
    for (int j = 0; j < n; j += 4) {
        const int columns = n - j < 4 ? n - j : 4;
        double *const c = C + j * m;
        for (int i = 0; i < columns * m; i++) c[i] = beta == 0.0 ? 0.0 : beta * c[i];
        for (int l = 0; l < k; l++) {
            double b[4];
            for (int x = 0; x < columns; x++)
                b[x] = alpha * (B.transposed ? B.at[j + x + l * n] : B.at[l + (j + x) * k]);
            add_to_columns(m, columns, b, A.at + l * m, c);
        }
    }
}

/* ---- eigenproblem --------------------------------------------------------------------------- */

/* Householder tridiagonalisation A = Q T Q^T; d and e: diagonal and off-diagonal of T; Q overwrites
 * A. */
static void tridiagonalise(int n, double *A, double *d, double *e)
{
    double beta[FMO_SMALL_MAX], w[FMO_SMALL_MAX];
    for (int k = 0; k + 1 < n; k++) {
        const int rest = n - 1 - k; /* rows below k */
        double *const v = A + k * n + k + 1;
        const double length = sqrt(dot(rest, v, v)), first = v[0];
        d[k] = A[k * n + k];
        e[k] = first > 0.0 ? -length : length;
        beta[k] = 0.0;
        if (length == fabs(first)) { /* already tridiagonal */
            e[k] = first;
            continue;
        }
        v[0] = first - e[k];
        beta[k] = 1.0 / (length * (length + fabs(first))); /* 2 / v.v */
        for (int j = 0; j < rest; j++) w[j] = beta[k] * dot(rest, A + (k + 1 + j) * n + k + 1, v);
        add(rest, -0.5 * beta[k] * dot(rest, v, w), v, w);
        for (int j = 0; j < rest; j++) {
            double *const column = A + (k + 1 + j) * n + k + 1;
            const double vj = v[j], wj = w[j];
            for (int i = 0; i < rest; i++) column[i] -= v[i] * wj + w[i] * vj;
        }
    }
    d[n - 1] = A[n * n - 1];
    /* Accumulates Q from the last reflection to the first, in the rows and columns behind k. */
    for (int k = n - 1; k >= 0; k--) {
        const int rest = n - 1 - k;
        double *const v = A + k * n + k + 1;
        for (int j = 0; j < rest && beta[k] != 0.0; j++) {
            double *const column = A + (k + 1 + j) * n + k + 1;
            add(rest, -beta[k] * dot(rest, v, column), v, column);
        }
        for (int i = 0; i < rest; i++) {
            v[i] = 0.0;
            A[(k + 1 + i) * n + k] = 0.0;
        }
        A[k * n + k] = 1.0;
    }
}

/* One implicit QR step on rows low to high of T, applied to the columns of Q. */
static void qr_step(int n, int low, int high, double *d, double *e, double *Q)
{
    const double half = 0.5 * (d[high - 1] - d[high]), last = e[high - 1];
    const double root = hypot(half, last);
    const double shift = d[high] - last * (last / (half + (half < 0.0 ? -root : root)));
    double x = d[low] - shift, z = e[low];
    for (int k = low; k < high; k++) {
        const double r = hypot(x, z);
        const double c = r > 0.0 ? x / r : 1.0, s = r > 0.0 ? z / r : 0.0;
        const double one = d[k], two = d[k + 1], between = e[k];
        if (k > low) e[k - 1] = r;
        d[k] = c * c * one + s * s * two + 2.0 * c * s * between;
        d[k + 1] = s * s * one + c * c * two - 2.0 * c * s * between;
        e[k] = c * s * (two - one) + (c * c - s * s) * between;
        x = e[k];
        if (k + 1 < high) {
            z = s * e[k + 1];
            e[k + 1] *= c;
        }
        double *const p = Q + k * n, *const q = p + n;
        for (int i = 0; i < n; i++) {
            const double own = p[i], next = q[i];
            p[i] = c * own + s * next;
            q[i] = c * next - s * own;
        }
    }
}

/* Largest number of QR steps per eigenvalue; two are typical. */
enum { STEPS = 60 };

/* Tridiagonalises, iterates QR steps until T is diagonal, and sorts the eigenpairs. */
int fmo_small_eigen(int n, double *A, double *values)
{
    double e[FMO_SMALL_MAX];
    double *const d = values;
    tridiagonalise(n, A, d, e);
    for (int high = n - 1, left = STEPS * n; high > 0;) {
        int low = high;
        for (; low > 0; low--)
            if (fabs(e[low - 1]) <= DBL_EPSILON * (fabs(d[low - 1]) + fabs(d[low])) ||
                fabs(e[low - 1]) < DBL_MIN)
                break;
        if (low == high) {
            high--;
            continue;
        }
        if (left-- == 0) return 0;
        qr_step(n, low, high, d, e, A);
    }
    for (int k = 0; k < n; k++) { /* sorts in ascending order */
        int least = k;
        for (int j = k + 1; j < n; j++)
            if (d[j] < d[least]) least = j;
        if (least == k) continue;
        const double value = d[k];
        d[k] = d[least];
        d[least] = value;
        for (int i = 0; i < n; i++) {
            const double other = A[k * n + i];
            A[k * n + i] = A[least * n + i];
            A[least * n + i] = other;
        }
    }
    return 1;
}

/* ---- Cholesky ------------------------------------------------------------------------------- */

/* Factorises A = U^T U in place, then inverts U column by column. */
int fmo_small_inverse_cholesky(int n, double *A)
{
    for (int j = 0; j < n; j++) { /* A = U^T U, column by column */
        double *const column = A + j * n;
        for (int i = 0; i < j; i++)
            column[i] = (column[i] - dot(i, A + i * n, column)) / A[i * n + i];
        const double square = column[j] - dot(j, column, column);
        if (!(square > 0.0)) return 0;
        column[j] = sqrt(square);
    }
    for (int j = 0; j < n; j++) { /* U X = 1; columns before j are already those of X */
        double *const column = A + j * n;
        double solved[FMO_SMALL_MAX];
        const double diagonal = 1.0 / column[j];
        memset(solved, 0, (size_t)j * sizeof *solved);
        for (int k = 0; k < j; k++) add(k + 1, -diagonal * column[k], A + k * n, solved);
        memcpy(column, solved, (size_t)j * sizeof *solved);
        column[j] = diagonal;
        for (int i = j + 1; i < n; i++) column[i] = 0.0;
    }
    return 1;
}
