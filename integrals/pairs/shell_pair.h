/* Shell pairs: for each class of pairs (shells.h) the pairs that matter, sorted by Schwarz bound,
 * with their primitive pairs, sorted by their own bound. What is left out: primitive pairs below
 * the pruning threshold, and pairs of which nothing is left.
 *
 * Sp pairs: s and p shells of one nucleus with the same exponents (Pople's sp shells, and STO-nG)
 * are partners, and a pair (p_a s_b) carries (s_a s_b) along, s_a the partner of p_a, through the
 * ratio of their coefficients (fmo_pair_partner); so Boys functions, screening and lists are needed
 * once for both. Of (p_a s_b) and (p_b s_a) the one with a >= b does. An ss pair that is carried is
 * in no list. */
#ifndef FMO_SHELL_PAIR_H
#define FMO_SHELL_PAIR_H

#include <stdint.h>

#include "integrals/basis_internal.h"
#include "integrals/eri/eri.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fmo_pair_list {
    int num;            /* pairs kept */
    int64_t all;        /* pairs there are, unordered where both shells have one ang. mom. */
    int64_t prim_num;   /* primitive pairs kept */
    int prim_max;       /* most primitive pairs in one pair */
    int *i, *j;         /* [num] internal shells, in the order of fmo_shell_pair_order */
    double *bound;      /* [num] Schwarz bound sqrt(max (ab|ab)), descending */
    double *prim_bound; /* [prim_num] that of each primitive pair, descending in a pair */
    double *ratio;      /* [prim_num] what the carried pair is times, 0 if there is none */
    double *AB;         /* [num][3] */
    int64_t *begin;     /* [num+1] into prim */
    double *prim;       /* [prim_num][FMO_PAIR_FIELDS] */
} fmo_pair_list;

typedef struct fmo_shell_pairs {
    int sp;       /* these are sp pairs; else every ratio is 0 */
    double prune; /* primitive pairs with bound * scale < prune were left out */
    double scale; /* largest Schwarz bound of a pair (i,i) */
    fmo_pair_list list[FMO_PAIR_CLASS_COUNT];
} fmo_shell_pairs;

/* All shell pairs of a basis. A primitive pair is dropped when its own Schwarz bound times the
 * largest one of the molecule is below `prune` (0: nothing is dropped).
 * FMO_OK, FMO_ERR_INPUT (coefficients so large or small that bounds are not finite) or
 * FMO_ERR_MEMORY; on error *pairs is left empty. */
fmo_status fmo_shell_pairs_make(const fmo_basis *basis, double prune, int threads,
                                fmo_shell_pairs *pairs, fmo_error *err);
fmo_status fmo_sp_pairs_make(const fmo_basis *basis, double prune, int threads,
                             fmo_shell_pairs *pairs, fmo_error *err);

/* The same without lists, for who makes these by itself, with primitive pairs from the threshold on
 * (gpu/pairs/make.cu): what there is to be known of them before. */
fmo_status fmo_sp_pairs_begin(const fmo_basis *basis, double prune, fmo_shell_pairs *pairs,
                              fmo_error *err);
static inline double fmo_shell_pairs_threshold(const fmo_shell_pairs *pairs)
{
    return pairs->prune > 0.0 ? pairs->prune / pairs->scale : 0.0;
}

/* partner[shell_num]: the shell that shares nucleus and exponents, s for a p shell and p for an s
 * shell, each in at most one partnership; -1 for the others. */
void fmo_sp_partners(const fmo_basis *basis, int *partner);
void fmo_shell_pairs_free(fmo_shell_pairs *pairs);

/* Pair n of a list as fmo_eri_quartet wants it. */
static inline fmo_pair_view fmo_pair_list_view(const fmo_basis *basis, const fmo_pair_list *list,
                                               int n)
{
    fmo_pair_view v = {(int)(list->begin[n + 1] - list->begin[n]),
                       list->prim + list->begin[n] * FMO_PAIR_FIELDS, list->AB + 3 * (size_t)n,
                       basis->shell[list->i[n]].center};
    return v;
}

/* Bound of primitives begin .. begin + num - 1 of pair n of a list, as a pair by themselves; num is
 * at most FMO_PAIR_PART_MAX. */
enum { FMO_PAIR_PART_MAX = 64 };
double fmo_shell_pair_segment_bound(const fmo_basis *basis, fmo_pair_class pair_class,
                                    const fmo_pair_list *list, int n, int begin, int num);

/* Puts the shells of a pair in the order that the horizontal recursion wants: the one of higher
 * angular momentum first, and of two p shells the one with the larger exponent first, since (p_i
 * p_j| = (d_ij s| + AB_j (p_i s| cancels where the product sits on the second centre. */
void fmo_shell_pair_order(const fmo_basis *basis, int *i, int *j);

/* One pair with all its primitive pairs, unpruned: prim[prim_num_i * prim_num_j][FMO_PAIR_FIELDS].
 */
void fmo_shell_pair_primitives(const fmo_basis *basis, int i, int j, double *prim, double *AB);

#ifdef __cplusplus
}
#endif
#endif
