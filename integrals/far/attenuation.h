/* How fast integrals of erfc(omega r)/r decay with distance, unlike their Schwarz bounds, which are
 * those of 1/r. Host and device; derivation in docs/explanation/screening.md, "Erfc". */
#ifndef FMO_FAR_ATTENUATION_H
#define FMO_FAR_ATTENUATION_H

#include <fmo/operator.h>
#include "integrals/real.h"

/* Returns 1/omega^2, the square of its range, if the operator is erfc(omega r)/r times a number;
 * else infinity. */
FMO_HD float fmo_attenuation_range(fmo_operator op)
{
    return op.long_range != 0.0 && op.full + op.long_range == 0.0
               ? (float)(1.0 / (op.omega * op.omega))
               : INFINITY;
}

/* What the bound needs of a pair: a sphere that contains its primitives' centres, their largest
 * 1/p, and the sum of its angular momenta; bohr. */
typedef struct fmo_attenuation_side {
    float x, y, z, radius, spread;
    int order;
} fmo_attenuation_side;

/* Returns log2(x) or up to 0.09 more, for normal numbers: a chord instead of the logarithm between
 * powers of 2. */
FMO_HD float fmo_attenuation_log2(float x)
{
    int bits;
    memcpy(&bits, &x, sizeof bits);
    return (float)bits * 0x1p-23f - 126.9138f;
}

/* Binary logarithm of the factor by which the tilt lambda increases the norm of a product, beyond
 * that of an s product. */
FMO_HD float fmo_attenuation_of_order(fmo_attenuation_side side, float lambda)
{
    const float y = lambda * sqrtf(0.5f * side.spread);
    return side.order ? fmo_attenuation_log2(1.0f + 2.45f * y) +
                            (float)(side.order - 1) * fmo_attenuation_log2(1.0f + 1.61f * y)
                      : 0.0f;
}

/* Returns the binary logarithm, 0 or less, of the factor by which an integral is smaller than the
 * product of the sums of its primitives' Schwarz bounds. range: that of the operator. */
FMO_HD float fmo_attenuation(fmo_attenuation_side bra, fmo_attenuation_side ket, float range)
{
    const float x = bra.x - ket.x, y = bra.y - ket.y, z = bra.z - ket.z;
    const float gap = sqrtf(x * x + y * y + z * z) - bra.radius - ket.radius;
    if (!(gap > 0.0f)) return 0.0f;
    const float width = range + bra.spread + ket.spread, lambda = 2.0f * gap / width;
    const float log = fmo_attenuation_of_order(bra, lambda) +
                      fmo_attenuation_of_order(ket, lambda) - 0.5f / 0.69314718f * gap * lambda;
    return log < 0.0f ? log : 0.0f;
}

#endif
