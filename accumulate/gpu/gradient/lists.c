/* Makes the shell pairs of gradients on a GPU (lists.h). */
#include "accumulate/gpu/gradient/lists.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/rules/pair_order.h"
#include "base/threads.h"
#include "integrals/pairs/key_sort.h"
#include "integrals/pairs/prim_bound.h"
#include "integrals/pairs/prim_pair.h"
#include "integrals/pairs/shell_pair.h"

/* ---- SP shells ------------------------------------------------------------------------------ */

/* Numbers the SP shells; returns 0 if memory is exhausted. */
static int make_sp_shells(const fmo_basis *basis, fmo_gradient_lists *lists)
{
    const size_t shells = (size_t)basis->shell_num;
    int *const partner = malloc(shells * sizeof *partner);
    lists->sp_shell = malloc(shells * sizeof *lists->sp_shell);
    if (partner && lists->sp_shell) fmo_sp_partners(basis, partner);
    for (int s = 0; s < basis->shell_num && partner && lists->sp_shell; s++) {
        const fmo_shell *const shell = &basis->shell[s];
        if (shell->ang_mom == 0 && partner[s] >= 0) continue;
        fmo_gradient_sp_shell *const sp_shell = &lists->sp_shell[lists->sp_shell_num++];
        *sp_shell = (fmo_gradient_sp_shell){
            shell->ang_mom, shell->nucleus, s, -1, {0, shell->ao_begin}, {0}};
        memcpy(sp_shell->centre, shell->centre, sizeof sp_shell->centre);
        if (shell->ang_mom == 0) sp_shell->functions.s = shell->ao_begin;
        if (!fmo_gradient_has_partner(shell->ang_mom) || partner[s] < 0) continue;
        sp_shell->partner = partner[s];
        sp_shell->functions.s = basis->shell[partner[s]].ao_begin;
    }
    free(partner);
    return partner && lists->sp_shell;
}

/* ---- one pair ------------------------------------------------------------------------------- */

/* Pairs of one thread, by class, with their primitive pairs. */
typedef struct growing_list {
    fmo_gradient_pair *pair;
    fmo_gradient_prim *prim;
    size_t pairs, prims, pair_capacity, prim_capacity;
} growing_list;

/* The bound of a primitive pair of shells of angular momenta l and m. */
static double bound_of(int l, int m, const double *AB, const double *prim)
{
    if (l >= m) {
        switch (fmo_pair_class_of(l, m)) {
#define ROW(P, name, li, lj, partner) \
    case FMO_PAIR_##P:                \
        return fmo_prim_bound_##name(AB, prim);
            FMO_PAIR_UNROLLED_TABLE(ROW)
#undef ROW
        default:
            return fmo_prim_bound_md(l, m, AB, prim);
        }
    }
    double turned[FMO_PAIR_FIELDS], BA[3];
    memcpy(turned, prim, sizeof turned);
    for (int x = 0; x < 3; x++) {
        BA[x] = -AB[x];
        turned[FMO_PAIR_X + x] = prim[FMO_PAIR_X + x] + AB[x];
    }
    return bound_of(m, l, BA, turned);
}

/* The largest bound of the shells of two SP shells, for one primitive of each. */
static double largest_bound(const fmo_gradient_sp_shell *i, const fmo_gradient_sp_shell *j,
                            const double *ratio, const double *AB, const double *prim)
{
    const int s_i = i->partner >= 0, s_j = j->partner >= 0;
    double bound = bound_of(i->ang_mom, j->ang_mom, AB, prim);
    if (s_i) bound = fmax(bound, fabs(ratio[0]) * bound_of(0, j->ang_mom, AB, prim));
    if (s_j) bound = fmax(bound, fabs(ratio[1]) * bound_of(i->ang_mom, 0, AB, prim));
    if (s_i && s_j) bound = fmax(bound, fabs(ratio[0] * ratio[1]) * bound_of(0, 0, AB, prim));
    return bound;
}

/* The coefficient of primitive k of the s shell of an SP shell relative to that of the p shell. */
static double ratio_of(const fmo_basis *b, const fmo_gradient_sp_shell *sp_shell, int k)
{
    if (sp_shell->partner < 0) return 0.0;
    return b->coefficient[b->shell[sp_shell->partner].prim_begin + k] /
           b->coefficient[b->shell[sp_shell->shell].prim_begin + k];
}

static float rounded_up(double x)
{
    return nextafterf((float)x, INFINITY);
}

/* Makes the primitive pair of primitives k and l. Returns 0 if it is negligible. */
static int make_prim(const fmo_basis *b, const fmo_gradient_sp_shell *i,
                     const fmo_gradient_sp_shell *j, const int *k, double threshold,
                     const double *AB, double r2, fmo_gradient_prim *to)
{
    const int at[2] = {b->shell[i->shell].prim_begin + k[0], b->shell[j->shell].prim_begin + k[1]};
    const double a = b->exponent[at[0]], c = b->exponent[at[1]], p = a + c;
    const double decay = fmo_prim_pair_decay(a, c, r2);
    const int order = i->ang_mom + j->ang_mom;
    double prim[FMO_PAIR_FIELDS];
    if (decay < -FMO_PAIR_DECAY_MAX && threshold > 0.0) return 0;
    fmo_prim_pair_make(a, c, b->coefficient[at[0]], b->coefficient[at[1]], exp(decay), AB, prim);
    *to = (fmo_gradient_prim){p,
                              prim[FMO_PAIR_K],
                              {prim[FMO_PAIR_X], prim[FMO_PAIR_Y], prim[FMO_PAIR_Z]},
                              c / p,
                              {ratio_of(b, i, k[0]), ratio_of(b, j, k[1])},
                              0.0f,
                              0.0f};
    const double bound = largest_bound(i, j, to->ratio, AB, prim);
    if (bound < threshold) return 0;
    to->bound = rounded_up(bound);
    to->derivative_bound = rounded_up(
        bound * ((2 * order + 1) / sqrt(2 * order + 3.0) * sqrt(p) + 2.0 * a * c / p * sqrt(r2)));
    return 1;
}

/* Reallocates an array for n more elements; returns NULL if memory is exhausted. */
static void *grown(void *at, size_t used, size_t *capacity, size_t n, size_t size)
{
    if (used + n <= *capacity) return at;
    const size_t more = 2 * *capacity + n + 256;
    void *const larger = realloc(at, more * size);
    if (larger) *capacity = more;
    return larger;
}

/* What pairs are made from. */
typedef struct pair_source {
    const fmo_basis *basis;
    const fmo_gradient_lists *lists;
    double threshold;
    int depth;
} pair_source;

/* Makes the primitive pairs of a pair of SP shells, in descending order of bounds; returns their
 * number.
 */
static int make_prims(const pair_source *from, const int *sp_shell, const double *AB,
                      fmo_gradient_prim *own)
{
    const fmo_gradient_sp_shell *const i = &from->lists->sp_shell[sp_shell[0]],
                                       *const j = &from->lists->sp_shell[sp_shell[1]];
    const int ni = from->basis->shell[i->shell].prim_num;
    const int nj = from->basis->shell[j->shell].prim_num;
    const double r2 = AB[0] * AB[0] + AB[1] * AB[1] + AB[2] * AB[2];
    int num = 0;
    for (int n = 0; n < ni * nj; n++) {
        fmo_gradient_prim next;
        if (!make_prim(from->basis, i, j, (const int[2]){n / nj, n % nj}, from->threshold, AB, r2,
                       &next))
            continue;
        if (sp_shell[0] == sp_shell[1]) next.k *= 0.5;
        int at = num++; /* insertion in descending order */
        for (; at > 0 && own[at - 1].bound < next.bound; at--) own[at] = own[at - 1];
        own[at] = next;
    }
    return num;
}

/* Appends the segments of a pair of SP shells; returns 0 if memory is exhausted. */
static int add_pair(const pair_source *from, const int *sp_shell, growing_list *list)
{
    const fmo_gradient_sp_shell *const i = &from->lists->sp_shell[sp_shell[0]],
                                       *const j = &from->lists->sp_shell[sp_shell[1]];
    const size_t prims_max = (size_t)from->basis->shell[i->shell].prim_num *
                             (size_t)from->basis->shell[j->shell].prim_num;
    fmo_gradient_pair pair = {{sp_shell[0], sp_shell[1]},
                              {i->nucleus, j->nucleus},
                              {i->functions, j->functions},
                              0,
                              0,
                              0.0f,
                              0.0f,
                              {0.0},
                              {0.0},
                              0};
    for (int x = 0; x < 3; x++) {
        pair.A[x] = i->centre[x];
        pair.AB[x] = i->centre[x] - j->centre[x];
    }
    fmo_gradient_prim *const prims =
        grown(list->prim, list->prims, &list->prim_capacity, prims_max, sizeof *prims);
    if (!prims) return 0;
    list->prim = prims;
    int left = make_prims(from, sp_shell, pair.AB, prims + list->prims);
    for (int segments = (left + from->depth - 1) / from->depth; segments; segments--) {
        double bound = 0.0, derivative_bound = 0.0;
        pair.begin = (int)list->prims;
        pair.num = left / segments;
        for (int n = pair.begin; n < pair.begin + pair.num; n++) {
            bound += prims[n].bound;
            derivative_bound += prims[n].derivative_bound;
        }
        pair.bound = rounded_up(bound);
        pair.derivative_bound = rounded_up(derivative_bound);
        fmo_gradient_pair *const pairs =
            grown(list->pair, list->pairs, &list->pair_capacity, 1, sizeof *pairs);
        if (!pairs) return 0;
        list->pair = pairs;
        pairs[list->pairs++] = pair;
        list->prims += (size_t)pair.num;
        left -= pair.num;
    }
    return 1;
}

/* ---- all pairs ------------------------------------------------------------------------------ */

/* Sorts n elements: order[] by descending octets of bounds, within them as before. */
static int sort_points(const fmo_gradient_prim *prim, size_t n, int *point)
{
    uint64_t *const key = malloc((n + 1) * sizeof *key);
    const int done = key != NULL;
    for (size_t k = 0; k < n && done; k++)
        key[k] = (uint64_t)(fmo_pair_octet(prim[k].bound) + (1 << 16));
    const int sorted = done && fmo_sort_keys(key, n, (uint32_t *)point);
    free(key);
    return sorted;
}

/* Joins the lists of all threads, sorted; returns 0 if memory is exhausted. */
static int join_lists(const growing_list *from, size_t stride, int threads, fmo_gradient_list *to)
{
    size_t pairs = 0, prims = 0, n = 0;
    for (int t = 0; t < threads; t++) {
        pairs += from[(size_t)t * stride].pairs;
        prims += from[(size_t)t * stride].prims;
    }
    const fmo_gradient_pair **const pair = malloc((pairs + 1) * sizeof *pair);
    const fmo_gradient_prim **const prim = malloc((pairs + 1) * sizeof *prim);
    uint64_t *const key = malloc((pairs + 1) * sizeof *key);
    uint32_t *const order = malloc((pairs + 1) * sizeof *order);
    to->pair = malloc((pairs + 1) * sizeof *to->pair);
    to->prim = malloc((prims + 1) * sizeof *to->prim);
    to->pair_of = malloc((prims + 1) * sizeof *to->pair_of);
    to->point = malloc((prims + 1) * sizeof *to->point);
    int good = pair && prim && key && order && to->pair && to->prim && to->pair_of && to->point;
    for (int t = 0; t < threads && good; t++) {
        const growing_list *const own = &from[(size_t)t * stride];
        for (size_t k = 0; k < own->pairs; k++, n++) {
            const fmo_gradient_pair *const p = &own->pair[k];
            const fmo_pair_rank rank = {p->num < 63 ? p->num : 63, fmo_pair_octet(p->bound),
                                        p->sp_shell[0], p->sp_shell[1], 0};
            pair[n] = p;
            prim[n] = own->prim + p->begin;
            key[n] = fmo_pair_rank_key(&rank);
        }
    }
    good = good && fmo_sort_keys(key, pairs, order);
    for (n = 0; n < pairs && good; n++) {
        fmo_gradient_pair *const own = &to->pair[to->num];
        *own = *pair[order[n]];
        own->begin = to->prim_num;
        memcpy(to->prim + own->begin, prim[order[n]], (size_t)own->num * sizeof **prim);
        for (int k = 0; k < own->num; k++) to->pair_of[own->begin + k] = to->num;
        to->prim_num += own->num;
        to->num++;
    }
    good = good && sort_points(to->prim, prims, to->point);
    free(pair);
    free(prim);
    free(key);
    free(order);
    return good;
}

/* Makes the pairs of every threads-th SP shell with those before it; returns 0 if memory is
 * exhausted.
 */
static int make_some(const pair_source *from, int thread, int threads, growing_list *own)
{
    const fmo_gradient_sp_shell *const sp_shells = from->lists->sp_shell;
    for (int i = thread; i < from->lists->sp_shell_num; i += threads)
        for (int j = 0; j <= i; j++) {
            const int sp_shell[2] = {i, j}; /* by angular momentum */
            const int c = fmo_pair_class_of(sp_shells[i].ang_mom, sp_shells[j].ang_mom);
            if (!add_pair(from, sp_shell, &own[c])) return 0;
        }
    return 1;
}

/* Makes the SP shells, the pairs of each thread, and from these the lists. */
fmo_status fmo_gradient_make_lists(const fmo_basis *basis, double threshold, int depth, int threads,
                                   fmo_gradient_lists *lists, fmo_error *err)
{
    enum { CLASSES = FMO_PAIR_GPU_COUNT };
    const pair_source from = {basis, lists, threshold, depth};
    memset(lists, 0, sizeof *lists);
    growing_list *const lists_of = calloc((size_t)threads * CLASSES, sizeof *lists_of);
    int good = lists_of && make_sp_shells(basis, lists);
    if (good && fmo_threads_alone(threads)) {
        good = make_some(&from, 0, 1, lists_of);
    } else if (good) {
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(& : good)
        for (int t = 0; t < threads; t++)
            good &= make_some(&from, t, threads, lists_of + t * CLASSES);
    }
    for (int c = 0; c < CLASSES && good; c++)
        good = join_lists(lists_of + c, CLASSES, threads, &lists->of[c]);
    for (int n = 0; n < threads * CLASSES && lists_of; n++) {
        free(lists_of[n].pair);
        free(lists_of[n].prim);
    }
    free(lists_of);
    if (good) return FMO_OK;
    fmo_gradient_free_lists(lists);
    return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the shell pairs of a gradient");
}

void fmo_gradient_free_lists(fmo_gradient_lists *lists)
{
    for (int c = 0; c < FMO_PAIR_GPU_COUNT; c++) {
        free(lists->of[c].pair);
        free(lists->of[c].prim);
        free(lists->of[c].pair_of);
        free(lists->of[c].point);
    }
    free(lists->sp_shell);
    memset(lists, 0, sizeof *lists);
}
