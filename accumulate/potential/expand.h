/* Conversions shared by host and GPU: from a density over functions to Hermite densities at the
 * points of products, and (GPU only; the host uses products.h) from potentials at points back. A
 * product has a block for each pair of angular momenta that use it; blocks are stored
 * consecutively, fmo_blocks_place gives their offsets. Equations: docs/explanation/one-electron.md,
 * "Potentials of distributions". */
#ifndef FMO_POTENTIAL_EXPAND_H
#define FMO_POTENTIAL_EXPAND_H

#include "integrals/one_electron/products.h"

/* Offset of the block of angular momenta i and j, for a product with up to la (any) and lb. */
FMO_TABLE_FUNCTION int fmo_blocks_place(int i, int j, int lb)
{
    return FMO_HERMITE_COUNT(i - 1) * FMO_HERMITE_COUNT(lb) +
           FMO_CARTESIAN(i) * FMO_HERMITE_COUNT(j - 1);
}
FMO_TABLE_FUNCTION int fmo_blocks_size(int la, int lb)
{
    return FMO_HERMITE_COUNT(la) * FMO_HERMITE_COUNT(lb);
}
enum {
    FMO_BLOCKS_MAX =
        FMO_HERMITE_COUNT(FMO_TARGET_ANG_MOM_MAX) * FMO_HERMITE_COUNT(FMO_TARGET_ANG_MOM_MAX)
};

/* The norm of a Hermite function t, u, v of exponent p: the square root of its Coulomb
 * self-interaction. */
FMO_HD double fmo_point_norm(int t, int u, int v, double p)
{
    const double pi = 3.14159265358979323846;
    const int k = t + u + v;
    double square = sqrt(2.0 * p / pi) / (2 * k + 1);
    for (int i = 0; i < k; i++) square *= p;
    for (int i = 3; i < 2 * t; i += 2) square *= i; /* (2t-1)!! */
    for (int i = 3; i < 2 * u; i += 2) square *= i;
    for (int i = 3; i < 2 * v; i += 2) square *= i;
    return sqrt(square);
}

/* From the density of two centres, block[function of A][function of B], `columns` to a row, to the
 * blocks of one of their products, including the contraction coefficients of its shells. */
FMO_HD void fmo_blocks_collect(const fmo_centre_use *use, const fmo_centre_prim *a,
                               const fmo_centre_prim *b, int columns, const double *block,
                               double *d)
{
    for (int k = 0; k < fmo_blocks_size(a->ang_mom, b->ang_mom); k++) d[k] = 0.0;
    for (int i = a->use_begin; i < a->use_end; i++) {
        const fmo_centre_use *const A = &use[i];
        for (int j = b->use_begin; j < b->use_end; j++) {
            const fmo_centre_use *const B = &use[j];
            const int na = FMO_CARTESIAN(A->ang_mom), nb = FMO_CARTESIAN(B->ang_mom);
            const double c = A->coefficient * B->coefficient;
            double *const to = d + fmo_blocks_place(A->ang_mom, B->ang_mom, b->ang_mom);
            for (int m = 0; m < na; m++)
                for (int n = 0; n < nb; n++)
                    to[m * nb + n] += c * block[(A->function + m) * columns + B->function + n];
        }
    }
}

/* H_tuv += scale sum_ab d_ab E E E; la, lb: angular momenta of the product, compile-time constants.
 */
FMO_HD void fmo_blocks_expand(int la, int lb, const fmo_product *z, const double *d, double *H)
{
    fmo_hermite_1d E[3];
    FMO_UNROLL
    for (int x = 0; x < 3; x++) fmo_hermite_expand(la, lb, z->PA[x], z->PB[x], z->half, E[x]);
    for (int i = 0; i <= la; i++) {
        for (int j = 0; j <= lb; j++) {
            const double *const from = d + fmo_blocks_place(i, j, lb);
            if (!(z->kinds_a >> i & 1) || !(z->kinds_b >> j & 1)) continue;
            for (int ab = 0; ab < FMO_CARTESIAN(i) * FMO_CARTESIAN(j); ab++) {
                const int a = ab / FMO_CARTESIAN(j), b = ab % FMO_CARTESIAN(j);
                const int ax = fmo_hermite_power(i, a, 0), bx = fmo_hermite_power(j, b, 0);
                const int ay = fmo_hermite_power(i, a, 1), by = fmo_hermite_power(j, b, 1);
                const int az = fmo_hermite_power(i, a, 2), bz = fmo_hermite_power(j, b, 2);
                const double part = z->scale * from[ab];
                for (int t = 0; t <= ax + bx; t++)
                    for (int u = 0; u <= ay + by; u++)
                        for (int v = 0; v <= az + bz; v++)
                            H[fmo_hermite_index(t, u, v)] +=
                                part * E[0][ax][bx][t] * E[1][ay][by][u] * E[2][az][bz][v];
            }
        }
    }
}

/* d = scale sum_tuv E E E R_tuv: the blocks of a product from the potential at its point. */
FMO_HD void fmo_blocks_potential(int la, int lb, const fmo_product *z, const double *R, double *d)
{
    fmo_hermite_1d E[3];
    FMO_UNROLL
    for (int x = 0; x < 3; x++) fmo_hermite_expand(la, lb, z->PA[x], z->PB[x], z->half, E[x]);
    FMO_UNROLL
    for (int i = 0; i <= la; i++) {
        FMO_UNROLL
        for (int j = 0; j <= lb; j++)
            if ((z->kinds_a >> i & 1) && (z->kinds_b >> j & 1))
                fmo_hermite_block(i, j, z->scale, E, R, d + fmo_blocks_place(i, j, lb));
    }
}

#endif
