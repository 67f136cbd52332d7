/* Shell pairs as the host's kernels read them. Pairs with identical exponents form a family, so
 * that in a vector of ket pairs of one family all quantities that depend on exponents alone are
 * equal in all lanes. A pair class is divided into families, and a family is sorted by Schwarz
 * bound. */
#ifndef FMO_CPU_PAIRS_H
#define FMO_CPU_PAIRS_H

#include "integrals/pairs/shell_pair.h"

/* Fields of a primitive pair: its prefactor divided by the square root of its exponent sum, and
 * P-A. The prefactor includes the factor 1/2 of a pair of a shell with itself (digest.h). */
enum { FMO_CPU_PRIM_K, FMO_CPU_PRIM_X, FMO_CPU_PRIM_FIELDS = 4 };

typedef struct fmo_cpu_family {
    int begin, end; /* pairs of the list */
    int exponent;   /* index of the family's first exponent sum */
    int exponents;  /* primitive pairs before pruning */
    int count_max;  /* largest number of primitives in use */
} fmo_cpu_family;

typedef struct fmo_cpu_pair_list {
    size_t bytes;
    int num, family_num, count_max;
    fmo_cpu_family *family;
    int exponent_num;
    double *exponent;    /* [exponent_num] exponent sums p of each family's primitives, those that
                          * decay slowest with distance first */
    int *family_of;      /* [num] */
    int *i, *j;          /* [num] shells in internal order */
    int *ao_i, *ao_j;    /* [num] first functions */
    int *count;          /* [num] primitives in use: the first `count` of the family's */
    int *kept;           /* [num] those of them that were not pruned; the others have a prefactor
                          * of 0 */
    double *bound;       /* [num] Schwarz bound, descending within a family */
    double *prim_bounds; /* [num] sum of the Schwarz bounds of its primitives */
    double *centre;      /* [num][4] A, 0 */
    double *AB;          /* [num][4] A-B, 0 */
    double *middle[3];   /* [num] approximate centre of the pair's charge distribution */
    double *radius;      /* [num] largest distance of a primitive's centre from it */
    double *spread;      /* [num] largest 1/p of a primitive */
    size_t *prim_begin;  /* [num] first row of prim */
    double *prim;        /* [..][FMO_CPU_PRIM_FIELDS]; row 0 is zero */
} fmo_cpu_pair_list;

typedef struct fmo_cpu_pairs {
    size_t bytes; /* total size */
    fmo_cpu_pair_list list[FMO_PAIR_CLASS_COUNT];
} fmo_cpu_pairs;

/* Checks that pairs and rows of primitives of a class can be gathered with 32-bit indices, as
 * vector instructions require. Returns FMO_OK or FMO_ERR_UNSUPPORTED. */
fmo_status fmo_cpu_pairs_check(int pair_class, size_t pairs, size_t rows, fmo_error *err);

/* Makes the pairs of a plan. Returns FMO_OK, FMO_ERR_UNSUPPORTED (see above) or FMO_ERR_MEMORY;
 * on error *to is empty. */
fmo_status fmo_cpu_pairs_make(const fmo_basis *basis, const fmo_shell_pairs *pairs,
                              fmo_cpu_pairs *to, fmo_error *err);
void fmo_cpu_pairs_free(fmo_cpu_pairs *pairs);

/* Computes for each primitive of a list, in the order of list->exponent, the exponent a of its
 * first shell and the share b/p of the second. Returns 0 if memory is short. */
int fmo_cpu_pairs_exponents(const fmo_basis *basis, const fmo_cpu_pair_list *list, double *first,
                            double *share);

#endif
