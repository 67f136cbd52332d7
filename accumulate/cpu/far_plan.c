/* What a plan keeps for cpu/far.h: where its pairs are and how far they reach, the boxes, and who
 * of them would be near. */
#include "accumulate/cpu/far.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/cpu/hermite_terms.h"
#include "accumulate/cpu/kernel.h"
#include "accumulate/tuning.h"
#include "integrals/vector.h"

/* c = (d/dx)^t (d/dy)^u (d/dz)^v R_lm with l = t + u + v, a number, m of either sign. By the
 * addition theorem d/dz R_lm = R_(l-1)m, d/dx R_lm = (R_(l-1)(m+1) - R_(l-1)(m-1)) / 2,
 * d/dy R_lm = -i (R_(l-1)(m+1) + R_(l-1)(m-1)) / 2. */
static void differentiate(int t, int u, int v, int m, double c[2])
{
    const int l = t + u + v;
    double up[2], down[2];
    c[0] = c[1] = 0.0;
    if (m > l || m < -l) return;
    if (l == 0) {
        c[0] = 1.0;
    } else if (v > 0) {
        differentiate(t, u, v - 1, m, c);
    } else if (t > 0) {
        differentiate(t - 1, u, v, m + 1, up);
        differentiate(t - 1, u, v, m - 1, down);
        for (int part = 0; part < 2; part++) c[part] = 0.5 * (up[part] - down[part]);
    } else {
        differentiate(t, u - 1, v, m + 1, up);
        differentiate(t, u - 1, v, m - 1, down);
        c[0] = 0.5 * (up[1] + down[1]);
        c[1] = -0.5 * (up[0] + down[0]);
    }
}

static void make_derivatives(fmo_cpu_far *far)
{
    for (int n = 0; n < FMO_FAR_DERIVATIVES; n++) {
        const signed char *const power = fmo_hermite_term[n];
        const int l = FMO_HERMITE_DEGREE(n);
        for (int m = 0; m <= l; m++) {
            double *const c = far->derivative[n] + 2 * fmo_harmonic(l, m);
            differentiate(power[0], power[1], power[2], m, c);
            for (int part = 0; part < 2; part++)
                far->twice[n][2 * fmo_harmonic(l, m) + part] = (m ? 2.0 : 1.0) * c[part];
        }
    }
}

/* K E of each product of functions and Hermite function of a primitive pair. */
FMO_HD void add_terms(int la, int lb, fmo_hermite_product E, double K,
                      double sum[][FMO_HERMITE_MAX])
{
#define ADD(ab, k, e) sum[ab][k] += K * (e);
    FMO_HERMITE_TERMS(la, lb, E, ADD)
#undef ADD
}

static void add_moments(int c, fmo_hermite_product E, double K, double sum[][FMO_HERMITE_MAX])
{
    switch (c) {
#define ROW(P, name, la, lb, partner) \
    case FMO_PAIR_##P:                \
        add_terms(la, lb, E, K, sum); \
        break;
        FMO_PAIR_TABLE(ROW)
#undef ROW
    default:
        break;
    }
}

/* Where pair q of a list is, how far it reaches, and the largest moment of a product of its
 * functions, as a charge: the sums over primitives of its charge, dipole, ... */
static void describe(const fmo_cpu_pair_list *list, int c, int q, double cutoff, fmo_box_item *item,
                     double *moment)
{
    const int la = fmo_pair_ang_mom(c, 0), lb = fmo_pair_ang_mom(c, 1);
    const fmo_cpu_family *family = &list->family[list->family_of[q]];
    const double *prim = list->prim + list->prim_begin[q] * FMO_CPU_PRIM_FIELDS;
    double sum[FMO_PAIR_PRODUCTS_MAX][FMO_HERMITE_MAX] = {{0.0}};
    fmo_hermite_product E;
    memset(item, 0, sizeof *item);
    for (int x = 0; x < 3; x++) item->centre[x] = list->middle[x][q];
    for (int m = 0; m < list->count[q]; m++, prim += FMO_CPU_PRIM_FIELDS) {
        const double p = list->exponent[family->exponent + m];
        double away = 0.0;
        if (prim[FMO_CPU_PRIM_K] == 0.0) continue;
        for (int x = 0; x < 3; x++) {
            const double PA = prim[FMO_CPU_PRIM_X + x];
            const double far = list->centre[4 * (size_t)q + (size_t)x] + PA - item->centre[x];
            away += far * far;
            fmo_hermite_expand(la, lb, PA, PA + list->AB[4 * (size_t)q + (size_t)x], 0.5 / p, E[x]);
        }
        item->radius = fmax(item->radius, sqrt(away));
        item->spread = fmax(item->spread, 1.0 / p);
        add_moments(c, E, FMO_FAR_CHARGE * prim[FMO_CPU_PRIM_K], sum);
    }
    item->reach = sqrt(item->spread * fmo_box_T(log(list->prim_bounds[q] / cutoff)));
    /* A moment H of order k at a point leaves out no more than a charge k! H / d^k at a distance d
     * from it. */
    const double d = la + lb > 0 ? 0.5 * sqrt(item->spread) : 0.0;
    item->radius += d;
    *moment = 0.0;
    for (int ab = 0; ab < fmo_pair_products(c, 0); ab++) {
        double all = 0.0;
        for (int n = 0; n < FMO_HERMITE_COUNT(la + lb); n++) {
            double charge = fabs(sum[ab][n]);
            for (int k = 1; k <= FMO_HERMITE_DEGREE(n); k++) charge *= k / d;
            all += charge;
        }
        *moment = fmax(*moment, all);
    }
}

/* Of each box, from its leaves upwards. */
static void find_largest(const fmo_cpu_pairs *pairs, fmo_cpu_far *far)
{
    const fmo_boxes *boxes = &far->boxes;
    for (int b = boxes->num - 1; b >= 0; b--) {
        const fmo_box *box = &boxes->box[b];
        double bound = 0.0, moment = 0.0;
        for (int n = box->begin; box->leaf >= 0 && n < box->end; n++) {
            const int item = boxes->item[n];
            int c = 0;
            while (item >= far->first[c + 1]) c++;
            bound = fmax(bound, pairs->list[c].prim_bounds[item - far->first[c]]);
            moment = fmax(moment, far->moment[item]);
        }
        for (int half = 0; box->leaf < 0 && half < 2; half++) {
            bound = fmax(bound, far->largest_bound[box->child + half]);
            moment = fmax(moment, far->largest_moment[box->child + half]);
        }
        far->largest_bound[b] = bound;
        far->largest_moment[b] = moment;
    }
}

fmo_status fmo_cpu_far_make(const fmo_cpu_pairs *pairs, double cutoff, int threads,
                            fmo_cpu_far *far, fmo_error *err)
{
    int num = 0;
    memset(far, 0, sizeof *far);
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        far->first[c] = num;
        num += pairs->list[c].num;
    }
    far->first[FMO_PAIR_CLASS_COUNT] = num;
    fmo_box_item *item = malloc(((size_t)num + 1) * sizeof *item);
    far->moment = malloc(((size_t)num + 1) * sizeof *far->moment);
    int good = item && far->moment;
    for (int c = 0; good && c < FMO_PAIR_CLASS_COUNT; c++)
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int q = 0; q < pairs->list[c].num; q++)
            describe(&pairs->list[c], c, q, cutoff, &item[far->first[c] + q],
                     &far->moment[far->first[c] + q]);
    good = good && fmo_boxes_make(item, num, fmo_tuning_cpu_far_leaf, &far->boxes, err) == FMO_OK;
    if (good) {
        const size_t boxes = (size_t)far->boxes.num + 1;
        far->largest_bound = malloc(boxes * sizeof *far->largest_bound);
        far->largest_moment = malloc(boxes * sizeof *far->largest_moment);
        good = far->largest_bound && far->largest_moment;
        far->bytes = far->boxes.bytes + ((size_t)num + 2 * boxes) * sizeof *far->moment;
    }
    free(item);
    if (!good) {
        fmo_cpu_far_free(far);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for boxes of %d pairs", num);
    }
    find_largest(pairs, far);
    make_derivatives(far);
    far->box_kernels = FMO_VECTOR_TABLE(fmo_box_kernels);
    far->kernels = FMO_VECTOR_TABLE(fmo_far_kernels);
    return FMO_OK;
}

void fmo_cpu_far_free(fmo_cpu_far *far)
{
    fmo_boxes_free(&far->boxes);
    free(far->moment);
    free(far->largest_bound);
    free(far->largest_moment);
    memset(far, 0, sizeof *far);
}

/* ---- what a plan wants to know before there is a density --------------------------------------
 */

/* Boxes that are looked at: no smaller ones than of so many leaves. */
enum { SURVEY_LEAVES = 4 };

typedef struct survey {
    const fmo_boxes *boxes;
    fmo_box_load *load; /* [box], logarithms */
    double log_cutoff;
} survey;

static int is_coarse(const fmo_box *box)
{
    return box->leaf >= 0 || box->end - box->begin <= SURVEY_LEAVES * fmo_tuning_cpu_far_leaf;
}

/* Pairs of items of two boxes that are near. */
static double count_near(const survey *s, int a, int b)
{
    const fmo_box *box = s->boxes->box;
    int order;
    if (fmo_boxes_far(&box[a], &s->load[a], &box[b], &s->load[b], s->log_cutoff, &order))
        return 0.0;
    if (is_coarse(&box[a]) && is_coarse(&box[b]))
        return (double)(box[a].end - box[a].begin) * (double)(box[b].end - box[b].begin);
    if (!is_coarse(&box[b]) && (is_coarse(&box[a]) || fmo_box_larger(box, b, a)))
        return count_near(s, a, box[b].child) + count_near(s, a, box[b].child + 1);
    return count_near(s, box[a].child, b) + count_near(s, box[a].child + 1, b);
}

double fmo_cpu_far_near_share(const fmo_cpu_far *far, double weight, double cutoff)
{
    const fmo_boxes *boxes = &far->boxes;
    survey s = {boxes, malloc(((size_t)boxes->num + 1) * sizeof *s.load), log(cutoff)};
    if (!s.load || !boxes->num) {
        free(s.load);
        return 1.0;
    }
    for (int b = boxes->num - 1; b >= 0; b--) {
        const fmo_box *box = &boxes->box[b];
        fmo_box_load *load = &s.load[b];
        *load = (fmo_box_load){far->largest_bound[b], 4.0 * weight * far->largest_bound[b],
                               far->largest_moment[b], 0.0};
        for (int n = box->begin; box->leaf >= 0 && n < box->end; n++)
            load->charge += far->moment[boxes->item[n]];
        if (box->leaf < 0) load->charge = s.load[box->child].charge + s.load[box->child + 1].charge;
    }
    for (int b = 0; b < boxes->num; b++) fmo_box_take_logs(&s.load[b]);
    const double near = count_near(&s, 0, 0);
    free(s.load);
    return near / ((double)boxes->item_num * (double)boxes->item_num);
}
