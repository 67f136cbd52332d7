/* Contracted electron repulsion integrals by another algorithm than the classes:
 * McMurchie and Davidson, J. Comput. Phys. 26, 218 (1978), in the precision of the includer.
 * Any angular momentum, Cartesian functions. Define FMO_REF_REAL (double for `--mode reference`,
 * long double for the class tests). */
#ifndef FMO_ERI_REFERENCE_H
#define FMO_ERI_REFERENCE_H

#include <stddef.h>

#include "integrals/boys/boys_reference.h"
#include "integrals/tables.h"

typedef struct eri_reference_shell {
    int l;
    int prim_num;
    const double *exponent, *coefficient;
    const double *center;
    const double *weight; /* norms of the primitives over that of the shell; or NULL */
} eri_reference_shell;

enum {
    ERI_REF_POWERS = FMO_ANG_MOM_MAX + 1,     /* of x at one centre, from 0 */
    ERI_REF_HERMITE = FMO_PAIR_ORDER_MAX + 1, /* Hermite functions of a product */
    ERI_REF_DIM = FMO_ERI_ORDER_MAX + 1
};

/* Hermite expansion of a product of two 1D Gaussians x_A^i x_B^j: E[i][j][t], by
 * E^(i+1,j)_t = h E^(ij)_(t-1) + PA E^(ij)_t + (t+1) E^(ij)_(t+1), and with PB for j. */
static inline void
eri_reference_hermite(FMO_REF_REAL PA, FMO_REF_REAL PB, FMO_REF_REAL p,
                      FMO_REF_REAL E[ERI_REF_POWERS][ERI_REF_POWERS][ERI_REF_HERMITE])
{
    const FMO_REF_REAL h = 1 / (2 * p);
    for (int i = 0; i < ERI_REF_POWERS; i++) {
        for (int j = 0; j < ERI_REF_POWERS; j++) {
            const FMO_REF_REAL *from = j ? E[i][j - 1] : i ? E[i - 1][j] : NULL;
            const FMO_REF_REAL shift = j ? PB : PA;
            for (int t = 0; t < ERI_REF_HERMITE; t++) {
                E[i][j][t] = !from && t == 0;
                if (!from || t > i + j) continue;
                E[i][j][t] = shift * from[t];
                if (t > 0) E[i][j][t] += h * from[t - 1];
                if (t + 1 < i + j) E[i][j][t] += (t + 1) * from[t + 1];
            }
        }
    }
}

/* Hermite Coulomb integrals R_tuv, t+u+v <= L, by recursion from (-2 alpha)^n F_n. */
static inline void eri_reference_coulomb(int L, FMO_REF_REAL alpha, const FMO_REF_REAL *PQ,
                                         FMO_REF_REAL R[ERI_REF_DIM][ERI_REF_DIM][ERI_REF_DIM])
{
    FMO_REF_REAL F[ERI_REF_DIM];
    boys_reference(alpha * (PQ[0] * PQ[0] + PQ[1] * PQ[1] + PQ[2] * PQ[2]), L, F);
    /* W[n]: R^(n) with t+u+v <= L-n; built downwards in n, level n from level n+1. */
    FMO_REF_REAL W[2][ERI_REF_DIM][ERI_REF_DIM][ERI_REF_DIM];
    for (int n = L; n >= 0; n--) {
        FMO_REF_REAL(*now)[ERI_REF_DIM][ERI_REF_DIM] = n ? W[n & 1] : R;
        FMO_REF_REAL(*up)[ERI_REF_DIM][ERI_REF_DIM] = W[(n + 1) & 1];
        FMO_REF_REAL power = 1;
        for (int k = 0; k < n; k++) power *= -2 * alpha;
        now[0][0][0] = power * F[n];
        for (int t = 0; t <= L - n; t++) {
            for (int u = 0; u <= L - n - t; u++) {
                for (int v = 0; v <= L - n - t - u; v++) {
                    if (t > 0)
                        now[t][u][v] =
                            PQ[0] * up[t - 1][u][v] + (t > 1 ? (t - 1) * up[t - 2][u][v] : 0);
                    else if (u > 0)
                        now[t][u][v] =
                            PQ[1] * up[t][u - 1][v] + (u > 1 ? (u - 1) * up[t][u - 2][v] : 0);
                    else if (v > 0)
                        now[t][u][v] =
                            PQ[2] * up[t][u][v - 1] + (v > 1 ? (v - 1) * up[t][u][v - 2] : 0);
                }
            }
        }
    }
}

typedef struct eri_reference_pair {
    FMO_REF_REAL p, factor, size, P[3], E[3][ERI_REF_POWERS][ERI_REF_POWERS][ERI_REF_HERMITE];
} eri_reference_pair;

static inline eri_reference_pair eri_reference_pair_make(const eri_reference_shell *A,
                                                         const eri_reference_shell *B, int i, int j)
{
    eri_reference_pair z;
    const FMO_REF_REAL a = A->exponent[i], b = B->exponent[j];
    FMO_REF_REAL r2 = 0;
    z.p = a + b;
    for (int x = 0; x < 3; x++) {
        const FMO_REF_REAL AB = (FMO_REF_REAL)A->center[x] - B->center[x];
        r2 += AB * AB;
        z.P[x] = A->center[x] - b / z.p * AB;
        eri_reference_hermite(-b / z.p * AB, a / z.p * AB, z.p, z.E[x]);
    }
    const FMO_REF_REAL decayed = exp(-a * b / z.p * r2);
    z.factor = (FMO_REF_REAL)A->coefficient[i] * B->coefficient[j] * decayed;
    z.size = A->weight && B->weight ? A->weight[i] * B->weight[j] * decayed : fabs(z.factor);
    return z;
}

/* eri[((a*nb + b)*nc + c)*nd + d] of one contracted quartet, fmo_shell_functions a shell. Primitive
 * pairs are left out whose weights times exp(-ab/p |AB|^2) are no larger than `negligible`, a
 * relative measure, as exponents may be of any size; without weights those that are 0. */
static inline void eri_reference(const eri_reference_shell shell[4], FMO_REF_REAL negligible,
                                 FMO_REF_REAL *eri)
{
    const FMO_REF_REAL pi = 3.14159265358979323846264338327950288L;
    int n[4], power[4][FMO_SHELL_FUNCTIONS_MAX][3], L = 0;
    for (int s = 0; s < 4; s++) n[s] = fmo_shell_functions(shell[s].l), L += shell[s].l;
    for (int s = 0; s < 4; s++)
        for (int c = 0; c < n[s]; c++)
            for (int x = 0; x < 3; x++) power[s][c][x] = fmo_shell_power(shell[s].l, c, x);
    const int Lbra = shell[0].l + shell[1].l, Lket = shell[2].l + shell[3].l;
    const int n_ket = n[2] * n[3], n_all = n[0] * n[1] * n_ket;
    for (int i = 0; i < n_all; i++) eri[i] = 0;
    for (int ab = 0; ab < shell[0].prim_num * shell[1].prim_num; ab++) {
        const eri_reference_pair bra = eri_reference_pair_make(
            &shell[0], &shell[1], ab / shell[1].prim_num, ab % shell[1].prim_num);
        if (bra.size <= negligible) continue;
        /* Hermite bra | contracted ket */
        FMO_REF_REAL
        H[ERI_REF_HERMITE][ERI_REF_HERMITE][ERI_REF_HERMITE][FMO_PAIR_PRODUCTS_MAX] = {{{{0}}}};
        for (int cd = 0; cd < shell[2].prim_num * shell[3].prim_num; cd++) {
            const eri_reference_pair ket = eri_reference_pair_make(
                &shell[2], &shell[3], cd / shell[3].prim_num, cd % shell[3].prim_num);
            if (ket.size <= negligible) continue;
            const FMO_REF_REAL p = bra.p, q = ket.p;
            FMO_REF_REAL PQ[3], R[ERI_REF_DIM][ERI_REF_DIM][ERI_REF_DIM];
            for (int x = 0; x < 3; x++) PQ[x] = bra.P[x] - ket.P[x];
            eri_reference_coulomb(L, p * q / (p + q), PQ, R);
            const FMO_REF_REAL scale =
                2 * pi * pi * sqrt(pi) / (p * q * sqrt(p + q)) * bra.factor * ket.factor;
            for (int m = 0; m < n_ket; m++) {
                const int c = m / n[3], d = m % n[3];
                const int *const pc = power[2][c], *const pd = power[3][d];
                for (int t2 = 0; t2 <= pc[0] + pd[0]; t2++)
                    for (int u2 = 0; u2 <= pc[1] + pd[1]; u2++)
                        for (int v2 = 0; v2 <= pc[2] + pd[2]; v2++) {
                            FMO_REF_REAL e = scale * ket.E[0][pc[0]][pd[0]][t2] *
                                             ket.E[1][pc[1]][pd[1]][u2] *
                                             ket.E[2][pc[2]][pd[2]][v2];
                            if ((t2 + u2 + v2) & 1) e = -e;
                            for (int t = 0; t <= Lbra; t++)
                                for (int u = 0; u <= Lbra - t; u++)
                                    for (int v = 0; v <= Lbra - t - u; v++)
                                        if (t + u + v + t2 + u2 + v2 <= Lbra + Lket)
                                            H[t][u][v][m] += e * R[t + t2][u + u2][v + v2];
                        }
            }
        }
        for (int k = 0; k < n[0] * n[1]; k++) {
            const int a = k / n[1], b = k % n[1];
            const int *const pa = power[0][a], *const pb = power[1][b];
            for (int t = 0; t <= pa[0] + pb[0]; t++)
                for (int u = 0; u <= pa[1] + pb[1]; u++)
                    for (int v = 0; v <= pa[2] + pb[2]; v++) {
                        const FMO_REF_REAL e = bra.E[0][pa[0]][pb[0]][t] *
                                               bra.E[1][pa[1]][pb[1]][u] *
                                               bra.E[2][pa[2]][pb[2]][v];
                        for (int m = 0; m < n_ket; m++) eri[k * n_ket + m] += e * H[t][u][v][m];
                    }
        }
    }
}

#endif
