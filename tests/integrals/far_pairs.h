/* Shared by the tests of far quartets: random pairs, and their J from integrals and from quadrature
 * points. */
#ifndef FMO_TESTS_FAR_PAIRS_H
#define FMO_TESTS_FAR_PAIRS_H

#include "tests/support/check.h"
#include "tests/support/system.h"

#include "integrals/far/far.h"
#include "integrals/pairs/shell_pair.h"

enum { PRODUCTS_MAX = FMO_FAR_PRODUCTS_MAX, PRIMS_MAX = SYSTEM_DEPTH_MAX * SYSTEM_DEPTH_MAX };

static unsigned long long seed; /* each program begins with one of its own */

/* The largest error, as a share of the estimate. */
#define ESTIMATE_SHARE 0.25

static inline void direction(double *v)
{
    double r2 = 0.0;
    while (r2 < 0.01 || r2 > 1.0) {
        for (int x = 0; x < 3; x++) v[x] = random_between(&seed, -1.0, 1.0);
        r2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    }
    for (int x = 0; x < 3; x++) v[x] /= sqrt(r2);
}

/* A pair of a list and, for a padded SP shell, its ss pair. */
typedef struct far_pair {
    int pair_class;
    fmo_pair_view view, carried; /* carried: no primitives if there is none */
    const double *ratio;
    double bound, p_min, prim_bounds;
    int cap;                /* the choice of nodes that is exact */
    double middle[3], half; /* of the segment of its primitives */
    double place[PRIMS_MAX], coefficient[PRIMS_MAX * FMO_FAR_COEFFICIENTS_MAX];
    fmo_far_line line;
    fmo_far_fit fit;
    double carried_prim[PRIMS_MAX * FMO_PAIR_FIELDS];
} far_pair;

/* Two atoms with the pairs of their shells. */
typedef struct fragment {
    fmo_basis *basis;
    fmo_shell_pairs pairs;
} fragment;

static inline void fragment_free(fragment *f)
{
    fmo_shell_pairs_free(&f->pairs);
    fmo_basis_destroy(f->basis);
}

static inline int pair_nodes(far_pair *p, int n, double *place, double *coefficient)
{
    return fmo_far_nodes(p->pair_class, p->view.prim_num, p->place, p->coefficient, &p->line, n,
                         place, coefficient);
}

/* Fits the errors of a pair's quadrature for each number of points, as a plan does. */
static inline void fit_nodes(far_pair *p)
{
    const double nearest = fmo_far_nearest(p->half, 1.0 / p->p_min);
    double place[PRIMS_MAX], coefficient[PRIMS_MAX * FMO_FAR_COEFFICIENTS_MAX];
    double error[FMO_FAR_CHOICES];
    const fmo_far_points prims = {p->view.prim_num, p->place, p->coefficient};
    int cap = FMO_FAR_CHOICES;
    fmo_far_primitives(p->pair_class, p->view.prim_num, p->view.prim, p->ratio, p->view.AB,
                       p->place, p->coefficient);
    fmo_far_find_line(p->pair_class, p->view.prim_num, p->place, p->coefficient, p->view.AB,
                      &p->line);
    for (int c = 0; c < FMO_FAR_CHOICES; c++) {
        const fmo_far_points nodes = {pair_nodes(p, FMO_FAR_NODES(c), place, coefficient), place,
                                      coefficient};
        error[c] =
            fmo_far_error(p->pair_class, &prims, &nodes, p->view.AB, &p->line, nearest) / p->bound;
        if (cap > c && fmo_far_exact(p->view.prim_num, &p->line, c, error[c])) cap = c;
    }
    p->fit = fmo_far_fit_errors(cap, nearest, error);
    p->cap = cap;
}

/* Pair n of a list. */
static inline void load_pair(const fragment *f, int pair_class, int n, far_pair *p)
{
    const fmo_pair_list *list = &f->pairs.list[pair_class];
    double low = INFINITY, high = -INFINITY, length2 = 0.0;
    p->pair_class = pair_class;
    p->view = fmo_pair_list_view(f->basis, list, n);
    p->ratio = list->ratio + list->begin[n];
    p->bound = list->bound[n];
    p->p_min = INFINITY;
    p->prim_bounds = 0.0;
    p->carried = p->view;
    p->carried.prim = p->carried_prim;
    if (p->ratio[0] == 0.0) p->carried.prim_num = 0;
    memcpy(p->carried_prim, p->view.prim,
           (size_t)p->view.prim_num * FMO_PAIR_FIELDS * sizeof *p->carried_prim);
    for (int x = 0; x < 3; x++) length2 += p->view.AB[x] * p->view.AB[x];
    for (int m = 0; m < p->view.prim_num; m++) {
        const double *prim = p->view.prim + m * FMO_PAIR_FIELDS;
        double along = 0.0;
        for (int x = 0; x < 3; x++) along += prim[FMO_PAIR_X + x] * p->view.AB[x];
        if (length2 > 0.0) along /= length2;
        low = fmin(low, along);
        high = fmax(high, along);
        p->p_min = fmin(p->p_min, prim[FMO_PAIR_P]);
        p->prim_bounds += list->prim_bound[list->begin[n] + m];
        p->carried_prim[m * FMO_PAIR_FIELDS + FMO_PAIR_K] *= p->ratio[m];
    }
    for (int x = 0; x < 3; x++) p->middle[x] = 0.5 * (low + high) * p->view.AB[x];
    p->half = 0.5 * (high - low) * sqrt(length2);
    fit_nodes(p);
}

/* A plain pair whose product i counts in products begin + i * copies + j, j < copies, times
 * weight[j]. */
typedef struct part {
    const fmo_pair_view *view;
    int pair_class, begin, copies;
    double weight[3];
} part;

/* The parts of a pair; with `sizes` also the terms |AB_j (p_i s|...)| of the horizontal recursion,
 * which may be larger than their sum. */
static inline int parts_of(const far_pair *p, int sizes, part *parts)
{
    const double *AB = p->view.AB;
    int n = 0;
    parts[n++] = (part){&p->view, p->pair_class, p->pair_class == FMO_PAIR_PS, 1, {1.0}};
    if (p->pair_class == FMO_PAIR_PS && p->carried.prim_num > 0)
        parts[n++] = (part){&p->carried, FMO_PAIR_SS, 0, 1, {1.0}};
    if (p->pair_class == FMO_PAIR_PP && sizes)
        parts[n++] = (part){&p->view, 1, 0, 3, {fabs(AB[0]), fabs(AB[1]), fabs(AB[2])}};
    return n;
}

/* Adds the integrals of two parts to X[ab][cd], or their sizes. */
static inline void add_block(const part *bra, const part *ket, int columns, int sizes, double *X)
{
    const int n = fmo_pair_products(bra->pair_class, 0), m = fmo_pair_products(ket->pair_class, 0);
    const int swap = bra->pair_class < ket->pair_class;
    double eri[FMO_ERI_INTEGRALS_MAX];
    fmo_eri_quartet((fmo_eri_class)fmo_eri_class_of(bra->pair_class, ket->pair_class),
                    swap ? ket->view : bra->view, swap ? bra->view : ket->view, eri);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++) {
            const double v = swap ? eri[k * n + i] : eri[i * m + k];
            for (int j = 0; j < bra->copies; j++)
                for (int l = 0; l < ket->copies; l++)
                    X[(bra->begin + i * bra->copies + j) * columns + ket->begin + k * ket->copies +
                      l] += bra->weight[j] * ket->weight[l] * (sizes ? fabs(v) : v);
        }
}

static inline void add_integrals(const far_pair *bra, const far_pair *ket, int sizes, double *X)
{
    part bras[2], kets[2];
    const int n = parts_of(bra, sizes, bras), m = parts_of(ket, sizes, kets);
    for (int b = 0; b < n; b++)
        for (int k = 0; k < m; k++)
            add_block(&bras[b], &kets[k], FMO_FAR_PRODUCTS(ket->pair_class), sizes, X);
}

/* J of both pairs from integrals X[ab][cd]: J[0] of the bra, J[1] of the ket. */
static inline void contract(const far_pair *bra, const far_pair *ket, const double *X,
                            double D[2][PRODUCTS_MAX], double J[2][PRODUCTS_MAX])
{
    const int n = FMO_FAR_PRODUCTS(bra->pair_class), m = FMO_FAR_PRODUCTS(ket->pair_class);
    memset(J, 0, 2 * sizeof *J);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            J[0][i] += X[i * m + j] * D[1][j];
            J[1][j] += X[i * m + j] * D[0][i];
        }
}

static inline void exact_coulomb(const far_pair *bra, const far_pair *ket,
                                 double D[2][PRODUCTS_MAX], double J[2][PRODUCTS_MAX])
{
    double X[FMO_ERI_INTEGRALS_MAX] = {0};
    add_integrals(bra, ket, 0, X);
    contract(bra, ket, X, D, J);
}

/* A pair as quadrature points, with its density and the potential of the other pair. */
typedef struct node_pair {
    int num;
    double place[PRIMS_MAX], coefficient[PRIMS_MAX * 5], folded[14], sums[14];
} node_pair;

static inline void make_nodes(far_pair *p, int n, const double *D, node_pair *z)
{
    z->num = pair_nodes(p, n, z->place, z->coefficient);
    fmo_far_fold(p->pair_class, p->view.AB, D, z->folded);
    memset(z->sums, 0, sizeof z->sums);
}

/* J of both pairs from n and m quadrature points. */
static inline void far_coulomb(far_pair *bra, int n, far_pair *ket, int m,
                               double D[2][PRODUCTS_MAX], double J[2][PRODUCTS_MAX])
{
    static node_pair b, k;
    make_nodes(bra, n, D[0], &b);
    make_nodes(ket, m, D[1], &k);
    for (int i = 0; i < b.num; i++) {
        const double *bra_coefficient = b.coefficient + i * FMO_FAR_COEFFICIENTS(bra->pair_class);
        double H[FMO_FAR_MOMENTS_MAX], V[FMO_FAR_MOMENTS_MAX] = {0};
        fmo_far_moments(bra->pair_class, bra_coefficient, b.folded, H);
        for (int j = 0; j < k.num; j++) {
            const double *ket_coefficient =
                k.coefficient + j * FMO_FAR_COEFFICIENTS(ket->pair_class);
            double other[FMO_FAR_MOMENTS_MAX], potential[FMO_FAR_MOMENTS_MAX] = {0}, R[3];
            for (int x = 0; x < 3; x++)
                R[x] = bra->view.A[x] - ket->view.A[x] +
                       (b.place[i] * bra->view.AB[x] - k.place[j] * ket->view.AB[x]);
            fmo_far_moments(ket->pair_class, ket_coefficient, k.folded, other);
            fmo_far_interact(bra->pair_class, ket->pair_class, R, H, other, V, potential);
            fmo_far_potential(ket->pair_class, ket_coefficient, potential, k.sums);
        }
        fmo_far_potential(bra->pair_class, bra_coefficient, V, b.sums);
    }
    fmo_far_unfold(bra->pair_class, bra->view.AB, b.sums, J[0]);
    fmo_far_unfold(ket->pair_class, ket->view.AB, k.sums, J[1]);
}

static inline void random_densities(double D[2][PRODUCTS_MAX])
{
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < PRODUCTS_MAX; i++) D[p][i] = random_between(&seed, -1.0, 1.0);
}

static inline double largest_difference(const far_pair *bra, const far_pair *ket,
                                        double x[2][PRODUCTS_MAX], double y[2][PRODUCTS_MAX])
{
    double largest = 0.0;
    for (int i = 0; i < FMO_FAR_PRODUCTS(bra->pair_class); i++)
        largest = fmax(largest, fabs(x[0][i] - y[0][i]));
    for (int i = 0; i < FMO_FAR_PRODUCTS(ket->pair_class); i++)
        largest = fmax(largest, fabs(x[1][i] - y[1][i]));
    return largest;
}

/* A random pair of each fragment, the ket moved so that the middles of the segments are `distance`
 * apart, in one case of four along the bra. Returns the T of the primitives that come closest. */
static inline double place_pairs(const fragment *f, double distance, far_pair *pair, double *centre)
{
    double v[3];
    direction(v);
    for (int k = 0; k < 2; k++) {
        const int pair_class = (int)random_between(&seed, 0, 3);
        load_pair(&f[k], pair_class, (int)random_between(&seed, 0, f[k].pairs.list[pair_class].num),
                  &pair[k]);
    }
    if (check_random(&seed) < 0.25 && pair[0].half > 0.0) {
        const double *AB = pair[0].view.AB;
        const double r = sqrt(AB[0] * AB[0] + AB[1] * AB[1] + AB[2] * AB[2]);
        for (int x = 0; x < 3; x++) v[x] = AB[x] / r;
    }
    for (int x = 0; x < 3; x++)
        centre[x] = pair[0].view.A[x] + pair[0].middle[x] + distance * v[x] - pair[1].middle[x];
    pair[1].view.A = pair[1].carried.A = centre;
    const double gap = distance - pair[0].half - pair[1].half;
    return gap * gap / (1.0 / pair[0].p_min + 1.0 / pair[1].p_min);
}

#endif
