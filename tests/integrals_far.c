/* Far quartets: J of pairs that do not overlap, from the moments of nodes, and their integrals from
 * nodes, against the integrals proper. */
#include "check.h"
#include "test_system.h"

#include "integrals/far/far.h"
#include "integrals/pairs/shell_pair.h"

enum { PRODUCTS_MAX = FMO_FAR_PRODUCTS_MAX, PRIMS_MAX = SYSTEM_DEPTH_MAX * SYSTEM_DEPTH_MAX };

static unsigned long long seed = 20261207;

static double uniform(double a, double b)
{
    return a + (b - a) * check_random(&seed);
}

static void direction(double *v)
{
    double r2 = 0.0;
    while (r2 < 0.01 || r2 > 1.0) {
        for (int x = 0; x < 3; x++) v[x] = uniform(-1.0, 1.0);
        r2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    }
    for (int x = 0; x < 3; x++) v[x] /= sqrt(r2);
}

/* A pair of a list and, where it carries one, its ss pair. */
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

/* Two atoms with a contracted sp set, an s and a p shell each: pairs of all kinds, with and without
 * a carried product, of one atom and of two. */
typedef struct fragment {
    fmo_basis *basis;
    fmo_shell_pairs pairs;
} fragment;

static void add_shells(test_system *s, double exponent_max)
{
    const int begin = s->prims;
    system_add_shell(s, 0, 1 + (int)uniform(0, SYSTEM_DEPTH_MAX), &seed);
    for (int k = begin; k < s->prims; k++) {
        const double a = 0.1 * pow(10.0 * exponent_max, check_random(&seed)), was = s->exponent[k];
        s->exponent[k] = a;
        s->coefficient[k] *= pow(a / was, 0.75);
    }
    if (s->prims - begin > 2) s->coefficient[begin] *= -0.3; /* as in a 2s function */
    system_add_partner(s, &seed);
    system_add_shell(s, 0, 1 + (int)uniform(0, 3), &seed);
    system_add_shell(s, 1, 1 + (int)uniform(0, 3), &seed);
}

static int fragment_make(fragment *f, double exponent_max, double AB)
{
    static test_system s;
    fmo_error err = {FMO_OK, ""};
    double v[3];
    memset(&s, 0, sizeof s);
    direction(v);
    for (int a = 0; a < 2; a++) {
        system_add_atom(&s, a * AB * v[0], a * AB * v[1], a * AB * v[2]);
        add_shells(&s, exponent_max);
    }
    f->basis = system_basis(&s);
    if (!f->basis) return 0;
    const fmo_status status = fmo_sp_pairs_make(f->basis, 1e-13, 1, &f->pairs, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    return status == FMO_OK;
}

static void fragment_free(fragment *f)
{
    fmo_shell_pairs_free(&f->pairs);
    fmo_basis_destroy(f->basis);
}

static int pair_nodes(far_pair *p, int n, double *place, double *coefficient)
{
    return fmo_far_nodes(p->pair_class, p->view.prim_num, p->place, p->coefficient, &p->line, n,
                         place, coefficient);
}

static void fit_nodes(far_pair *p)
{
    const double nearest = fmo_far_nearest(p->half, 1.0 / p->p_min);
    double place[PRIMS_MAX], coefficient[PRIMS_MAX * FMO_FAR_COEFFICIENTS_MAX];
    double error[FMO_FAR_CHOICES];
    int cap = FMO_FAR_CHOICES;
    fmo_far_primitives(p->pair_class, p->view.prim_num, p->view.prim, p->ratio, p->view.AB,
                       p->place, p->coefficient);
    fmo_far_find_line(p->pair_class, p->view.prim_num, p->place, p->coefficient, p->view.AB,
                      &p->line);
    for (int c = 0; c < FMO_FAR_CHOICES; c++) {
        const int n = FMO_FAR_NODES(c), used = pair_nodes(p, n, place, coefficient);
        error[c] = fmo_far_error(p->pair_class, p->view.prim_num, p->place, p->coefficient,
                                 p->view.AB, &p->line, used, place, coefficient, nearest) /
                   p->bound;
        if (cap > c && fmo_far_exact(p->view.prim_num, &p->line, c, error[c])) cap = c;
    }
    p->fit = fmo_far_fit_errors(cap, nearest, error);
    p->cap = cap;
}

/* Pair n of a list. */
static void load_pair(const fragment *f, int pair_class, int n, far_pair *p)
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

/* What a pair consists of; with `sizes` also the terms |AB_j (p_i s|...)| of the horizontal
 * recursion, which may be larger than what is left of them. */
static int parts_of(const far_pair *p, int sizes, part *parts)
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
static void add_block(const part *bra, const part *ket, int columns, int sizes, double *X)
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

static void add_integrals(const far_pair *bra, const far_pair *ket, int sizes, double *X)
{
    part bras[2], kets[2];
    const int n = parts_of(bra, sizes, bras), m = parts_of(ket, sizes, kets);
    for (int b = 0; b < n; b++)
        for (int k = 0; k < m; k++)
            add_block(&bras[b], &kets[k], FMO_FAR_PRODUCTS(ket->pair_class), sizes, X);
}

/* J of both pairs from integrals X[ab][cd]: J[0] of the bra, J[1] of the ket. */
static void contract(const far_pair *bra, const far_pair *ket, const double *X,
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

static void exact_coulomb(const far_pair *bra, const far_pair *ket, double D[2][PRODUCTS_MAX],
                          double J[2][PRODUCTS_MAX])
{
    double X[FMO_ERI_INTEGRALS_MAX] = {0};
    add_integrals(bra, ket, 0, X);
    contract(bra, ket, X, D, J);
}

/* One primitive of a pair, as a pair. */
static far_pair one_primitive(const far_pair *p, int m)
{
    far_pair one = *p;
    one.view.prim_num = 1;
    one.view.prim += m * FMO_PAIR_FIELDS;
    one.carried.prim_num = p->carried.prim_num > 0;
    one.carried.prim = p->carried_prim + m * FMO_PAIR_FIELDS;
    return one;
}

/* Sums of the sizes of all terms of integrals X[ab][cd]. */
static void integral_sizes(const far_pair *bra, const far_pair *ket, double *X)
{
    for (int b = 0; b < bra->view.prim_num; b++) {
        const far_pair one = one_primitive(bra, b);
        for (int k = 0; k < ket->view.prim_num; k++) {
            const far_pair other = one_primitive(ket, k);
            add_integrals(&one, &other, 1, X);
        }
    }
}

/* And of J, from those of the integrals. */
static void coulomb_sizes(const far_pair *bra, const far_pair *ket, const double *X,
                          double D[2][PRODUCTS_MAX], double J[2][PRODUCTS_MAX])
{
    double sizes[2][PRODUCTS_MAX];
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < PRODUCTS_MAX; i++) sizes[p][i] = fabs(D[p][i]);
    contract(bra, ket, X, sizes, J);
}

/* A pair as nodes, with its density and what the other pair does to it. */
typedef struct node_pair {
    int num;
    double place[PRIMS_MAX], coefficient[PRIMS_MAX * 5], folded[14], sums[14];
} node_pair;

static void make_nodes(far_pair *p, int n, const double *D, node_pair *z)
{
    z->num = pair_nodes(p, n, z->place, z->coefficient);
    fmo_far_fold(p->pair_class, p->view.AB, D, z->folded);
    memset(z->sums, 0, sizeof z->sums);
}

/* J of both pairs from n and m nodes. */
static void far_coulomb(far_pair *bra, int n, far_pair *ket, int m, double D[2][PRODUCTS_MAX],
                        double J[2][PRODUCTS_MAX])
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

/* Integrals X[ab][cd] from n and m nodes. */
static void far_integrals(far_pair *bra, int n, far_pair *ket, int m, double *X)
{
    static node_pair b, k;
    static const double none[PRODUCTS_MAX];
    double blocks[FMO_FAR_BLOCKS_MAX] = {0};
    make_nodes(bra, n, none, &b);
    make_nodes(ket, m, none, &k);
    for (int i = 0; i < b.num; i++)
        for (int j = 0; j < k.num; j++) {
            double R[3];
            for (int x = 0; x < 3; x++)
                R[x] = bra->view.A[x] - ket->view.A[x] +
                       (b.place[i] * bra->view.AB[x] - k.place[j] * ket->view.AB[x]);
            fmo_far_add_nodes(bra->pair_class, ket->pair_class, R,
                              b.coefficient + i * FMO_FAR_COEFFICIENTS(bra->pair_class),
                              k.coefficient + j * FMO_FAR_COEFFICIENTS(ket->pair_class), blocks);
        }
    fmo_far_integrals(bra->pair_class, ket->pair_class, bra->view.AB, ket->view.AB, blocks, X);
}

/* The bound of fmo_far_largest on all integrals of two pairs at least gap apart. */
static double largest_integral(const far_pair *bra, const far_pair *ket, double gap)
{
    const far_pair *pair[2] = {bra, ket};
    double moment[2][3], bound = 0.0, factor = 1.0 / gap;
    for (int p = 0; p < 2; p++) {
        const fmo_pair_view *view = &pair[p]->view;
        fmo_far_largest(pair[p]->pair_class, view->prim_num, view->prim, pair[p]->ratio, view->AB,
                        moment[p]);
    }
    for (int order = 0; order <= 4; order++) {
        for (int a = 0; a <= 2; a++)
            if (order - a >= 0 && order - a <= 2)
                bound += moment[0][a] * moment[1][order - a] * factor;
        factor *= (order + 1) / gap;
    }
    return bound;
}

/* Integrals from all primitives as nodes are those of the classes; from n nodes they give the J
 * that the moments of n nodes give; and none is above the bound. */
static void check_integrals(far_pair *bra, far_pair *ket, double gap, const double *size_of,
                            double D[2][PRODUCTS_MAX], double sizes[2][PRODUCTS_MAX],
                            double *tightest)
{
    const int size = FMO_FAR_PRODUCTS(bra->pair_class) * FMO_FAR_PRODUCTS(ket->pair_class);
    const double bound = largest_integral(bra, ket, gap);
    double exact[FMO_ERI_INTEGRALS_MAX] = {0}, X[FMO_ERI_INTEGRALS_MAX];
    double J[2][PRODUCTS_MAX], far[2][PRODUCTS_MAX];
    add_integrals(bra, ket, 0, exact);
    far_integrals(bra, PRIMS_MAX, ket, PRIMS_MAX, X);
    for (int i = 0; i < size; i++) {
        CHECK(fabs(X[i] - exact[i]) <= 3e-13 * size_of[i],
              "pairs %d %d, integral %d: got %.17g, want %.17g", bra->pair_class, ket->pair_class,
              i, X[i], exact[i]);
        CHECK(fabs(exact[i]) <= bound * (1.0 + 1e-13),
              "pairs %d %d, integral %d: %g above the bound %g", bra->pair_class, ket->pair_class,
              i, exact[i], bound);
        *tightest = fmax(*tightest, fabs(exact[i]) / bound);
    }
    for (int c = 0; c < FMO_FAR_CHOICES; c++) {
        far_integrals(bra, FMO_FAR_NODES(c), ket, FMO_FAR_NODES(c), X);
        contract(bra, ket, X, D, J);
        far_coulomb(bra, FMO_FAR_NODES(c), ket, FMO_FAR_NODES(c), D, far);
        for (int p = 0; p < 2; p++)
            for (int i = 0; i < FMO_FAR_PRODUCTS((p ? ket : bra)->pair_class); i++)
                CHECK(fabs(far[p][i] - J[p][i]) <= 1e-11 * sizes[p][i],
                      "pairs %d %d, %d nodes, J[%d][%d]: %.17g from integrals, %.17g from moments",
                      bra->pair_class, ket->pair_class, FMO_FAR_NODES(c), p, i, J[p][i], far[p][i]);
    }
}

static void random_densities(double D[2][PRODUCTS_MAX])
{
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < PRODUCTS_MAX; i++) D[p][i] = uniform(-1.0, 1.0);
}

static double largest_difference(const far_pair *bra, const far_pair *ket,
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
static double place_pairs(const fragment *f, double distance, far_pair *pair, double *center)
{
    double v[3];
    direction(v);
    for (int k = 0; k < 2; k++) {
        const int pair_class = (int)uniform(0, 3);
        load_pair(&f[k], pair_class, (int)uniform(0, f[k].pairs.list[pair_class].num), &pair[k]);
    }
    if (check_random(&seed) < 0.25 && pair[0].half > 0.0) {
        const double *AB = pair[0].view.AB;
        const double r = sqrt(AB[0] * AB[0] + AB[1] * AB[1] + AB[2] * AB[2]);
        for (int x = 0; x < 3; x++) v[x] = AB[x] / r;
    }
    for (int x = 0; x < 3; x++)
        center[x] = pair[0].view.A[x] + pair[0].middle[x] + distance * v[x] - pair[1].middle[x];
    pair[1].view.A = pair[1].carried.A = center;
    const double gap = distance - pair[0].half - pair[1].half;
    return gap * gap / (1.0 / pair[0].p_min + 1.0 / pair[1].p_min);
}

/* No case leaves more out than this share of the estimate. */
#define ESTIMATE_SHARE 0.25

/* What n nodes leave out of J, relative to the Schwarz bounds, by the pair's fit. */
static double estimate(const far_pair *p, double distance, double other_half, int n)
{
    const double d = distance - other_half;
    return exp2(p->fit.log_A + n * (p->fit.log_rho - log2(d))) * fmin(1.0, 10.0 / distance);
}

/* Pairs that may be far as screening sees it: what nodes leave out is within the estimate. */
static void check_errors(far_pair pair[2], double distance, double D[2][PRODUCTS_MAX],
                         double all[2][PRODUCTS_MAX], long *errors, double *worst)
{
    const double schwarz = pair[0].bound * pair[1].bound;
    for (int c = 0; c < FMO_FAR_CHOICES; c++) {
        const int n = FMO_FAR_NODES(c);
        double far[2][PRODUCTS_MAX], bound = 0.0;
        for (int p = 0; p < 2; p++)
            if (pair[p].view.prim_num > n && pair[p].half > 0.0)
                bound += estimate(&pair[p], distance, pair[1 - p].half, n);
        far_coulomb(&pair[0], n, &pair[1], n, D, far);
        const double error = largest_difference(&pair[0], &pair[1], far, all) / schwarz;
        CHECK(error <= ESTIMATE_SHARE * bound + 3e-14,
              "pairs %d %d, %d nodes: error %.3g, estimate %.3g", pair[0].pair_class,
              pair[1].pair_class, n, error, bound);
        if (bound < 1e-11) continue;
        worst[c] = fmax(worst[c], error / bound);
        errors[c]++;
    }
}

/* J from n nodes of each pair: as exact as the integrals where that is all primitives and pairs do
 * not overlap, else within the estimates. */
static void test_nodes(void)
{
    static far_pair pair[2];
    static double worst[FMO_FAR_CHOICES];
    static long errors[FMO_FAR_CHOICES];
    long cases[3][3] = {{0}}, carried = 0, one_center = 0;
    double tightest = 0.0;
    for (int f = 0; f < 300; f++) {
        fragment fragments[2];
        for (int k = 0; k < 2; k++)
            if (!fragment_make(&fragments[k], 1e3, uniform(0.5, 6.0))) return;
        for (int q = 0; q < 40; q++) {
            const double distance = q % 2 ? uniform(15.0, 60.0) : uniform(2.0, 20.0);
            double D[2][PRODUCTS_MAX], J[2][PRODUCTS_MAX], sizes[2][PRODUCTS_MAX], center[3];
            double far[2][PRODUCTS_MAX], size_of[FMO_ERI_INTEGRALS_MAX] = {0};
            const double T = place_pairs(fragments, distance, pair, center);
            far_pair *bra = &pair[0], *ket = &pair[1];
            const double gap = distance - bra->half - ket->half;
            if (!(T >= FMO_FAR_T && gap >= fmax(bra->half, ket->half))) continue;
            random_densities(D);
            far_coulomb(bra, PRIMS_MAX, ket, PRIMS_MAX, D, far);
            check_errors(pair, distance, D, far, errors, worst);
            if (T < 45.0) continue;
            cases[bra->pair_class][ket->pair_class]++;
            carried += bra->carried.prim_num > 0 && bra->pair_class == FMO_PAIR_PS;
            one_center += bra->half == 0.0 && bra->view.prim_num > 1;
            exact_coulomb(bra, ket, D, J);
            integral_sizes(bra, ket, size_of);
            coulomb_sizes(bra, ket, size_of, D, sizes);
            check_integrals(bra, ket, gap, size_of, D, sizes, &tightest);
            for (int p = 0; p < 2; p++)
                for (int i = 0; i < FMO_FAR_PRODUCTS(pair[p].pair_class); i++)
                    CHECK(fabs(far[p][i] - J[p][i]) <= 3e-13 * sizes[p][i],
                          "pairs %d %d, J[%d][%d]: got %.17g, want %.17g", bra->pair_class,
                          ket->pair_class, p, i, far[p][i], J[p][i]);
        }
        for (int k = 0; k < 2; k++) fragment_free(&fragments[k]);
    }
    for (int b = 0; b < 3; b++)
        for (int k = 0; k < 3; k++) CHECK(cases[b][k] > 100, "%ld of %d %d", cases[b][k], b, k);
    CHECK(carried > 100 && one_center > 100, "%ld carry, %ld on one atom", carried, one_center);
    printf("largest integral %.2f of its bound\n", tightest);
    CHECK(tightest > 0.5, "the bound is far too large");
    for (int c = 0; c < FMO_FAR_CHOICES; c++) {
        printf("%d nodes, %ld cases: largest error %.2f of the estimate\n", FMO_FAR_NODES(c),
               errors[c], worst[c]);
        CHECK(errors[c] > 100 && worst[c] > 0.1 * ESTIMATE_SHARE, "%d nodes: %ld cases, %g",
              FMO_FAR_NODES(c), errors[c], worst[c]);
    }
}

static int line_nodes(int pair_class, int num, const double *prim, const double *AB, int n,
                      double *place, double *coefficient)
{
    static const double ratio[PRIMS_MAX];
    double prim_place[PRIMS_MAX], prim_coefficient[PRIMS_MAX * FMO_FAR_COEFFICIENTS_MAX];
    fmo_far_line line;
    fmo_far_primitives(pair_class, num, prim, ratio, AB, prim_place, prim_coefficient);
    fmo_far_find_line(pair_class, num, prim_place, prim_coefficient, AB, &line);
    return fmo_far_nodes(pair_class, num, prim_place, prim_coefficient, &line, n, place,
                         coefficient);
}

/* Nodes of an ss pair with positive prefactors are those of Gauss quadrature: polynomials of degree
 * 2n - 1 are exact, others not. */
static void test_gauss(void)
{
    for (int i = 0; i < 200; i++) {
        const int num = 2 + (int)uniform(0, 12);
        const double AB[3] = {uniform(0.2, 4.0), uniform(-1.0, 1.0), uniform(-1.0, 1.0)};
        double prim[14][FMO_PAIR_FIELDS], charge[14], s[14];
        double place[FMO_FAR_NODES_MAX], coefficient[FMO_FAR_NODES_MAX];
        for (int m = 0; m < num; m++) {
            const double p = pow(10.0, uniform(-1.0, 2.0)), k = pow(10.0, uniform(-2.0, 0.0));
            s[m] = uniform(-1.0, 0.0);
            const double record[FMO_PAIR_FIELDS] = {
                p, k, s[m] * AB[0], s[m] * AB[1], s[m] * AB[2], 0.5 / p};
            memcpy(prim[m], record, sizeof record);
            charge[m] = fmo_far_charge(p, k);
        }
        for (int n = 1; n <= FMO_FAR_NODES_MAX; n++) {
            const int used = line_nodes(0, num, prim[0], AB, n, place, coefficient);
            CHECK(used == (num < n ? num : n), "%d nodes of %d for %d primitives", used, n, num);
            for (int power = 0; power <= 2 * n; power++) {
                double got = 0.0, want = 0.0, size = 0.0;
                for (int j = 0; j < used; j++) got += coefficient[j] * pow(place[j] + 0.5, power);
                for (int m = 0; m < num; m++) {
                    want += charge[m] * pow(s[m] + 0.5, power);
                    size += charge[m] * pow(0.5, power);
                }
                const int exact = power < 2 * n || num <= n;
                CHECK(!exact || fabs(got - want) <= 1e-12 * size,
                      "%d nodes for %d primitives, s^%d: %.17g, not %.17g", n, num, power, got,
                      want);
                CHECK(exact || n > 2 || num == n + 1 || fabs(got - want) > 1e-9 * size,
                      "%d nodes for %d primitives: s^%d is exact", n, num, power);
            }
        }
    }
}

/* One node where all centres coincide, as many as primitives where there are few, else as asked;
 * any n nodes are exact to degree n - 1. */
static void test_node_numbers(void)
{
    double prim[3][FMO_PAIR_FIELDS], place[4], coefficient[4 * FMO_FAR_COEFFICIENTS_MAX];
    const double none[3] = {0}, AB[3] = {0.5, -2.0, 1.0};
    for (int m = 0; m < 3; m++) {
        const double p = 1.0 + m, s = -0.25 * (m + 1);
        const double record[FMO_PAIR_FIELDS] = {p, 1.0, s * AB[0], s * AB[1], s * AB[2], 0.5 / p};
        memcpy(prim[m], record, sizeof record);
    }
    for (int n = 1; n <= 4; n++) {
        const int num = line_nodes(2, 3, prim[0], AB, n, place, coefficient);
        CHECK(num == (n < 3 ? n : 3), "%d nodes of %d", num, n);
        for (int j = 0; j < num; j++)
            CHECK(place[j] >= -0.75 && place[j] <= -0.25 &&
                      (!j || place[j] > place[j - 1] || n > 2),
                  "node at %g", place[j]);
        for (int power = 0; power < num; power++) {
            double got = 0.0, want = 0.0;
            for (int j = 0; j < num; j++)
                got += coefficient[j * FMO_FAR_COEFFICIENTS_MAX + FMO_FAR_PP_SAME] *
                       pow(place[j], power);
            for (int m = 0; m < 3; m++)
                want += prim[m][FMO_PAIR_HALF] * fmo_far_charge(prim[m][FMO_PAIR_P], 1.0) *
                        pow(-0.25 * (m + 1), power);
            CHECK(fabs(got - want) <= 1e-14 * fabs(want), "s^%d: %.17g, not %.17g", power, got,
                  want);
        }
    }
    for (int m = 0; m < 3; m++) memcpy(prim[m] + FMO_PAIR_X, none, sizeof none);
    CHECK(line_nodes(1, 3, prim[0], none, 4, place, coefficient) == 1 && place[0] == 0.0,
          "node at %g", place[0]);
    for (int m = 0; m < 3; m++)
        for (int x = 0; x < 3; x++) prim[m][FMO_PAIR_X + x] = -(0.3 + m * 1e-17) * AB[x];
    CHECK(line_nodes(0, 3, prim[0], AB, 4, place, coefficient) == 1 && fabs(place[0] + 0.3) < 1e-15,
          "node at %.17g", place[0]);
    /* the third weighs nothing: two nodes are exact */
    for (int m = 0; m < 3; m++) {
        for (int x = 0; x < 3; x++) prim[m][FMO_PAIR_X + x] = -0.25 * (m + 1) * AB[x];
        prim[m][FMO_PAIR_K] = m < 2 ? 1.0 : 1e-32;
    }
    CHECK(line_nodes(0, 3, prim[0], AB, 2, place, coefficient) == 2 &&
              fabs(place[0] + 0.5) < 1e-14 && fabs(place[1] + 0.25) < 1e-14,
          "nodes at %.17g and %.17g", place[0], place[1]);
}

/* Errors of choices become A x^n, which is below none of them. */
static void test_fit(void)
{
    for (int i = 0; i < 1000; i++) {
        const int cap = (int)uniform(0, FMO_FAR_CHOICES + 1);
        const double d = uniform(1.0, 50.0);
        double error[FMO_FAR_CHOICES], now = pow(10.0, uniform(-5.0, 1.0));
        for (int c = 0; c < FMO_FAR_CHOICES; c++, now *= pow(10.0, uniform(-4.0, 0.5)))
            error[c] = c < cap ? now : 0.0;
        const fmo_far_fit fit = fmo_far_fit_errors(cap, d, error);
        double least = INFINITY;
        for (int c = 0; c < cap; c++) {
            const double fitted = exp2(fit.log_A + FMO_FAR_NODES(c) * (fit.log_rho - log2(d)));
            CHECK(fitted >= error[c] * (1.0 - 1e-5), "choice %d of %d: %g for %g", c, cap, fitted,
                  error[c]);
            least = fmin(least, fitted / error[c]);
        }
        CHECK(!cap || least < 1.0 + 1e-5, "all of %d choices are at least %g too large", cap,
              least);
    }
}

static void test_nodes_needed(void)
{
    for (int i = 0; i < 1000; i++) {
        const float log_x = log2f((float)uniform(0.001, 0.7));
        const float log_tolerance = log2f((float)pow(10, uniform(-10, 0)));
        int first = 0;
        while (first < FMO_FAR_CHOICES && (float)FMO_FAR_NODES(first) * log_x > log_tolerance)
            first++;
        const int choice = fmo_far_nodes_needed(log_x, log_tolerance);
        CHECK(choice == first, "x 2^%g, tolerance 2^%g: choice %d, not %d", log_x, log_tolerance,
              choice, first);
    }
    CHECK(fmo_far_nodes_needed(-2.0f, 3.0f) == 0, "any error will do");
    CHECK(fmo_far_nodes_needed(-INFINITY, -100.0f) == 0, "a point needs one node");
    CHECK(fmo_far_nodes_needed(-INFINITY, -INFINITY) == FMO_FAR_CHOICES,
          "a point without any error: its own nodes are exact, and say so");
    CHECK(fmo_far_nodes_needed(-2.0f, -INFINITY) == FMO_FAR_CHOICES, "no error at all");
    CHECK(fmo_far_nodes_needed(-0.4f, -1.0f) == FMO_FAR_CHOICES, "too close");
    CHECK(fmo_far_nodes_needed(NAN, 0.0f) == FMO_FAR_CHOICES, "beyond the other's middle");
    CHECK(fmo_far_nodes_needed(-3.0f, NAN) == FMO_FAR_CHOICES, "NaN");
}

/* Derivative of 1/|R| by McMurchie and Davidson's recursion: from those of r^-(2n+1). */
static long double derivative(int n, int nx, int ny, int nz, const double *R)
{
    const int power[3] = {nx, ny, nz};
    for (int x = 0; x < 3; x++) {
        if (power[x] == 0) continue;
        int less[3] = {nx, ny, nz};
        less[x]--;
        long double t = R[x] * derivative(n + 1, less[0], less[1], less[2], R);
        if (less[x]-- > 0) t += (less[x] + 1) * derivative(n + 1, less[0], less[1], less[2], R);
        return t;
    }
    const long double r2 =
        (long double)R[0] * R[0] + (long double)R[1] * R[1] + (long double)R[2] * R[2];
    long double t = 1 / sqrtl(r2);
    for (int k = 0; k < n; k++) t *= -(2 * k + 1) / r2;
    return t;
}

static void test_derivatives(void)
{
    for (int i = 0; i < 100; i++) {
        const double r = uniform(5.0, 60.0);
        double R[3], T[FMO_FAR_TERMS_MAX], size = 1.0;
        direction(R);
        for (int x = 0; x < 3; x++) R[x] *= r;
        fmo_far_derivatives(4, R, T);
        for (int order = 0; order <= 4; order++) {
            size *= (order ? 2 * order - 1 : 1) / r;
            for (int nx = 0; nx <= order; nx++)
                for (int ny = 0; ny <= order - nx; ny++) {
                    const int nz = order - nx - ny;
                    const double got = T[fmo_far_index(nx, ny, nz)];
                    const double want = (double)derivative(0, nx, ny, nz, R);
                    CHECK(fabs(got - want) <= 4e-15 * size, "x%d y%d z%d: got %.17g, want %.17g",
                          nx, ny, nz, got, want);
                    if (order > 2) continue;
                    const double laplace = T[fmo_far_index(nx + 2, ny, nz)] +
                                           T[fmo_far_index(nx, ny + 2, nz)] +
                                           T[fmo_far_index(nx, ny, nz + 2)];
                    CHECK(fabs(laplace) <= 2e-13 * size / (r * r), "Laplacian of x%d y%d z%d: %g",
                          nx, ny, nz, laplace);
                }
        }
    }
}

/* Overlap: what the far form leaves out is below 40 exp(-T) of the Schwarz bounds, T that of the
 * primitives that come closest. */
static void test_overlap(void)
{
    static far_pair pair[2];
    double worst = 0.0;
    for (int f = 0; f < 300; f++) {
        fragment fragments[2];
        for (int k = 0; k < 2; k++)
            if (!fragment_make(&fragments[k], 1e3, uniform(0.5, 6.0))) return;
        for (int q = 0; q < 40; q++) {
            double D[2][PRODUCTS_MAX], J[2][PRODUCTS_MAX], far[2][PRODUCTS_MAX], center[3];
            /* the same pairs again, at the distance that has this T */
            const unsigned long long state = seed;
            const double T = uniform(10.0, 30.0), start = place_pairs(fragments, 1e3, pair, center);
            const double halves = pair[0].half + pair[1].half;
            seed = state;
            (void)uniform(10.0, 30.0);
            const double again =
                place_pairs(fragments, halves + (1e3 - halves) * sqrt(T / start), pair, center);
            CHECK(fabs(again - T) <= 1e-10 * T, "T %g, not %g", again, T);
            random_densities(D);
            exact_coulomb(&pair[0], &pair[1], D, J);
            far_coulomb(&pair[0], PRIMS_MAX, &pair[1], PRIMS_MAX, D, far);
            const double error =
                largest_difference(&pair[0], &pair[1], far, J) / (pair[0].bound * pair[1].bound);
            CHECK(error <= 40.0 * exp(-T) + 3e-14, "pairs %d %d, T = %g: error %.3g",
                  pair[0].pair_class, pair[1].pair_class, T, error);
            worst = fmax(worst, (error - 3e-14) * exp(T));
        }
        for (int k = 0; k < 2; k++) fragment_free(&fragments[k]);
    }
    printf("overlap: largest error %.1f exp(-T)\n", worst);
    CHECK(worst > 2.0, "no overlap to be seen: %g", worst);
}

/* ---- the decision, for contractions that nearly cancel ------------------------------------- */

/* What is left out of an element of X^J, in cutoffs: overlap of pairs whose primitives cancel by up
 * to FMO_FAR_CANCELS each, and the nodes of both pairs (integrals/far/decide.h). */
static double claimed(double distance)
{
    const double nodes = 2.0 * 0.25 * ESTIMATE_SHARE * fmax(1.0, distance / 10.0);
    return nodes + 0.25 * 40.0 * exp(-FMO_FAR_T) * FMO_FAR_CANCELS * FMO_FAR_CANCELS;
}

/* Exponents in ratios near 1, with the signs and sizes of a difference of some order, exactly or
 * more or less; then one in four has a primitive that is much tighter or more diffuse than the
 * others. */
static void cancel(test_system *s, int begin, int l, double first, double ratio, int exact)
{
    const int num = s->prims - begin;
    const double jitter = exact ? 0.0 : pow(10.0, uniform(-4.0, 0.0));
    double binomial = 1.0;
    for (int k = 0; k < num; k++) {
        const double a = first * pow(ratio, k);
        s->exponent[begin + k] = a;
        s->coefficient[begin + k] = (k % 2 ? -1.0 : 1.0) * binomial *
                                    (1.0 + jitter * uniform(-1.0, 1.0)) * pow(a, 0.75 + 0.5 * l);
        binomial *= (double)(num - 1 - k) / (k + 1);
    }
    if (!exact && num > 1 && check_random(&seed) < 0.25) {
        const double a = check_random(&seed) < 0.5 ? pow(10.0, uniform(0.0, 6.0))
                                                   : 0.03 * pow(10.0, uniform(0.0, 1.0));
        s->exponent[s->prims - 1] = a;
        s->coefficient[s->prims - 1] = uniform(-1.0, 1.0) * pow(a, 0.75 + 0.5 * l);
    }
    double overlap = 0.0;
    for (int j = begin; j < s->prims; j++)
        for (int k = begin; k < s->prims; k++) {
            const double p = s->exponent[j] + s->exponent[k];
            overlap +=
                s->coefficient[j] * s->coefficient[k] * pow(M_PI / p, 1.5) * (l ? 0.5 / p : 1.0);
        }
    for (int k = begin; k < s->prims; k++) s->coefficient[k] /= sqrt(fmax(overlap, 1e-12));
}

/* Two atoms, each with an sp set, an s and a p shell of such contractions, 1 to 6 long; in every
 * second case all shells are alike. */
static int adversary_make(fragment *f, double AB, int alike)
{
    static test_system s;
    fmo_error err = {FMO_OK, ""};
    double v[3], first = 0.0, ratio = 0.0;
    memset(&s, 0, sizeof s);
    direction(v);
    for (int a = 0; a < 2; a++) {
        int begin = s.prims;
        system_add_atom(&s, a * AB * v[0], a * AB * v[1], a * AB * v[2]);
        for (int shell = 0; shell < 3; shell++) {
            begin = s.prims;
            if (!alike || s.prims == 0) {
                first = 0.05 * pow(10.0, uniform(0.0, 3.5));
                ratio = uniform(1.05, 1.5);
            }
            system_add_shell(&s, shell == 0, alike ? 3 : 1 + (int)uniform(0, SYSTEM_DEPTH_MAX),
                             &seed);
            /* not a partner of the p shell */
            cancel(&s, begin, shell == 0, shell == 1 ? 1.3 * first : first, ratio, alike);
        }
        const int partner = s.prims;
        system_add_partner(&s, &seed);
        for (int k = partner; k < s.prims; k++) /* the same exponents */
            s.coefficient[k] =
                s.coefficient[k - (partner - begin)] * uniform(0.5, 1.5) * sqrt(s.exponent[k]);
    }
    f->basis = system_basis(&s);
    if (!f->basis) return 0;
    const fmo_status status = fmo_sp_pairs_make(f->basis, 1e-13, 1, &f->pairs, &err);
    CHECK(status == FMO_OK, "%s", err.message);
    return status == FMO_OK;
}

/* A pair as screening knows it; the rule as it was took no notice of cancellation. */
static fmo_far_reach reach_of(const far_pair *p, int old_rule)
{
    double at[3];
    for (int x = 0; x < 3; x++) at[x] = p->view.A[x] + p->middle[x];
    const fmo_far_reach reach = {
        {(float)at[0], (float)at[1], (float)at[2], (float)p->half},
        fmo_far_extent((float)(1.0 / p->p_min), p->cap,
                       old_rule ? 0 : fmo_far_cancellation(p->prim_bounds, p->bound)),
        p->fit};
    return reach;
}

static int decide_at(far_pair pair[2], const double *v, double distance, double log_size,
                     int old_rule, double *center)
{
    float gap;
    for (int x = 0; x < 3; x++)
        center[x] = pair[0].view.A[x] + pair[0].middle[x] + distance * v[x] - pair[1].middle[x];
    pair[1].view.A = pair[1].carried.A = center;
    return fmo_far_decide(reach_of(&pair[0], old_rule), reach_of(&pair[1], old_rule),
                          (float)log_size, &gap);
}

/* The error in cutoffs where two pairs are first far, `size` cutoffs large; NAN if they never are.
 * `noise` is taken for rounding. */
static double error_at_first(far_pair pair[2], const double *v, double size, int old_rule,
                             double D[2][PRODUCTS_MAX], double noise, double *distance)
{
    double low = 0.0, high = 1e3, center[3], J[2][PRODUCTS_MAX], far[2][PRODUCTS_MAX];
    const double log_size = log2(size);
    if (decide_at(pair, v, high, log_size, old_rule, center) < 0) return NAN;
    for (int step = 0; step < 40; step++) {
        const double middle = 0.5 * (low + high);
        if (decide_at(pair, v, middle, log_size, old_rule, center) < 0)
            low = middle;
        else
            high = middle;
    }
    *distance = high;
    const int choices = decide_at(pair, v, high, log_size, old_rule, center);
    exact_coulomb(&pair[0], &pair[1], D, J);
    far_coulomb(&pair[0], FMO_FAR_NODES(choices / FMO_FAR_CHOICES), &pair[1],
                FMO_FAR_NODES(choices % FMO_FAR_CHOICES), D, far);
    const double error = largest_difference(&pair[0], &pair[1], far, J) - noise;
    return fmax(0.0, error) * size / (4.0 * pair[0].bound * pair[1].bound);
}

static void test_decision(void)
{
    static far_pair pair[2];
    enum { FRAGMENTS = 600, TRIES = 20 };
    long cases = 0, cancelled = 0, wrong_before = 0;
    double worst = 0.0, before = 0.0;
    for (int f = 0; f < FRAGMENTS; f++) {
        fragment fragments[2];
        for (int k = 0; k < 2; k++)
            if (!adversary_make(&fragments[k], uniform(0.0, 5.0), f % 2)) return;
        for (int q = 0; q < TRIES; q++) {
            double D[2][PRODUCTS_MAX], v[3], center[3], distance = 0.0;
            (void)place_pairs(fragments, 1e3, pair, center);
            direction(v);
            random_densities(D);
            const double sums = pair[0].prim_bounds * pair[1].prim_bounds;
            const double schwarz = pair[0].bound * pair[1].bound, noise = 1e-15 * sums;
            /* so that rounding is no more than a hundredth of a cutoff */
            const double most = fmin(1e8, 0.04 * schwarz / noise);
            if (!(most >= 1.0)) continue;
            const double size = pow(most, check_random(&seed));
            const double error = error_at_first(pair, v, size, 0, D, noise, &distance);
            CHECK(!(error > claimed(distance)),
                  "pairs %d %d, %g times the cutoff, primitives %g and %g times the bounds, at %g "
                  "bohr: %g cutoffs",
                  pair[0].pair_class, pair[1].pair_class, size, pair[0].prim_bounds / pair[0].bound,
                  pair[1].prim_bounds / pair[1].bound, distance, error);
            cases += !isnan(error);
            cancelled += sums > 100.0 * schwarz;
            worst = fmax(worst, error / claimed(distance));
            const double then = error_at_first(pair, v, size, 1, D, noise, &distance);
            wrong_before += then > claimed(distance);
            before = fmax(before, then);
        }
        for (int k = 0; k < 2; k++) fragment_free(&fragments[k]);
    }
    printf(
        "decision: %ld cases, %ld of them cancel; largest error %.2f of what is claimed; without "
        "cancellation %g cutoffs, %ld beyond\n",
        cases, cancelled, worst, before, wrong_before);
    CHECK(cases > 5000 && cancelled > 1000, "%ld cases, %ld cancel", cases, cancelled);
    CHECK(worst > 0.02, "the claim is far too large: %g", worst);
    CHECK(before > 3.0 && wrong_before > 50, "the old rule passes: %g cutoffs, %ld", before,
          wrong_before);
}

/* Words that hold an extent give back what went into them. */
static void test_extent(void)
{
    for (int i = 0; i < 1000; i++) {
        const int cap = (int)uniform(0, FMO_FAR_CHOICES + 1), c = (int)uniform(0, 62.9);
        const float spread = (float)pow(10.0, uniform(-6.0, 3.0));
        const float plain = fmo_far_extent(spread, cap, 0), word = fmo_far_extent(spread, cap, c);
        CHECK(fmo_far_cap(word) == cap && fmo_far_cap(plain) == cap, "cap %d of %g", cap, word);
        CHECK(fmo_far_cancelled(word) == (float)c && fmo_far_cancelled(plain) == 0.0f,
              "cancellation %g, not %d", fmo_far_cancelled(word), c);
        CHECK(plain > spread && plain <= spread * 1.00001f, "%g for %g", plain, spread);
        CHECK(fabsf(word) > spread && fabsf(word) <= spread * 1.0002f, "%g for %g", word, spread);
    }
    CHECK(fabsf(fmo_far_extent(1.0f, 0, FMO_FAR_CANCELLED)) >= 1e30f, "noise is never far");
    CHECK(fmo_far_cancellation(4.0, 1.0) == 0 && fmo_far_cancellation(4.1, 1.0) == 3 &&
              fmo_far_cancellation(1024.0, 1.0) == 10,
          "cancellation is rounded up");
    CHECK(fmo_far_cancellation(1.0, 0.0) == FMO_FAR_CANCELLED &&
              fmo_far_cancellation(NAN, 1.0) == FMO_FAR_CANCELLED,
          "no bound");
}

int main(void)
{
    test_derivatives();
    test_gauss();
    test_node_numbers();
    test_fit();
    test_nodes_needed();
    test_nodes();
    test_overlap();
    test_extent();
    test_decision();
    return check_summary();
}
