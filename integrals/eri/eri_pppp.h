/* (pp|pp): accumulates (ds|ds), (ds|ps), (ps|ds) and (ps|ps), then the horizontal recursion on
 * both sides. See eri_common.h. */
#ifndef FMO_ERI_PPPP_H
#define FMO_ERI_PPPP_H

#include "integrals/eri/eri_common.h"

enum {
    ERI_PPPP_DD = 0,  /* [6][6] */
    ERI_PPPP_DP = 36, /* [6][3] */
    ERI_PPPP_PD = 54, /* [3][6] */
    ERI_PPPP_PP = 72, /* [3][3] */
    eri_pppp_acc = 81,
    eri_pppp_prim_flop = 830,
    eri_pppp_finish_flop = 324
};

/* Adds [ds|ds], [ds|ps], [ps|ds] and [ps|ps] of one primitive quartet. */
FMO_HD void eri_pppp_prim(const fmo_prim_quartet *z, fmo_real *acc)
{
    fmo_real p[4][3], d[3][6], pp[2][9], dp[2][18], sp[3];
    fmo_vrr_p(z, 3, p);
    fmo_vrr_d(z, 2, p, d);
    fmo_vrr_pp(z, 1, p, pp);
    fmo_vrr_dp(z, 1, p, d, dp);
    FMO_UNROLL
    for (int i = 0; i < 9; i++) acc[ERI_PPPP_PP + i] += pp[0][i];
    FMO_UNROLL
    for (int i = 0; i < 18; i++) acc[ERI_PPPP_DP + i] += dp[0][i];

    /* [p_i s|d_kl s] = QC_k [p_i|p_l]^0 + WQ_k [p_i|p_l]^1 + delta_kl(...) + delta_ik [s|p_l]^1 */
    FMO_UNROLL
    for (int l = 0; l < 3; l++) sp[l] = z->half_pq * (z->QC[l] * z->S[1] + z->WQ[l] * z->S[2]);
    FMO_UNROLL
    for (int i = 0; i < 3; i++) {
        const fmo_real same = z->half_q * (p[0][i] - z->p_over * p[1][i]);
        FMO_UNROLL
        for (int k = 0; k < 3; k++) {
            FMO_UNROLL
            for (int l = k; l < 3; l++) {
                fmo_real t = z->QC[k] * pp[0][3 * i + l] + z->WQ[k] * pp[1][3 * i + l];
                if (k == l) t += same;
                if (i == k) t += sp[l];
                acc[ERI_PPPP_PD + 6 * i + FMO_D(k, l)] += t;
            }
        }
    }
    /* [d_ij s|d_kl s] similarly from [d_ij|p_l], with [p_j|p_l]^1 and [p_i|p_l]^1 */
    FMO_UNROLL
    for (int i = 0; i < 3; i++) {
        FMO_UNROLL
        for (int j = i; j < 3; j++) {
            const int ij = FMO_D(i, j);
            const fmo_real same = z->half_q * (d[0][ij] - z->p_over * d[1][ij]);
            FMO_UNROLL
            for (int k = 0; k < 3; k++) {
                FMO_UNROLL
                for (int l = k; l < 3; l++) {
                    fmo_real t = z->QC[k] * dp[0][3 * ij + l] + z->WQ[k] * dp[1][3 * ij + l];
                    if (k == l) t += same;
                    if (i == k) t += z->half_pq * pp[1][3 * j + l];
                    if (j == k) t += z->half_pq * pp[1][3 * i + l];
                    acc[ERI_PPPP_DD + 6 * ij + FMO_D(k, l)] += t;
                }
            }
        }
    }
}

/* Horizontal recursion on the ket, then on the bra. */
FMO_HD void eri_pppp_finish(const fmo_real *AB, const fmo_real *CD, const fmo_real *acc,
                            fmo_real *eri)
{
    FMO_UNROLL
    for (int k = 0; k < 3; k++) {
        FMO_UNROLL
        for (int l = 0; l < 3; l++) {
            const int kl = FMO_D(k, l);
            fmo_real d[6], p[3]; /* (d_ij s|p_k p_l), (p_i s|p_k p_l) */
            FMO_UNROLL
            for (int ij = 0; ij < 6; ij++)
                d[ij] = acc[ERI_PPPP_DD + 6 * ij + kl] + CD[l] * acc[ERI_PPPP_DP + 3 * ij + k];
            FMO_UNROLL
            for (int i = 0; i < 3; i++)
                p[i] = acc[ERI_PPPP_PD + 6 * i + kl] + CD[l] * acc[ERI_PPPP_PP + 3 * i + k];
            FMO_UNROLL
            for (int i = 0; i < 3; i++) {
                FMO_UNROLL
                for (int j = 0; j < 3; j++)
                    eri[9 * (3 * i + j) + 3 * k + l] = d[FMO_D(i, j)] + AB[j] * p[i];
            }
        }
    }
}

#endif
