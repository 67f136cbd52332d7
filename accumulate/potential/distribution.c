/* Charge distributions as lists of points, and matrices from potentials at points: points.h. */
#include "accumulate/potential/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrals/arguments.h"

/* Points with norms below this are nowhere: against the bound of a function, 1 or so, far below
 * any cutoff. */
#define NOTHING 1e-24

/* ---- a density at the points of products -----------------------------------------------------
 */

/* D over the functions of two centres, from the caller's: both triangles together, of a centre with
 * itself once. */
static void density_block(const fmo_products *p, const fmo_centre *A, const fmo_centre *B,
                          const double *D, double *block)
{
    const fmo_centres *cs = &p->centres;
    const size_t n = (size_t)cs->ao_num;
    const double both = A == B ? 0.5 : 1.0;
    memset(block, 0, (size_t)(A->functions * B->functions) * sizeof *block);
    for (int i = A->caller_begin; i < A->caller_end; i++)
        for (int j = B->caller_begin; j < B->caller_end; j++) {
            const fmo_centre_caller *const row = &cs->caller[i], *const column = &cs->caller[j];
            const size_t x = (size_t)row->index, y = (size_t)column->index;
            const double d = both * (D[x * n + y] + D[y * n + x]);
            for (int m = row->term_begin; m < row->term_end; m++)
                for (int k = column->term_begin; k < column->term_end; k++)
                    block[cs->term[m].function * B->functions + cs->term[k].function] +=
                        cs->term[m].factor * cs->term[k].factor * d;
        }
}

/* H_tuv += scale sum_ab d_ab E E E */
FMO_HD void expand_density(int la, int lb, const fmo_product *z, const fmo_product_blocks d,
                           double *H)
{
    fmo_hermite_1d E[3];
    FMO_UNROLL
    for (int x = 0; x < 3; x++) fmo_hermite_expand(la, lb, z->PA[x], z->PB[x], z->half, E[x]);
    for (int i = 0; i <= la; i++) {
        for (int j = 0; j <= lb; j++) {
            const int base_a = FMO_HERMITE_COUNT(i - 1), base_b = FMO_HERMITE_COUNT(j - 1);
            if (!(z->kinds_a >> i & 1) || !(z->kinds_b >> j & 1)) continue;
            for (int ab = 0; ab < FMO_CARTESIAN(i) * FMO_CARTESIAN(j); ab++) {
                const signed char *const a = fmo_hermite_term[base_a + ab / FMO_CARTESIAN(j)];
                const signed char *const b = fmo_hermite_term[base_b + ab % FMO_CARTESIAN(j)];
                const double part = z->scale * d[i][j][ab];
                for (int t = 0; t <= a[0] + b[0]; t++)
                    for (int u = 0; u <= a[1] + b[1]; u++)
                        for (int v = 0; v <= a[2] + b[2]; v++)
                            H[fmo_hermite_index(t, u, v)] += part * E[0][a[0]][b[0]][t] *
                                                             E[1][a[1]][b[1]][u] *
                                                             E[2][a[2]][b[2]][v];
            }
        }
    }
}

/* D of a product by the angular momenta of its users, their coefficients included. */
static void collect_uses(const fmo_centres *cs, const fmo_product *z, int columns,
                         const double *block, fmo_product_blocks d)
{
    const fmo_centre_prim *const a = &cs->prim[z->prim_a], *const b = &cs->prim[z->prim_b];
    for (int i = 0; i <= z->la; i++)
        for (int j = 0; j <= z->lb; j++)
            memset(d[i][j], 0, (size_t)(FMO_CARTESIAN(i) * FMO_CARTESIAN(j)) * sizeof(double));
    for (int i = a->use_begin; i < a->use_end; i++) {
        const fmo_centre_use *const A = &cs->use[i];
        const int na = fmo_shell_functions(A->ang_mom);
        for (int j = b->use_begin; j < b->use_end; j++) {
            const fmo_centre_use *const B = &cs->use[j];
            const int nb = fmo_shell_functions(B->ang_mom);
            const double c = A->coefficient * B->coefficient;
            double *const to = d[A->ang_mom][B->ang_mom];
            for (int m = 0; m < na; m++)
                for (int n = 0; n < nb; n++)
                    to[m * nb + n] += c * block[(A->function + m) * columns + B->function + n];
        }
    }
}

/* H, [point] order by order. */
static void expand(const fmo_products *p, const double *D, double *block, double *H)
{
    memset(H, 0, p->value_begin[FMO_POINT_ORDERS] * sizeof *H);
    for (int c = 0; c < p->pair_num; c++) {
        const fmo_centre *const A = &p->centres.centre[p->pair[c].A];
        const fmo_centre *const B = &p->centres.centre[p->pair[c].B];
        density_block(p, A, B, D, block);
        for (int k = p->pair[c].begin; k < p->pair[c + 1].begin; k++) {
            const fmo_product *const z = &p->product[k];
            double *const to =
                H + fmo_point_values(p->begin, p->value_begin, z->la + z->lb, p->point_of[k]);
            fmo_product_blocks d;
            collect_uses(&p->centres, z, B->functions, block, d);
#define CALL(la, lb) expand_density(la, lb, z, d, to);
            FMO_PAIR_TABLE(FMO_WITH_ANG_MOM) {}
#undef CALL
        }
    }
}

void fmo_points_give(const fmo_products *p, const double *V, double *block, double *potential)
{
    const fmo_centres *const cs = &p->centres;
    memset(potential, 0, (size_t)cs->ao_num * (size_t)cs->ao_num * sizeof *potential);
    for (int c = 0; c < p->pair_num; c++) {
        const fmo_centre *const A = &cs->centre[p->pair[c].A], *const B = &cs->centre[p->pair[c].B];
        memset(block, 0, (size_t)(A->functions * B->functions) * sizeof *block);
        for (int k = p->pair[c].begin; k < p->pair[c + 1].begin; k++) {
            const fmo_product *const z = &p->product[k];
            const double *const from =
                V + fmo_point_values(p->begin, p->value_begin, z->la + z->lb, p->point_of[k]);
            fmo_product_blocks blocks;
            fmo_product_potential(z, z->scale, from, blocks);
            fmo_product_contract(cs, cs, z, B->functions, blocks, block);
        }
        fmo_centres_add_block(cs, cs, A, B, block, potential);
    }
}

/* ---- lists ---------------------------------------------------------------------------------- */

typedef struct ranked {
    double norm;
    int point;
} ranked;

static int by_norm(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    if (a->norm != b->norm) return a->norm < b->norm ? 1 : -1;
    return (a->point > b->point) - (a->point < b->point);
}

static const double *density_at(const fmo_point_densities *from, int N, int n)
{
    return from->H + fmo_point_values(from->begin, from->value_begin, N, n);
}

/* Points of an order that matter, sorted; returns how many. */
static int rank_points(const fmo_point_densities *from, int N, ranked *of)
{
    int used = 0;
    for (int n = from->begin[N]; from->H && n < from->begin[N + 1]; n++) {
        const double *const H = density_at(from, N, n);
        double norm = 0.0;
        for (int k = 0; k < FMO_HERMITE_COUNT(N); k++)
            if (H[k] != 0.0)
                norm += fabs(H[k]) * fmo_point_norm(fmo_hermite_term[k][0], fmo_hermite_term[k][1],
                                                    fmo_hermite_term[k][2], from->point[n].p);
        if (norm > NOTHING) of[used++] = (ranked){norm, n};
    }
    qsort(of, (size_t)used, sizeof *of, by_norm);
    return used;
}

static int in_groups(int num)
{
    return (num + FMO_POINT_GROUP - 1) / FMO_POINT_GROUP * FMO_POINT_GROUP;
}

/* Fills in a list: charges, points, and what fills up, which stands where the last one does. */
static void fill_list(const fmo_point_densities *from, int N, const ranked *of, int points,
                      fmo_point_list *to)
{
    const int charges = to->used - points, terms = FMO_HERMITE_COUNT(N);
    const size_t num = (size_t)to->num;
    for (int n = 0; n < to->num; n++) {
        const int at = n < to->used ? n : to->used - 1;
        const int charge = at < charges;
        const fmo_point *const point = charge ? NULL : &from->point[of[at - charges].point];
        const double *const H = charge ? NULL : density_at(from, N, of[at - charges].point);
        for (int x = 0; x < 3; x++)
            to->at[(size_t)x * num + (size_t)n] =
                charge ? from->coord[3 * (size_t)at + (size_t)x] : point->at[x];
        to->at[3 * num + (size_t)n] = charge ? FMO_POINT_CHARGE : point->p;
        for (int k = 0; k < terms; k++)
            to->H[(size_t)k * num + (size_t)n] = n >= to->used ? 0.0
                                                 : charge      ? -from->charge[at]
                                                               : H[k];
        to->norm[n] = n >= to->used ? 0.0 : charge ? INFINITY : of[at - charges].norm;
    }
}

fmo_status fmo_point_lists_make(const fmo_point_densities *from, fmo_distribution *to,
                                fmo_error *err)
{
    const int points = from->H ? from->begin[FMO_POINT_ORDERS] : 0;
    ranked *const of = malloc(((size_t)points + 1) * sizeof *of);
    int used[FMO_POINT_ORDERS];
    size_t size = 0;
    memset(to, 0, sizeof *to);
    for (int N = 0; N < FMO_POINT_ORDERS && of; N++) {
        fmo_point_list *const list = &to->list[N];
        used[N] = from->H ? rank_points(from, N, of + from->begin[N]) : 0;
        list->used = used[N] + (N ? 0 : (int)from->charge_num);
        list->num = in_groups(list->used);
        size += (size_t)list->num * (size_t)(5 + FMO_HERMITE_COUNT(N));
    }
    to->memory = of ? malloc((size + 1) * sizeof *to->memory) : NULL;
    double *at = to->memory;
    for (int N = 0; N < FMO_POINT_ORDERS && at; N++) {
        fmo_point_list *const list = &to->list[N];
        list->at = at;
        list->H = at += 4 * (size_t)list->num;
        list->norm = at += (size_t)FMO_HERMITE_COUNT(N) * (size_t)list->num;
        at += list->num;
        fill_list(from, N, from->H ? of + from->begin[N] : NULL, used[N], list);
    }
    free(of);
    return at ? FMO_OK : fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a charge distribution");
}

/* ---- public --------------------------------------------------------------------------------- */

static fmo_status check_finite(const char *call, const char *name, size_t num, const double *of,
                               fmo_error *err)
{
    for (size_t k = 0; k < num; k++)
        if (!(fabs(of[k]) <= 1e100))
            return fmo_error_set(err, FMO_ERR_INPUT, "%s: %s[%zu] = %g: expected a finite number",
                                 call, name, k, of[k]);
    return FMO_OK;
}

fmo_status fmo_distribution_create(const fmo_products *products, const double *density,
                                   size_t charge_num, const double *charge, const double *coord,
                                   fmo_distribution **distribution, fmo_error *err)
{
    static const char call[] = "fmo_distribution_create";
    if (distribution) *distribution = NULL;
    fmo_status status =
        FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(products), FMO_GIVEN(distribution));
    if (status == FMO_OK && charge_num > 0)
        status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(charge), FMO_GIVEN(coord));
    if (status == FMO_OK && charge_num > 1 << 28)
        status = fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: charge_num = %zu: at most 2^28", call,
                               charge_num);
    if (status == FMO_OK) status = check_finite(call, "charge", charge_num, charge, err);
    if (status == FMO_OK) status = check_finite(call, "coord", 3 * charge_num, coord, err);
    if (status != FMO_OK) return status;
    const size_t n = (size_t)products->centres.ao_num;
    if (density) status = check_finite(call, "density", n * n, density, err);
    if (status != FMO_OK) return status;
    const size_t largest = (size_t)fmo_centres_largest(&products->centres);
    fmo_distribution *const made = calloc(1, sizeof *made);
    double *const H = malloc((products->value_begin[FMO_POINT_ORDERS] + 1) * sizeof *H);
    double *const block = malloc(largest * largest * sizeof *block);
    if (made && H && block) {
        if (density) expand(products, density, block, H);
        const fmo_point_densities from = {.point = products->point,
                                          .begin = products->begin,
                                          .H = density ? H : NULL,
                                          .value_begin = products->value_begin,
                                          .charge_num = charge_num,
                                          .charge = charge,
                                          .coord = coord};
        status = fmo_point_lists_make(&from, made, err);
    } else {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a charge distribution");
    }
    free(H);
    free(block);
    if (status == FMO_OK)
        *distribution = made;
    else
        fmo_distribution_destroy(made);
    return status;
}

void fmo_distribution_destroy(fmo_distribution *distribution)
{
    if (!distribution) return;
    free(distribution->memory);
    free(distribution);
}
