/* The points of a basis's products of primitives; see points.h. */
#include "accumulate/potential/expand.h"
#include "accumulate/potential/points.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"

/* State of the collection of products. */
typedef struct gathering {
    fmo_products *to;
    int capacity, first; /* capacity: of the array of products; first: first product of the current
                            pair of centres */
    int points, same;    /* points: number so far; same: 1 for a centre with itself */
    int good;
} gathering;

/* Returns the point of the same product with exchanged primitives, or -1. A centre with itself has
 * such products, which share one point. */
static int earlier(const gathering *g, const fmo_product *z)
{
    for (int k = g->first; g->same && z->prim_a < z->prim_b && k < g->to->product_num; k++)
        if (g->to->product[k].prim_a == z->prim_b && g->to->product[k].prim_b == z->prim_a)
            return g->to->point_of[k];
    return -1;
}

/* Appends a product and gives it a point. */
static void gather(void *user, const fmo_product *z)
{
    gathering *const g = user;
    fmo_products *const to = g->to;
    if (!g->good) return;
    if (to->product_num == g->capacity) {
        const int capacity = g->capacity ? 2 * g->capacity : 256;
        fmo_product *const more = realloc(to->product, (size_t)capacity * sizeof *more);
        if (more) to->product = more;
        int *const numbers =
            more ? realloc(to->point_of, (size_t)capacity * sizeof *numbers) : NULL;
        if (numbers) to->point_of = numbers;
        g->good = numbers != NULL;
        if (!g->good) return;
        g->capacity = capacity;
    }
    const int known = earlier(g, z);
    to->product[to->product_num] = *z;
    to->point_of[to->product_num++] = known < 0 ? g->points++ : known;
}

/* The largest coefficient magnitude of the shells of angular momentum l that use a primitive. */
static double largest_use(const fmo_centres *cs, int prim, int l)
{
    double largest = 0.0;
    for (int u = cs->prim[prim].use_begin; u < cs->prim[prim].use_end; u++)
        if (cs->use[u].ang_mom == l) largest = fmax(largest, fabs(cs->use[u].coefficient));
    return largest;
}

/* Upper bound of a potential's element to which a product contributes, for a density of norm 1: the
 * norm of the product of functions, by the Schwarz inequality. */
static double bound_of(const fmo_centres *cs, const fmo_product *z)
{
    double norm[FMO_HERMITE_MAX], largest = 0.0;
    fmo_hermite_1d E[3];
    for (int k = 0; k < FMO_HERMITE_COUNT(z->la + z->lb); k++)
        norm[k] = fmo_point_norm(fmo_hermite_term[k][0], fmo_hermite_term[k][1],
                                 fmo_hermite_term[k][2], z->p);
    for (int x = 0; x < 3; x++) fmo_hermite_expand(z->la, z->lb, z->PA[x], z->PB[x], z->half, E[x]);
    for (int la = 0; la <= z->la; la++)
        for (int lb = 0; lb <= z->lb; lb++) {
            const double c = largest_use(cs, z->prim_a, la) * largest_use(cs, z->prim_b, lb);
            const int base_a = FMO_HERMITE_COUNT(la - 1), base_b = FMO_HERMITE_COUNT(lb - 1);
            for (int ab = 0; c > 0.0 && ab < FMO_CARTESIAN(la) * FMO_CARTESIAN(lb); ab++) {
                const uint8_t *const a = fmo_hermite_term[base_a + ab / FMO_CARTESIAN(lb)];
                const uint8_t *const b = fmo_hermite_term[base_b + ab % FMO_CARTESIAN(lb)];
                double sum = 0.0;
                for (int t = 0; t <= a[0] + b[0]; t++)
                    for (int u = 0; u <= a[1] + b[1]; u++)
                        for (int v = 0; v <= a[2] + b[2]; v++)
                            sum += fabs(E[0][a[0]][b[0]][t] * E[1][a[1]][b[1]][u] *
                                        E[2][a[2]][b[2]][v]) *
                                   norm[fmo_hermite_index(t, u, v)];
                largest = fmax(largest, c * sum);
            }
        }
    return z->scale * largest;
}

/* Numbers the points order by order and fills their positions, exponents and bounds. */
static int settle(fmo_products *p, int points)
{
    int *const order = calloc((size_t)points + 1, sizeof *order);
    int *const number = malloc(((size_t)points + 1) * sizeof *number);
    p->num = points;
    p->point = calloc((size_t)points + 1, sizeof *p->point);
    if (!order || !number || !p->point) {
        free(order);
        free(number);
        return 0;
    }
    for (int k = 0; k < p->product_num; k++)
        order[p->point_of[k]] = p->product[k].la + p->product[k].lb;
    for (int N = 0, next = 0; N < FMO_POINT_ORDERS; N++) {
        p->begin[N] = next;
        for (int n = 0; n < points; n++)
            if (order[n] == N) number[n] = next++;
        p->begin[N + 1] = next;
        p->value_begin[N + 1] =
            p->value_begin[N] + (size_t)(next - p->begin[N]) * (size_t)FMO_HERMITE_COUNT(N);
    }
    for (int c = 0; c < p->pair_num; c++) {
        const fmo_centre *const A = &p->centres.centre[p->pair[c].A];
        for (int k = p->pair[c].begin; k < p->pair[c + 1].begin; k++) {
            const fmo_product *const z = &p->product[k];
            fmo_point *const to = &p->point[number[p->point_of[k]]];
            p->point_of[k] = number[p->point_of[k]];
            for (int x = 0; x < 3; x++) to->at[x] = A->at[x] + z->PA[x];
            to->p = z->p;
            to->bound = fmax(to->bound, bound_of(&p->centres, z));
        }
    }
    free(order);
    free(number);
    return 1;
}

/* Makes the products of a basis. group: NULL, or as for fmo_products_create_between. */
static fmo_status make(const fmo_basis *basis, const unsigned *group, fmo_products **products,
                       fmo_error *err)
{
    fmo_products *const p = calloc(1, sizeof *p);
    if (!p) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for products of functions");
    const fmo_status status = fmo_centres_make(basis, &p->centres, err);
    const int num = status == FMO_OK ? p->centres.num : 0;
    gathering g = {.to = p, .good = status == FMO_OK};
    p->pair = malloc(((size_t)num * ((size_t)num + 1) / 2 + 1) * sizeof *p->pair);
    if (!p->pair) g.good = 0;
    for (int A = 0; A < num && g.good; A++)
        for (int B = 0; B <= A && g.good; B++) {
            if (group && group[p->centres.centre[A].nucleus] & group[p->centres.centre[B].nucleus])
                continue;
            g.first = p->product_num;
            g.same = A == B;
            p->pair[p->pair_num] = (fmo_point_pair){A, B, p->product_num};
            if (fmo_products_each(&p->centres, &p->centres.centre[A], &p->centres,
                                  &p->centres.centre[B], gather, &g))
                p->pair_num++;
        }
    if (g.good) p->pair[p->pair_num].begin = p->product_num;
    if (g.good) g.good = settle(p, g.points);
    p->users = 1;
    for (int s = 0; s < basis->shell_num; s++)
        if (basis->shell[s].ang_mom > p->ang_mom) p->ang_mom = basis->shell[s].ang_mom;
    if (g.good) {
        p->centres.basis = NULL; /* the caller may destroy the basis */
        *products = p;
        return FMO_OK;
    }
    fmo_products_destroy(p);
    return status == FMO_OK
               ? fmo_error_set(err, FMO_ERR_MEMORY, "no memory for products of functions")
               : status;
}

fmo_status fmo_products_create(const fmo_basis *basis, fmo_products **products, fmo_error *err)
{
    if (products) *products = NULL;
    const fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_products_create", err, FMO_GIVEN(basis), FMO_GIVEN(products));
    return status == FMO_OK ? make(basis, NULL, products, err) : status;
}

fmo_status fmo_products_create_between(const fmo_basis *basis, const unsigned *group,
                                       fmo_products **products, fmo_error *err)
{
    if (products) *products = NULL;
    const fmo_status status =
        FMO_CHECK_ARGUMENTS("fmo_products_create_between", err, FMO_GIVEN(basis), FMO_GIVEN(group),
                            FMO_GIVEN(products));
    return status == FMO_OK ? make(basis, group, products, err) : status;
}

fmo_products *fmo_products_share(const fmo_products *products)
{
    fmo_products *const p = (fmo_products *)(uintptr_t)products; /* only the counter changes */
    __atomic_add_fetch(&p->users, 1, __ATOMIC_RELAXED);
    return p;
}

void fmo_products_destroy(fmo_products *products)
{
    if (!products || __atomic_sub_fetch(&products->users, 1, __ATOMIC_ACQ_REL) > 0) return;
    fmo_gpu_release_cache(products->on_gpu);
    fmo_centres_free(&products->centres);
    free(products->pair);
    free(products->product);
    free(products->point_of);
    free(products->point);
    free(products);
}
