/* Points of Hermite functions: merges the primitive pairs of one centre and exponent, once for a
 * plan (docs/explanation/gpu/d-shells.md, "Points are merged"). Next: density.cu and coulomb.cu. */
#include "accumulate/gpu/hermite/state.h"

#include <math.h>
#include <stdlib.h>

#include "accumulate/rules/pair_order.h"
#include "integrals/pairs/key_sort.h"

/* A primitive pair that is to become part of a point. low, high: the numbers of its two primitives;
 * primitives of one nucleus and exponent have the same number. */
typedef struct point_key {
    int low, high;
    int pair_class, record, pair;
    double bound;
} point_key;

/* Numbers of primitives are below NUMBERS; a primitive pair that is not merged gets the highest
 * ones. */
enum { NUMBER_BITS = 28, CLASS_BITS = 4, OCTET_BITS = 9, NUMBERS = 1 << NUMBER_BITS };
static_assert(FMO_PAIR_GPU_COUNT <= 1 << CLASS_BITS, "a class in a key");

/* Sort key that makes the primitive pairs of a point contiguous, the class of the highest order
 * first, records in their order. */
static uint64_t key_of_place(const point_key *k)
{
    return (uint64_t)k->low << (NUMBER_BITS + CLASS_BITS) | (uint64_t)k->high << CLASS_BITS |
           (uint64_t)(FMO_PAIR_GPU_COUNT - 1 - k->pair_class);
}

/* A point: primitive pairs [begin, end) of the sorted keys. */
typedef struct point {
    fmo_pair_rank rank; /* i, j: the primitives' numbers */
    int begin, end;
    double bound;
} point;

/* Sort key of points: the bound in steps of 2^8, as in rules/pair_order.h, descending. Points of
 * equal key stay in the order of their primitives' numbers. */
static uint64_t key_of_point(const point *p)
{
    return (uint64_t)(p->rank.octet < 383 ? p->rank.octet + 128 : 511);
}

/* Writes the elements of an array to `to` in the order of their keys; returns 0 if memory is
 * exhausted. */
template <class T>
static int sort_by_key(const T *from, size_t num, uint64_t (*key_of)(const T *), T *to)
{
    uint64_t *const key = (uint64_t *)calloc(num + 1, sizeof *key);
    uint32_t *const order = (uint32_t *)malloc((num + 1) * sizeof *order);
    int done = key && order;
    for (size_t n = 0; n < num && done; n++) key[n] = key_of(&from[n]);
    done = done && fmo_sort_keys(key, num, order);
    for (size_t n = 0; n < num && done; n++) to[n] = from[order[n]];
    free(key);
    free(order);
    return done;
}

/* A primitive of the basis, which is numbered by nucleus and exponent. */
typedef struct numbered_prim {
    int nucleus, prim;
    double exponent;
} numbered_prim;

static int by_exponent(const void *x, const void *y)
{
    const numbered_prim *const a = (const numbered_prim *)x, *const b = (const numbered_prim *)y;
    if (a->nucleus != b->nucleus) return a->nucleus < b->nucleus ? -1 : 1;
    return (a->exponent > b->exponent) - (a->exponent < b->exponent);
}

/* Sets number[prim_num] of all primitives; returns 0 if memory is exhausted. */
static int number_prims(const fmo_basis *b, int *number)
{
    numbered_prim *const all = (numbered_prim *)malloc((size_t)b->prim_num * sizeof *all);
    if (!all) return 0;
    for (int s = 0; s < b->shell_num; s++)
        for (int k = b->shell[s].prim_begin; k < b->shell[s].prim_begin + b->shell[s].prim_num; k++)
            all[k] = {b->shell[s].nucleus, k, b->exponent[k]};
    qsort(all, (size_t)b->prim_num, sizeof *all, by_exponent);
    for (int k = 0, n = 0; k < b->prim_num; k++) {
        if (k && by_exponent(&all[k - 1], &all[k])) n++;
        number[all[k].prim] = n;
    }
    free(all);
    return 1;
}

/* Finds the primitives of record r of a pair (shell_pair.h) by comparing the record's exponent and
 * centre with those computed from all primitives of the shells; any that agree exactly are
 * equivalent. If none did the record would be a point by itself. */
static void find_prims(const fmo_basis *b, const fmo_pair_list *list, int pair, int64_t r,
                       const int *number, point_key *key)
{
    const fmo_shell *const A = &b->shell[list->i[pair]], *const B = &b->shell[list->j[pair]];
    const double *const prim = list->prim + r * FMO_PAIR_FIELDS, *const AB =
                                                                     list->AB + 3 * (size_t)pair;
    key->low = NUMBERS - 1 - key->pair_class;
    key->high = NUMBERS - 1 - (int)r;
    for (int k = A->prim_begin; k < A->prim_begin + A->prim_num; k++)
        for (int l = B->prim_begin; l < B->prim_begin + B->prim_num; l++) {
            const double p = b->exponent[k] + b->exponent[l];
            bool same = p == prim[FMO_PAIR_P];
            for (int x = 0; x < 3 && same; x++)
                same = -(b->exponent[l] / p) * AB[x] == prim[FMO_PAIR_X + x];
            if (!same) continue;
            key->low = number[k] < number[l] ? number[k] : number[l];
            key->high = number[k] < number[l] ? number[l] : number[k];
            return;
        }
}

/* Number of chunks of kets, so that few bras also keep the GPU busy. */
static int chunks_for(const fmo_gpu_device *device, size_t bras)
{
    const size_t blocks = fmo_tuning_gpu_hermite_chunk_bras * (size_t)device->processors;
    const size_t chunks_max = fmo_tuning_gpu_hermite_chunks_max;
    const size_t chunks = bras ? (blocks + bras - 1) / bras : 1;
    return (int)(chunks < chunks_max ? chunks : chunks_max);
}

/* The sorted points of a class, and the keys that they refer to. */
typedef struct sorted_points {
    const point_key *key;
    const point *point;
    size_t num;
} sorted_points;

/* Fills in the arrays of the points of one class, pads them to whole tiles and copies them to the
 * GPU. Sets point_of of the points' records, which may be of any class. */
static fmo_status stage_points(const fmo_fock_plan *plan, const fmo_shell_pairs *plain,
                               int pair_class, const sorted_points *sorted, int2 *const *point_of,
                               fmo_hermite_pairs *pairs, fmo_error *err)
{
    const point_key *const key = sorted->key;
    const point *const own = sorted->point;
    const size_t num = sorted->num;
    fmo_gpu_device *const device = &plan->gpu->device;
    const size_t points = fmo_hermite_tiles(num) * FMO_GPU_TILE_PAIRS;
    size_t entries = 0;
    for (size_t n = 0; n < num; n++) entries += (size_t)(own[n].end - own[n].begin);
    int *entry_begin = NULL;
    int2 *entry = NULL;
    double *place = NULL;
    float *bound = NULL;
    const fmo_gpu_array arrays[] = {
        {(points + 1) * sizeof(int), (void **)&pairs->entry_begin, (void **)&entry_begin},
        {entries * sizeof(int2), (void **)&pairs->entry, (void **)&entry},
        {4 * points * sizeof(double), (void **)&pairs->place, (void **)&place},
        {points * sizeof(float), (void **)&pairs->point_bound, (void **)&bound},
        /* computed in every build */
        {points * sizeof(float), (void **)&pairs->coulomb_estimate, NULL},
        {points / FMO_GPU_TILE_PAIRS * sizeof(float), (void **)&pairs->tile_coulomb_estimate, NULL},
        {points * fmo_hermite_terms(pair_class) * sizeof(double), (void **)&pairs->density, NULL},
    };
    const int all = sizeof arrays / sizeof *arrays;
    void *const staged = fmo_gpu_stage(arrays, all);
    if (!staged) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu points", points);
    for (size_t n = 0; n < points; n++)
        entry_begin[n + 1] = entry_begin[n] + (n < num ? own[n].end - own[n].begin : 0);
#pragma omp parallel for num_threads(plan->options.threads) if (plan->options.threads > 1)
    for (size_t n = 0; n < num; n++) {
        const point_key *const first = &key[own[n].begin];
        const fmo_pair_list *const list = &plain->list[first->pair_class];
        const double *const prim = list->prim + (size_t)first->record * FMO_PAIR_FIELDS;
        for (int x = 0; x < 3; x++)
            place[x * points + n] =
                plan->basis->shell[list->i[first->pair]].centre[x] + prim[FMO_PAIR_X + x];
        place[3 * points + n] = prim[FMO_PAIR_P];
        bound[n] = nextafterf((float)own[n].bound, INFINITY);
        for (int k = own[n].begin, at = entry_begin[n]; k < own[n].end; k++) {
            entry[at++] = make_int2(key[k].pair_class, key[k].record);
            point_of[key[k].pair_class][key[k].record] = make_int2(pair_class, (int)n);
        }
    }
    fmo_status status = fmo_gpu_place_arrays(device, "points", arrays, all, err);
    if (status == FMO_OK) status = fmo_gpu_upload(device, "points", staged, arrays, all, err);
    free(staged);
    pairs->points = (int)points;
    pairs->chunks = chunks_for(device, num);
    return status;
}

/* Finds the points of the classes [begin, end): merges their primitive pairs, assigns each point to
 * the class of its first (highest-order) one, sorts the points of each class by bound and stages
 * them. */
static fmo_status find_points(const fmo_fock_plan *plan, const fmo_shell_pairs *plain, int begin,
                              int end, const int *number, int2 *const *point_of, fmo_gpu_hermite *h,
                              fmo_error *err)
{
    size_t records = 0, keys = 0, points = 0;
    fmo_status status = FMO_OK;
    for (int c = begin; c < end; c++) records += (size_t)plain->list[c].prim_num;
    point_key *const found = (point_key *)malloc((records + 1) * sizeof *found);
    point_key *const key = (point_key *)malloc((records + 1) * sizeof *key);
    point *const unsorted = (point *)malloc((records + 1) * sizeof *unsorted);
    point *const sorted = (point *)malloc((records + 1) * sizeof *sorted);
    if (!found || !key || !unsorted || !sorted) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu points", records);
        goto done;
    }
    for (int c = begin; c < end; c++) {
        const fmo_pair_list *const list = &plain->list[c];
#pragma omp parallel for num_threads(plan->options.threads) if (plan->options.threads > 1)
        for (int p = 0; p < list->num; p++)
            for (int64_t r = list->begin[p]; r < list->begin[p + 1]; r++) {
                point_key *const k = &found[keys + (size_t)r];
                k->pair_class = c;
                k->record = (int)r;
                k->pair = p;
                k->bound = list->prim_bound[r];
                find_prims(plan->basis, list, p, r, number, k);
            }
        keys += (size_t)list->prim_num;
    }
    if (!sort_by_key(found, records, key_of_place, key)) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu points", records);
        goto done;
    }
    for (int c = begin; c < end && status == FMO_OK; c++) {
        points = 0;
        for (size_t n = 0, next; n < records; n = next) {
            double bound = 0.0;
            for (next = n;
                 next < records && key[next].low == key[n].low && key[next].high == key[n].high;
                 next++)
                bound = fmax(bound, key[next].bound);
            if (key[n].pair_class != c) continue;
            unsorted[points].rank = {1, fmo_pair_octet(bound), key[n].low, key[n].high, 0};
            unsorted[points].begin = (int)n;
            unsorted[points].end = (int)next;
            unsorted[points++].bound = bound;
        }
        if (!sort_by_key(unsorted, points, key_of_point, sorted))
            status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu points", points);
        if (status != FMO_OK) continue;
        const sorted_points own = {key, sorted, points};
        status = stage_points(plan, plain, c, &own, point_of, &h->pairs[c], err);
    }
done:
    free(found);
    free(key);
    free(unsorted);
    free(sorted);
    return status;
}

/* Points of s,p classes and points of the other classes are made separately. */
fmo_status fmo_hermite_make_points(const fmo_fock_plan *plan, const fmo_shell_pairs *plain,
                                   fmo_gpu_hermite *h, fmo_error *err)
{
    fmo_gpu_device *const device = &plan->gpu->device;
    int2 *point_of[FMO_PAIR_GPU_COUNT];
    fmo_gpu_array arrays[FMO_PAIR_GPU_COUNT];
    fmo_status status = FMO_OK;
    for (int c = 0; c < FMO_PAIR_GPU_COUNT; c++)
        arrays[c] = {(size_t)plain->list[c].prim_num * sizeof(int2), (void **)&h->pairs[c].point_of,
                     (void **)&point_of[c]};
    void *const staged = fmo_gpu_stage(arrays, FMO_PAIR_GPU_COUNT);
    int *const number = (int *)malloc(((size_t)plan->basis->prim_num + 1) * sizeof *number);
    if (!staged || !number || !number_prims(plan->basis, number))
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for points");
    if (status == FMO_OK)
        status = find_points(plan, plain, 0, FMO_PAIR_LOW_L_COUNT, number, point_of, h, err);
    if (status == FMO_OK)
        status = find_points(plan, plain, FMO_PAIR_LOW_L_COUNT, FMO_PAIR_GPU_COUNT, number,
                             point_of, h, err);
    if (status == FMO_OK)
        status = fmo_gpu_place_arrays(device, "points", arrays, FMO_PAIR_GPU_COUNT, err);
    if (status == FMO_OK)
        status = fmo_gpu_upload(device, "points", staged, arrays, FMO_PAIR_GPU_COUNT, err);
    free(number);
    free(staged);
    return status;
}
