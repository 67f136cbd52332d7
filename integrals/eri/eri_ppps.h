/* (pp|ps): accumulates (ds|ps) and (ps|ps), then the horizontal recursion on the bra.
 * See eri_common.h. */
#ifndef FMO_ERI_PPPS_H
#define FMO_ERI_PPPS_H

#include "integrals/eri/eri_common.h"

enum { eri_ppps_acc = 18 + 9, eri_ppps_prim_flop = 293, eri_ppps_finish_flop = 54 };

FMO_HD void eri_ppps_prim(const fmo_prim_quartet *z, fmo_real *acc)
{
    fmo_real p[3][3], d[2][6], pp[1][9], dp[1][18];
    fmo_vrr_p(z, 2, p);
    fmo_vrr_d(z, 1, p, d);
    fmo_vrr_pp(z, 0, p, pp);
    fmo_vrr_dp(z, 0, p, d, dp);
    FMO_UNROLL
    for (int i = 0; i < 18; i++) acc[i] += dp[0][i];
    FMO_UNROLL
    for (int i = 0; i < 9; i++) acc[18 + i] += pp[0][i];
}

FMO_HD void eri_ppps_finish(const fmo_real *AB, const fmo_real *CD, const fmo_real *acc,
                            fmo_real *eri)
{
    (void)CD;
    fmo_hrr_pp(3, AB, acc, eri);
}

#endif
