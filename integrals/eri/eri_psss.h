/* (ps|ss). See eri_common.h. */
#ifndef FMO_ERI_PSSS_H
#define FMO_ERI_PSSS_H

#include "integrals/eri/eri_common.h"

enum { eri_psss_acc = 3, eri_psss_prim_flop = 70, eri_psss_finish_flop = 0 };

FMO_HD void eri_psss_prim(const fmo_prim_quartet *z, fmo_real *acc)
{
    fmo_real p[1][3];
    fmo_vrr_p(z, 0, p);
    FMO_UNROLL
    for (int i = 0; i < 3; i++) acc[i] += p[0][i];
}

FMO_HD void eri_psss_finish(const fmo_real *AB, const fmo_real *CD, const fmo_real *acc,
                            fmo_real *eri)
{
    (void)AB;
    (void)CD;
    FMO_UNROLL
    for (int i = 0; i < 3; i++) eri[i] = acc[i];
}

#endif
