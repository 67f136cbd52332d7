/* What both writers of orbitals share: checking them before anything is written. */
#include "io/output/wavefunction_internal.h"

#include <math.h>

#define ARGUMENT(err, ...) fmo_error_set(err, FMO_ERR_ARGUMENT, __VA_ARGS__)

fmo_status fmo_wavefunction_check(const char *path, const fmo_dataset *dataset,
                                  const fmo_wavefunction *wf, const char *function, fmo_error *err)
{
    if (!path || !*path || !dataset || !wf || !wf->coefficient || !wf->energy || !wf->occupation)
        return ARGUMENT(err, "%s: no path, data set or orbitals", function);
    size_t nao = (size_t)fmo_basis_ao_num(fmo_dataset_basis(dataset));
    if (wf->mo_num < 1 || (size_t)wf->mo_num > nao)
        return ARGUMENT(err, "%s: mo_num = %d: expected 1 to %zu", function, wf->mo_num, nao);
    for (int m = 0; m < wf->mo_num; m++) {
        if (!isfinite(wf->energy[m]) || !(wf->occupation[m] >= 0.0 && wf->occupation[m] <= 2.0))
            return ARGUMENT(err,
                            "%s: orbital %d has energy %g and occupation %g; expected finite "
                            "numbers, the second 0 to 2",
                            function, m, wf->energy[m], wf->occupation[m]);
        for (size_t i = 0; i < nao; i++)
            if (!isfinite(wf->coefficient[(size_t)m * nao + i]))
                return ARGUMENT(err, "%s: coefficient[%d][%zu] = %g: expected finite numbers",
                                function, m, i, wf->coefficient[(size_t)m * nao + i]);
    }
    return FMO_OK;
}
