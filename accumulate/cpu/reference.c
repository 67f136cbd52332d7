/* Mode reference: an independent check of the other modes. The complete ERI tensor is computed by
 * the McMurchie-Davidson algorithm (integrals/eri/eri_reference.inc), J by dgemv and K by dgemm
 * of BLAS. No classes, pair data, screening or digestion are shared with the other modes.
 * (ij|kl) and (kl|ij) are computed independently, so that the symmetry of K is a test. See
 * docs/explanation/theory.md, "Reference mode". */
#define FMO_REF_REAL double
#include "integrals/eri/eri_reference.inc"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/rules/digest.h"
#include "accumulate/plan/plan.h"
#include "base/blas.h"
#include "base/free_memory.h"
#include "base/threads.h"

/* Products of primitives below this fraction of the norms of their shells are left out of the
 * tensor. */
static const double negligible = 1e-24;

/* BLAS has one global number of threads; the lock serialises builds that set it. */
static pthread_mutex_t blas_lock = PTHREAD_MUTEX_INITIALIZER;

/* Computes weight[prim_num], the norm of each primitive divided by that of its shell. It is
 * infinite if the norm of the shell is 0 because coefficients cancel, so that nothing is left
 * out. */
static void primitive_weights(const fmo_basis *b, double *weight)
{
    for (int s = 0; s < b->shell_num; s++) {
        const int begin = b->shell[s].prim_begin, end = begin + b->shell[s].prim_num;
        const int l = b->shell[s].ang_mom;
        double square = 0.0;
        for (int k = begin; k < end; k++) {
            const double a = b->exponent[k];
            weight[k] = b->coefficient[k] * pow(M_PI / (2.0 * a), 0.75) * pow(4.0 * a, -0.5 * l);
        }
        for (int k = begin; k < end; k++)
            for (int m = begin; m < end; m++)
                square += weight[k] * weight[m] *
                          pow(2.0 * sqrt(b->exponent[k]) * sqrt(b->exponent[m]) /
                                  (b->exponent[k] + b->exponent[m]),
                              l + 1.5);
        for (int k = begin; k < end; k++)
            weight[k] = square > 0.0 ? fabs(weight[k]) / sqrt(square) : INFINITY;
    }
}

static eri_reference_shell reference_shell(const fmo_basis *b, const double *weight, int s)
{
    const fmo_shell *shell = &b->shell[s];
    eri_reference_shell r = {shell->ang_mom,
                             shell->prim_num,
                             b->exponent + shell->prim_begin,
                             b->coefficient + shell->prim_begin,
                             shell->centre,
                             weight + shell->prim_begin};
    return r;
}

/* Returns the size of the tensor in bytes, or 0 if it does not fit a size_t. */
static size_t tensor_bytes(size_t n)
{
    const double bytes = 8.0 * (double)n * (double)n * (double)n * (double)n;
    return bytes < 1e18 ? n * n * n * n * sizeof(double) : 0;
}

static fmo_status reference_prepare(fmo_fock_plan *plan, fmo_error *err)
{
    const size_t n = (size_t)plan->basis->function_num, bytes = tensor_bytes(n);
    const size_t free_bytes = fmo_plan_memory(plan);
    if (!bytes || bytes > free_bytes - free_bytes / 10)
        return fmo_error_set(err, FMO_ERR_MEMORY,
                             "mode reference stores all %zu^4 integrals (%.3g GB), but may use "
                             "only 90 %% of the available %.3g GB; use mode cpu",
                             n, 8e-9 * pow((double)n, 4), 1e-9 * (double)free_bytes);
    return FMO_OK;
}

/* Memory of a thread. */
typedef struct reference_worker {
    eri_reference_work work;
    double eri[FMO_ERI_INTEGRALS_MAX];
} reference_worker;

/* The tensor T in progress, T[i][j][k][l]. */
typedef struct reference_tensor {
    const double *weight; /* of the primitives */
    double *T;
    reference_worker *worker; /* [threads] */
} reference_tensor;

/* Computes T[i][j][k][l] and its copies under i<->j and k<->l, for one pair of bra shells. */
static void tensor_row(const fmo_basis *b, fmo_operator op, const reference_tensor *to, int si,
                       int sj)
{
    reference_worker *const own = &to->worker[omp_get_thread_num()];
    const double *const weight = to->weight;

    const size_t n = (size_t)b->function_num;
    eri_reference_shell shell[4] = {reference_shell(b, weight, si), reference_shell(b, weight, sj)};
    const int i0 = b->shell[si].ao_begin, j0 = b->shell[sj].ao_begin;
    const int ni = fmo_shell_functions(shell[0].l), nj = fmo_shell_functions(shell[1].l);
    for (int sk = 0; sk < b->shell_num; sk++) {
        for (int sl = 0; sl <= sk; sl++) {
            const double *e = own->eri;
            shell[2] = reference_shell(b, weight, sk);
            shell[3] = reference_shell(b, weight, sl);
            const int k0 = b->shell[sk].ao_begin, l0 = b->shell[sl].ao_begin;
            const int nk = fmo_shell_functions(shell[2].l), nl = fmo_shell_functions(shell[3].l);
            eri_reference(shell, op, negligible, &own->work, own->eri);
            for (int i = i0; i < i0 + ni; i++) {
                for (int j = j0; j < j0 + nj; j++) {
                    double *ij = to->T + ((size_t)i * n + (size_t)j) * n * n;
                    double *ji = to->T + ((size_t)j * n + (size_t)i) * n * n;
                    for (int k = k0; k < k0 + nk; k++) {
                        for (int l = l0; l < l0 + nl; l++, e++) {
                            const size_t kl = (size_t)k * n + (size_t)l;
                            const size_t lk = (size_t)l * n + (size_t)k;
                            ij[kl] = ij[lk] = ji[kl] = ji[lk] = *e;
                        }
                    }
                }
            }
        }
    }
}

/* Converts M, computed from density D, to X with final (X + sign X^T) = M, as the plan expects.
 * Returns an error if the triangles of M differ by more than 1e-12 of the largest element of M or
 * D. D is included because its elements are large and cancel if functions are nearly linearly
 * dependent. */
static fmo_status fold(const char *name, size_t n, double final, int sign, const double *D,
                       double *M, fmo_error *err)
{
    double largest = 1.0;
    for (size_t x = 0; x < n * n; x++) largest = fmax(largest, fmax(fabs(M[x]), fabs(D[x])));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            const double upper = sign * M[j * n + i], lower = M[i * n + j];
            if (!(fabs(lower - upper) <= 1e-12 * largest))
                return fmo_error_set(err, FMO_ERR_CHECK,
                                     "mode reference: %s is not %s, its triangles differ by %.3g; "
                                     "report this with the input",
                                     name, sign > 0 ? "symmetric" : "antisymmetric",
                                     fabs(lower - upper));
            const double value = 0.25 / final * (lower + upper);
            M[j * n + i] = sign * value;
            M[i * n + j] = value;
        }
    }
    return FMO_OK;
}

/* Computes the tensor T of an operator, from fraction `begun` of the build's progress to `end`. */
static void make_tensor(const fmo_fock_plan *plan, fmo_operator op, const reference_tensor *to,
                        double begun, double end)
{
    const fmo_basis *b = plan->basis;
    const int rows = b->shell_num * (b->shell_num + 1) / 2;
    int done = 0;
#pragma omp parallel for num_threads(plan->options.threads) schedule(dynamic, 1)
    for (int row = 0; row < rows; row++) {
        int i = (int)((sqrt(8.0 * row + 1.0) - 1.0) / 2.0);
        while ((i + 1) * (i + 2) / 2 <= row) i++;
        while (i * (i + 1) / 2 > row) i--;
        tensor_row(b, op, to, i, row - i * (i + 1) / 2);
        int now;
#pragma omp atomic capture
        now = ++done;
        if (omp_get_thread_num() == 0) fmo_plan_progress(plan, begun + (end - begun) * now / rows);
    }
}

/* Computes J or K of all densities from the tensor, with BLAS, and checks their symmetry. */
static fmo_status contract(fmo_fock_plan *plan, int term, const double *T, fmo_error *err)
{
    const fmo_plan_matrices *const m = &plan->matrices;
    const size_t n = (size_t)plan->basis->function_num;
    fmo_status status = fmo_check_blas_memory(1, err);
    if (status != FMO_OK) return status;
    pthread_mutex_lock(&blas_lock);
    const int blas_threads = fmo_blas_threads(), threads = plan->options.threads;
    /* at most the number of processors, and only threads that can be started */
    int blas = fmo_blas_threads_max() < threads ? fmo_blas_threads_max() : threads;
    if (blas > blas_threads) blas = fmo_threads(blas);
    fmo_blas_set_threads(blas);
    /* J_ij = sum_kl (ij|kl) D_kl and K_ik = sum_jl (ij|lk) D_jl: row i of K is D, as a row vector
     * of n^2 elements, times T[i] as an n^2 x n matrix. */
    for (size_t at = 0; at < (size_t)m->num * n * n; at += n * n) {
        if (term == FMO_TERMS_J)
            cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)(n * n), (int)(n * n), 1.0, T,
                        (int)(n * n), m->density + at, 1, 0.0, m->coulomb + at, 1);
        for (size_t i = 0; i < n && term == FMO_TERMS_K; i++)
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, (int)n, (int)(n * n), 1.0,
                        m->density + at, (int)(n * n), T + i * n * n * n, (int)n, 0.0,
                        m->exchange + at + i * n, (int)n);
    }
    fmo_blas_set_threads(blas_threads);
    pthread_mutex_unlock(&blas_lock);
    for (int d = 0; d < m->num && status == FMO_OK; d++) {
        const size_t at = (size_t)d * n * n;
        status = term == FMO_TERMS_J ? fold("J", n, FMO_DIGEST_FINAL_J, FMO_SYMMETRIC_PART,
                                            m->density + at, m->coulomb + at, err)
                                     : fold("K", n, FMO_DIGEST_FINAL_K, m->part[d], m->density + at,
                                            m->exchange + at, err);
    }
    return status;
}

/* Computes J and K, and the tensor of each of their operators. */
static fmo_status reference_build(fmo_fock_plan *plan, fmo_fock_plan *source, fmo_error *err)
{
    (void)source; /* this mode does not support it */
    const fmo_plan_matrices *const m = &plan->matrices;
    const size_t n = (size_t)plan->basis->function_num;
    double *T = malloc(tensor_bytes(n));
    double *weight = malloc((size_t)plan->basis->prim_num * sizeof *weight);
    reference_worker *worker = malloc((size_t)plan->options.threads * sizeof *worker);
    const reference_tensor to = {weight, T, worker};
    const int same = fmo_operator_same(m->coulomb_operator, m->exchange_operator);
    fmo_status status = FMO_OK;
    if (T && weight && worker) {
        primitive_weights(plan->basis, weight);
        make_tensor(plan, m->coulomb_operator, &to, 0.0, same ? 1.0 : 0.5);
        status = contract(plan, FMO_TERMS_J, T, err);
        if (status == FMO_OK && !same) make_tensor(plan, m->exchange_operator, &to, 0.5, 1.0);
        if (status == FMO_OK) status = contract(plan, FMO_TERMS_K, T, err);
    } else {
        status =
            fmo_error_set(err, FMO_ERR_MEMORY,
                          "mode reference: no memory for %zu^4 integrals (%.3g GB); use mode cpu",
                          n, 8e-9 * pow((double)n, 4));
    }
    free(T);
    free(weight);
    free(worker);
    if (status == FMO_OK) fmo_plan_progress(plan, 1.0);
    return status;
}

static void reference_workspace(const fmo_fock_plan *plan, fmo_fock_memory *memory)
{
    memory->host_bytes += tensor_bytes((size_t)plan->basis->function_num) +
                          (size_t)plan->options.threads * sizeof(reference_worker) +
                          (size_t)plan->basis->prim_num * sizeof(double);
}

const fmo_mode_implementation fmo_mode_reference = {.prepare = reference_prepare,
                                                    .build = reference_build,
                                                    .takes_symmetries = 1,
                                                    .takes_operators = FMO_TERMS_ALL,
                                                    .workspace = reference_workspace};
