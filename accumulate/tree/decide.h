/* May the multipoles of two boxes meet, and up to which order? What is left out, and what that
 * rests on: docs/theory.md, "Boxes of far pairs". Symmetric in the two boxes, as a quartet is
 * either near for both of its pairs or far for both. */
#ifndef FMO_TREE_DECIDE_H
#define FMO_TREE_DECIDE_H

#include <math.h>

#include "accumulate/tree/boxes.h"
#include "accumulate/tree/expansion.h"

/* What the pairs of a box have at most, and in sum, of the running densities; then the logarithms
 * of these, as decisions are made by sums. */
typedef struct fmo_box_load {
    double bound;    /* sums of the Schwarz bounds of a pair's primitives */
    double weighted; /* the same times what the pair's density counts in screening */
    double moment;   /* moments of a product of functions, all orders together */
    double charge;   /* the sum over the pairs of their moments times density */
} fmo_box_load;

static inline void fmo_box_take_logs(fmo_box_load *load)
{
    load->bound = log(load->bound);
    load->weighted = log(load->weighted);
    load->moment = log(load->moment);
    load->charge = log(load->charge);
}

/* Overlap leaves out less than 40 exp(-T) of the product of two pairs' bounds (docs/theory.md,
 * "Error by overlap"); boxes are far from this many + ln(size / cutoff) on, for the largest of
 * their pairs, which most are not. Measured: docs/accuracy.md, "Boxes of far pairs". */
#define FMO_BOX_T       5.0
#define FMO_BOX_T_LEAST 5.0
static inline double fmo_box_T(double log_size_over_cutoff)
{
    return fmax(FMO_BOX_T + log_size_over_cutoff, FMO_BOX_T_LEAST);
}

/* The share of the cutoff that a bound on the orders left out may reach, for an element of X^J and
 * a box. Errors of single boxes are far smaller, but those of a large system add up: with 4 instead
 * the largest of J in (H2O)216 is 1e-8 (docs/accuracy.md). */
#define FMO_BOX_SHARE 0.1

/* The order that an expansion in box `to` of the multipoles of box `from` needs, of which the rest
 * is (rho / R)^(order + 1) / (R - rho); above the highest: too many. Logarithms all. */
static inline int fmo_box_order(const fmo_box_load *to, const fmo_box_load *from, double log_unit,
                                double log_ratio)
{
    const double order = (log_unit - to->moment - from->charge) / log_ratio;
    return order > 0.0 ? order < FMO_BOX_ORDER_MAX ? (int)order : FMO_BOX_ORDER_MAX + 1 : 0;
}

/* May they meet? Then the order for the potential in a. The loads are logarithms. */
static inline int fmo_boxes_far(const fmo_box *a, const fmo_box_load *of_a, const fmo_box *b,
                                const fmo_box_load *of_b, double log_cutoff, int *order_a)
{
    const double x = a->centre[0] - b->centre[0], y = a->centre[1] - b->centre[1],
                 z = a->centre[2] - b->centre[2];
    const double R2 = x * x + y * y + z * z, rho = a->radius + b->radius;
    if (R2 <= rho * rho) return 0;
    const double R = sqrt(R2), gap = R - rho;
    const double size = fmax(of_a->weighted + of_b->bound, of_b->weighted + of_a->bound);
    if (gap * gap < fmo_box_T(size - log_cutoff) * (a->spread + b->spread)) return 0;
    const double log_unit = log(FMO_BOX_SHARE * gap) + log_cutoff, log_ratio = log(rho / R);
    const int order_b = fmo_box_order(of_b, of_a, log_unit, log_ratio);
    *order_a = fmo_box_order(of_a, of_b, log_unit, log_ratio);
    return *order_a <= FMO_BOX_ORDER_MAX && order_b <= FMO_BOX_ORDER_MAX;
}

/* Which of two near boxes is cut, the larger: the same one whichever comes first. */
static inline double fmo_box_size(const fmo_box *box)
{
    return box->radius + 2.0 * sqrt(box->spread);
}
static inline int fmo_box_larger(const fmo_box *boxes, int a, int b)
{
    const double size_a = fmo_box_size(&boxes[a]), size_b = fmo_box_size(&boxes[b]);
    return size_a > size_b || (size_a == size_b && a > b);
}

#endif
