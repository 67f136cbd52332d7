/* Is a quartet far? The rule that screening goes by (accumulate/gpu/screen.cuh), host and device,
 * from a few floats of each pair. Errors and what they rest on: docs/explanation/far-field.md, "Far
 * quartets". */
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

/* To six digits on a GPU. */
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

/* How far the primitives of a pair cancel: what overlap leaves out goes by each primitive's own
 * bound, and these may add up to many times the bound of the pair. Up to FMO_FAR_CANCELS times it
 * counts as none, so that sets as they are published are not asked to pay for others; beyond, this
 * is the binary logarithm, rounded up, at most FMO_FAR_CANCELLED. prim_bounds: their sum. */
#define FMO_FAR_CANCELS 4.0
enum { FMO_FAR_CANCELLED = 63 };

FMO_HD int fmo_far_cancellation(double prim_bounds, double bound)
{
    if (prim_bounds <= FMO_FAR_CANCELS * bound) return 0;
    const double log = ceil(log2(prim_bounds / bound));
    return log < FMO_FAR_CANCELLED ? (int)log : FMO_FAR_CANCELLED; /* NaN: the most */
}

/* A pair's extent, in one word: the largest 1/p of its primitives, as a number, rounded up; in its
 * last three bits the choice of nodes that is exact for the pair, or FMO_FAR_CHOICES; and of pairs
 * that cancel, which have the sign bit set, fmo_far_cancellation in six bits above these. */
FMO_HD float fmo_far_extent(float spread, int cap, int cancellation)
{
    if (!cancellation)
        return fmo_far_of_bits((fmo_far_bits(spread) + 8u) / 8u * 8u | (unsigned)cap);
    /* what cancels to 19 digits is noise: never far */
    const float size = cancellation < FMO_FAR_CANCELLED ? spread : 1e30f;
    return fmo_far_of_bits(0x80000000u | (fmo_far_bits(size) + 512u) / 512u * 512u |
                           (unsigned)cancellation << 3 | (unsigned)cap);
}
FMO_HD int fmo_far_cap(float extent)
{
    return (int)(fmo_far_bits(extent) % 8u);
}
/* The cancellation, as a float without a conversion. */
FMO_HD float fmo_far_cancelled(float extent)
{
    const unsigned bits = fmo_far_bits(extent);
    const float whole = fmo_far_of_bits(0x4b000000u | (bits >> 3 & 63u)) - 8388608.0f; /* 2^23 */
    return bits >> 31 ? whole : 0.0f;
}

/* The middle of a pair's primitives' centres, and how far they are from it. */
typedef struct fmo_far_sphere {
    float x, y, z, half;
} fmo_far_sphere;

/* What the decision takes of a pair. */
typedef struct fmo_far_reach {
    fmo_far_sphere sphere;
    float extent;
    fmo_far_fit fit;
} fmo_far_reach;

#define FMO_FAR_LOG_10 3.3219281f
#define FMO_FAR_LN_2   0.69314718f

/* Is a quartet far? Then the choices of nodes that its pairs need, FMO_FAR_CHOICES bra + ket, and
 * how far separation their segments are; else -1. log_size is the binary logarithm of its bound
 * times its density factor over the cutoff. What far.h leaves out of an element of X^J is, with T
 * from FMO_FAR_T on, below a twentieth of the cutoff for overlap (where primitives cancel by up to
 * FMO_FAR_CANCELS, below a sixth), and estimated at a quarter of it for each pair's nodes, which is
 * more than four times what they do leave out; of X^K four times that
 * (docs/explanation/far-field.md). bra_cancelled: fmo_far_cancelled, once for many kets. */
FMO_HD int fmo_far_decide_by(fmo_far_reach bra, float bra_cancelled, fmo_far_reach ket,
                             float log_size, float *gap)
{
    const float x = bra.sphere.x - ket.sphere.x, y = bra.sphere.y - ket.sphere.y;
    const float z = bra.sphere.z - ket.sphere.z;
    /* not 0, and far below the extents of the steepest pairs, 5e-13 */
    const float R2 = fmaxf(x * x + y * y + z * z, 1e-30f), root = fmo_far_rsqrt(R2);
    /* written out: compilers do not agree on what they contract, and bits go by it */
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

/* At most this part of the Schwarz bounds is left of an integral of a far quartet, from the largest
 * moments of order 0, 1 and 2 of a product of each pair (fmo_far_largest), over its bound. */
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
