/* A binary tree of cells ("boxes" in names) over the shell pairs of a plan: each cell has two
 * children that divide its pairs, down to leaves of a few dozen. The tree depends on the geometry
 * only. Which cells are far enough apart for their multipoles to interact is decided for each
 * density (decide.h); near pairs are left to the integrals. Equations and errors:
 * docs/explanation/multipoles.md. */
#ifndef FMO_TREE_BOXES_H
#define FMO_TREE_BOXES_H

#include <stddef.h>

#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An item of a cell: the position and size of a shell pair. Lengths in bohr. */
typedef struct fmo_box_item {
    double centre[3];
    /* extent: radius of a sphere about `centre` that contains the pair's charges; radius: effective
     * radius of the charges for the multipole error, a mean over their distances (FMO_BOX_POWER in
     * decide.h). */
    double extent, radius;
    double spread; /* largest 1/p of the pair's primitives, in bohr^2 */
    double reach;  /* approximate range of its overlap; a fourth coordinate by which cells are
                      divided */
} fmo_box_item;

typedef struct fmo_box {
    int begin, end; /* range in fmo_boxes.item */
    int parent;     /* -1: this is the root */
    int child;      /* first of two consecutive children, or -1: a leaf */
    int leaf;       /* number of the leaf, or -1 */
    double centre[3];
    double extent; /* radius of a sphere that contains all charges */
    double radius; /* effective radius for the multipole error */
    double spread; /* largest spread of its items */
} fmo_box;

typedef struct fmo_boxes {
    size_t bytes;
    int num, leaf_num, item_num, level_num;
    fmo_box *box; /* level by level, the root first */
    int *level;   /* [level_num + 1] first cell of each level */
    int *item;    /* [item_num] item numbers, those of a cell adjacent */
    int *leaf_of; /* [item_num] number of the leaf of each item */
    int *of_leaf; /* [leaf_num] cell of each leaf */
} fmo_boxes;

/* Makes a tree with at most `leaf` items in a leaf, except for items of equal position and reach.
 * The tree does not depend on the number of threads.
 * @return FMO_OK or FMO_ERR_MEMORY, with *to empty */
fmo_status fmo_boxes_make(const fmo_box_item *item, int num, int leaf, int threads, fmo_boxes *to,
                          fmo_error *err);
void fmo_boxes_free(fmo_boxes *boxes);

#ifdef __cplusplus
}
#endif
#endif
