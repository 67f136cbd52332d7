/* fmo_gradient_exchange (eri_gradient.h) for s and p shells, with sp partners, by one thread in
 * registers: angular momenta are constants at compile time, loops are unrolled, and the products of
 * density elements are added at once to the factor of each Hermite integral. */
#ifndef FMO_ERI_GRADIENT_LOW_H
#define FMO_ERI_GRADIENT_LOW_H

#include "integrals/eri/eri_gradient.h"

enum { FMO_GRADIENT_LOW_BLOCK = 16, FMO_GRADIENT_LOW_ORDER_MAX = 4 };

/* A shell as seen from the centre of a pair: distance, unit of its monomials, coefficient of the s
 * partner. */
typedef struct fmo_gradient_low_shell {
    double distance[3], unit, ratio;
    fmo_gradient_functions functions;
} fmo_gradient_low_shell;

/* Number of the product of two monomials or Hermite functions. */
FMO_HD int fmo_gradient_product(int m, int n)
{
    return fmo_slice_at(fmo_slice_power(m, 0) + fmo_slice_power(n, 0),
                        fmo_slice_power(m, 1) + fmo_slice_power(n, 1),
                        fmo_slice_power(m, 2) + fmo_slice_power(n, 2));
}

/* Computes block[rows][columns] of a density in monomials, times `weight`. */
FMO_HD_ONCE void fmo_gradient_low_block(int l, int m, const double *D, size_t nao,
                                        const fmo_gradient_low_shell *a,
                                        const fmo_gradient_low_shell *b, double weight,
                                        double *block)
{
    const int rows = FMO_HERMITE_COUNT(l), columns = FMO_HERMITE_COUNT(m);
    double half_way[FMO_GRADIENT_LOW_BLOCK];
    FMO_GPU_UNROLL
    for (int k = 0; k < columns; k++) {
        const double *const from = D + (m && k ? b->functions.high + k - 1 : b->functions.s);
        const double s = weight * from[(size_t)a->functions.s * nao];
        half_way[k] = l ? a->ratio * s : s;
        FMO_GPU_UNROLL
        for (int x = 0; x < 3; x++) {
            if (!l) continue;
            const double own = weight * from[(size_t)(a->functions.high + x) * nao];
            half_way[k] += a->distance[x] * own;
            half_way[(1 + x) * columns + k] = a->unit * own;
        }
    }
    FMO_GPU_UNROLL
    for (int k = 0; k < rows; k++) {
        const double s = half_way[k * columns];
        block[k * columns] = m ? b->ratio * s : s;
        FMO_GPU_UNROLL
        for (int x = 0; x < 3; x++) {
            if (!m) continue;
            block[k * columns] += b->distance[x] * half_way[k * columns + 1 + x];
            block[k * columns + 1 + x] = b->unit * half_way[k * columns + 1 + x];
        }
    }
}

/* Factors of Hermite integrals: of order up to that of the quartet; those of products in which the
 * square of a bra's or ket's coordinate is replaced by 2p or 2q; and of those with both. */
typedef struct fmo_gradient_low_factors {
    double of[FMO_HERMITE_COUNT(FMO_GRADIENT_LOW_ORDER_MAX)];
    double bra[FMO_HERMITE_COUNT(2)], ket[FMO_HERMITE_COUNT(2)], both;
} fmo_gradient_low_factors;

/* Adds the products of two blocks, first[a][c] second[b][d]. */
FMO_HD_ONCE void fmo_gradient_low_products(int la, int lb, int lc, int ld, const double *first,
                                           const double *second, fmo_gradient_low_factors *to)
{
    const int nc = FMO_HERMITE_COUNT(lc), nd = FMO_HERMITE_COUNT(ld);
    FMO_GPU_UNROLL
    for (int a = 0; a < FMO_HERMITE_COUNT(la); a++) {
        FMO_GPU_UNROLL
        for (int b = 0; b < FMO_HERMITE_COUNT(lb); b++) {
            const int ab = fmo_gradient_product(a, b);
            FMO_GPU_UNROLL
            for (int c = 0; c < nc; c++) {
                FMO_GPU_UNROLL
                for (int d = 0; d < nd; d++) {
                    const int cd = fmo_gradient_product(c, d);
                    const double x = first[a * nc + c], y = second[b * nd + d];
                    to->of[fmo_gradient_product(ab, cd)] += x * y;
                    if (a && a == b) to->bra[cd] += x * y;
                    if (c && c == d) to->ket[ab] += x * y;
                    if (a && a == b && c && c == d) to->both += x * y;
                }
            }
        }
    }
}

/* Adds the derivatives with respect to the distances of a block's two shells: D[row][column] with
 * the integrals contracted with the block of the other two shells. twice: 2p, 2q. */
FMO_HD_ONCE void fmo_gradient_low_distances(int row, int column, int other_row, int other_column,
                                            const double *D, const double *other, const double *r,
                                            const double *twice, double *of_row, double *of_column)
{
    const int rows = FMO_HERMITE_COUNT(row), columns = FMO_HERMITE_COUNT(column);
    const int others = FMO_HERMITE_COUNT(other_column);
    FMO_GPU_UNROLL
    for (int m = 0; m < rows; m++) {
        FMO_GPU_UNROLL
        for (int n = 0; n < columns; n++) {
            if ((m || !row) && (n || !column)) continue;
            double K = 0.0;
            FMO_GPU_UNROLL
            for (int i = 0; i < FMO_HERMITE_COUNT(other_row); i++) {
                FMO_GPU_UNROLL
                for (int j = 0; j < others; j++) {
                    const int mi = fmo_gradient_product(m, i), nj = fmo_gradient_product(n, j);
                    double value = r[fmo_gradient_product(mi, nj)];
                    if (m && m == i) value += twice[0] * r[nj];
                    if (n && n == j) value += twice[1] * r[mi];
                    K += other[i * others + j] * value;
                }
            }
            FMO_GPU_UNROLL
            for (int x = 0; x < 3; x++) {
                if (row && !m) of_row[x] += D[(1 + x) * columns + n] * K;
                if (column && !n) of_column[x] += D[m * columns + 1 + x] * K;
            }
        }
    }
}

/* fmo_gradient_exchange; the angular momenta are 0 or 1. */
FMO_HD_ONCE void fmo_gradient_low_exchange(int la, int lb, int lc, int ld,
                                           const fmo_gradient_quartet *z, double *to)
{
    const int L = la + lb + lc + ld;
    const double p = z->bra.prim.p, q = z->ket.prim.p, rs = fmo_rsqrt(p + q);
    const double twice[2] = {2.0 * p, 2.0 * q}, up = 0.5 / p, uq = -0.5 / q;
    double start[FMO_GRADIENT_LOW_ORDER_MAX + 2], PQ[3], R2 = 0.0;
    double r[FMO_HERMITE_COUNT(FMO_GRADIENT_LOW_ORDER_MAX + 1)];
    fmo_gradient_low_shell a, b, c, d;
    fmo_gradient_low_factors factors;
    fmo_gradient_parts parts;
    memset(&parts, 0, sizeof parts);
    memset(&factors, 0, sizeof factors);
    FMO_GPU_UNROLL
    for (int x = 0; x < 3; x++) {
        a.distance[x] = z->bra.prim.PA[x];
        b.distance[x] = z->bra.prim.PA[x] + z->bra.AB[x];
        c.distance[x] = z->ket.prim.PA[x];
        d.distance[x] = z->ket.prim.PA[x] + z->ket.AB[x];
        PQ[x] = z->AC[x] + (a.distance[x] - c.distance[x]);
        R2 += PQ[x] * PQ[x];
    }
    a.unit = b.unit = up;
    c.unit = d.unit = uq; /* with the sign of the ket's Hermite functions */
    a.ratio = z->bra.prim.ratio[0], b.ratio = z->bra.prim.ratio[1];
    c.ratio = z->ket.prim.ratio[0], d.ratio = z->ket.prim.ratio[1];
    a.functions = z->bra.a, b.functions = z->bra.b;
    c.functions = z->ket.a, d.functions = z->ket.b;
    fmo_gradient_start(z->boys, z->of, L + 1, p * q * (rs * rs), R2,
                       rs * z->bra.prim.k * z->ket.prim.k, start);
    fmo_gradient_integrals(L + 1, start, PQ, r);
    for (int n = 0; n < z->term_num; n++) {
        const double *const D = z->term[n].D, w = z->term[n].weight;
        const size_t nao = (size_t)z->nao;
        double ac[FMO_GRADIENT_LOW_BLOCK], ad[FMO_GRADIENT_LOW_BLOCK];
        double bc[FMO_GRADIENT_LOW_BLOCK], bd[FMO_GRADIENT_LOW_BLOCK];
        fmo_gradient_low_block(la, lc, D, nao, &a, &c, w, ac);
        fmo_gradient_low_block(lb, ld, D, nao, &b, &d, 1.0, bd);
        fmo_gradient_low_products(la, lb, lc, ld, ac, bd, &factors);
        fmo_gradient_low_distances(la, lc, lb, ld, ac, bd, r, twice, parts.of[0], parts.of[2]);
        fmo_gradient_low_distances(lb, ld, la, lc, bd, ac, r, twice, parts.of[1], parts.of[3]);
        fmo_gradient_low_block(la, ld, D, nao, &a, &d, w, ad);
        fmo_gradient_low_block(lb, lc, D, nao, &b, &c, 1.0, bc);
        fmo_gradient_low_products(la, lb, ld, lc, ad, bc, &factors);
        fmo_gradient_low_distances(la, ld, lb, lc, ad, bc, r, twice, parts.of[0], parts.of[3]);
        fmo_gradient_low_distances(lb, lc, la, ld, bc, ad, r, twice, parts.of[1], parts.of[2]);
    }
    FMO_GPU_UNROLL
    for (int n = 0; n < FMO_HERMITE_COUNT(L); n++) {
        double factor = factors.of[n];
        if (la && lb && n < FMO_HERMITE_COUNT(lc + ld)) factor += twice[0] * factors.bra[n];
        if (lc && ld && n < FMO_HERMITE_COUNT(la + lb)) factor += twice[1] * factors.ket[n];
        if (la && lb && lc && ld && n == 0) factor += twice[0] * twice[1] * factors.both;
        parts.energy += factor * r[n];
        FMO_GPU_UNROLL
        for (int x = 0; x < 3; x++) parts.both[x] += factor * r[fmo_gradient_product(n, 1 + x)];
    }
    FMO_GPU_UNROLL
    for (int x = 0; x < 3; x++) {
        parts.of[2][x] = -parts.of[2][x];
        parts.of[3][x] = -parts.of[3][x];
        to[3 + x] += parts.both[x];
    }
    fmo_gradient_first_centre(&z->bra.prim, z->bra.AB, &parts, 0, to);
    fmo_gradient_first_centre(&z->ket.prim, z->ket.AB, &parts, 1, to + 6);
}

#endif
