/* Converts matrices between the caller's functions and the internal, Cartesian ones; see
 * basis_internal.h. */
#include "integrals/basis_internal.h"
#include "integrals/harmonics.h"

int fmo_basis_shell_transform(const fmo_basis *b, const fmo_shell *shell, fmo_shell_transform T)
{
    const int num = fmo_shell_functions_of(shell->ang_mom, b->cartesian);
    for (int m = 0; m < num; m++)
        for (int c = 0; c < fmo_shell_functions(shell->ang_mom); c++)
            T[m][c] = b->ao_factor[shell->caller_begin + m] *
                      fmo_caller_coefficient(b->cartesian, shell->ang_mom, m, c);
    return num;
}

/* The two shells of a block with their transformations. */
typedef struct block_ends {
    const fmo_shell *A, *B;
    fmo_shell_transform TA, TB;
    int ma, mb, na, nb; /* number of the caller's functions; of internal ones */
} block_ends;

/* Converts one block of a part of a matrix to internal functions and stores it and its transpose.
 */
static void block_from_caller(const fmo_basis *b, const block_ends *e, const double *D, int sign,
                              double *out)
{
    const size_t n = (size_t)b->ao_num, functions = (size_t)b->function_num;
    const int *const rows = b->ao_caller + e->A->caller_begin;
    const int *const columns = b->ao_caller + e->B->caller_begin;
    /* [a][q]: rows transformed */
    double half[FMO_SHELL_FUNCTIONS_MAX][FMO_SHELL_FUNCTIONS_MAX] = {{0.0}};
    for (int m = 0; m < e->ma; m++) {
        for (int q = 0; q < e->mb; q++) {
            const size_t r = (size_t)rows[m], s = (size_t)columns[q];
            const double value = 0.5 * D[r * n + s] + sign * (0.5 * D[s * n + r]);
            for (int a = 0; a < e->na; a++) half[a][q] += e->TA[m][a] * value;
        }
    }
    for (int a = 0; a < e->na; a++) {
        for (int c = 0; c < e->nb; c++) {
            double sum = 0.0;
            for (int q = 0; q < e->mb; q++) sum += half[a][q] * e->TB[q][c];
            const size_t x = (size_t)(e->A->ao_begin + a), y = (size_t)(e->B->ao_begin + c);
            out[y * functions + x] = sign * sum;
            out[x * functions + y] = sum;
        }
    }
}

/* Converts one block of factor (X + sign X^T) to the caller's functions and stores both triangles.
 */
static void block_to_caller(const fmo_basis *b, const block_ends *e, const double *X, double factor,
                            int sign, double *out)
{
    const size_t n = (size_t)b->ao_num, functions = (size_t)b->function_num;
    /* [m][c]: rows transformed */
    double half[FMO_SHELL_FUNCTIONS_MAX][FMO_SHELL_FUNCTIONS_MAX] = {{0.0}};
    for (int a = 0; a < e->na; a++) {
        for (int c = 0; c < e->nb; c++) {
            const size_t x = (size_t)(e->A->ao_begin + a), y = (size_t)(e->B->ao_begin + c);
            const double value = factor * (X[x * functions + y] + sign * X[y * functions + x]);
            for (int m = 0; m < e->ma; m++) half[m][c] += e->TA[m][a] * value;
        }
    }
    for (int m = 0; m < e->ma; m++) {
        for (int q = 0; q < e->mb; q++) {
            double sum = 0.0;
            for (int c = 0; c < e->nb; c++) sum += half[m][c] * e->TB[q][c];
            const size_t r = (size_t)b->ao_caller[e->A->caller_begin + m];
            const size_t s = (size_t)b->ao_caller[e->B->caller_begin + q];
            out[s * n + r] = sign * sum;
            out[r * n + s] = sum;
        }
    }
}

static block_ends block_of(const fmo_basis *b, int i, int j)
{
    block_ends e = {.A = &b->shell[i], .B = &b->shell[j]};
    e.ma = fmo_basis_shell_transform(b, e.A, e.TA);
    e.mb = fmo_basis_shell_transform(b, e.B, e.TB);
    e.na = fmo_shell_functions(e.A->ang_mom);
    e.nb = fmo_shell_functions(e.B->ang_mom);
    return e;
}

/* Without spherical d shells this is a scaling and permutation, otherwise it goes block by block.
 */
void fmo_basis_matrix_from_caller(const fmo_basis *basis, const double *D, int sign, double *out)
{
    const size_t n = (size_t)basis->ao_num;
    if (!fmo_basis_one_to_one(basis)) {
        for (int i = 0; i < basis->shell_num; i++) {
            for (int j = 0; j <= i; j++) {
                const block_ends e = block_of(basis, i, j);
                block_from_caller(basis, &e, D, sign, out);
            }
        }
        return;
    }
    for (size_t a = 0; a < n; a++) {
        const size_t p = (size_t)basis->ao_caller[a];
        for (size_t c = 0; c < n; c++) {
            const size_t q = (size_t)basis->ao_caller[c];
            out[a * n + c] = basis->ao_factor[a] * basis->ao_factor[c] *
                             (0.5 * D[p * n + q] + sign * (0.5 * D[q * n + p]));
        }
    }
}

/* Without spherical d shells this is a scaling and permutation, otherwise it goes block by block.
 */
void fmo_basis_matrix_to_caller(const fmo_basis *basis, const double *X, double factor, int sign,
                                double *out)
{
    const size_t n = (size_t)basis->ao_num;
    if (!fmo_basis_one_to_one(basis)) {
        for (int i = 0; i < basis->shell_num; i++) {
            for (int j = 0; j <= i; j++) {
                const block_ends e = block_of(basis, i, j);
                block_to_caller(basis, &e, X, factor, sign, out);
            }
        }
        return;
    }
    for (size_t a = 0; a < n; a++) {
        const size_t p = (size_t)basis->ao_caller[a];
        for (size_t b = 0; b <= a; b++) {
            const size_t q = (size_t)basis->ao_caller[b];
            const double value = factor * basis->ao_factor[a] * basis->ao_factor[b] *
                                 (X[a * n + b] + sign * X[b * n + a]);
            out[q * n + p] = sign * value;
            out[p * n + q] = value;
        }
    }
}
