/* The dense elimination of diis.h, and Pulay's coefficients by it, host and device. */
#ifndef FMO_SCF_DIIS_BODY_H
#define FMO_SCF_DIIS_BODY_H

#include "driver/scf/diis.h"
#include "integrals/real.h"

enum { FMO_DIIS_UNKNOWNS = FMO_DIIS_MAX + 1 };

/* On a GPU one thread of a block does this: its large array is the block's, or all threads that fit
 * a GPU would have memory for one. */
#if defined(__CUDA_ARCH__)
#define FMO_DIIS_ARRAY __shared__
#else
#define FMO_DIIS_ARRAY
#endif

/* Solves A x = b by elimination with complete pivoting. @return 0 if a pivot falls below `smallest`
 * times the largest element. */
FMO_HD_ONCE int fmo_diis_solve(int n, double A[][FMO_DIIS_UNKNOWNS], double *b, double smallest,
                               double *x)
{
    int column[FMO_DIIS_UNKNOWNS];
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

/* fmo_diis_coefficients. */
FMO_HD_ONCE void fmo_pulay_coefficients(int m, const double B[][FMO_DIIS_MAX], double *c)
{
    for (int first = 0; first < m; first++) {
        /* Scaled to a unit diagonal, so that the test of the pivots means linear dependence and
         * not small errors. */
        FMO_DIIS_ARRAY double A[FMO_DIIS_UNKNOWNS][FMO_DIIS_UNKNOWNS];
        double b[FMO_DIIS_UNKNOWNS] = {0.0}, x[FMO_DIIS_UNKNOWNS], scale[FMO_DIIS_UNKNOWNS];
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
        if (!usable || !fmo_diis_solve(n + 1, A, b, 1e-13, x)) continue;
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

#endif
