/* Conversion between pairs and the multipole expansions of their leaf, one primitive pair per
 * lane (cpu/far.h). Compiled once per instruction set with FMO_SIMD_WIDTH and FMO_FAR_KERNELS
 * (the name of the table below) set by CMake.
 *
 * A product of two primitives is a sum of Hermite Gaussians at P, and at a large distance a
 * Hermite Gaussian is a derivative of a point charge: McMurchie and Davidson, J. Comput. Phys.
 * 26, 218 (1978). */
#include "accumulate/cpu/far.h"
#include "accumulate/cpu/hermite_terms.h"
#include "accumulate/cpu/kernel.h"

enum { W = FMO_SIMD_WIDTH, SIZE = 2 * FMO_BOX_TERMS_MAX };

/* Position in the primitives of a leaf's pairs. */
typedef struct cursor {
    int n, m; /* pair of the leaf, primitive of the pair */
} cursor;

/* Primitives in the lanes; lanes beyond `num` contribute 0. */
typedef struct lanes {
    int num;
    size_t pair[W];                                    /* index in the list */
    double K[W], half[W], PA[3][W], AB[3][W], P[3][W]; /* P relative to the leaf's centre */
} lanes;

/* Loads the next primitives with a prefactor other than 0 into the lanes and returns their
 * number. */
static int take(const fmo_far_leaf *leaf, cursor *at, lanes *to)
{
    const fmo_cpu_pair_list *list = leaf->list;
    memset(to, 0, sizeof *to);
    while (to->num < W && at->n < leaf->num) {
        const int q = leaf->item[at->n] - leaf->first, l = to->num;
        if (at->m >= list->count[q]) {
            at->n++;
            at->m = 0;
            continue;
        }
        const double *prim =
            list->prim + (list->prim_begin[q] + (size_t)at->m) * FMO_CPU_PRIM_FIELDS;
        const int family = list->family_of[q];
        if (prim[FMO_CPU_PRIM_K] != 0.0) {
            to->pair[l] = (size_t)q;
            to->K[l] = FMO_FAR_CHARGE * prim[FMO_CPU_PRIM_K];
            to->half[l] = 0.5 / list->exponent[list->family[family].exponent + at->m];
            for (int x = 0; x < 3; x++) {
                to->PA[x][l] = prim[FMO_CPU_PRIM_X + x];
                to->AB[x][l] = list->AB[4 * (size_t)q + (size_t)x];
                to->P[x][l] = list->centre[4 * (size_t)q + (size_t)x] - leaf->centre[x] +
                              prim[FMO_CPU_PRIM_X + x];
            }
            to->num++;
        }
        at->m++;
    }
    return to->num;
}

FMO_HD void expand(int la, int lb, const lanes *at, fmo_hermite_product E)
{
    for (int x = 0; x < 3; x++) {
        const fmo_real PA = fmo_load(at->PA[x]), PB = PA + fmo_load(at->AB[x]);
        fmo_hermite_expand(la, lb, PA, PB, fmo_load(at->half), E[x]);
    }
}

static void shift_up(int L, const fmo_real *q, int order, const fmo_real *R, fmo_real *to)
{
    fmo_multipoles_shift(L, q, order, R, to);
}

static void shift_down(int order, const fmo_real *V, int L, const fmo_real *R, fmo_real *to)
{
    fmo_potential_shift(order, V, L, R, to);
}

/* x[l m] = sum over t u v of c[t u v][l m] y[t u v] for orders up to L; to_derivatives() is the
 * transpose. */
FMO_HD void from_derivatives(int L, const double (*c)[FMO_FAR_TERMS], const fmo_real *y,
                             fmo_real *x)
{
    for (int l = 0; l <= L; l++) {
        for (int t = 2 * fmo_harmonic(l, 0); t < 2 * fmo_harmonic(l + 1, 0); t++) {
            fmo_real sum = fmo_set(0.0);
            for (int n = FMO_HERMITE_COUNT(l - 1); n < FMO_HERMITE_COUNT(l); n++)
                sum += c[n][t] * y[n];
            x[t] = sum;
        }
    }
}

FMO_HD void to_derivatives(int L, const double (*c)[FMO_FAR_TERMS], const fmo_real *x, fmo_real *y)
{
    for (int l = 0; l <= L; l++) {
        for (int n = FMO_HERMITE_COUNT(l - 1); n < FMO_HERMITE_COUNT(l); n++) {
            fmo_real sum = fmo_set(0.0);
            for (int t = 2 * fmo_harmonic(l, 0); t < 2 * fmo_harmonic(l + 1, 0); t++)
                sum += c[n][t] * x[t];
            y[n] = sum;
        }
    }
}

/* The expansion of the primitives in the lanes by eri_any.h. */
FMO_HD void expand_any(int la, int lb, const lanes *at, fmo_any_expansion *e)
{
    const fmo_real PA[3] = {fmo_load(at->PA[0]), fmo_load(at->PA[1]), fmo_load(at->PA[2])};
    const fmo_real AB[3] = {fmo_load(at->AB[0]), fmo_load(at->AB[1]), fmo_load(at->AB[2])};
    fmo_any_expand(la, lb, PA, AB, fmo_load(at->half), 1.0, e);
}

/* In the next two functions `any` is a compile-time constant; if it is 0, so are la and lb. */

/* Adds the multipoles of a leaf's pairs with one density. */
FMO_HD void collect(int any, int la, int lb, int stride, const fmo_far_leaf *leaf,
                    const double *density, double *multipole)
{
    const int L = la + lb, products = FMO_CARTESIAN(la) * FMO_CARTESIAN(lb);
    const int size = 2 * FMO_HARMONIC_TERMS(leaf->order);
    fmo_real sums[SIZE], R[SIZE], H[FMO_HERMITE_MAX], q[FMO_FAR_TERMS], KD[FMO_PAIR_PRODUCTS_MAX];
    cursor at = {0, 0};
    lanes in;
    memset(sums, 0, (size_t)size * sizeof *sums);
    while (take(leaf, &at, &in)) {
        for (int n = 0; n < FMO_HERMITE_COUNT(L); n++) H[n] = fmo_set(0.0);
        for (int ab = 0; ab < products; ab++) {
            double of_lane[W];
            for (int l = 0; l < W; l++)
                of_lane[l] = in.K[l] * density[in.pair[l] * (size_t)stride + (size_t)ab];
            KD[ab] = fmo_load(of_lane);
        }
        if (any) {
            fmo_any_expansion e;
            expand_any(la, lb, &in, &e);
            fmo_any_collect(&e, KD, fmo_set(1.0), H);
        } else {
            fmo_hermite_product E;
            expand(la, lb, &in, E);
#define ADD(ab, k, e) H[k] += KD[ab] * (e);
            FMO_HERMITE_TERMS(la, lb, E, ADD)
#undef ADD
        }
        from_derivatives(L, leaf->derivative, H, q);
        fmo_harmonics_regular(leaf->order, fmo_load(in.P[0]), fmo_load(in.P[1]), fmo_load(in.P[2]),
                              R);
        shift_up(L, q, leaf->order, R, sums);
    }
    for (int t = 0; t < size; t++) multipole[t] += fmo_sum_lanes(sums[t]);
}

/* Converts the potential of a leaf to X^J of its pairs, for one density. */
FMO_HD void give(int any, int la, int lb, int stride, const fmo_far_leaf *leaf,
                 const double *potential, double *coulomb)
{
    const int L = la + lb, products = FMO_CARTESIAN(la) * FMO_CARTESIAN(lb);
    const int size = 2 * FMO_HARMONIC_TERMS(leaf->order);
    fmo_real V[SIZE], R[SIZE], H[FMO_HERMITE_MAX], q[FMO_FAR_TERMS], X[FMO_PAIR_PRODUCTS_MAX];
    cursor at = {0, 0};
    lanes in;
    for (int t = 0; t < size; t++) V[t] = fmo_set(potential[t]);
    while (take(leaf, &at, &in)) {
        fmo_harmonics_regular(leaf->order, fmo_load(in.P[0]), fmo_load(in.P[1]), fmo_load(in.P[2]),
                              R);
        for (int t = 0; t < 2 * FMO_HARMONIC_TERMS(L); t++) q[t] = fmo_set(0.0);
        shift_down(leaf->order, V, L, R, q);
        to_derivatives(L, leaf->twice, q, H);
        for (int ab = 0; ab < products; ab++) X[ab] = fmo_set(0.0);
        if (any) {
            fmo_any_expansion e;
            expand_any(la, lb, &in, &e);
            fmo_any_potential(&e, H, fmo_set(1.0), X);
        } else {
            fmo_hermite_product E;
            expand(la, lb, &in, E);
#define ADD(ab, k, e) X[ab] += H[k] * (e);
            FMO_HERMITE_TERMS(la, lb, E, ADD)
#undef ADD
        }
        for (int ab = 0; ab < products; ab++) {
            double of_lane[W];
            const fmo_real KX = fmo_load(in.K) * X[ab];
            memcpy(of_lane, &KX, sizeof of_lane);
            for (int l = 0; l < in.num; l++)
                coulomb[in.pair[l] * (size_t)stride + (size_t)ab] += of_lane[l];
        }
    }
}

#define ANY(what, from, to)                                                                   \
    __attribute__((noinline)) static void what##_any(                                         \
        int la, int lb, int stride, const fmo_far_leaf *leaf, const double *from, double *to) \
    {                                                                                         \
        what(1, la, lb, stride, leaf, from, to);                                              \
    }
ANY(collect, density, multipole)
ANY(give, potential, coulomb)
#undef ANY

#define KERNELS(P, name, la, lb, partner)                                                   \
    static void collect_##name(const fmo_far_leaf *leaf, const double *density, double *to) \
    {                                                                                       \
        COLLECT(la, lb, fmo_cpu_stride(FMO_PAIR_##P), leaf, density, to);                   \
    }                                                                                       \
    static void give_##name(const fmo_far_leaf *leaf, const double *potential, double *to)  \
    {                                                                                       \
        GIVE(la, lb, fmo_cpu_stride(FMO_PAIR_##P), leaf, potential, to);                    \
    }
#define COLLECT(...) collect(0, __VA_ARGS__)
#define GIVE(...)    give(0, __VA_ARGS__)
FMO_PAIR_LOW_L_TABLE(KERNELS)
FMO_PAIR_HIGH_L_TABLE(KERNELS)
#undef COLLECT
#undef GIVE
#define COLLECT collect_any
#define GIVE    give_any
FMO_PAIR_ANY_TABLE(KERNELS)
#undef COLLECT
#undef GIVE
#undef KERNELS

const fmo_far_kernels FMO_FAR_KERNELS = {
#define ROW(P, name, ...) [FMO_PAIR_##P] = collect_##name,
    .collect = {FMO_PAIR_TABLE(ROW)},
#undef ROW
#define ROW(P, name, ...) [FMO_PAIR_##P] = give_##name,
    .give = {FMO_PAIR_TABLE(ROW)},
#undef ROW
};
