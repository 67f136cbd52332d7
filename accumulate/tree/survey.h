/* What boxes (boxes.h) have at most, and how many of their pairs of pairs would be near: what a
 * plan wants to know before there is a density. */
#ifndef FMO_TREE_SURVEY_H
#define FMO_TREE_SURVEY_H

#include "accumulate/tree/decide.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The largest value of an item in each box: of_item[item_num] -> of_box[num]. */
void fmo_boxes_largest(const fmo_boxes *boxes, const double *of_item, double *of_box);

/* What a survey goes by. */
typedef struct fmo_boxes_survey {
    const fmo_boxes *boxes;
    const double *largest_bound, *largest_moment; /* [box] as fmo_box_load has them */
    const double *moment;                         /* [item] */
    int coarse;    /* boxes of so many items are looked at as a whole, none smaller */
    double weight; /* of J in screening */
    fmo_box_rule rule;
    int threads;
} fmo_boxes_survey;

/* Pairs of items that are near, of all, for densities of 1. 1.0 without memory. */
double fmo_boxes_near_share(const fmo_boxes_survey *survey);

#ifdef __cplusplus
}
#endif
#endif
