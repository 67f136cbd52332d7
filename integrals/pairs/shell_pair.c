/* Makes shell pairs: prefactors, Schwarz bounds, pruning, sorting. See shell_pair.h. */
#include "integrals/pairs/shell_pair.h"

#include "base/threads.h"
#include "integrals/pairs/key_sort.h"
#include "integrals/pairs/prim_bound.h"
#include "integrals/pairs/prim_pair.h"
#include "integrals/tuning.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Computes AB = A - B; returns its square. */
static double shell_distance(const fmo_basis *basis, int i, int j, double *AB)
{
    double r2 = 0.0;
    for (int x = 0; x < 3; x++) {
        AB[x] = basis->shell[i].centre[x] - basis->shell[j].centre[x];
        r2 += AB[x] * AB[x];
    }
    return r2;
}

void fmo_shell_pair_primitives(const fmo_basis *basis, int i, int j, double *prim, double *AB)
{
    const fmo_shell *A = &basis->shell[i], *B = &basis->shell[j];
    const double r2 = shell_distance(basis, i, j, AB);
    for (int k = 0; k < A->prim_num; k++) {
        for (int l = 0; l < B->prim_num; l++, prim += FMO_PAIR_FIELDS) {
            const double a = basis->exponent[A->prim_begin + k];
            const double b = basis->exponent[B->prim_begin + l];
            fmo_prim_pair_make(a, b, basis->coefficient[A->prim_begin + k],
                               basis->coefficient[B->prim_begin + l],
                               exp(fmo_prim_pair_decay(a, b, r2)), AB, prim);
        }
    }
}

static double largest_exponent(const fmo_basis *basis, int s)
{
    const fmo_shell *shell = &basis->shell[s];
    double largest = 0.0;
    for (int k = 0; k < shell->prim_num; k++)
        largest = fmax(largest, basis->exponent[shell->prim_begin + k]);
    return largest;
}

static double smallest_exponent(const fmo_basis *basis, int s)
{
    const fmo_shell *shell = &basis->shell[s];
    double smallest = basis->exponent[shell->prim_begin];
    for (int k = 1; k < shell->prim_num; k++) {
        const double exponent = basis->exponent[shell->prim_begin + k];
        if (exponent < smallest) smallest = exponent;
    }
    return smallest;
}

void fmo_shell_pair_order(const fmo_basis *basis, int *i, int *j)
{
    const int li = basis->shell[*i].ang_mom, lj = basis->shell[*j].ang_mom;
    if (li > lj) return;
    if (li == lj && (lj == 0 || largest_exponent(basis, *i) >= largest_exponent(basis, *j))) return;
    const int swap = *i;
    *i = *j;
    *j = swap;
}

/* sqrt(max_ab (ab|ab)) of n primitives. Integrals of primitives b and k are symmetric, so kets run
 * up to the bra: terms with b = k are halved and all are doubled. prim is modified and restored;
 * eri: working memory for the integrals of the pair with itself. */
static double schwarz_bound_in(fmo_pair_class pair_class, const double *centre, const double *AB,
                               int n, double *prim, double *eri)
{
    const fmo_eri_class diagonal = (fmo_eri_class)fmo_eri_class_of(pair_class, pair_class);
    const int size = fmo_pair_products(pair_class, 0);
    double sum[FMO_PAIR_PRODUCTS_MAX] = {0}, largest = 0.0;
    for (int m = 0; m < n; m++) {
        double twice[FMO_PAIR_FIELDS];
        double *const own = prim + m * FMO_PAIR_FIELDS;
        const fmo_pair_view bra = {1, twice, AB, centre};
        const fmo_pair_view kets = {m + 1, prim, AB, centre};
        memcpy(twice, own, sizeof twice);
        twice[FMO_PAIR_K] *= 2.0;
        own[FMO_PAIR_K] *= 0.5;
        fmo_eri_quartet(diagonal, &bra, &kets, eri);
        own[FMO_PAIR_K] *= 2.0;
        for (int ab = 0; ab < size; ab++) sum[ab] += eri[ab * size + ab];
    }
    for (int ab = 0; ab < size; ab++) largest = fmax(largest, sum[ab]);
    return sqrt(largest);
}

/* The same with memory on the stack, of which a class takes what its integrals need. */
#define ROW(P, name, li, lj, partner)                                                              \
    __attribute__((noinline)) static double schwarz_##name(const double *centre, const double *AB, \
                                                           int n, double *prim)                    \
    {                                                                                              \
        enum { PRODUCTS = FMO_CARTESIAN(li) * FMO_CARTESIAN(lj) };                                 \
        double eri[PRODUCTS * PRODUCTS];                                                           \
        return schwarz_bound_in(FMO_PAIR_##P, centre, AB, n, prim, eri);                           \
    }
FMO_PAIR_TABLE(ROW)
#undef ROW
static double schwarz_bound(fmo_pair_class pair_class, const double *centre, const double *AB,
                            int n, double *prim)
{
    static double (*const of[])(const double *, const double *, int, double *) = {
#define ROW(P, name, li, lj, partner) schwarz_##name,
        FMO_PAIR_TABLE(ROW)
#undef ROW
    };
    return of[pair_class](centre, AB, n, prim);
}

/* The same for one primitive, in closed form. */
static double prim_bound(fmo_pair_class pair_class, const double *AB, const double *prim)
{
    switch (pair_class) {
#define ROW(P, name, li, lj, partner) \
    case FMO_PAIR_##P:                \
        return fmo_prim_bound_##name(AB, prim);
        FMO_PAIR_TABLE(ROW)
#undef ROW
    default:
        return 0.0;
    }
}

/* Input for making pairs. */
typedef struct pair_source {
    const fmo_basis *basis;
    const int *partner; /* NULL: no sp pairs */
    double threshold;
    int prim_max, threads;
} pair_source;

/* A primitive pair that passed pruning. */
typedef struct kept_prim {
    double prim[FMO_PAIR_FIELDS], ratio, bound;
} kept_prim;

/* Workspace of one thread: the primitive pairs of one shell pair, [prim_max * prim_max]. */
typedef struct scratch {
    double AB[3];
    double *prim, *work; /* prim: all primitive pairs, later the remaining ones; work: for
                            pair_bound */
    kept_prim *kept;
} scratch;

/* Returns the partner of shell i whose pair with shell j the pair (ij) includes, or -1. */
static int included_shell(const pair_source *source, fmo_pair_class pair_class, int i, int j)
{
    if (!source->partner || fmo_pair_partner(pair_class) == FMO_PAIR_NONE) return -1;
    return source->partner[j] > i ? -1 : source->partner[i];
}

/* Returns 1 if a pair is included in a pair of a partner of i or j. */
static int is_included(const pair_source *source, fmo_pair_class pair_class, int i, int j)
{
    return source->partner && fmo_pair_including(pair_class) != FMO_PAIR_NONE &&
           (source->partner[i] >= 0 || source->partner[j] >= 0);
}

/* Bound of n primitives with their ratios (every stride-th) as a pair. The included pair is a pair
 * of the partner class whose prefactors are multiplied by the ratios. prim is modified and
 * restored; work has the size of prim. */
static double pair_bound(fmo_pair_class pair_class, const double *centre, const double *AB, int n,
                         double *prim, const double *ratio, size_t stride, double *work)
{
    const double bound = schwarz_bound(pair_class, centre, AB, n, prim);
    int any = 0;
    for (int m = 0; m < n; m++) any |= ratio[(size_t)m * stride] != 0.0;
    if (!any) return bound;
    memcpy(work, prim, (size_t)n * FMO_PAIR_FIELDS * sizeof *work);
    for (int m = 0; m < n; m++) work[m * FMO_PAIR_FIELDS + FMO_PAIR_K] *= ratio[(size_t)m * stride];
    const fmo_pair_class included = (fmo_pair_class)fmo_pair_partner(pair_class);
    return fmax(bound, schwarz_bound(included, centre, AB, n, work));
}

double fmo_shell_pair_segment_bound(const fmo_basis *basis, fmo_pair_class pair_class,
                                    const fmo_pair_list *list, int n, int begin, int num)
{
    const int64_t at = list->begin[n] + begin;
    double prim[FMO_PAIR_PART_MAX * FMO_PAIR_FIELDS], work[FMO_PAIR_PART_MAX * FMO_PAIR_FIELDS];
    memcpy(prim, list->prim + at * FMO_PAIR_FIELDS, (size_t)num * FMO_PAIR_FIELDS * sizeof *prim);
    return pair_bound(pair_class, basis->shell[list->i[n]].centre, list->AB + 3 * (size_t)n, num,
                      prim, list->ratio + at, 1, work);
}

/* Makes the primitive pairs of pair (i,j) and prunes them. Returns the number that remain, in
 * s->kept, in descending order of bounds. */
static int prune_pair(const pair_source *source, fmo_pair_class pair_class, int i, int j,
                      scratch *s)
{
    const fmo_basis *basis = source->basis;
    const fmo_shell *A = &basis->shell[i], *B = &basis->shell[j];
    const int n = A->prim_num * B->prim_num, included = included_shell(source, pair_class, i, j);
    const fmo_pair_class partner_class = (fmo_pair_class)fmo_pair_partner(pair_class);
    int kept = 0;
    if (source->threshold > 0.0) {
        const double a = smallest_exponent(basis, i), b = smallest_exponent(basis, j);
        if (a * b / (a + b) * shell_distance(basis, i, j, s->AB) > FMO_PAIR_DECAY_MAX) return 0;
    }
    fmo_shell_pair_primitives(basis, i, j, s->prim, s->AB);
    for (int m = 0; m < n; m++) {
        const double *const prim = s->prim + m * FMO_PAIR_FIELDS;
        const int k = m / B->prim_num;
        double ratio = 0.0;
        if (included >= 0)
            ratio = basis->coefficient[basis->shell[included].prim_begin + k] /
                    basis->coefficient[A->prim_begin + k];
        if (source->threshold > 0.0 && fabs(prim[FMO_PAIR_K]) < FMO_PAIR_TINY) continue;
        double bound = prim_bound(pair_class, s->AB, prim);
        if (ratio != 0.0) bound = fmax(bound, fabs(ratio) * prim_bound(partner_class, s->AB, prim));
        if (bound < source->threshold) continue;
        int at = kept++; /* insertion in descending order; equal ones keep their order */
        for (; at > 0 && s->kept[at - 1].bound < bound; at--) s->kept[at] = s->kept[at - 1];
        memcpy(s->kept[at].prim, prim, sizeof s->kept[at].prim);
        s->kept[at].ratio = ratio;
        s->kept[at].bound = bound;
    }
    return kept;
}

/* The bound of the pair in s->kept. For pairs with d shells and one primitive it is the closed
 * form, since all integrals of the pair with itself take 100 times as long. For other pairs the
 * calculation is the GPU's (gpu/pairs/make.cu), to give the same bits. */
static double kept_bound(fmo_pair_class pair_class, const double *centre, int kept, scratch *s)
{
    if (kept == 1 && (int)pair_class >= FMO_PAIR_LOW_L_COUNT) return s->kept[0].bound;
    for (int m = 0; m < kept; m++)
        memcpy(s->prim + m * FMO_PAIR_FIELDS, s->kept[m].prim, sizeof s->kept[m].prim);
    return pair_bound(pair_class, centre, s->AB, kept, s->prim, &s->kept->ratio,
                      sizeof *s->kept / sizeof s->kept->ratio, s->work);
}

static void scratch_free(scratch *s)
{
    free(s->prim);
    free(s->work);
    free(s->kept);
}

static int scratch_alloc(scratch *s, int prim_max)
{
    const size_t n = (size_t)prim_max * (size_t)prim_max;
    s->prim = malloc(n * FMO_PAIR_FIELDS * sizeof *s->prim);
    s->work = malloc(n * FMO_PAIR_FIELDS * sizeof *s->work);
    s->kept = malloc(n * sizeof *s->kept);
    return s->prim && s->work && s->kept;
}

/* The remaining primitive pairs of all shell pairs of one thread, consecutively. */
typedef struct kept_prims {
    kept_prim *prim;
    size_t used, capacity;
} kept_prims;

/* Appends n primitive pairs; returns 0 if there is no memory. */
static int keep_prims(kept_prims *st, const kept_prim *prim, int n)
{
    if (st->used + (size_t)n > st->capacity) {
        const size_t capacity = 2 * st->capacity + (size_t)n + 256;
        kept_prim *more = realloc(st->prim, capacity * sizeof *more);
        if (!more) return 0;
        st->prim = more;
        st->capacity = capacity;
    }
    memcpy(st->prim + st->used, prim, (size_t)n * sizeof *prim);
    st->used += (size_t)n;
    return 1;
}

/* A pair before sorting; its primitive pairs are number `at` and following of `thread`. */
typedef struct candidate {
    double bound;
    size_t at;
    int i, j, prim_num, thread;
} candidate;

static int shells_before(const candidate *a, const candidate *b)
{
    return a->i != b->i ? a->i < b->i : a->j < b->j;
}

/* Sets order[num] by descending bounds, for equal bounds by shells. Returns 0 if there is no
 * memory. */
static int sort_candidates(const candidate *all, size_t num, uint32_t *order)
{
    uint64_t *const key = malloc((num + 1) * sizeof *key);
    if (!key) return 0;
    for (size_t n = 0; n < num; n++) { /* bounds are not negative, so their bits have the same order
                                        */
        memcpy(&key[n], &all[n].bound, sizeof key[n]);
        key[n] = ~key[n];
    }
    const int done = fmo_sort_keys(key, num, order);
    free(key);
    for (size_t n = 1; n < num && done; n++) {
        const uint32_t own = order[n];
        size_t at = n;
        for (; at > 0 && all[order[at - 1]].bound == all[own].bound &&
               shells_before(&all[own], &all[order[at - 1]]);
             at--)
            order[at] = order[at - 1];
        order[at] = own;
    }
    return done;
}

static int list_alloc(fmo_pair_list *list)
{
    const size_t n = (size_t)list->num + 1;
    list->i = malloc(n * sizeof *list->i);
    list->j = malloc(n * sizeof *list->j);
    list->bound = malloc(n * sizeof *list->bound);
    list->AB = malloc(3 * n * sizeof *list->AB);
    list->begin = malloc(n * sizeof *list->begin);
    const size_t prims = (size_t)list->prim_num + 1;
    list->prim = malloc(prims * FMO_PAIR_FIELDS * sizeof *list->prim);
    list->prim_bound = malloc(prims * sizeof *list->prim_bound);
    list->ratio = malloc(prims * sizeof *list->ratio);
    return list->i && list->j && list->bound && list->AB && list->begin && list->prim &&
           list->prim_bound && list->ratio;
}

/* Returns how many threads shorten the making of the pairs of a class: one more for every
 * fmo_tuning_pair_thread_prims primitive pairs, which count more with d shells. */
static int useful_threads(const pair_source *source, int li, int lj)
{
    const fmo_basis *basis = source->basis;
    double prims[FMO_SHELL_KIND_COUNT] = {0.0};
    for (int s = 0; s < basis->shell_num; s++)
        prims[basis->shell[s].ang_mom] += basis->shell[s].prim_num;
    const int products = fmo_shell_functions(li) * fmo_shell_functions(lj);
    const double weight = li < FMO_SHELL_LOW_L_COUNT ? 1.0 : products * sqrt(products);
    const double all = weight * prims[li] * prims[lj] * (li == lj ? 0.5 : 1.0);
    return (int)fmin(source->threads, 1.0 + all / fmo_tuning_pair_thread_prims);
}

/* Pairs of a class being made by a team of threads. */
typedef struct finding {
    const pair_source *source;
    fmo_pair_class pair_class;
    int i0, ni, j0, nj, same; /* its ranges of shells; same: both shells are of one kind */
    candidate *all;           /* all pairs of the class */
    kept_prims *kept_by;      /* [threads] */
    int failed;
} finding;

/* Executed by each thread of the team: prunes pairs, row by row. */
static void find_pairs(finding *f)
{
    const pair_source *const source = f->source;
    const fmo_basis *const basis = source->basis;
    const int thread = omp_get_thread_num();
    scratch s = {0};
    if (!scratch_alloc(&s, source->prim_max)) {
#pragma omp atomic write
        f->failed = 1;
    }
#pragma omp barrier
#pragma omp for schedule(dynamic)
    for (int a = 0; a < f->ni; a++) {
        int stop;
#pragma omp atomic read
        stop = f->failed;
        if (stop) continue;
        const int b_end = f->same ? a + 1 : f->nj;
        candidate *row = f->all + (f->same ? (int64_t)a * (a + 1) / 2 : (int64_t)a * f->nj);
        for (int b = 0; b < b_end; b++) {
            int i = f->i0 + a, j = f->j0 + b;
            fmo_shell_pair_order(basis, &i, &j);
            const int kept = is_included(source, f->pair_class, i, j)
                                 ? 0
                                 : prune_pair(source, f->pair_class, i, j, &s);
            row[b] = (candidate){0.0, f->kept_by[thread].used, i, j, kept, thread};
            if (!kept) continue;
            row[b].bound = kept_bound(f->pair_class, basis->shell[i].centre, kept, &s);
            if (!keep_prims(&f->kept_by[thread], s.kept, kept)) {
#pragma omp atomic write
                f->failed = 1;
                break;
            }
        }
    }
    scratch_free(&s);
}

/* Makes the list of one pair class: prunes all pairs in parallel, sorts them by bound, and copies
 * the remaining ones into the list. */
static fmo_status make_list(const pair_source *source, fmo_pair_class pair_class,
                            fmo_pair_list *list, fmo_error *err)
{
    const fmo_basis *basis = source->basis;
    const int li = fmo_pair_ang_mom(pair_class, 0), lj = fmo_pair_ang_mom(pair_class, 1);
    const int ni = basis->shell_num_l[li], nj = basis->shell_num_l[lj];
    const int i0 = fmo_basis_shell_begin(basis, li), j0 = fmo_basis_shell_begin(basis, lj);
    fmo_status status = FMO_OK;
    int failed = 0;
    const int threads = useful_threads(source, li, lj);
    candidate *all = malloc((size_t)(list->all + 1) * sizeof *all);
    kept_prims *kept_by = calloc((size_t)threads, sizeof *kept_by);
    uint32_t *order = NULL;
    if (!all || !kept_by) failed = 1;

    /* Finds the remaining pairs first, then fills the list in sorted order. */
    finding f = {source, pair_class, i0, ni, j0, nj, li == lj, all, kept_by, failed};
    if (failed) {
    } else if (fmo_threads_alone(threads)) {
        find_pairs(&f);
    } else {
#pragma omp parallel num_threads(threads)
        find_pairs(&f);
    }
    failed = f.failed;
    if (!failed) {
        for (int64_t n = 0; n < list->all; n++)
            if (all[n].prim_num) all[list->num++] = all[n];
        order = malloc(((size_t)list->num + 1) * sizeof *order);
        failed = !order || !sort_candidates(all, (size_t)list->num, order);
        for (int n = 0; n < list->num; n++) {
            list->prim_num += all[n].prim_num;
            if (all[n].prim_num > list->prim_max) list->prim_max = all[n].prim_num;
        }
        failed = failed || !list_alloc(list);
    }
    if (!failed) {
        int64_t at = 0;
        for (int n = 0; n < list->num; n++) {
            const candidate *c = &all[order[n]];
            const kept_prim *kept = kept_by[c->thread].prim + c->at;
            list->i[n] = c->i;
            list->j[n] = c->j;
            list->bound[n] = c->bound;
            list->begin[n] = at;
            shell_distance(basis, c->i, c->j, list->AB + 3 * (size_t)n);
            for (int m = 0; m < c->prim_num; m++, at++) {
                memcpy(list->prim + at * FMO_PAIR_FIELDS, kept[m].prim, sizeof kept[m].prim);
                list->ratio[at] = kept[m].ratio;
                list->prim_bound[at] = kept[m].bound;
            }
        }
        list->begin[list->num] = at;
    }
    for (int t = 0; kept_by && t < threads; t++) free(kept_by[t].prim);
    free(kept_by);
    free(order);
    if (failed)
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %lld shell pairs",
                               (long long)list->all);
    free(all);
    return status;
}

void fmo_shell_pairs_free(fmo_shell_pairs *pairs)
{
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        fmo_pair_list *list = &pairs->list[c];
        free(list->i);
        free(list->j);
        free(list->bound);
        free(list->AB);
        free(list->begin);
        free(list->prim);
        free(list->prim_bound);
        free(list->ratio);
    }
    memset(pairs, 0, sizeof *pairs);
}

static int longest_shell(const fmo_basis *basis)
{
    int prim_max = 1;
    for (int s = 0; s < basis->shell_num; s++)
        if (basis->shell[s].prim_num > prim_max) prim_max = basis->shell[s].prim_num;
    return prim_max;
}

/* Returns 1 if two shells have the same exponents and coefficients, and so the same bound. */
static int same_shell(const fmo_basis *basis, const fmo_shell *a, const fmo_shell *b)
{
    const size_t bytes = (size_t)a->prim_num * sizeof *basis->exponent;
    return a->ang_mom == b->ang_mom && a->prim_num == b->prim_num &&
           memcmp(basis->exponent + a->prim_begin, basis->exponent + b->prim_begin, bytes) == 0 &&
           memcmp(basis->coefficient + a->prim_begin, basis->coefficient + b->prim_begin, bytes) ==
               0;
}

/* Finds the largest Schwarz bound of a shell with itself. */
static fmo_status find_scale(const fmo_basis *basis, int prim_max, double *scale, fmo_error *err)
{
    enum { KNOWN_MAX = 64 }; /* further kinds of shells are computed each time */
    int known[KNOWN_MAX], known_num = 0;
    scratch s = {0};
    if (!scratch_alloc(&s, prim_max)) {
        scratch_free(&s);
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d primitive pairs of a shell",
                             prim_max);
    }
    for (int i = 0; i < basis->shell_num; i++) {
        const int l = basis->shell[i].ang_mom;
        const fmo_pair_class pair_class = (fmo_pair_class)fmo_pair_class_of(l, l);
        const pair_source whole = {basis, NULL, 0.0, prim_max, 1};
        int k = known_num - 1;
        while (k >= 0 && !same_shell(basis, &basis->shell[i], &basis->shell[known[k]])) k--;
        if (k >= 0) continue;
        if (known_num < KNOWN_MAX) known[known_num++] = i;
        const int n = prune_pair(&whole, pair_class, i, i, &s);
        const double bound = kept_bound(pair_class, basis->shell[i].centre, n, &s);
        if (!(bound <= *scale)) *scale = bound; /* also if it is NaN */
    }
    scratch_free(&s);
    if (*scale > 0.0 && isfinite(*scale)) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_INPUT,
                         "the largest self-repulsion of a shell is %g hartree^(1/2): check "
                         "basis/coefficient, basis/prim_factor, basis/shell_factor and "
                         "ao/normalization",
                         *scale);
}

/* Initialises everything but the lists. */
static fmo_status begin_pairs(const fmo_basis *basis, int sp, double prune, fmo_shell_pairs *pairs,
                              fmo_error *err)
{
    memset(pairs, 0, sizeof *pairs);
    pairs->sp = sp;
    pairs->prune = prune;
    for (int c = 0; c < FMO_PAIR_CLASS_COUNT; c++) {
        const int64_t ni = basis->shell_num_l[fmo_pair_ang_mom(c, 0)];
        const int64_t nj = basis->shell_num_l[fmo_pair_ang_mom(c, 1)];
        pairs->list[c].all =
            fmo_pair_ang_mom(c, 0) == fmo_pair_ang_mom(c, 1) ? ni * (ni + 1) / 2 : ni * nj;
    }
    return find_scale(basis, longest_shell(basis), &pairs->scale, err);
}

fmo_status fmo_sp_pairs_begin(const fmo_basis *basis, double prune, fmo_shell_pairs *pairs,
                              fmo_error *err)
{
    return begin_pairs(basis, 1, prune, pairs, err);
}

static fmo_status make_pairs(const fmo_basis *basis, const int *partner, double prune, int threads,
                             fmo_shell_pairs *pairs, fmo_error *err)
{
    const int prim_max = longest_shell(basis);
    fmo_status status = begin_pairs(basis, partner != NULL, prune, pairs, err);
    const pair_source source = {basis, partner, fmo_shell_pairs_threshold(pairs), prim_max,
                                threads};
    for (int c = 0; status == FMO_OK && c < FMO_PAIR_CLASS_COUNT; c++)
        status = make_list(&source, (fmo_pair_class)c, &pairs->list[c], err);
    if (status != FMO_OK) fmo_shell_pairs_free(pairs);
    return status;
}

fmo_status fmo_shell_pairs_make(const fmo_basis *basis, double prune, int threads,
                                fmo_shell_pairs *pairs, fmo_error *err)
{
    return make_pairs(basis, NULL, prune, threads, pairs, err);
}

fmo_status fmo_sp_pairs_make(const fmo_basis *basis, double prune, int threads,
                             fmo_shell_pairs *pairs, fmo_error *err)
{
    int *partner = malloc((size_t)basis->shell_num * sizeof *partner);
    memset(pairs, 0, sizeof *pairs);
    if (!partner)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d shells", basis->shell_num);
    fmo_sp_partners(basis, partner);
    const fmo_status status = make_pairs(basis, partner, prune, threads, pairs, err);
    free(partner);
    return status;
}
