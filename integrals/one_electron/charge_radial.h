/* g_n of charge_sums.h for the charges of a vector, shared by charge_sums.c and charge_forces.c. */
#ifndef FMO_CHARGE_RADIAL_H
#define FMO_CHARGE_RADIAL_H

#include "integrals/boys/boys.h"
#include "integrals/one_electron/hermite.h"

FMO_STATIC_ASSERT((int)FMO_HERMITE_GRADIENT_ORDER_MAX <= (int)FMO_BOYS_ORDER_MAX,
                  "charge_radial.h: the table of the Boys function lacks orders")

/* What depends on the exponent p of a product of two primitives alone. */
typedef struct fmo_charge_radial {
    double p, far; /* far: limit of r^2 from which on g_n does not depend on p */
    double scale[FMO_HERMITE_GRADIENT_ORDER_MAX + 1]; /* g_n = scale_n F_n(p r^2) */
} fmo_charge_radial;

/* M: the highest order n, a compile-time constant. */
FMO_HD fmo_charge_radial fmo_charge_radial_of(int M, double p)
{
    fmo_charge_radial to = {p, fmo_boys_far(M) / p, {2.0 * sqrt(p / M_PI)}};
    FMO_UNROLL
    for (int n = 1; n <= M; n++) to.scale[n] = 2.0 * p * to.scale[n - 1];
    return to;
}

FMO_HD int fmo_charge_any_below(fmo_real x, double limit)
{
#if FMO_SIMD_WIDTH == 1
    return x < limit;
#else
    return fmo_any(x < limit);
#endif
}

/* Computes q g_n to order M of charges q at distances with these squares; far away without the Boys
 * function. */
FMO_HD void fmo_charge_g(int M, const fmo_charge_radial *radial, fmo_real q, fmo_real r2,
                         fmo_real *g)
{
    if (fmo_charge_any_below(r2, radial->far)) {
        fmo_real F[FMO_HERMITE_GRADIENT_ORDER_MAX + 1];
        fmo_boys_eval(fmo_boys.row[M][0], radial->p * r2, M, F);
        FMO_UNROLL
        for (int n = 0; n <= M; n++) g[n] = radial->scale[n] * q * F[n];
    } else {
        const fmo_real y = fmo_rsqrt_near_one(r2), y2 = y * y;
        g[0] = q * y;
        FMO_UNROLL
        for (int n = 1; n <= M; n++) g[n] = (2 * n - 1) * y2 * g[n - 1];
    }
}

#endif
