/* The classes with d shells in slices, for threads that cannot hold a whole quartet: integrals of
 * one function a of the first shell with all functions of the other three, by the rule of
 * eri_rule.h, expanded on the side of the bra first:
 *
 *   h_q = sum_p E^ab_p R_(p+q)     (ab|cd) += sum_q E^cd_q (-1)^q h_q
 *
 * Functions that differ by a turn of the axes x -> y -> z -> x have the same arithmetic on turned
 * coordinates, so that there is one body for xx, yy and zz, and one for xy, yz and xz: slice s is
 * body s / 3 with the axes turned s % 3 times; what is axis k in the body is axis (k + turn) % 3
 * outside. */
#ifndef FMO_ERI_SLICE_H
#define FMO_ERI_SLICE_H

#include "integrals/eri/eri_rule.h"

/* Slices of a first shell, one for each of its functions, and bodies. */
FMO_TABLE_FUNCTION int fmo_slice_bodies(int la)
{
    return (fmo_shell_functions(la) + 2) / 3;
}
/* The function of a body, on the body's axes: x; xx, xy. */
FMO_TABLE_FUNCTION int fmo_slice_function(int body)
{
    return body;
}
FMO_STATIC_ASSERT(FMO_ANG_MOM_MAX <= 2, "eri_slice.h: bodies are those of p and d shells")

/* What function c of the body's axes is outside. */
FMO_TABLE_FUNCTION int fmo_slice_outside(int l, int turn, int c)
{
    const int y = fmo_shell_power(l, c, (4 - turn) % 3), z = fmo_shell_power(l, c, (5 - turn) % 3);
    return (y + z) * (y + z + 1) / 2 + z;
}

/* Adds (ab|cd) of one primitive quartet to v[b][cd]; r is what fmo_rule_coulomb has made. */
FMO_HD void fmo_slice_add(int la, int lb, int lc, int ld, int a, const fmo_prim_quartet *z,
                          const fmo_real *r, fmo_real *v)
{
    const int n = la + lb + lc + ld + 1, K = lc + ld;
    const int kets = FMO_CARTESIAN(lc) * FMO_CARTESIAN(ld);
    fmo_real E[3][FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS];
    fmo_real F[3][FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS];
    const int ax[3] = {fmo_rule_power(la, a, 0), fmo_rule_power(la, a, 1),
                       fmo_rule_power(la, a, 2)};
    FMO_RULE_UNROLL
    for (int x = 0; x < 3; x++) {
        fmo_hermite_expand(ax[x], lb, z->PA[x], z->PA[x] + z->AB[x], z->half_p, E[x]);
        fmo_hermite_expand(lc, ld, z->QC[x], z->QC[x] + z->CD[x], z->half_q, F[x]);
    }
    FMO_RULE_UNROLL
    for (int b = 0; b < FMO_CARTESIAN(lb); b++) {
        const int bx = fmo_rule_power(lb, b, 0), by = fmo_rule_power(lb, b, 1);
        const int bz = fmo_rule_power(lb, b, 2);
        fmo_real h[FMO_HERMITE_COUNT(FMO_PAIR_ORDER_MAX)];
        FMO_RULE_UNROLL
        for (int q = 0; q < FMO_HERMITE_COUNT(K); q++) h[q] = fmo_set(0.0);
        FMO_RULE_UNROLL
        for (int w = 0; w <= ax[2] + bz; w++) {
            FMO_RULE_UNROLL
            for (int u = 0; u <= ax[1] + by; u++) {
                FMO_RULE_UNROLL
                for (int t = 0; t <= ax[0] + bx; t++) {
                    const fmo_real e =
                        E[0][ax[0]][bx][t] * (E[1][ax[1]][by][u] * E[2][ax[2]][bz][w]);
                    int q = 0;
                    FMO_RULE_UNROLL
                    for (int qw = 0; qw <= K; qw++) {
                        FMO_RULE_UNROLL
                        for (int qu = 0; qu <= K - qw; qu++) {
                            FMO_RULE_UNROLL
                            for (int qt = 0; qt <= K - qw - qu; qt++, q++)
                                h[q] += e * r[t + qt + n * (u + qu + n * (w + qw))];
                        }
                    }
                }
            }
        }
        FMO_RULE_UNROLL
        for (int c = 0; c < FMO_CARTESIAN(lc); c++) {
            FMO_RULE_UNROLL
            for (int d = 0; d < FMO_CARTESIAN(ld); d++) {
                const int cx = fmo_rule_power(lc, c, 0), dx = fmo_rule_power(ld, d, 0);
                const int cy = fmo_rule_power(lc, c, 1), dy = fmo_rule_power(ld, d, 1);
                const int cz = fmo_rule_power(lc, c, 2), dz = fmo_rule_power(ld, d, 2);
                fmo_real sum = v[b * kets + c * FMO_CARTESIAN(ld) + d];
                FMO_RULE_UNROLL
                for (int w = 0; w <= cz + dz; w++) {
                    FMO_RULE_UNROLL
                    for (int u = 0; u <= cy + dy; u++) {
                        FMO_RULE_UNROLL
                        for (int t = 0; t <= cx + dx; t++) {
                            const fmo_real e =
                                F[0][cx][dx][t] * (F[1][cy][dy][u] * F[2][cz][dz][w]);
                            const fmo_real term = e * h[FMO_RULE_HERMITE(K, t, u, w)];
                            sum += (t + u + w) % 2 ? -term : term;
                        }
                    }
                }
                v[b * kets + c * FMO_CARTESIAN(ld) + d] = sum;
            }
        }
    }
}

#endif
