/* linalg.h on the host: LAPACKE and BLAS. Sums over whole matrices are plain loops in a fixed
 * order, so that their bits do not depend on the number of threads. */
#include "driver/scf/linalg.h"
#include "base/blas.h"
#include "driver/scf/purify.h"
#include "driver/scf/small.h"
#include "driver/scf/tuning.h"

#if FMO_BLAS_MKL
#include <mkl_lapacke.h>
#else
#include <lapacke.h>
#endif
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct cpu_linalg {
    fmo_linalg base;
    int threads;
} cpu_linalg;

/* BLAS has one global thread count. Calls with one thread run concurrently, so that SCFs in
 * several threads do not wait for each other. A call with several threads runs alone; while calls
 * with one thread are running it uses one thread. A sequential OpenBLAS must not be called
 * concurrently at all. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int users, threads; /* number of concurrent callers, and their thread count */
    int before;         /* thread count that the program had set */
} blas = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void blas_enter(int threads)
{
    const int share = fmo_blas_is_thread_safe();
    pthread_mutex_lock(&blas.lock);
    while (blas.users > 0 && (blas.threads > 1 || !share))
        pthread_cond_wait(&blas.changed, &blas.lock);
    if (blas.users++ == 0) {
        blas.before = fmo_blas_threads();
        blas.threads = threads;
        if (threads != blas.before) fmo_blas_set_threads(threads);
    }
    pthread_mutex_unlock(&blas.lock);
}

static void blas_leave(void)
{
    pthread_mutex_lock(&blas.lock);
    if (--blas.users == 0) {
        if (fmo_blas_threads() != blas.before) fmo_blas_set_threads(blas.before);
        pthread_cond_broadcast(&blas.changed);
    }
    pthread_mutex_unlock(&blas.lock);
}

int fmo_linalg_one_thread(void)
{
    const int hold = fmo_blas_is_thread_safe();
    if (hold) blas_enter(1);
    return hold;
}

void fmo_linalg_release_threads(int hold)
{
    if (hold) blas_leave();
}

static void blas_begin(fmo_linalg *la, double work)
{
    blas_enter(work < fmo_tuning_scf_blas_thread_work ? 1 : ((cpu_linalg *)la)->threads);
}

static int failed(const fmo_linalg *la)
{
    return la->error.status != FMO_OK;
}

static void cpu_close(fmo_linalg *la)
{
    free(la);
}

static double *cpu_allocate(fmo_linalg *la, size_t count)
{
    if (failed(la)) return NULL;
    double *array = calloc(count ? count : 1, sizeof *array);
    if (!array)
        fmo_error_set(&la->error, FMO_ERR_MEMORY, "no memory for the matrices of the SCF (%.3g GB)",
                      8e-9 * (double)count);
    return array;
}

static void cpu_release(fmo_linalg *la, double *array)
{
    (void)la;
    free(array);
}

static void cpu_upload(fmo_linalg *la, size_t count, const double *host, double *array)
{
    if (!failed(la)) memcpy(array, host, count * sizeof *array);
}

static void cpu_download(fmo_linalg *la, size_t count, const double *array, double *host)
{
    if (!failed(la)) memcpy(host, array, count * sizeof *host);
}

static void cpu_add(fmo_linalg *la, size_t count, double a, const double *x, double b, double *y)
{
    if (failed(la)) return;
    if (b == 0.0)
        for (size_t i = 0; i < count; i++) y[i] = a * x[i];
    else
        for (size_t i = 0; i < count; i++) y[i] = a * x[i] + b * y[i];
}

static void cpu_multiply(fmo_linalg *la, double alpha, fmo_matrix A, fmo_matrix B, double beta,
                         double *C)
{
    const int m = A.rows, n = B.columns, k = A.columns;
    if (failed(la) || m == 0 || n == 0) return;
    if (m <= FMO_SMALL_PRODUCT && n <= FMO_SMALL_PRODUCT && k <= FMO_SMALL_PRODUCT) {
        fmo_small_multiply(alpha, A, B, beta, C);
        return;
    }
    const int inner = k ? k : 1;
    blas_begin(la, (double)m * n * k);
    cblas_dgemm(CblasColMajor, A.transposed ? CblasTrans : CblasNoTrans,
                B.transposed ? CblasTrans : CblasNoTrans, m, n, k, alpha, A.at,
                A.transposed ? inner : m, B.at, B.transposed ? n : inner, beta, C, m);
    blas_leave();
}

static void cpu_fold(fmo_linalg *la, int n, double scale, double sign, double *A)
{
    if (failed(la)) return;
    for (size_t j = 0; j < (size_t)n; j++)
        for (size_t i = 0; i <= j; i++) {
            double *upper = &A[i + j * (size_t)n], *lower = &A[j + i * (size_t)n];
            const double value = scale * (*upper + sign * *lower);
            *upper = value;
            *lower = sign * value;
        }
}

static void cpu_add_to_diagonal(fmo_linalg *la, int n, double x, double *A)
{
    for (size_t i = 0; i < (size_t)n && !failed(la); i++) A[i + i * (size_t)n] += x;
}

static void cpu_scale_columns(fmo_linalg *la, int rows, int columns, const double *factor,
                              double *A)
{
    for (size_t j = 0; j < (size_t)columns && !failed(la); j++)
        for (size_t i = 0; i < (size_t)rows; i++) A[i + j * (size_t)rows] *= factor[j];
}

/* Blocks keep the rounding error of long sums small; eight partial sums let the compiler
 * vectorise. */
static double dot_one(size_t count, const double *x, const double *y)
{
    enum { BLOCK = 1024, LANES = 8 };
    double sum = 0.0;
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        const size_t end = begin + BLOCK < count ? begin + BLOCK : count;
        double lane[LANES] = {0.0};
        size_t i = begin;
        for (; i + LANES <= end; i += LANES)
            for (size_t l = 0; l < LANES; l++) lane[l] += x[i + l] * y[i + l];
        for (; i < end; i++) lane[0] += x[i] * y[i];
        sum += ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
               ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    }
    return sum;
}

static void cpu_dots(fmo_linalg *la, size_t count, int m, const double *V, const double *x,
                     double *dot)
{
    for (int v = 0; v < m; v++)
        dot[v] = failed(la) ? NAN : dot_one(count, V + (size_t)v * count, x);
}

static void cpu_combine(fmo_linalg *la, size_t count, int m, const double *V, const double *c,
                        double *out)
{
    if (failed(la)) return;
    memset(out, 0, count * sizeof *out);
    for (int v = 0; v < m; v++)
        for (size_t i = 0; i < count && c[v] != 0.0; i++) out[i] += c[v] * V[(size_t)v * count + i];
}

/* Eigenvalues and eigenvectors by small.h or LAPACK's dsyevd; an error if A is not finite. */
static void cpu_eigen(fmo_linalg *la, int n, double *A, double *values)
{
    for (int i = 0; i < n; i++) values[i] = NAN;
    /* LAPACK may not return if an element is NaN. */
    double sum = 0.0;
    for (size_t i = 0; i < (size_t)n * (size_t)n && !failed(la); i++) sum += 0.0 * A[i];
    if (!failed(la) && sum != 0.0)
        fmo_error_set(&la->error, FMO_ERR_CHECK,
                      "a matrix of the SCF has elements that are not "
                      "finite numbers");
    if (failed(la)) return;
    if (n <= FMO_SMALL_MAX) {
        if (!fmo_small_eigen(n, A, values))
            fmo_error_set(&la->error, FMO_ERR_CHECK,
                          "the eigenvalues of %d functions did not converge", n);
        return;
    }
    blas_begin(la, (double)n * n * n);
    const int info = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'U', n, A, n, values);
    blas_leave();
    if (info == LAPACK_WORK_MEMORY_ERROR)
        fmo_error_set(&la->error, FMO_ERR_MEMORY, "no memory for the eigenvectors of %d functions",
                      n);
    else if (info != 0)
        fmo_error_set(&la->error, FMO_ERR_CHECK, "LAPACK's dsyevd failed with info = %d", info);
}

static int cpu_inverse_cholesky(fmo_linalg *la, int n, double *A)
{
    if (failed(la)) return 0;
    if (n <= FMO_SMALL_MAX) return fmo_small_inverse_cholesky(n, A);
    blas_begin(la, (double)n * n * n);
    int info = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', n, A, n);
    if (info == 0) info = LAPACKE_dtrtri(LAPACK_COL_MAJOR, 'U', 'N', n, A, n);
    blas_leave();
    for (size_t j = 0; j < (size_t)n; j++)
        for (size_t i = j + 1; i < (size_t)n; i++) A[i + j * (size_t)n] = 0.0;
    return info == 0;
}

static void cpu_bounds(fmo_linalg *la, int n, const double *A, double *low, double *high,
                       double *trace)
{
    *low = *high = NAN;
    *trace = failed(la) ? NAN : 0.0;
    for (size_t j = 0; j < (size_t)n && !failed(la); j++) {
        const double *column = A + j * (size_t)n;
        double radius = -fabs(column[j]);
        *trace += column[j];
        for (size_t i = 0; i < (size_t)n; i++) radius += fabs(column[i]);
        if (!(*low <= column[j] - radius)) *low = column[j] - radius;
        if (!(*high >= column[j] + radius)) *high = column[j] + radius;
    }
}

static void cpu_gaps(fmo_linalg *la, const fmo_orbital_gaps *gaps, int divide, const double *x,
                     double *y)
{
    for (int i = 0; i < gaps->occupied_num && !failed(la); i++)
        for (int a = 0; a < gaps->virtual_num; a++) {
            const size_t at = (size_t)a + (size_t)i * (size_t)gaps->virtual_num;
            const double d = gaps->e_a[a] - gaps->e_i[i] - gaps->shift;
            y[at] = divide ? x[at] / copysign(fmax(fabs(d), 1e-2), d) : x[at] * d;
        }
}

static void cpu_fock(fmo_linalg *la, fmo_fock_plan *plan, const double *density, double *coulomb,
                     double *exchange)
{
    if (!failed(la)) fmo_fock_build(plan, density, coulomb, exchange, &la->error);
}

static void cpu_fock_of_spins(fmo_linalg *la, fmo_fock_plan *plan, int n, const double *total,
                              const double *spins, double *coulomb, double *exchange)
{
    const size_t size = (size_t)n * (size_t)n;
    fmo_fock_job jobs[] = {{.plan = plan, .density = total, .coulomb = coulomb},
                           {.plan = plan, .density = spins, .exchange = exchange},
                           {.plan = plan, .density = spins + size, .exchange = exchange + size}};
    if (!failed(la)) (void)fmo_fock_build_batch(jobs, sizeof jobs / sizeof *jobs, &la->error);
}

static void cpu_on_host(fmo_linalg *la, void (*work)(void *user), void *user)
{
    (void)la;
    work(user);
}

static void cpu_finish(fmo_linalg *la)
{
    (void)la;
}

static const fmo_linalg_ops cpu_ops = {.name = "LAPACK and BLAS",
                                       .close = cpu_close,
                                       .allocate = cpu_allocate,
                                       .release = cpu_release,
                                       .upload = cpu_upload,
                                       .download = cpu_download,
                                       .add = cpu_add,
                                       .multiply = cpu_multiply,
                                       .fold = cpu_fold,
                                       .add_to_diagonal = cpu_add_to_diagonal,
                                       .scale_columns = cpu_scale_columns,
                                       .dots = cpu_dots,
                                       .combine = cpu_combine,
                                       .eigen = cpu_eigen,
                                       .inverse_cholesky = cpu_inverse_cholesky,
                                       .bounds = cpu_bounds,
                                       .purify = fmo_linalg_purify,
                                       .gaps = cpu_gaps,
                                       .fock = cpu_fock,
                                       .fock_of_spins = cpu_fock_of_spins,
                                       .on_host = cpu_on_host,
                                       .finish = cpu_finish};

fmo_status fmo_linalg_open_cpu(int threads, fmo_linalg **la, fmo_error *err)
{
    cpu_linalg *cpu = calloc(1, sizeof *cpu);
    if (!cpu) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory");
    cpu->base.ops = &cpu_ops;
    const int processors = fmo_blas_threads_max(); /* more threads do not help */
    cpu->threads = threads < 1 ? 1 : threads > processors ? processors : threads;
    *la = &cpu->base;
    return FMO_OK;
}
