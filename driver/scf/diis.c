/* DIIS and EDIIS coefficients by dense elimination: the systems have at most 17 unknowns. */
#include "driver/scf/diis.h"

#include <math.h>
#include <string.h>

enum { UNKNOWNS = FMO_DIIS_MAX + 1 };

/* Solves A x = b by elimination with complete pivoting. @return 0 if a pivot falls below `smallest`
 * times the largest element. */
static int solve(int n, double A[][UNKNOWNS], double *b, double smallest, double *x)
{
    int column[UNKNOWNS];
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        column[i] = i;
        for (int j = 0; j < n; j++) largest = fmax(largest, fabs(A[i][j]));
    }
    for (int k = 0; k < n; k++) {
        int p = k, q = k;
        for (int i = k; i < n; i++)
            for (int j = k; j < n; j++)
                if (fabs(A[i][j]) > fabs(A[p][q])) p = i, q = j;
        if (!(fabs(A[p][q]) > smallest * largest)) return 0;
        for (int j = 0; j < n; j++) {
            const double swap = A[k][j];
            A[k][j] = A[p][j];
            A[p][j] = swap;
        }
        const double swap = b[k];
        b[k] = b[p];
        b[p] = swap;
        for (int i = 0; i < n; i++) {
            const double element = A[i][k];
            A[i][k] = A[i][q];
            A[i][q] = element;
        }
        const int name = column[k];
        column[k] = column[q];
        column[q] = name;
        for (int i = k + 1; i < n; i++) {
            const double factor = A[i][k] / A[k][k];
            for (int j = k; j < n; j++) A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        double sum = b[k];
        for (int j = k + 1; j < n; j++) sum -= A[k][j] * b[j];
        b[k] = sum / A[k][k];
    }
    for (int k = 0; k < n; k++) x[column[k]] = b[k];
    return 1;
}

void fmo_diis_coefficients(int m, const double B[][FMO_DIIS_MAX], double *c)
{
    for (int first = 0; first < m; first++) {
        /* Scaled to a unit diagonal, so that the test of the pivots means linear dependence and
         * not small errors. */
        double A[UNKNOWNS][UNKNOWNS], b[UNKNOWNS] = {0.0}, x[UNKNOWNS], scale[UNKNOWNS];
        const int n = m - first;
        int usable = 1;
        for (int i = 0; i < n; i++) {
            scale[i] = 1.0 / sqrt(B[first + i][first + i]);
            if (!isfinite(scale[i])) usable = 0;
        }
        if (!usable) continue;
        /* Lagrange: [B s; s^T 0] with s_i = scale_i / scale_last, c_i = scale_i x_i. */
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) A[i][j] = B[first + i][first + j] * scale[i] * scale[j];
            A[i][n] = A[n][i] = scale[i] / scale[n - 1];
            if (!isfinite(A[i][n])) usable = 0;
        }
        A[n][n] = 0.0;
        b[n] = 1.0 / scale[n - 1];
        if (!usable || !solve(n + 1, A, b, 1e-13, x)) continue;
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += scale[i] * x[i];
        if (!isfinite(sum) || fabs(sum) < 1e-3) continue;
        memset(c, 0, (size_t)first * sizeof *c);
        for (int i = 0; i < n; i++) c[first + i] = scale[i] * x[i] / sum;
        return;
    }
    memset(c, 0, (size_t)m * sizeof *c);
    c[m - 1] = 1.0;
}

void fmo_ediis_coefficients(int m, const double *energy, const double T[][FMO_DIIS_MAX], double *c)
{
    const int first = m > FMO_EDIIS_MAX ? m - FMO_EDIIS_MAX : 0, n = m - first;
    double Q[FMO_EDIIS_MAX][FMO_EDIIS_MAX], E[FMO_EDIIS_MAX];
    memset(c, 0, (size_t)m * sizeof *c);
    for (int i = 0; i < n; i++) {
        const double *Ti = T[first + i];
        E[i] = energy[first + i] - energy[m - 1];
        for (int j = 0; j < n; j++) {
            const double *Tj = T[first + j];
            /* -1/4 of tr (D_i - D_j)(F_i - F_j) in sum_ij c_i c_j */
            Q[i][j] = -0.25 * (Ti[first + i] - Ti[first + j] - Tj[first + i] + Tj[first + j]);
        }
    }
    double best = INFINITY, at[FMO_EDIIS_MAX] = {0.0};
    at[n - 1] = 1.0;
    /* On each face, the stationary point of E(c): 2 Q c + E = lambda, sum c = 1. */
    for (unsigned face = 1; face < 1U << n; face++) {
        double A[UNKNOWNS][UNKNOWNS], b[UNKNOWNS], x[UNKNOWNS];
        int member[FMO_EDIIS_MAX], k = 0;
        for (int i = 0; i < n; i++)
            if (face >> i & 1U) member[k++] = i;
        for (int i = 0; i < k; i++) {
            for (int j = 0; j < k; j++) A[i][j] = 2.0 * Q[member[i]][member[j]];
            A[i][k] = A[k][i] = 1.0;
            b[i] = -E[member[i]];
        }
        A[k][k] = 0.0;
        b[k] = 1.0;
        if (!solve(k + 1, A, b, 1e-13, x)) continue;
        double value = 0.0;
        int inside = 1;
        for (int i = 0; i < k; i++) {
            if (!(x[i] >= 0.0)) inside = 0;
            value += x[i] * E[member[i]];
            for (int j = 0; j < k; j++) value += x[i] * x[j] * Q[member[i]][member[j]];
        }
        if (!inside || !(value < best)) continue;
        best = value;
        memset(at, 0, sizeof at);
        for (int i = 0; i < k; i++) at[member[i]] = x[i];
    }
    memcpy(c + first, at, (size_t)n * sizeof *c);
}
