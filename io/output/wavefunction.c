/* Checks the arguments of both writers of orbitals before anything is written; declared in
 * wavefunction_internal.h. */
#include "io/output/hdf5.h"
#include "io/output/wavefunction_internal.h"
#include "base/arguments.h"

#include <math.h>

enum { CHARGES_MAX = 100000000 };
#define ARGUMENT(err, ...) fmo_error_set(err, FMO_ERR_ARGUMENT, __VA_ARGS__)

/* Checks the orbitals of one spin. */
static fmo_status check_orbitals(const char *function, const fmo_wavefunction *wf, size_t nao,
                                 const double *coefficient, const double *energy,
                                 const double *occupation, fmo_error *err)
{
    for (int m = 0; m < wf->mo_num; m++) {
        if (!isfinite(energy[m]) || !(occupation[m] >= 0.0 && occupation[m] <= 2.0))
            return ARGUMENT(err,
                            "%s: orbital %d has energy %g and occupation %g; expected finite "
                            "numbers, the second 0 to 2",
                            function, m, energy[m], occupation[m]);
        for (size_t i = 0; i < nao; i++)
            if (!isfinite(coefficient[(size_t)m * nao + i]))
                return ARGUMENT(err, "%s: coefficient[%d][%zu] = %g: expected finite numbers",
                                function, m, i, coefficient[(size_t)m * nao + i]);
    }
    return FMO_OK;
}

/* Checks pointers, mo_num, and that all energies, occupations and coefficients are finite and in
 * range. */
fmo_status fmo_wavefunction_check(const char *path, const fmo_dataset *dataset,
                                  const fmo_wavefunction *wavefunction, const char *function,
                                  fmo_error *err)
{
    const fmo_wavefunction *const wf = wavefunction;
    fmo_status status = FMO_CHECK_ARGUMENTS(function, err, FMO_GIVEN(path), FMO_GIVEN(dataset),
                                            FMO_GIVEN(wavefunction));
    if (status == FMO_OK)
        status = FMO_CHECK_ARGUMENTS(function, err, FMO_GIVEN(wavefunction->coefficient),
                                     FMO_GIVEN(wavefunction->energy),
                                     FMO_GIVEN(wavefunction->occupation));
    if (status != FMO_OK) return status;
    if (!*path) return ARGUMENT(err, "%s: the path is empty", function);
    status = fmo_h5_check_text(function, "method", wf->method, err);
    if (status != FMO_OK) return status;
    size_t nao = (size_t)fmo_basis_ao_num(fmo_dataset_basis(dataset));
    if (wf->mo_num < 1 || (size_t)wf->mo_num > nao)
        return ARGUMENT(err, "%s: mo_num = %d: expected 1 to %zu", function, wf->mo_num, nao);
    status = check_orbitals(function, wf, nao, wf->coefficient, wf->energy, wf->occupation, err);
    if (status == FMO_OK && wf->point_charge_num)
        status = FMO_CHECK_ARGUMENTS(function, err, FMO_GIVEN(wavefunction->point_charge),
                                     FMO_GIVEN(wavefunction->point_charge_coord));
    if (status == FMO_OK && wf->point_charge_num > CHARGES_MAX)
        return ARGUMENT(err, "%s: point_charge_num = %zu: expected at most %d", function,
                        wf->point_charge_num, CHARGES_MAX);
    const int beta = !!wf->coefficient_beta + !!wf->energy_beta + !!wf->occupation_beta;
    if (status == FMO_OK && beta % 3)
        return ARGUMENT(err, "%s: beta orbitals need coefficients, energies and occupations",
                        function);
    if (status != FMO_OK || !beta) return status;
    return check_orbitals(function, wf, nao, wf->coefficient_beta, wf->energy_beta,
                          wf->occupation_beta, err);
}
