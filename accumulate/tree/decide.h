/* Decides whether the multipoles of two cells may interact, and up to which order. Errors and their
 * derivation: docs/explanation/multipoles.md. The decision is symmetric in the two cells, because a
 * quartet must be near for both of its pairs or far for both. */
#ifndef FMO_TREE_DECIDE_H
#define FMO_TREE_DECIDE_H

#include "accumulate/tree/boxes.h"
#include "accumulate/tree/expansion.h"

/* Bounds over the pairs of a cell for the running densities. fmo_box_take_logs replaces the values
 * by their logarithms, with which decisions are made. */
typedef struct fmo_box_load {
    double bound;    /* largest sum of Schwarz bounds of a pair's primitives */
    double weighted; /* largest bound times the pair's density factor in screening */
    double moment;   /* largest moment of a product of functions, all orders together */
    double charge;   /* sum over the pairs of moment times density */
} fmo_box_load;

FMO_HD void fmo_box_take_logs(fmo_box_load *load)
{
    load->bound = log(load->bound);
    load->weighted = log(load->weighted);
    load->moment = log(load->moment);
    load->charge = log(load->charge);
}

/* Neglecting overlap causes an error below 40 exp(-T) times the product of the bounds of the two
 * pairs (docs/explanation/far-field.md, "Error by overlap"). Cells are far if T is at least
 * FMO_BOX_T + ln(size / cutoff), with the size of their largest pairs; most pairs are smaller.
 * Measured: docs/explanation/accuracy.md, "Multipoles of cells". */
#define FMO_BOX_T     5.0
#define FMO_BOX_T_MIN 5.0
FMO_HD double fmo_box_T(double log_size_over_cutoff)
{
    return fmax(FMO_BOX_T + log_size_over_cutoff, FMO_BOX_T_MIN);
}

/* Share of the cutoff that the bound on the truncation error may reach, for an element of X^J and
 * one cell. Errors of single cells are far smaller, but those of a large system add up: with 4
 * instead, the largest error of J of (H2O)216 is 1e-8 (docs/explanation/accuracy.md). */
#define FMO_BOX_SHARE 0.1

/* Conditions for interactions of cells. */
typedef struct fmo_box_criterion {
    double log_cutoff;
    int order_max; /* up to FMO_BOX_ORDER_MAX */
    /* Largest number of multiplications of an interaction for each pair of a pair of one cell and a
     * pair of the other; more expensive ones are left to smaller cells or to integrals. 0: no
     * limit. */
    double worth;
} fmo_box_criterion;

/* Charges w at distances x have truncation errors w x^k / R^(k + 1), k = order + 1 and higher. The
 * radius of an item is the power mean of the distances with exponent FMO_BOX_POWER, which is no
 * less than those with lower exponents; charges far out have little weight. By Minkowski's
 * inequality the mean of sums is no more than the sum of means, so that radii of cells follow from
 * those of items. */
enum { FMO_BOX_POWER = FMO_BOX_ORDER_MAX + 1 };

/* Returns the order needed for the expansion, in cell `to`, of the multipoles of cell `from`, with
 * a remainder of (rho / R)^(order + 1) / (R - extent); order_max + 1 if it exceeds order_max.
 * Loads, unit and ratio are logarithms. */
FMO_HD int fmo_box_order(const fmo_box_load *to, const fmo_box_load *from, int order_max,
                         double log_unit, double log_ratio)
{
    const double order = (log_unit - to->moment - from->charge) / log_ratio;
    return order > 0.0 ? order < order_max ? (int)order : order_max + 1 : 0;
}

/* Number of real multiplications of fmo_multipoles_interact; a complex product counts as four. */
FMO_HD double fmo_box_cost(int order)
{
    const double n = order;
    return (n + 1.0) * (n + 2.0) * (n + 2.0) * (n + 3.0) / 3.0;
}

/* Returns 1 if the multipoles of a and b may interact; then order[0] and order[1] are the orders of
 * the potentials in a and in b. The loads are logarithms. */
FMO_HD int fmo_boxes_far(const fmo_box *a, const fmo_box_load *of_a, const fmo_box *b,
                         const fmo_box_load *of_b, const fmo_box_criterion *criterion, int order[2])
{
    const double x = a->centre[0] - b->centre[0], y = a->centre[1] - b->centre[1],
                 z = a->centre[2] - b->centre[2];
    const double R2 = x * x + y * y + z * z, extent = a->extent + b->extent;
    if (R2 <= extent * extent) return 0;
    const double R = sqrt(R2), gap = R - extent, rho = a->radius + b->radius;
    const double size = fmax(of_a->weighted + of_b->bound, of_b->weighted + of_a->bound);
    if (gap * gap < fmo_box_T(size - criterion->log_cutoff) * (a->spread + b->spread)) return 0;
    const double log_unit = criterion->log_cutoff + (double)logf((float)(FMO_BOX_SHARE * gap));
    const double log_ratio = (double)logf((float)(rho / R));
    if (!(log_ratio < 0.0)) return 0;
    order[0] = fmo_box_order(of_a, of_b, criterion->order_max, log_unit, log_ratio);
    order[1] = fmo_box_order(of_b, of_a, criterion->order_max, log_unit, log_ratio);
    const int larger = order[0] > order[1] ? order[0] : order[1];
    if (larger > criterion->order_max) return 0;
    const double pairs = (double)(a->end - a->begin) * (double)(b->end - b->begin);
    return criterion->worth <= 0.0 || fmo_box_cost(larger) <= criterion->worth * pairs;
}

/* Returns the magnitude of the multipoles of order l of a cell, divided by the l-th power of its
 * radius: sqrt(sum_m |M_lm|^2 (l-m)! (l+m)!) over m of both signs (M has m >= 0, expansion.h). For
 * a charge at distance a from the centre it is the charge times a^l; for several charges it is at
 * most the sum of theirs. */
FMO_HD double fmo_box_strength(const fmo_box *box, const double *M, int l)
{
    const double *const row = M + 2 * fmo_harmonic(l, 0);
    double factor = 1.0, sum = row[0] * row[0] + row[1] * row[1];
    for (int k = 2; k <= l; k++) factor *= (double)k * k;
    sum *= factor;
    for (int m = 1; m <= l; m++) {
        factor *= (double)(l + m) / (l - m + 1);
        sum += 2.0 * factor * (row[2 * m] * row[2 * m] + row[2 * m + 1] * row[2 * m + 1]);
    }
    sum = sqrt(sum);
    for (int k = 0; k < l; k++) sum = box->radius > 0.0 ? sum / box->radius : 0.0;
    return sum;
}

/* Reduces the order from fmo_boxes_far, which holds for any multipoles, to the one needed for the
 * actual multipoles of `from`: the orders left out together add at most another FMO_BOX_SHARE of
 * the cutoff. moment: logarithm of the load's moment, of cell `to`. */
FMO_HD int fmo_box_fewer(int order, const fmo_box *to, double moment, const fmo_box *from,
                         const float *strength, double log_cutoff)
{
    const double x = to->centre[0] - from->centre[0], y = to->centre[1] - from->centre[1],
                 z = to->centre[2] - from->centre[2];
    const double over_R = 1.0 / sqrt(x * x + y * y + z * z);
    const float step = (float)(to->radius * over_R), reach = (float)(from->radius * over_R);
    float left = (float)(FMO_BOX_SHARE / over_R) * expf((float)(log_cutoff - moment));
    for (; order > 0; order--) {
        /* sum_l binomial(order, l) strength_l reach^l step^(order - l) */
        float binomial = 1.0f, power = 1.0f, sum = strength[0];
        for (int l = 1; l <= order; l++) {
            power *= reach;
            binomial *= (float)(order - l + 1) / (float)l;
            sum = sum * step + binomial * power * strength[l];
        }
        left -= sum;
        if (!(left >= 0.0f)) break;
    }
    return order;
}

/* Size by which the larger of two near cells is chosen for division; ties are broken by number, so
 * that the order of the two does not matter. */
FMO_HD double fmo_box_size(const fmo_box *box)
{
    return box->extent + 2.0 * sqrt(box->spread);
}
FMO_HD int fmo_box_larger(const fmo_box *boxes, int a, int b)
{
    const double size_a = fmo_box_size(&boxes[a]), size_b = fmo_box_size(&boxes[b]);
    return size_a > size_b || (size_a == size_b && a > b);
}

#endif
