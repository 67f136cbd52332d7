/* Largest values in cells (boxes.h), and an estimate of the number of near pairs of pairs, which a
 * plan needs before there is a density. */
#ifndef FMO_TREE_SURVEY_H
#define FMO_TREE_SURVEY_H

#include "accumulate/tree/decide.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes the largest value of the items of each cell: of_item[item_num] -> of_box[num]. */
void fmo_boxes_largest(const fmo_boxes *boxes, const double *of_item, double *of_box);

/* Input of fmo_boxes_near_share. */
typedef struct fmo_boxes_survey {
    const fmo_boxes *boxes;
    const double *largest_bound, *largest_moment; /* [cell], as in fmo_box_load */
    const double *moment;                         /* [item] */
    int coarse;    /* cells of up to this many items are not divided further */
    double weight; /* weight of J in screening */
    fmo_box_criterion criterion;
    int threads;
} fmo_boxes_survey;

/* Returns the number of near pairs of items divided by the number of all, for densities of 1.
 * Returns 1.0 if there is no memory. */
double fmo_boxes_near_share(const fmo_boxes_survey *survey);

#ifdef __cplusplus
}
#endif
#endif
