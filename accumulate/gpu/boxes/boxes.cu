/* Makes and frees a plan's tree of cells, and queues the steps of a build that use it
 * (docs/explanation/gpu/boxes.md). The kernels are in leaves.cu, near.cu and interact.cu. */
#include "accumulate/gpu/boxes/boxes.h"
#include "accumulate/gpu/boxes/leaves.h"
#include "accumulate/gpu/boxes/interact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accumulate/gpu/pageable.h"
#include "accumulate/gpu/range.h"
#include "accumulate/tree/survey.h"
#include "accumulate/tuning.h"

namespace {

/* Host arrays from which the tree is made: positions and sizes of all pairs, and their loads. */
typedef struct staged {
    fmo_box_item *item;
    double *bound, *moment; /* [items] as in fmo_box_load */
} staged;

void free_staged(staged *s)
{
    free(s->item);
    free(s->bound);
    free(s->moment);
}

/* Computes positions, sizes, bounds and moments of all pairs on the GPU, where the primitives of a
 * pair are contiguous, and copies them to the host. to: freed by the caller, also on error. */
fmo_status find_extents(const fmo_fock_plan *plan, int num, staged *to, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    fmo_gpu_box_extents_args args = {};
    const size_t n = (size_t)num;
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
        args.pairs[c] = g->pairs[c];
        args.first[c + 1] = args.first[c] + g->pairs[c].num;
    }
    args.cutoff = plan->options.cutoff;
    to->item = (fmo_box_item *)malloc(n * sizeof *to->item);
    to->bound = (double *)malloc(n * sizeof *to->bound);
    to->moment = (double *)malloc(n * sizeof *to->moment);
    if (!to->item || !to->bound || !to->moment)
        return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for boxes of %d pairs", num);
    const fmo_gpu_array arrays[] = {{n * sizeof *args.item, (void **)&args.item, NULL},
                                    {n * sizeof *args.bound, (void **)&args.bound, NULL},
                                    {n * sizeof *args.moment, (void **)&args.moment, NULL}};
    const fmo_status status = fmo_gpu_place_arrays(&g->device, "items of boxes", arrays, 3, err);
    if (status != FMO_OK) return status;
    const cudaStream_t stream = g->device.stream;
    cudaError_t code = fmo_gpu_follow(&g->device, stream);
    if (code == cudaSuccess) code = fmo_gpu_box_extents(&args, stream);
    if (code == cudaSuccess)
        code = fmo_gpu_bring(to->item, args.item, n * sizeof *to->item, stream);
    if (code == cudaSuccess)
        code = fmo_gpu_bring(to->bound, args.bound, n * sizeof *to->bound, stream);
    if (code == cudaSuccess)
        code = fmo_gpu_bring(to->moment, args.moment, n * sizeof *to->moment, stream);
    fmo_gpu_free(&g->device, args.item);
    FMO_GPU_CHECK(code, "items of boxes", err);
    return FMO_OK;
}

/* The arrays of a plan in GPU memory; those with a host pointer here are made on the host and
 * copied. CHUNKS_A_BOX, CHUNKS_MIN: the number of chunks (fmo_gpu_box_view.open) is proportional
 * to the number of cells, plus a minimum. */
enum {
    ARRAYS = 21 + 4 * FMO_PAIR_LOW_L_COUNT,
    CHUNKS_A_BOX = fmo_tuning_gpu_box_chunks,
    CHUNKS_MIN = fmo_tuning_gpu_box_chunks_least
};
typedef struct box_arrays {
    fmo_gpu_array array[ARRAYS];
    int num;
    fmo_box *box;
    double *largest_bound, *largest_moment, *bound, *moment;
    int *item, *of_leaf, *leaf[FMO_PAIR_LOW_L_COUNT], *tile_leaf[FMO_PAIR_LOW_L_COUNT];
} box_arrays;

/* Appends an array of `num` elements to the list; staged: where its host copy will be, or NULL. */
template <class T> void add_array(box_arrays *a, size_t num, const T *const *at, T **staged)
{
    a->array[a->num++] = {num * sizeof(T), (void **)at, (void **)staged};
}

/* Lists all arrays of the plan with their sizes, those made on the host first, and sets the numbers
 * of the view that follow from the tree. */
void list_arrays(fmo_gpu_state *g, fmo_gpu_boxes *b, box_arrays *a)
{
    fmo_gpu_box_view *const v = &b->view;
    const size_t boxes = (size_t)b->tree.num, items = (size_t)b->tree.item_num;
    const size_t leaves = (size_t)b->tree.leaf_num, terms = boxes * FMO_GPU_BOX_TERMS;
    add_array(a, boxes, &v->box, &a->box);
    add_array(a, boxes, &v->largest_bound, &a->largest_bound);
    add_array(a, boxes, &v->largest_moment, &a->largest_moment);
    add_array(a, items, &v->bound, &a->bound);
    add_array(a, items, &v->moment, &a->moment);
    add_array(a, items, &v->item, &a->item);
    add_array(a, leaves, &v->of_leaf, &a->of_leaf);
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
        fmo_gpu_box_pairs *const box_pairs = &v->of[c];
        box_pairs->tiles = (g->pairs[c].num + FMO_GPU_TILE_PAIRS - 1) / FMO_GPU_TILE_PAIRS;
        box_pairs->words = (box_pairs->tiles + 31) / 32;
        add_array(a, (size_t)g->pairs[c].num, &box_pairs->leaf, &a->leaf[c]);
        add_array(a, (size_t)box_pairs->tiles * FMO_GPU_TILE_PAIRS, &box_pairs->tile_leaf,
                  &a->tile_leaf[c]);
    }
    v->leaves = b->tree.leaf_num;
    v->words = (b->tree.leaf_num + 31) / 32;
    add_array<fmo_box_load>(a, boxes, &v->log_load, NULL);
    add_array<double2>(a, terms, &v->multipole, NULL);
    add_array<double2>(a, terms, &v->potential, NULL);
    add_array<float>(a, boxes * FMO_GPU_BOX_STRENGTHS, &v->strength, NULL);
    add_array<unsigned>(a, leaves * (size_t)v->words, &v->near, NULL);
    v->open_chunks = b->tree.num * CHUNKS_A_BOX + CHUNKS_MIN;
    add_array<int2>(a, boxes, &v->opened, NULL);
    add_array<unsigned>(a, (size_t)v->open_chunks * FMO_GPU_BOX_CHUNK, &v->open, NULL);
    add_array<int>(a, (size_t)v->open_chunks, &v->next_open, NULL);
    add_array<int>(a, 1, &v->open_num, NULL);
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
        fmo_gpu_box_pairs *const box_pairs = &v->of[c];
        add_array<unsigned>(a, leaves * (size_t)box_pairs->words, &box_pairs->tile_near, NULL);
        add_array<float>(a, (size_t)g->functions.sp_shells * (size_t)box_pairs->tiles,
                         &box_pairs->tile_exchange, NULL);
    }
}

/* Fills in the host arrays: cells, pairs, bounds, and the leaf of each pair, also in the order of
 * tiles. */
void fill_in(const fmo_gpu_boxes *b, const staged *from, const fmo_gpu_state *g, box_arrays *a)
{
    const fmo_boxes *tree = &b->tree;
    const size_t items = (size_t)tree->item_num;
    memcpy(a->box, tree->box, (size_t)tree->num * sizeof *a->box);
    memcpy(a->bound, from->bound, items * sizeof *a->bound);
    memcpy(a->moment, from->moment, items * sizeof *a->moment);
    memcpy(a->item, tree->item, items * sizeof *a->item);
    memcpy(a->of_leaf, tree->of_leaf, (size_t)tree->leaf_num * sizeof *a->of_leaf);
    fmo_boxes_largest(tree, from->bound, a->largest_bound);
    fmo_boxes_largest(tree, from->moment, a->largest_moment);
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
        const int num = g->pairs[c].num, tiles = b->view.of[c].tiles;
        for (int n = 0; n < tiles * FMO_GPU_TILE_PAIRS; n++) {
            const int leaf = n < num ? tree->leaf_of[b->view.first[c] + n] : -1;
            if (n < num) a->leaf[c][n] = leaf;
            a->tile_leaf[c][(size_t)(n % FMO_GPU_TILE_PAIRS) * (size_t)tiles +
                            (size_t)(n / FMO_GPU_TILE_PAIRS)] = leaf;
        }
    }
}

/* Allocates the arrays in GPU memory, fills in those made on the host and copies them. Fails with
 * FMO_ERR_MEMORY if they would take more than a fixed share of the free memory. */
fmo_status place(fmo_gpu_state *g, fmo_gpu_boxes *b, const staged *from, fmo_error *err)
{
    box_arrays arrays = {};
    size_t available = 0;
    list_arrays(g, b, &arrays);
    fmo_status status = fmo_gpu_available_memory(&available, err);
    if (status != FMO_OK) return status;
    const size_t bytes = fmo_gpu_arrays_bytes(arrays.array, arrays.num);
    if ((double)bytes > fmo_tuning_gpu_far_share * (double)available)
        return fmo_error_set(
            err, FMO_ERR_MEMORY,
            "coulomb = boxes needs %.1f GB of GPU memory, more than the allowed %g of "
            "what is free; use coulomb = direct",
            1e-9 * (double)bytes, fmo_tuning_gpu_far_share);
    status = fmo_gpu_place_arrays(&g->device, "boxes", arrays.array, arrays.num, err);
    if (status != FMO_OK) return status;
    void *const host = fmo_gpu_stage(arrays.array, arrays.num);
    if (!host) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for %d boxes", b->tree.num);
    fill_in(b, from, g, &arrays);
    status = fmo_gpu_upload(&g->device, "copying boxes", host, arrays.array, arrays.num, err);
    free(host);
    return status;
}

} // namespace

/* Frees all of the host's tree except its levels: builds use nothing else. */
static void keep_levels(fmo_boxes *tree)
{
    free(tree->box);
    free(tree->item);
    free(tree->leaf_of);
    free(tree->of_leaf);
    tree->box = NULL;
    tree->item = tree->leaf_of = tree->of_leaf = NULL;
    tree->bytes = ((size_t)tree->level_num + 1) * sizeof *tree->level;
}

/* Returns the fraction of pairs of nuclei that are within fmo_tuning_gpu_box_close bohr of each
 * other, from a sample of nuclei; 1 if there are no pairs. */
static double close_nuclei(const fmo_basis *basis)
{
    const int step = basis->nucleus_num / fmo_tuning_gpu_box_sample + 1;
    const double *const place = basis->coord;
    int64_t close = 0, all = 0;
    for (int a = 0; a < basis->nucleus_num; a += step)
        for (int b = 0; b < a; b += step, all++) {
            double R2 = 0.0;
            for (int x = 0; x < 3; x++) {
                const double d = place[3 * a + x] - place[3 * b + x];
                R2 += d * d;
            }
            close += R2 < fmo_tuning_gpu_box_close * fmo_tuning_gpu_box_close;
        }
    return all ? (double)close / (double)all : 1.0;
}

/* Whether multipoles are expected to save time: in large systems that are not compact. Never where
 * MPI ranks share a build, because all would have to agree and each has its own amount of free
 * memory; GPUs of one plan do agree (several.cu). */
static bool repays(const fmo_fock_plan *plan, double pairs)
{
    if (plan->shares > 1 && plan->options.device_num < 2 && !plan->lead) return false;
    if (plan->gpu->primitives < fmo_tuning_gpu_lists_work) return false;
    const double close = close_nuclei(plan->basis);
    return close <= fmo_tuning_gpu_box_close_share &&
           0.5 * pairs * pairs * (1.0 - close) >= fmo_tuning_gpu_box_far_pairs;
}

/* Checks whether the options allow and require multipoles, makes the tree on the host and copies it
 * to the GPU. If memory does not suffice this is an error only on coulomb = boxes. */
fmo_status fmo_gpu_make_boxes(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    const fmo_fock_options *o = &plan->options;
    const bool requested = o->coulomb == FMO_COULOMB_BOXES;
    const bool kernels = fmo_gpu_has_exchange_only(o->scatter, o->commit);
    int num = 0;
    if (o->mode != FMO_MODE_FUSED || o->coulomb == FMO_COULOMB_DIRECT || o->cutoff == 0.0)
        return FMO_OK;
    if (requested && !kernels)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "coulomb = boxes does not support scatter = %s with commit = %s; "
                             "use auto for them, or coulomb = direct",
                             fmo_scatter_name(o->scatter), fmo_commit_name(o->commit));
    if (requested && !g->far)
        return fmo_error_set(err, FMO_ERR_MEMORY,
                             "coulomb = boxes: quadrature points of far pairs need more than %g of "
                             "the free GPU memory; use coulomb = direct",
                             fmo_tuning_gpu_far_share);
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) num += g->pairs[c].num;
    if (requested && !num)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "coulomb = boxes needs pairs of s and p shells on a GPU; this basis "
                             "has none; use coulomb = direct");
    if (!kernels || !g->far || !num || (!requested && !repays(plan, num))) return FMO_OK;
    fmo_gpu_boxes *const b = (fmo_gpu_boxes *)calloc(1, sizeof *b);
    if (!b) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for boxes");
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++)
        b->view.first[c + 1] = b->view.first[c] + g->pairs[c].num;
    b->view.criterion = {log(o->cutoff), FMO_GPU_BOX_ORDER, fmo_tuning_gpu_box_worth};
    g->boxes = b;
    staged from = {};
    fmo_error failure = {FMO_OK, ""};
    fmo_status status = find_extents(plan, num, &from, &failure);
    if (status == FMO_OK)
        status =
            fmo_boxes_make(from.item, num, fmo_tuning_gpu_box_leaf, o->threads, &b->tree, &failure);
    const bool fits =
        b->tree.level_num <= FMO_GPU_BOX_LEVELS_MAX && b->tree.num <= FMO_GPU_BOXES_MAX;
    if (status == FMO_OK && !fits)
        status = fmo_error_set(&failure, FMO_ERR_MEMORY,
                               "coulomb = boxes: %d boxes on %d levels are too many for the GPU's "
                               "indices; use coulomb = direct",
                               b->tree.num, b->tree.level_num);
    if (status == FMO_OK) status = place(g, b, &from, &failure);
    free_staged(&from);
    if (status == FMO_OK) {
        keep_levels(&b->tree);
        return FMO_OK;
    }
    fmo_gpu_free_boxes(g);
    return status == FMO_ERR_MEMORY && !requested
               ? FMO_OK
               : fmo_error_set(err, status, "%s", failure.message);
}

void fmo_gpu_free_boxes(fmo_gpu_state *g)
{
    fmo_gpu_boxes *const b = g->boxes;
    if (!b) return;
    fmo_gpu_free(&g->device, (void *)b->view.box);
    fmo_boxes_free(&b->tree);
    free(b);
    g->boxes = NULL;
}

/* Returns the arguments of the kernels of leaves.cu. */
static fmo_gpu_box_leaves_args leaves_args(const fmo_fock_plan *plan, bool fixed)
{
    const fmo_gpu_state *g = plan->gpu;
    fmo_gpu_box_leaves_args args = {};
    args.view = g->boxes->view;
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) args.pairs[c] = g->pairs[c];
    args.weight = plan->coulomb_weight;
    args.scale = fixed ? &g->arrays.counters->fixed_scale : NULL;
    return args;
}

size_t fmo_gpu_box_host_bytes(const fmo_gpu_boxes *boxes)
{
    return boxes ? sizeof *boxes + boxes->tree.bytes : 0;
}

/* Without K the exchange bounds are zeroed, without J no leaf is near. */
cudaError_t fmo_gpu_box_neighbours(const fmo_fock_plan *plan, cudaStream_t stream)
{
    const fmo_gpu_range range("boxes");
    const fmo_gpu_state *g = plan->gpu;
    const fmo_gpu_box_view *v = &g->boxes->view;
    const size_t leaves = (size_t)v->leaves, sp_shells = (size_t)g->functions.sp_shells;
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) {
        const fmo_gpu_box_pairs *box_pairs = &v->of[c];
        if (g->requested & FMO_TERMS_K)
            FMO_GPU_TRY(fmo_gpu_box_exchange(box_pairs, &g->pairs[c], g->arrays.density_max,
                                             g->functions.sp_shells, stream));
        else if (box_pairs->tiles)
            FMO_GPU_TRY(cudaMemsetAsync(box_pairs->tile_exchange, 0,
                                        sp_shells * (size_t)box_pairs->tiles * sizeof(float),
                                        stream));
    }
    if (g->requested & FMO_TERMS_J) {
        const fmo_gpu_box_leaves_args args = leaves_args(plan, false);
        FMO_GPU_TRY(fmo_gpu_box_loads(&args, g->boxes->tree.num, stream));
        return fmo_gpu_box_near(v, &g->boxes->tree, stream);
    }
    FMO_GPU_TRY(cudaMemsetAsync(v->near, 0, leaves * v->words * sizeof *v->near, stream));
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++) /* nothing is computed for J */
        if (v->of[c].tiles)
            FMO_GPU_TRY(cudaMemsetAsync(v->of[c].tile_near, 0,
                                        leaves * v->of[c].words * sizeof(unsigned), stream));
    return cudaSuccess;
}

cudaError_t fmo_gpu_box_potentials(const fmo_fock_plan *plan, bool fixed, cudaStream_t stream)
{
    const fmo_gpu_range range("boxes");
    const fmo_gpu_state *g = plan->gpu;
    const fmo_gpu_box_view *v = &g->boxes->view;
    /* where several GPUs or ranks share a build, the first adds the interactions */
    if (!(g->requested & FMO_TERMS_J) || plan->share > 0) return cudaSuccess;
    const fmo_gpu_box_leaves_args args = leaves_args(plan, fixed);
    FMO_GPU_TRY(fmo_gpu_box_collect(&args, stream));
    FMO_GPU_TRY(fmo_gpu_box_up(v, &g->boxes->tree, stream));
    FMO_GPU_TRY(fmo_gpu_box_interact(v, g->boxes->tree.num, stream));
    FMO_GPU_TRY(fmo_gpu_box_down(v, &g->boxes->tree, stream));
    return fmo_gpu_box_contract(&args, stream);
}
