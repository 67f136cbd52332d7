/* Sorts the shell pairs of a plan into families of equal exponents, for the host's kernels
 * (pairs.h). */
#include "accumulate/cpu/pairs.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrals/tables.h"

/* Assigns a number exponent_set[s] to each shell; shells have the same number if their exponents
 * are equal. */
static void exponent_sets(const fmo_basis *basis, int *exponent_set)
{
    for (int s = 0; s < basis->shell_num; s++) {
        const fmo_shell *a = &basis->shell[s];
        exponent_set[s] = s;
        for (int t = 0; t < s; t++) {
            const fmo_shell *b = &basis->shell[t];
            if (exponent_set[t] == t && a->prim_num == b->prim_num &&
                memcmp(basis->exponent + a->prim_begin, basis->exponent + b->prim_begin,
                       (size_t)a->prim_num * sizeof *basis->exponent) == 0) {
                exponent_set[s] = t;
                break;
            }
        }
    }
}

/* A pair while the list is being made; its shells are in the order in which the kernels use
 * them. */
typedef struct entry {
    int set_i, set_j, index;
    int i, j;
    double bound;
} entry;

static int by_entry(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    if (a->set_i != b->set_i) return a->set_i < b->set_i ? -1 : 1;
    if (a->set_j != b->set_j) return a->set_j < b->set_j ? -1 : 1;
    if (a->bound != b->bound) return a->bound < b->bound ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

/* A primitive pair, given by its position in the product of two shells. */
typedef struct slot {
    double decay, p; /* a b/(a+b), a+b */
    int place;
} slot;

static int by_decay(const void *x, const void *y)
{
    const slot *a = x, *b = y;
    if (a->decay != b->decay) return a->decay < b->decay ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static int make_slots(const fmo_basis *basis, int i, int j, slot *slots)
{
    const fmo_shell *A = &basis->shell[i], *B = &basis->shell[j];
    int n = 0;
    for (int k = 0; k < A->prim_num; k++)
        for (int l = 0; l < B->prim_num; l++, n++) {
            const double a = basis->exponent[A->prim_begin + k];
            const double b = basis->exponent[B->prim_begin + l];
            slots[n] = (slot){a * b / (a + b), a + b, n};
        }
    qsort(slots, (size_t)n, sizeof *slots, by_decay);
    return n;
}

int fmo_cpu_pairs_exponents(const fmo_basis *basis, const fmo_cpu_pair_list *list, double *first,
                            double *share)
{
    slot *const slots = malloc(((size_t)list->exponent_num + 1) * sizeof *slots);
    if (!slots) return 0;
    for (int f = 0; f < list->family_num; f++) {
        const int pair = list->family[f].begin, at = list->family[f].exponent;
        const fmo_shell *const A = &basis->shell[list->i[pair]];
        const int second = basis->shell[list->j[pair]].prim_num;
        const int all = make_slots(basis, list->i[pair], list->j[pair], slots);
        for (int m = 0; m < all; m++) {
            const double a = basis->exponent[A->prim_begin + slots[m].place / second];
            first[at + m] = a;
            share[at + m] = slots[m].decay / a;
        }
    }
    free(slots);
    return 1;
}

/* Memory for one pair before pruning: its primitives in the order of the product, and which were
 * kept. */
typedef struct scratch {
    slot *slots;
    double *prim;
    char *kept;
} scratch;

/* Marks the primitives of pair n that the list kept. They are found by comparing all fields. */
static void mark_kept(const fmo_basis *basis, const fmo_pair_list *from, int n, scratch *s)
{
    const int i = from->i[n], j = from->j[n];
    const int all = basis->shell[i].prim_num * basis->shell[j].prim_num;
    double AB[3];
    fmo_shell_pair_primitives(basis, i, j, s->prim, AB);
    memset(s->kept, 0, (size_t)all);
    for (int64_t m = from->begin[n]; m < from->begin[n + 1]; m++) {
        const double *prim = from->prim + m * FMO_PAIR_FIELDS;
        for (int k = 0; k < all; k++) {
            if (!s->kept[k] && s->prim[k * FMO_PAIR_FIELDS] == prim[0] &&
                memcmp(s->prim + k * FMO_PAIR_FIELDS, prim, FMO_PAIR_FIELDS * sizeof *prim) == 0) {
                s->kept[k] = 1;
                break;
            }
        }
    }
}

/* Allocates the arrays of a list, except those of its primitives. Returns 0 if memory is short. */
static int allocate(fmo_cpu_pair_list *list)
{
    const size_t n = (size_t)list->num + 8; /* vectors read past the end */
    int good = 1;
#define ARRAY(name, count)                            \
    list->name = calloc((count), sizeof *list->name); \
    list->bytes += (count) * sizeof *list->name;      \
    good = list->name && good
    ARRAY(family, n);
    ARRAY(family_of, n);
    ARRAY(i, n);
    ARRAY(j, n);
    ARRAY(ao_i, n);
    ARRAY(ao_j, n);
    ARRAY(count, n);
    ARRAY(kept, n);
    ARRAY(bound, n);
    ARRAY(prim_bounds, n);
    ARRAY(centre, 4 * n);
    ARRAY(AB, 4 * n);
    ARRAY(prim_begin, n);
    ARRAY(radius, n);
    ARRAY(spread, n);
    for (int x = 0; x < 3; x++) {
        ARRAY(middle[x], n);
    }
#undef ARRAY
    return good;
}

/* Finds the extent of pair n from its primitives and its middle, which are in place. */
static void find_extent(const slot *slots, int n, fmo_cpu_pair_list *list)
{
    const double *row = list->prim + (size_t)list->prim_begin[n] * FMO_CPU_PRIM_FIELDS;
    for (int m = 0; m < list->count[n]; m++, row += FMO_CPU_PRIM_FIELDS) {
        double square = 0.0;
        if (row[FMO_CPU_PRIM_K] == 0.0) continue;
        for (int x = 0; x < 3; x++) {
            const double from = list->centre[4 * (size_t)n + (size_t)x] - list->middle[x][n];
            square += (from + row[FMO_CPU_PRIM_X + x]) * (from + row[FMO_CPU_PRIM_X + x]);
        }
        list->radius[n] = fmax(list->radius[n], sqrt(square));
        list->spread[n] = fmax(list->spread[n], 1.0 / slots[m].p);
    }
}

/* Fills in pair n, whose rows of prim begin at prim_begin[n]. */
static void place_pair(const fmo_basis *basis, const fmo_pair_list *from, const entry *e, int n,
                       const slot *slots, int all, scratch *s, fmo_cpu_pair_list *list)
{
    const fmo_shell *A = &basis->shell[e->i], *B = &basis->shell[e->j];
    const int swapped = e->i != from->i[e->index];
    const double half = e->i == e->j ? 0.5 : 1.0;
    double weight = 0.0, shift = 0.0, AB[3], *row;
    list->i[n] = e->i;
    list->j[n] = e->j;
    list->ao_i[n] = A->ao_begin;
    list->ao_j[n] = B->ao_begin;
    list->bound[n] = e->bound;
    for (int64_t m = from->begin[e->index]; m < from->begin[e->index + 1]; m++)
        list->prim_bounds[n] += from->prim_bound[m];
    mark_kept(basis, from, e->index, s);
    list->count[n] = list->kept[n] = 0;
    for (int m = 0; m < all; m++) {
        const int k = slots[m].place / B->prim_num, l = slots[m].place % B->prim_num;
        if (!s->kept[swapped ? l * A->prim_num + k : slots[m].place]) continue;
        list->count[n] = m + 1;
        list->kept[n]++;
    }
    row = list->prim + (size_t)list->prim_begin[n] * FMO_CPU_PRIM_FIELDS;
    for (int m = 0; m < list->count[n]; m++, row += FMO_CPU_PRIM_FIELDS) {
        const int k = slots[m].place / B->prim_num, l = slots[m].place % B->prim_num;
        const int place = swapped ? l * A->prim_num + k : slots[m].place;
        const double *prim = s->prim + place * FMO_PAIR_FIELDS;
        const double b = basis->exponent[B->prim_begin + l];
        const double K = s->kept[place] ? half * prim[FMO_PAIR_K] / sqrt(slots[m].p) : 0.0;
        row[FMO_CPU_PRIM_K] = K;
        for (int x = 0; x < 3; x++) {
            AB[x] = A->centre[x] - B->centre[x];
            row[FMO_CPU_PRIM_X + x] = -(b / slots[m].p) * AB[x];
        }
        weight += fabs(K);
        shift += fabs(K) * (b / slots[m].p);
    }
    for (int x = 0; x < 3; x++) {
        AB[x] = A->centre[x] - B->centre[x];
        list->centre[4 * (size_t)n + (size_t)x] = A->centre[x];
        list->AB[4 * (size_t)n + (size_t)x] = AB[x];
        list->middle[x][n] = A->centre[x] - (weight > 0.0 ? shift / weight : 0.5) * AB[x];
    }
    find_extent(slots, n, list);
}

fmo_status fmo_cpu_pairs_check(int pair_class, size_t pairs, size_t rows, fmo_error *err)
{
    /* kernel_contract.inc gathers rows of 4 by the index of their first element */
    const size_t limit = INT_MAX / FMO_CPU_PRIM_FIELDS;
    const char first = fmo_shell_letter(fmo_pair_ang_mom(pair_class, 0));
    const char second = fmo_shell_letter(fmo_pair_ang_mom(pair_class, 1));
    const int of_pairs = pairs > limit;
    if (!of_pairs && rows <= limit) return FMO_OK;
    return fmo_error_set(
        err, FMO_ERR_UNSUPPORTED,
        "mode cpu: %zu %s pairs of %c and %c shells are more than its limit of %zu; "
        "use a GPU (mode fused), a larger cutoff or smaller fragments",
        of_pairs ? pairs : rows, of_pairs ? "shell" : "primitive", first, second, limit);
}

/* Makes the list of a class. Returns FMO_OK, FMO_ERR_UNSUPPORTED, or FMO_ERR_MEMORY without a
 * message. */
static fmo_status make_list(const fmo_basis *basis, const int *exponent_set, int pair_class,
                            const fmo_pair_list *from, scratch *s, fmo_cpu_pair_list *list,
                            fmo_error *err)
{
    /* Checks the rows of kept primitives before anything is allocated; the rows of pruned
     * primitives between them are counted at the end. */
    fmo_status status =
        fmo_cpu_pairs_check(pair_class, (size_t)from->num, (size_t)from->prim_num + 1, err);
    if (status != FMO_OK) return status;
    entry *entries = malloc(((size_t)from->num + 1) * sizeof *entries);
    size_t rows = 1; /* row 0 is zero */
    int good = entries != NULL;
    list->num = from->num;
    good = allocate(list) && good;
    if (!good) goto done;
    for (int n = 0; n < from->num; n++) {
        int i = from->i[n], j = from->j[n];
        if (basis->shell[i].ang_mom == 0 &&
            exponent_set[i] < exponent_set[j]) { /* an ss pair may have either
                                                  * order */
            const int swap = i;
            i = j;
            j = swap;
        }
        entries[n] = (entry){exponent_set[i], exponent_set[j], n, i, j, from->bound[n]};
    }
    qsort(entries, (size_t)from->num, sizeof *entries, by_entry);
    int all = 0;
    for (int n = 0; n < from->num; n++) {
        const entry *e = &entries[n];
        if (n == 0 || e->set_i != e[-1].set_i || e->set_j != e[-1].set_j) {
            all = basis->shell[e->i].prim_num * basis->shell[e->j].prim_num;
            list->family[list->family_num++] = (fmo_cpu_family){n, n, list->exponent_num, all, 0};
            list->exponent_num += all;
        }
        list->family[list->family_num - 1].end = n + 1;
        list->family_of[n] = list->family_num - 1;
        rows += (size_t)all; /* an upper bound */
    }
    list->exponent = calloc((size_t)list->exponent_num + 1, sizeof *list->exponent);
    const size_t bytes = (rows * FMO_CPU_PRIM_FIELDS * sizeof *list->prim + 63) / 64 * 64;
    list->prim = aligned_alloc(64, bytes);
    list->bytes += bytes + (size_t)list->exponent_num * sizeof *list->exponent;
    good = list->exponent && list->prim;
    if (!good) goto done;
    memset(list->prim, 0, FMO_CPU_PRIM_FIELDS * sizeof *list->prim);
    rows = 1;
    for (int f = 0; f < list->family_num; f++) {
        fmo_cpu_family *family = &list->family[f];
        all = make_slots(basis, entries[family->begin].i, entries[family->begin].j, s->slots);
        for (int m = 0; m < all; m++) list->exponent[family->exponent + m] = s->slots[m].p;
        for (int n = family->begin; n < family->end; n++) {
            list->prim_begin[n] = rows;
            place_pair(basis, from, &entries[n], n, s->slots, all, s, list);
            rows += (size_t)list->count[n];
            if (list->count[n] > family->count_max) family->count_max = list->count[n];
        }
        if (family->count_max > list->count_max) list->count_max = family->count_max;
    }
    status = fmo_cpu_pairs_check(pair_class, (size_t)list->num, rows, err);
done:
    free(entries);
    return good ? status : FMO_ERR_MEMORY;
}

/* Frees all lists and clears the structure. */
void fmo_cpu_pairs_free(fmo_cpu_pairs *pairs)
{
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        fmo_cpu_pair_list *list = &pairs->list[c];
        free(list->family);
        free(list->exponent);
        free(list->family_of);
        free(list->i);
        free(list->j);
        free(list->ao_i);
        free(list->ao_j);
        free(list->count);
        free(list->kept);
        free(list->bound);
        free(list->prim_bounds);
        free(list->centre);
        free(list->AB);
        for (int x = 0; x < 3; x++) free(list->middle[x]);
        free(list->radius);
        free(list->spread);
        free(list->prim_begin);
        free(list->prim);
    }
    memset(pairs, 0, sizeof *pairs);
}

/* Makes the lists of all pair classes, with working memory for the longest contraction. */
fmo_status fmo_cpu_pairs_make(const fmo_basis *basis, const fmo_shell_pairs *pairs,
                              fmo_cpu_pairs *to, fmo_error *err)
{
    size_t prim_max = 1;
    for (int i = 0; i < basis->shell_num; i++)
        if ((size_t)basis->shell[i].prim_num > prim_max)
            prim_max = (size_t)basis->shell[i].prim_num;
    memset(to, 0, sizeof *to);
    int *exponent_set = malloc((size_t)basis->shell_num * sizeof *exponent_set);
    scratch s = {malloc(prim_max * prim_max * sizeof *s.slots),
                 malloc(prim_max * prim_max * FMO_PAIR_FIELDS * sizeof *s.prim),
                 malloc(prim_max * prim_max)};
    fmo_status status = exponent_set && s.slots && s.prim && s.kept ? FMO_OK : FMO_ERR_MEMORY;
    if (status == FMO_OK) exponent_sets(basis, exponent_set);
    for (int c = 0; status == FMO_OK && c < FMO_PAIR_CLASS_COUNT; c++) {
        status = make_list(basis, exponent_set, c, &pairs->list[c], &s, &to->list[c], err);
        to->bytes += to->list[c].bytes;
    }
    free(exponent_set);
    free(s.slots);
    free(s.prim);
    free(s.kept);
    if (status == FMO_OK) return FMO_OK;
    fmo_cpu_pairs_free(to);
    return fmo_error_set(err, status, "no memory for the shell pairs of %d shells",
                         basis->shell_num);
}
