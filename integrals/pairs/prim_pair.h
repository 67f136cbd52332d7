/* Makes one primitive pair from two primitives, on host and device; see shell_pair.h. */
#ifndef FMO_PRIM_PAIR_H
#define FMO_PRIM_PAIR_H

#include "integrals/eri/eri_common.h"

/* Primitive pairs with smaller prefactors are dropped for any threshold except 0. */
#define FMO_PAIR_TINY 1e-40

/* So are shell pairs whose exponentials are all below exp(-this) = 1e-50. */
#define FMO_PAIR_DECAY_MAX 115.0

/* The exponent of the Gaussian product's prefactor, -ab/(a+b) r2. */
FMO_HD double fmo_prim_pair_decay(double a, double b, double r2)
{
    return -a * b / (a + b) * r2;
}

/* Fills prim[FMO_PAIR_FIELDS] from two primitives with their coefficients; `decayed` is exp() of
 * fmo_prim_pair_decay. */
FMO_HD void fmo_prim_pair_make(double a, double b, double c_a, double c_b, double decayed,
                               const double *AB, double *prim)
{
    const double constant = 5.9149671727956128778; /* sqrt(2) pi^(5/4) */
    const double p = a + b;
    prim[FMO_PAIR_P] = p;
    prim[FMO_PAIR_K] = c_a * c_b * decayed * (constant / p);
    for (int x = 0; x < 3; x++) prim[FMO_PAIR_X + x] = -(b / p) * AB[x];
    prim[FMO_PAIR_HALF] = 0.5 / p;
}

/* exp(x) for -512 < x <= 0 with an error of half a unit in the last place, and the same bits as
 * glibc (from 2.28 on, on processors with fused multiply-add), so that pairs made on host and GPU
 * are equal. Method and constants: exp of Arm's optimized routines. table[k]: 2^(k/128) rounded to
 * double, and its relative rounding error (exp_table.inc). */
FMO_HD double fmo_exp_by_table(const double (*table)[2], double x)
{
    const double shift = 0x1.8p52, steps = 0x1.71547652b82fep0 * 128;
    /* high and low part of ln 2 / 128, negative */
    const double high = -0x1.62e42fefa0000p-8, low = -0x1.cf79abc9e3b39p-47;
    const double shifted = fma(steps, x, shift);
    const double k = shifted - shift;
    const double r = fma(k, low, fma(k, high, x)), r2 = r * r;
    uint64_t bits, scale_bits;
    double scale;
    memcpy(&bits, &shifted, sizeof bits);
    const double *const row = table[bits & 127];
    memcpy(&scale_bits, &row[0], sizeof scale_bits);
    scale_bits += bits >> 7 << 52;
    memcpy(&scale, &scale_bits, sizeof scale);
    const double second = fma(r, 0x1.555555555543cp-3, 0x1.ffffffffffdbdp-2);
    const double fourth = fma(r, 0x1.1111167a4d017p-7, 0x1.55555cf172b91p-5);
    const double rest = fma(r2 * r2, fourth, fma(r2, second, row[1] + r));
    return fma(scale, rest, scale);
}

#endif
