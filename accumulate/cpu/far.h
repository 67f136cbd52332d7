/* Far field of J in mode cpu: multipole interactions between boxes, the cells of a binary tree
 * over shell pairs (tree/boxes.h). Integrals contribute near quartets to J, and all quartets to
 * K. Equations and errors: docs/explanation/multipoles.md. Read next: far_plan.c, far.c. */
#ifndef FMO_CPU_FAR_H
#define FMO_CPU_FAR_H

#include "accumulate/cpu/pairs.h"
#include "accumulate/plan/plan.h"
#include "accumulate/tree/decide.h"
#include "accumulate/tree/kernel.h"
#include "integrals/far/charge.h"

enum {
    FMO_FAR_DERIVATIVES = FMO_HERMITE_COUNT(FMO_PAIR_ORDER_MAX),
    FMO_FAR_TERMS = 2 * FMO_HARMONIC_TERMS(FMO_PAIR_ORDER_MAX)
};

/* Pairs of one class in a leaf. */
typedef struct fmo_far_leaf {
    const fmo_cpu_pair_list *list;
    const int *item; /* [num] pairs of the list, as index + first */
    int first, num;
    const double *centre; /* of the leaf */
    int order;
    /* [derivative][l m]: (d/dx)^t (d/dy)^u (d/dz)^v R_lm with l = t + u + v. In `twice`, terms
     * with m > 0 have a factor of 2, because m < 0 contributes the same to a real sum. */
    const double (*derivative)[FMO_FAR_TERMS], (*twice)[FMO_FAR_TERMS];
} fmo_far_leaf;

typedef struct fmo_far_kernels {
    /* Adds the multipoles of the pairs with density [pair][stride] to those of the leaf. */
    void (*collect[FMO_PAIR_CLASS_COUNT])(const fmo_far_leaf *leaf, const double *density,
                                          double *multipole);
    /* Adds the leaf's potential to X^J of the pairs, [pair][stride]. */
    void (*give[FMO_PAIR_CLASS_COUNT])(const fmo_far_leaf *leaf, const double *potential,
                                       double *coulomb);
} fmo_far_kernels;

/* Each is compiled from cpu/far_kernel.c. */
extern const fmo_far_kernels fmo_far_kernels_baseline;
extern const fmo_far_kernels fmo_far_kernels_avx2;   /* x86-64 */
extern const fmo_far_kernels fmo_far_kernels_avx512; /* x86-64 */

/* Data of a plan, which depend on the geometry alone. */
typedef struct fmo_cpu_far {
    fmo_boxes boxes;
    int first[FMO_PAIR_CLASS_COUNT + 1];    /* first item of each class among the boxes' items */
    double *moment;                         /* [item] largest moment of a product of its
                                             * functions, as a charge */
    double *largest_bound, *largest_moment; /* [box] maxima over its items */
    const fmo_box_kernels *box_kernels;
    const fmo_far_kernels *kernels;
    double derivative[FMO_FAR_DERIVATIVES][FMO_FAR_TERMS];
    double twice[FMO_FAR_DERIVATIVES][FMO_FAR_TERMS];
    size_t bytes;
    double near_share; /* fraction of pairs of pairs that are near if all D = 1 */
} fmo_cpu_far;

/* Leaves that are near a leaf. */
typedef struct fmo_cpu_near {
    int num, capacity;
    int *leaf;
} fmo_cpu_near;

/* Data of one build. */
typedef struct fmo_cpu_far_build {
    fmo_cpu_near *near;                    /* [leaf] */
    double *coulomb[FMO_PAIR_CLASS_COUNT]; /* X^J of far pairs: [density][pair][stride] */
    double *memory;
    int64_t interactions; /* number of box interactions, both directions counted */
} fmo_cpu_far_build;

/* ---- far_plan.c ---- */

/* Makes the boxes of a plan's pairs. Returns FMO_OK or FMO_ERR_MEMORY, with *far empty. */
fmo_status fmo_cpu_far_make(const fmo_cpu_pairs *pairs, double cutoff, int threads,
                            fmo_cpu_far *far, fmo_error *err);
void fmo_cpu_far_free(fmo_cpu_far *far);

/* Estimates far->near_share for densities of 1, with boxes of a few leaves each. `weight` is the
 * weight of J in screening (rules/weight.h). */
double fmo_cpu_far_near_share(const fmo_cpu_far *far, double weight, double cutoff, int threads);

/* ---- far.c ---- */

/* Returns the approximate number of bytes of a build. */
size_t fmo_cpu_far_bytes(const fmo_cpu_far *far, const fmo_cpu_pairs *pairs, size_t densities);

typedef struct fmo_cpu_far_input {
    const fmo_cpu_pairs *pairs;
    const double *const *density; /* [class], and `largest`: as in fmo_cpu_side */
    const double *const *largest;
    int densities;
    double weight, cutoff;
    int threads;
    int share, shares; /* This rank computes share `share` of `shares` of the potentials; near
                        * leaves are found by all ranks. */
} fmo_cpu_far_input;

/* Computes X^J of far pairs, and which leaves are near each other. The bits do not depend on the
 * numbers of threads and shares. Returns FMO_OK or FMO_ERR_MEMORY, with *to empty. */
fmo_status fmo_cpu_far_build_coulomb(const fmo_cpu_far *far, const fmo_cpu_far_input *input,
                                     fmo_cpu_far_build *to, fmo_error *err);
void fmo_cpu_far_build_free(const fmo_cpu_far *far, fmo_cpu_far_build *build);

#endif
