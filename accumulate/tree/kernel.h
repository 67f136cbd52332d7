/* What boxes do with their expansions, FMO_SIMD_WIDTH boxes at a time. Expansions are arrays of
 * FMO_HARMONIC_TERMS(order) complex numbers (expansion.h), one for each density. */
#ifndef FMO_TREE_KERNEL_H
#define FMO_TREE_KERNEL_H

#include "accumulate/tree/boxes.h"
#include "accumulate/tree/expansion.h"

/* A box that interacts another one, and the order that it takes. */
typedef struct fmo_box_interaction {
    int box, order;
} fmo_box_interaction;

/* Where expansions are: those of box b from b * stride on, those of density d from d * size. */
typedef struct fmo_box_view {
    const fmo_boxes *boxes;
    int order, densities;
    size_t size, stride;           /* doubles */
    double *multipole, *potential; /* [box][density][size] */
} fmo_box_view;

typedef struct fmo_box_kernels {
    int width;
    /* Multipoles of boxes [begin, end), at most `width` of one level, are added to their parents';
     * potentials of the parents are added to theirs. */
    void (*up)(const fmo_box_view *view, int begin, int end);
    void (*down)(const fmo_box_view *view, int begin, int end);
    /* Potentials in a box of the multipoles of others. */
    void (*interact)(const fmo_box_view *view, int to, const fmo_box_interaction *from, int num);
} fmo_box_kernels;

/* Each compiled from tree/kernel.c. */
extern const fmo_box_kernels fmo_box_kernels_baseline;
extern const fmo_box_kernels fmo_box_kernels_avx2;   /* x86-64 */
extern const fmo_box_kernels fmo_box_kernels_avx512; /* x86-64 */

#endif
