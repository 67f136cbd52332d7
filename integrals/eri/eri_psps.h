/* (ps|ps). See eri_common.h. */
#ifndef FMO_ERI_PSPS_H
#define FMO_ERI_PSPS_H

#include "integrals/eri/eri_common.h"

enum { eri_psps_acc = 9, eri_psps_prim_flop = 132, eri_psps_finish_flop = 0 };

FMO_HD void eri_psps_prim(const fmo_prim_quartet *z, fmo_real *acc)
{
    fmo_real p[2][3], pp[1][9];
    fmo_vrr_p(z, 1, p);
    fmo_vrr_pp(z, 0, p, pp);
    FMO_UNROLL
    for (int i = 0; i < 9; i++) acc[i] += pp[0][i];
}

FMO_HD void eri_psps_finish(const fmo_real *AB, const fmo_real *CD, const fmo_real *acc,
                            fmo_real *eri)
{
    (void)AB;
    (void)CD;
    FMO_UNROLL
    for (int i = 0; i < 9; i++) eri[i] = acc[i];
}

#endif
