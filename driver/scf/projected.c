/* Transformations between the AO basis and the orthogonal basis; and orbitals that a projector
 * P = sum_k l_k l_k^T raises far above all others, such as the hybrid orbitals of cut bonds with
 * l = sqrt(B) S chi. They are treated separately, so that rounding
 * errors of the large elements of P enter neither energy nor gradient, and a Fock matrix can be
 * purified without them.
 *
 * The orthogonal functions are rotated so that P acts only on the last ones, t; it is added in that
 * basis and never to a matrix in the AO basis. With F in blocks and q the other functions, the
 * occupied space is spanned by [1; -Z^T],
 *
 *     Z = (F_qt + M Z) F_tt^-1,   M = F_qq - F_qt F_tt^-1 F_tq,
 *
 * which is solved by iterated substitution; each step reduces the error by |M| / B (partitioning:
 * P. O. Loewdin, J. Mol. Spectrosc. 10, 12 (1963)). Occupied orbitals are those of M, up to the
 * square of the norm of Z, 1e-13 for B = 1e6; the McWeeny step after a purification normalises
 * them. */
#include "driver/scf/scf_internal.h"

#include <math.h>
#include <stdlib.h>

/* ---- transformations ------------------------------------------------------------------------- */

void fmo_scf_to_orthogonal(fmo_scf_state *s, const double *A, double *out)
{
    const fmo_linalg_ops *op = s->la->ops;
    op->multiply(s->la, 1.0, fmo_matrix_of(A, s->n, s->n), fmo_matrix_of(s->X, s->n, s->m), 0.0,
                 s->work);
    op->multiply(s->la, 1.0, fmo_transpose_of(s->X, s->n, s->m), fmo_matrix_of(s->work, s->n, s->m),
                 0.0, out);
    op->fold(s->la, s->m, 0.5, 1.0, out);
}

void fmo_scf_fock_to_orthogonal(fmo_scf_state *s, const double *F, double *out)
{
    fmo_scf_to_orthogonal(s, F, out);
    fmo_scf_add_projected(s, out);
}

void fmo_scf_from_orthogonal(fmo_scf_state *s, const double *A, double *out)
{
    const fmo_linalg_ops *op = s->la->ops;
    op->multiply(s->la, 1.0, fmo_matrix_of(s->X, s->n, s->m), fmo_matrix_of(A, s->m, s->m), 0.0,
                 s->work);
    op->multiply(s->la, 1.0, fmo_matrix_of(s->work, s->n, s->m), fmo_transpose_of(s->X, s->n, s->m),
                 0.0, out);
    op->fold(s->la, s->n, 0.5, 1.0, out);
}

/* ---- projected-out orbitals ------------------------------------------------------------------ */

enum { PROJECTED_MAX = 64 };

/* Smallest level shift in hartree: two substitutions leave an error of (20 / B)^2 in Z, which B
 * multiplies in the gradient. */
static const double shift_least = 1e5;

/* Arguments of the steps on the host, for n functions and k orbitals: P; L [n][k] by columns; then
 * V [m][k] by columns and the rotation 1 - W Y^T; norm: of the inverse of P in the rotated basis;
 * failed: 1 if there is no memory. */
typedef struct projector_work {
    const double *P;
    int n, m, k;
    double *L, *V, *Y, *W;
    double norm;
    int failed;
} projector_work;

/* Returns the largest element of |P - L L^T|. */
static double residual_of(const projector_work *w)
{
    const size_t n = (size_t)w->n;
    double largest = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.5 * (w->P[i * n + j] + w->P[j * n + i]);
            for (size_t c = 0; c < (size_t)w->k; c++) sum -= w->L[n * c + i] * w->L[n * c + j];
            if (!(fabs(sum) <= largest)) largest = fabs(sum);
        }
    return largest;
}

/* Factorises P = L L^T by pivoted Cholesky decomposition. k = 0 if more than PROJECTED_MAX columns
 * are needed or a remainder is left: P is then not a projector of a few orbitals. */
static void factorise(void *user)
{
    projector_work *const w = user;
    const size_t n = (size_t)w->n;
    double *const rest = malloc(n * sizeof *rest), least = 0.0;
    w->failed = !rest;
    w->k = 0;
    for (size_t i = 0; i < n && rest; i++) rest[i] = w->P[i * n + i];
    while (rest) {
        size_t p = 0;
        for (size_t i = 1; i < n; i++)
            if (rest[i] > rest[p]) p = i;
        if (w->k == 0) least = 1e-14 * rest[p]; /* limit of rounding errors */
        if (!(rest[p] > least)) break;
        if (w->k == PROJECTED_MAX || w->k == w->m - 1) break;
        double *const column = w->L + n * (size_t)w->k;
        const double root = sqrt(rest[p]);
        for (size_t i = 0; i < n; i++) {
            double sum = 0.5 * (w->P[i * n + p] + w->P[p * n + i]);
            for (int c = 0; c < w->k; c++) sum -= w->L[n * (size_t)c + i] * w->L[n * (size_t)c + p];
            column[i] = sum / root;
        }
        for (size_t i = 0; i < n; i++) rest[i] -= column[i] * column[i];
        rest[p] = 0.0;
        w->k++;
    }
    free(rest);
    if (!(residual_of(w) <= 10.0 * least)) w->k = 0;
}

/* sum of x[i] y[i] over i < n */
static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Returns the norm (largest row sum) of the inverse of R R^T; R has k columns with stride m and
 * zeros above its diagonal. */
static double inverse_norm(const double *R, size_t m, size_t k)
{
    double inverse[PROJECTED_MAX][PROJECTED_MAX], norm = 0.0;
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            double sum = i == j ? 1.0 : 0.0;
            for (size_t c = 0; c < i; c++) sum -= R[i + c * m] * inverse[c][j];
            inverse[i][j] = sum / R[i + i * m];
        }
    for (size_t i = 0; i < k; i++) {
        double row = 0.0;
        for (size_t j = 0; j < k; j++) {
            double sum = 0.0;
            for (size_t c = 0; c < k; c++) sum += inverse[c][i] * inverse[c][j];
            row += fabs(sum);
        }
        if (!(row <= norm)) norm = row;
    }
    return norm;
}

/* Computes Householder reflections that move V to the last k rows, starting with the last column,
 * and accumulates them as 1 - W Y^T; V becomes its image in those rows. Plain loops, because a
 * threaded BLAS would start threads of its own in each of many concurrent callers. */
static void householder(void *user)
{
    projector_work *const w = user;
    const size_t m = (size_t)w->m, k = (size_t)w->k;
    for (size_t c = k; c-- > 0;) {
        const size_t p = m - k + c, rows = p + 1;
        double *const x = w->V + c * m, *const y = w->Y + c * m, *const last = w->W + c * m;
        const double norm = sqrt(dot(rows, x, x));
        for (size_t i = 0; i < m; i++) y[i] = i < rows ? x[i] : 0.0;
        y[p] += y[p] < 0.0 ? -norm : norm;
        const double factor = norm > 0.0 ? 2.0 / dot(rows, y, y) : 0.0;
        for (size_t j = 0; j <= c; j++) {
            double *const column = w->V + j * m;
            const double along = factor * dot(rows, y, column);
            for (size_t i = 0; i < rows; i++) column[i] -= along * y[i];
        }
        for (size_t i = 0; i < p; i++) x[i] = 0.0;
        for (size_t i = 0; i < m; i++) last[i] = factor * y[i];
        for (size_t d = c + 1; d < k; d++) {
            const double along = factor * dot(rows, w->Y + d * m, y);
            for (size_t i = 0; i < m; i++) last[i] -= along * w->W[d * m + i];
        }
    }
    w->norm = inverse_norm(w->V + m - k, m, k);
}

/* Rotates X and prepares the arrays that the later steps use. */
static void rotate_functions(fmo_scf_state *s, projector_work *w)
{
    const fmo_linalg_ops *const op = s->la->ops;
    const size_t n = (size_t)s->n, m = (size_t)s->m, k = (size_t)w->k, size = m * k;
    fmo_projected *const l = &s->projected;
    op->upload(s->la, n * k, w->L, s->work);
    op->multiply(s->la, 1.0, fmo_transpose_of(s->X, s->n, s->m), fmo_matrix_of(s->work, s->n, w->k),
                 0.0, s->work2);
    op->download(s->la, size, s->work2, w->V);
    if (s->la->error.status != FMO_OK) return; /* the caller checks for errors */
    op->on_host(s->la, householder, w);
    l->num = w->k;
    l->separate = 1.0 / w->norm >= shift_least;
    l->memory = op->allocate(s->la, 5 * size + k * k);
    if (!l->memory) return;
    l->L = l->memory;
    l->T = l->L + size;
    l->Z = l->T + size;
    l->scratch = l->Z + size;
    l->scratch_small = l->scratch + 2 * size;
    /* X - (X W) Y^T */
    op->upload(s->la, size, w->W, l->scratch);
    op->upload(s->la, size, w->Y, l->Z);
    op->multiply(s->la, 1.0, fmo_matrix_of(s->X, s->n, s->m), fmo_matrix_of(l->scratch, s->m, w->k),
                 0.0, s->work);
    op->multiply(s->la, -1.0, fmo_matrix_of(s->work, s->n, w->k),
                 fmo_transpose_of(l->Z, s->m, w->k), 1.0, s->X);
    op->upload(s->la, size, w->V, l->L);
    for (size_t i = 0; i < size; i++) w->V[i] = 0.0;
    for (size_t c = 0; c < k; c++) w->V[m - k + c + c * m] = 1.0;
    op->upload(s->la, size, w->V, l->T);
}

/* Factorises the projector and, if it has a few orbitals, rotates X. */
fmo_status fmo_scf_project_out(fmo_scf_state *s, const fmo_scf_input *in, fmo_error *err)
{
    const size_t n = (size_t)s->n, columns = PROJECTED_MAX;
    if (!in->projector) return FMO_OK;
    projector_work w = {.P = in->projector, .n = s->n, .m = s->m};
    double *const work = malloc(4 * n * columns * sizeof *work);
    if (!work) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a projector");
    w.L = work;
    w.V = w.L + n * columns;
    w.Y = w.V + n * columns;
    w.W = w.Y + n * columns;
    s->la->ops->on_host(s->la, factorise, &w);
    fmo_status status =
        w.failed ? fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a projector") : FMO_OK;
    if (status == FMO_OK && w.k > 0) rotate_functions(s, &w);
    free(work);
    return status;
}

void fmo_scf_release_projected(fmo_scf_state *s)
{
    s->la->ops->release(s->la, s->projected.memory);
}

void fmo_scf_add_projected(fmo_scf_state *s, double *F)
{
    const fmo_projected *const l = &s->projected;
    if (l->num)
        s->la->ops->multiply(s->la, 1.0, fmo_matrix_of(l->L, s->m, l->num),
                             fmo_transpose_of(l->L, s->m, l->num), 1.0, F);
}

/* out = A F_tt^-1 + beta out; A and out have k columns; l->scratch_small contains U^-1 of F_tt =
 * U^T U. */
static void divide_by_F_tt(fmo_scf_state *s, const double *A, double beta, double *out)
{
    const fmo_linalg_ops *const op = s->la->ops;
    const fmo_projected *const l = &s->projected;
    double *const half = l->scratch + (size_t)s->m * (size_t)l->num;
    op->multiply(s->la, 1.0, fmo_matrix_of(A, s->m, l->num),
                 fmo_matrix_of(l->scratch_small, l->num, l->num), 0.0, half);
    op->multiply(s->la, 1.0, fmo_matrix_of(half, s->m, l->num),
                 fmo_transpose_of(l->scratch_small, l->num, l->num), beta, out);
}

/* Computes M (see the top of this file) and, by two substitutions, Z in l->Z. */
int fmo_scf_remove_projected(fmo_scf_state *s, const double *F, double *M)
{
    const fmo_linalg_ops *const op = s->la->ops;
    const fmo_projected *const l = &s->projected;
    const size_t m = (size_t)s->m, size = m * (size_t)l->num;
    const double *const columns = F + m * m - size; /* F_qt above F_tt */
    op->multiply(s->la, 1.0, fmo_transpose_of(l->T, s->m, l->num),
                 fmo_matrix_of(columns, s->m, l->num), 0.0, l->scratch_small);
    if (!op->inverse_cholesky(s->la, l->num, l->scratch_small)) return 0;
    divide_by_F_tt(s, columns, 0.0, l->Z);
    op->add(s->la, m * m, 1.0, F, 0.0, M);
    op->multiply(s->la, -1.0, fmo_matrix_of(l->Z, s->m, l->num),
                 fmo_transpose_of(columns, s->m, l->num), 1.0, M);
    op->fold(s->la, s->m, 0.5, 1.0, M);
    /* Columns and rows t of M are zero, and rows t of Z form the unit matrix, except for
     * rounding. */
    op->add(s->la, size, 0.0, l->T, 0.0, M + m * m - size);
    op->multiply(s->la, 1.0, fmo_transpose_of(l->T, s->m, l->num), fmo_matrix_of(M, s->m, s->m),
                 0.0, l->scratch);
    op->multiply(s->la, -1.0, fmo_matrix_of(l->T, s->m, l->num),
                 fmo_matrix_of(l->scratch, l->num, s->m), 1.0, M);
    op->add(s->la, size, -1.0, l->T, 1.0, l->Z);
    op->multiply(s->la, 1.0, fmo_matrix_of(M, s->m, s->m), fmo_matrix_of(l->Z, s->m, l->num), 0.0,
                 l->scratch);
    divide_by_F_tt(s, l->scratch, 1.0, l->Z);
    return s->la->error.status == FMO_OK;
}

void fmo_scf_shift_projected(fmo_scf_state *s, double x, double *A)
{
    const fmo_projected *const l = &s->projected;
    s->la->ops->multiply(s->la, x, fmo_matrix_of(l->T, s->m, l->num),
                         fmo_transpose_of(l->T, s->m, l->num), 1.0, A);
}

/* Adds the blocks -D Z and their transpose, and Z^T D Z, of the projected-out functions. */
void fmo_scf_restore_projected(fmo_scf_state *s, double *D)
{
    const fmo_linalg_ops *const op = s->la->ops;
    const fmo_projected *const l = &s->projected;
    const size_t m = (size_t)s->m, size = m * (size_t)l->num;
    op->multiply(s->la, 1.0, fmo_matrix_of(D, s->m, s->m), fmo_matrix_of(l->Z, s->m, l->num), 0.0,
                 l->scratch);
    op->add(s->la, size, -1.0, l->scratch, 1.0, D + m * m - size);
    op->multiply(s->la, 1.0, fmo_transpose_of(l->Z, s->m, l->num), fmo_matrix_of(D, s->m, s->m),
                 0.0, l->scratch);
    op->multiply(s->la, -1.0, fmo_matrix_of(l->T, s->m, l->num),
                 fmo_matrix_of(l->scratch, l->num, s->m), 1.0, D);
    op->fold(s->la, s->m, 0.5, 1.0, D);
}

double fmo_scf_projected_energy(fmo_scf_state *s)
{
    const fmo_linalg_ops *const op = s->la->ops;
    const fmo_projected *const l = &s->projected;
    double sum = 0.0;
    if (!l->num) return 0.0;
    op->multiply(s->la, 1.0, fmo_matrix_of(s->density_o, s->m, s->m),
                 fmo_matrix_of(l->L, s->m, l->num), 0.0, l->scratch);
    op->dots(s->la, (size_t)s->m * (size_t)l->num, 1, l->scratch, l->L, &sum);
    return sum;
}
