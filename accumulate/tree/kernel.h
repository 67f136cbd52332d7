/* Operations on the expansions of cells, FMO_SIMD_WIDTH cells at a time. An expansion is an array
 * of FMO_HARMONIC_TERMS(order) complex numbers (expansion.h) for each density. */
#ifndef FMO_TREE_KERNEL_H
#define FMO_TREE_KERNEL_H

#include "accumulate/tree/boxes.h"
#include "accumulate/tree/expansion.h"

/* A cell whose multipoles act on another cell, and the order of the interaction. */
typedef struct fmo_box_interaction {
    int box, order;
} fmo_box_interaction;

/* Layout of the expansions: that of cell b and density d begins at b * stride + d * size. */
typedef struct fmo_box_view {
    const fmo_boxes *boxes;
    int order, densities;
    size_t size, stride;           /* in doubles */
    double *multipole, *potential; /* [cell][density][size] */
} fmo_box_view;

typedef struct fmo_box_kernels {
    int width;
    /* up: adds the multipoles of cells [begin, end), at most `width` cells of one level, to those
     * of their parents; down: adds the potentials of the parents to those of the cells. */
    void (*up)(const fmo_box_view *view, int begin, int end);
    void (*down)(const fmo_box_view *view, int begin, int end);
    /* Adds to the potential of cell `to` those of the multipoles of `num` other cells. */
    void (*interact)(const fmo_box_view *view, int to, const fmo_box_interaction *from, int num);
} fmo_box_kernels;

/* Each is compiled from tree/kernel.c. */
extern const fmo_box_kernels fmo_box_kernels_baseline;
extern const fmo_box_kernels fmo_box_kernels_avx2;   /* x86-64 */
extern const fmo_box_kernels fmo_box_kernels_avx512; /* x86-64 */

#endif
