/* The classes with d shells (FMO_ERI_HIGH_L_TABLE; those with f and g shells: eri_any.h) by the
 * recursions of McMurchie and Davidson, J. Comput. Phys. 26, 218 (1978):
 *
 *    R_tuv     Hermite integrals between the two products, to order L
 *    H(p|cd)  += sum_q E^cd_q (-1)^q R_(p+q)   p, q: Hermite functions of bra and ket
 *    (ab|cd)  += sum_p E^ab_p H(p|cd)          once per primitive of the bra
 *
 * For s and p shells they give the same as the hand-written eri_psss.h etc. (tests/integrals/md.c).
 * There is no horizontal recursion: for two shells with tight and diffuse primitives it would lose
 * a factor of up to (AB sqrt(b))^2 in precision. Loops over Hermite functions of the bra and over
 * columns are not unrolled, inner loops are. */
#ifndef FMO_ERI_MD_H
#define FMO_ERI_MD_H

#include "integrals/eri/eri_common.h"
#include "integrals/pairs/hermite_expand.h"

/* Number of terms of the Hermite expansions of all products of a pair, the sum of (a_x + b_x + 1)
 * (a_y + b_y + 1) (a_z + b_z + 1): the coefficient of x^la y^lb in (1 - x y)^3 / ((1 - x)^6 (1 -
 * y)^6). */
#define FMO_MD_FIVE(n) (((n) + 1) * ((n) + 2) * ((n) + 3) * ((n) + 4) * ((n) + 5) / 120)
#define FMO_MD_TERMS(la, lb)                                                             \
    (FMO_MD_FIVE(la) * FMO_MD_FIVE(lb) - 3 * FMO_MD_FIVE((la)-1) * FMO_MD_FIVE((lb)-1) + \
     3 * FMO_MD_FIVE((la)-2) * FMO_MD_FIVE((lb)-2) - FMO_MD_FIVE((la)-3) * FMO_MD_FIVE((lb)-3))
/* Index of Hermite function (t, u, v) among those up to order n: v outermost, t innermost. */
#define FMO_MD_HERMITE(n, t, u, v)                                                    \
    (FMO_HERMITE_COUNT(n) - FMO_HERMITE_COUNT((n) - (v)) + FMO_CARTESIAN((n) - (v)) - \
     FMO_CARTESIAN((n) - (v) - (u)) + (t))

/* With one quartet at a time on the host (bounds and tests), unrolling is not worth the time to
 * compile it. */
#if FMO_SIMD_WIDTH > 1 || defined(__CUDACC__)
#define FMO_MD_UNROLL FMO_UNROLL
#else
#define FMO_MD_UNROLL
#endif

/* fmo_shell_power without a loop, for constant and variable arguments. */
FMO_HD int fmo_md_power(int l, int c, int x)
{
    const int rest = FMO_SHELL_REST(c), k = c - rest * (rest + 1) / 2;
    return x == 0 ? l - rest : x == 1 ? rest - k : k;
}

/* Largest number of terms of one product: the order of the pair divided over x, y and z. */
#define FMO_MD_TERMS_OF(order) \
    (((order) / 3 + 1) * (((order) + 1) / 3 + 1) * (((order) + 2) / 3 + 1))
enum { FMO_MD_TERMS_MAX = FMO_MD_TERMS_OF(FMO_TARGET_PAIR_ORDER_MAX) };

/* Computes R_tuv, t + u + v <= L, in r[t + n (u + n v)], n = L + 1, from start[m] = (-2 alpha)^m
 * F_m, level by level, in place: each new value uses values one and two orders lower from the level
 * above. */
FMO_HD void fmo_md_derivatives(int L, const fmo_real *start, const fmo_real *PQ, fmo_real *r)
{
    const int n = L + 1;
    r[0] = start[L];
    FMO_MD_UNROLL
    for (int m = L - 1; m >= 0; m--) {
        FMO_MD_UNROLL
        for (int order = L - m; order > 0; order--) {
            FMO_MD_UNROLL
            for (int v = 0; v <= order; v++) {
                FMO_MD_UNROLL
                for (int u = 0; u <= order - v; u++) {
                    const int t = order - u - v, at = t + n * (u + n * v);
                    const int x = t > 0 ? 0 : u > 0 ? 1 : 2;
                    const int step = x == 0 ? 1 : x == 1 ? n : n * n;
                    const int below = (x == 0 ? t : x == 1 ? u : v) - 1;
                    fmo_real value = PQ[x] * r[at - step];
                    if (below > 0) value += below * r[at - 2 * step];
                    r[at] = value;
                }
            }
        }
        r[0] = start[m];
    }
}

/* Computes start[m] of a quartet. */
FMO_HD void fmo_md_start(int L, const fmo_prim_quartet *z, fmo_real *start)
{
    const fmo_real twice = -2.0 * z->alpha;
    fmo_real power = twice;
    start[0] = z->S[0];
    FMO_MD_UNROLL
    for (int m = 1; m <= L; m++) {
        start[m] = power * z->S[m];
        power *= twice;
    }
}

/* Computes R_tuv of a quartet. */
FMO_HD void fmo_md_coulomb(int L, const fmo_prim_quartet *z, fmo_real *r)
{
    fmo_real start[FMO_TARGET_ERI_ORDER_MAX + 1];
    fmo_md_start(L, z, start);
    fmo_md_derivatives(L, start, z->PQ, r);
}

/* Computes the terms of the expansions of all products of a pair: product after product, v
 * outermost, t innermost; those of odd Hermite functions are multiplied by `odd`, 1 or -1. */
FMO_HD void fmo_md_terms(int la, int lb, const fmo_real *PA, const fmo_real *AB, fmo_real half,
                         double odd, fmo_real *term)
{
    enum { POWERS = FMO_UNROLLED_ANG_MOM_MAX + 1 }; /* d shells at most: the array is initialised */
    fmo_real E[3][POWERS][POWERS][2 * POWERS - 1];
    memset(E, 0, sizeof E); /* unused elements; avoids compiler warnings */
    FMO_MD_UNROLL
    for (int x = 0; x < 3; x++)
        fmo_hermite_expand_in(POWERS, la, lb, PA[x], PA[x] + AB[x], half, E[x][0][0]);
    for (int a = 0; a < FMO_CARTESIAN(la); a++) {
        for (int b = 0; b < FMO_CARTESIAN(lb); b++) {
            const int ax = fmo_md_power(la, a, 0), bx = fmo_md_power(lb, b, 0);
            const int ay = fmo_md_power(la, a, 1), by = fmo_md_power(lb, b, 1);
            const int az = fmo_md_power(la, a, 2), bz = fmo_md_power(lb, b, 2);
            for (int v = 0; v <= az + bz; v++) {
                for (int u = 0; u <= ay + by; u++) {
                    const fmo_real yz = E[1][ay][by][u] * E[2][az][bz][v];
                    for (int t = 0; t <= ax + bx; t++) {
                        const fmo_real value = E[0][ax][bx][t] * yz;
                        *term++ = (t + u + v) % 2 ? odd * value : value;
                    }
                }
            }
        }
    }
}

/* Adds H(p|cd) of one primitive quartet to H[p][cd]. */
FMO_HD void fmo_md_ket(int la, int lb, int lc, int ld, const fmo_prim_quartet *z, fmo_real *r,
                       fmo_real *term, fmo_real *H)
{
    const int N = la + lb, n = N + lc + ld + 1, kets = FMO_CARTESIAN(lc) * FMO_CARTESIAN(ld);
    int place[FMO_HERMITE_COUNT(FMO_TARGET_PAIR_ORDER_MAX) + 1], num = 0; /* of R_p in r */
    fmo_md_coulomb(n - 1, z, r);
    fmo_md_terms(lc, ld, z->QC, z->CD, z->half_q, -1.0, term);
    for (int v = 0; v <= N; v++)
        for (int u = 0; u <= N - v; u++)
            for (int t = 0; t <= N - v - u; t++) place[num++] = t + n * (u + n * v);
    place[num] = place[num - 1];
    for (int p = 0; p < num; p += 2) { /* two at a time share the terms; a single last one is its
                                          own partner */
        const fmo_real *const r0 = r + place[p], *const r1 = r + place[p + 1];
        fmo_real *const H0 = H + p * kets, *const H1 = H + (p + 1 < num ? p + 1 : p) * kets;
        int at = 0;
        FMO_MD_UNROLL
        for (int c = 0; c < FMO_CARTESIAN(lc); c++) {
            FMO_MD_UNROLL
            for (int d = 0; d < FMO_CARTESIAN(ld); d++) {
                const int cd = c * FMO_CARTESIAN(ld) + d;
                const int x = fmo_md_power(lc, c, 0) + fmo_md_power(ld, d, 0);
                const int y = fmo_md_power(lc, c, 1) + fmo_md_power(ld, d, 1);
                const int w = fmo_md_power(lc, c, 2) + fmo_md_power(ld, d, 2);
                fmo_real s0 = H0[cd], s1 = H1[cd];
                FMO_MD_UNROLL
                for (int v = 0; v <= w; v++) {
                    FMO_MD_UNROLL
                    for (int u = 0; u <= y; u++) {
                        FMO_MD_UNROLL
                        for (int t = 0; t <= x; t++, at++) {
                            s0 += term[at] * r0[t + n * (u + n * v)];
                            s1 += term[at] * r1[t + n * (u + n * v)];
                        }
                    }
                }
                H0[cd] = s0;
                H1[cd] = s1;
            }
        }
    }
}

/* Number of columns cd that fmo_md_bra processes together. */
#define FMO_MD_COLUMNS(kets) ((kets) % 9 == 0 ? 9 : (kets) % 10 == 0 ? 10 : (kets))
/* acc[ab][cd] += sum_p E^ab_p H[p][cd], FMO_MD_COLUMNS columns at a time. */
FMO_HD void fmo_md_bra(int la, int lb, int lc, int ld, const fmo_prim_quartet *z, fmo_real *term,
                       const fmo_real *H, fmo_real *acc)
{
    const int N = la + lb, kets = FMO_CARTESIAN(lc) * FMO_CARTESIAN(ld);
    const int columns = FMO_MD_COLUMNS(kets);
    int at = 0;
    fmo_md_terms(la, lb, z->PA, z->AB, z->half_p, 1.0, term);
    for (int a = 0; a < FMO_CARTESIAN(la); a++) {
        for (int b = 0; b < FMO_CARTESIAN(lb); b++, acc += kets) {
            const int x = fmo_md_power(la, a, 0) + fmo_md_power(lb, b, 0);
            const int y = fmo_md_power(la, a, 1) + fmo_md_power(lb, b, 1);
            const int w = fmo_md_power(la, a, 2) + fmo_md_power(lb, b, 2);
            const int terms = (x + 1) * (y + 1) * (w + 1);
            int row[FMO_MD_TERMS_MAX] = {0}, num = 0;
            for (int v = 0; v <= w; v++)
                for (int u = 0; u <= y; u++)
                    for (int t = 0; t <= x; t++) row[num++] = FMO_MD_HERMITE(N, t, u, v) * kets;
            for (int first = 0; first < kets; first += columns) {
                fmo_real sum[10];
                FMO_MD_UNROLL
                for (int c = 0; c < columns; c++) sum[c] = acc[first + c];
                for (int k = 0; k < terms; k++) {
                    const fmo_real e = term[at + k], *const from = H + row[k] + first;
                    FMO_MD_UNROLL
                    for (int c = 0; c < columns; c++) sum[c] += e * from[c];
                }
                FMO_MD_UNROLL
                for (int c = 0; c < columns; c++) acc[first + c] = sum[c];
            }
            at += terms;
        }
    }
}

/* Constants of a class. Each term counts as two operations, including those of R_tuv and H; the
 * work for a primitive of the bra is counted with each quartet. */
#define FMO_MD_CONSTANTS(name, li, lj, lk, ll)                                                 \
    eri_##name##_acc =                                                                         \
        FMO_CARTESIAN(li) * FMO_CARTESIAN(lj) * FMO_CARTESIAN(lk) * FMO_CARTESIAN(ll),         \
    eri_##name##_hermite = FMO_HERMITE_COUNT(li + lj) * FMO_CARTESIAN(lk) * FMO_CARTESIAN(ll), \
    eri_##name##_prim_flop =                                                                   \
        2 * ((li + lj + lk + ll + 4) * FMO_HERMITE_COUNT(li + lj + lk + ll) / 4 +              \
             FMO_HERMITE_COUNT(li + lj) * FMO_MD_TERMS(lk, ll) +                               \
             FMO_CARTESIAN(lk) * FMO_CARTESIAN(ll) * FMO_MD_TERMS(li, lj)),                    \
    eri_##name##_finish_flop = 0

/* The functions of a class that eri_common.h describes, from eri_xxxx_ket and eri_xxxx_bra. */
#define FMO_MD_WHOLE(name)                                                                       \
    FMO_HD void eri_##name##_prim(const fmo_prim_quartet *z, fmo_real *acc)                      \
    {                                                                                            \
        fmo_real H[eri_##name##_hermite];                                                        \
        for (int k = 0; k < eri_##name##_hermite; k++) H[k] = fmo_set(0.0);                      \
        eri_##name##_ket(z, H);                                                                  \
        eri_##name##_bra(z, H, acc);                                                             \
    }                                                                                            \
    FMO_HD void eri_##name##_finish(const fmo_real *AB, const fmo_real *CD, const fmo_real *acc, \
                                    fmo_real *eri)                                               \
    {                                                                                            \
        (void)AB;                                                                                \
        (void)CD;                                                                                \
        for (int k = 0; k < eri_##name##_acc; k++) eri[k] = acc[k];                              \
    }

/* Defines every class of the table. */
#define FMO_MD_CLASS(e, name, li, lj, lk, ll, bra, ket)                                            \
    enum { FMO_MD_CONSTANTS(name, li, lj, lk, ll) };                                               \
    FMO_HD_ONCE void eri_##name##_ket(const fmo_prim_quartet *z, fmo_real *H)                      \
    {                                                                                              \
        fmo_real r[(li + lj + lk + ll + 1) * (li + lj + lk + ll + 1) * (li + lj + lk + ll + 1)];   \
        fmo_real term[FMO_MD_TERMS(lk, ll)];                                                       \
        fmo_md_ket(li, lj, lk, ll, z, r, term, H);                                                 \
    }                                                                                              \
    FMO_HD_ONCE void eri_##name##_bra(const fmo_prim_quartet *z, const fmo_real *H, fmo_real *acc) \
    {                                                                                              \
        fmo_real term[FMO_MD_TERMS(li, lj)];                                                       \
        fmo_md_bra(li, lj, lk, ll, z, term, H, acc);                                               \
    }                                                                                              \
    FMO_MD_WHOLE(name)
FMO_ERI_HIGH_L_TABLE(FMO_MD_CLASS)

#endif
