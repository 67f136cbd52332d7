/* What far quartets leave out (far.h): bounds of their integrals, the errors of nodes, and how many
 * nodes a pair needs. */
#ifndef FMO_FAR_ERRORS_H
#define FMO_FAR_ERRORS_H

#include "integrals/far/nodes.h"

/* Bounds on the moments of order 0, 1 and 2 of any product of a pair, from sums of sizes over its
 * primitives (as for fmo_far_nodes). Two far products at least g separation
 * have an integral of at most sum_ab M_a N_b (a+b)! / g^(a+b+1), as (a+b)! / g^(a+b+1) bounds the
 * derivatives of 1/R. */
FMO_HD void fmo_far_largest(int pair_class, int num, const double *prim, const double *ratio,
                            const double *AB, double *moment)
{
    const int carries = fmo_pair_partner(pair_class) != FMO_PAIR_NONE;
    const double width = fmo_far_width(AB);
    double carried = 0.0;
    moment[0] = moment[1] = moment[2] = 0.0;
    for (int m = 0; m < num; m++) {
        const double *record = prim + m * FMO_PAIR_FIELDS;
        fmo_far_sizes(pair_class, record, carries ? ratio[m] : 0.0, fmo_far_place(record, AB),
                      width, moment, &carried);
    }
    moment[0] = fmax(moment[0], carried);
}

/* Adds `sign` times the multipoles of order `order` of primitives or nodes, about the middle of the
 * segment, in units of 1/unit. */
FMO_HD void fmo_far_add_multipoles(int fields, int num, const double *place,
                                   const double *coefficient, double middle, double unit, int order,
                                   double sign, double *sums)
{
    for (int m = 0; m < num; m++) {
        double power = sign;
        for (int i = 0; i < order; i++) power *= (place[m] - middle) * unit;
        for (int f = 0; f < fields; f++) sums[f] += power * coefficient[m * fields + f];
    }
}

/* What nodes leave out of the potential of a pair, at most, times the distance d from the middle of
 * its segment, which is at least the segment's length: the multipoles that the nodes have not got
 * right, those of low order by rounding. */
FMO_HD double fmo_far_error(int pair_class, int num, const double *prim_place,
                            const double *prim_coefficient, const double *AB,
                            const fmo_far_line *line, int nodes, const double *place,
                            const double *coefficient, double d)
{
    const int fields = FMO_FAR_COEFFICIENTS(pair_class);
    const double unit = sqrt(AB[0] * AB[0] + AB[1] * AB[1] + AB[2] * AB[2]) / d;
    double error = 0.0;
    for (int order = 0; order <= 2 * nodes + 2; order++) {
        double left[FMO_FAR_COEFFICIENTS_MAX] = {0};
        fmo_far_add_multipoles(fields, num, prim_place, prim_coefficient, line->middle, unit, order,
                               1.0, left);
        fmo_far_add_multipoles(fields, nodes, place, coefficient, line->middle, unit, order, -1.0,
                               left);
        for (int f = 0; f < fields; f++) {
            /* moments meet the derivatives of 1/d^(order+1) */
            double factor = fmo_far_scale(pair_class, f, fmo_far_width(AB), d);
            for (int i = 1; i <= fmo_far_order(pair_class, f); i++)
                factor *= (double)(order + i) / i;
            error += fabs(left[f]) * factor;
        }
    }
    return error;
}

/* Far quartets have a T of at least this (docs/explanation/far-field.md), and, for the nodes'
 * errors, gaps between their segments that are at least as long as half of either segment. */
#define FMO_FAR_T 7.0

/* So near to the middle of its segment the other one may come: half its length, largest 1/p. */
FMO_HD double fmo_far_nearest(double half, double spread)
{
    return half + fmax(half, sqrt(FMO_FAR_T * spread));
}

/* Six nodes that leave out less than this at the least distance count as exact: quartets so large
 * that it would matter are far from there on only, and what is left of it falls with the sixth
 * power of the distance at least (tests/integrals_far_decision.c, with quartets of up to 1e8
 * cutoffs). All pairs of STO-3G, 3-21G and 6-31G, hydrogen to neon, are such. */
#define FMO_FAR_SIX_ENOUGH 5e-7

/* Whether a choice of nodes is exact for a pair of `num` primitives; `error` is fmo_far_error at
 * the least distance over the pair's bound. */
FMO_HD int fmo_far_exact(int num, const fmo_far_line *line, int choice, double error)
{
    const int nodes = FMO_FAR_NODES(choice);
    return num <= nodes || line->degree <= nodes ||
           (choice == FMO_FAR_CHOICES - 1 && error < FMO_FAR_SIX_ENOUGH);
}

/* What n nodes of a pair leave out at distance d, as binary logarithms of A and rho: A (rho/d)^n.
 */
typedef struct fmo_far_fit {
    float log_A, log_rho;
} fmo_far_fit;

/* From the errors of choices 0, 1, ... at one distance, the least that may be asked for: as one
 * node has it, and for none less. Choices from `cap` on have no error. */
FMO_HD fmo_far_fit fmo_far_fit_errors(int cap, double d, const double *error)
{
    const double least = -100.0, one = cap > 0 ? fmax(log2(error[0]), least) : least;
    double log_x = cap > 1 ? least : one;
    for (int c = 1; c < cap; c++)
        log_x = fmax(log_x, (fmax(log2(error[c]), least) - one) / (FMO_FAR_NODES(c) - 1));
    const fmo_far_fit fit = {(float)(one - log_x), (float)(log_x + log2(d))};
    return fit;
}

/* A quotient; to seven digits on a GPU. */
FMO_HD float fmo_far_quotient(float a, float b)
{
#ifdef __CUDA_ARCH__
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
    return a * r;
#else
    return a / b;
#endif
}

/* How many nodes a pair needs: the smallest choice (FMO_FAR_NODES) with A x^n at most `tolerance`,
 * x = rho/d; FMO_FAR_CHOICES if none is. Arguments are the binary logarithms of x, which is to be
 * less than 0.7, and of tolerance / A. */
FMO_HD int fmo_far_nodes_needed(float log_x, float log_tolerance)
{
    const float n = fmo_far_quotient(log_tolerance, log_x);
    if (!(log_x <= -0.5f && n <= (float)FMO_FAR_NODES_MAX)) return FMO_FAR_CHOICES;
#ifdef __CUDA_ARCH__
    const int choice = __float2int_ru(n) - 1;
#else
    const int choice = (int)ceilf(n) - 1;
#endif
    return choice < 0 ? 0 : choice > FMO_FAR_CHOICES - 1 ? FMO_FAR_CHOICES - 1 : choice;
}

#endif
