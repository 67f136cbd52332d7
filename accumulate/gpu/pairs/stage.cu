/* Converts the host's shell pairs to the layout of the kernels (types.cuh): divided into segments,
 * sorted, laid out, copied. For mode split, which uses plain pairs; those of mode fused are made on
 * the GPU (make.cu). */
#include "accumulate/gpu/pairs/pairs.h"

#include "accumulate/cpu/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/rules/pair_order.h"

/* A segment of a shell pair: rank.prims primitives, from rank.begin on, of pair `index`. rank.i and
 * rank.j are numbers of SP shells. */
typedef struct pair_segment {
    fmo_pair_rank rank;
    int index;
    double bound;
} pair_segment;

/* Compares two segments, for qsort. */
static int by_rank(const void *x, const void *y)
{
    return fmo_pair_rank_compare(&((const pair_segment *)x)->rank,
                                 &((const pair_segment *)y)->rank);
}

/* Number of primitives of pair p. */
static int pair_prims(const fmo_pair_list *list, int p)
{
    return (int)(list->begin[p + 1] - list->begin[p]);
}

/* Host copies of the arrays of one class of pairs (fmo_gpu_pairs). */
typedef struct staged_pairs {
    int4 *first;
    fmo_gpu_screen_data *screen;
    unsigned *prim_at;
    float *tile_bound;
    double *centre, *prim, *record;
    unsigned *record_at;
} staged_pairs;

/* Writes the data of primitive n of a list in the kernels' layout. The products of a pair of a
 * shell with itself contain both orders of its functions and count half; in a ps pair of one SP
 * shell this holds for the ss product alone. */
static void stage_primitive(const fmo_pair_list *list, int64_t n, bool one_shell, bool one_sp_shell,
                            double *to)
{
    const float bound = (float)list->prim_bound[n];
    memcpy(to, list->prim + n * FMO_PAIR_FIELDS, FMO_PAIR_FIELDS * sizeof *to);
    if (one_shell) to[FMO_PAIR_K] *= 0.5;
    to[FMO_GPU_PAIR_RATIO] = (one_sp_shell ? 0.5 : 1.0) * list->ratio[n];
    to[FMO_GPU_PAIR_BOUND] = 0.0;
    memcpy(to + FMO_GPU_PAIR_BOUND, &bound, sizeof bound); /* low half: little-endian hosts */
}

/* Fills in the host arrays from the sorted segments: per segment, per tile, and the primitives in
 * both layouts. */
static void stage_pairs(const fmo_gpu_functions *f, const fmo_basis *basis, int pair_class,
                        const fmo_pair_list *list, const pair_segment *key, size_t n,
                        const staged_pairs *to)
{
    /* in a pair with a partner, the p shell stands for the whole SP shell */
    const int shift =
        fmo_pair_functions(pair_class, 0, f->sp) - fmo_pair_functions(pair_class, 0, 0);
    size_t records = 0;
    for (size_t first = 0, at = 0; first < n;) {
        size_t end = first;
        const int prims = key[first].rank.prims;
        while (end < n && key[end].rank.prims == prims) end++;
        const size_t stride = end - first;
        for (size_t p = first; p < end; p++) {
            const pair_segment *k = &key[p];
            const int64_t prim = list->begin[k->index] + k->rank.begin;
            const bool includes = list->ratio[prim] != 0.0;
            const bool one_shell = list->i[k->index] == list->j[k->index];
            to->first[p] =
                make_int4(fmo_gpu_first_function(f, basis, list->i[k->index]) - shift,
                          fmo_gpu_first_function(f, basis, list->j[k->index]), prims, (int)stride);
            to->prim_at[p] = (unsigned)(at + p - first);
            unsigned counts = (unsigned)prims << FMO_GPU_TALLY_PRIMS;
            if (k->rank.begin == 0)
                counts |= 1u << FMO_GPU_TALLY_PAIRS | (unsigned)includes << FMO_GPU_TALLY_INCLUDED;
            to->screen[p] = {nextafterf((float)k->bound, INFINITY), 0.0f,
                             make_ushort2((unsigned short)k->rank.i, (unsigned short)k->rank.j),
                             counts};
            float *tile = &to->tile_bound[p / FMO_GPU_TILE_PAIRS];
            *tile = fmaxf(*tile, to->screen[p].bound);
            for (int x = 0; x < 3; x++) {
                to->centre[(size_t)x * n + p] = basis->shell[list->i[k->index]].centre[x];
                to->centre[(size_t)(3 + x) * n + p] = list->AB[3 * (size_t)k->index + x];
            }
            to->record_at[p] = (unsigned)records;
            for (int m = 0; m < prims; m++, records++) {
                double *const record = to->record + records * FMO_GPU_PAIR_FIELDS;
                stage_primitive(list, prim + m, one_shell, k->rank.i == k->rank.j, record);
                for (int f = 0; f < FMO_GPU_PAIR_TWOS; f++)
                    memcpy(to->prim +
                               2 * (at + (size_t)(m * FMO_GPU_PAIR_TWOS + f) * stride + p - first),
                           record + 2 * f, 2 * sizeof *record);
            }
        }
        at += stride * (size_t)prims * FMO_GPU_PAIR_TWOS;
        first = end;
    }
}

/* Number of segments of a pair with `prims` primitives, at most `depth` in each. */
static int segments_of(int prims, int depth)
{
    return (prims + depth - 1) / depth;
}

/* Divides pairs of more than `depth` primitives into segments of nearly equal size, each with a
 * bound of its own; returns the number of segments. Integrals are linear in the primitives of a
 * pair, and no thread has to loop over thousands of primitive quartets. Primitives are in
 * descending order of bounds, so that later segments are small. */
static size_t cut_pairs(const fmo_gpu_functions *f, const fmo_basis *basis,
                        fmo_pair_class pair_class, const fmo_pair_list *list, int depth,
                        pair_segment *key)
{
    size_t n = 0;
    for (int p = 0; p < list->num; p++) {
        const int prims = pair_prims(list, p), segments = segments_of(prims, depth);
        int begin = 0;
        for (int segment = 0; segment < segments; segment++) {
            const int some = (prims - begin) / (segments - segment);
            const double bound = segments == 1 ? list->bound[p]
                                               : fmo_shell_pair_segment_bound(basis, pair_class,
                                                                              list, p, begin, some);
            key[n].rank = {some, fmo_pair_octet(bound), f->sp_shell_of[list->i[p]],
                           f->sp_shell_of[list->j[p]], begin};
            key[n].index = p;
            key[n++].bound = bound;
            begin += some;
        }
    }
    return n;
}

/* Returns the largest number of primitives of a segment: small in small systems, so that there are
 * enough threads with little work each; larger in large systems, where each segment costs a density
 * look-up and adds. Depends on the system alone, so that `fixed` rounds the same numbers in every
 * launch. */
int fmo_gpu_contraction_depth(double work)
{
    return work < fmo_tuning_gpu_depth_small_work    ? fmo_tuning_gpu_depth_small
           : work < fmo_tuning_gpu_depth_middle_work ? fmo_tuning_gpu_depth_middle
                                                     : fmo_tuning_gpu_depth_large;
}

/* See pairs.h. `density` exists only with SP pairs. */
fmo_gpu_list_arrays fmo_gpu_find_list_arrays(fmo_gpu_pairs *pairs, int pair_class, size_t n,
                                             size_t values, int sp)
{
    const size_t tiles = n / FMO_GPU_TILE_PAIRS + 1;
    const size_t products = (size_t)fmo_pair_products(pair_class, sp);
    const fmo_gpu_list_arrays a = {
        {{n * sizeof(int4), (void **)&pairs->first, NULL},
         {n * sizeof(fmo_gpu_screen_data), (void **)&pairs->screen, NULL},
         {n * sizeof(unsigned), (void **)&pairs->prim_at, NULL},
         {tiles * sizeof(float), (void **)&pairs->tile_bound, NULL},
         {6 * n * sizeof(double), (void **)&pairs->centre, NULL},
         {values * sizeof(double), (void **)&pairs->prim, NULL},
         {values * sizeof(double), (void **)&pairs->record, NULL},
         {n * sizeof(unsigned), (void **)&pairs->record_at, NULL},
         /* computed in every build */
         {tiles * sizeof(float), (void **)&pairs->tile_coulomb_estimate, NULL},
         {sp ? n * products * sizeof(double) : 0, (void **)&pairs->density, NULL}},
        FMO_GPU_LIST_ARRAYS};
    return a;
}

size_t fmo_gpu_pairs_bytes(const fmo_gpu_state *g)
{
    size_t bytes = 0;
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
        fmo_gpu_pairs pairs = g->pairs[c];
        const size_t values = (size_t)(g->prim_num[c] + 1) * FMO_GPU_PAIR_FIELDS;
        const fmo_gpu_list_arrays lists =
            fmo_gpu_find_list_arrays(&pairs, c, (size_t)pairs.num, values, g->functions.sp);
        bytes += fmo_gpu_arrays_bytes(lists.array, lists.num);
    }
    return bytes;
}

/* Makes the list of one class of pairs and copies it to the GPU; keeps the first functions of each
 * pair on the host (pair_ao). */
static fmo_status make_list(const fmo_fock_plan *plan, fmo_pair_class pair_class, int depth,
                            fmo_gpu_state *g, fmo_error *err)
{
    const fmo_basis *basis = plan->basis;
    const fmo_gpu_functions *f = &g->functions;
    const fmo_pair_list *list = &plan->pairs.list[pair_class];
    fmo_gpu_pairs *pairs = &g->pairs[pair_class];
    fmo_pair_ao **host = &g->pair_ao[pair_class];
    /* kernels read one record ahead */
    const size_t values = ((size_t)list->prim_num + 1) * FMO_GPU_PAIR_FIELDS;
    size_t n = 0;
    for (int p = 0; p < list->num; p++) n += (size_t)segments_of(pair_prims(list, p), depth);
    staged_pairs staged;
    fmo_gpu_list_arrays lists = fmo_gpu_find_list_arrays(pairs, pair_class, n, values, f->sp);
    fmo_gpu_array *const arrays = lists.array;
    const int num = lists.num;
    void **const to[] = {(void **)&staged.first,   (void **)&staged.screen,
                         (void **)&staged.prim_at, (void **)&staged.tile_bound,
                         (void **)&staged.centre,  (void **)&staged.prim,
                         (void **)&staged.record,  (void **)&staged.record_at};
    static_assert(sizeof to / sizeof *to == FMO_GPU_LIST_ARRAYS_STAGED, "what a plan makes");
    for (int a = 0; a < FMO_GPU_LIST_ARRAYS_STAGED; a++) arrays[a].staged = to[a];
    fmo_status status = FMO_OK;
    pair_segment *const key = (pair_segment *)malloc((n + 1) * sizeof *key);
    void *const host_piece = fmo_gpu_stage(arrays, num);
    *host = (fmo_pair_ao *)malloc((n + 1) * sizeof **host);
    if (!key || !host_piece || !*host) {
        status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %zu shell pairs", n);
        goto done;
    }
    if (values / 2 > UINT32_MAX || f->nao > UINT16_MAX || n > FMO_GPU_PAIRS_MAX) {
        status = fmo_error_set(err, FMO_ERR_MEMORY,
                               "%zu pairs of shells, %lld of primitives, %d functions are more "
                               "than the GPU's indices hold",
                               n, (long long)list->prim_num, f->nao);
        goto done;
    }
    status = fmo_gpu_place_arrays(&g->device, "shell pairs", arrays, num, err);
    if (status != FMO_OK) goto done;
    n = cut_pairs(f, basis, pair_class, list, depth, key);
    qsort(key, n, sizeof *key, by_rank);
    stage_pairs(f, basis, pair_class, list, key, n, &staged);
    for (size_t p = 0; p < n; p++)
        (*host)[p] = {basis->shell[list->i[key[p].index]].ao_begin,
                      basis->shell[list->j[key[p].index]].ao_begin};
    pairs->num = (int)n;
    status = fmo_gpu_upload(&g->device, "copying shell pairs", host_piece, arrays, num, err);
done:
    free(key);
    free(host_piece);
    return status;
}

fmo_status fmo_gpu_make_pairs(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err)
{
    fmo_status status = FMO_OK;
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) g->prim_num[c] = plan->pairs.list[c].prim_num;
    fmo_gpu_count_primitive_quartets(g);
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT && status == FMO_OK; c++)
        status =
            make_list(plan, (fmo_pair_class)c, fmo_gpu_contraction_depth(g->primitives), g, err);
    return status;
}
