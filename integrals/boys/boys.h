/* Boys function F_0..F_M, with a relative error of 1e-14 for every T >= 0.
 * Small T: F_M from a polynomial per interval of width 1/20 (AVX-512: boys_lanes.h), the lower
 * orders by downward recursion, F_(m-1) = (2T F_m + exp(-T)) / (2m-1), with all terms positive.
 * From fmo_boys_far(M) on: the asymptotic form, whose relative error T^(M-1/2) exp(-T) /
 * Gamma(M+1/2) there is below 2e-15. Tables are made at build time by make_boys_table.c. Source:
 * Gill, Johnson, Pople, Int. J. Quantum Chem. 40, 745 (1991); Shavitt (1963). */
#ifndef FMO_BOYS_H
#define FMO_BOYS_H

#include "integrals/real.h"
#include "integrals/tables.h"

/* X(M, T): from this T on the asymptotic form is used for F_0..F_M. Rows of orders that no class
 * has are not used. */
#define FMO_BOYS_FAR_TABLE(X) FMO_BOYS_FAR_LOW(X) FMO_BOYS_FAR_HIGH(X)
#define FMO_BOYS_FAR_LOW(X) \
    X(0, 32) X(1, 36) X(2, 40) X(3, 43) X(4, 45) X(5, 48) X(6, 51) X(7, 53) X(8, 55)
#define FMO_BOYS_FAR_HIGH(X) \
    X(9, 57) X(10, 59) X(11, 61) X(12, 63) X(13, 65) X(14, 67) X(15, 69) X(16, 71)

#define FMO_BOYS_FAR_ROW(order, T) (order) == FMO_BOYS_ORDER_MAX ? (T):
#define FMO_BOYS_ROWS_TO(far)      ((far)*FMO_BOYS_PER_UNIT + 1)
enum {
    FMO_BOYS_GPU_ORDER_MAX = FMO_ERI_GPU_ORDER_MAX + 1, /* of its own table, for gradients */
#if defined(__CUDACC__)
    FMO_BOYS_ORDER_MAX = FMO_BOYS_GPU_ORDER_MAX,
#else
    FMO_BOYS_ORDER_MAX = FMO_ERI_ORDER_MAX,
#endif
    FMO_BOYS_PER_UNIT = 20,
    FMO_BOYS_ROWS = FMO_BOYS_ROWS_TO(FMO_BOYS_FAR_TABLE(FMO_BOYS_FAR_ROW) 0),
    FMO_BOYS_TERMS = 6, /* degree 5 */
    FMO_BOYS_ROW_SIZE = 6
};
#undef FMO_BOYS_FAR_ROW
FMO_STATIC_ASSERT(FMO_BOYS_ROWS > 1, "FMO_BOYS_FAR_TABLE: a row for the highest order of a class")

#include "integrals/boys/boys_lanes.h"

/* A row: exp(-T0); coefficients 0 to 3; and coefficients 4 and 5, which need few digits, as the
 * upper halves of doubles, stored in the upper and lower half of one double. On a GPU the lanes of
 * a warp read random rows: with 48 bytes they spread over all banks of the L1 cache, with 64 bytes
 * over fewer. */
typedef struct fmo_boys_table {
    double row[FMO_BOYS_ORDER_MAX + 1][FMO_BOYS_ROWS][FMO_BOYS_ROW_SIZE];
} fmo_boys_table;

#if !defined(__CUDACC__)
/* The host's table, aligned to 64 bytes; the GPU's is in gpu/boys.cu. */
#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const fmo_boys_table fmo_boys;
#endif

FMO_HD double fmo_boys_far(int M)
{
#define ROW(order, T) M == (order) ? (double)(T):
    return FMO_BOYS_FAR_TABLE(ROW) INFINITY;
#undef ROW
}

FMO_HD void fmo_boys_down(fmo_real T, fmo_real exp_T, int M, fmo_real *F)
{
    FMO_UNROLL
    for (int m = M; m > 0; m--) F[m - 1] = (2.0 * T * F[m] + exp_T) * (1.0 / (2 * m - 1));
}

/* exp(-d) for |d| <= 1/40 by its Taylor series, in short chains; the first term left out is below
 * 4e-18. */
FMO_HD fmo_real fmo_boys_exp(fmo_real d)
{
    const fmo_real d2 = d * d;
    fmo_real e = 1.0 / 720 - d * (1.0 / 5040);
    e = d2 * e + (1.0 / 24 - d * (1.0 / 120));
    e = d2 * e + (0.5 - d * (1.0 / 6));
    return d2 * e + (1.0 - d);
}

FMO_HD void fmo_boys_asymptotic(fmo_real T, int M, fmo_real *F)
{
    fmo_real r = fmo_rsqrt(T);
    F[0] = 0.88622692545275801365 * r; /* sqrt(pi)/2 */
    r = 0.5 * r * r;
    FMO_UNROLL
    for (int m = 1; m <= M; m++) F[m] = (2 * m - 1) * r * F[m - 1];
}

/* Adding this rounds to an integer, which is then in the low bits. */
#define FMO_BOYS_ROUND 0x1.8p52

#if FMO_SIMD_WIDTH == 1
/* Returns F_M(T) for T < fmo_boys_far(M), from the table of that order, and exp(-T). */
FMO_HD double fmo_boys_interpolate(const double *rows, double T, double *exp_T)
{
    double shifted = T * FMO_BOYS_PER_UNIT + FMO_BOYS_ROUND;
    double d = T - (shifted - FMO_BOYS_ROUND) * (1.0 / FMO_BOYS_PER_UNIT);
    double c[FMO_BOYS_ROW_SIZE], c4, c5;
#if defined(__CUDA_ARCH__)
    const double2 *row =
        (const double2 *)(rows + (unsigned)__double2loint(shifted) * FMO_BOYS_ROW_SIZE);
    FMO_UNROLL
    for (int k = 0; k < FMO_BOYS_ROW_SIZE / 2; k++) {
        const double2 two = __ldg(row + k);
        c[2 * k] = two.x;
        c[2 * k + 1] = two.y;
    }
    c4 = __hiloint2double(__double2hiint(c[5]), 0);
    c5 = __hiloint2double(__double2loint(c[5]), 0);
#else
    uint64_t bits, upper;
    memcpy(&bits, &shifted, sizeof bits);
    memcpy(c, rows + (bits & 0xffff) * FMO_BOYS_ROW_SIZE, sizeof c);
    memcpy(&bits, &c[5], sizeof bits);
    upper = bits >> 32 << 32;
    memcpy(&c4, &upper, sizeof c4);
    upper = bits << 32;
    memcpy(&c5, &upper, sizeof c5);
#endif
    const double d2 = d * d;
    *exp_T = fmo_boys_exp(d) * c[0];
    return ((c5 * d + c4) * d2 + (c[4] * d + c[3])) * d2 + (c[2] * d + c[1]);
}
#endif

/* Computes F[0..M] at T. M is a compile-time constant; `rows` is the table of that order,
 * fmo_boys.row[M][0] or a copy (16-byte aligned on the GPU). */
FMO_HD void fmo_boys_eval(const double *rows, fmo_real T, int M, fmo_real *F)
{
#if FMO_SIMD_WIDTH == 1
    if (T < fmo_boys_far(M)) {
        double exp_T;
        F[M] = fmo_boys_interpolate(rows, T, &exp_T);
        if (M > 0) fmo_boys_down(T, exp_T, M, F);
    } else {
        fmo_boys_asymptotic(T, M, F);
    }
#else
    const fmo_mask far = T >= fmo_boys_far(M);
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__)
    const fmo_real near_T = fmo_select(far, fmo_set(0.0), T);
    fmo_real exp_T = fmo_set(0.0);
    (void)rows;
    fmo_boys_near(near_T, M, &F[M], &exp_T);
    if (M > 0) fmo_boys_down(near_T, exp_T, M, F);
#else
    const fmo_real near_T = fmo_select(far, fmo_set(fmo_boys_far(M)), T);
    fmo_real shifted = near_T * (double)FMO_BOYS_PER_UNIT + FMO_BOYS_ROUND;
    fmo_mask index = ((fmo_mask)shifted & 0xffff) * FMO_BOYS_ROW_SIZE;
    fmo_real d = near_T - (shifted - FMO_BOYS_ROUND) * (1.0 / FMO_BOYS_PER_UNIT);
    const fmo_mask tail = (fmo_mask)fmo_gather(rows + 5, index);
    fmo_real f = (fmo_real)(tail << 32) * d + (fmo_real)(tail & ~(int64_t)0xffffffff);
    FMO_UNROLL
    for (int k = 4; k > 0; k--) f = f * d + fmo_gather(rows + k, index);
    F[M] = f;
    if (M > 0) fmo_boys_down(near_T, fmo_boys_exp(d) * fmo_gather(rows, index), M, F);
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
