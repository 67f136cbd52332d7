/* Coulomb interaction of pairs that do not overlap. Where T = pq/(p+q) |P-Q|^2 is large for all
 * primitive quartets of two pairs, exponents do not matter any more: a primitive pair acts as a
 * charge, a dipole and a quadrupole at its centre P, and an integral is a sum of derivatives of
 * 1/R. All centres of a pair lie on the line P = A + s AB, and 1/R is smooth along it: the
 * primitives can be replaced by a few nodes on the line (fmo_far_nodes), each with the coefficients
 * of a primitive. With D contracted first, J needs no integral at all:
 *
 *     fmo_far_fold       D_ab -> folded density of a pair
 *     fmo_far_moments    folded density -> moments H of a node
 *     fmo_far_interact   moments of two nodes -> their potentials V at each other
 *     fmo_far_potential  V -> sums over the nodes of a pair
 *     fmo_far_unfold     sums -> J_ab, once per quartet
 *
 * K needs the integrals themselves, which are cheap all the same:
 *
 *     fmo_far_add_nodes  coefficients of two nodes -> sums over pairs of nodes
 *     fmo_far_integrals  sums -> (ab|cd), once per quartet
 *
 * Hermite Gaussians: McMurchie and Davidson, J. Comput. Phys. 26, 218 (1978); with D contracted
 * first: Ahmadi and Almlof, Chem. Phys. Lett. 246, 364 (1995). Equations and errors:
 * docs/theory.md, "Far quartets".
 *
 * A pair's kind is the number of its p shells: 0 for ss, 1 for the ps pairs of eri_sp.h (four
 * products: s x y z of the first shell), 2 for pp (nine). Moments and potentials up to that order
 * are [1 + 3 + 6]: 1, x y z, xx xy xz yy yz zz. */
#ifndef FMO_FAR_H
#define FMO_FAR_H

#include "integrals/eri/eri_common.h"

enum {
    FMO_FAR_MOMENTS_MAX = 10,
    FMO_FAR_TERMS_MAX = 35 /* derivatives of 1/R up to order 4 */
};

/* Moments, or derivatives, up to an order; products ab of a pair of a kind, coefficients of a node,
 * sums over the nodes. Constants, for the sizes of arrays. */
#define FMO_FAR_TERMS(order)       (((order) + 1) * ((order) + 2) * ((order) + 3) / 6)
#define FMO_FAR_PRODUCTS(kind)     ((kind) == 0 ? 1 : (kind) == 1 ? 4 : 9)
#define FMO_FAR_COEFFICIENTS(kind) ((kind) == 0 ? 1 : (kind) == 1 ? 3 : 5)
#define FMO_FAR_SUMS(kind)         ((kind) == 0 ? 1 : (kind) == 1 ? 5 : 14)

/* Coefficients of a node: sums over primitives with charge c, h = 1/(2p), P - A = s AB, P - B =
 * (1+s) AB and the ratio r of a carried ss product. A pair of kind 0 has c alone. */
enum {
    FMO_FAR_PS_S,    /* c r */
    FMO_FAR_PS_LINE, /* c s */
    FMO_FAR_PS_HALF  /* c h */
};
enum {
    FMO_FAR_PP_LINE, /* c s (1+s) */
    FMO_FAR_PP_SAME, /* c h */
    FMO_FAR_PP_A,    /* c h s */
    FMO_FAR_PP_B,    /* c h (1+s) */
    FMO_FAR_PP_HALF2 /* c h^2 */
};

/* Sums over the nodes, and the parts of D that go with them, of a ps and of a pp pair. */
enum {
    FMO_FAR_SUM_S,  /* the carried product */
    FMO_FAR_SUM_PS, /* times AB_i */
    FMO_FAR_SUM_P   /* [3] */
};
enum {
    FMO_FAR_SUM_AB,                    /* times AB_i AB_j */
    FMO_FAR_SUM_SAME,                  /* i = j */
    FMO_FAR_SUM_A,                     /* [3], times AB_i */
    FMO_FAR_SUM_B = FMO_FAR_SUM_A + 3, /* [3], times AB_j */
    FMO_FAR_SUM_D = FMO_FAR_SUM_B + 3  /* [6] xx xy xz yy yz zz */
};

/* How many nodes there may be: choices 0 to FMO_FAR_CHOICES - 1. */
enum { FMO_FAR_CHOICES = 5, FMO_FAR_NODES_MAX = 6 };
#define FMO_FAR_NODES(choice) ((choice) < 4 ? (choice) + 1 : FMO_FAR_NODES_MAX)

/* Place of derivative x^nx y^ny z^nz. */
FMO_HD int fmo_far_index(int nx, int ny, int nz)
{
    const int order = nx + ny + nz, rest = ny + nz;
    return order * (order + 1) * (order + 2) / 6 + rest * (rest + 1) / 2 + nz;
}

/* How often x (0), y (1), z (2) is in moment n < 10. */
FMO_HD int fmo_far_power(int n, int x)
{
    const int i = n < 4 ? n - 1 : n < 7 ? 0 : n < 9 ? 1 : 2;
    const int j = n < 4 ? -1 : n < 7 ? n - 4 : n < 9 ? n - 6 : 2;
    return n == 0 ? 0 : (i == x) + (j == x);
}

/* Place of the derivative by coordinates i, j, ... each 0 to 2. */
FMO_HD int fmo_far_at(int n, const int *by)
{
    int power[3] = {0, 0, 0};
    FMO_UNROLL
    for (int k = 0; k < n; k++) {
        FMO_UNROLL
        for (int x = 0; x < 3; x++) power[x] += by[k] == x;
    }
    return fmo_far_index(power[0], power[1], power[2]);
}

/* The charge of a primitive pair (ss) from its stored exponent and prefactor: its overlap integral.
 * pi^(1/4) / sqrt(2) is what the prefactor's constant leaves. */
FMO_HD fmo_real fmo_far_charge(fmo_real p, fmo_real k)
{
    return 0.94139626377671481 * k * fmo_rsqrt(p);
}

/* All derivatives of 1/|R| by R up to an order (at most 4). */
FMO_HD void fmo_far_derivatives(int order, const fmo_real *R, fmo_real *T)
{
    const fmo_real r1 = fmo_rsqrt(R[0] * R[0] + R[1] * R[1] + R[2] * R[2]), r2 = r1 * r1;
    const fmo_real g1 = -r1 * r2, g2 = -3.0 * g1 * r2, g3 = -5.0 * g2 * r2, g4 = -7.0 * g3 * r2;
    T[0] = r1;
    FMO_UNROLL
    for (int i = 0; i < 3 && order >= 1; i++) {
        T[1 + i] = R[i] * g1;
        FMO_UNROLL
        for (int j = i; j < 3 && order >= 2; j++) {
            const int ij[2] = {i, j};
            const fmo_real RR = R[i] * R[j];
            T[fmo_far_at(2, ij)] = i == j ? RR * g2 + g1 : RR * g2;
            FMO_UNROLL
            for (int k = j; k < 3 && order >= 3; k++) {
                const int ijk[3] = {i, j, k};
                fmo_real t = RR * (R[k] * g3);
                if (i == j) t += R[k] * g2;
                if (i == k) t += R[j] * g2;
                if (j == k) t += R[i] * g2;
                T[fmo_far_at(3, ijk)] = t;
                FMO_UNROLL
                for (int l = k; l < 3 && order >= 4; l++) {
                    const int ijkl[4] = {i, j, k, l};
                    const int deltas = (i == j && k == l) + (i == k && j == l) + (i == l && j == k);
                    fmo_real f = RR * (R[k] * R[l] * g4);
                    if (i == j) f += R[k] * R[l] * g3;
                    if (i == k) f += R[j] * R[l] * g3;
                    if (i == l) f += R[j] * R[k] * g3;
                    if (j == k) f += R[i] * R[l] * g3;
                    if (j == l) f += R[i] * R[k] * g3;
                    if (k == l) f += R[i] * R[j] * g3;
                    if (deltas) f += deltas * g2;
                    T[fmo_far_at(4, ijkl)] = f;
                }
            }
        }
    }
}

/* What all nodes of a pair have in common: D[products] -> [sums]. */
FMO_HD void fmo_far_fold(int kind, const fmo_real *AB, const fmo_real *D, fmo_real *folded)
{
    if (kind == 0) folded[0] = D[0];
    if (kind == 1) {
        folded[FMO_FAR_SUM_S] = D[0];
        folded[FMO_FAR_SUM_PS] = AB[0] * D[1] + AB[1] * D[2] + AB[2] * D[3];
        FMO_UNROLL
        for (int i = 0; i < 3; i++) folded[FMO_FAR_SUM_P + i] = D[1 + i];
    }
    if (kind == 2) {
        FMO_UNROLL
        for (int i = 0; i < 3; i++) {
            folded[FMO_FAR_SUM_A + i] = AB[0] * D[i] + AB[1] * D[3 + i] + AB[2] * D[6 + i];
            folded[FMO_FAR_SUM_B + i] =
                D[3 * i] * AB[0] + D[3 * i + 1] * AB[1] + D[3 * i + 2] * AB[2];
            FMO_UNROLL
            for (int j = i; j < 3; j++)
                folded[FMO_FAR_SUM_D + FMO_D(i, j)] =
                    i == j ? D[4 * i] : D[3 * i + j] + D[3 * j + i];
        }
        folded[FMO_FAR_SUM_AB] = AB[0] * folded[FMO_FAR_SUM_B] + AB[1] * folded[FMO_FAR_SUM_B + 1] +
                                 AB[2] * folded[FMO_FAR_SUM_B + 2];
        folded[FMO_FAR_SUM_SAME] = D[0] + D[4] + D[8];
    }
}

/* Moments H of one node. */
FMO_HD void fmo_far_moments(int kind, const fmo_real *coefficient, const fmo_real *folded,
                            fmo_real *H)
{
    if (kind == 0) H[0] = coefficient[0] * folded[0];
    if (kind == 1) {
        H[0] = coefficient[FMO_FAR_PS_S] * folded[FMO_FAR_SUM_S] +
               coefficient[FMO_FAR_PS_LINE] * folded[FMO_FAR_SUM_PS];
        FMO_UNROLL
        for (int i = 0; i < 3; i++)
            H[1 + i] = coefficient[FMO_FAR_PS_HALF] * folded[FMO_FAR_SUM_P + i];
    }
    if (kind == 2) {
        H[0] = coefficient[FMO_FAR_PP_LINE] * folded[FMO_FAR_SUM_AB] +
               coefficient[FMO_FAR_PP_SAME] * folded[FMO_FAR_SUM_SAME];
        FMO_UNROLL
        for (int i = 0; i < 3; i++)
            H[1 + i] = coefficient[FMO_FAR_PP_A] * folded[FMO_FAR_SUM_A + i] +
                       coefficient[FMO_FAR_PP_B] * folded[FMO_FAR_SUM_B + i];
        FMO_UNROLL
        for (int d = 0; d < 6; d++)
            H[4 + d] = coefficient[FMO_FAR_PP_HALF2] * folded[FMO_FAR_SUM_D + d];
    }
}

/* Adds to the potentials (and their derivatives) of two nodes at each other, R = P - Q. */
FMO_HD void fmo_far_interact(int kind_bra, int kind_ket, const fmo_real *R, const fmo_real *H_bra,
                             const fmo_real *H_ket, fmo_real *V_bra, fmo_real *V_ket)
{
    fmo_real T[FMO_FAR_TERMS_MAX];
    fmo_far_derivatives(kind_bra + kind_ket, R, T);
    FMO_UNROLL
    for (int e = 0; e < FMO_FAR_TERMS(kind_bra); e++) {
        FMO_UNROLL
        for (int f = 0; f < FMO_FAR_TERMS(kind_ket); f++) {
            const fmo_real t = T[fmo_far_index(fmo_far_power(e, 0) + fmo_far_power(f, 0),
                                               fmo_far_power(e, 1) + fmo_far_power(f, 1),
                                               fmo_far_power(e, 2) + fmo_far_power(f, 2))];
            if (f >= 1 && f < 4) { /* d/dQ = -d/dR, to an odd power */
                V_bra[e] -= t * H_ket[f];
                V_ket[f] -= t * H_bra[e];
            } else {
                V_bra[e] += t * H_ket[f];
                V_ket[f] += t * H_bra[e];
            }
        }
    }
}

/* Adds what potential V at one node means to its pair. */
FMO_HD void fmo_far_potential(int kind, const fmo_real *coefficient, const fmo_real *V,
                              fmo_real *sums)
{
    if (kind == 0) sums[0] += coefficient[0] * V[0];
    if (kind == 1) {
        sums[FMO_FAR_SUM_S] += coefficient[FMO_FAR_PS_S] * V[0];
        sums[FMO_FAR_SUM_PS] += coefficient[FMO_FAR_PS_LINE] * V[0];
        FMO_UNROLL
        for (int i = 0; i < 3; i++)
            sums[FMO_FAR_SUM_P + i] += coefficient[FMO_FAR_PS_HALF] * V[1 + i];
    }
    if (kind == 2) {
        sums[FMO_FAR_SUM_AB] += coefficient[FMO_FAR_PP_LINE] * V[0];
        sums[FMO_FAR_SUM_SAME] += coefficient[FMO_FAR_PP_SAME] * V[0];
        FMO_UNROLL
        for (int i = 0; i < 3; i++) {
            sums[FMO_FAR_SUM_A + i] += coefficient[FMO_FAR_PP_A] * V[1 + i];
            sums[FMO_FAR_SUM_B + i] += coefficient[FMO_FAR_PP_B] * V[1 + i];
        }
        FMO_UNROLL
        for (int d = 0; d < 6; d++)
            sums[FMO_FAR_SUM_D + d] += coefficient[FMO_FAR_PP_HALF2] * V[4 + d];
    }
}

/* [sums] of a pair -> J[products]. */
FMO_HD void fmo_far_unfold(int kind, const fmo_real *AB, const fmo_real *sums, fmo_real *J)
{
    if (kind == 0) J[0] = sums[0];
    if (kind == 1) {
        J[0] = sums[FMO_FAR_SUM_S];
        FMO_UNROLL
        for (int i = 0; i < 3; i++)
            J[1 + i] = sums[FMO_FAR_SUM_P + i] + AB[i] * sums[FMO_FAR_SUM_PS];
    }
    FMO_UNROLL
    for (int i = 0; i < 3 && kind == 2; i++) {
        FMO_UNROLL
        for (int j = 0; j < 3; j++) {
            const fmo_real t = sums[FMO_FAR_SUM_D + FMO_D(i, j)] + AB[j] * sums[FMO_FAR_SUM_B + i] +
                               AB[i] * (sums[FMO_FAR_SUM_A + j] + AB[j] * sums[FMO_FAR_SUM_AB]);
            J[3 * i + j] = i == j ? t + sums[FMO_FAR_SUM_SAME] : t;
        }
    }
}

/* Integrals. A pair's coefficients go with moments of order 0, 1 or 2 each; what two coefficients
 * are summed with are all derivatives of the sum of their orders, FMO_FAR_OF_ORDER, so that a
 * quartet has FMO_FAR_BLOCKS(kind_bra, kind_ket) sums over pairs of nodes: [coefficient of the
 * bra][of the ket][derivative]. */
#define FMO_FAR_OF_ORDER(order) (((order) + 1) * ((order) + 2) / 2)
#define FMO_FAR_ROW(kind_ket, order)                                                     \
    ((kind_ket) == 0   ? FMO_FAR_OF_ORDER(order)                                         \
     : (kind_ket) == 1 ? 2 * FMO_FAR_OF_ORDER(order) + FMO_FAR_OF_ORDER((order) + 1)     \
                       : 2 * (FMO_FAR_OF_ORDER(order) + FMO_FAR_OF_ORDER((order) + 1)) + \
                             FMO_FAR_OF_ORDER((order) + 2))
#define FMO_FAR_BLOCKS(kind_bra, kind_ket)                         \
    ((kind_bra) == 0 ? FMO_FAR_ROW(kind_ket, 0)                    \
     : (kind_bra) == 1                                             \
         ? 2 * FMO_FAR_ROW(kind_ket, 0) + FMO_FAR_ROW(kind_ket, 1) \
         : 2 * (FMO_FAR_ROW(kind_ket, 0) + FMO_FAR_ROW(kind_ket, 1)) + FMO_FAR_ROW(kind_ket, 2))

/* The order of the moments that a coefficient goes with, of any kind. */
FMO_HD int fmo_far_order(int coefficient)
{
    return coefficient / 2;
}

/* Where the sums of coefficients b and k start. */
FMO_HD int fmo_far_block(int kind_ket, int b, int k)
{
    const int order = fmo_far_order(b);
    const int row =
        b < 2 ? b * FMO_FAR_ROW(kind_ket, 0)
              : 2 * FMO_FAR_ROW(kind_ket, 0) + (b < 4 ? b - 2 : 2) * FMO_FAR_ROW(kind_ket, 1);
    return row + (k < 2 ? k * FMO_FAR_OF_ORDER(order)
                        : 2 * FMO_FAR_OF_ORDER(order) +
                              (k < 4 ? k - 2 : 2) * FMO_FAR_OF_ORDER(order + 1));
}

/* Adds two nodes, R = P - Q, to the sums of a quartet. */
FMO_HD void fmo_far_add_nodes(int kind_bra, int kind_ket, const fmo_real *R,
                              const fmo_real *bra_coefficient, const fmo_real *ket_coefficient,
                              fmo_real *blocks)
{
    const int bras = FMO_FAR_COEFFICIENTS(kind_bra), kets = FMO_FAR_COEFFICIENTS(kind_ket);
    fmo_real T[FMO_FAR_TERMS_MAX] = {0};
    fmo_far_derivatives(kind_bra + kind_ket, R, T);
    FMO_UNROLL
    for (int b = 0; b < bras; b++) {
        FMO_UNROLL
        for (int k = 0; k < kets; k++) {
            const int order = fmo_far_order(b) + fmo_far_order(k);
            const int to = fmo_far_block(kind_ket, b, k);
            const fmo_real c = bra_coefficient[b] * ket_coefficient[k];
            FMO_UNROLL
            for (int t = 0; t < FMO_FAR_OF_ORDER(order); t++)
                blocks[to + t] += c * T[FMO_FAR_TERMS(order - 1) + t];
        }
    }
}

/* The coefficient and the moment that a sum over the nodes of a pair (FMO_FAR_SUM_...) goes with.
 */
FMO_HD int fmo_far_sum_coefficient(int kind, int sum)
{
    if (kind < 2) return sum < FMO_FAR_SUM_P ? sum : FMO_FAR_PS_HALF;
    return sum < FMO_FAR_SUM_A   ? sum
           : sum < FMO_FAR_SUM_B ? FMO_FAR_PP_A
           : sum < FMO_FAR_SUM_D ? FMO_FAR_PP_B
                                 : FMO_FAR_PP_HALF2;
}
FMO_HD int fmo_far_sum_moment(int kind, int sum)
{
    if (sum < 2) return 0;
    if (kind < 2) return 1 + sum - FMO_FAR_SUM_P;
    return sum < FMO_FAR_SUM_D ? 1 + (sum - FMO_FAR_SUM_A) % 3 : 4 + sum - FMO_FAR_SUM_D;
}

/* Sums over pairs of nodes -> eri[products of the bra][of the ket]. */
FMO_HD void fmo_far_integrals(int kind_bra, int kind_ket, const fmo_real *AB, const fmo_real *CD,
                              const fmo_real *blocks, fmo_real *eri)
{
    const int bra_sums = FMO_FAR_SUMS(kind_bra), ket_sums = FMO_FAR_SUMS(kind_ket);
    const int bra_products = FMO_FAR_PRODUCTS(kind_bra), cds = FMO_FAR_PRODUCTS(kind_ket);
    fmo_real half[FMO_FAR_SUMS(2)][FMO_FAR_PRODUCTS(2)] = {{0}}; /* the ket unfolded */
    FMO_UNROLL
    for (int b = 0; b < bra_sums; b++) {
        fmo_real sums[FMO_FAR_SUMS(2)] = {0};
        const int i = fmo_far_sum_coefficient(kind_bra, b), e = fmo_far_sum_moment(kind_bra, b);
        FMO_UNROLL
        for (int k = 0; k < ket_sums; k++) {
            const int j = fmo_far_sum_coefficient(kind_ket, k), f = fmo_far_sum_moment(kind_ket, k);
            const int order = fmo_far_order(i) + fmo_far_order(j);
            const int at = fmo_far_index(fmo_far_power(e, 0) + fmo_far_power(f, 0),
                                         fmo_far_power(e, 1) + fmo_far_power(f, 1),
                                         fmo_far_power(e, 2) + fmo_far_power(f, 2));
            const fmo_real v =
                blocks[fmo_far_block(kind_ket, i, j) + at - FMO_FAR_TERMS(order - 1)];
            sums[k] = f >= 1 && f < 4 ? -v : v; /* d/dQ = -d/dR, to an odd power */
        }
        fmo_far_unfold(kind_ket, CD, sums, half[b]);
    }
    FMO_UNROLL
    for (int cd = 0; cd < cds; cd++) {
        fmo_real sums[FMO_FAR_SUMS(2)] = {0}, products[FMO_FAR_PRODUCTS(2)] = {0};
        FMO_UNROLL
        for (int b = 0; b < bra_sums; b++) sums[b] = half[b][cd];
        fmo_far_unfold(kind_bra, AB, sums, products);
        FMO_UNROLL
        for (int ab = 0; ab < bra_products; ab++) eri[ab * cds + cd] = products[ab];
    }
}

/* The nodes. A function f that is smooth along the line of a pair's primitives is taken as its
 * interpolation polynomial, sum_m c_m f(s_m) = sum_j [sum_m c_m L_j(s_m)] f(x_j), L_j the Lagrange
 * polynomials of the nodes x_j. Polynomials of degree n - 1 are exact for any n nodes. These are
 * those of Gauss quadrature for the sizes of the primitives: where all coefficients went like the
 * sizes, degree 2n - 1 would be exact, and as they nearly do, little is left of it. */

/* Primitives closer than this, in units of AB, have one centre: s itself has rounding errors. */
#define FMO_FAR_ONE_CENTRE (64 * 2.2204460492503131e-16)

FMO_HD double fmo_far_place(const double *prim, const double *AB)
{
    int x = 0; /* the largest component */
    for (int i = 1; i < 3; i++)
        if (fabs(AB[i]) > fabs(AB[x])) x = i;
    return AB[x] == 0.0 ? 0.0 : prim[FMO_PAIR_X + x] / AB[x];
}

/* A primitive's coefficients [FMO_FAR_COEFFICIENTS(kind)], its place, and the ratio that only kind
 * 1 has. */
FMO_HD void fmo_far_coefficients(int kind, const double *prim, double ratio, double s,
                                 double *coefficient)
{
    const double c = fmo_far_charge(prim[FMO_PAIR_P], prim[FMO_PAIR_K]);
    const double half = prim[FMO_PAIR_HALF];
    if (kind == 0) coefficient[0] = c;
    if (kind == 1) {
        coefficient[FMO_FAR_PS_S] = c * ratio;
        coefficient[FMO_FAR_PS_LINE] = c * s;
        coefficient[FMO_FAR_PS_HALF] = c * half;
    }
    if (kind == 2) {
        coefficient[FMO_FAR_PP_LINE] = c * s * (1.0 + s);
        coefficient[FMO_FAR_PP_SAME] = c * half;
        coefficient[FMO_FAR_PP_A] = c * half * s;
        coefficient[FMO_FAR_PP_B] = c * half * (1.0 + s);
        coefficient[FMO_FAR_PP_HALF2] = c * half * half;
    }
}

/* Places and coefficients of all primitives of a pair: num >= 1 records of FMO_PAIR_FIELDS, and
 * their ratios, which only kind 1 reads -> place[num], a primitive's centre is A + place AB, and
 * coefficient[num][FMO_FAR_COEFFICIENTS(kind)]. */
FMO_HD void fmo_far_primitives(int kind, int num, const double *prim, const double *ratio,
                               const double *AB, double *place, double *coefficient)
{
    for (int m = 0; m < num; m++) {
        const double *const record = prim + m * FMO_PAIR_FIELDS;
        place[m] = fmo_far_place(record, AB);
        fmo_far_coefficients(kind, record, kind == 1 ? ratio[m] : 0.0, place[m],
                             coefficient + m * FMO_FAR_COEFFICIENTS(kind));
    }
}

/* The largest |AB_x|. */
FMO_HD double fmo_far_width(const double *AB)
{
    return fmax(fmax(fabs(AB[0]), fabs(AB[1])), fabs(AB[2]));
}

/* Bounds on the moments of order 0, 1 and 2 of any product of a pair, from sums of sizes over its
 * primitives (as for fmo_far_nodes). Two far products at least g apart
 * have an integral of at most sum_ab M_a N_b (a+b)! / g^(a+b+1), as (a+b)! / g^(a+b+1) bounds the
 * derivatives of 1/R. */
FMO_HD void fmo_far_largest(int kind, int num, const double *prim, const double *ratio,
                            const double *AB, double *moment)
{
    const double width = fmo_far_width(AB);
    double carried = 0.0;
    moment[0] = moment[1] = moment[2] = 0.0;
    for (int m = 0; m < num; m++) {
        const double *record = prim + m * FMO_PAIR_FIELDS;
        const double c = fabs(fmo_far_charge(record[FMO_PAIR_P], record[FMO_PAIR_K]));
        const double half = record[FMO_PAIR_HALF], s = fmo_far_place(record, AB);
        if (kind == 0) moment[0] += c;
        if (kind == 1) {
            carried += c * fabs(ratio[m]);
            moment[0] += c * fabs(s) * width;
            moment[1] += c * half;
        }
        if (kind == 2) {
            moment[0] += c * (fabs(s * (1.0 + s)) * width * width + half);
            moment[1] += c * half * (fabs(s) + fabs(1.0 + s)) * width;
            moment[2] += c * half * half;
        }
    }
    moment[0] = fmax(moment[0], carried);
}

/* How much a coefficient weighs: its factor of AB, and its moments' distance. */
FMO_HD double fmo_far_scale(int kind, int coefficient, double width, double distance)
{
    const double moment = fmo_far_order(coefficient) == 0   ? 1.0
                          : fmo_far_order(coefficient) == 1 ? 1.0 / distance
                                                            : 2.0 / (distance * distance);
    if (kind == 1 && coefficient == FMO_FAR_PS_LINE) return width * moment;
    if (kind == 2 && coefficient == FMO_FAR_PP_LINE) return width * width * moment;
    if (kind == 2 && (coefficient == FMO_FAR_PP_A || coefficient == FMO_FAR_PP_B))
        return width * moment;
    return moment;
}

/* Where a pair's nodes can be: its segment, and the recurrence p_k+1 = (t - a_k) p_k - b_k p_k-1 of
 * the polynomials that are orthogonal over it, t from -1 to 1. */
typedef struct fmo_far_line {
    double middle, half; /* of s */
    int degree;          /* of the recurrence; as many nodes leave nothing out */
    double a[FMO_FAR_NODES_MAX], b[FMO_FAR_NODES_MAX];
    double zero[FMO_FAR_NODES_MAX]; /* of p_zeros, ascending */
    int zeros;
} fmo_far_line;

FMO_HD double fmo_far_polynomial(const fmo_far_line *line, int degree, double t)
{
    double p = 1.0, before = 0.0;
    for (int k = 0; k < degree; k++) {
        const double next = (t - line->a[k]) * p - line->b[k] * before;
        before = p;
        p = next;
    }
    return p;
}

/* The distance at which a primitive's moments are weighed against its charge, in bohr. */
#define FMO_FAR_TYPICAL 8.0

/* Polynomials whose square is less than this, in the mean, are zero at all primitives. */
#define FMO_FAR_NOTHING 1e-28

/* From the primitives' places and coefficients. Stieltjes' procedure: Gautschi, Orthogonal
 * Polynomials (Oxford 2004), 2.2.3.1. */
FMO_HD void fmo_far_find_line(int kind, int num, const double *prim_place,
                              const double *prim_coefficient, const double *AB, fmo_far_line *line)
{
    const int fields = FMO_FAR_COEFFICIENTS(kind);
    double scale[FMO_FAR_COEFFICIENTS(2)], before = 1.0, all = 0.0;
    double low = INFINITY, high = -INFINITY;
    for (int m = 0; m < num; m++) {
        low = fmin(low, prim_place[m]);
        high = fmax(high, prim_place[m]);
    }
    line->middle = 0.5 * (low + high);
    line->half = high - low <= FMO_FAR_ONE_CENTRE ? 0.0 : 0.5 * (high - low);
    line->degree = line->half == 0.0;
    line->a[0] = line->b[0] = 0.0;
    line->zeros = 0;
    for (int f = 0; f < fields; f++)
        scale[f] = fmo_far_scale(kind, f, fmo_far_width(AB), FMO_FAR_TYPICAL);
    for (int k = 0; k < FMO_FAR_NODES_MAX && line->half > 0.0; k++) {
        double norm = 0.0, first = 0.0;
        for (int m = 0; m < num; m++) {
            const double t = (prim_place[m] - line->middle) / line->half;
            const double p = fmo_far_polynomial(line, k, t);
            double size = 0.0;
            for (int f = 0; f < fields; f++)
                size += scale[f] * fabs(prim_coefficient[m * fields + f]);
            norm += size * p * p;
            first += size * p * p * t;
        }
        if (k == 0) all = norm;
        if (!(norm > FMO_FAR_NOTHING * all)) return;
        line->a[k] = first / norm;
        line->b[k] = k ? norm / before : 0.0;
        before = norm;
        line->degree = k + 1;
    }
}

/* The zeros of p_n, n at most line->degree, from those of p_n-1, between which they lie. */
FMO_HD void fmo_far_find_zeros(fmo_far_line *line, int n)
{
    if (line->zeros > n) line->zeros = 0;
    while (line->zeros < n) {
        const int degree = ++line->zeros;
        for (int j = degree - 1; j >= 0; j--) {
            double low = j > 0 ? line->zero[j - 1] : -1.0;
            double high = j < degree - 1 ? line->zero[j] : 1.0;
            const int sign = (degree - j) % 2; /* p_n < 0 below its last zero, and so on */
            for (int bit = 0; bit < 45; bit++) {
                const double t = 0.5 * (low + high);
                if ((fmo_far_polynomial(line, degree, t) < 0.0) == sign)
                    low = t;
                else
                    high = t;
            }
            line->zero[j] = 0.5 * (low + high);
        }
    }
}

/* L_j(s) of n nodes. */
FMO_HD double fmo_far_lagrange(int n, const double *node, int j, double s)
{
    double product = 1.0, divisor = 1.0;
    for (int k = 0; k < n; k++)
        if (k != j) {
            product *= s - node[k];
            divisor *= node[j] - node[k];
        }
    return product / divisor;
}

/* At most n nodes for the primitives of one pair, like these: place[n] and
 * coefficient[n][FMO_FAR_COEFFICIENTS(kind)]. Returns how many there are: n, or fewer, without any
 * error, if there are no more primitives than that or all have one centre. */
FMO_HD int fmo_far_nodes(int kind, int num, const double *prim_place,
                         const double *prim_coefficient, fmo_far_line *line, int n, double *place,
                         double *coefficient)
{
    const int fields = FMO_FAR_COEFFICIENTS(kind), own = line->half > 0.0 && num <= n;
    const int used = own ? num : n < line->degree ? n : line->degree;
    if (!own) fmo_far_find_zeros(line, used);
    for (int j = 0; j < used; j++) {
        place[j] = own ? prim_place[j] : line->middle + line->half * line->zero[j];
        for (int f = 0; f < fields; f++)
            coefficient[j * fields + f] = own ? prim_coefficient[j * fields + f] : 0.0;
    }
    for (int m = 0; m < num && !own; m++)
        for (int j = 0; j < used; j++) {
            const double weight = fmo_far_lagrange(used, place, j, prim_place[m]);
            for (int f = 0; f < fields; f++)
                coefficient[j * fields + f] += weight * prim_coefficient[m * fields + f];
        }
    return used;
}

/* Adds `sign` times the multipoles of order `order` of primitives or nodes, about the middle of the
 * segment, in units of 1/unit. */
FMO_HD void fmo_far_add_multipoles(int fields, int num, const double *place,
                                   const double *coefficient, double middle, double unit, int order,
                                   double sign, double *sums)
{
    for (int m = 0; m < num; m++) {
        double power = sign;
        for (int i = 0; i < order; i++) power *= (place[m] - middle) * unit;
        for (int f = 0; f < fields; f++) sums[f] += power * coefficient[m * fields + f];
    }
}

/* What nodes leave out of the potential of a pair, at most, times the distance d from the middle of
 * its segment, which is at least the segment's length: the multipoles that the nodes have not got
 * right, those of low order by rounding. */
FMO_HD double fmo_far_error(int kind, int num, const double *prim_place,
                            const double *prim_coefficient, const double *AB,
                            const fmo_far_line *line, int nodes, const double *place,
                            const double *coefficient, double d)
{
    const int fields = FMO_FAR_COEFFICIENTS(kind);
    const double unit = sqrt(AB[0] * AB[0] + AB[1] * AB[1] + AB[2] * AB[2]) / d;
    double error = 0.0;
    for (int order = 0; order <= 2 * nodes + 2; order++) {
        double left[FMO_FAR_COEFFICIENTS(2)] = {0};
        fmo_far_add_multipoles(fields, num, prim_place, prim_coefficient, line->middle, unit, order,
                               1.0, left);
        fmo_far_add_multipoles(fields, nodes, place, coefficient, line->middle, unit, order, -1.0,
                               left);
        for (int f = 0; f < fields; f++) {
            /* moments meet the derivatives of 1/d^(order+1) */
            double factor = fmo_far_scale(kind, f, fmo_far_width(AB), d);
            for (int i = 1; i <= fmo_far_order(f); i++) factor *= (double)(order + i) / i;
            error += fabs(left[f]) * factor;
        }
    }
    return error;
}

/* Far quartets have a T of at least this (docs/theory.md), and, for the nodes' errors, gaps between
 * their segments that are at least as long as half of either segment. */
#define FMO_FAR_T 7.0

/* So near to the middle of its segment the other one may come: half its length, largest 1/p. */
FMO_HD double fmo_far_nearest(double half, double spread)
{
    return half + fmax(half, sqrt(FMO_FAR_T * spread));
}

/* What n nodes of a pair leave out at distance d, as binary logarithms of A and rho: A (rho/d)^n.
 */
typedef struct fmo_far_fit {
    float log_A, log_rho;
} fmo_far_fit;

/* From the errors of choices 0, 1, ... at one distance, the least that may be asked for: as one
 * node has it, and for none less. Choices from `cap` on have no error. */
FMO_HD fmo_far_fit fmo_far_fit_errors(int cap, double d, const double *error)
{
    const double least = -100.0, one = cap > 0 ? fmax(log2(error[0]), least) : least;
    double log_x = cap > 1 ? least : one;
    for (int c = 1; c < cap; c++)
        log_x = fmax(log_x, (fmax(log2(error[c]), least) - one) / (FMO_FAR_NODES(c) - 1));
    const fmo_far_fit fit = {(float)(one - log_x), (float)(log_x + log2(d))};
    return fit;
}

/* A quotient; to seven digits on a GPU. */
FMO_HD float fmo_far_quotient(float a, float b)
{
#ifdef __CUDA_ARCH__
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
    return a * r;
#else
    return a / b;
#endif
}

/* How many nodes a pair needs: the smallest choice (FMO_FAR_NODES) with A x^n at most `tolerance`,
 * x = rho/d; FMO_FAR_CHOICES if none is. Arguments are the binary logarithms of x, which is to be
 * less than 0.7, and of tolerance / A. */
FMO_HD int fmo_far_nodes_needed(float log_x, float log_tolerance)
{
    const float n = fmo_far_quotient(log_tolerance, log_x);
    if (!(log_x <= -0.5f && n <= (float)FMO_FAR_NODES_MAX)) return FMO_FAR_CHOICES;
#ifdef __CUDA_ARCH__
    const int choice = __float2int_ru(n) - 1;
#else
    const int choice = (int)ceilf(n) - 1;
#endif
    return choice < 0 ? 0 : choice > FMO_FAR_CHOICES - 1 ? FMO_FAR_CHOICES - 1 : choice;
}

#endif
