/* Charge distributions as lists of points, and matrices from potentials at points; see points.h. */
#include "accumulate/potential/points.h"
#include "accumulate/potential/expand.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/stack.h"
#include "base/threads.h"

/* ---- a density at the points of products -----------------------------------------------------
 */

/* The density block of two centres, from the caller's matrix to the centres' functions: the sum of
 * both triangles, or for a centre with itself their mean. */
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

/* Hermite densities H at all points, [point] order by order, of a density D. */
static void expand(const fmo_products *p, const double *D, double *block, double *H)
{
    const fmo_centres *const cs = &p->centres;
    memset(H, 0, p->value_begin[FMO_POINT_ORDERS] * sizeof *H);
    for (int c = 0; c < p->pair_num; c++) {
        const fmo_centre *const A = &cs->centre[p->pair[c].A], *const B = &cs->centre[p->pair[c].B];
        density_block(p, A, B, D, block);
        for (int k = p->pair[c].begin; k < p->pair[c + 1].begin; k++) {
            const fmo_product *const z = &p->product[k];
            double *const to =
                H + fmo_point_values(p->begin, p->value_begin, z->la + z->lb, p->point_of[k]);
            double d[FMO_BLOCKS_MAX];
            fmo_blocks_collect(cs->use, &cs->prim[z->prim_a], &cs->prim[z->prim_b], B->functions,
                               block, d);
#define CALL(la, lb) fmo_blocks_expand(la, lb, z, d, to);
            FMO_WITH_ANY_ANG_MOM
#undef CALL
        }
    }
}

void fmo_points_contract(const fmo_products *p, const double *V, double *block, double *potential)
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

/* Sorts the points of an order with a norm above FMO_POINT_NOTHING; returns their number. */
static int rank_points(const fmo_point_densities *from, int N, ranked *ranks)
{
    int used = 0;
    for (int n = from->begin[N]; from->H && n < from->begin[N + 1]; n++) {
        const double *const H = density_at(from, N, n);
        double norm = 0.0;
        for (int k = 0; k < FMO_HERMITE_COUNT(N); k++)
            if (H[k] != 0.0)
                norm += fabs(H[k]) * fmo_point_norm(fmo_hermite_term[k][0], fmo_hermite_term[k][1],
                                                    fmo_hermite_term[k][2], from->point[n].p);
        if (norm > FMO_POINT_NOTHING) ranks[used++] = (ranked){norm, n};
    }
    qsort(ranks, (size_t)used, sizeof *ranks, by_norm);
    return used;
}

static int in_groups(int num)
{
    return (num + FMO_POINT_GROUP - 1) / FMO_POINT_GROUP * FMO_POINT_GROUP;
}

/* Fills a list with charges and points; padding entries repeat the last position with densities of
 * 0. */
static void fill_list(const fmo_point_densities *from, int N, const ranked *ranks, int points,
                      fmo_point_list *to)
{
    const int charges = to->used - points, terms = FMO_HERMITE_COUNT(N);
    const size_t num = (size_t)to->num;
    for (int n = 0; n < to->num; n++) {
        const int at = n < to->used ? n : to->used - 1;
        const int charge = at < charges;
        const fmo_point *const point = charge ? NULL : &from->point[ranks[at - charges].point];
        const double *const H = charge ? NULL : density_at(from, N, ranks[at - charges].point);
        for (int x = 0; x < 3; x++)
            to->at[(size_t)x * num + (size_t)n] =
                charge ? from->coord[3 * (size_t)at + (size_t)x] : point->at[x];
        to->at[3 * num + (size_t)n] = charge ? FMO_POINT_CHARGE : point->p;
        for (int k = 0; k < terms; k++)
            to->H[(size_t)k * num + (size_t)n] = n >= to->used ? 0.0
                                                 : charge      ? -from->charge[at]
                                                               : H[k];
        to->norm[n] = n >= to->used ? 0.0 : charge ? INFINITY : ranks[at - charges].norm;
    }
}

size_t fmo_distribution_size(const fmo_distribution *distribution)
{
    size_t size = 0;
    for (int N = 0; N < FMO_POINT_ORDERS; N++)
        size += (size_t)distribution->list[N].num * (size_t)(5 + FMO_HERMITE_COUNT(N));
    return size;
}

/* Ranks the points of each order, allocates the memory of all lists at once and fills them. */
fmo_status fmo_point_lists_make(const fmo_point_densities *from, fmo_distribution *to,
                                fmo_error *err)
{
    const int points = from->H ? from->begin[FMO_POINT_ORDERS] : 0;
    ranked *const ranks = malloc(((size_t)points + 1) * sizeof *ranks);
    int used[FMO_POINT_ORDERS];
    for (int N = 0; N < FMO_POINT_ORDERS && ranks; N++) {
        fmo_point_list *const list = &to->list[N];
        used[N] = from->H ? rank_points(from, N, ranks + from->begin[N]) : 0;
        list->used = used[N] + (N ? 0 : (int)from->charge_num);
        list->num = in_groups(list->used);
    }
    to->memory = ranks ? malloc((fmo_distribution_size(to) + 1) * sizeof *to->memory) : NULL;
    double *at = to->memory;
    for (int N = 0; N < FMO_POINT_ORDERS && at; N++) {
        fmo_point_list *const list = &to->list[N];
        list->at = at;
        list->H = at += 4 * (size_t)list->num;
        list->norm = at += (size_t)FMO_HERMITE_COUNT(N) * (size_t)list->num;
        at += list->num;
        fill_list(from, N, from->H ? ranks + from->begin[N] : NULL, used[N], list);
    }
    free(ranks);
    return at ? FMO_OK : fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a charge distribution");
}

/* ---- public --------------------------------------------------------------------------------- */

void fmo_potential_options_init(fmo_potential_options *options)
{
    if (options)
        *options = (fmo_potential_options){
            .mode = FMO_MODE_CPU, .threads = 0, .device = -1, .cutoff = 1e-12};
}

/* Completes the options of a call from the defaults and checks them. */
fmo_status fmo_potential_begin(const char *call, const void *jobs, size_t count,
                               const fmo_potential_options *options, fmo_potential_options *o,
                               fmo_error *err)
{
    fmo_potential_options_init(o);
    if (options) *o = *options;
    if (count) {
        const fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(jobs));
        if (status != FMO_OK) return status;
    }
    if (o->mode != FMO_MODE_CPU && o->mode != FMO_MODE_FUSED)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: mode: expected cpu or fused", call);
    if (o->threads < 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: threads = %d: expected 0 or more", call,
                             o->threads);
    if (!(o->cutoff >= 0.0) || !isfinite(o->cutoff))
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: cutoff = %g: expected 0 or more", call,
                             o->cutoff);
    int good = o->device_num >= 0 && o->device_num <= FMO_DEVICES_MAX &&
               (o->device_num == 0 || o->device < 0 || o->device == o->devices[0]);
    for (int k = 0; good && k < o->device_num; k++) good = o->devices[k] >= 0;
    if (!good)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%s: device_num = %d, device = %d: expected 0 to %d GPUs in devices, "
                             "or one in device",
                             call, o->device_num, o->device, FMO_DEVICES_MAX);
    if (o->device_num > 0) o->device = o->devices[0];
    return fmo_stack_check(0, err);
}

static fmo_status check_finite(const char *call, const char *name, size_t num, const double *of,
                               fmo_error *err)
{
    for (size_t k = 0; k < num; k++)
        if (!(fabs(of[k]) <= 1e100))
            return fmo_error_set(err, FMO_ERR_INPUT, "%s: %s[%zu] = %g: expected a finite number",
                                 call, name, k, of[k]);
    return FMO_OK;
}

/* Checks that a distribution can be made from a job. */
static fmo_status check_job(const char *call, const fmo_distribution_job *job, fmo_error *err)
{
    fmo_status status = FMO_CHECK_ARGUMENTS(call, err, {"products", job->products, 0, 0});
    if (status == FMO_OK && job->charge_num > 0)
        status = FMO_CHECK_ARGUMENTS(call, err, {"charge", job->charge, 0, 0},
                                     {"coord", job->coord, 0, 0});
    if (status == FMO_OK && job->charge_num > 1 << 28)
        status = fmo_error_set(err, FMO_ERR_ARGUMENT, "%s: charge_num = %zu: at most 2^28", call,
                               job->charge_num);
    if (status == FMO_OK) status = check_finite(call, "charge", job->charge_num, job->charge, err);
    if (status == FMO_OK)
        status = check_finite(call, "coord", 3 * job->charge_num, job->coord, err);
    if (status != FMO_OK || !job->density) return status;
    const size_t n = (size_t)job->products->centres.ao_num;
    return check_finite(call, "density", n * n, job->density, err);
}

/* Makes the lists of a distribution on the host. */
static fmo_status make_lists(const fmo_products *p, const double *density, size_t charge_num,
                             const double *charge, const double *coord, fmo_distribution *to,
                             fmo_error *err)
{
    const size_t largest = (size_t)fmo_centres_largest(&p->centres);
    double *const H = malloc((p->value_begin[FMO_POINT_ORDERS] + 1) * sizeof *H);
    double *const block = malloc(largest * largest * sizeof *block);
    fmo_status status = FMO_OK;
    if (H && block) {
        if (density) expand(p, density, block, H);
        const fmo_point_densities from = {.point = p->point,
                                          .begin = p->begin,
                                          .H = density ? H : NULL,
                                          .value_begin = p->value_begin,
                                          .charge_num = charge_num,
                                          .charge = charge,
                                          .coord = coord};
        status = fmo_point_lists_make(&from, to, err);
    } else {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a charge distribution");
    }
    free(H);
    free(block);
    return status;
}

/* Copies the data from which the lists can be made later. */
static fmo_status keep_origin(const fmo_distribution_job *job, fmo_distribution *to, fmo_error *err)
{
    const size_t n = (size_t)job->products->centres.ao_num, charges = job->charge_num;
    fmo_distribution_origin *const o = &to->origin;
    o->density = malloc((n * n + 4 * charges + 1) * sizeof *o->density);
    if (!o->density)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a charge distribution");
    o->charge_num = charges;
    o->charge = o->density + n * n;
    o->coord = o->charge + charges;
    memcpy(o->density, job->density, n * n * sizeof *o->density);
    if (charges) memcpy(o->charge, job->charge, charges * sizeof *o->charge);
    if (charges) memcpy(o->coord, job->coord, 3 * charges * sizeof *o->coord);
    o->products = fmo_products_share(job->products);
    return FMO_OK;
}

static fmo_status create(const char *call, const fmo_distribution_job *job, int later,
                         fmo_distribution **distribution, fmo_error *err)
{
    fmo_status status = check_job(call, job, err);
    if (status != FMO_OK) return status;
    fmo_distribution *const made = calloc(1, sizeof *made);
    if (!made) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a charge distribution");
    (void)pthread_mutex_init(&made->lock, NULL);
    status = later && job->density ? keep_origin(job, made, err)
                                   : make_lists(job->products, job->density, job->charge_num,
                                                job->charge, job->coord, made, err);
    if (status == FMO_OK)
        *distribution = made;
    else
        fmo_distribution_destroy(made);
    return status;
}

fmo_status fmo_distribution_ready(const fmo_distribution *distribution, fmo_error *err)
{
    /* only the cached lists change */
    fmo_distribution *const d = (fmo_distribution *)(uintptr_t)distribution;
    const fmo_distribution_origin *const o = &d->origin;
    fmo_status status = FMO_OK;
    if (!o->products) return FMO_OK;
    (void)pthread_mutex_lock(&d->lock);
    if (!d->memory)
        status = make_lists(o->products, o->density, o->charge_num, o->charge, o->coord, d, err);
    (void)pthread_mutex_unlock(&d->lock);
    return status;
}

fmo_status fmo_distribution_create(const fmo_products *products, const double *density,
                                   size_t charge_num, const double *charge, const double *coord,
                                   fmo_distribution **distribution, fmo_error *err)
{
    static const char call[] = "fmo_distribution_create";
    const fmo_distribution_job job = {products, density, charge_num, charge, coord, NULL};
    if (distribution) *distribution = NULL;
    const fmo_status status = FMO_CHECK_ARGUMENTS(call, err, FMO_GIVEN(distribution));
    return status == FMO_OK ? create(call, &job, 0, distribution, err) : status;
}

fmo_status fmo_potential_check_shells(const char *call, const fmo_potential_options *o,
                                      const fmo_products *products,
                                      const fmo_distribution *distribution, fmo_error *err)
{
    int highest = products ? products->ang_mom : 0;
    if (o->mode != FMO_MODE_FUSED) return FMO_OK;
    if (distribution && distribution->origin.products) products = distribution->origin.products;
    if (products && products->ang_mom > highest) highest = products->ang_mom;
    for (int N = FMO_GPU_POINT_ORDERS; distribution && N < FMO_POINT_ORDERS; N++)
        if (distribution->list[N].used && N > 2 * highest) highest = (N + 1) / 2;
    if (highest <= FMO_UNROLLED_ANG_MOM_MAX) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                         "%s: mode fused: %c shells are computed in mode cpu, and the basis has "
                         "them; use mode cpu",
                         call, fmo_shell_letter(highest));
}

/* Makes the distributions in parallel; on error destroys them all and reports the first error. */
fmo_status fmo_distributions_create(fmo_distribution_job *jobs, size_t count,
                                    const fmo_potential_options *options, fmo_error *err)
{
    static const char call[] = "fmo_distributions_create";
    fmo_potential_options o;
    size_t first = count; /* the first job that fails; count if none */
    for (size_t k = 0; jobs && k < count; k++) jobs[k].distribution = NULL;
    fmo_status status = fmo_potential_begin(call, jobs, count, options, &o, err);
    if (status != FMO_OK) return status;
#pragma omp parallel for schedule(dynamic) num_threads(fmo_threads(o.threads)) if (count > 1)
    for (size_t k = 0; k < count; k++) {
        fmo_error why = {FMO_OK, ""};
        char job[64];
        (void)snprintf(job, sizeof job, "%s: jobs[%zu]", call, k);
        fmo_status one = fmo_potential_check_shells(job, &o, jobs[k].products, NULL, &why);
        if (one == FMO_OK)
            one = create(job, &jobs[k], o.mode == FMO_MODE_FUSED, &jobs[k].distribution, &why);
        if (one == FMO_OK) continue;
#pragma omp critical(fmo_distributions)
        if (k < first) {
            first = k;
            status = one;
            if (err) *err = why;
        }
    }
    for (size_t k = 0; k < count && status != FMO_OK; k++) {
        fmo_distribution_destroy(jobs[k].distribution);
        jobs[k].distribution = NULL;
    }
    return status;
}

/* A Hermite function of degree 0 with density h at Q has the charge -h and the dipole moment -h Q;
 * one of degree 1 is the derivative of such a charge with respect to a component of Q, and has the
 * dipole moment -h in this direction. Higher ones have none. */
fmo_status fmo_distribution_dipole(const fmo_distribution *distribution, double *dipole,
                                   fmo_error *err)
{
    double sum[3] = {0.0, 0.0, 0.0};
    fmo_status status = FMO_CHECK_ARGUMENTS("fmo_distribution_dipole", err, FMO_GIVEN(distribution),
                                            FMO_GIVEN(dipole));
    if (status == FMO_OK) status = fmo_distribution_ready(distribution, err);
    if (status != FMO_OK) return status;
    for (int N = 0; N < FMO_POINT_ORDERS; N++) {
        const fmo_point_list *const list = &distribution->list[N];
        const size_t num = (size_t)list->num;
        for (size_t q = 0; q < (size_t)list->used; q++) {
            for (size_t x = 0; x < 3; x++) sum[x] -= list->H[q] * list->at[x * num + q];
            for (size_t k = 1; k < 4 && N; k++)
                for (size_t x = 0; x < 3; x++)
                    sum[x] -= fmo_hermite_term[k][x] * list->H[k * num + q];
        }
    }
    memcpy(dipole, sum, sizeof sum);
    return FMO_OK;
}

void fmo_distribution_destroy(fmo_distribution *distribution)
{
    if (!distribution) return;
    fmo_gpu_release_cache(distribution->on_gpu);
    fmo_products_destroy(distribution->origin.products);
    (void)pthread_mutex_destroy(&distribution->lock);
    free(distribution->origin.density);
    free(distribution->memory);
    free(distribution);
}
