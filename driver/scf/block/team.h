/* A team works on one small molecule: the threads of a thread block on a GPU, or a single thread on
 * the host, with the same code. All members call the same functions with the same arguments. */
#ifndef FMO_BLOCK_TEAM_H
#define FMO_BLOCK_TEAM_H

#include "integrals/real.h"

enum { FMO_TEAM_WARPS_MAX = 32 };

/* Partial unrolling of long loops, `times` iterations at a time. */
#if defined(__CUDA_ARCH__)
#define FMO_TEAM_PRAGMA(text) _Pragma(#text)
#define FMO_UNROLL_BY(times)  FMO_TEAM_PRAGMA(unroll times)
#else
#define FMO_UNROLL_BY(times)
#endif

/* Members 0 .. size - 1, in groups (warps) of `lanes`. */
typedef struct fmo_team {
    int rank, size;
    int lane, lanes, group, groups;
    double *sums; /* [FMO_TEAM_WARPS_MAX] in memory shared by the team */
} fmo_team;

/* sums: [FMO_TEAM_WARPS_MAX] in memory shared by the team. */
FMO_HD fmo_team fmo_team_make(double *sums)
{
#if defined(__CUDA_ARCH__)
    const int rank = (int)threadIdx.x, size = (int)blockDim.x;
    const fmo_team t = {rank, size, rank % 32, 32, rank / 32, size / 32, sums};
#else
    const fmo_team t = {0, 1, 0, 1, 0, 1, sums};
#endif
    return t;
}

/* Barrier: afterwards all members see what any of them has written. */
FMO_HD void fmo_team_wait(const fmo_team *t)
{
    (void)t;
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
}

/* Barrier of the lanes of a group. */
FMO_HD void fmo_team_wait_lanes(const fmo_team *t)
{
    (void)t;
#if defined(__CUDA_ARCH__)
    __syncwarp();
#endif
}

/* Sum over the lanes of a group; all get it. */
FMO_HD double fmo_team_sum_lanes(const fmo_team *t, double x)
{
    (void)t;
#if defined(__CUDA_ARCH__)
    FMO_UNROLL
    for (int offset = 16; offset; offset /= 2) x += __shfl_xor_sync(0xffffffffu, x, offset);
#endif
    return x;
}

/* Sum over the team in a fixed order; all members get it. */
FMO_HD double fmo_team_sum(const fmo_team *t, double x)
{
    double sum = 0.0;
    x = fmo_team_sum_lanes(t, x);
    fmo_team_wait(t);
    if (t->lane == 0) t->sums[t->group] = x;
    fmo_team_wait(t);
    for (int g = 0; g < t->groups; g++) sum += t->sums[g];
    return sum;
}

/* ---- linear algebra of one small matrix: products, inverse Cholesky factor, Jacobi eigenproblem.
 * Matrices are [n][n], row-major, in memory shared by the team; all members see the results when a
 * function returns. ---- */

/* A matrix as it is, or transposed. */
typedef struct fmo_view {
    const double *at;
    int row, column; /* element (i, k) is at[i row + k column] */
} fmo_view;

FMO_HD fmo_view fmo_plain(const double *A, int n)
{
    const fmo_view v = {A, n, 1};
    return v;
}

FMO_HD fmo_view fmo_transposed(const double *A, int n)
{
    const fmo_view v = {A, 1, n};
    return v;
}

/* C = factor A B, summed over k < inner; C must not overlap A or B. */
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

/* X = U^-1, where A = U^T U, with zeros below the diagonal; A is destroyed. @return 0 if A is not
 * positive definite */
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
    /* solves U x = e_c, column by column, by back substitution */
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

/* Pair k of round s of a round-robin schedule: the players / 2 pairs of a round share no row; there
 * are players - 1 rounds; players is even. */
FMO_HD void fmo_round_robin_pair(int players, int s, int k, int *p, int *q)
{
    const int ring = players - 1;
    const int a = k == 0 ? ring : (s + k) % ring, b = k == 0 ? s : (s - k + ring) % ring;
    *p = a < b ? a : b;
    *q = a < b ? b : a;
}

/* A rotation of rows and columns p < q; q = n: no rotation. */
typedef struct fmo_jacobi_rotation {
    double c, s;
    int p, q;
} fmo_jacobi_rotation;

/* Returns the rotation that makes A_pq zero. */
FMO_HD fmo_jacobi_rotation fmo_jacobi_rotation_of(const double *A, int n, int p, int q)
{
    fmo_jacobi_rotation r = {1.0, 0.0, p, q};
    if (q >= n) return r;
    const double apq = A[p * n + q], app = A[p * n + p], aqq = A[q * n + q];
    if (fabs(apq) < 1e-30 * (fabs(app) + fabs(aqq)) || apq == 0.0) return r;
    const double theta = (aqq - app) / (2.0 * apq);
    const double tangent = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(1.0 + theta * theta));
    r.c = 1.0 / sqrt(1.0 + tangent * tangent);
    r.s = tangent * r.c;
    return r;
}

/* Applies rotation k to the rows and rotation l to the columns of A. */
FMO_HD void fmo_jacobi_apply(int n, double *A, const fmo_jacobi_rotation *k,
                             const fmo_jacobi_rotation *l)
{
    const int has_k = k->q < n, has_l = l->q < n;
    double *const p = A + k->p * n, *const q = A + k->q * n;
    const double pp = p[l->p], pq = has_l ? p[l->q] : 0.0;
    const double qp = has_k ? q[l->p] : 0.0, qq = has_k && has_l ? q[l->q] : 0.0;
    const double p1 = k->c * pp - k->s * qp, p2 = k->c * pq - k->s * qq;
    const double q1 = k->s * pp + k->c * qp, q2 = k->s * pq + k->c * qq;
    p[l->p] = l->c * p1 - l->s * p2;
    if (has_l) p[l->q] = l->s * p1 + l->c * p2;
    if (has_k) q[l->p] = l->c * q1 - l->s * q2;
    if (has_k && has_l) q[l->q] = l->s * q1 + l->c * q2;
}

/* Computes the eigenvalues, on A's diagonal, and V = V J with the rotations J; `rotations`: (n + 1)
 * / 2 entries in memory shared by the team. Parallel Jacobi method: Golub and Van Loan, Matrix
 * Computations, 8.5. Ends when the norm of the off-diagonal elements is 1e-13 of that of A. */
FMO_HD_ONCE void fmo_team_jacobi(const fmo_team *t, int n, double *A, double *V,
                                 fmo_jacobi_rotation *rotations)
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
                fmo_round_robin_pair(players, s, k, &p, &q);
                rotations[k] = fmo_jacobi_rotation_of(A, n, p, q);
            }
            fmo_team_wait(t);
            /* groups take rows, lanes columns: pairs of rows of A, single rows of V */
            for (int k = t->group; k < pairs + n; k += t->groups) {
                for (int l = t->lane; l < pairs; l += t->lanes) {
                    const fmo_jacobi_rotation rotation = rotations[l];
                    if (k < pairs) {
                        fmo_jacobi_apply(n, A, &rotations[k], &rotation);
                    } else if (rotation.q < n) {
                        double *const v = V + (k - pairs) * n;
                        const double vp = v[rotation.p], vq = v[rotation.q];
                        v[rotation.p] = rotation.c * vp - rotation.s * vq;
                        v[rotation.q] = rotation.s * vp + rotation.c * vq;
                    }
                }
            }
            fmo_team_wait(t);
        }
    }
}

/* Sorts eigenpairs: sorted[i][r] = V[i][c], where A's diagonal element c is the r-th smallest, and
 * value[r] that element. */
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
