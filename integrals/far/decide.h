/* Decides whether a quartet is far (well separated), from a few floats of each pair, in screening
 * (accumulate/gpu/screen.cuh), on host and device. Errors and their derivation:
 * docs/explanation/far-field.md, "Far quartets". */
#ifndef FMO_FAR_DECIDE_H
#define FMO_FAR_DECIDE_H

#include <string.h>

#include "integrals/far/errors.h"

FMO_HD unsigned fmo_far_bits(float value)
{
#ifdef __CUDA_ARCH__
    return __float_as_uint(value);
#else
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
#endif
}
FMO_HD float fmo_far_of_bits(unsigned bits)
{
#ifdef __CUDA_ARCH__
    return __uint_as_float(bits);
#else
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
#endif
}

/* Binary logarithm, to six digits on a GPU. */
FMO_HD float fmo_far_log2(float x)
{
#ifdef __CUDA_ARCH__
    float log;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log) : "f"(x));
    return log;
#else
    return log2f(x);
#endif
}
FMO_HD float fmo_far_rsqrt(float x)
{
#ifdef __CUDA_ARCH__
    float root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    return 1.0f / sqrtf(x);
#endif
}

/* Degree of cancellation between the primitives of a pair: the error by neglecting overlap scales
 * with each primitive's own bound, and these may add up to many times the bound of the pair. Up to
 * FMO_FAR_CANCELS times it this counts as none (0), so that published basis sets need no larger
 * distances; beyond, it is the binary logarithm of the ratio, rounded up, at most
 * FMO_FAR_CANCELLED. prim_bounds: sum of the primitives' bounds. */
#define FMO_FAR_CANCELS 4.0
enum { FMO_FAR_CANCELLED = 63 };

FMO_HD int fmo_far_cancellation(double prim_bounds, double bound)
{
    if (prim_bounds <= FMO_FAR_CANCELS * bound) return 0;
    const double log = ceil(log2(prim_bounds / bound));
    return log < FMO_FAR_CANCELLED ? (int)log : FMO_FAR_CANCELLED; /* also for NaN */
}

/* Encodes a pair's extent in one float: the largest 1/p of its primitives, rounded up; in its last
 * three bits the choice of quadrature points that is exact for the pair, or FMO_FAR_CHOICES; and
 * for pairs that cancel, marked by the sign bit, fmo_far_cancellation in the six bits above these.
 */
FMO_HD float fmo_far_extent(float spread, int cap, int cancellation)
{
    if (!cancellation)
        return fmo_far_of_bits((fmo_far_bits(spread) + 8u) / 8u * 8u | (unsigned)cap);
    /* cancellation of 19 digits leaves only noise: such a pair is never far */
    const float size = cancellation < FMO_FAR_CANCELLED ? spread : 1e30f;
    return fmo_far_of_bits(0x80000000u | (fmo_far_bits(size) + 512u) / 512u * 512u |
                           (unsigned)cancellation << 3 | (unsigned)cap);
}
FMO_HD int fmo_far_cap(float extent)
{
    return (int)(fmo_far_bits(extent) % 8u);
}
/* The cancellation as a float, without an integer conversion. */
FMO_HD float fmo_far_cancelled(float extent)
{
    const unsigned bits = fmo_far_bits(extent);
    const float whole = fmo_far_of_bits(0x4b000000u | (bits >> 3 & 63u)) - 8388608.0f; /* 2^23 */
    return bits >> 31 ? whole : 0.0f;
}

/* The middle of the centres of a pair's primitives, and their largest distance from it, in bohr. */
typedef struct fmo_far_sphere {
    float x, y, z, half;
} fmo_far_sphere;

/* The data of a pair from which the decision is made. */
typedef struct fmo_far_reach {
    fmo_far_sphere sphere;
    float extent;
    fmo_far_fit fit;
} fmo_far_reach;

#define FMO_FAR_LOG_10 3.3219281f
#define FMO_FAR_LN_2   0.69314718f

/* Decides whether a quartet is far. If so, returns the choices of quadrature points for its pairs,
 * FMO_FAR_CHOICES bra + ket, and in *gap the distance of their segments; otherwise -1. log_size is
 * the binary logarithm of the quartet's bound times its density factor over the cutoff. With T from
 * FMO_FAR_T on, the error of an element of X^J by neglecting overlap is below a twentieth of the
 * cutoff (below a sixth if primitives cancel by up to FMO_FAR_CANCELS), and that by the quadrature
 * of each pair is estimated at a quarter of it, more than four times the actual error; errors of
 * X^K are four times those (docs/explanation/far-field.md). bra_cancelled: fmo_far_cancelled of the
 * bra, computed once for many kets. */
FMO_HD int fmo_far_decide_by(fmo_far_reach bra, float bra_cancelled, fmo_far_reach ket,
                             float log_size, float *gap)
{
    const float x = bra.sphere.x - ket.sphere.x, y = bra.sphere.y - ket.sphere.y;
    const float z = bra.sphere.z - ket.sphere.z;
    /* not 0, but far below the extents of the steepest pairs, 5e-13 */
    const float R2 = fmaxf(x * x + y * y + z * z, 1e-30f), root = fmo_far_rsqrt(R2);
    /* Explicit fmaf, because compilers differ in contraction and the decision must be reproducible.
     */
    const float to_ket = fmaf(R2, root, -ket.sphere.half);
    const float to_bra = fmaf(R2, root, -bra.sphere.half);
    *gap = to_ket - bra.sphere.half;
    const float log_prims = log_size + bra_cancelled + fmo_far_cancelled(ket.extent);
    const float overlap =
        ((float)FMO_FAR_T + FMO_FAR_LN_2 * log_prims) * (fabsf(bra.extent) + fabsf(ket.extent));
    const float log_tolerance = fmaxf(0.0f, 0.5f * fmo_far_log2(R2) - FMO_FAR_LOG_10) - log_size;
    const int bra_needs =
        fmo_far_nodes_needed(bra.fit.log_rho - fmo_far_log2(to_ket), log_tolerance - bra.fit.log_A);
    const int ket_needs =
        fmo_far_nodes_needed(ket.fit.log_rho - fmo_far_log2(to_bra), log_tolerance - ket.fit.log_A);
    const int bra_cap = fmo_far_cap(bra.extent), ket_cap = fmo_far_cap(ket.extent);
    const int bra_nodes = bra_needs < bra_cap ? bra_needs : bra_cap;
    const int ket_nodes = ket_needs < ket_cap ? ket_needs : ket_cap;
    const int most = bra_nodes > ket_nodes ? bra_nodes : ket_nodes;
    const int far = *gap >= fmaxf(bra.sphere.half, ket.sphere.half) && *gap * *gap >= overlap &&
                    most < FMO_FAR_CHOICES;
    return far ? FMO_FAR_CHOICES * bra_nodes + ket_nodes : -1;
}
FMO_HD int fmo_far_decide(fmo_far_reach bra, fmo_far_reach ket, float log_size, float *gap)
{
    return fmo_far_decide_by(bra, fmo_far_cancelled(bra.extent), ket, log_size, gap);
}

/* Largest moments of order 0, 1 and 2 of a product of a pair (fmo_far_largest) over its Schwarz
 * bound. fmo_far_share_left bounds the integrals of a far quartet by this share of the product of
 * the Schwarz bounds. */
typedef struct fmo_far_share {
    float x, y, z;
} fmo_far_share;

FMO_HD float fmo_far_share_left(fmo_far_share bra, fmo_far_share ket, float gap)
{
    const float u = fmo_far_quotient(1.0f, gap);
    const float sum4 = 24.0f * bra.z * ket.z, sum3 = 6.0f * bra.y * ket.z + 6.0f * bra.z * ket.y;
    const float sum2 = 2.0f * bra.x * ket.z + 2.0f * bra.y * ket.y + 2.0f * bra.z * ket.x;
    const float sum1 = bra.x * ket.y + bra.y * ket.x, sum0 = bra.x * ket.x;
    return 1.00001f * u * (sum0 + u * (sum1 + u * (sum2 + u * (sum3 + u * sum4))));
}

#endif
