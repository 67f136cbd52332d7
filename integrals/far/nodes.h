/* Quadrature points (nodes) of a far pair (far.h): a function f that is smooth along the line of a
 * pair's primitives is replaced by its interpolation polynomial, sum_m c_m f(s_m) = sum_j [sum_m
 * c_m L_j(s_m)] f(x_j), with the Lagrange polynomials L_j of the points x_j. Polynomials of degree
 * n - 1 are integrated exactly with any n points. Those used here are the points of Gauss
 * quadrature with the magnitudes of the primitives as weights: if all coefficients were
 * proportional to the magnitudes, degree 2n - 1 would be exact; as they nearly are, the remaining
 * error is small. */
#ifndef FMO_FAR_NODES_H
#define FMO_FAR_NODES_H

#include "integrals/far/pair.h"

/* Numbers of quadrature points: choices 0 to FMO_FAR_CHOICES - 1. */
enum { FMO_FAR_CHOICES = 5, FMO_FAR_NODES_MAX = 6 };
#define FMO_FAR_NODES(choice) ((choice) < 4 ? (choice) + 1 : FMO_FAR_NODES_MAX)

/* Primitives closer than this, in units of AB, count as having one centre, because s itself has
 * rounding errors. */
#define FMO_FAR_ONE_CENTRE (64 * 2.2204460492503131e-16)

FMO_HD double fmo_far_place(const double *prim, const double *AB)
{
    int x = 0; /* axis of the largest component */
    for (int i = 1; i < 3; i++)
        if (fabs(AB[i]) > fabs(AB[x])) x = i;
    return AB[x] == 0.0 ? 0.0 : prim[FMO_PAIR_X + x] / AB[x];
}

/* Computes positions and coefficients of all primitives of a pair from num >= 1 records of
 * FMO_PAIR_FIELDS and, for pairs with a partner, their ratios: place[num], with a primitive's
 * centre at A + place AB, and coefficient[num][FMO_FAR_COEFFICIENTS(pair_class)]. */
FMO_HD void fmo_far_primitives(int pair_class, int num, const double *prim, const double *ratio,
                               const double *AB, double *place, double *coefficient)
{
    const int carries = fmo_pair_partner(pair_class) != FMO_PAIR_NONE;
    for (int m = 0; m < num; m++) {
        const double *const record = prim + m * FMO_PAIR_FIELDS;
        place[m] = fmo_far_place(record, AB);
        fmo_far_coefficients(pair_class, record, carries ? ratio[m] : 0.0, place[m],
                             coefficient + m * FMO_FAR_COEFFICIENTS(pair_class));
    }
}

/* The largest |AB_x|. */
FMO_HD double fmo_far_width(const double *AB)
{
    return fmax(fmax(fabs(AB[0]), fabs(AB[1])), fabs(AB[2]));
}

/* Weight of a coefficient: its factor of AB times the decay of its moments at a distance. */
FMO_HD double fmo_far_scale(int pair_class, int coefficient, double width, double distance)
{
    const int order = fmo_far_order(pair_class, coefficient);
    const double moment = order == 0   ? 1.0
                          : order == 1 ? 1.0 / distance
                                       : 2.0 / (distance * distance);
    return fmo_far_span(pair_class, coefficient, width) * moment;
}

/* The line on which a pair's quadrature points lie: its segment, and the recurrence p_k+1 = (t -
 * a_k) p_k - b_k p_k-1 of the polynomials that are orthogonal on it, t from -1 to 1. */
typedef struct fmo_far_line {
    double middle, half; /* in units of s */
    /* Number of points without error; FMO_FAR_NODES_MAX + 1 if it is more than allowed. The
     * recurrence has at most FMO_FAR_NODES_MAX coefficients. */
    int degree;
    double a[FMO_FAR_NODES_MAX], b[FMO_FAR_NODES_MAX];
    double zero[FMO_FAR_NODES_MAX]; /* zeros of p_zeros, ascending */
    int zeros;
} fmo_far_line;

FMO_HD double fmo_far_polynomial(const fmo_far_line *line, int degree, double t)
{
    double p = 1.0, before = 0.0;
    for (int k = 0; k < degree; k++) {
        const double next = (t - line->a[k]) * p - line->b[k] * before;
        before = p;
        p = next;
    }
    return p;
}

/* The distance in bohr at which a primitive's moments are compared with its charge. */
#define FMO_FAR_TYPICAL 8.0

/* Polynomials with a mean square below this are zero at all primitives. */
#define FMO_FAR_NOTHING 1e-28

/* Finds segment and recurrence from the positions and coefficients of the primitives, by Stieltjes'
 * procedure: Gautschi, Orthogonal Polynomials (Oxford 2004), 2.2.3.1. */
FMO_HD void fmo_far_find_line(int pair_class, int num, const double *prim_place,
                              const double *prim_coefficient, const double *AB, fmo_far_line *line)
{
    const int fields = FMO_FAR_COEFFICIENTS(pair_class);
    double scale[FMO_FAR_COEFFICIENTS_MAX], before = 1.0, all = 0.0;
    double low = INFINITY, high = -INFINITY;
    for (int m = 0; m < num; m++) {
        low = fmin(low, prim_place[m]);
        high = fmax(high, prim_place[m]);
    }
    line->middle = 0.5 * (low + high);
    line->half = high - low <= FMO_FAR_ONE_CENTRE ? 0.0 : 0.5 * (high - low);
    line->degree = line->half == 0.0;
    line->a[0] = line->b[0] = 0.0;
    line->zeros = 0;
    for (int f = 0; f < fields; f++)
        scale[f] = fmo_far_scale(pair_class, f, fmo_far_width(AB), FMO_FAR_TYPICAL);
    for (int k = 0; k <= FMO_FAR_NODES_MAX && line->half > 0.0; k++) {
        double norm = 0.0, first = 0.0;
        for (int m = 0; m < num; m++) {
            const double t = (prim_place[m] - line->middle) / line->half;
            const double p = fmo_far_polynomial(line, k, t);
            double size = 0.0;
            for (int f = 0; f < fields; f++)
                size += scale[f] * fabs(prim_coefficient[m * fields + f]);
            norm += size * p * p;
            first += size * p * p * t;
        }
        if (k == 0) all = norm;
        if (!(norm > FMO_FAR_NOTHING * all)) return;
        line->degree = k + 1;
        if (k == FMO_FAR_NODES_MAX) return;
        line->a[k] = first / norm;
        line->b[k] = k ? norm / before : 0.0;
        before = norm;
    }
}

/* Finds the zeros of p_n, n at most line->degree, by bisection between those of p_n-1. */
FMO_HD void fmo_far_find_zeros(fmo_far_line *line, int n)
{
    if (line->zeros > n) line->zeros = 0;
    while (line->zeros < n) {
        const int degree = ++line->zeros;
        for (int j = degree - 1; j >= 0; j--) {
            double low = j > 0 ? line->zero[j - 1] : -1.0;
            double high = j < degree - 1 ? line->zero[j] : 1.0;
            const int sign = (degree - j) % 2; /* p_n < 0 just below its last zero, > 0 below the
                                                  one before, and so on */
            for (int bit = 0; bit < 45; bit++) {
                const double t = 0.5 * (low + high);
                if ((fmo_far_polynomial(line, degree, t) < 0.0) == sign)
                    low = t;
                else
                    high = t;
            }
            line->zero[j] = 0.5 * (low + high);
        }
    }
}

/* L_j(s) for n points. */
FMO_HD double fmo_far_lagrange(int n, const double *node, int j, double s)
{
    double product = 1.0, divisor = 1.0;
    for (int k = 0; k < n; k++)
        if (k != j) {
            product *= s - node[k];
            divisor *= node[j] - node[k];
        }
    return product / divisor;
}

/* Computes at most n quadrature points for the primitives of a pair: place[n] and
 * coefficient[n][FMO_FAR_COEFFICIENTS(pair_class)], as those of primitives. Returns their number:
 * n, or fewer, then without error, if the pair has no more primitives or all of them have one
 * centre. */
FMO_HD int fmo_far_nodes(int pair_class, int num, const double *prim_place,
                         const double *prim_coefficient, fmo_far_line *line, int n, double *place,
                         double *coefficient)
{
    const int fields = FMO_FAR_COEFFICIENTS(pair_class), own = line->half > 0.0 && num <= n;
    const int used = own ? num : n < line->degree ? n : line->degree;
    if (!own) fmo_far_find_zeros(line, used);
    for (int j = 0; j < used; j++) {
        place[j] = own ? prim_place[j] : line->middle + line->half * line->zero[j];
        for (int f = 0; f < fields; f++)
            coefficient[j * fields + f] = own ? prim_coefficient[j * fields + f] : 0.0;
    }
    for (int m = 0; m < num && !own; m++)
        for (int j = 0; j < used; j++) {
            const double weight = fmo_far_lagrange(used, place, j, prim_place[m]);
            for (int f = 0; f < fields; f++)
                coefficient[j * fields + f] += weight * prim_coefficient[m * fields + f];
        }
    return used;
}

#endif
