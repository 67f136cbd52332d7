/* Data of a plan for cpu/far.h: position and extent of its pairs, the boxes, and an estimate of
 * how many are near. */
#include "accumulate/cpu/far.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/cpu/hermite_terms.h"
#include "accumulate/cpu/kernel.h"
#include "accumulate/tree/survey.h"
#include "accumulate/tuning.h"
#include "base/vector.h"

/* Computes the number c = (d/dx)^t (d/dy)^u (d/dz)^v R_lm with l = t + u + v and m of either
 * sign. By the addition theorem d/dz R_lm = R_(l-1)m, d/dx R_lm = (R_(l-1)(m+1) - R_(l-1)(m-1)) /
 * 2 and d/dy R_lm = -i (R_(l-1)(m+1) + R_(l-1)(m-1)) / 2. */
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
        const uint8_t *const power = fmo_hermite_term[n];
        const int l = FMO_HERMITE_DEGREE(n);
        for (int m = 0; m <= l; m++) {
            double *const c = far->derivative[n] + 2 * fmo_harmonic(l, m);
            differentiate(power[0], power[1], power[2], m, c);
            for (int part = 0; part < 2; part++)
                far->twice[n][2 * fmo_harmonic(l, m) + part] = (m ? 2.0 : 1.0) * c[part];
        }
    }
}

/* Adds K E for each product of functions and each Hermite function of a primitive pair. */
FMO_HD void add_terms(int la, int lb, fmo_hermite_product E, double K,
                      double sum[][FMO_HERMITE_MAX])
{
#define ADD(ab, k, e) sum[ab][k] += K * (e);
    FMO_HERMITE_TERMS(la, lb, E, ADD)
#undef ADD
}

/* The same from the expansion of eri_any.h, for pairs with f or g shells. */
static void add_any(int la, int lb, const double *PA, const double *AB, double half, double K,
                    double sum[][FMO_HERMITE_MAX])
{
    fmo_any_expansion e;
    fmo_any_expand(la, lb, PA, AB, half, 1.0, &e);
    for (int ab = 0, at = 0; ab < e.products; ab++)
        for (int end = at + e.terms[ab]; at < end; at++) sum[ab][e.place[at]] += K * e.term[at];
}

/* Adds the moments of a primitive pair of class c; half: 1/(2p). */
static void add_moments(int c, const double *PA, const double *AB, double half, double K,
                        double sum[][FMO_HERMITE_MAX])
{
    const int li = fmo_pair_ang_mom(c, 0), lj = fmo_pair_ang_mom(c, 1);
    fmo_hermite_product E;
    if (c < FMO_PAIR_UNROLLED_COUNT)
        for (int x = 0; x < 3; x++) fmo_hermite_expand(li, lj, PA[x], PA[x] + AB[x], half, E[x]);
    switch (c) {
#define ROW(P, name, la, lb, partner) \
    case FMO_PAIR_##P:                \
        add_terms(la, lb, E, K, sum); \
        break;
        FMO_PAIR_LOW_L_TABLE(ROW)
        FMO_PAIR_HIGH_L_TABLE(ROW)
#undef ROW
    default:
        add_any(li, lj, PA, AB, half, K, sum);
        break;
    }
}

/* Returns the moments of a product of functions, converted to a charge. The truncation error of a
 * moment H of order k at a point is at most that of a charge k! H / d^k at a distance d from it. */
static double as_charge(const double *moment, int order, double d)
{
    double all = 0.0;
    for (int n = 0; n < FMO_HERMITE_COUNT(order); n++) {
        double charge = fabs(moment[n]);
        for (int k = 1; k <= FMO_HERMITE_DEGREE(n); k++) charge *= k / d;
        all += charge;
    }
    return all;
}

/* Finds for pair q of a list its position, its extent, and the largest moment of a product of
 * its functions, converted to a charge. Moments are sums over the primitives. work: of two arrays
 * with a row for each product. */
static void find_extent(const fmo_cpu_pair_list *list, int c, int q, double cutoff,
                        double (*work)[FMO_HERMITE_MAX], fmo_box_item *item, double *moment)
{
    const int la = fmo_pair_ang_mom(c, 0), lb = fmo_pair_ang_mom(c, 1);
    const int products = fmo_pair_products(c, 0);
    const fmo_cpu_family *family = &list->family[list->family_of[q]];
    const double *prim = list->prim + list->prim_begin[q] * FMO_CPU_PRIM_FIELDS;
    double(*const sum)[FMO_HERMITE_MAX] = work, (*const own)[FMO_HERMITE_MAX] = work + products;
    double powers[FMO_PAIR_PRODUCTS_MAX] = {0.0}; /* distances to the power FMO_BOX_POWER,
                                                   * weighted with charges */
    memset(item, 0, sizeof *item);
    memset(sum, 0, (size_t)products * sizeof *sum);
    for (int x = 0; x < 3; x++) item->centre[x] = list->middle[x][q];
    for (int m = 0; m < list->count[q]; m++)
        if (prim[m * FMO_CPU_PRIM_FIELDS + FMO_CPU_PRIM_K] != 0.0)
            item->spread = fmax(item->spread, 1.0 / list->exponent[family->exponent + m]);
    const double d = la + lb > 0 ? 0.5 * sqrt(item->spread) : 0.0;
    for (int m = 0; m < list->count[q]; m++, prim += FMO_CPU_PRIM_FIELDS) {
        const double p = list->exponent[family->exponent + m];
        double away = 0.0;
        if (prim[FMO_CPU_PRIM_K] == 0.0) continue;
        memset(own, 0, (size_t)products * sizeof *own);
        for (int x = 0; x < 3; x++) {
            const double far = list->centre[4 * (size_t)q + (size_t)x] + prim[FMO_CPU_PRIM_X + x] -
                               item->centre[x];
            away += far * far;
        }
        add_moments(c, prim + FMO_CPU_PRIM_X, list->AB + 4 * (size_t)q, 0.5 / p,
                    FMO_FAR_CHARGE * prim[FMO_CPU_PRIM_K], own);
        item->extent = fmax(item->extent, sqrt(away));
        const double power = pow(away, 0.5 * FMO_BOX_POWER);
        for (int ab = 0; ab < products; ab++) {
            powers[ab] += power * as_charge(own[ab], la + lb, d);
            for (int n = 0; n < FMO_HERMITE_COUNT(la + lb); n++) sum[ab][n] += own[ab][n];
        }
    }
    *moment = 0.0;
    for (int ab = 0; ab < products; ab++) {
        *moment = fmax(*moment, as_charge(sum[ab], la + lb, d));
        item->radius = fmax(item->radius, powers[ab]);
    }
    item->reach = sqrt(item->spread * fmo_box_T(log(list->prim_bounds[q] / cutoff)));
    item->radius = *moment > 0.0 ? pow(item->radius / *moment, 1.0 / FMO_BOX_POWER) : 0.0;
    item->radius = fmin(item->radius, item->extent) + d; /* charges of opposite sign may cancel */
    item->extent += d;
}

/* Finds positions, extents and moments of the pairs of all lists. Clears *good if a thread has no
 * memory. */
static void find_extents(const fmo_cpu_pairs *pairs, double cutoff, int threads, fmo_cpu_far *far,
                         fmo_box_item *item, double *bound, int *good)
{
    int products = 1;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
        if (pairs->list[c].num && fmo_pair_products(c, 0) > products)
            products = fmo_pair_products(c, 0);
#pragma omp parallel num_threads(threads)
    {
        double(*const work)[FMO_HERMITE_MAX] = malloc(2 * (size_t)products * sizeof *work);
        if (!work) {
#pragma omp atomic write
            *good = 0;
        }
        for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++)
#pragma omp for schedule(static) nowait
            for (int q = 0; q < pairs->list[c].num; q++) {
                const int at = far->first[c] + q;
                if (!work) continue;
                find_extent(&pairs->list[c], c, q, cutoff, work, &item[at], &far->moment[at]);
                bound[at] = pairs->list[c].prim_bounds[q];
            }
        free(work);
    }
}

/* Finds positions and extents of all pairs, makes the tree of boxes, and computes maxima for each
 * box. */
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
    double *const bound = malloc(((size_t)num + 1) * sizeof *bound);
    int good = item && far->moment && bound;
    if (good) find_extents(pairs, cutoff, threads, far, item, bound, &good);
    good = good &&
           fmo_boxes_make(item, num, fmo_tuning_cpu_far_leaf, threads, &far->boxes, err) == FMO_OK;
    if (good) {
        const size_t boxes = (size_t)far->boxes.num + 1;
        far->largest_bound = malloc(boxes * sizeof *far->largest_bound);
        far->largest_moment = malloc(boxes * sizeof *far->largest_moment);
        good = far->largest_bound && far->largest_moment;
        far->bytes = far->boxes.bytes + ((size_t)num + 2 * boxes) * sizeof *far->moment;
    }
    if (good) {
        fmo_boxes_largest(&far->boxes, bound, far->largest_bound);
        fmo_boxes_largest(&far->boxes, far->moment, far->largest_moment);
    }
    free(item);
    free(bound);
    if (!good) {
        fmo_cpu_far_free(far);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for boxes of %d pairs", num);
    }
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

double fmo_cpu_far_near_share(const fmo_cpu_far *far, double weight, double cutoff, int threads)
{
    const fmo_boxes_survey survey = {&far->boxes,
                                     far->largest_bound,
                                     far->largest_moment,
                                     far->moment,
                                     fmo_tuning_cpu_far_survey_leaves * fmo_tuning_cpu_far_leaf,
                                     weight,
                                     {log(cutoff), FMO_BOX_ORDER_MAX, 0.0},
                                     threads};
    return fmo_boxes_near_share(&survey);
}
