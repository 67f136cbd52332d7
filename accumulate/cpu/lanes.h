/* Transposition of short rows of doubles, one row per lane, into vectors by column and back. */
#ifndef FMO_CPU_LANES_H
#define FMO_CPU_LANES_H

#include "integrals/real.h"

enum { W = FMO_SIMD_WIDTH }; /* lanes of a vector */

/* Returns out[lane] = base[at[lane]]. */
FMO_HD fmo_real fmo_load_each(const double *base, const int *at)
{
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__)
    return (fmo_real)_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)at), base, 8);
#else
    double out[W];
    for (int l = 0; l < W; l++) out[l] = base[at[l]];
    return fmo_load(out);
#endif
}

/* Computes out[c][lane] = base[at[lane] + c] for c = 0..3. */
FMO_HD void fmo_load_rows4(const double *base, const int *at, fmo_real *out)
{
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__)
    __m512d r[4], t[4];
    const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    FMO_UNROLL
    for (int l = 0; l < 4; l++)
        r[l] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(base + at[l])),
                                  _mm256_loadu_pd(base + at[l + 4]), 1);
    t[0] = _mm512_unpacklo_pd(r[0], r[1]);
    t[1] = _mm512_unpackhi_pd(r[0], r[1]);
    t[2] = _mm512_unpacklo_pd(r[2], r[3]);
    t[3] = _mm512_unpackhi_pd(r[2], r[3]);
    out[0] = (fmo_real)_mm512_permutex2var_pd(t[0], even, t[2]);
    out[1] = (fmo_real)_mm512_permutex2var_pd(t[1], even, t[3]);
    out[2] = (fmo_real)_mm512_permutex2var_pd(t[0], odd, t[2]);
    out[3] = (fmo_real)_mm512_permutex2var_pd(t[1], odd, t[3]);
#elif FMO_SIMD_WIDTH == 4 && defined(__AVX__)
    __m256d r[4], t[4];
    FMO_UNROLL
    for (int l = 0; l < 4; l++) r[l] = _mm256_loadu_pd(base + at[l]);
    t[0] = _mm256_unpacklo_pd(r[0], r[1]);
    t[1] = _mm256_unpackhi_pd(r[0], r[1]);
    t[2] = _mm256_unpacklo_pd(r[2], r[3]);
    t[3] = _mm256_unpackhi_pd(r[2], r[3]);
    out[0] = (fmo_real)_mm256_permute2f128_pd(t[0], t[2], 0x20);
    out[1] = (fmo_real)_mm256_permute2f128_pd(t[1], t[3], 0x20);
    out[2] = (fmo_real)_mm256_permute2f128_pd(t[0], t[2], 0x31);
    out[3] = (fmo_real)_mm256_permute2f128_pd(t[1], t[3], 0x31);
#else
    FMO_UNROLL
    for (int c = 0; c < 4; c++) out[c] = fmo_load_each(base + c, at);
#endif
}

/* Computes base[at[lane] + c] += in[c][lane], one lane after the other, so that rows may
 * coincide. */
FMO_HD void fmo_add_rows4(double *base, const int *at, const fmo_real *in)
{
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__)
    const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    const __m512d t0 = _mm512_unpacklo_pd((__m512d)in[0], (__m512d)in[1]);
    const __m512d t1 = _mm512_unpackhi_pd((__m512d)in[0], (__m512d)in[1]);
    const __m512d t2 = _mm512_unpacklo_pd((__m512d)in[2], (__m512d)in[3]);
    const __m512d t3 = _mm512_unpackhi_pd((__m512d)in[2], (__m512d)in[3]);
    const __m512d r[4] = {_mm512_permutex2var_pd(t0, even, t2),
                          _mm512_permutex2var_pd(t1, even, t3), _mm512_permutex2var_pd(t0, odd, t2),
                          _mm512_permutex2var_pd(t1, odd, t3)};
    FMO_UNROLL
    for (int l = 0; l < 4; l++) {
        double *to = base + at[l];
        _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), _mm512_castpd512_pd256(r[l])));
    }
    FMO_UNROLL
    for (int l = 0; l < 4; l++) {
        double *to = base + at[l + 4];
        _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), _mm512_extractf64x4_pd(r[l], 1)));
    }
#elif FMO_SIMD_WIDTH == 4 && defined(__AVX__)
    const __m256d t0 = _mm256_unpacklo_pd((__m256d)in[0], (__m256d)in[1]);
    const __m256d t1 = _mm256_unpackhi_pd((__m256d)in[0], (__m256d)in[1]);
    const __m256d t2 = _mm256_unpacklo_pd((__m256d)in[2], (__m256d)in[3]);
    const __m256d t3 = _mm256_unpackhi_pd((__m256d)in[2], (__m256d)in[3]);
    const __m256d r[4] = {
        _mm256_permute2f128_pd(t0, t2, 0x20), _mm256_permute2f128_pd(t1, t3, 0x20),
        _mm256_permute2f128_pd(t0, t2, 0x31), _mm256_permute2f128_pd(t1, t3, 0x31)};
    FMO_UNROLL
    for (int l = 0; l < 4; l++) {
        double *to = base + at[l];
        _mm256_storeu_pd(to, _mm256_add_pd(_mm256_loadu_pd(to), r[l]));
    }
#else
    for (int l = 0; l < W; l++)
        for (int c = 0; c < 4; c++) base[at[l] + c] += in[c][l];
#endif
}

/* fmo_load_rows4 with two columns. */
FMO_HD void fmo_load_rows2(const double *base, const int *at, fmo_real *out)
{
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__)
    const __m256i index = _mm256_loadu_si256((const __m256i *)at);
    out[0] = (fmo_real)_mm512_i32gather_pd(index, base, 8);
    out[1] = (fmo_real)_mm512_i32gather_pd(index, base + 1, 8);
#elif FMO_SIMD_WIDTH == 4 && defined(__AVX__)
    const __m256d a = _mm256_set_m128d(_mm_loadu_pd(base + at[2]), _mm_loadu_pd(base + at[0]));
    const __m256d b = _mm256_set_m128d(_mm_loadu_pd(base + at[3]), _mm_loadu_pd(base + at[1]));
    out[0] = (fmo_real)_mm256_unpacklo_pd(a, b);
    out[1] = (fmo_real)_mm256_unpackhi_pd(a, b);
#else
    out[0] = fmo_load_each(base, at);
    out[1] = fmo_load_each(base + 1, at);
#endif
}

/* fmo_add_rows4 with two columns. */
FMO_HD void fmo_add_rows2(double *base, const int *at, const fmo_real *in)
{
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__)
    const __m512d even = _mm512_unpacklo_pd((__m512d)in[0], (__m512d)in[1]);
    const __m512d odd = _mm512_unpackhi_pd((__m512d)in[0], (__m512d)in[1]);
#define ADD(lane, row)                                        \
    {                                                         \
        double *to = base + at[lane];                         \
        _mm_storeu_pd(to, _mm_add_pd(_mm_loadu_pd(to), row)); \
    }
    ADD(0, _mm512_castpd512_pd128(even))
    ADD(1, _mm512_castpd512_pd128(odd))
    ADD(2, _mm512_extractf64x2_pd(even, 1))
    ADD(3, _mm512_extractf64x2_pd(odd, 1))
    ADD(4, _mm512_extractf64x2_pd(even, 2))
    ADD(5, _mm512_extractf64x2_pd(odd, 2))
    ADD(6, _mm512_extractf64x2_pd(even, 3))
    ADD(7, _mm512_extractf64x2_pd(odd, 3))
#undef ADD
#else
    for (int l = 0; l < W; l++) {
        base[at[l]] += in[0][l];
        base[at[l] + 1] += in[1][l];
    }
#endif
}

/* Returns the lanes with x >= limit as bits. */
FMO_HD unsigned fmo_lanes_from(fmo_real x, double limit)
{
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)x, _mm512_set1_pd(limit), _CMP_GE_OQ);
#elif FMO_SIMD_WIDTH == 4 && defined(__AVX__)
    return (unsigned)_mm256_movemask_pd(
        _mm256_cmp_pd((__m256d)x, _mm256_set1_pd(limit), _CMP_GE_OQ));
#else
    unsigned bits = 0;
    for (int l = 0; l < W; l++) bits |= (unsigned)(x[l] >= limit) << l;
    return bits;
#endif
}

#endif
