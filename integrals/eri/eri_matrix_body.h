/* What the CPU and the GPU share of eri_matrix.h: a molecule's shells and pairs, the primitives of
 * a pair, the integrals of a quartet and where they go. One pair or one quartet at a time: on the
 * GPU one a thread. */
#ifndef FMO_ERI_MATRIX_BODY_H
#define FMO_ERI_MATRIX_BODY_H

#include "integrals/basis_internal.h"
#include "integrals/eri/eri.h"
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
    int nao, pair_begin[FMO_PAIR_LIGHT_COUNT + 1];
    const fmo_eri_shell *shell;
    const fmo_eri_pair *pair;
    const double *exponent, *coefficient;
    const int *ao;        /* which of the caller's functions */
    const double *factor; /* and how much of it */
    fmo_eri_prim *prim;
    double *eri;
} fmo_eri_molecule;

/* How much of each a molecule needs. */
typedef struct fmo_eri_sizes {
    size_t shells, pairs, primitives, functions, prims;
} fmo_eri_sizes;

#ifdef __cplusplus
extern "C" {
#endif
fmo_eri_sizes fmo_eri_matrix_sizes(const fmo_basis *basis);
/* Fills in nao, pair_begin and arrays of the sizes above, but for prim and eri. */
void fmo_eri_matrix_fill(const fmo_basis *basis, fmo_eri_molecule *molecule, fmo_eri_shell *shell,
                         fmo_eri_pair *pair, double *exponent, double *coefficient, int *ao,
                         double *factor);
/* FMO_OK, or why it cannot be. */
fmo_status fmo_eri_matrix_check(const char *call, const fmo_basis *basis, fmo_error *err);
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
