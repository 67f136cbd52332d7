/* Expansion of products of two primitives in Hermite Gaussians, for code that converts densities
 * and potentials between them (coulomb_hermite.inc, far_kernel.c, far_plan.c). */
#ifndef FMO_CPU_HERMITE_TERMS_H
#define FMO_CPU_HERMITE_TERMS_H

#include "integrals/eri/eri_any.h"
#include "integrals/one_electron/hermite.h"

/* Expansion coefficients E of a primitive pair in x, y and z (fmo_hermite_expand). */
typedef fmo_real fmo_hermite_product[3][FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS];

/* Loops over all products (a, b) and their Hermite functions k: body(ab, k, E_k). */
#define FMO_HERMITE_TERMS(la, lb, E, body)                                         \
    FMO_UNROLL                                                                     \
    for (int a = 0; a < FMO_CARTESIAN(la); a++) {                                  \
        FMO_UNROLL                                                                 \
        for (int b = 0; b < FMO_CARTESIAN(lb); b++) {                              \
            const int ax = fmo_md_power(la, a, 0), bx = fmo_md_power(lb, b, 0);    \
            const int ay = fmo_md_power(la, a, 1), by = fmo_md_power(lb, b, 1);    \
            const int az = fmo_md_power(la, a, 2), bz = fmo_md_power(lb, b, 2);    \
            FMO_UNROLL                                                             \
            for (int v = 0; v <= az + bz; v++) {                                   \
                FMO_UNROLL                                                         \
                for (int u = 0; u <= ay + by; u++) {                               \
                    const fmo_real yz = E[1][ay][by][u] * E[2][az][bz][v];         \
                    FMO_UNROLL                                                     \
                    for (int t = 0; t <= ax + bx; t++)                             \
                        body(a *FMO_CARTESIAN(lb) + b, fmo_hermite_index(t, u, v), \
                             E[0][ax][bx][t] * yz)                                 \
                }                                                                  \
            }                                                                      \
        }                                                                          \
    }

#endif
