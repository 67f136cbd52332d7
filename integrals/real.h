/* fmo_real, the number type of the integral code, which has one source for three uses: on the GPU a
 * double of one thread; on the host a vector of FMO_SIMD_WIDTH doubles, one quartet per lane, by
 * GCC's vector extension, which does not depend on automatic vectorisation; with width 1 a plain
 * double. This file adds what the extension lacks: square roots, table look-ups, selection. */
#ifndef FMO_REAL_H
#define FMO_REAL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__CUDACC__)
#define FMO_HD __host__ __device__ __forceinline__ static
#if defined(__CUDA_ARCH__)
#define FMO_UNROLL _Pragma("unroll")
#else
#define FMO_UNROLL
#endif
#else
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FMO_CALLED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define FMO_CALLED
#endif
#if defined(FMO_CALLED) /* inlining all copies, with checks or unoptimised, takes minutes */
#define FMO_HD __attribute__((unused)) static inline
#define FMO_UNROLL
#else
#define FMO_HD     __attribute__((always_inline, unused)) static inline
#define FMO_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

/* A large function that is compiled once per class instead of being inlined in every caller. */
#if defined(__CUDACC__)
#define FMO_HD_ONCE FMO_HD
#else
#define FMO_HD_ONCE __attribute__((noinline, unused)) static
#endif

/* Unrolled on the GPU only: on the host, copies of such loops take minutes to compile. */
#if defined(__CUDACC__)
#define FMO_GPU_UNROLL FMO_UNROLL
#else
#define FMO_GPU_UNROLL
#endif

#ifndef FMO_SIMD_WIDTH
#define FMO_SIMD_WIDTH 1
#endif

#if FMO_SIMD_WIDTH == 1

typedef double fmo_real;

FMO_HD fmo_real fmo_set(double x)
{
    return x;
}
FMO_HD fmo_real fmo_load(const double *p)
{
    return *p;
}

FMO_HD fmo_real fmo_rsqrt(fmo_real x)
{
#if defined(__CUDA_ARCH__)
    /* 20 bits from the hardware, tripled by Halley's iteration; x is never 0 or infinite here. */
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double e = fma(-x * y, y, 1.0);
    return fma(y * e, fma(e, 0.375, 0.5), y);
#else
    return 1.0 / sqrt(x);
#endif
}

FMO_HD fmo_real fmo_rsqrt_near_one(fmo_real x)
{
    return fmo_rsqrt(x);
}

FMO_HD double fmo_sum_lanes(fmo_real x)
{
    return x;
}

#else

#if FMO_SIMD_WIDTH == 8
#include <immintrin.h>
#elif FMO_SIMD_WIDTH == 4
#include <immintrin.h>
#endif

typedef double fmo_real __attribute__((vector_size(8 * FMO_SIMD_WIDTH)));
typedef int64_t fmo_mask __attribute__((vector_size(8 * FMO_SIMD_WIDTH)));

FMO_HD fmo_real fmo_set(double x)
{
    return x - (fmo_real){0};
}

FMO_HD fmo_real fmo_load(const double *p)
{
    fmo_real r;
    memcpy(&r, p, sizeof r);
    return r;
}

FMO_HD fmo_real fmo_select(fmo_mask mask, fmo_real yes, fmo_real no)
{
    return (fmo_real)((mask & (fmo_mask)yes) | (~mask & (fmo_mask)no));
}

FMO_HD int fmo_any(fmo_mask mask)
{
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512DQ__)
    return _mm512_movepi64_mask((__m512i)mask) != 0;
#elif FMO_SIMD_WIDTH == 4 && defined(__AVX__)
    return _mm256_movemask_pd((__m256d)mask) != 0;
#else
    int64_t any = 0;
    for (int l = 0; l < FMO_SIMD_WIDTH; l++) any |= mask[l];
    return any != 0;
#endif
}

FMO_HD fmo_real fmo_rsqrt(fmo_real x)
{
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__)
    /* 14 bits from the hardware, doubled twice by Newton's iteration. */
    fmo_real y = (fmo_real)_mm512_rsqrt14_pd((__m512d)x);
    y = y + 0.5 * y * (1.0 - x * y * y);
    return y + 0.5 * y * (1.0 - x * y * y);
#else
    fmo_real y = x;
    for (int l = 0; l < FMO_SIMD_WIDTH; l++) y[l] = 1.0 / sqrt(x[l]);
    return y;
#endif
}

/* 1/sqrt(x) with an error of one or two units in the last place, for x in the range of a float; the
 * result is undefined in lanes where x is not. */
FMO_HD fmo_real fmo_rsqrt_near_one(fmo_real x)
{
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__)
    /* 14 bits, then the series of (1 - e)^(-1/2) to e^3. */
    const fmo_real y = (fmo_real)_mm512_rsqrt14_pd((__m512d)x);
    const fmo_real e = 1.0 - x * y * y;
    return y + y * (e * (0.5 + e * (0.375 + e * 0.3125)));
#elif FMO_SIMD_WIDTH == 4 && defined(__AVX__)
    /* 11.5 bits, then the series to e^4 */
    const fmo_real y = (fmo_real)_mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps((__m256d)x)));
    const fmo_real e = 1.0 - x * y * y;
    return y + y * (e * (0.5 + e * (0.375 + e * (0.3125 + e * 0.2734375))));
#else
    return fmo_rsqrt(x);
#endif
}

/* Sum of all lanes, in their order. */
FMO_HD double fmo_sum_lanes(fmo_real x)
{
    double sum = x[0];
    for (int l = 1; l < FMO_SIMD_WIDTH; l++) sum += x[l];
    return sum;
}

/* base[index], lane by lane. */
FMO_HD fmo_real fmo_gather(const double *base, fmo_mask index)
{
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__)
    return (fmo_real)_mm512_i64gather_pd((__m512i)index, base, 8);
#elif FMO_SIMD_WIDTH == 4 && defined(__AVX2__)
    return (fmo_real)_mm256_i64gather_pd(base, (__m256i)index, 8);
#else
    fmo_real r;
    for (int l = 0; l < FMO_SIMD_WIDTH; l++) r[l] = base[index[l]];
    return r;
#endif
}

#endif
#endif
