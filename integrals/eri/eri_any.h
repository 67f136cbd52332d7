/* The McMurchie-Davidson recursions of eri_md.h for shells that are known when the program runs:
 * one copy of the code for all classes of FMO_ERI_ANY_TABLE, and for Hermite densities and
 * potentials of their pairs (accumulate/cpu, accumulate/potential). On the CPU alone.
 *
 * Hermite functions and R_tuv are in the order of fmo_hermite_index: by degree, then by u + v, then
 * by v. In this order each recursion step and each R_(p+q) of fixed p, degree and u + v of q is a
 * run of consecutive numbers, so that inner loops need no tables of indices. */
#ifndef FMO_ERI_ANY_H
#define FMO_ERI_ANY_H

#include "integrals/eri/eri_md.h"

/* Index of the first Hermite function of a degree with u + v = s. */
#define FMO_ANY_ROW(degree, s) (FMO_HERMITE_COUNT((degree)-1) + (s) * ((s) + 1) / 2)
enum {
    FMO_ANY_HERMITE_MAX = FMO_HERMITE_COUNT(FMO_PAIR_ORDER_MAX),
    FMO_ANY_R_MAX = FMO_HERMITE_COUNT(FMO_ERI_ORDER_MAX),
    FMO_ANY_TERMS_MAX = FMO_MD_TERMS(FMO_ANG_MOM_MAX, FMO_ANG_MOM_MAX),
    FMO_ANY_BLOCK = 4 /* Hermite functions of the bra that share a pass over the ket's terms */
};

/* The expansion of all products of a pair in Hermite functions: product after product, each with
 * `terms` terms of value term[k] for Hermite function place[k]. */
typedef struct fmo_any_expansion {
    int products;
    fmo_real term[FMO_ANY_TERMS_MAX];
    uint8_t place[FMO_ANY_TERMS_MAX];
    uint8_t terms[FMO_PAIR_PRODUCTS_MAX];
} fmo_any_expansion;
FMO_STATIC_ASSERT(FMO_ANY_HERMITE_MAX <= 256, "eri_any.h: places in a byte")

/* Computes the expansion; terms of odd Hermite functions are multiplied by `odd`, 1 or -1. */
FMO_HD_ONCE void fmo_any_expand(int la, int lb, const fmo_real *PA, const fmo_real *AB,
                                fmo_real half, double odd, fmo_any_expansion *e)
{
    fmo_real E[3][FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS];
    int begin[FMO_HERMITE_ORDERS], at = 0, ab = 0;
    for (int d = 0; d < FMO_HERMITE_ORDERS; d++) begin[d] = FMO_HERMITE_COUNT(d - 1);
    for (int x = 0; x < 3; x++) {
        fmo_hermite_expand(la, lb, PA[x], PA[x] + AB[x], half, E[x]);
        for (int a = 0; odd < 0.0 && a <= la; a++)
            for (int b = 0; b <= lb; b++)
                for (int t = 1; t <= a + b; t += 2) E[x][a][b][t] = -E[x][a][b][t];
    }
    for (int a = 0; a < FMO_CARTESIAN(la); a++) {
        for (int b = 0; b < FMO_CARTESIAN(lb); b++, ab++) {
            const fmo_real *const X = E[0][fmo_md_power(la, a, 0)][fmo_md_power(lb, b, 0)];
            const fmo_real *const Y = E[1][fmo_md_power(la, a, 1)][fmo_md_power(lb, b, 1)];
            const fmo_real *const Z = E[2][fmo_md_power(la, a, 2)][fmo_md_power(lb, b, 2)];
            const int x = fmo_md_power(la, a, 0) + fmo_md_power(lb, b, 0);
            const int y = fmo_md_power(la, a, 1) + fmo_md_power(lb, b, 1);
            const int z = fmo_md_power(la, a, 2) + fmo_md_power(lb, b, 2);
            e->terms[ab] = (uint8_t)((x + 1) * (y + 1) * (z + 1));
            for (int v = 0; v <= z; v++) {
                for (int u = 0; u <= y; u++) {
                    const fmo_real yz = Y[u] * Z[v];
                    const int s = u + v, in_degree = s * (s + 1) / 2 + v;
                    for (int t = 0; t <= x; t++, at++) {
                        e->place[at] = (uint8_t)(begin[t + s] + in_degree);
                        e->term[at] = X[t] * yz;
                    }
                }
            }
        }
    }
    e->products = ab;
}

/* H_k += K sum_ab D_ab E^ab_k: the Hermite density of a density. */
FMO_HD void fmo_any_collect(const fmo_any_expansion *e, const fmo_real *D, fmo_real K, fmo_real *H)
{
    for (int ab = 0, at = 0; ab < e->products; ab++) {
        const fmo_real KD = K * D[ab];
        for (int end = at + e->terms[ab]; at < end; at++) H[e->place[at]] += KD * e->term[at];
    }
}

/* X_ab += K sum_k E^ab_k V_k: from the potential of Hermite functions to that of products. */
FMO_HD void fmo_any_potential(const fmo_any_expansion *e, const fmo_real *V, fmo_real K,
                              fmo_real *X)
{
    for (int ab = 0, at = 0; ab < e->products; ab++) {
        fmo_real sum = fmo_set(0.0);
        for (int end = at + e->terms[ab]; at < end; at++) sum += e->term[at] * V[e->place[at]];
        X[ab] += K * sum;
    }
}

/* One degree of fmo_any_derivatives: `now` from the values one and two degrees lower. */
FMO_HD void fmo_any_degree(int degree, const fmo_real *PQ, const fmo_real *one, const fmo_real *two,
                           fmo_real *now)
{
    int i = 0;
    for (int s = 0; s + 2 <= degree; s++) /* t = degree - s of at least 2 */
        for (int end = i + s + 1; i < end; i++)
            now[i] = PQ[0] * one[i] + (double)(degree - s - 1) * two[i];
    for (; i < FMO_CARTESIAN(degree - 1); i++) now[i] = PQ[0] * one[i]; /* t = 1 */
    one += FMO_CARTESIAN(degree - 2);
    two += degree > 1 ? FMO_CARTESIAN(degree - 3) : 0;
    now += i; /* t = 0, u = degree - v */
    for (int v = 0; v + 2 <= degree; v++)
        now[v] = PQ[1] * one[v] + (double)(degree - v - 1) * two[v];
    now[degree - 1] = PQ[1] * one[degree - 1];
    now[degree] = PQ[2] * one[degree - 1];
    if (degree > 1) now[degree] += (double)(degree - 1) * two[degree - 2];
}

/* Computes R_tuv, t + u + v <= L, from start[m] = (-2 alpha)^m F_m, level by level, in place: each
 * degree from those one and two degrees lower of the level above. */
FMO_HD_ONCE void fmo_any_derivatives(int L, const fmo_real *start, const fmo_real *PQ, fmo_real *r)
{
    r[0] = start[L];
    for (int m = L - 1; m >= 0; m--) {
        for (int degree = L - m; degree > 0; degree--)
            fmo_any_degree(degree, PQ, r + FMO_HERMITE_COUNT(degree - 2),
                           r + (degree > 1 ? FMO_HERMITE_COUNT(degree - 3) : 0),
                           r + FMO_HERMITE_COUNT(degree - 1));
        r[0] = start[m];
    }
}

/* Copies R_(p+q) of all q up to degree K to to[q * stride], for Hermite function p of degree d with
 * u + v = s and v. */
FMO_HD void fmo_any_shifted(int K, int d, int s, int v, const fmo_real *r, int stride, fmo_real *to)
{
    for (int degree = 0; degree <= K; degree++) {
        for (int row = 0; row <= degree; row++) {
            const fmo_real *const from = r + FMO_ANY_ROW(d + degree, s + row) + v;
            for (int k = 0; k <= row; k++, to += stride) *to = from[k];
        }
    }
}

/* Adds to H[p][cd], for the `num` Hermite functions p whose R_(p+q) are shifted[q][p]. */
FMO_HD void fmo_any_ket_block(const fmo_any_expansion *e, int num, const fmo_real *shifted,
                              fmo_real *H)
{
    const int kets = e->products, rest = num - 1;
    fmo_real *const H1 = H + (rest > 1 ? 1 : rest) * kets, *const H2 =
                                                               H + (rest > 2 ? 2 : rest) * kets;
    fmo_real *const H3 = H + rest * kets;
    const fmo_real *term = e->term;
    const uint8_t *place = e->place;
    for (int cd = 0; cd < kets; cd++) {
        fmo_real s0 = H[cd], s1 = H1[cd], s2 = H2[cd], s3 = H3[cd];
        for (int k = 0; k < e->terms[cd]; k++, term++, place++) {
            const fmo_real *const r = shifted + FMO_ANY_BLOCK * *place;
            s0 += *term * r[0];
            s1 += *term * r[1];
            s2 += *term * r[2];
            s3 += *term * r[3];
        }
        H3[cd] = s3; /* where there are fewer, the last is stored last */
        if (num > 2) H2[cd] = s2;
        if (num > 1) H1[cd] = s1;
        H[cd] = s0;
    }
}

/* Adds H(p|cd) of one primitive quartet to H[p][cd]. */
FMO_HD_ONCE void fmo_any_ket(int la, int lb, int lc, int ld, const fmo_prim_quartet *z, fmo_real *H)
{
    const int N = la + lb, K = lc + ld, all = FMO_HERMITE_COUNT(N);
    const int kets = FMO_CARTESIAN(lc) * FMO_CARTESIAN(ld);
    fmo_real start[FMO_ERI_ORDER_MAX + 1], r[FMO_ANY_R_MAX];
    fmo_real shifted[FMO_ANY_HERMITE_MAX * FMO_ANY_BLOCK];
    fmo_any_expansion e;
    const fmo_real twice = -2.0 * z->alpha;
    fmo_real power = fmo_set(1.0);
    for (int m = 0; m <= N + K; m++) {
        start[m] = power * z->S[m];
        power *= twice;
    }
    fmo_any_derivatives(N + K, start, z->PQ, r);
    fmo_any_expand(lc, ld, z->QC, z->CD, z->half_q, -1.0, &e);
    memset(shifted, 0, (size_t)FMO_HERMITE_COUNT(K) * FMO_ANY_BLOCK * sizeof *shifted);
    int p = 0;
    for (int d = 0; d <= N; d++) {
        for (int s = 0; s <= d; s++) {
            for (int v = 0; v <= s; v++) {
                const int k = p++ % FMO_ANY_BLOCK;
                fmo_any_shifted(K, d, s, v, r, FMO_ANY_BLOCK, shifted + k);
                if (k + 1 == FMO_ANY_BLOCK || p == all)
                    fmo_any_ket_block(&e, k + 1, shifted, H + (p - 1 - k) * kets);
            }
        }
    }
}

/* sum[c] += sum_k term[k] H[place[k]][c] for `columns` columns of one product of the bra. */
FMO_HD void fmo_any_columns(int columns, int terms, const fmo_real *term, const uint8_t *place,
                            int kets, const fmo_real *H, fmo_real *acc)
{
    fmo_real sum[8];
    FMO_UNROLL
    for (int c = 0; c < columns; c++) sum[c] = acc[c];
    for (int k = 0; k < terms; k++) {
        const fmo_real value = term[k], *const from = H + place[k] * kets;
        FMO_UNROLL
        for (int c = 0; c < columns; c++) sum[c] += value * from[c];
    }
    FMO_UNROLL
    for (int c = 0; c < columns; c++) acc[c] = sum[c];
}

/* acc[ab][cd] += sum_p E^ab_p H[p][cd], a few columns at a time for all products ab, so that their
 * part of H stays in the cache. */
FMO_HD_ONCE void fmo_any_bra(int la, int lb, int lc, int ld, const fmo_prim_quartet *z,
                             const fmo_real *H, fmo_real *acc)
{
    const int kets = FMO_CARTESIAN(lc) * FMO_CARTESIAN(ld);
    fmo_any_expansion e;
    fmo_any_expand(la, lb, z->PA, z->AB, z->half_p, 1.0, &e);
    for (int first = 0; first < kets;) {
        const int columns = kets - first < 3 ? 1 : kets - first < 6 ? 3 : 6;
        int at = 0;
        for (int ab = 0; ab < e.products; at += e.terms[ab++]) {
            fmo_real *const to = acc + ab * kets + first;
            if (columns == 6)
                fmo_any_columns(6, e.terms[ab], e.term + at, e.place + at, kets, H + first, to);
            else if (columns == 3)
                fmo_any_columns(3, e.terms[ab], e.term + at, e.place + at, kets, H + first, to);
            else
                fmo_any_columns(1, e.terms[ab], e.term + at, e.place + at, kets, H + first, to);
        }
        first += columns;
    }
}

/* Defines the classes with the members that FMO_MD_CLASS gives to those of eri_md.h. */
#define FMO_ANY_CLASS(e, name, li, lj, lk, ll, bra, ket)                                      \
    enum { FMO_MD_CONSTANTS(name, li, lj, lk, ll) };                                          \
    FMO_HD void eri_##name##_ket(const fmo_prim_quartet *z, fmo_real *H)                      \
    {                                                                                         \
        fmo_any_ket(li, lj, lk, ll, z, H);                                                    \
    }                                                                                         \
    FMO_HD void eri_##name##_bra(const fmo_prim_quartet *z, const fmo_real *H, fmo_real *acc) \
    {                                                                                         \
        fmo_any_bra(li, lj, lk, ll, z, H, acc);                                               \
    }                                                                                         \
    FMO_MD_WHOLE(name)
FMO_ERI_ANY_TABLE(FMO_ANY_CLASS)

#endif
