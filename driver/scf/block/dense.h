/* Linear algebra of one small matrix by a team: products, Cholesky's factor and its inverse,
 * Jacobi's eigenproblem. Matrices [n][n], row-major, which the team shares; what a function writes
 * is there for all when it returns. */
#ifndef FMO_BLOCK_DENSE_H
#define FMO_BLOCK_DENSE_H

#include "driver/scf/block/team.h"

/* How to go through a matrix: as it is, or transposed. */
typedef struct fmo_view {
    const double *at;
    int row, column; /* element (i,k) is at[i row + k column] */
} fmo_view;

FMO_HD fmo_view fmo_plain(const double *A, int n)
{
    const fmo_view v = {A, n, 1};
    return v;
}

FMO_HD fmo_view fmo_turned(const double *A, int n)
{
    const fmo_view v = {A, 1, n};
    return v;
}

/* C = factor A B, sums over `inner`; C is neither of them. */
FMO_HD_ONCE void fmo_team_multiply(const fmo_team *t, int n, int inner, double factor, fmo_view A,
                                   fmo_view B, double *C)
{
    for (int e = t->rank; e < n * n; e += t->size) {
        const int i = e / n, j = e % n;
        const double *const a = A.at + i * A.row, *const b = B.at + j * B.column;
        double sum = 0.0;
        for (int k = 0; k < inner; k++) sum += a[k * A.column] * b[k * B.row];
        C[e] = factor * sum;
    }
    fmo_team_wait(t);
}

/* A = (A + A^T) / 2 */
FMO_HD void fmo_team_symmetrise(const fmo_team *t, int n, double *A)
{
    for (int e = t->rank; e < n * n; e += t->size) {
        const int i = e / n, j = e % n;
        if (j < i) A[i * n + j] = A[j * n + i] = 0.5 * (A[i * n + j] + A[j * n + i]);
    }
    fmo_team_wait(t);
}

/* X = U^-1 with A = U^T U, zeros below the diagonal; A is lost. @return 0 if A is not positive
 * definite */
FMO_HD_ONCE int fmo_team_inverse_cholesky(const fmo_team *t, int n, double *A, double *X)
{
    for (int k = 0; k < n; k++) {
        const double pivot = A[k * n + k];
        fmo_team_wait(t);
        if (!(pivot > 0.0)) return 0;
        const double scale = 1.0 / sqrt(pivot);
        for (int j = k + t->rank; j < n; j += t->size) A[k * n + j] *= scale;
        fmo_team_wait(t);
        const int rest = n - k - 1;
        for (int e = t->rank; e < rest * rest; e += t->size) {
            const int i = k + 1 + e / rest, j = k + 1 + e % rest;
            if (j >= i) A[i * n + j] -= A[k * n + i] * A[k * n + j];
        }
        fmo_team_wait(t);
    }
    /* U x = e_c, column by column, from below */
    for (int c = t->rank; c < n; c += t->size) {
        for (int i = n - 1; i >= 0; i--) {
            double sum = i == c ? 1.0 : 0.0;
            for (int k = i + 1; k <= c; k++) sum -= A[i * n + k] * X[k * n + c];
            X[i * n + c] = i <= c ? sum / A[i * n + i] : 0.0;
        }
    }
    fmo_team_wait(t);
    return 1;
}

/* Rotations of a sweep that no two share a row, as in a tournament: turn s of `players` - 1 (even)
 * has players / 2 pairs. */
FMO_HD void fmo_tournament_pair(int players, int s, int k, int *p, int *q)
{
    const int ring = players - 1;
    const int a = k == 0 ? ring : (s + k) % ring, b = k == 0 ? s : (s - k + ring) % ring;
    *p = a < b ? a : b;
    *q = a < b ? b : a;
}

/* Cosine and sine of the rotation that makes A_pq zero. */
FMO_HD void fmo_jacobi_rotation(const double *A, int n, int p, int q, double *c, double *s)
{
    const double apq = A[p * n + q], app = A[p * n + p], aqq = A[q * n + q];
    *c = 1.0;
    *s = 0.0;
    if (fabs(apq) < 1e-30 * (fabs(app) + fabs(aqq)) || apq == 0.0) return;
    const double theta = (aqq - app) / (2.0 * apq);
    const double tangent = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(1.0 + theta * theta));
    *c = 1.0 / sqrt(1.0 + tangent * tangent);
    *s = tangent * *c;
}

/* Eigenvalues on A's diagonal, V = V J with the rotations J; `turns` has n + 1 numbers that all
 * see. Parallel Jacobi: Golub and Van Loan, Matrix Computations, 8.5. Sweeps end where what is
 * left beside the diagonal is 1e-13 of A. */
FMO_HD_ONCE void fmo_team_jacobi(const fmo_team *t, int n, double *A, double *V, double *turns)
{
    enum { SWEEPS_MAX = 40 };
    const int players = n + n % 2, pairs = players / 2;
    for (int sweep = 0; sweep < SWEEPS_MAX && n > 1; sweep++) {
        double beside = 0.0, all = 0.0;
        for (int e = t->rank; e < n * n; e += t->size) {
            const double square = A[e] * A[e];
            all += square;
            if (e / n != e % n) beside += square;
        }
        beside = fmo_team_sum(t, beside);
        all = fmo_team_sum(t, all);
        if (!(beside > 1e-26 * all)) return;
        for (int s = 0; s < players - 1; s++) {
            for (int k = t->rank; k < pairs; k += t->size) {
                int p, q;
                fmo_tournament_pair(players, s, k, &p, &q);
                turns[2 * k] = 1.0;
                turns[2 * k + 1] = 0.0;
                if (q < n) fmo_jacobi_rotation(A, n, p, q, &turns[2 * k], &turns[2 * k + 1]);
            }
            fmo_team_wait(t);
            /* A: rows of pair k, columns of pair l; V: row by row, columns of pair l */
            for (int e = t->rank; e < (pairs + n) * pairs; e += t->size) {
                const int k = e / pairs, l = e % pairs;
                const double c = turns[2 * l], z = turns[2 * l + 1];
                int pl, ql;
                fmo_tournament_pair(players, s, l, &pl, &ql);
                if (k >= pairs) {
                    if (ql >= n) continue;
                    double *const v = V + (k - pairs) * n;
                    const double vp = v[pl], vq = v[ql];
                    v[pl] = c * vp - z * vq;
                    v[ql] = z * vp + c * vq;
                    continue;
                }
                int pk, qk;
                fmo_tournament_pair(players, s, k, &pk, &qk);
                const double ck = turns[2 * k], zk = turns[2 * k + 1];
                const int has_k = qk < n, has_l = ql < n;
                const double pp = A[pk * n + pl], pq = has_l ? A[pk * n + ql] : 0.0;
                const double qp = has_k ? A[qk * n + pl] : 0.0;
                const double qq = has_k && has_l ? A[qk * n + ql] : 0.0;
                const double p1 = ck * pp - zk * qp, p2 = ck * pq - zk * qq;
                const double q1 = zk * pp + ck * qp, q2 = zk * pq + ck * qq;
                A[pk * n + pl] = c * p1 - z * p2;
                if (has_l) A[pk * n + ql] = z * p1 + c * p2;
                if (has_k) A[qk * n + pl] = c * q1 - z * q2;
                if (has_k && has_l) A[qk * n + ql] = z * q1 + c * q2;
            }
            fmo_team_wait(t);
        }
    }
}

/* sorted[i][r] = V[i][c], where A's diagonal element c is the r-th from below, and their values. */
FMO_HD void fmo_team_sort(const fmo_team *t, int n, const double *A, const double *V,
                          double *sorted, double *value)
{
    for (int e = t->rank; e < n * n; e += t->size) {
        const int i = e / n, c = e % n;
        const double own = A[c * n + c];
        int r = 0;
        for (int o = 0; o < n; o++) {
            const double other = A[o * n + o];
            r += other < own || (other == own && o < c);
        }
        sorted[i * n + r] = V[e];
        if (i == 0) value[r] = own;
    }
    fmo_team_wait(t);
}

#endif
