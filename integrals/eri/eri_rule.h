/* The classes with d shells (FMO_ERI_RULE_TABLE) by one rule. Hermite integrals of a primitive
 * quartet (McMurchie and Davidson, J. Comput. Phys. 26, 218 (1978)) are contracted into (es|fs),
 * e from l_i to l_i + l_j and f likewise, and the horizontal recursion of contracted integrals does
 * the rest (Head-Gordon and Pople, J. Chem. Phys. 89, 5777 (1988)). For s and p shells the rule
 * gives what eri_psss.h and its like do by hand (tests/integrals_rule.c).
 *
 *   R_tuv        Hermite integrals between the two products, to order L
 *   H(p|f)       = sum_q E^f_q (-1)^q R_(p+q)     p: Hermite functions of the bra
 *   (es|fs)     += sum_p E^e_p H(p|f)             Hermite expansions of x_A^i y_A^j z_A^k
 *
 * Loops over Hermite functions of the bra, and over columns, stay loops: their bodies, some 200
 * multiplications and additions for (dd|dd), are unrolled. */
#ifndef FMO_ERI_RULE_H
#define FMO_ERI_RULE_H

#include "integrals/eri/eri_common.h"

/* Three exponents with a sum of up to n, or of n; with one component of a Hermite function more per
 * exponent, summed over all of these. As expressions for the preprocessor's rows. */
#define FMO_RULE_UPTO(n)     (((n) + 1) * ((n) + 2) * ((n) + 3) / 6)
#define FMO_RULE_OF(n)       (((n) + 1) * ((n) + 2) / 2)
#define FMO_RULE_PRODUCTS(n) (((n) + 1) * ((n) + 2) * ((n) + 3) * ((n) + 4) * ((n) + 5) / 120)

/* Functions of the orders l0 .. l0 + l1, and terms of their Hermite expansions. */
#define FMO_RULE_SIDE(l0, l1) (FMO_RULE_UPTO((l0) + (l1)) - FMO_RULE_UPTO((l0)-1))
#define FMO_RULE_TERMS(l0, l1)                                \
    (((l0) + (l1) + 6) * FMO_RULE_PRODUCTS((l0) + (l1)) / 6 - \
     ((l0) + 5) * FMO_RULE_PRODUCTS((l0)-1) / 6)

/* Where function (i, j, k) of order l is in its shell, i being what j and k leave. */
#define FMO_RULE_AT(l, i, k) (((l) - (i)) * ((l) - (i) + 1) / 2 + (k))
/* Where Hermite function (t, u, v) is among those up to order n: v outermost, t innermost. */
#define FMO_RULE_HERMITE(n, t, u, v)                                        \
    (FMO_RULE_UPTO(n) - FMO_RULE_UPTO((n) - (v)) + FMO_RULE_OF((n) - (v)) - \
     FMO_RULE_OF((n) - (v) - (u)) + (t))

enum { FMO_RULE_ORDERS = FMO_PAIR_ORDER_MAX + 1 };

/* R_tuv for t + u + v <= L in r[t + n (u + n v)], n = L + 1; level by level from (-2 alpha)^m F_m,
 * in place: what is written reads what is one and two orders below, of the level above. */
FMO_HD void fmo_rule_coulomb(int L, const fmo_prim_quartet *z, fmo_real *r)
{
    const int n = L + 1;
    const fmo_real twice = -2.0 * z->alpha;
    fmo_real start[FMO_ERI_ORDER_MAX + 1], power = twice;
    start[0] = z->S[0];
    FMO_UNROLL
    for (int m = 1; m <= L; m++) {
        start[m] = power * z->S[m];
        power *= twice;
    }
    r[0] = start[L];
    FMO_UNROLL
    for (int m = L - 1; m >= 0; m--) {
        FMO_UNROLL
        for (int order = L - m; order > 0; order--) {
            FMO_UNROLL
            for (int v = 0; v <= order; v++) {
                FMO_UNROLL
                for (int u = 0; u <= order - v; u++) {
                    const int t = order - u - v, at = t + n * (u + n * v);
                    const int x = t > 0 ? 0 : u > 0 ? 1 : 2;
                    const int step = x == 0 ? 1 : x == 1 ? n : n * n;
                    const int below = (x == 0 ? t : x == 1 ? u : v) - 1;
                    fmo_real value = z->PQ[x] * r[at - step];
                    if (below > 0) value += below * r[at - 2 * step];
                    r[at] = value;
                }
            }
        }
        r[0] = start[m];
    }
}

/* Hermite expansion of x_A^i, i <= n: E[i][t]. */
FMO_HD void fmo_rule_expand(int n, fmo_real PA, fmo_real half,
                            fmo_real E[FMO_RULE_ORDERS][FMO_RULE_ORDERS])
{
    E[0][0] = fmo_set(1.0);
    FMO_UNROLL
    for (int i = 0; i < n; i++) {
        FMO_UNROLL
        for (int t = 0; t <= i + 1; t++) {
            fmo_real value = fmo_set(0.0);
            if (t > 0) value += half * E[i][t - 1];
            if (t <= i) value += PA * E[i][t];
            if (t < i) value += (t + 1) * E[i][t + 1];
            E[i + 1][t] = value;
        }
    }
}

/* Terms of the expansions of all functions of the orders l0 .. l0 + l1, in the order in which the
 * loops of fmo_rule_prim use them; odd Hermite functions times `odd`, 1 or -1. */
FMO_HD void fmo_rule_terms(int l0, int l1, const fmo_real *PA, fmo_real half, double odd,
                           fmo_real *term)
{
    fmo_real E[3][FMO_RULE_ORDERS][FMO_RULE_ORDERS];
    int at = 0;
    FMO_UNROLL
    for (int x = 0; x < 3; x++) fmo_rule_expand(l0 + l1, PA[x], half, E[x]);
    FMO_UNROLL
    for (int l = l0; l <= l0 + l1; l++) {
        FMO_UNROLL
        for (int rest = 0; rest <= l; rest++) {
            FMO_UNROLL
            for (int k = 0; k <= rest; k++) {
                FMO_UNROLL
                for (int v = 0; v <= k; v++) {
                    FMO_UNROLL
                    for (int u = 0; u <= rest - k; u++) {
                        const fmo_real yz = E[1][rest - k][u] * E[2][k][v];
                        FMO_UNROLL
                        for (int t = 0; t <= l - rest; t++) {
                            const fmo_real value = E[0][l - rest][t] * yz;
                            term[at++] = (t + u + v) % 2 ? odd * value : value;
                        }
                    }
                }
            }
        }
    }
}

/* Work space: r of fmo_rule_coulomb, terms of bra and ket, H(p|f). */
typedef struct fmo_rule_space {
    fmo_real *r, *bra, *ket, *H;
} fmo_rule_space;

/* Adds one primitive quartet to acc[e][f]. */
FMO_HD void fmo_rule_prim(int la, int lb, int lc, int ld, const fmo_prim_quartet *z,
                          const fmo_rule_space *space, fmo_real *acc)
{
    const int N = la + lb, L = N + lc + ld, n = L + 1, columns = FMO_RULE_SIDE(lc, ld);
    fmo_real *H = space->H;
    fmo_rule_coulomb(L, z, space->r);
    fmo_rule_terms(la, lb, z->PA, z->half_p, 1.0, space->bra);
    fmo_rule_terms(lc, ld, z->QC, z->half_q, -1.0, space->ket);
    for (int pv = 0; pv <= N; pv++) {
        for (int pu = 0; pu <= N - pv; pu++) {
            for (int pt = 0; pt <= N - pv - pu; pt++, H += columns) {
                const fmo_real *const r = space->r + pt + n * (pu + n * pv);
                int at = 0, f = 0;
                FMO_UNROLL
                for (int l = lc; l <= lc + ld; l++) {
                    FMO_UNROLL
                    for (int rest = 0; rest <= l; rest++) {
                        FMO_UNROLL
                        for (int k = 0; k <= rest; k++) {
                            fmo_real sum = fmo_set(0.0);
                            FMO_UNROLL
                            for (int v = 0; v <= k; v++) {
                                FMO_UNROLL
                                for (int u = 0; u <= rest - k; u++) {
                                    FMO_UNROLL
                                    for (int t = 0; t <= l - rest; t++)
                                        sum += space->ket[at++] * r[t + n * (u + n * v)];
                                }
                            }
                            H[f++] = sum;
                        }
                    }
                }
            }
        }
    }
    for (int f = 0; f < columns; f++) {
        int at = 0, e = 0;
        FMO_UNROLL
        for (int l = la; l <= la + lb; l++) {
            FMO_UNROLL
            for (int rest = 0; rest <= l; rest++) {
                FMO_UNROLL
                for (int k = 0; k <= rest; k++) {
                    fmo_real sum = fmo_set(0.0);
                    FMO_UNROLL
                    for (int v = 0; v <= k; v++) {
                        FMO_UNROLL
                        for (int u = 0; u <= rest - k; u++) {
                            FMO_UNROLL
                            for (int t = 0; t <= l - rest; t++)
                                sum += space->bra[at++] *
                                       space->H[FMO_RULE_HERMITE(N, t, u, v) * columns + f];
                        }
                    }
                    acc[e++ * columns + f] += sum;
                }
            }
        }
    }
}

/* (a p_x| = ((a + x) s| + A-B_x (a s|, for every a of order l: s has the orders l and l + 1, one
 * after the other with `stride` between functions; p[a][x]. */
FMO_HD void fmo_rule_hrr_p(int l, const fmo_real *AB, const fmo_real *s, const fmo_real *above,
                           int stride, fmo_real *p)
{
    FMO_UNROLL
    for (int rest = 0; rest <= l; rest++) {
        FMO_UNROLL
        for (int k = 0; k <= rest; k++) {
            const int i = l - rest, a = FMO_RULE_AT(l, i, k);
            FMO_UNROLL
            for (int x = 0; x < 3; x++)
                p[3 * a + x] = above[FMO_RULE_AT(l + 1, i + (x == 0), k + (x == 2)) * stride] +
                               AB[x] * s[a * stride];
        }
    }
}

/* One column of a side: in[e] with `stride` between them, orders la to la + lb, to out[a][b]. */
FMO_HD void fmo_rule_hrr(int la, int lb, const fmo_real *AB, const fmo_real *in, int stride,
                         fmo_real *out, int out_stride)
{
    fmo_real p[FMO_RULE_OF(FMO_ANG_MOM_MAX) * 3], above[FMO_RULE_OF(FMO_ANG_MOM_MAX + 1) * 3];
    const fmo_real *const next = in + FMO_RULE_OF(la) * stride;
    if (lb == 0) {
        FMO_UNROLL
        for (int a = 0; a < FMO_RULE_OF(la); a++) out[a * out_stride] = in[a * stride];
        return;
    }
    fmo_rule_hrr_p(la, AB, in, next, stride, p);
    if (lb == 1) {
        FMO_UNROLL
        for (int a = 0; a < 3 * FMO_RULE_OF(la); a++) out[a * out_stride] = p[a];
        return;
    }
    fmo_rule_hrr_p(la + 1, AB, next, next + FMO_RULE_OF(la + 1) * stride, stride, above);
    FMO_UNROLL
    for (int rest = 0; rest <= la; rest++) {
        FMO_UNROLL
        for (int k = 0; k <= rest; k++) {
            const int i = la - rest, a = FMO_RULE_AT(la, i, k);
            FMO_UNROLL
            for (int x = 0; x < 3; x++) {
                FMO_UNROLL
                for (int y = x; y < 3; y++)
                    out[(6 * a + FMO_D(x, y)) * out_stride] =
                        above[3 * FMO_RULE_AT(la + 1, i + (x == 0), k + (x == 2)) + y] +
                        AB[x] * p[3 * a + y];
            }
        }
    }
}
FMO_STATIC_ASSERT(FMO_ANG_MOM_MAX <= 2, "eri_rule.h: fmo_rule_hrr raises the second shell to d")

/* acc[e][f] -> eri[a][b][c][d]; half[e][c][d] lies between. */
FMO_HD void fmo_rule_finish(int la, int lb, int lc, int ld, const fmo_real *AB, const fmo_real *CD,
                            const fmo_real *acc, fmo_real *half, fmo_real *eri)
{
    const int rows = FMO_RULE_SIDE(la, lb), columns = FMO_RULE_SIDE(lc, ld);
    const int kets = FMO_RULE_OF(lc) * FMO_RULE_OF(ld);
    for (int e = 0; e < rows; e++)
        fmo_rule_hrr(lc, ld, CD, acc + e * columns, 1, half + e * kets, 1);
    for (int cd = 0; cd < kets; cd++) fmo_rule_hrr(la, lb, AB, half + cd, kets, eri + cd, kets);
}

/* Every class of the table. Operations: two for a term, of R_tuv as well. */
#define FMO_RULE_CLASS(e, name, li, lj, lk, ll, bra, ket)                                        \
    enum {                                                                                       \
        eri_##name##_hermite = FMO_RULE_UPTO((li) + (lj)),                                       \
        eri_##name##_columns = FMO_RULE_SIDE(lk, ll),                                            \
        eri_##name##_acc = FMO_RULE_SIDE(li, lj) * eri_##name##_columns,                         \
        eri_##name##_prim_flop =                                                                 \
            2 * ((li + lj + lk + ll + 4) * FMO_RULE_UPTO(li + lj + lk + ll) / 4 +                \
                 eri_##name##_hermite * FMO_RULE_TERMS(lk, ll) +                                 \
                 eri_##name##_columns * FMO_RULE_TERMS(li, lj)),                                 \
        eri_##name##_finish_flop =                                                               \
            2 *                                                                                  \
            (FMO_RULE_SIDE(li, lj) * FMO_RULE_OF(lk) * ((ll) ? FMO_RULE_OF(ll) : 0) +            \
             FMO_RULE_OF(lk) * FMO_RULE_OF(ll) * FMO_RULE_OF(li) * ((lj) ? FMO_RULE_OF(lj) : 0)) \
    };                                                                                           \
    FMO_HD_ONCE void eri_##name##_prim(const fmo_prim_quartet *z, fmo_real *acc)                 \
    {                                                                                            \
        fmo_real r[(li + lj + lk + ll + 1) * (li + lj + lk + ll + 1) * (li + lj + lk + ll + 1)]; \
        fmo_real of_bra[FMO_RULE_TERMS(li, lj)], of_ket[FMO_RULE_TERMS(lk, ll)];                 \
        fmo_real H[eri_##name##_hermite * eri_##name##_columns];                                 \
        const fmo_rule_space space = {r, of_bra, of_ket, H};                                     \
        fmo_rule_prim(li, lj, lk, ll, z, &space, acc);                                           \
    }                                                                                            \
    FMO_HD_ONCE void eri_##name##_finish(const fmo_real *AB, const fmo_real *CD,                 \
                                         const fmo_real *acc, fmo_real *eri)                     \
    {                                                                                            \
        fmo_real half[FMO_RULE_SIDE(li, lj) * FMO_RULE_OF(lk) * FMO_RULE_OF(ll)];                \
        fmo_rule_finish(li, lj, lk, ll, AB, CD, acc, half, eri);                                 \
    }
FMO_ERI_RULE_TABLE(FMO_RULE_CLASS)

#endif
