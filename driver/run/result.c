/* Energies and notices of a result. See result.h. */
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
    fmo_scf_result_destroy(result->scf);
    fmo_dataset_destroy(result->dataset);
    memset(result, 0, sizeof *result);
}
