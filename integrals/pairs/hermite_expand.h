/* Hermite expansion of the product of two Gaussians in one dimension, after McMurchie and Davidson,
 * J. Comput. Phys. 26, 218 (1978); docs/explanation/theory.md. Used by the McMurchie-Davidson
 * two-electron integrals, their bounds, and one-electron integrals. */
#ifndef FMO_HERMITE_EXPAND_H
#define FMO_HERMITE_EXPAND_H

#include "integrals/real.h"
#include "integrals/tables.h"

enum {
    FMO_HERMITE_POWERS = FMO_TARGET_ANG_MOM_MAX + 1,
    FMO_HERMITE_ORDERS = FMO_TARGET_PAIR_ORDER_MAX + 1
};

/* Computes E[i][j][t], t <= i + j, of x_A^i x_B^j for i <= la, j <= lb, with half = 1/2p:
 * E^(i,j+1)_t = half E^(ij)_(t-1) + PB E^(ij)_t + (t+1) E^(ij)_(t+1), and with PA for i. E is an
 * array [powers][powers][2 powers - 1]; la and lb are below powers, a constant. */
FMO_HD void fmo_hermite_expand_in(int powers, int la, int lb, fmo_real PA, fmo_real PB,
                                  fmo_real half, fmo_real *E)
{
    const int orders = 2 * powers - 1, row = powers * orders;
    E[0] = fmo_set(1.0);
    FMO_UNROLL
    for (int i = 0; i <= la; i++) {
        FMO_UNROLL
        for (int j = 0; j <= lb; j++) {
            if (i + j == 0) continue;
            fmo_real *const to = E + i * row + j * orders;
            const fmo_real *const from = j > 0 ? to - orders : to - row;
            const fmo_real shift = j > 0 ? PB : PA;
            FMO_UNROLL
            for (int t = 0; t <= i + j; t++) {
                fmo_real value = fmo_set(0.0);
                if (t > 0) value += half * from[t - 1];
                if (t < i + j) value += shift * from[t];
                if (t + 1 < i + j) value += (t + 1) * from[t + 1];
                to[t] = value;
            }
        }
    }
}

/* The same in an array that is large enough for all shells. */
FMO_HD void
fmo_hermite_expand(int la, int lb, fmo_real PA, fmo_real PB, fmo_real half,
                   fmo_real E[FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS])
{
    fmo_hermite_expand_in(FMO_HERMITE_POWERS, la, lb, PA, PB, half, E[0][0]);
}

#endif
