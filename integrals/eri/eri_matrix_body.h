/* What the CPU and the GPU share of eri_matrix.h: a molecule's shells and pairs, the primitives of
 * a pair, the integrals of a pair and of a quartet, and where they go. One pair or one quartet at a
 * time: on the GPU one a thread. */
#ifndef FMO_ERI_MATRIX_BODY_H
#define FMO_ERI_MATRIX_BODY_H

#include "integrals/basis_internal.h"
#include "integrals/eri/eri.h"
#include "integrals/eri/eri_slice.h"
#include "integrals/eri/pair_number.h"
#include "integrals/pairs/prim_bound.h"
#include "integrals/pairs/prim_pair.h"

typedef struct fmo_eri_shell {
    double at[3];
    int prim_begin, prim_num; /* in exponent and coefficient */
    int function;             /* its first in ao and factor */
} fmo_eri_shell;

/* i has the higher angular momentum, or of two alike the larger exponent (shell_pair.h). */
typedef struct fmo_eri_pair {
    int i, j;
    int prim_begin; /* in prim; the shells say how many */
} fmo_eri_pair;

/* A primitive pair and its Schwarz bound. */
typedef struct fmo_eri_prim {
    double pair[FMO_PAIR_FIELDS], bound;
} fmo_eri_prim;

/* Pairs of class P are [pair_begin[P], pair_begin[P + 1]). Arrays may be those of many molecules,
 * with numbers from the beginning of each. */
typedef struct fmo_eri_molecule {
    int nao, nuclei, pair_begin[FMO_PAIR_LIGHT_COUNT + 1];
    const fmo_eri_shell *shell;
    const fmo_eri_pair *pair;
    const double *exponent, *coefficient;
    const int *ao;        /* which of the caller's functions */
    const double *factor; /* and how much of it */
    const double *charge; /* [nuclei] */
    const double *coord;  /* [nuclei][3] */
    fmo_eri_prim *prim;
    double *eri;            /* [pairs][pairs] */
    double *overlap, *core; /* [nao][nao]; NULL: not wanted */
} fmo_eri_molecule;

/* How much of each a molecule needs. */
typedef struct fmo_eri_sizes {
    size_t shells, pairs, primitives, functions, nuclei, prims;
} fmo_eri_sizes;

#ifdef __cplusplus
extern "C" {
#endif
fmo_eri_sizes fmo_eri_matrix_sizes(const fmo_basis *basis);
/* Fills in the numbers, and arrays of the sizes above, but for prim and matrices. */
typedef struct fmo_eri_arrays {
    fmo_eri_shell *shell;
    fmo_eri_pair *pair;
    double *exponent, *coefficient, *factor, *charge, *coord;
    int *ao;
} fmo_eri_arrays;
void fmo_eri_matrix_fill(const fmo_basis *basis, fmo_eri_molecule *molecule,
                         const fmo_eri_arrays *to);
/* fmo_eri_matrix, and overlap and core Hamiltonian in the same way, by the bodies below; NULL: not
 * wanted. */
fmo_status fmo_eri_matrix_of(const fmo_basis *basis, double cutoff, double *eri, double *overlap,
                             double *core, fmo_error *err);
/* The arguments of fmo_eri_matrices_on_gpu, with a GPU and without: FMO_OK, or why it cannot be. */
fmo_status fmo_eri_matrices_check(const fmo_basis *const *basis, size_t count, double *const *eri,
                                  double *const *overlap, double *const *core, fmo_error *err);
#ifdef __cplusplus
}
#endif

FMO_HD double fmo_eri_prim_bound(int li, int lj, const double *AB, const double *prim)
{
#define ROW(P, name, la, lb, partner) \
    if (li == la && lj == lb) return fmo_prim_bound_##name(AB, prim);
    FMO_PAIR_LIGHT_TABLE(ROW)
#undef ROW
    return 0.0;
}

/* The primitives of a pair of shells with these angular momenta. */
FMO_HD void fmo_eri_matrix_pair(int li, int lj, const fmo_eri_molecule *m, const fmo_eri_pair *pair)
{
    const fmo_eri_shell *const a = &m->shell[pair->i], *const b = &m->shell[pair->j];
    fmo_eri_prim *prim = m->prim + pair->prim_begin;
    double AB[3], r2 = 0.0;
    for (int x = 0; x < 3; x++) {
        AB[x] = a->at[x] - b->at[x];
        r2 += AB[x] * AB[x];
    }
    for (int i = a->prim_begin; i < a->prim_begin + a->prim_num; i++) {
        for (int j = b->prim_begin; j < b->prim_begin + b->prim_num; j++, prim++) {
            const double ea = m->exponent[i], eb = m->exponent[j];
            const double decay = fmo_prim_pair_decay(ea, eb, r2);
            const double decayed = decay < -FMO_PAIR_DECAY_MOST ? 0.0 : exp(decay);
            fmo_prim_pair_make(ea, eb, m->coefficient[i], m->coefficient[j], decayed, AB,
                               prim->pair);
            prim->bound = fmo_eri_prim_bound(li, lj, AB, prim->pair);
        }
    }
}

/* s[i][j] = overlap of x_A^i and x_B^j in one dimension, in units of that of two s functions; Obara
 * and Saika, J. Chem. Phys. 84, 3963 (1986). */
enum {
    FMO_CORE_POWERS = FMO_SHELL_LIGHT_COUNT, /* 0 to the highest of a light shell */
    FMO_CORE_POWERS_T = FMO_CORE_POWERS + 2,
    FMO_CORE_PRODUCTS = FMO_CARTESIAN(FMO_CORE_POWERS - 1) * FMO_CARTESIAN(FMO_CORE_POWERS - 1)
};
FMO_STATIC_ASSERT(FMO_CORE_POWERS == 2, "eri_matrix_body.h: the kinetic energy has no term of d")

FMO_HD void fmo_core_overlap_1d(int la, int lb, double PA, double PB, double half,
                                double s[FMO_CORE_POWERS][FMO_CORE_POWERS_T])
{
    s[0][0] = 1.0;
    if (la > 0) s[1][0] = PA;
    FMO_UNROLL
    for (int i = 0; i <= la; i++) {
        FMO_UNROLL
        for (int j = 0; j < lb; j++) {
            s[i][j + 1] = PB * s[i][j];
            if (i > 0) s[i][j + 1] += half * i * s[i - 1][j];
            if (j > 0) s[i][j + 1] += half * j * s[i][j - 1];
        }
    }
}

/* Adds the overlap and the kinetic energy of a primitive pair, S[ni][nj] and H[ni][nj]; `size` is
 * the overlap of two s functions. */
FMO_HD void fmo_core_add(int li, int lj, double size, double b, double half, const double *PA,
                         const double *PB, double *S, double *H)
{
    double s[3][FMO_CORE_POWERS][FMO_CORE_POWERS_T];
    FMO_UNROLL
    for (int x = 0; x < 3; x++) fmo_core_overlap_1d(li, lj + 2, PA[x], PB[x], half, s[x]);
    FMO_UNROLL
    for (int a = 0; a < FMO_CARTESIAN(li); a++) {
        FMO_UNROLL
        for (int c = 0; c < FMO_CARTESIAN(lj); c++) {
            double one[3], kinetic[3];
            FMO_UNROLL
            for (int x = 0; x < 3; x++) {
                const int i = fmo_shell_power(li, a, x), j = fmo_shell_power(lj, c, x);
                one[x] = s[x][i][j];
                kinetic[x] = b * (2 * j + 1) * s[x][i][j] - 2.0 * b * b * s[x][i][j + 2];
            }
            S[a * FMO_CARTESIAN(lj) + c] += size * one[0] * one[1] * one[2];
            H[a * FMO_CARTESIAN(lj) + c] +=
                size * (kinetic[0] * one[1] * one[2] + one[0] * kinetic[1] * one[2] +
                        one[0] * one[1] * kinetic[2]);
        }
    }
}

/* H[ni][nj] += scale sum_tuv E E E R_tuv; R_tuv in the order of eri_slice.h. */
FMO_HD void
fmo_core_attract(int li, int lj, double scale,
                 double E[3][FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS],
                 const double *R, double *H)
{
    FMO_UNROLL
    for (int k = 0; k < FMO_CARTESIAN(li) * FMO_CARTESIAN(lj); k++) {
        const int a = k / FMO_CARTESIAN(lj), c = k % FMO_CARTESIAN(lj);
        double sum = 0.0;
        FMO_UNROLL
        for (int q = 0; q < FMO_HERMITE_COUNT(li + lj); q++) {
            double term = R[q];
            FMO_UNROLL
            for (int x = 0; x < 3; x++) {
                const int i = fmo_shell_power(li, a, x), j = fmo_shell_power(lj, c, x);
                const int t = fmo_slice_power(q, x);
                term *= t <= i + j ? E[x][i][j][t] : 0.0;
            }
            sum += term;
        }
        H[k] += scale * sum;
    }
}

/* Overlap and core Hamiltonian of a pair of shells, to their places; boys: the table of the pair's
 * order. Attraction after McMurchie and Davidson, J. Comput. Phys. 26, 218 (1978), all nuclei at a
 * time. */
FMO_HD void fmo_core_pair(int li, int lj, const fmo_eri_molecule *m, const double *boys,
                          const fmo_eri_pair *pair)
{
    const double pi = 3.14159265358979323846;
    const fmo_eri_shell *const A = &m->shell[pair->i], *const B = &m->shell[pair->j];
    const int ni = FMO_CARTESIAN(li), nj = FMO_CARTESIAN(lj), order = li + lj;
    double S[FMO_CORE_PRODUCTS], H[FMO_CORE_PRODUCTS];
    double AB[3], r2 = 0.0;
    for (int x = 0; x < 3; x++) {
        AB[x] = A->at[x] - B->at[x];
        r2 += AB[x] * AB[x];
    }
    FMO_UNROLL
    for (int k = 0; k < ni * nj; k++) S[k] = H[k] = 0.0;
    for (int i = A->prim_begin; i < A->prim_begin + A->prim_num; i++) {
        for (int j = B->prim_begin; j < B->prim_begin + B->prim_num; j++) {
            const double a = m->exponent[i], b = m->exponent[j], p = a + b, half = 0.5 / p;
            const double product = m->coefficient[i] * m->coefficient[j] * exp(-a * b / p * r2);
            double PA[3], PB[3], R[FMO_HERMITE_COUNT(FMO_PAIR_LIGHT_ORDER_MAX)];
            double E[3][FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS];
            fmo_prim_quartet z;
            FMO_UNROLL
            for (int x = 0; x < 3; x++) {
                PA[x] = -(b / p) * AB[x];
                PB[x] = PA[x] + AB[x];
                fmo_hermite_expand(li, lj, PA[x], PB[x], half, E[x]);
            }
            fmo_core_add(li, lj, product * (pi / p) * sqrt(pi / p), b, half, PA, PB, S, H);
            FMO_UNROLL
            for (int k = 0; k < FMO_HERMITE_COUNT(order); k++) R[k] = 0.0;
            z.alpha = p;
            for (int c = 0; c < m->nuclei; c++) {
                double F[FMO_BOYS_ORDER_MAX + 1], r[FMO_HERMITE_COUNT(FMO_PAIR_LIGHT_ORDER_MAX)];
                double R2 = 0.0;
                FMO_UNROLL
                for (int x = 0; x < 3; x++) {
                    z.PQ[x] = A->at[x] - m->coord[3 * c + x] + PA[x];
                    R2 += z.PQ[x] * z.PQ[x];
                }
                fmo_boys_eval(boys, p * R2, order, F);
                FMO_UNROLL
                for (int k = 0; k <= order; k++) z.S[k] = m->charge[c] * F[k];
                fmo_slice_coulomb(order, &z, r);
                FMO_UNROLL
                for (int k = 0; k < FMO_HERMITE_COUNT(order); k++) R[k] += r[k];
            }
            fmo_core_attract(li, lj, -product * 2.0 * pi / p, E, R, H);
        }
    }
    FMO_UNROLL
    for (int a = 0; a < ni; a++) {
        FMO_UNROLL
        for (int b = 0; b < nj; b++) {
            const int i = A->function + a, j = B->function + b, k = a * nj + b;
            const size_t n = (size_t)m->nao, row = (size_t)m->ao[i], column = (size_t)m->ao[j];
            const double factor = m->factor[i] * m->factor[j];
            m->overlap[row * n + column] = m->overlap[column * n + row] = factor * S[k];
            m->core[row * n + column] = m->core[column * n + row] = factor * H[k];
        }
    }
}

FMO_HD fmo_prim_pair fmo_eri_prim_load(const fmo_eri_prim *from)
{
    const double *const p = from->pair;
    const fmo_prim_pair pair = {p[FMO_PAIR_P],
                                p[FMO_PAIR_K],
                                {p[FMO_PAIR_X], p[FMO_PAIR_Y], p[FMO_PAIR_Z]},
                                p[FMO_PAIR_HALF]};
    return pair;
}

/* eri[ni][nj][nk][nl] of shells to their places. */
FMO_HD void fmo_eri_matrix_put(int ni, int nj, int nk, int nl, const fmo_eri_molecule *m,
                               const fmo_eri_pair *bra, const fmo_eri_pair *ket, const double *eri)
{
    const size_t pairs = (size_t)m->nao * (size_t)(m->nao + 1) / 2;
    const int i = m->shell[bra->i].function, j = m->shell[bra->j].function;
    const int k = m->shell[ket->i].function, l = m->shell[ket->j].function;
    FMO_UNROLL
    for (int a = 0; a < ni; a++) {
        FMO_UNROLL
        for (int b = 0; b < nj; b++) {
            const size_t p = (size_t)fmo_pair_number(m->ao[i + a], m->ao[j + b]);
            const double ab = m->factor[i + a] * m->factor[j + b];
            FMO_UNROLL
            for (int c = 0; c < nk; c++) {
                FMO_UNROLL
                for (int d = 0; d < nl; d++) {
                    const size_t q = (size_t)fmo_pair_number(m->ao[k + c], m->ao[l + d]);
                    const double value = ab * (m->factor[k + c] * m->factor[l + d]) *
                                         eri[((a * nj + b) * nk + c) * nl + d];
                    m->eri[p * pairs + q] = value;
                    m->eri[q * pairs + p] = value;
                }
            }
        }
    }
}

/* fmo_eri_matrix_CLASS: the quartet of a bra and a ket; boys: the table of the class's order. */
#define FMO_ERI_MATRIX_QUARTET(e, name, li, lj, lk, ll, bra_class, ket_class)                   \
    FMO_HD void fmo_eri_matrix_##name(const fmo_eri_molecule *m, const double *boys,            \
                                      const fmo_eri_pair *bra, const fmo_eri_pair *ket,         \
                                      double cutoff)                                            \
    {                                                                                           \
        const fmo_eri_shell *const a = &m->shell[bra->i], *const b = &m->shell[bra->j];         \
        const fmo_eri_shell *const c = &m->shell[ket->i], *const d = &m->shell[ket->j];         \
        const int bras = a->prim_num * b->prim_num, kets = c->prim_num * d->prim_num;           \
        double acc[eri_##name##_acc],                                                           \
            eri[FMO_CARTESIAN(li) * FMO_CARTESIAN(lj) * FMO_CARTESIAN(lk) * FMO_CARTESIAN(ll)]; \
        double AC[3], AB[3], CD[3];                                                             \
        for (int x = 0; x < 3; x++) {                                                           \
            AC[x] = a->at[x] - c->at[x];                                                        \
            AB[x] = a->at[x] - b->at[x];                                                        \
            CD[x] = c->at[x] - d->at[x];                                                        \
        }                                                                                       \
        FMO_UNROLL                                                                              \
        for (int k = 0; k < eri_##name##_acc; k++) acc[k] = 0.0;                                \
        for (int i = 0; i < bras; i++) {                                                        \
            const fmo_eri_prim *const from = &m->prim[bra->prim_begin + i];                     \
            const fmo_prim_pair p = fmo_eri_prim_load(from);                                    \
            for (int j = 0; j < kets; j++) {                                                    \
                const fmo_eri_prim *const to = &m->prim[ket->prim_begin + j];                   \
                if (from->bound * to->bound < cutoff) continue;                                 \
                const fmo_prim_pair q = fmo_eri_prim_load(to);                                  \
                const fmo_prim_quartet z =                                                      \
                    fmo_prim_quartet_make(boys, (li) + (lj) + (lk) + (ll), &p, &q, AC);         \
                eri_##name##_prim(&z, acc);                                                     \
            }                                                                                   \
        }                                                                                       \
        eri_##name##_finish(AB, CD, acc, eri);                                                  \
        fmo_eri_matrix_put(FMO_CARTESIAN(li), FMO_CARTESIAN(lj), FMO_CARTESIAN(lk),             \
                           FMO_CARTESIAN(ll), m, bra, ket, eri);                                \
    }
FMO_ERI_LIGHT_TABLE(FMO_ERI_MATRIX_QUARTET)
#undef FMO_ERI_MATRIX_QUARTET

#endif
