/* Until fmo_charge_attraction is in the library. */
#include "driver/fmo/internal.h"
#include "integrals/basis_internal.h"
#include <fmo/one_electron.h>
fmo_status fmo_charge_attraction(const fmo_basis *basis, int num, const double *charge,
                                 const double *coord, double *V, fmo_error *err)
{
    fmo_basis other = *basis;
    other.nucleus_num = num;
    other.charge = (double *)charge;
    other.coord = (double *)coord;
    return fmo_nuclear_attraction(&other, V, err);
}
