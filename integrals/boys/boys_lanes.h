/* The Boys function in eight lanes without gather instructions: tables of 16 numbers fit into two
 * registers, and one permutation looks up a number in every lane. There are 16 intervals, narrow
 * for small T; the interval follows from exponent and mantissa of 1 + T/unit. F_M is a polynomial
 * in each interval, exp(-T) is 2^(-k/16) exp(-r). Tables are made by make_boys_table.c. Include
 * boys.h instead of this file. */
#ifndef FMO_BOYS_LANES_H
#define FMO_BOYS_LANES_H

/* The intervals end at T = 15 units: 45 for orders up to FMO_BOYS_LANES_LOW, 60 for orders up to
 * FMO_BOYS_LANES_MIDDLE, 75 for higher orders. */
enum {
    FMO_BOYS_LANES_LOW = 4,
    FMO_BOYS_LANES_MIDDLE = 10,
    FMO_BOYS_LANES_UNITS = 3, /* kinds of intervals: 0, 1, 2, with units of 3, 4, 5 */
    FMO_BOYS_LANES_INTERVALS = 16,
    /* 12 + M terms are used: relative error 2e-15 at most */
    FMO_BOYS_LANES_TERMS = 12 + FMO_BOYS_ORDER_MAX
};
#define FMO_BOYS_LANES_KIND(M)       (((M) > FMO_BOYS_LANES_LOW) + ((M) > FMO_BOYS_LANES_MIDDLE))
#define FMO_BOYS_LANES_UNIT_OF(kind) (3 + (kind))
#define FMO_BOYS_LANES_UNIT(M)       FMO_BOYS_LANES_UNIT_OF(FMO_BOYS_LANES_KIND(M))

typedef struct fmo_boys_lanes_table {
    double middle[FMO_BOYS_LANES_UNITS][FMO_BOYS_LANES_INTERVALS];
    double root[FMO_BOYS_LANES_INTERVALS]; /* 2^(-k/16) */
    /* coefficients of (T - middle)^term */
    double row[FMO_BOYS_ORDER_MAX + 1][FMO_BOYS_LANES_TERMS][FMO_BOYS_LANES_INTERVALS];
} fmo_boys_lanes_table;

#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__) && !defined(__CUDACC__)

#define FMO_BOYS_LANES_ROW(order, T)                                                               \
    FMO_STATIC_ASSERT((order) > (int)FMO_BOYS_ORDER_MAX || (T) <= 15 * FMO_BOYS_LANES_UNIT(order), \
                      "boys_lanes.h: the intervals end before the asymptotic form begins")
FMO_BOYS_FAR_TABLE(FMO_BOYS_LANES_ROW)
#undef FMO_BOYS_LANES_ROW

extern const fmo_boys_lanes_table fmo_boys_lanes; /* aligned to 64 bytes */

FMO_HD __m512d fmo_boys_look_up(const double *table, __m512i index)
{
    return _mm512_permutex2var_pd(_mm512_load_pd(table), index, _mm512_load_pd(table + 8));
}

/* exp(-T) for 0 <= T <= 75. */
FMO_HD fmo_real fmo_boys_exp_lanes(fmo_real T)
{
    const double magic = 0x1.8p52;
    /* ln(2)/16 in two parts, the first with few bits, for exact products */
    const double high = 0x1.62e42fefa0000p-5, low = 0x1.cf79abc9e3b3ap-44;
    const fmo_real shifted = T * (16.0 / 0.69314718055994530942) + magic;
    const fmo_real k = shifted - magic, r = (T - k * high) - k * low;
    const __m512i bits = (__m512i)shifted;
    fmo_real e = fmo_set(1.0 / 720);
    e = 1.0 / 120 - r * e;
    e = 1.0 / 24 - r * e;
    e = 1.0 / 6 - r * e;
    e = 1.0 / 2 - r * e;
    e = 1.0 - r * e;
    e = 1.0 - r * e;
    const __m512i root = (__m512i)fmo_boys_look_up(fmo_boys_lanes.root, bits);
    const __m512i power = _mm512_slli_epi64(_mm512_srli_epi64(bits, 4), 52);
    return (fmo_real)_mm512_sub_epi64(root, power) * e;
}

/* F_M, and exp(-T) for the lower orders, for 0 <= T < fmo_boys_far(M). */
FMO_HD void fmo_boys_near(fmo_real T, int M, fmo_real *F_M, fmo_real *exp_T)
{
    const __m512i index =
        _mm512_srli_epi64((__m512i)(T * (1.0 / FMO_BOYS_LANES_UNIT(M)) + 1.0), 50);
    const fmo_real d =
        T - (fmo_real)fmo_boys_look_up(fmo_boys_lanes.middle[FMO_BOYS_LANES_KIND(M)], index);
    /* Even and odd powers are summed separately, in two short dependency chains. */
    const fmo_real d2 = d * d;
    fmo_real f[2];
    FMO_UNROLL
    for (int k = 11 + M; k >= 0; k--) {
        const fmo_real c = (fmo_real)fmo_boys_look_up(fmo_boys_lanes.row[M][k], index);
        f[k & 1] = k >= 10 + M ? c : f[k & 1] * d2 + c;
    }
    *F_M = f[1] * d + f[0];
    if (M > 0) *exp_T = fmo_boys_exp_lanes(T);
}

#endif
#endif
