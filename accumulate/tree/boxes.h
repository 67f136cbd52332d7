/* A tree of boxes over the pairs of a plan: each box has two, which share its pairs, down to leaves
 * of a few dozen. Which boxes are so far apart that their multipoles may interact is decided for
 * each density (decide.h); what is near stays with the integrals. Geometry alone makes the tree.
 * Equations and errors: docs/explanation/multipoles.md. */
#ifndef FMO_TREE_BOXES_H
#define FMO_TREE_BOXES_H

#include <stddef.h>

#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is in a box: a pair by where it is and how far it reaches. */
typedef struct fmo_box_item {
    double centre[3];
    /* From `centre`: of its charges; and in which they can be thought to be, where they are far
     * from each other and weigh differently (decide.h). */
    double extent, radius;
    double spread; /* the largest 1/p of its primitives */
    double reach;  /* how far it overlaps others, about; a fourth side that boxes are cut along */
} fmo_box_item;

typedef struct fmo_box {
    int begin, end; /* of fmo_boxes.item */
    int parent;     /* -1: the root */
    int child;      /* the first of two, or -1: a leaf */
    int leaf;       /* number of the leaf, or -1 */
    double centre[3];
    double extent; /* that holds all charges */
    double radius; /* as they weigh */
    double spread; /* the largest of its items */
} fmo_box;

typedef struct fmo_boxes {
    size_t bytes;
    int num, leaf_num, item_num, level_num;
    fmo_box *box; /* level by level, the root first */
    int *level;   /* [level_num + 1] first box of each */
    int *item;    /* [item_num] sorted so that those of a box stand together */
    int *leaf_of; /* [item_num] number of the leaf, by item */
    int *of_leaf; /* [leaf_num] box of each leaf */
} fmo_boxes;

/* Boxes of at most `leaf` items, but for what has one place and one spread; the same for any
 * number of threads.
 * @return FMO_OK or FMO_ERR_MEMORY, with *to empty */
fmo_status fmo_boxes_make(const fmo_box_item *item, int num, int leaf, int threads, fmo_boxes *to,
                          fmo_error *err);
void fmo_boxes_free(fmo_boxes *boxes);

#ifdef __cplusplus
}
#endif
#endif
