/* Builds, energies and notices of a result. See result.h. */
#include "driver/run/result.h"
#include "integrals/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Computes trace and norm of G, and the energies. */
void driver_result_evaluate(driver_result *result, const double *density, const double *fock_2e,
                            const double *core, double repulsion)
{
    size_t nao = (size_t)result->nao, size = nao * nao;
    double trace = 0.0, square = 0.0, dg = 0.0, dh = 0.0;
    for (size_t i = 0; i < nao; i++) trace += fock_2e[i * nao + i];
    for (size_t i = 0; i < size; i++) {
        square += fock_2e[i] * fock_2e[i];
        dg += density[i] * fock_2e[i];
        if (core) dh += density[i] * core[i];
    }
    result->trace_g = trace;
    result->norm_g = sqrt(square);
    result->energy_2e = 0.5 * dg;
    result->energy = NAN;
    if (!core)
        result->no_energy = "no core Hamiltonian in the file, and none can be computed";
    else if (!isfinite(repulsion))
        result->no_energy = "two nuclei coincide";
    else
        result->energy = dh + 0.5 * dg + repulsion;
}

/* Takes the profile of a plan's last build, and computes G = J - K/2. */
fmo_status driver_result_take_build(driver_result *result, const fmo_fock_plan *plan,
                                    fmo_error *err)
{
    const size_t size = (size_t)result->nao * (size_t)result->nao;
    const double *J = result->matrices[DRIVER_COULOMB], *K = result->matrices[DRIVER_EXCHANGE];
    double *G = result->matrices[DRIVER_FOCK_2E];
    const fmo_status status = fmo_fock_plan_profile(plan, &result->profile, err);
    if (status != FMO_OK) return status;
    for (size_t i = 0; i < size; i++) G[i] = J[i] - 0.5 * K[i];
    result->repeat_difference = NAN;
    result->seconds.min = result->seconds.median = result->seconds.max = result->profile.seconds;
    return FMO_OK;
}

/* Records the build that the result has taken, and compares its G with the first one. */
fmo_status driver_repeats_add(driver_repeats *repeats, int count, driver_result *result,
                              fmo_error *err)
{
    const size_t size = (size_t)result->nao * (size_t)result->nao;
    const double *G = result->matrices[DRIVER_FOCK_2E];
    if (!repeats->profile) repeats->profile = malloc((size_t)count * sizeof *repeats->profile);
    if (!repeats->first) repeats->first = malloc(size * sizeof *repeats->first);
    if (!repeats->profile || !repeats->first)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d builds", count);
    repeats->profile[repeats->done++] = result->profile;
    if (repeats->done == 1) {
        memcpy(repeats->first, G, size * sizeof *G);
        repeats->difference = 0.0;
    }
    for (size_t i = 0; i < size; i++)
        repeats->difference = fmax(repeats->difference, fabs(G[i] - repeats->first[i]));
    return FMO_OK;
}

static int compare_builds(const void *a, const void *b)
{
    return driver_by_value(&((const fmo_fock_profile *)a)->seconds,
                           &((const fmo_fock_profile *)b)->seconds);
}

void driver_repeats_end(driver_repeats *repeats, driver_result *result)
{
    const size_t count = repeats->done;
    fmo_fock_profile *profiles = repeats->profile;
    if (!count) return;
    qsort(profiles, count, sizeof *profiles, compare_builds);
    result->profile = profiles[(count - 1) / 2];
    result->seconds.min = profiles[0].seconds;
    result->seconds.max = profiles[count - 1].seconds;
    result->seconds.median =
        0.5 * (profiles[(count - 1) / 2].seconds + profiles[count / 2].seconds);
    result->repeat_difference = repeats->difference;
}

void driver_repeats_free(driver_repeats *repeats)
{
    free(repeats->first);
    free(repeats->profile);
}

const char *driver_result_notice(const driver_result *result, int i)
{
    const char *const own[] = {result->geometry_notice, result->spin_notice, result->profile.notice,
                               result->scf_notice, result->unused};
    int k = 0;
    for (; fmo_dataset_notice(result->dataset, k); k++)
        if (k == i) return fmo_dataset_notice(result->dataset, k);
    for (size_t n = 0; n < sizeof own / sizeof own[0]; n++)
        if (*own[n] && k++ == i) return own[n];
    return NULL;
}

const char *driver_scf_method(const fmo_scf_result *scf)
{
    return scf->restricted ? "ROHF" : scf->unrestricted ? "UHF" : "RHF";
}

bool driver_mode_reduces(fmo_mode mode)
{
    return mode == FMO_MODE_CPU || mode == FMO_MODE_SPLIT;
}

bool driver_profile_has_classes(const fmo_fock_profile *profile)
{
    for (int c = 0; c < FMO_ERI_CLASS_COUNT; c++)
        if (profile->classes[c].quartets > 0 || profile->classes[c].quartets_skipped > 0)
            return true;
    return false;
}

bool driver_profile_has_class(const fmo_fock_profile *profile, int eri_class)
{
    const fmo_class_profile *row = &profile->classes[eri_class];
    return eri_class < FMO_ERI_LOW_L_COUNT || row->quartets > 0 || row->quartets_skipped > 0;
}

void driver_result_free(driver_result *result)
{
    for (int m = 0; m < DRIVER_MATRIX_COUNT; m++) free(result->matrices[m]);
    free(result->fock);
    free(result->cycles);
    free(result->charges_of_atoms);
    fmo_scf_result_destroy(result->scf);
    fmo_dataset_destroy(result->dataset);
    fmo_point_charges_destroy(result->charges);
    memset(result, 0, sizeof *result);
}
