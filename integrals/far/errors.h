/* Errors of the treatment of far quartets (far.h): bounds of their integrals, quadrature errors,
 * and the number of quadrature points that a pair needs. */
#ifndef FMO_FAR_ERRORS_H
#define FMO_FAR_ERRORS_H

#include "integrals/far/nodes.h"

/* Bounds on the moments of order 0, 1 and 2 of any product of a pair, from sums of magnitudes over
 * its primitives (arguments as for fmo_far_primitives). Two products separated by at least g have
 * an integral of at most sum_ab M_a N_b (a+b)! / g^(a+b+1), as (a+b)! / g^(a+b+1) bounds the
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

/* The primitives of a pair, or its quadrature points (nodes.h). */
typedef struct fmo_far_points {
    int num;
    const double *place, *coefficient; /* [num], [num][FMO_FAR_COEFFICIENTS(pair_class)] */
} fmo_far_points;

/* Adds `sign` times the multipoles of order `order` of points about the middle of the segment, in
 * units of 1/unit. */
FMO_HD void fmo_far_add_multipoles(int fields, const fmo_far_points *points, double middle,
                                   double unit, int order, double sign, double *sums)
{
    for (int m = 0; m < points->num; m++) {
        double power = sign;
        for (int i = 0; i < order; i++) power *= (points->place[m] - middle) * unit;
        for (int f = 0; f < fields; f++) sums[f] += power * points->coefficient[m * fields + f];
    }
}

/* Upper bound of the quadrature error of a pair's potential, times the distance d from the middle
 * of its segment, where d is at least the segment's length: from the multipoles that the quadrature
 * points do not reproduce, including rounding errors of those of low order. */
FMO_HD double fmo_far_error(int pair_class, const fmo_far_points *prims,
                            const fmo_far_points *nodes, const double *AB, const fmo_far_line *line,
                            double d)
{
    const int fields = FMO_FAR_COEFFICIENTS(pair_class);
    const double unit = sqrt(AB[0] * AB[0] + AB[1] * AB[1] + AB[2] * AB[2]) / d;
    double error = 0.0;
    for (int order = 0; order <= 2 * nodes->num + 2; order++) {
        double left[FMO_FAR_COEFFICIENTS_MAX] = {0};
        fmo_far_add_multipoles(fields, prims, line->middle, unit, order, 1.0, left);
        fmo_far_add_multipoles(fields, nodes, line->middle, unit, order, -1.0, left);
        for (int f = 0; f < fields; f++) {
            /* moments are multiplied by the derivatives of 1/d^(order+1) */
            double factor = fmo_far_scale(pair_class, f, fmo_far_width(AB), d);
            for (int i = 1; i <= fmo_far_order(pair_class, f); i++)
                factor *= (double)(order + i) / i;
            error += fabs(left[f]) * factor;
        }
    }
    return error;
}

/* Far quartets have a T of at least this (docs/explanation/far-field.md), and, for the quadrature
 * errors, gaps between their segments at least as long as half of either segment. */
#define FMO_FAR_T 7.0

/* Smallest allowed distance of the other segment from the middle of a pair's segment with this half
 * length and largest 1/p. */
FMO_HD double fmo_far_nearest(double half, double spread)
{
    return half + fmax(half, sqrt(FMO_FAR_T * spread));
}

/* Six quadrature points with an error below this at the least distance count as exact: quartets
 * large enough for it to matter are far only at larger distances, and the error falls at least with
 * the sixth power of the distance (tests/integrals/far_decision.c, with quartets of up to 1e8
 * cutoffs). This holds for all pairs of STO-3G, 3-21G and 6-31G, hydrogen to neon. */
#define FMO_FAR_SIX_ENOUGH 5e-7

/* Returns 1 if a choice of quadrature points is exact for a pair of `num` primitives; `error` is
 * fmo_far_error at the least distance over the pair's bound. */
FMO_HD int fmo_far_exact(int num, const fmo_far_line *line, int choice, double error)
{
    const int nodes = FMO_FAR_NODES(choice);
    return num <= nodes || line->degree <= nodes ||
           (choice == FMO_FAR_CHOICES - 1 && error < FMO_FAR_SIX_ENOUGH);
}

/* Model of the error of n quadrature points at distance d, A (rho/d)^n: the binary logarithms of A
 * and rho. */
typedef struct fmo_far_fit {
    float log_A, log_rho;
} fmo_far_fit;

/* Fits the model to the errors of choices 0, 1, ... at one distance d: exact for one point, an
 * upper bound for all others. Choices from `cap` on have no error. */
FMO_HD fmo_far_fit fmo_far_fit_errors(int cap, double d, const double *error)
{
    const double least = -100.0, one = cap > 0 ? fmax(log2(error[0]), least) : least;
    double log_x = cap > 1 ? least : one;
    for (int c = 1; c < cap; c++)
        log_x = fmax(log_x, (fmax(log2(error[c]), least) - one) / (FMO_FAR_NODES(c) - 1));
    const fmo_far_fit fit = {(float)(one - log_x), (float)(log_x + log2(d))};
    return fit;
}

/* a / b, to seven digits on a GPU. */
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

/* Returns the smallest choice (FMO_FAR_NODES) with A x^n at most `tolerance`, x = rho/d;
 * FMO_FAR_CHOICES if there is none. Arguments are the binary logarithms of x, which must be less
 * than 0.7, and of tolerance / A. */
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
