/* Making shell pairs: prefactors, Schwarz bounds, pruning, sorting. */
#include "integrals/shell_pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pair_constant = 5.9149671727956128778; /* sqrt(2) pi^(5/4) */

/* Prefactors below this are not worth a look, whatever the threshold (unless it is 0). */
static const double prefactor_tiny = 1e-40;

static const fmo_eri_class diagonal_class[FMO_PAIR_CLASS_COUNT] = {
    [FMO_PAIR_SS] = FMO_ERI_SSSS, [FMO_PAIR_PS] = FMO_ERI_PSPS, [FMO_PAIR_PP] = FMO_ERI_PPPP};
static const int pair_ang_mom[FMO_PAIR_CLASS_COUNT][2] = {
    [FMO_PAIR_SS] = {0, 0}, [FMO_PAIR_PS] = {1, 0}, [FMO_PAIR_PP] = {1, 1}};

void fmo_shell_pair_primitives(const fmo_basis *basis, int i, int j, double *prim, double *AB)
{
    const fmo_shell *A = &basis->shell[i], *B = &basis->shell[j];
    double r2 = 0.0;
    for (int x = 0; x < 3; x++) {
        AB[x] = A->center[x] - B->center[x];
        r2 += AB[x] * AB[x];
    }
    for (int k = 0; k < A->prim_num; k++) {
        for (int l = 0; l < B->prim_num; l++, prim += FMO_PAIR_FIELDS) {
            const double a = basis->exponent[A->prim_begin + k];
            const double b = basis->exponent[B->prim_begin + l];
            const double p = a + b;
            prim[FMO_PAIR_P] = p;
            prim[FMO_PAIR_K] = basis->coefficient[A->prim_begin + k] *
                               basis->coefficient[B->prim_begin + l] * exp(-a * b / p * r2) *
                               (pair_constant / p);
            for (int x = 0; x < 3; x++) prim[FMO_PAIR_X + x] = -(b / p) * AB[x];
            prim[FMO_PAIR_HALF] = 0.5 / p;
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

void fmo_shell_pair_order(const fmo_basis *basis, int *i, int *j)
{
    const int li = basis->shell[*i].ang_mom, lj = basis->shell[*j].ang_mom;
    if (li > lj) return;
    if (li == lj && (li == 0 || largest_exponent(basis, *i) >= largest_exponent(basis, *j))) return;
    const int swap = *i;
    *i = *j;
    *j = swap;
}

static int same_exponents(const fmo_basis *basis, const fmo_shell *a, const fmo_shell *b)
{
    return a->nucleus == b->nucleus && a->prim_num == b->prim_num &&
           memcmp(basis->exponent + a->prim_begin, basis->exponent + b->prim_begin,
                  (size_t)a->prim_num * sizeof *basis->exponent) == 0;
}

void fmo_sp_partners(const fmo_basis *basis, int *partner)
{
    const int s_shells = basis->shell_num_l[0];
    for (int i = 0; i < basis->shell_num; i++) partner[i] = -1;
    for (int p = s_shells; p < basis->shell_num; p++) {
        for (int s = 0; s < s_shells && partner[p] < 0; s++) {
            if (partner[s] >= 0 || !same_exponents(basis, &basis->shell[p], &basis->shell[s]))
                continue;
            partner[p] = s;
            partner[s] = p;
        }
    }
}

/* sqrt(max_ab (ab|ab)) of a (possibly primitive) pair. */
static double schwarz_bound(fmo_pair_class pair_class, const fmo_pair_view *pair)
{
    double eri[FMO_ERI_MAX], largest = 0.0;
    const int n = (2 * pair_ang_mom[pair_class][0] + 1) * (2 * pair_ang_mom[pair_class][1] + 1);
    fmo_eri_quartet(diagonal_class[pair_class], pair, pair, eri);
    for (int ab = 0; ab < n; ab++) largest = fmax(largest, eri[ab * n + ab]);
    return sqrt(largest);
}

typedef struct prim_key {
    double bound;
    int index;
} prim_key;

static int by_bound_descending(const void *x, const void *y)
{
    const prim_key *a = x, *b = y;
    if (a->bound != b->bound) return a->bound < b->bound ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

/* What the pairs are made from. */
typedef struct pair_source {
    const fmo_basis *basis;
    const int *partner; /* NULL: no sp pairs */
    double threshold;
    int prim_max, threads;
} pair_source;

/* Work space of one thread: the primitive pairs of one shell pair. */
typedef struct scratch {
    double *prim, *ratio, AB[3];
    double *kept, *kept_ratio, *kept_bound;
    prim_key *key;
} scratch;

/* The s shell whose pair with s shell j the pair (p_i s_j) carries along, or -1. */
static int carried_shell(const pair_source *source, fmo_pair_class pair_class, int i, int j)
{
    if (!source->partner || pair_class != FMO_PAIR_PS) return -1;
    return source->partner[j] > i ? -1 : source->partner[i];
}

/* Is (s_i s_j) carried by a ps pair? */
static int is_carried(const pair_source *source, fmo_pair_class pair_class, int i, int j)
{
    return source->partner && pair_class == FMO_PAIR_SS &&
           (source->partner[i] >= 0 || source->partner[j] >= 0);
}

/* Bound of n primitives with their ratios, as a pair. */
static double pair_bound(fmo_pair_class pair_class, const double *center, const double *AB, int n,
                         const double *prim, const double *ratio)
{
    const fmo_pair_view view = {n, prim, AB, center};
    double bound = schwarz_bound(pair_class, &view), carried = 0.0;
    int any = 0;
    for (int m = 0; m < n; m++) any |= ratio[m] != 0.0;
    if (!any) return bound;
    for (int b = 0; b < n; b++) {
        for (int k = 0; k < n; k++) {
            const fmo_pair_view bra = {1, prim + b * FMO_PAIR_FIELDS, AB, center};
            const fmo_pair_view ket = {1, prim + k * FMO_PAIR_FIELDS, AB, center};
            double eri;
            fmo_eri_quartet(FMO_ERI_SSSS, &bra, &ket, &eri);
            carried += ratio[b] * ratio[k] * eri;
        }
    }
    return fmax(bound, sqrt(fmax(carried, 0.0)));
}

double fmo_shell_pair_part_bound(const fmo_basis *basis, fmo_pair_class pair_class,
                                 const fmo_pair_list *list, int n, int begin, int num)
{
    const int64_t at = list->begin[n] + begin;
    return pair_bound(pair_class, basis->shell[list->i[n]].center, list->AB + 3 * (size_t)n, num,
                      list->prim + at * FMO_PAIR_FIELDS, list->ratio + at);
}

/* Fill s with pair (i,j); returns how many primitive pairs stay, in s->kept..., largest first. */
static int prune_pair(const pair_source *source, fmo_pair_class pair_class, int i, int j,
                      scratch *s)
{
    const fmo_basis *basis = source->basis;
    const fmo_shell *A = &basis->shell[i], *B = &basis->shell[j];
    const int n = A->prim_num * B->prim_num, carried = carried_shell(source, pair_class, i, j);
    int kept = 0;
    fmo_shell_pair_primitives(basis, i, j, s->prim, s->AB);
    for (int m = 0; m < n; m++) {
        const int k = m / B->prim_num;
        s->ratio[m] = carried < 0 ? 0.0
                                  : basis->coefficient[basis->shell[carried].prim_begin + k] /
                                        basis->coefficient[A->prim_begin + k];
    }
    for (int m = 0; m < n; m++) {
        const double *prim = s->prim + m * FMO_PAIR_FIELDS;
        if (source->threshold > 0.0 && fabs(prim[FMO_PAIR_K]) < prefactor_tiny) continue;
        const double bound = pair_bound(pair_class, A->center, s->AB, 1, prim, s->ratio + m);
        if (bound < source->threshold) continue;
        s->key[kept++] = (prim_key){bound, m};
    }
    qsort(s->key, (size_t)kept, sizeof *s->key, by_bound_descending);
    for (int m = 0; m < kept; m++) {
        memcpy(s->kept + m * FMO_PAIR_FIELDS, s->prim + s->key[m].index * FMO_PAIR_FIELDS,
               FMO_PAIR_FIELDS * sizeof *s->kept);
        s->kept_ratio[m] = s->ratio[s->key[m].index];
        s->kept_bound[m] = s->key[m].bound;
    }
    return kept;
}

static void scratch_free(scratch *s)
{
    free(s->prim);
    free(s->ratio);
    free(s->kept);
    free(s->kept_ratio);
    free(s->kept_bound);
    free(s->key);
}

static int scratch_alloc(scratch *s, int prim_max)
{
    const size_t n = (size_t)prim_max * (size_t)prim_max;
    s->prim = malloc(n * FMO_PAIR_FIELDS * sizeof *s->prim);
    s->ratio = malloc(n * sizeof *s->ratio);
    s->kept = malloc(n * FMO_PAIR_FIELDS * sizeof *s->kept);
    s->kept_ratio = malloc(n * sizeof *s->kept_ratio);
    s->kept_bound = malloc(n * sizeof *s->kept_bound);
    s->key = malloc(n * sizeof *s->key);
    return s->prim && s->ratio && s->kept && s->kept_ratio && s->kept_bound && s->key;
}

/* A pair before sorting. */
typedef struct candidate {
    double bound;
    int i, j, prim_num;
} candidate;

static int by_candidate(const void *x, const void *y)
{
    const candidate *a = x, *b = y;
    if (a->bound != b->bound) return a->bound < b->bound ? 1 : -1;
    if (a->i != b->i) return a->i < b->i ? -1 : 1;
    return (a->j > b->j) - (a->j < b->j);
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

static fmo_status make_list(const pair_source *source, fmo_pair_class pair_class,
                            fmo_pair_list *list, fmo_error *err)
{
    const fmo_basis *basis = source->basis;
    const int prim_max = source->prim_max, threads = source->threads;
    const int li = pair_ang_mom[pair_class][0], lj = pair_ang_mom[pair_class][1];
    const int ni = basis->shell_num_l[li], nj = basis->shell_num_l[lj];
    const int i0 = li ? basis->shell_num_l[0] : 0, j0 = lj ? basis->shell_num_l[0] : 0;
    fmo_status status = FMO_OK;
    int failed = 0;
    list->all = li == lj ? (int64_t)ni * (ni + 1) / 2 : (int64_t)ni * nj;
    candidate *all = malloc((size_t)(list->all + 1) * sizeof *all);
    if (!all) failed = 1;

        /* Bounds and counts first, then the sorted list is filled. */
#pragma omp parallel num_threads(threads) if (!failed)
    {
        scratch s = {0};
        if (!failed && !scratch_alloc(&s, prim_max)) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp barrier
#pragma omp for schedule(dynamic, 4)
        for (int a = 0; a < ni; a++) {
            if (failed) continue;
            const int b_end = li == lj ? a + 1 : nj;
            candidate *row = all + (li == lj ? (int64_t)a * (a + 1) / 2 : (int64_t)a * nj);
            for (int b = 0; b < b_end; b++) {
                int i = i0 + a, j = j0 + b;
                fmo_shell_pair_order(basis, &i, &j);
                const int kept = is_carried(source, pair_class, i, j)
                                     ? 0
                                     : prune_pair(source, pair_class, i, j, &s);
                row[b] = (candidate){kept ? pair_bound(pair_class, basis->shell[i].center, s.AB,
                                                       kept, s.kept, s.kept_ratio)
                                          : 0.0,
                                     i, j, kept};
            }
        }
        scratch_free(&s);
    }
    if (!failed) {
        for (int64_t n = 0; n < list->all; n++)
            if (all[n].prim_num) all[list->num++] = all[n];
        qsort(all, (size_t)list->num, sizeof *all, by_candidate);
        for (int n = 0; n < list->num; n++) {
            list->prim_num += all[n].prim_num;
            if (all[n].prim_num > list->prim_max) list->prim_max = all[n].prim_num;
        }
        failed = !list_alloc(list);
    }
    if (!failed) {
        list->begin[0] = 0;
        for (int n = 0; n < list->num; n++) {
            list->i[n] = all[n].i;
            list->j[n] = all[n].j;
            list->bound[n] = all[n].bound;
            list->begin[n + 1] = list->begin[n] + all[n].prim_num;
        }
#pragma omp parallel num_threads(threads)
        {
            scratch s = {0};
            if (!scratch_alloc(&s, prim_max)) {
#pragma omp atomic write
                failed = 1;
            }
#pragma omp barrier
#pragma omp for schedule(dynamic, 64)
            for (int n = 0; n < list->num; n++) {
                if (failed) continue;
                const int64_t at = list->begin[n];
                const size_t kept =
                    (size_t)prune_pair(source, pair_class, list->i[n], list->j[n], &s);
                memcpy(list->prim + at * FMO_PAIR_FIELDS, s.kept,
                       kept * FMO_PAIR_FIELDS * sizeof *s.kept);
                memcpy(list->ratio + at, s.kept_ratio, kept * sizeof *s.kept_ratio);
                memcpy(list->prim_bound + at, s.kept_bound, kept * sizeof *s.kept_bound);
                memcpy(list->AB + 3 * (size_t)n, s.AB, sizeof s.AB);
            }
            scratch_free(&s);
        }
    }
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

static fmo_status make_pairs(const fmo_basis *basis, const int *partner, double prune, int threads,
                             fmo_shell_pairs *pairs, fmo_error *err)
{
    fmo_status status = FMO_OK;
    int prim_max = 1;
    memset(pairs, 0, sizeof *pairs);
    pairs->sp = partner != NULL;
    pairs->prune = prune;
    for (int s = 0; s < basis->shell_num; s++)
        if (basis->shell[s].prim_num > prim_max) prim_max = basis->shell[s].prim_num;

    scratch s = {0};
    if (!scratch_alloc(&s, prim_max)) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d primitive pairs of a shell",
                               prim_max);
        goto done;
    }
    for (int i = 0; i < basis->shell_num; i++) {
        const fmo_pair_class pair_class = basis->shell[i].ang_mom ? FMO_PAIR_PP : FMO_PAIR_SS;
        const pair_source whole = {basis, NULL, 0.0, prim_max, threads};
        const int n = prune_pair(&whole, pair_class, i, i, &s);
        const fmo_pair_view view = {n, s.kept, s.AB, basis->shell[i].center};
        const double bound = schwarz_bound(pair_class, &view);
        if (!(bound <= pairs->scale)) pairs->scale = bound; /* NaN stays */
    }
    if (!(pairs->scale > 0.0 && isfinite(pairs->scale))) {
        status = fmo_error_set(err, FMO_ERR_INPUT,
                               "the largest self-repulsion of a shell is %g hartree^(1/2): check "
                               "basis/coefficient, basis/prim_factor, basis/shell_factor and "
                               "ao/normalization",
                               pairs->scale);
        goto done;
    }
    const pair_source source = {basis, partner, prune > 0.0 ? prune / pairs->scale : 0.0, prim_max,
                                threads};
    for (int c = 0; status == FMO_OK && c < FMO_PAIR_CLASS_COUNT; c++)
        status = make_list(&source, (fmo_pair_class)c, &pairs->list[c], err);
done:
    scratch_free(&s);
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
