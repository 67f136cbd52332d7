/* One-dimensional overlap and kinetic energy integrals of a product of two primitives, by the
 * recursions of Obara and Saika (1986); docs/explanation/one-electron.md. */
#ifndef FMO_MOMENTS_1D_H
#define FMO_MOMENTS_1D_H

#include "integrals/one_electron/products.h"

/* One-dimensional integrals by the powers of x, y or z at A and at B, with one power more than
 * functions have for derivatives. */
typedef double fmo_table_1d[FMO_SHELL_KIND_COUNT + 1][FMO_SHELL_KIND_COUNT + 1];

/* Overlaps without the factor sqrt(pi/p). Raises the power at B if it is above 0, else the power at
 * A. */
FMO_HD void fmo_overlap_1d(int la, int lb, const fmo_product *z, int x, fmo_table_1d s)
{
    s[0][0] = 1.0;
    FMO_UNROLL
    for (int i = 0; i <= la; i++) {
        FMO_UNROLL
        for (int j = 0; j <= lb; j++) {
            if (j > 0) {
                s[i][j] = z->PB[x] * s[i][j - 1];
                if (i > 0) s[i][j] += z->half * i * s[i - 1][j - 1];
                if (j > 1) s[i][j] += z->half * (j - 1) * s[i][j - 2];
            } else if (i > 0) {
                s[i][0] = z->PA[x] * s[i - 1][0];
                if (i > 1) s[i][0] += z->half * (i - 1) * s[i - 2][0];
            }
        }
    }
}

/* Integrals of -1/2 d^2/dx^2 by the same recursion, from the overlaps s. Every term has the factor
 * ab/p, so that nothing cancels between a tight and a diffuse function. */
FMO_HD void fmo_kinetic_1d(int la, int lb, const fmo_product *z, int x, fmo_table_1d s,
                           fmo_table_1d t)
{
    const double reduced = z->a * z->b / z->p, AB = z->PB[x] - z->PA[x];
    t[0][0] = reduced * (1.0 - 2.0 * reduced * AB * AB);
    FMO_UNROLL
    for (int i = 0; i <= la; i++) {
        FMO_UNROLL
        for (int j = 0; j <= lb; j++) {
            if (j > 0) {
                t[i][j] = z->PB[x] * t[i][j - 1];
                if (i > 0) t[i][j] += z->half * i * t[i - 1][j - 1];
                if (j > 1) t[i][j] += (j - 1) * (z->half * t[i][j - 2] - z->a / z->p * s[i][j - 2]);
            } else if (i > 0) {
                t[i][0] = z->PA[x] * t[i - 1][0];
                if (i > 1) t[i][0] += (i - 1) * (z->half * t[i - 2][0] - z->b / z->p * s[i - 2][0]);
            }
            if (i + j > 0) t[i][j] += 2.0 * reduced * s[i][j];
        }
    }
}

#endif
