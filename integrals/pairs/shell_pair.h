/* Shell pairs: for each pair class (shells.h) the significant pairs, sorted by Schwarz bound, with
 * their primitive pairs, sorted by their own bounds. Left out are primitive pairs below the pruning
 * threshold, and pairs without primitives.
 *
 * Sp pairs: s and p shells of one nucleus with the same exponents (Pople's SP (L) shells, STO-nG)
 * are partners, and a pair (p_a s_b) includes the pair (s_a s_b), where s_a is the partner of p_a:
 * the ratio of their coefficients is stored with each primitive (fmo_pair_partner), so that Boys
 * functions, screening and lists serve both. Of (p_a s_b) and (p_b s_a) the one with a >= b
 * includes. An included ss pair is in no list. */
#ifndef FMO_SHELL_PAIR_H
#define FMO_SHELL_PAIR_H

#include <stdint.h>

#include "integrals/basis_internal.h"
#include "integrals/eri/eri.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fmo_pair_list {
    int num;            /* number of pairs in the list */
    int64_t all;        /* number of all pairs, unordered if both shells have the same angular
                           momentum */
    int64_t prim_num;   /* number of primitive pairs in the list */
    int prim_max;       /* largest number of primitive pairs of a pair */
    int *i, *j;         /* [num] internal shells, in the order of fmo_shell_pair_order */
    double *bound;      /* [num] Schwarz bound sqrt(max (ab|ab)), descending */
    double *prim_bound; /* [prim_num] bound of each primitive pair, descending within a pair */
    double *ratio;      /* [prim_num] prefactor of the included pair over that of this one; 0 if
                           there is none */
    double *AB;         /* [num][3] */
    int64_t *begin;     /* [num+1] first primitive pair */
    double *prim;       /* [prim_num][FMO_PAIR_FIELDS] */
} fmo_pair_list;

typedef struct fmo_shell_pairs {
    int sp;       /* 1: sp pairs; 0: plain pairs, with ratios of 0 */
    double prune; /* primitive pairs with bound * scale < prune are left out */
    double scale; /* largest Schwarz bound of a pair (i,i) */
    fmo_pair_list list[FMO_PAIR_CLASS_COUNT];
} fmo_shell_pairs;

/* Makes all shell pairs of a basis. A primitive pair is dropped if its own Schwarz bound times the
 * largest one of the molecule is below `prune` (0: none is dropped). Returns FMO_OK, FMO_ERR_INPUT
 * (coefficients so large or small that bounds are not finite) or FMO_ERR_MEMORY; on error *pairs is
 * empty. */
fmo_status fmo_shell_pairs_make(const fmo_basis *basis, double prune, int threads,
                                fmo_shell_pairs *pairs, fmo_error *err);
fmo_status fmo_sp_pairs_make(const fmo_basis *basis, double prune, int threads,
                             fmo_shell_pairs *pairs, fmo_error *err);

/* As fmo_sp_pairs_make but without the lists, which the caller makes itself (gpu/pairs/make.cu)
 * from primitive pairs with bounds of at least fmo_shell_pairs_threshold. */
fmo_status fmo_sp_pairs_begin(const fmo_basis *basis, double prune, fmo_shell_pairs *pairs,
                              fmo_error *err);
static inline double fmo_shell_pairs_threshold(const fmo_shell_pairs *pairs)
{
    return pairs->prune > 0.0 ? pairs->prune / pairs->scale : 0.0;
}

/* Sets partner[shell_num] to the shell with the same nucleus and exponents: s for a p shell, p for
 * an s shell, each shell having at most one partner; -1 if there is none (sp_partners.c). */
void fmo_sp_partners(const fmo_basis *basis, int *partner);
void fmo_shell_pairs_free(fmo_shell_pairs *pairs);

/* Pair n of a list in the form that fmo_eri_quartet takes. */
static inline fmo_pair_view fmo_pair_list_view(const fmo_basis *basis, const fmo_pair_list *list,
                                               int n)
{
    fmo_pair_view v = {(int)(list->begin[n + 1] - list->begin[n]),
                       list->prim + list->begin[n] * FMO_PAIR_FIELDS, list->AB + 3 * (size_t)n,
                       basis->shell[list->i[n]].centre};
    return v;
}

/* Returns the Schwarz bound of a segment, primitives begin .. begin + num - 1 of pair n of a list;
 * num is at most FMO_PAIR_PART_MAX. */
enum { FMO_PAIR_PART_MAX = 64 };
double fmo_shell_pair_segment_bound(const fmo_basis *basis, fmo_pair_class pair_class,
                                    const fmo_pair_list *list, int n, int begin, int num);

/* Orders the shells of a pair for the horizontal recursion: the one with the higher angular
 * momentum first, and of two p shells the one with the larger exponent, since (p_i p_j| = (d_ij s|
 * + AB_j (p_i s| loses digits if the product is close to the second centre. */
void fmo_shell_pair_order(const fmo_basis *basis, int *i, int *j);

/* Makes all primitive pairs of one pair, without pruning: prim[prim_num_i *
 * prim_num_j][FMO_PAIR_FIELDS]. */
void fmo_shell_pair_primitives(const fmo_basis *basis, int i, int j, double *prim, double *AB);

#ifdef __cplusplus
}
#endif
#endif
