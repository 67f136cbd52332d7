/* (pp|ss): accumulates (ds|ss) and (ps|ss), then (p_i p_j| = (d_ij s| + AB_j (p_i s|. See
 * eri_common.h. */
#ifndef FMO_ERI_PPSS_H
#define FMO_ERI_PPSS_H

#include "integrals/eri/eri_common.h"

enum { eri_ppss_acc = 6 + 3, eri_ppss_prim_flop = 120, eri_ppss_finish_flop = 18 };

FMO_HD void eri_ppss_prim(const fmo_prim_quartet *z, fmo_real *acc)
{
    fmo_real p[2][3], d[1][6];
    fmo_vrr_p(z, 1, p);
    fmo_vrr_d(z, 0, p, d);
    FMO_UNROLL
    for (int i = 0; i < 6; i++) acc[i] += d[0][i];
    FMO_UNROLL
    for (int i = 0; i < 3; i++) acc[6 + i] += p[0][i];
}

FMO_HD void eri_ppss_finish(const fmo_real *AB, const fmo_real *CD, const fmo_real *acc,
                            fmo_real *eri)
{
    (void)CD;
    fmo_hrr_pp(1, AB, acc, eri);
}

#endif
