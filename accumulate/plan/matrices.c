/* The caller's matrices: a density is checked in one pass over it, and large matrices are copied by
 * several threads. See plan.h. */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <string.h>

#include "accumulate/plan/plan.h"
#include "accumulate/tuning.h"
#include "base/threads.h"

/* Rows and columns of a tile: a tile and its transpose fit into the L1 cache. */
enum { TILE = 32 };

/* How many threads of a plan are worth their start for so many bytes. */
static int threads_for(const fmo_fock_plan *plan, size_t bytes)
{
    return fmo_threads_for(plan->options.threads,
                           (double)bytes / (double)fmo_tuning_matrix_thread_bytes);
}

void fmo_plan_copy(const fmo_fock_plan *plan, void *to, const void *from, size_t bytes)
{
    const int threads = threads_for(plan, bytes);
    if (threads < 2) {
        memcpy(to, from, bytes);
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        const size_t own = (size_t)omp_get_thread_num(), all = (size_t)omp_get_num_threads();
        const size_t begin = bytes / 64 * own / all * 64;
        const size_t end = own + 1 < all ? bytes / 64 * (own + 1) / all * 64 : bytes;
        memcpy((char *)to + begin, (const char *)from + begin, end - begin);
    }
}

/* The bits of |x|, which are in the order of |x|; infinity and NaN are above all finite numbers. */
static inline int64_t order_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & INT64_MAX;
}
static inline double number_of(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Maxima over a matrix, as bits (order_of): elements of normalised functions, norm[i] norm[j] D_ij,
 * and sums or differences with the transposed element, D_ij - sign D_ji. */
typedef struct density_maxima {
    int64_t element, difference;
} density_maxima;

/* Finds the maxima of a tile, rows from i and columns from j on, and of its transpose. */
static void survey_tile(const double *density, const double *norm, size_t n, double sign, size_t i,
                        size_t j, density_maxima *maxima)
{
    const size_t rows = n - i < TILE ? n - i : TILE, columns = n - j < TILE ? n - j : TILE;
    for (size_t x = i; x < i + rows; x++) {
        int64_t upper = 0, lower = 0, difference = 0;
        for (size_t y = j; y < j + columns; y++) {
            const double own = density[x * n + y], other = density[y * n + x];
            upper = larger(upper, order_of(norm[y] * own));
            lower = larger(lower, order_of(norm[y] * (norm[x] * other)));
            difference = larger(difference, order_of(norm[x] * norm[y] * (own - sign * other)));
        }
        maxima->element =
            larger(maxima->element, larger(order_of(norm[x] * number_of(upper)), lower));
        maxima->difference = larger(maxima->difference, difference);
    }
}

/* Finds the maxima of a density by a plan's threads. */
static density_maxima survey(const fmo_fock_plan *plan, const double *density, const double *norm,
                             size_t n, double sign)
{
    const int threads = threads_for(plan, n * n * sizeof *density);
    const size_t tiles = (n + TILE - 1) / TILE;
    int64_t element = 0, difference = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) if (threads > 1) \
    reduction(max                                                                \
              : element, difference)
    for (size_t i = 0; i < tiles; i++) {
        density_maxima own = {0, 0};
        for (size_t j = 0; j <= i; j++)
            survey_tile(density, norm, n, sign, TILE * i, TILE * j, &own);
        element = larger(element, own.element);
        difference = larger(difference, own.difference);
    }
    return (density_maxima){element, difference};
}

/* Names the first element that is not finite, or not as symmetric as it should be by more than
 * `within`. */
static fmo_status name_element(const fmo_fock_job *job, const double *norm, size_t n, double within,
                               fmo_error *err)
{
    const double *const density = job->density;
    const double sign = job->symmetry == FMO_SYMMETRIC ? 1.0 : -1.0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (!isfinite(density[i * n + j]))
                return fmo_error_set(err, FMO_ERR_INPUT, "density[%zu][%zu] = %g: not finite", i, j,
                                     density[i * n + j]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            if (norm[i] * norm[j] * fabs(density[i * n + j] - sign * density[j * n + i]) > within)
                return fmo_error_set(err, FMO_ERR_INPUT,
                                     "density[%zu][%zu] %c density[%zu][%zu] = %g: expected %s "
                                     "%s density",
                                     i, j, sign > 0.0 ? '-' : '+', j, i,
                                     density[i * n + j] - sign * density[j * n + i],
                                     sign > 0.0 ? "a" : "an", fmo_symmetry_name(job->symmetry));
    return FMO_OK;
}

/* Elements are compared as those of normalised functions, norm[i] norm[j] D_ij. */
fmo_status fmo_build_check(const fmo_fock_job *job, double *largest, fmo_error *err)
{
    const fmo_basis *const basis = fmo_build_owner(job)->basis;
    const size_t n = (size_t)basis->ao_num;
    const double sign = job->symmetry == FMO_ANTISYMMETRIC ? -1.0 : 1.0;
    const density_maxima maxima = survey(job->plan, job->density, basis->ao_norm, n, sign);
    const double within = 1e-10 * number_of(maxima.element);
    job->plan->built = 0;
    *largest = number_of(maxima.element);
    if (isfinite(*largest) &&
        (job->symmetry == FMO_GENERAL || number_of(maxima.difference) <= within))
        return FMO_OK;
    return name_element(job, basis->ao_norm, n, job->symmetry == FMO_GENERAL ? INFINITY : within,
                        err);
}
