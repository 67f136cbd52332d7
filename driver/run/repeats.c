/* Collects the profiles of several builds of one data set, and compares their G. See repeats.h. */
#include "driver/run/repeats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_builds(const void *a, const void *b)
{
    return driver_by_value(&((const fmo_fock_profile *)a)->seconds,
                           &((const fmo_fock_profile *)b)->seconds);
}

static double max_difference(const double *a, const double *b, size_t size)
{
    double largest = 0.0;
    for (size_t i = 0; i < size; i++) largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

/* Allocates the profiles and, for more than one build, a copy of G. */
fmo_status driver_repeats_begin(driver_repeats *repeats, int count, const driver_result *result,
                                fmo_error *err)
{
    const size_t size = (size_t)result->nao * (size_t)result->nao;
    memset(repeats, 0, sizeof *repeats);
    repeats->count = (size_t)count;
    repeats->profile = malloc(repeats->count * sizeof *repeats->profile);
    repeats->first = count > 1 ? malloc(size * sizeof *repeats->first) : NULL;
    if (!repeats->profile || (count > 1 && !repeats->first))
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d builds", count);
    return FMO_OK;
}

/* Records the profile of a build, computes G = J - K/2, and compares it with the first G. */
fmo_status driver_repeats_take(driver_repeats *repeats, const fmo_fock_plan *plan,
                               driver_result *result, fmo_error *err)
{
    const size_t size = (size_t)result->nao * (size_t)result->nao, n = repeats->done;
    const double *J = result->matrices[DRIVER_COULOMB], *K = result->matrices[DRIVER_EXCHANGE];
    double *G = result->matrices[DRIVER_FOCK_2E];
    const fmo_status status = fmo_fock_plan_profile(plan, &repeats->profile[n], err);
    if (status != FMO_OK) return status;
    for (size_t i = 0; i < size; i++) G[i] = J[i] - 0.5 * K[i];
    if (n == 0) result->repeat_difference = repeats->first ? 0.0 : NAN;
    if (n == 0 && repeats->first) memcpy(repeats->first, G, size * sizeof *G);
    if (n > 0)
        result->repeat_difference =
            fmax(result->repeat_difference, max_difference(G, repeats->first, size));
    repeats->done++;
    return FMO_OK;
}

void driver_repeats_end(driver_repeats *repeats, driver_result *result)
{
    const size_t count = repeats->done;
    fmo_fock_profile *profiles = repeats->profile;
    qsort(profiles, count, sizeof *profiles, compare_builds);
    result->profile = profiles[(count - 1) / 2];
    result->seconds.min = profiles[0].seconds;
    result->seconds.max = profiles[count - 1].seconds;
    result->seconds.median =
        0.5 * (profiles[(count - 1) / 2].seconds + profiles[count / 2].seconds);
}

void driver_repeats_free(driver_repeats *repeats)
{
    free(repeats->first);
    free(repeats->profile);
}
