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

/* Work space of one thread: the primitive pairs of one shell pair. */
typedef struct scratch {
    double *prim, AB[3];
    double *kept;
    prim_key *key;
} scratch;

/* Fill s with pair (i,j); returns how many primitive pairs stay, in s->kept, largest first. */
static int prune_pair(const fmo_basis *basis, fmo_pair_class pair_class, int i, int j,
                      double threshold, scratch *s)
{
    const int n = basis->shell[i].prim_num * basis->shell[j].prim_num;
    int kept = 0;
    fmo_shell_pair_primitives(basis, i, j, s->prim, s->AB);
    for (int m = 0; m < n; m++) {
        const double *prim = s->prim + m * FMO_PAIR_FIELDS;
        if (threshold > 0.0 && fabs(prim[FMO_PAIR_K]) < prefactor_tiny) continue;
        const fmo_pair_view view = {1, prim, s->AB, basis->shell[i].center};
        const double bound = schwarz_bound(pair_class, &view);
        if (bound < threshold) continue;
        s->key[kept++] = (prim_key){bound, m};
    }
    qsort(s->key, (size_t)kept, sizeof *s->key, by_bound_descending);
    for (int m = 0; m < kept; m++)
        memcpy(s->kept + m * FMO_PAIR_FIELDS, s->prim + s->key[m].index * FMO_PAIR_FIELDS,
               FMO_PAIR_FIELDS * sizeof *s->kept);
    return kept;
}

static void scratch_free(scratch *s)
{
    free(s->prim);
    free(s->kept);
    free(s->key);
}

static int scratch_alloc(scratch *s, int prim_max)
{
    const size_t n = (size_t)prim_max * (size_t)prim_max;
    s->prim = malloc(n * FMO_PAIR_FIELDS * sizeof *s->prim);
    s->kept = malloc(n * FMO_PAIR_FIELDS * sizeof *s->kept);
    s->key = malloc(n * sizeof *s->key);
    return s->prim && s->kept && s->key;
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
    list->prim = malloc(((size_t)list->prim_num + 1) * FMO_PAIR_FIELDS * sizeof *list->prim);
    return list->i && list->j && list->bound && list->AB && list->begin && list->prim;
}

static fmo_status make_list(const fmo_basis *basis, fmo_pair_class pair_class, double threshold,
                            int prim_max, int threads, fmo_pair_list *list, fmo_error *err)
{
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
                const int kept = prune_pair(basis, pair_class, i, j, threshold, &s);
                const fmo_pair_view view = {kept, s.kept, s.AB, basis->shell[i].center};
                row[b] = (candidate){kept ? schwarz_bound(pair_class, &view) : 0.0, i, j, kept};
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
                const int kept =
                    prune_pair(basis, pair_class, list->i[n], list->j[n], threshold, &s);
                memcpy(list->prim + list->begin[n] * FMO_PAIR_FIELDS, s.kept,
                       (size_t)kept * FMO_PAIR_FIELDS * sizeof *s.kept);
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
    }
    memset(pairs, 0, sizeof *pairs);
}

fmo_status fmo_shell_pairs_make(const fmo_basis *basis, double prune, int threads,
                                fmo_shell_pairs *pairs, fmo_error *err)
{
    fmo_status status = FMO_OK;
    int prim_max = 1;
    memset(pairs, 0, sizeof *pairs);
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
        const int n = prune_pair(basis, pair_class, i, i, 0.0, &s);
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
    const double threshold = prune > 0.0 ? prune / pairs->scale : 0.0;
    for (int c = 0; status == FMO_OK && c < FMO_PAIR_CLASS_COUNT; c++)
        status =
            make_list(basis, (fmo_pair_class)c, threshold, prim_max, threads, &pairs->list[c], err);
done:
    scratch_free(&s);
    if (status != FMO_OK) fmo_shell_pairs_free(pairs);
    return status;
}
