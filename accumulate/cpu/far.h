/* J of pairs that are far from each other, in mode cpu: their multipoles, box by box (tree/). The
 * integrals are left with what is near, and with all of K. */
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
    const int *item; /* [num] pairs of the list, `first` added */
    int first, num;
    const double *centre; /* of the leaf */
    int order;
    /* [derivative][l m]: (d/dx)^t (d/dy)^u (d/dz)^v R_lm, l = t + u + v; for m > 0 with a factor of
     * 2 in `twice`, as m < 0 gives the same to a real sum */
    const double (*derivative)[FMO_FAR_TERMS], (*twice)[FMO_FAR_TERMS];
} fmo_far_leaf;

typedef struct fmo_far_kernels {
    /* Adds the multipoles of the pairs, each with its density [pair][stride], to those of the leaf.
     */
    void (*collect[FMO_PAIR_CLASS_COUNT])(const fmo_far_leaf *leaf, const double *density,
                                          double *multipole);
    /* Adds the leaf's potential to X^J of the pairs, [pair][stride]. */
    void (*give[FMO_PAIR_CLASS_COUNT])(const fmo_far_leaf *leaf, const double *potential,
                                       double *coulomb);
} fmo_far_kernels;

/* Each compiled from cpu/far_kernel.c. */
extern const fmo_far_kernels fmo_far_kernels_baseline;
extern const fmo_far_kernels fmo_far_kernels_avx2;   /* x86-64 */
extern const fmo_far_kernels fmo_far_kernels_avx512; /* x86-64 */

/* What a plan keeps: geometry. */
typedef struct fmo_cpu_far {
    fmo_boxes boxes;
    int first[FMO_PAIR_CLASS_COUNT + 1];    /* of each class's pairs among the boxes' items */
    double *moment;                         /* [item] the largest of a product of its functions */
    double *largest_bound, *largest_moment; /* [box] */
    const fmo_box_kernels *box_kernels;
    const fmo_far_kernels *kernels;
    double derivative[FMO_FAR_DERIVATIVES][FMO_FAR_TERMS];
    double twice[FMO_FAR_DERIVATIVES][FMO_FAR_TERMS];
    size_t bytes;
    double near_share; /* pairs of pairs that are near, of all, where D = 1 */
} fmo_cpu_far;

/* Leaves that a leaf is near to. */
typedef struct fmo_cpu_near {
    int num, capacity;
    int *leaf;
} fmo_cpu_near;

/* Of one build. */
typedef struct fmo_cpu_far_build {
    fmo_cpu_near *near;                    /* [leaf] */
    double *coulomb[FMO_PAIR_CLASS_COUNT]; /* X^J of what is far: [density][pair][stride] */
    double *memory;
    int64_t interactions; /* of boxes, both directions */
} fmo_cpu_far_build;

/* ---- far_plan.c ---- */

/* Boxes of a plan's pairs. FMO_OK or FMO_ERR_MEMORY, with *far empty. */
fmo_status fmo_cpu_far_make(const fmo_cpu_pairs *pairs, double cutoff, int threads,
                            fmo_cpu_far *far, fmo_error *err);
void fmo_cpu_far_free(fmo_cpu_far *far);

/* For far->near_share: for densities of 1, by boxes of some leaves each. J weighs `weight` times as
 * much in screening. */
double fmo_cpu_far_near_share(const fmo_cpu_far *far, double weight, double cutoff, int threads);

/* ---- far.c ---- */

/* What a build takes, about. */
size_t fmo_cpu_far_bytes(const fmo_cpu_far *far, const fmo_cpu_pairs *pairs, size_t densities);

typedef struct fmo_cpu_far_input {
    const fmo_cpu_pairs *pairs;
    const double *const *density; /* and largest, by class, as fmo_cpu_side has them */
    const double *const *largest;
    int densities;
    double weight, cutoff;
    int threads;
    int share, shares; /* one part of the potentials, as ranks deal them out; who is near is all */
} fmo_cpu_far_input;

/* X^J of far pairs, and which leaves are near to each other. Bits do not depend on threads or
 * shares. FMO_OK or FMO_ERR_MEMORY, with *to empty. */
fmo_status fmo_cpu_far_build_coulomb(const fmo_cpu_far *far, const fmo_cpu_far_input *input,
                                     fmo_cpu_far_build *to, fmo_error *err);
void fmo_cpu_far_build_free(const fmo_cpu_far *far, fmo_cpu_far_build *build);

#endif
