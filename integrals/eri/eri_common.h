/* Parts shared by the integral classes: the record of a primitive pair and the work for a primitive
 * quartet that does not depend on the class. Obara and Saika, J. Chem. Phys. 84, 3963 (1986);
 * contracted horizontal recursion after Head-Gordon and Pople, J. Chem. Phys. 89, 5777 (1988).
 *
 * A class `xxxx` consists of
 *
 *    eri_xxxx_prim(quartet, acc)        adds one primitive quartet to eri_xxxx_acc accumulators
 *    eri_xxxx_finish(AB, CD, acc, eri)  contracted accumulators -> integrals
 *    eri_xxxx_prim_flop, eri_xxxx_finish_flop  operations of an efficient implementation, counted
 *                                       by hand (add, multiply, divide, square root: one each)
 *
 * with eri[((a*NB + b)*NC + c)*ND + d] in hartree for unnormalised Cartesian functions. To keep
 * digits, all differences are formed from differences: P-A = -(b/p)(A-B), P-Q = (A-C) + (P-A) -
 * (Q-C), so that values that are zero by symmetry are exactly zero. */
#ifndef FMO_ERI_COMMON_H
#define FMO_ERI_COMMON_H

#include <fmo/operator.h>

#include "integrals/boys/boys.h"

/* The record of one primitive pair: exponent sum p, prefactor, P-A and 1/(2p). The prefactor is c_a
 * c_b exp(-ab/p |AB|^2) sqrt(2) pi^(5/4) / p, so that the product of two prefactors over sqrt(p+q)
 * is the usual one, 2 pi^(5/2) / (p q sqrt(p+q)). */
enum {
    FMO_PAIR_P,
    FMO_PAIR_K,
    FMO_PAIR_X,
    FMO_PAIR_Y,
    FMO_PAIR_Z,
    FMO_PAIR_HALF, /* 1/(2p) */
    FMO_PAIR_FIELDS
};

typedef struct fmo_prim_pair {
    fmo_real p, k, d[3], half; /* d = P-A */
} fmo_prim_pair;

/* One primitive quartet: the input of the vertical recursions. */
typedef struct fmo_prim_quartet {
    fmo_real S[FMO_BOYS_ORDER_MAX + 1]; /* [ss|ss]^(m) */
    fmo_real PA[3], QC[3], WP[3], WQ[3];
    fmo_real half_p, half_q; /* 1/(2p), 1/(2q) */
    fmo_real half_pq;        /* 1/(2(p+q)) */
    fmo_real q_over, p_over; /* q/(p+q), p/(p+q) */
    fmo_real PQ[3], alpha;   /* P-Q, pq/(p+q) */
    fmo_real AB[3], CD[3];   /* for McMurchie-Davidson classes (eri_md.h), set by the caller */
} fmo_prim_quartet;

/* Makes a primitive quartet without its Boys functions; *R2: |P - Q|^2, *prefactor: of S. */
FMO_HD fmo_prim_quartet fmo_prim_quartet_place(const fmo_prim_pair *bra, const fmo_prim_pair *ket,
                                               const fmo_real *AC, fmo_real *R2,
                                               fmo_real *prefactor)
{
    fmo_prim_quartet z;
    const fmo_real rs = fmo_rsqrt(bra->p + ket->p);
    const fmo_real r = rs * rs;
    z.q_over = ket->p * r;
    z.p_over = bra->p * r;
    z.half_p = bra->half;
    z.half_q = ket->half;
    z.half_pq = 0.5 * r;
    FMO_UNROLL
    for (int i = 0; i < 3; i++) {
        z.PA[i] = bra->d[i];
        z.QC[i] = ket->d[i];
        z.PQ[i] = AC[i] + (z.PA[i] - z.QC[i]);
        *R2 = i == 0 ? z.PQ[i] * z.PQ[i] : *R2 + z.PQ[i] * z.PQ[i];
        z.WP[i] = -z.q_over * z.PQ[i];
        z.WQ[i] = z.p_over * z.PQ[i];
    }
    z.alpha = bra->p * z.q_over;
    *prefactor = bra->k * ket->k * rs;
    return z;
}

/* Makes a primitive quartet with its Boys functions. M, the highest order, is a compile-time
 * constant, la + lb + lc + ld; `boys` is the table of that order (boys.h). */
FMO_HD fmo_prim_quartet fmo_prim_quartet_make(const double *boys, int M, const fmo_prim_pair *bra,
                                              const fmo_prim_pair *ket, const fmo_real *AC)
{
    fmo_real R2, prefactor, F[FMO_BOYS_ORDER_MAX + 1];
    fmo_prim_quartet z = fmo_prim_quartet_place(bra, ket, AC, &R2, &prefactor);
    fmo_boys_eval(boys, z.alpha * R2, M, F);
    FMO_UNROLL
    for (int m = 0; m <= M; m++) z.S[m] = prefactor * F[m];
    return z;
}

/* fmo_prim_quartet_make for another operator (operator_rules.h): its long range has the integrals
 * of 1/r with rho replaced by theta rho, times theta^m. */
FMO_HD fmo_prim_quartet fmo_prim_quartet_make_of(const fmo_operator *op, const double *boys, int M,
                                                 const fmo_prim_pair *bra, const fmo_prim_pair *ket,
                                                 const fmo_real *AC)
{
    fmo_real R2, prefactor, F[FMO_BOYS_ORDER_MAX + 1];
    fmo_prim_quartet z = fmo_prim_quartet_place(bra, ket, AC, &R2, &prefactor);
    const double square = op->omega * op->omega;
    const fmo_real sum = square + z.alpha, root = fmo_rsqrt(sum) * op->omega, theta = root * root;
    fmo_boys_eval(boys, theta * z.alpha * R2, M, F);
    fmo_real factor = op->long_range * prefactor * root;
    FMO_UNROLL
    for (int m = 0; m <= M; m++) {
        z.S[m] = factor * F[m];
        factor *= theta;
    }
    if (op->full == 0.0) return z;
    fmo_boys_eval(boys, z.alpha * R2, M, F);
    FMO_UNROLL
    for (int m = 0; m <= M; m++) z.S[m] += op->full * prefactor * F[m];
    return z;
}

/* Index of the Cartesian d function x_i x_j: xx xy xz yy yz zz. */
#define FMO_D(i, j) ((i) <= (j) ? (i) * (5 - (i)) / 2 + (j) : (j) * (5 - (j)) / 2 + (i))

/* [p_i s|ss]^(m), m = 0..m_max: v[m][i]. */
FMO_HD void fmo_vrr_p(const fmo_prim_quartet *z, int m_max, fmo_real v[][3])
{
    FMO_UNROLL
    for (int m = 0; m <= m_max; m++) {
        FMO_UNROLL
        for (int i = 0; i < 3; i++) v[m][i] = z->PA[i] * z->S[m] + z->WP[i] * z->S[m + 1];
    }
}

/* [d_ij s|ss]^(m), m = 0..m_max, from [p_i s|ss]: v[m][FMO_D(i,j)]. */
FMO_HD void fmo_vrr_d(const fmo_prim_quartet *z, int m_max, fmo_real p[][3], fmo_real v[][6])
{
    FMO_UNROLL
    for (int m = 0; m <= m_max; m++) {
        const fmo_real same = z->half_p * (z->S[m] - z->q_over * z->S[m + 1]);
        FMO_UNROLL
        for (int i = 0; i < 3; i++) {
            FMO_UNROLL
            for (int j = i; j < 3; j++) {
                fmo_real t = z->PA[i] * p[m][j] + z->WP[i] * p[m + 1][j];
                v[m][FMO_D(i, j)] = i == j ? t + same : t;
            }
        }
    }
}

/* [p_i s|p_k s]^(m), m = 0..m_max, from [p_i s|ss]: v[m][3 i + k]. */
FMO_HD void fmo_vrr_pp(const fmo_prim_quartet *z, int m_max, fmo_real p[][3], fmo_real v[][9])
{
    FMO_UNROLL
    for (int m = 0; m <= m_max; m++) {
        const fmo_real same = z->half_pq * z->S[m + 1];
        FMO_UNROLL
        for (int i = 0; i < 3; i++) {
            FMO_UNROLL
            for (int k = 0; k < 3; k++) {
                fmo_real t = z->QC[k] * p[m][i] + z->WQ[k] * p[m + 1][i];
                v[m][3 * i + k] = i == k ? t + same : t;
            }
        }
    }
}

/* [d_ij s|p_k s]^(m), m = 0..m_max, from [d s|ss] and [p s|ss]: v[m][3 FMO_D(i,j) + k]. */
FMO_HD void fmo_vrr_dp(const fmo_prim_quartet *z, int m_max, fmo_real p[][3], fmo_real d[][6],
                       fmo_real v[][18])
{
    FMO_UNROLL
    for (int m = 0; m <= m_max; m++) {
        fmo_real h[3];
        FMO_UNROLL
        for (int i = 0; i < 3; i++) h[i] = z->half_pq * p[m + 1][i];
        FMO_UNROLL
        for (int i = 0; i < 3; i++) {
            FMO_UNROLL
            for (int j = i; j < 3; j++) {
                FMO_UNROLL
                for (int k = 0; k < 3; k++) {
                    const int ij = FMO_D(i, j);
                    fmo_real t = z->QC[k] * d[m][ij] + z->WQ[k] * d[m + 1][ij];
                    if (i == k) t += h[j];
                    if (j == k) t += h[i];
                    v[m][3 * ij + k] = t;
                }
            }
        }
    }
}

/* Horizontal recursion on a pp bra, (p_i p_j| = (d_ij s| + AB_j (p_i s|, for each of `columns` ket
 * functions: acc[9][columns] has d (6), then p (3); the result is eri[3][3][columns]. */
FMO_HD void fmo_hrr_pp(int columns, const fmo_real *AB, const fmo_real *acc, fmo_real *eri)
{
    FMO_UNROLL
    for (int i = 0; i < 3; i++) {
        FMO_UNROLL
        for (int j = 0; j < 3; j++) {
            FMO_UNROLL
            for (int c = 0; c < columns; c++)
                eri[(3 * i + j) * columns + c] =
                    acc[FMO_D(i, j) * columns + c] + AB[j] * acc[(6 + i) * columns + c];
        }
    }
}

#endif
