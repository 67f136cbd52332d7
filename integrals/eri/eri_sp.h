/* The six classes over sp pairs (shell_pair.h): the first shell of a ps pair is the padded SP (L)
 * shell (s, x, y, z), with s multiplied by the ratio r of the primitive pair; pp pairs are
 * unchanged.
 *
 *    eri_sp_xxxx_prim(quartet, r_bra, r_ket, acc)   eri_sp_xxxx_finish(AB, CD, acc, eri)
 *
 * eri as in eri_common.h, with 4 functions (s x y z) for the p shell of a ps pair. */
#ifndef FMO_ERI_SP_H
#define FMO_ERI_SP_H

#include "integrals/eri/eri.h"

enum {
    eri_sp_ssss_acc = eri_ssss_acc,
    eri_sp_psss_acc = 4,
    eri_sp_psps_acc = 16,
    eri_sp_ppss_acc = eri_ppss_acc,
    eri_sp_ppps_acc = (6 + 3) * 4,
    eri_sp_pppp_acc = eri_pppp_acc
};

/* Classes without a ps pair are the same as for plain pairs. */
#define FMO_ERI_SP_PLAIN(name)                                                                  \
    FMO_HD void eri_sp_##name##_prim(const fmo_prim_quartet *z, fmo_real r_bra, fmo_real r_ket, \
                                     fmo_real *acc)                                             \
    {                                                                                           \
        (void)r_bra;                                                                            \
        (void)r_ket;                                                                            \
        eri_##name##_prim(z, acc);                                                              \
    }                                                                                           \
    FMO_HD void eri_sp_##name##_finish(const fmo_real *AB, const fmo_real *CD,                  \
                                       const fmo_real *acc, fmo_real *eri)                      \
    {                                                                                           \
        eri_##name##_finish(AB, CD, acc, eri);                                                  \
    }
FMO_ERI_SP_PLAIN(ssss)
FMO_ERI_SP_PLAIN(ppss)
FMO_ERI_SP_PLAIN(pppp)
#undef FMO_ERI_SP_PLAIN

FMO_HD void eri_sp_psss_prim(const fmo_prim_quartet *z, fmo_real r_bra, fmo_real r_ket,
                             fmo_real *acc)
{
    fmo_real p[1][3];
    (void)r_ket;
    fmo_vrr_p(z, 0, p);
    acc[0] += r_bra * z->S[0];
    FMO_UNROLL
    for (int i = 0; i < 3; i++) acc[1 + i] += p[0][i];
}

FMO_HD void eri_sp_psss_finish(const fmo_real *AB, const fmo_real *CD, const fmo_real *acc,
                               fmo_real *eri)
{
    (void)AB;
    (void)CD;
    FMO_UNROLL
    for (int i = 0; i < eri_sp_psss_acc; i++) eri[i] = acc[i];
}

FMO_HD void eri_sp_psps_prim(const fmo_prim_quartet *z, fmo_real r_bra, fmo_real r_ket,
                             fmo_real *acc)
{
    fmo_real p[2][3], pp[1][9];
    fmo_vrr_p(z, 1, p);
    fmo_vrr_pp(z, 0, p, pp);
    acc[0] += r_bra * r_ket * z->S[0];
    FMO_UNROLL
    for (int k = 0; k < 3; k++) acc[1 + k] += r_bra * (z->QC[k] * z->S[0] + z->WQ[k] * z->S[1]);
    FMO_UNROLL
    for (int i = 0; i < 3; i++) {
        acc[4 + 4 * i] += r_ket * p[0][i];
        FMO_UNROLL
        for (int k = 0; k < 3; k++) acc[4 + 4 * i + 1 + k] += pp[0][3 * i + k];
    }
}

FMO_HD void eri_sp_psps_finish(const fmo_real *AB, const fmo_real *CD, const fmo_real *acc,
                               fmo_real *eri)
{
    (void)AB;
    (void)CD;
    FMO_UNROLL
    for (int i = 0; i < eri_sp_psps_acc; i++) eri[i] = acc[i];
}

/* Accumulators [9 bra: d, then p][4 ket: s x y z]. */
FMO_HD void eri_sp_ppps_prim(const fmo_prim_quartet *z, fmo_real r_bra, fmo_real r_ket,
                             fmo_real *acc)
{
    fmo_real p[3][3], d[2][6], pp[1][9], dp[1][18];
    (void)r_bra;
    fmo_vrr_p(z, 2, p);
    fmo_vrr_d(z, 1, p, d);
    fmo_vrr_pp(z, 0, p, pp);
    fmo_vrr_dp(z, 0, p, d, dp);
    FMO_UNROLL
    for (int i = 0; i < 9; i++) {
        acc[4 * i] += r_ket * (i < 6 ? d[0][i < 6 ? i : 0] : p[0][i < 6 ? 0 : i - 6]);
        FMO_UNROLL
        for (int k = 0; k < 3; k++)
            acc[4 * i + 1 + k] +=
                i < 6 ? dp[0][i < 6 ? 3 * i + k : 0] : pp[0][i < 6 ? 0 : 3 * (i - 6) + k];
    }
}

FMO_HD void eri_sp_ppps_finish(const fmo_real *AB, const fmo_real *CD, const fmo_real *acc,
                               fmo_real *eri)
{
    (void)CD;
    fmo_hrr_pp(4, AB, acc, eri);
}

#endif
