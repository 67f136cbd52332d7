/* DIIS and EDIIS coefficients by dense elimination (diis_body.inc): at most 17 unknowns. */
#include "driver/scf/diis_body.inc"

void fmo_diis_coefficients(int m, const double B[][FMO_DIIS_MAX], double *c)
{
    fmo_pulay_coefficients(m, B, c);
}

/* Solves the Lagrange equations on each face of the simplex and takes the lowest energy. */
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
            /* -1/4 tr (D_i - D_j)(F_i - F_j), the coefficient of c_i c_j */
            Q[i][j] = -0.25 * (Ti[first + i] - Ti[first + j] - Tj[first + i] + Tj[first + j]);
        }
    }
    double best = INFINITY, at[FMO_EDIIS_MAX] = {0.0};
    at[n - 1] = 1.0;
    /* The stationary point of E(c) on each face: 2 Q c + E = lambda, sum c = 1. */
    for (unsigned face = 1; face < 1U << n; face++) {
        double A[FMO_DIIS_UNKNOWNS][FMO_DIIS_UNKNOWNS], b[FMO_DIIS_UNKNOWNS], x[FMO_DIIS_UNKNOWNS];
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
        if (!fmo_diis_solve(k + 1, A, b, 1e-13, x)) continue;
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
