/* Launches screening: one kernel screens all classes of a pass and writes the screened-in quartets
 * to lists. The kernels are in screen.cuh, the method is described in
 * docs/explanation/gpu/screening.md. */
#include "accumulate/gpu/range.h"
#include "accumulate/gpu/screen.cuh"

#include <math.h>
#include <string.h>

/* Bytes of shared memory for a row of the density's block maxima. */
static size_t rows_bytes(const fmo_gpu_state *g)
{
    return (size_t)g->functions.sp_shells * sizeof(float);
}

static screen_pairs pairs_to_screen(const fmo_gpu_pairs *from)
{
    const screen_pairs pairs = {from->screen,    from->tile_bound, from->tile_coulomb_estimate,
                                from->log_prims, from->sphere,     from->reach,
                                from->fit,       from->num};
    return pairs;
}

/* True if screening excludes the J of far pairs that multipole expansions provide. Not while
 * quartets for stored integrals are listed: those lists must contain all quartets. */
static bool has_boxes(const fmo_gpu_state *g)
{
    return g->boxes && g->far;
}

/* True if screening uses the decay of the operator, from data of pairs for far quartets. */
static bool uses_decay(const fmo_fock_plan *plan)
{
    const fmo_gpu_state *g = plan->gpu;
    if (!g->with_operator || !isfinite(g->operator_range) || plan->cutoff <= 0.0) return false;
    for (int c = 0; c < FMO_PAIR_LOW_L_COUNT; c++)
        if (g->pairs[c].num && !g->pairs[c].sphere) return false;
    return true;
}

/* True if thread blocks get the smaller number of slabs, which gives more blocks. */
static bool in_small_blocks(const fmo_gpu_state *g)
{
    return g->primitives < fmo_tuning_gpu_small_work && !has_boxes(g);
}

/* Sets the kernel's arguments for a pass; returns its grid. */
static dim3 screen_arguments(const fmo_fock_plan *plan, const fmo_gpu_pass *pass, screen_args *a)
{
    const fmo_gpu_state *g = plan->gpu;
    a->blocks = 0;
    a->slabs = in_small_blocks(g) ? SMALL_SLABS : LARGE_SLABS;
    for (int n = 0; n < pass->num; n++) {
        const fmo_gpu_task *from = &pass->task[n];
        const fmo_gpu_class_view view = fmo_gpu_view(plan, from);
        screen_task *to = &a->task[n];
        to->bra = pairs_to_screen(&view.bra);
        to->ket = pairs_to_screen(&view.ket);
        to->eri_class = from->task.eri_class;
        to->same = view.same;
        to->bra_begin = from->task.bra_begin;
        to->bra_step = from->task.bra_step;
        const int all = view.same ? from->task.bra_end : view.ket.num;
        const int span = a->slabs * SCREEN_KETS;
        to->chunks = (all + span - 1) / span;
        to->block_begin = a->blocks;
        to->list = g->lists.near + from->list_at;
        to->far_J_end = to->list + from->candidates;
        to->far_K = g->far ? g->lists.far_K + from->list_at : NULL;
        a->blocks += (unsigned)fmo_gpu_task_bras(from) * (unsigned)to->chunks;
    }
    a->tasks = pass->num;
    a->sp_shells = g->functions.sp_shells;
    a->coded = g->functions.sp;
    a->cutoff = fmo_gpu_screen_cutoff(plan);
    a->range = g->operator_range;
    const fmo_gpu_exchange_max exchange = fmo_gpu_find_exchange_max(g);
    a->block_max = exchange.block;
    a->row_max = exchange.row;
    a->stride = exchange.stride;
    a->counters = g->arrays.counters;
    return dim3(a->blocks);
}

/* Sets the kernel's arguments for a pass with cells of far pairs; returns its grid. */
static dim3 screen_box_arguments(const fmo_fock_plan *plan, const fmo_gpu_pass *pass,
                                 screen_box_args *a)
{
    const fmo_gpu_box_view *v = &plan->gpu->boxes->view;
    a->near = v->near;
    a->words = v->words;
    for (int n = 0; n < pass->num; n++) {
        const int c = pass->task[n].task.eri_class;
        const fmo_gpu_box_pairs *bra = &v->of[fmo_eri_class_bra(c)];
        const fmo_gpu_box_pairs *ket = &v->of[fmo_eri_class_ket(c)];
        a->task[n] = {bra->leaf,          ket->leaf,  ket->tile_near,
                      ket->tile_exchange, ket->words, ket->tiles};
    }
    return screen_arguments(plan, pass, &a->plain);
}

/* Chooses the kernel by the size of the systems, by whether there are far quartets, and by whether
 * the rows of the density maxima fit into shared memory, and launches it for all builds. */
cudaError_t fmo_gpu_screen(const fmo_gpu_group *group, int pass)
{
    typedef void kernel(fmo_gpu_one<screen_args>);
    constexpr int per_launch = fmo_gpu_many_max<screen_args>;
    const fmo_gpu_range range("screening");
    size_t rows = 0;
    const fmo_gpu_state *first = group->build->plan->gpu;
    const bool small = in_small_blocks(first), far = first->far;
    for (int k = 0; k < group->num; k++) {
        fmo_gpu_state *g = group->build[k].plan->gpu;
        if (rows_bytes(g) > rows) rows = rows_bytes(g);
        if (pass == 0) continue; /* in the first pass the counters are zero */
        FMO_GPU_TRY(cudaMemsetAsync(g->arrays.counters->screened_in, 0,
                                    sizeof g->arrays.counters->screened_in, group->stream));
    }
#define KERNELS(queue, rows)                                                   \
    {screen<queue, rows, SCREEN_PLAIN, 1>, screen<queue, rows, SCREEN_FAR, 1>, \
     screen<queue, rows, SCREEN_ERFC, 1>}
    kernel *const kernels[2][2][3] = {{KERNELS(LARGE_QUEUE, false), KERNELS(LARGE_QUEUE, true)},
                                      {KERNELS(SMALL_QUEUE, false), KERNELS(SMALL_QUEUE, true)}};
#undef KERNELS
    const bool fits = rows <= fmo_tuning_gpu_screen_rows_bytes;
    if (has_boxes(first)) /* large systems are never in groups */
        return fmo_gpu_launch_group<screen_box_args>(
            group, fits ? screen_boxes<true> : screen_boxes<false>, NULL, SCREEN_THREADS,
            fits ? rows : 0, [&](const fmo_gpu_build *build, screen_box_args *a) {
                return screen_box_arguments(build->plan, &build->plan->gpu->lists.pass[pass], a);
            });
    const int distance = far                              ? SCREEN_FAR
                         : uses_decay(group->build->plan) ? SCREEN_ERFC
                                                          : SCREEN_PLAIN;
    return fmo_gpu_launch_group<screen_args>(
        group, kernels[small][fits][distance],
        far ? screen<SMALL_QUEUE, true, SCREEN_FAR, per_launch>
            : screen<SMALL_QUEUE, true, SCREEN_PLAIN, per_launch>,
        SCREEN_THREADS, fits ? rows : 0, [&](const fmo_gpu_build *build, screen_args *a) {
            return screen_arguments(build->plan, &build->plan->gpu->lists.pass[pass], a);
        });
}
