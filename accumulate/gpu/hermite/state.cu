/* Makes and frees the data of a plan for classes with d or f shells (hermite.h): transformations of
 * functions, pairs, points (points.cu), matrices and tasks. */
#include "accumulate/gpu/hermite/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/rules/pair_order.h"
#include "accumulate/rules/screen.h"
#include "accumulate/tuning.h"
#include "integrals/pairs/key_sort.h"

/* ---- functions ------------------------------------------------------------------------------ */

/* Functions of one kind as linear combinations of the other: row r has entries [begin[r],
 * begin[r+1]). */
typedef struct combinations {
    int *begin, *from;
    double *factor;
    int num;
} combinations;

/* Appends an entry, unless its factor is 0. */
static void add_term(combinations *p, int from, double factor)
{
    if (factor == 0.0) return;
    p->from[p->num] = from;
    p->factor[p->num++] = factor;
}

/* Finds the internal functions as linear combinations of the caller's. */
static void find_inner_functions(const fmo_basis *b, combinations *p)
{
    for (int s = 0; s < b->shell_num; s++) {
        const fmo_shell *shell = &b->shell[s];
        fmo_shell_transform T;
        const int own = fmo_basis_shell_transform(b, shell, T);
        for (int c = 0; c < fmo_shell_functions(shell->ang_mom); c++) {
            p->begin[shell->ao_begin + c] = p->num;
            for (int m = 0; m < own; m++)
                add_term(p, b->ao_caller[shell->caller_begin + m], T[m][c]);
        }
    }
    p->begin[b->function_num] = p->num;
}

/* Finds the caller's functions as linear combinations of internal ones. place: [ao_num] shell and
 * component of each of the caller's functions. */
static void find_outer_functions(const fmo_basis *b, const int2 *place, combinations *p)
{
    for (int q = 0; q < b->ao_num; q++) {
        const fmo_shell *shell = &b->shell[place[q].x];
        fmo_shell_transform T;
        (void)fmo_basis_shell_transform(b, shell, T);
        p->begin[q] = p->num;
        for (int c = 0; c < fmo_shell_functions(shell->ang_mom); c++)
            add_term(p, shell->ao_begin + c, T[place[q].y][c]);
    }
    p->begin[b->ao_num] = p->num;
}

/* Makes the transformations between internal and caller's functions and the list of shells with the
 * largest Schwarz bound of each, and copies them to the GPU. */
static fmo_status make_functions(const fmo_fock_plan *plan, const fmo_shell_pairs *pairs,
                                 fmo_gpu_hermite *h, fmo_error *err)
{
    const fmo_basis *b = plan->basis;
    const size_t n = (size_t)b->function_num, m = (size_t)b->ao_num;
    const size_t terms_max = n * FMO_GPU_FUNCTIONS_MAX, shells = (size_t)b->shell_num;
    combinations in = {}, out = {};
    int *low_l = NULL;
    int2 *shell = NULL;
    float *shell_bound = NULL;
    const fmo_gpu_array arrays[] = {
        {(n + 1) * sizeof(int), (void **)&h->in_begin, (void **)&in.begin},
        {terms_max * sizeof(int), (void **)&h->in_from, (void **)&in.from},
        {terms_max * sizeof(double), (void **)&h->in_factor, (void **)&in.factor},
        {(m + 1) * sizeof(int), (void **)&h->out_begin, (void **)&out.begin},
        {terms_max * sizeof(int), (void **)&h->out_from, (void **)&out.from},
        {terms_max * sizeof(double), (void **)&h->out_factor, (void **)&out.factor},
        {m * sizeof(int), (void **)&h->out_low_l, (void **)&low_l},
        {shells * sizeof(int2), (void **)&h->shell, (void **)&shell},
        {shells * sizeof(float), (void **)&h->shell_bound, (void **)&shell_bound},
    };
    const int num = sizeof arrays / sizeof *arrays;
    fmo_gpu_device *const device = &plan->gpu->device;
    void *const staged = fmo_gpu_stage(arrays, num);
    int2 *const place = (int2 *)malloc((m + 1) * sizeof *place);
    fmo_status status = FMO_OK;
    h->nao = b->function_num;
    h->caller_nao = b->ao_num;
    h->shells = b->shell_num;
    if (!staged || !place) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d functions", h->nao);
        goto done;
    }
    for (int s = 0; s < b->shell_num; s++) {
        const int l = b->shell[s].ang_mom;
        shell[s] = make_int2(b->shell[s].ao_begin, fmo_shell_functions(l));
        for (int k = 0; k < fmo_shell_functions_of(l, b->cartesian); k++) {
            const int q = b->ao_caller[b->shell[s].caller_begin + k];
            place[q] = make_int2(s, k);
            low_l[q] = l < FMO_SHELL_LOW_L_COUNT;
        }
    }
    find_inner_functions(b, &in);
    find_outer_functions(b, place, &out);
    for (int c = 0; c < FMO_PAIR_GPU_COUNT; c++) {
        const fmo_pair_list *list = &pairs->list[c];
        for (int p = 0; p < list->num; p++) {
            const float bound = nextafterf((float)list->bound[p], INFINITY);
            shell_bound[list->i[p]] = fmaxf(shell_bound[list->i[p]], bound);
            shell_bound[list->j[p]] = fmaxf(shell_bound[list->j[p]], bound);
        }
    }
    status = fmo_gpu_place_arrays(device, "functions", arrays, num, err);
    if (status == FMO_OK) status = fmo_gpu_upload(device, "functions", staged, arrays, num, err);
done:
    free(place);
    free(staged);
    return status;
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* A segment of a pair, `index` of the list, with the data by which segments are sorted. */
typedef struct segment_key {
    fmo_pair_rank rank;
    int index;
    double bound;
} segment_key;

/* Number of segments of a pair with `prims` primitives, at most `depth` in each. */
static int segments_of(int prims, int depth)
{
    return (prims + depth - 1) / depth;
}

/* Divides the pairs of a list into segments and sorts these; `segments` is their number. Returns 0
 * if memory is exhausted. */
static int sort_segments(const fmo_basis *basis, int pair_class, const fmo_pair_list *list,
                         int depth, size_t segments, segment_key *sorted)
{
    segment_key *const key = (segment_key *)malloc((segments + 1) * sizeof *key);
    uint64_t *const number = (uint64_t *)malloc((segments + 1) * sizeof *number);
    uint32_t *const order = (uint32_t *)malloc((segments + 1) * sizeof *order);
    int done = key && number && order;
    size_t n = 0;
    for (int p = 0; p < list->num && done; p++) {
        const int prims = (int)(list->begin[p + 1] - list->begin[p]);
        const int all = segments_of(prims, depth);
        for (int segment = 0, begin = 0; segment < all; segment++) {
            const int some = (prims - begin) / (all - segment);
            const double bound =
                all == 1 ? list->bound[p]
                         : fmo_shell_pair_segment_bound(basis, (fmo_pair_class)pair_class, list, p,
                                                        begin, some);
            key[n].rank = {some, fmo_pair_octet(bound), list->i[p], list->j[p], begin};
            key[n].index = p;
            number[n] = fmo_pair_rank_key(&key[n].rank);
            key[n++].bound = bound;
            begin += some;
        }
    }
    done = done && fmo_sort_keys(number, n, order);
    for (size_t k = 0; k < n && done; k++) sorted[k] = key[order[k]];
    free(key);
    free(number);
    free(order);
    return done;
}

/* Host copies of the arrays of fmo_hermite_pairs. */
typedef struct staged_lists {
    int4 *at;
    float *bound, *tile_bound;
    double *centre, *record, *prim;
    int4 *prims;
    int2 *records_of;
    int *segment_of, *record_segment;
} staged_lists;

/* Fills in the arrays of segments and of records. The prefactors of a pair of one shell are halved
 * (types.cuh). */
static void stage_lists(const fmo_basis *basis, const fmo_pair_list *list,
                        const segment_key *segment, size_t num, const staged_lists *to)
{
    for (size_t n = 0; n < num; n++) {
        const int p = segment[n].index, i = list->i[p], j = list->j[p];
        to->at[n] = make_int4(basis->shell[i].ao_begin, basis->shell[j].ao_begin, i | j << 16,
                              segment[n].rank.begin == 0);
        to->bound[n] = nextafterf((float)segment[n].bound, INFINITY);
        float *const tile = &to->tile_bound[n / FMO_GPU_TILE_PAIRS];
        *tile = fmaxf(*tile, to->bound[n]);
        for (int x = 0; x < 3; x++) {
            to->centre[(size_t)x * num + n] = basis->shell[i].centre[x];
            to->centre[(size_t)(3 + x) * num + n] = list->AB[3 * (size_t)p + x];
        }
        to->segment_of[p] = (int)n;
    }
    for (int p = 0; p < list->num; p++) {
        to->records_of[p] =
            make_int2((int)list->begin[p], (int)(list->begin[p + 1] - list->begin[p]));
        for (int64_t r = list->begin[p]; r < list->begin[p + 1]; r++) {
            double *const record = to->record + r * FMO_GPU_PAIR_FIELDS;
            to->record_segment[r] = to->segment_of[p];
            const float bound = (float)list->prim_bound[r];
            memcpy(record, list->prim + r * FMO_PAIR_FIELDS, FMO_PAIR_FIELDS * sizeof *record);
            if (list->i[p] == list->j[p]) record[FMO_PAIR_K] *= 0.5;
            memcpy(record + FMO_GPU_PAIR_BOUND, &bound, sizeof bound);
        }
    }
}

/* Copies the records to the second layout, in which neighbouring segments of equal length read
 * neighbouring addresses. */
static void stage_prims(const fmo_pair_list *list, const segment_key *segment, size_t num,
                        const staged_lists *to)
{
    for (size_t first = 0, end, at = 0; first < num; first = end) {
        const int prims = segment[first].rank.prims;
        for (end = first; end < num && segment[end].rank.prims == prims;) end++;
        const size_t stride = end - first;
        for (size_t n = first; n < end; n++) {
            const double *const record =
                to->record +
                (list->begin[segment[n].index] + segment[n].rank.begin) * FMO_GPU_PAIR_FIELDS;
            to->prims[n] = make_int4((int)(at + n - first), prims, (int)stride, 0);
            for (int f = 0; f < prims * FMO_GPU_PAIR_TWOS; f++)
                memcpy(to->prim + 2 * (at + (size_t)f * stride + n - first), record + 2 * f,
                       2 * sizeof *record);
        }
        at += stride * (size_t)prims * FMO_GPU_PAIR_TWOS;
    }
}

/* Makes the arrays of one class of pairs and copies them to the GPU; allocates those that the GPU
 * computes. */
static fmo_status make_list(const fmo_fock_plan *plan, int pair_class, const fmo_pair_list *list,
                            fmo_hermite_pairs *pairs, fmo_error *err)
{
    fmo_gpu_device *const device = &plan->gpu->device;
    const int depth = fmo_gpu_contraction_depth(plan->gpu->primitives);
    const size_t records = (size_t)list->prim_num, whole = (size_t)list->num;
    size_t n = 0;
    for (int p = 0; p < list->num; p++)
        n += (size_t)segments_of((int)(list->begin[p + 1] - list->begin[p]), depth);
    staged_lists to;
    const fmo_gpu_array arrays[] = {
        {n * sizeof(int4), (void **)&pairs->at, (void **)&to.at},
        {n * sizeof(float), (void **)&pairs->bound, (void **)&to.bound},
        {fmo_hermite_tiles(n) * sizeof(float), (void **)&pairs->tile_bound,
         (void **)&to.tile_bound},
        {6 * n * sizeof(double), (void **)&pairs->centre, (void **)&to.centre},
        {n * sizeof(int4), (void **)&pairs->prims, (void **)&to.prims},
        {records * FMO_GPU_PAIR_FIELDS * sizeof(double), (void **)&pairs->prim, (void **)&to.prim},
        {records * FMO_GPU_PAIR_FIELDS * sizeof(double), (void **)&pairs->record,
         (void **)&to.record},
        {whole * sizeof(int), (void **)&pairs->segment_of, (void **)&to.segment_of},
        {whole * sizeof(int2), (void **)&pairs->records_of, (void **)&to.records_of},
        {records * sizeof(int), (void **)&pairs->record_segment, (void **)&to.record_segment},
        /* computed on the GPU */
        {n * sizeof(float4), (void **)&pairs->sphere, NULL},
        {(2 + FMO_SEPARATION_ORDERS) * n * sizeof(float), (void **)&pairs->separation, NULL},
        /* computed in every build */
        {records * sizeof(float), (void **)&pairs->record_coulomb_estimate, NULL},
        {records * fmo_hermite_terms(pair_class) * sizeof(double), (void **)&pairs->record_density,
         NULL},
    };
    const int num = sizeof arrays / sizeof *arrays;
    fmo_status status = FMO_OK;
    if (n > FMO_GPU_PAIRS_MAX || records > INT_MAX / 8 || plan->basis->shell_num > UINT16_MAX)
        return fmo_error_set(err, FMO_ERR_MEMORY,
                             "%zu pairs of shells, %zu of primitives are more than the GPU's "
                             "indices hold",
                             n, records);
    segment_key *const segment = (segment_key *)malloc((n + 1) * sizeof *segment);
    void *const staged = fmo_gpu_stage(arrays, num);
    if (!segment || !staged) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu shell pairs", n);
        goto done;
    }
    status = fmo_gpu_place_arrays(device, "shell pairs", arrays, num, err);
    if (status != FMO_OK) goto done;
    if (!sort_segments(plan->basis, pair_class, list, depth, n, segment)) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu shell pairs", n);
        goto done;
    }
    stage_lists(plan->basis, list, segment, n, &to);
    stage_prims(list, segment, n, &to);
    pairs->num = (int)n;
    pairs->whole = (int)whole;
    pairs->records = (int)records;
    status = fmo_gpu_upload(device, "shell pairs", staged, arrays, num, err);
done:
    free(segment);
    free(staged);
    return status;
}

/* ---- matrices, tasks ------------------------------------------------------------------------ */

/* Allocates density and block maxima, and in one piece all that a build sets to zero: J, X^K,
 * potentials, counters, row maxima, numbers of screened-in quartets; density and X^K for so many
 * densities. */
static fmo_status make_matrices(const fmo_fock_plan *plan, fmo_gpu_hermite *h, size_t densities,
                                fmo_error *err)
{
    const size_t n = (size_t)h->nao, matrix = n * n * sizeof(double), shells = (size_t)h->shells;
    size_t potentials = 0;
    for (int c = 0; c < FMO_PAIR_GPU_COUNT; c++)
        potentials += (size_t)h->pairs[c].chunks * h->pairs[c].points * fmo_hermite_terms(c);
    const size_t zeroed = (1 + densities) * matrix + potentials * sizeof(double) +
                          sizeof *h->counters + shells * sizeof(float) +
                          (size_t)h->tasks * sizeof(unsigned);
    const fmo_gpu_array arrays[] = {
        {zeroed, (void **)&h->coulomb, NULL},
        {densities * matrix, (void **)&h->density, NULL},
        {shells * shells * sizeof(float), (void **)&h->block_max, NULL},
    };
    const fmo_status status =
        fmo_gpu_place_arrays(&plan->gpu->device, "density, J and K of d shells", arrays, 3, err);
    if (status != FMO_OK) return status;
    h->zeroed = fmo_gpu_arrays_bytes(arrays, 1); /* with padding */
    h->exchange = h->coulomb + n * n;
    double *at = h->exchange + densities * n * n;
    for (int c = 0; c < FMO_PAIR_GPU_COUNT; c++) {
        h->pairs[c].potential = at;
        at += (size_t)h->pairs[c].chunks * h->pairs[c].points * fmo_hermite_terms(c);
    }
    h->counters = (fmo_hermite_counters *)at;
    h->row_max = (float *)(h->counters + 1);
    h->screened_in = (unsigned *)(h->row_max + shells);
    return FMO_OK;
}

/* Number of bras of this share of the build. */
static int own_bras(const fmo_gpu_hermite *h, int bras)
{
    return bras > h->share ? (bras - h->share + h->shares - 1) / h->shares : 0;
}

/* Divides the bras of all classes into tasks, and these into passes of at most `capacity`
 * candidates each. Returns the number of tasks; task = NULL: only counts. */
static int cut_tasks(const fmo_gpu_hermite *h, size_t capacity, fmo_hermite_task *task, int *passes)
{
    int num = 0, pass = 0;
    size_t used = 0;
    for (int c = FMO_ERI_GPU_COUNT - 1; c >= FMO_ERI_LOW_L_COUNT; c--) {
        const int bras = own_bras(h, h->pairs[fmo_eri_class_bra(c)].num);
        const size_t kets = (size_t)h->pairs[fmo_eri_class_ket(c)].num;
        for (int begin = 0; begin < bras && kets > 0;) {
            if (capacity - used < kets) {
                pass++;
                used = 0;
            }
            const size_t fit = (capacity - used) / kets, left = (size_t)(bras - begin);
            const size_t take = fit < left ? fit : left;
            if (task) {
                task[num].eri_class = c;
                task[num].bra_begin = begin;
                task[num].bra_end = begin + (int)take;
                task[num].pass = pass;
                task[num].list_at = used;
                task[num].candidates = take * kets;
            }
            num++;
            used += take * kets;
            begin += (int)take;
        }
    }
    *passes = pass + 1;
    return num;
}

/* Chooses the size of the list from the free memory and the options, divides the work into tasks
 * and allocates the list. */
static fmo_status make_tasks(const fmo_fock_plan *plan, fmo_gpu_hermite *h, fmo_error *err)
{
    size_t all = 0, max_kets = 1, available = 0;
    for (int c = FMO_ERI_LOW_L_COUNT; c < FMO_ERI_GPU_COUNT; c++) {
        const size_t kets = (size_t)h->pairs[fmo_eri_class_ket(c)].num;
        const size_t quartets = (size_t)own_bras(h, h->pairs[fmo_eri_class_bra(c)].num) * kets;
        all += quartets;
        h->planes[c] = quartets < fmo_tuning_gpu_hermite_few_quartets ? fmo_hermite_passes(c) : 1;
        if (kets > max_kets) max_kets = kets;
    }
    fmo_status status = fmo_gpu_state_available(plan->gpu, &available, err);
    if (status != FMO_OK) return status;
    size_t bytes = (size_t)(fmo_tuning_gpu_list_share * (double)available);
    if (plan->options.memory && plan->options.memory < bytes) bytes = plan->options.memory;
    size_t capacity = bytes / sizeof *h->list;
    if (capacity > fmo_tuning_gpu_list_max) capacity = fmo_tuning_gpu_list_max;
    if (capacity > all) capacity = all;
    if (capacity < max_kets) capacity = max_kets;
    h->tasks = cut_tasks(h, capacity, NULL, &h->passes);
    h->task = (fmo_hermite_task *)calloc((size_t)h->tasks + 1, sizeof *h->task);
    if (!h->task) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d tasks", h->tasks);
    (void)cut_tasks(h, capacity, h->task, &h->passes);
    return fmo_gpu_alloc(&plan->gpu->device, "list of quartets", capacity * sizeof *h->list,
                         (void **)&h->list, err);
}

/* ---- the state ------------------------------------------------------------------------------ */

/* Makes all data in turn, from plain shell pairs that are freed at the end. */
fmo_status fmo_hermite_make(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_state *const g = plan->gpu;
    fmo_shell_pairs plain; /* the plan's own pairs have SP shells */
    fmo_gpu_hermite *const h = (fmo_gpu_hermite *)calloc(1, sizeof *h);
    g->hermite = h;
    if (!h) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a GPU plan");
    h->share = plan->shares > 1 ? plan->share : 0;
    h->shares = plan->shares > 1 ? plan->shares : 1;
    fmo_status status =
        fmo_shell_pairs_make(plan->basis, plan->pairs.prune, plan->options.threads, &plain, err);
    if (status == FMO_OK) status = make_functions(plan, &plain, h, err);
    for (int c = 0; c < FMO_PAIR_GPU_COUNT && status == FMO_OK; c++)
        status = make_list(plan, c, &plain.list[c], &h->pairs[c], err);
    if (status == FMO_OK) status = fmo_hermite_make_points(plan, &plain, h, err);
    if (status == FMO_OK) status = make_tasks(plan, h, err);
    if (status == FMO_OK) status = make_matrices(plan, h, 1, err);
    fmo_shell_pairs_free(&plain);
    if (status != FMO_OK || g->separation_later) return status;
    const fmo_gpu_build build = fmo_gpu_own_build(plan);
    const fmo_gpu_group group = fmo_gpu_group_of_one(&build);
    FMO_GPU_CHECK(fmo_hermite_make_separation(&group), "shell pairs", err);
    return FMO_OK;
}

/* The data with matrices of their own; all that does not change from build to build is shared. */
fmo_status fmo_hermite_make_two(const fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_hermite *const h = plan->gpu->hermite;
    if (h->two) return FMO_OK;
    fmo_gpu_hermite *const two = (fmo_gpu_hermite *)malloc(sizeof *two);
    if (!two) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a GPU plan");
    *two = *h;
    const fmo_status status = make_matrices(plan, two, 2, err);
    if (status == FMO_OK)
        h->two = two;
    else
        free(two);
    return status;
}

cudaError_t fmo_hermite_make_pinned(fmo_gpu_hermite *h)
{
    return h->host_counters ? cudaSuccess
                            : cudaMallocHost((void **)&h->host_counters, sizeof *h->host_counters);
}

void fmo_hermite_free(fmo_gpu_state *g)
{
    fmo_gpu_hermite *const h = g->hermite;
    if (!h) return;
    for (int t = 0; t < h->tasks && h->task; t++)
        for (int e = 0; e < 2; e++)
            if (h->task[t].event[e]) (void)cudaEventDestroy(h->task[t].event[e]);
    if (h->host_counters) (void)cudaFreeHost(h->host_counters);
    free(h->task);
    free(h->two);
    free(h);
    g->hermite = NULL;
}

size_t fmo_hermite_host_bytes(const fmo_gpu_hermite *h)
{
    return h ? sizeof *h + sizeof *h->host_counters + (size_t)h->tasks * sizeof *h->task : 0;
}

int fmo_hermite_adds(int eri_class, int planes)
{
    const int bra = fmo_eri_class_bra(eri_class), ket = fmo_eri_class_ket(eri_class);
    const int n[4] = {fmo_pair_functions(bra, 0, 0), fmo_pair_functions(bra, 1, 0),
                      fmo_pair_functions(ket, 0, 0), fmo_pair_functions(ket, 1, 0)};
    int adds = 0;
#define TERM(matrix, row, column, den_row, den_column) \
    adds += n[row] * n[column] * ((row) == 0 ? 1 : planes);
    FMO_DIGEST_K_TABLE(TERM)
#undef TERM
    return adds;
}

void fmo_hermite_profile_counts(fmo_fock_plan *plan)
{
    const fmo_gpu_hermite *const h = plan->gpu->hermite;
    const fmo_hermite_counters *const counters = h->host_counters;
    for (int c = FMO_ERI_LOW_L_COUNT; c < FMO_ERI_GPU_COUNT; c++) {
        fmo_class_profile *p = &plan->profile.classes[c];
        p->quartets = (int64_t)counters->quartets[c];
        p->prim_quartets = (int64_t)counters->prim_quartets[c];
        p->quartets_skipped = fmo_plan_quartets(plan, (fmo_eri_class)c) - p->quartets;
        p->adds = (int64_t)counters->screened_in_num[c] *
                  fmo_hermite_adds(c, fmo_hermite_planes_now(h, c)) * (plan->gpu->two.jobs ? 2 : 1);
        p->adds_issued = (int64_t)counters->issued[c];
    }
}
