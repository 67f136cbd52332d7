/* Quartets in slices, for threads whose registers cannot hold a whole one: integrals of one
 * function a of the first shell with all functions of the other three, by the recursions of
 * eri_md.h, with the bra expanded first:
 *
 *    h_q = sum_p E^ab_p R_(p+q)     (ab|cd) += sum_q E^cd_q (-1)^q h_q
 *
 * Functions that differ by a cyclic permutation of the axes, x -> y -> z -> x, have the same
 * arithmetic on permuted coordinates, so that one body serves xx, yy and zz, and one xy, yz and xz:
 * slice s is body s / 3 with the axes permuted s % 3 times; axis k of the body is axis (k + turn) %
 * 3 outside. The last slice of an f shell is xyz, which is permuted into itself.
 *
 * Shells go to FMO_SLICE_ANG_MOM_MAX, which a file that includes this one may define; loops have
 * limits that depend on it. */
#ifndef FMO_ERI_SLICE_H
#define FMO_ERI_SLICE_H

#include "integrals/eri/eri_md.h"

#ifndef FMO_SLICE_ANG_MOM_MAX
#define FMO_SLICE_ANG_MOM_MAX FMO_UNROLLED_ANG_MOM_MAX
#endif
/* Sizes for pairs of such shells: their order, and powers and Hermite orders along an axis. */
enum {
    FMO_SLICE_ORDER_MAX = 2 * FMO_SLICE_ANG_MOM_MAX,
    FMO_SLICE_POWERS = FMO_SLICE_ANG_MOM_MAX + 1,
    FMO_SLICE_ORDERS = FMO_SLICE_ORDER_MAX + 1
};
FMO_STATIC_ASSERT((int)FMO_SLICE_ANG_MOM_MAX <= (int)FMO_SLICE_ANG_MOM_LIMIT,
                  "eri_slice.h: bodies are those of p, d and f shells")

/* Number of bodies of a first shell; it has a slice for each of its functions. */
FMO_TABLE_FUNCTION int fmo_slice_bodies(int la)
{
    return (fmo_shell_functions(la) + 2) / 3;
}
/* The function of a body, on the body's axes: x; xx, xy; xxx, xxy, xxz, xyz. */
FMO_TABLE_FUNCTION int fmo_slice_function(int body)
{
    return body < 3 ? body : body + 1;
}

/* Index of (t, u) in a triangle ordered by t + u, and the row, t + u, of an index. */
FMO_HD int fmo_slice_flat(int t, int u)
{
    return (t + u) * (t + u + 1) / 2 + u;
}
FMO_HD int fmo_slice_row(int k)
{
    return (k >= 1) + (k >= 3) + (k >= 6) + (k >= 10) + (k >= 15) + (k >= 21) + (k >= 28) +
           (k >= 36) + (k >= 45) + (k >= 55);
}

/* Number, on the outside axes, of function c on the body's axes. */
FMO_HD int fmo_slice_outside(int l, int turn, int c)
{
    const int y = fmo_md_power(l, c, (4 - turn) % 3), z = fmo_md_power(l, c, (5 - turn) % 3);
    return fmo_slice_flat(y, z);
}

/* Hermite functions and R_tuv are stored by order, those of one order as Cartesian functions
 * (fmo_shell_power): the index of (t, u, v), and the inverse without a loop, so that loops have
 * limits that depend on the class alone and can be unrolled. */
FMO_HD int fmo_slice_at(int t, int u, int v)
{
    return FMO_HERMITE_COUNT(t + u + v - 1) + fmo_slice_flat(u, v);
}
FMO_HD int fmo_slice_order(int k)
{
    return (k >= 1) + (k >= 4) + (k >= 10) + (k >= 20) + (k >= 35) + (k >= 56) + (k >= 84) +
           (k >= 120) + (k >= 165) + (k >= 220);
}
FMO_HD int fmo_slice_power(int k, int axis)
{
    const int order = fmo_slice_order(k), i = k - FMO_HERMITE_COUNT(order - 1);
    const int rest = fmo_slice_row(i);
    const int v = i - fmo_slice_flat(rest, 0);
    return axis == 0 ? order - rest : axis == 1 ? rest - v : v;
}
enum { FMO_SLICE_ORDER_LIMIT = 10 }; /* up to which the three functions above count */
FMO_STATIC_ASSERT((int)FMO_ERI_UNROLLED_ORDER_MAX < (int)FMO_SLICE_ORDER_LIMIT,
                  "eri_slice.h: orders, and those of gradients")

/* Computes R_tuv for t + u + v <= L from start and PQ, as fmo_md_derivatives. */
FMO_HD void fmo_slice_derivatives(int L, const fmo_real *start, const fmo_real *PQ, fmo_real *r)
{
    r[0] = start[L];
    FMO_MD_UNROLL
    for (int m = L - 1; m >= 0; m--) {
        FMO_MD_UNROLL
        for (int k = FMO_HERMITE_COUNT(L) - 1; k > 0; k--) {
            if (fmo_slice_order(k) > L - m) continue;
            const int t = fmo_slice_power(k, 0), u = fmo_slice_power(k, 1);
            const int v = fmo_slice_power(k, 2);
            const int x = t > 0 ? 0 : u > 0 ? 1 : 2, below = (x == 0 ? t : x == 1 ? u : v) - 1;
            fmo_real value = PQ[x] * r[fmo_slice_at(t - (x == 0), u - (x == 1), v - (x == 2))];
            if (below > 0)
                value +=
                    below * r[fmo_slice_at(t - 2 * (x == 0), u - 2 * (x == 1), v - 2 * (x == 2))];
            r[k] = value;
        }
        r[0] = start[m];
    }
}

/* Computes R_tuv of a quartet, as fmo_md_coulomb. */
FMO_HD void fmo_slice_coulomb(int L, const fmo_prim_quartet *z, fmo_real *r)
{
    fmo_real start[FMO_SLICE_ORDER_LIMIT + 1];
    fmo_md_start(L, z, start);
    fmo_slice_derivatives(L, start, z->PQ, r);
}

/* fmo_hermite_expand with loops whose lengths depend on the class alone. */
FMO_HD void fmo_slice_expand(int la, int lb, fmo_real PA, fmo_real PB, fmo_real half,
                             fmo_real E[FMO_SLICE_POWERS][FMO_SLICE_POWERS][FMO_SLICE_ORDERS])
{
    FMO_MD_UNROLL
    for (int i = 0; i <= la; i++) {
        FMO_MD_UNROLL
        for (int j = 0; j <= lb; j++) {
            FMO_MD_UNROLL
            for (int t = 0; t <= la + lb; t++) {
                if (t > i + j) continue;
                fmo_real value = fmo_set(i + j == 0 ? 1.0 : 0.0);
                const int a = j > 0 ? i : i - 1, b = j > 0 ? j - 1 : 0;
                if (i + j > 0 && t > 0) value += half * E[a][b][t - 1];
                if (t < i + j) value += (j > 0 ? PB : PA) * E[a][b][t];
                if (t + 1 < i + j) value += (t + 1) * E[a][b][t + 1];
                E[i][j][t] = value;
            }
        }
    }
}

/* Adds Hermite densities of one primitive pair: rho[q] += sum_ab D[ab] E^ab_q (odd)^q. Orders of
 * functions as in fmo_slice_add. */
FMO_HD void fmo_slice_density(int la, int lb, const fmo_real *PA, const fmo_real *AB, fmo_real half,
                              double odd, const fmo_real *D, fmo_real *rho)
{
    fmo_real E[3][FMO_SLICE_POWERS][FMO_SLICE_POWERS][FMO_SLICE_ORDERS];
    FMO_MD_UNROLL
    for (int x = 0; x < 3; x++) fmo_slice_expand(la, lb, PA[x], PA[x] + AB[x], half, E[x]);
    FMO_MD_UNROLL
    for (int ab = 0; ab < FMO_CARTESIAN(la) * FMO_CARTESIAN(lb); ab++) {
        const int a = ab / FMO_CARTESIAN(lb), b = ab % FMO_CARTESIAN(lb);
        const int ax = fmo_md_power(la, a, 0), bx = fmo_md_power(lb, b, 0);
        const int ay = fmo_md_power(la, a, 1), by = fmo_md_power(lb, b, 1);
        const int az = fmo_md_power(la, a, 2), bz = fmo_md_power(lb, b, 2);
        const int X = ax + bx + 1, Y = ay + by + 1, Z = az + bz + 1;
        FMO_MD_UNROLL
        for (int k = 0; k < FMO_MD_TERMS_OF(la + lb); k++) {
            if (k >= X * Y * Z) continue;
            const int t = k % X, u = k / X % Y, v = k / (X * Y);
            const fmo_real e = E[0][ax][bx][t] * (E[1][ay][by][u] * E[2][az][bz][v]);
            rho[fmo_slice_at(t, u, v)] += ((t + u + v) % 2 ? odd * D[ab] : D[ab]) * e;
        }
    }
}

/* Converts potentials back: J[ab] += factor sum_p E^ab_p V[p]. */
FMO_HD void fmo_slice_potential(int la, int lb, const fmo_real *PA, const fmo_real *AB,
                                fmo_real half, fmo_real factor, const fmo_real *V, fmo_real *J)
{
    fmo_real E[3][FMO_SLICE_POWERS][FMO_SLICE_POWERS][FMO_SLICE_ORDERS];
    FMO_MD_UNROLL
    for (int x = 0; x < 3; x++) fmo_slice_expand(la, lb, PA[x], PA[x] + AB[x], half, E[x]);
    FMO_MD_UNROLL
    for (int ab = 0; ab < FMO_CARTESIAN(la) * FMO_CARTESIAN(lb); ab++) {
        const int a = ab / FMO_CARTESIAN(lb), b = ab % FMO_CARTESIAN(lb);
        const int ax = fmo_md_power(la, a, 0), bx = fmo_md_power(lb, b, 0);
        const int ay = fmo_md_power(la, a, 1), by = fmo_md_power(lb, b, 1);
        const int az = fmo_md_power(la, a, 2), bz = fmo_md_power(lb, b, 2);
        const int X = ax + bx + 1, Y = ay + by + 1, Z = az + bz + 1;
        fmo_real sum = fmo_set(0.0);
        FMO_MD_UNROLL
        for (int k = 0; k < FMO_MD_TERMS_OF(la + lb); k++) {
            if (k >= X * Y * Z) continue;
            const int t = k % X, u = k / X % Y, v = k / (X * Y);
            const fmo_real e = E[0][ax][bx][t] * (E[1][ay][by][u] * E[2][az][bz][v]);
            sum += e * V[fmo_slice_at(t, u, v)];
        }
        J[ab] += factor * sum;
    }
}

/* v[cd] += sum_q E^cd_q (-1)^q h_q, one axis after another, which takes fewer operations than the
 * products of all three expansions. F[x][c][d] expands powers c and d along axis x. */
FMO_HD void fmo_slice_ket(int lc, int ld,
                          fmo_real F[3][FMO_SLICE_POWERS][FMO_SLICE_POWERS][FMO_SLICE_ORDERS],
                          const fmo_real *h, fmo_real *v, int stride)
{
    FMO_MD_UNROLL
    for (int z = 0; z < (lc + 1) * (ld + 1); z++) {
        const int cz = z / (ld + 1), dz = z % (ld + 1);
        fmo_real flat[FMO_CARTESIAN(FMO_SLICE_ORDER_MAX)];
        FMO_MD_UNROLL
        for (int k = 0; k < FMO_CARTESIAN(lc + ld); k++) {
            const int tu = fmo_slice_row(k), u = k - fmo_slice_flat(tu, 0), t = tu - u;
            if (tu > lc + ld - cz - dz) continue;
            fmo_real sum = fmo_set(0.0);
            FMO_MD_UNROLL
            for (int w = 0; w <= lc + ld; w++) {
                if (w > cz + dz) continue;
                const fmo_real term = F[2][cz][dz][w] * h[fmo_slice_at(t, u, w)];
                sum += (tu + w) % 2 ? -term : term;
            }
            flat[k] = sum;
        }
        FMO_MD_UNROLL
        for (int y = 0; y < (lc + 1) * (ld + 1); y++) {
            const int cy = y / (ld + 1), dy = y % (ld + 1);
            const int cx = lc - cz - cy, dx = ld - dz - dy;
            if (cx < 0 || dx < 0) continue;
            const int c = fmo_slice_flat(cy, cz), d = fmo_slice_flat(dy, dz);
            const int at = (c * FMO_CARTESIAN(ld) + d) * stride;
            fmo_real sum = v[at];
            FMO_MD_UNROLL
            for (int t = 0; t <= lc + ld; t++) {
                if (t > cx + dx) continue;
                fmo_real line = fmo_set(0.0);
                FMO_MD_UNROLL
                for (int u = 0; u <= lc + ld; u++)
                    if (u <= cy + dy && t + u <= lc + ld)
                        line += F[1][cy][dy][u] * flat[fmo_slice_flat(t, u)];
                sum += F[0][cx][dx][t] * line;
            }
            v[at] = sum;
        }
    }
}

/* Adds (ab|cd) of one primitive quartet to v[b][cd], with elements `stride` apart, for `bs`
 * functions b from `first` on; r is computed by fmo_slice_coulomb. */
FMO_HD void fmo_slice_add(int la, int lb, int lc, int ld, int a, int first, int bs,
                          const fmo_prim_quartet *z, const fmo_real *r, fmo_real *v, int stride)
{
    const int K = lc + ld, kets = FMO_CARTESIAN(lc) * FMO_CARTESIAN(ld);
    fmo_real E[3][FMO_SLICE_POWERS][FMO_SLICE_POWERS][FMO_SLICE_ORDERS];
    fmo_real F[3][FMO_SLICE_POWERS][FMO_SLICE_POWERS][FMO_SLICE_ORDERS];
    const int ax = fmo_md_power(la, a, 0), ay = fmo_md_power(la, a, 1);
    const int az = fmo_md_power(la, a, 2);
    FMO_MD_UNROLL
    for (int x = 0; x < 3; x++) {
        fmo_slice_expand(la, lb, z->PA[x], z->PA[x] + z->AB[x], z->half_p, E[x]);
        fmo_slice_expand(lc, ld, z->QC[x], z->QC[x] + z->CD[x], z->half_q, F[x]);
    }
    FMO_MD_UNROLL
    for (int b = 0; b < bs; b++) {
        const int bx = fmo_md_power(lb, first + b, 0), by = fmo_md_power(lb, first + b, 1);
        const int bz = fmo_md_power(lb, first + b, 2);
        const int X = ax + bx + 1, Y = ay + by + 1, Z = az + bz + 1;
        fmo_real h[FMO_HERMITE_COUNT(FMO_SLICE_ORDER_MAX)];
        FMO_MD_UNROLL
        for (int q = 0; q < FMO_HERMITE_COUNT(K); q++) h[q] = fmo_set(0.0);
        FMO_MD_UNROLL
        for (int k = 0; k < FMO_MD_TERMS_OF(la + lb); k++) {
            if (k >= X * Y * Z) continue;
            const int t = k % X, u = k / X % Y, w = k / (X * Y);
            const fmo_real e = E[0][ax][bx][t] * (E[1][ay][by][u] * E[2][az][bz][w]);
            FMO_MD_UNROLL
            for (int q = 0; q < FMO_HERMITE_COUNT(K); q++)
                h[q] += e * r[fmo_slice_at(t + fmo_slice_power(q, 0), u + fmo_slice_power(q, 1),
                                           w + fmo_slice_power(q, 2))];
        }
        fmo_slice_ket(lc, ld, F, h, v + b * kets * stride, stride);
    }
}

#endif
