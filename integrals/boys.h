/* Boys function F_0..F_M for M <= 4, to 1e-14 relative for every T >= 0.
 * Small T: F_M from a polynomial per interval of width 1/8, the lower orders by downward recursion,
 * F_(m-1) = (2T F_m + exp(-T)) / (2m-1), all terms positive. From fmo_boys_far(M) on: the
 * asymptotic form, whose relative error T^(M-1/2) exp(-T) / Gamma(M+1/2) there is below 2e-15.
 * Tables are made at build time by make_boys_table.c. Source: Gill, Johnson, Pople, Int. J. Quantum
 * Chem. 40, 745 (1991); Shavitt (1963). */
#ifndef FMO_BOYS_H
#define FMO_BOYS_H

#include "integrals/real.h"

#include "integrals/boys_lanes.h"

enum {
    FMO_BOYS_ORDER_MAX = 4,
    FMO_BOYS_PER_UNIT = 8,
    FMO_BOYS_T_MAX = 45,
    FMO_BOYS_ROWS = FMO_BOYS_T_MAX * FMO_BOYS_PER_UNIT + 1,
    FMO_BOYS_TERMS = 7,                    /* degree 6 */
    FMO_BOYS_ROW_SIZE = FMO_BOYS_TERMS + 1 /* one cache line */
};

typedef struct fmo_boys_table {
    double row[FMO_BOYS_ORDER_MAX + 1][FMO_BOYS_ROWS][FMO_BOYS_ROW_SIZE];
} fmo_boys_table;

/* Host copy; a GPU plan uploads its own. Aligned to 64 bytes. */
#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const fmo_boys_table fmo_boys;

/* From here on F_0..F_M have their asymptotic form. */
FMO_HD double fmo_boys_far(int M)
{
    return M == 0 ? 32.0 : M == 1 ? 36.0 : M == 2 ? 40.0 : M == 3 ? 43.0 : 1.0 * FMO_BOYS_T_MAX;
}

FMO_HD void fmo_boys_down(fmo_real T, fmo_real exp_T, int M, fmo_real *F)
{
    FMO_UNROLL
    for (int m = M; m > 0; m--) F[m - 1] = (2.0 * T * F[m] + exp_T) * (1.0 / (2 * m - 1));
}

/* exp(-d) for |d| <= 1/16 by its Taylor series; the first term left out is about 4e-17. */
FMO_HD fmo_real fmo_boys_exp(fmo_real d)
{
    fmo_real e = fmo_set(1.0 / 40320);
    e = 1.0 / 5040 - d * e;
    e = 1.0 / 720 - d * e;
    e = 1.0 / 120 - d * e;
    e = 1.0 / 24 - d * e;
    e = 1.0 / 6 - d * e;
    e = 1.0 / 2 - d * e;
    e = 1.0 - d * e;
    return 1.0 - d * e;
}

FMO_HD void fmo_boys_asymptotic(fmo_real T, int M, fmo_real *F)
{
    fmo_real r = fmo_rsqrt(T);
    F[0] = 0.88622692545275801365 * r; /* sqrt(pi)/2 */
    r = 0.5 * r * r;
    FMO_UNROLL
    for (int m = 1; m <= M; m++) F[m] = (2 * m - 1) * r * F[m - 1];
}

/* F[0..M] at T; M is a compile-time constant of the caller, `rows` the table of that order,
 * fmo_boys.row[M][0] or a copy (16-byte aligned on the GPU). */
FMO_HD void fmo_boys_eval(const double *rows, fmo_real T, int M, fmo_real *F)
{
    /* Adding 1.5*2^52 rounds to an integer and leaves it in the low bits. */
    const double magic = 0x1.8p52;
#if FMO_SIMD_WIDTH == 1
    if (T < fmo_boys_far(M)) {
        double shifted = T * FMO_BOYS_PER_UNIT + magic;
#if defined(__CUDA_ARCH__)
        int index = __double2loint(shifted);
#else
        int64_t bits;
        memcpy(&bits, &shifted, sizeof bits);
        int index = (int)(bits & 0xffff);
#endif
        double d = T - (shifted - magic) * (1.0 / FMO_BOYS_PER_UNIT);
        double c[FMO_BOYS_ROW_SIZE];
#if defined(__CUDA_ARCH__)
        const double2 *row = (const double2 *)(rows + index * FMO_BOYS_ROW_SIZE);
        FMO_UNROLL
        for (int k = 0; k < FMO_BOYS_ROW_SIZE / 2; k++) {
            const double2 two = __ldg(row + k);
            c[2 * k] = two.x;
            c[2 * k + 1] = two.y;
        }
#else
        memcpy(c, rows + index * FMO_BOYS_ROW_SIZE, sizeof c);
#endif
        double f = c[FMO_BOYS_TERMS];
        FMO_UNROLL
        for (int k = FMO_BOYS_TERMS - 1; k > 0; k--) f = f * d + c[k];
        F[M] = f;
        if (M > 0) fmo_boys_down(T, fmo_boys_exp(d) * c[0], M, F);
    } else {
        fmo_boys_asymptotic(T, M, F);
    }
#else
    const fmo_mask far = T >= fmo_boys_far(M);
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__)
    const fmo_real near_T = fmo_select(far, fmo_set(0.0), T);
    fmo_real exp_T = fmo_set(0.0);
    (void)rows;
    (void)magic;
    fmo_boys_near(near_T, M, &F[M], &exp_T);
    if (M > 0) fmo_boys_down(near_T, exp_T, M, F);
#else
    const fmo_real near_T = fmo_select(far, fmo_set(fmo_boys_far(M)), T);
    fmo_real shifted = near_T * (double)FMO_BOYS_PER_UNIT + magic;
    fmo_mask index = ((fmo_mask)shifted & 0xffff) * FMO_BOYS_ROW_SIZE;
    fmo_real d = near_T - (shifted - magic) * (1.0 / FMO_BOYS_PER_UNIT);
    const double *c = rows;
    fmo_real f = fmo_gather(c + FMO_BOYS_TERMS, index);
    FMO_UNROLL
    for (int k = FMO_BOYS_TERMS - 1; k > 0; k--) f = f * d + fmo_gather(c + k, index);
    F[M] = f;
    if (M > 0) {
        fmo_boys_down(near_T, fmo_boys_exp(d) * fmo_gather(c, index), M, F);
    }
#endif
    if (fmo_any(far)) {
        fmo_real G[FMO_BOYS_ORDER_MAX + 1];
        fmo_boys_asymptotic(fmo_select(far, T, fmo_set(1.0)), M, G);
        FMO_UNROLL
        for (int m = 0; m <= M; m++) F[m] = fmo_select(far, G[m], F[m]);
    }
#endif
}

#endif
