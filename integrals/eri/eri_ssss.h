/* (ss|ss). See eri_common.h. */
#ifndef FMO_ERI_SSSS_H
#define FMO_ERI_SSSS_H

#include "integrals/eri/eri_common.h"

enum { eri_ssss_acc = 1, eri_ssss_prim_flop = 36, eri_ssss_finish_flop = 0 };

FMO_HD void eri_ssss_prim(const fmo_prim_quartet *z, fmo_real *acc)
{
    acc[0] += z->S[0];
}

FMO_HD void eri_ssss_finish(const fmo_real *AB, const fmo_real *CD, const fmo_real *acc,
                            fmo_real *eri)
{
    (void)AB;
    (void)CD;
    eri[0] = acc[0];
}

#endif
