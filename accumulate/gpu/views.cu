/* What the steps of a build read of a plan's state: sizes, cutoffs, and the views of pairs, lists
 * and matrices that are arguments of kernels. The functions are described in plan.h. */
#include "accumulate/gpu/plan.h"

#include <float.h>
#include <math.h>

#include "accumulate/rules/digest.h"
#include "accumulate/rules/screen.h"
#include "accumulate/tuning.h"

void fmo_gpu_count_primitive_quartets(fmo_gpu_state *g)
{
    g->primitives = 0.0;
    for (int c = 0; c < FMO_ERI_LOW_L_COUNT; c++) {
        const int bra = fmo_eri_class_bra(c), ket = fmo_eri_class_ket(c);
        const double quartets = (double)g->prim_num[bra] * (double)g->prim_num[ket];
        g->primitives += bra == ket ? 0.5 * quartets : quartets;
    }
}

fmo_status fmo_gpu_state_available(const fmo_gpu_state *g, size_t *bytes, fmo_error *err)
{
    *bytes = g->available;
    return g->available ? FMO_OK : fmo_gpu_available_memory(bytes, err);
}

bool fmo_gpu_is_small(const fmo_gpu_state *g)
{
    return g->primitives < fmo_tuning_gpu_group_work &&
           (size_t)g->functions.sp_shells * sizeof(float) <= fmo_tuning_gpu_screen_rows_bytes;
}

double fmo_gpu_cutoff_share(const fmo_fock_plan *plan, double share)
{
    return plan->cutoff * (share * plan->gpu->deep_share);
}

float fmo_gpu_prim_cutoff(const fmo_fock_plan *plan)
{
    /* The factor in a screened-in quartet's code holds for densities up to FMO_PRUNE_DENSITY. */
    return (float)(fmo_gpu_cutoff_share(plan, FMO_SCREEN_PRIM_SHARE) *
                   (FMO_PRUNE_DENSITY / plan->density_limit));
}

/* The pairs of a task and its ranges of the lists: near quartets from the beginning of the range
 * upwards, far ones for J alone from its end downwards, far ones for K in far_K. */
fmo_gpu_class_view fmo_gpu_view(const fmo_fock_plan *plan, const fmo_gpu_task *task)
{
    const fmo_gpu_state *g = plan->gpu;
    const int c = task->task.eri_class, bra = fmo_eri_class_bra(c), ket = fmo_eri_class_ket(c);
    fmo_gpu_counters *const counters = g->arrays.counters;
    int2 *const near = g->lists.near + task->list_at;
    const fmo_gpu_state *const bras = task->bra ? task->bra : g;
    const fmo_gpu_state *const kets = task->ket ? task->ket : g;
    const fmo_gpu_class_view view = {bras->pairs[bra],
                                     kets->pairs[ket],
                                     bra == ket && bras == kets,
                                     fmo_gpu_prim_cutoff(plan),
                                     near,
                                     near + task->candidates,
                                     g->far ? g->lists.far_K + task->list_at : NULL,
                                     {&counters->screened_in[FMO_GPU_NEAR][c],
                                      &counters->screened_in[FMO_GPU_FAR_J][c],
                                      &counters->screened_in[FMO_GPU_FAR_K][c]}};
    return view;
}

fmo_gpu_exchange_max fmo_gpu_find_exchange_max(const fmo_gpu_state *g)
{
    const fmo_gpu_arrays *a = &g->arrays;
    if (g->requested & FMO_TERMS_K) return {a->density_max, a->row_max, g->functions.sp_shells};
    return {a->no_exchange, a->no_exchange, 0};
}

float fmo_gpu_screen_cutoff(const fmo_fock_plan *plan)
{
    const float cutoff = (float)plan->cutoff;
    return plan->gpu->requested == FMO_TERMS_ALL ? cutoff : fmaxf(cutoff, FLT_MIN);
}

/* Returns the view of a plan's matrices and of the counters of a class, for kernel arguments. */
fmo_gpu_matrices fmo_gpu_matrix_view(const fmo_fock_plan *plan, int eri_class)
{
    const fmo_gpu_state *g = plan->gpu;
    const fmo_gpu_arrays *a = &g->arrays;
    const size_t inner = (size_t)g->functions.nao * (size_t)g->functions.nao;
    const fmo_gpu_matrices m = {a->density,
                                a->coulomb,
                                a->exchange,
                                a->sums_size,
                                inner,
                                a->copies,
                                g->functions.nao,
                                fmo_gpu_cutoff_share(plan, FMO_SCREEN_ADD_SHARE),
                                g->boys,
                                a->op,
                                &a->counters->fixed_scale,
                                &a->counters->sink,
                                &a->counters->issued[eri_class],
                                inner,
                                a->copies * inner};
    return m;
}

fmo_gpu_adds fmo_gpu_adds_per_quartet(const fmo_gpu_state *g, int eri_class)
{
    const int sp = g->functions.sp, bra = fmo_eri_class_bra(eri_class);
    const int ket = fmo_eri_class_ket(eri_class);
    const int n[4] = {fmo_pair_functions(bra, 0, sp), fmo_pair_functions(bra, 1, sp),
                      fmo_pair_functions(ket, 0, sp), fmo_pair_functions(ket, 1, sp)};
    fmo_gpu_adds adds = {0, 0};
#define TERM(matrix, row, column, den_row, den_column) adds.matrix += n[row] * n[column];
    FMO_DIGEST_TABLE(TERM)
#undef TERM
    return adds;
}
