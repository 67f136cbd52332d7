/* Shell pairs as the host's kernels want them: pairs whose exponents are the same numbers stand
 * together in a family, so that in a vector of ket pairs everything that depends on exponents alone
 * is one number for all lanes. A pair class is cut into families, a family is sorted by Schwarz
 * bound.
 */
#ifndef FMO_CPU_PAIRS_H
#define FMO_CPU_PAIRS_H

#include "integrals/pairs/shell_pair.h"

/* A primitive pair: its prefactor over the square root of its exponent sum, and P-A. The prefactor
 * carries the factor 1/2 of a pair of a shell with itself (digest.h). */
enum { FMO_CPU_PRIM_K, FMO_CPU_PRIM_X, FMO_CPU_PRIM_FIELDS = 4 };

typedef struct fmo_cpu_family {
    int begin, end; /* pairs of the list */
    int exponent;   /* first of the family's exponent sums */
    int exponents;  /* primitive pairs before any pruning */
    int count_max;  /* most primitives in use */
} fmo_cpu_family;

typedef struct fmo_cpu_pair_list {
    size_t bytes;
    int num, family_num, count_max;
    fmo_cpu_family *family;
    int exponent_num;
    double *exponent;    /* [exponent_num] p of each family's primitives, the slowest to decay with
                            distance first */
    int *family_of;      /* [num] */
    int *i, *j;          /* [num] internal shells */
    int *ao_i, *ao_j;    /* [num] first functions */
    int *count;          /* [num] primitives in use: the first `count` of the family's */
    int *kept;           /* [num] of them not pruned; the rest have a prefactor of 0 */
    double *bound;       /* [num] Schwarz bound, descending in a family */
    double *prim_bounds; /* [num] sum of those of its primitives */
    double *centre;      /* [num][4] A, 0 */
    double *AB;          /* [num][4] A-B, 0 */
    double *middle[3];   /* [num] where the charge of the pair is, roughly */
    size_t *prim_begin;  /* [num] rows of prim */
    double *prim;        /* [..][FMO_CPU_PRIM_FIELDS]; row 0 is zero */
} fmo_cpu_pair_list;

typedef struct fmo_cpu_pairs {
    size_t bytes; /* that all this takes */
    fmo_cpu_pair_list list[FMO_PAIR_CLASS_COUNT];
} fmo_cpu_pairs;

/* Can pairs and rows of primitives of a class be gathered with 32-bit indices, as vectors do?
 * FMO_OK or FMO_ERR_UNSUPPORTED. */
fmo_status fmo_cpu_pairs_check(int pair_class, size_t pairs, size_t rows, fmo_error *err);

/* FMO_OK, FMO_ERR_UNSUPPORTED (see above) or FMO_ERR_MEMORY; on error *to is left empty. */
fmo_status fmo_cpu_pairs_make(const fmo_basis *basis, const fmo_shell_pairs *pairs,
                              fmo_cpu_pairs *to, fmo_error *err);
void fmo_cpu_pairs_free(fmo_cpu_pairs *pairs);

#endif
