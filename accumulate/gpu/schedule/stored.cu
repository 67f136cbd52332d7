/* Schedule `stored`: integrals that stay in GPU memory from build to build
 * (docs/explanation/gpu/stored.md). This file decides whether they are stored, computes them, and
 * launches the kernel that uses them, kernels/stored.cuh. */
#include "accumulate/gpu/range.h"
#include "accumulate/gpu/schedule/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "accumulate/gpu/kernels/stored.cuh"

namespace {

/* Computes and stores the integrals of the quartets of a list. */
template <class C>
__global__ void __launch_bounds__(FMO_GPU_THREADS, C::resident)
    compute(fmo_gpu_class_view view, const fmo_boys_table *boys, size_t quartets, double *to)
{
    const size_t quartet = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (quartet >= quartets) return;
    double eri[C::size];
    (void)fmo_gpu_quartet<C>(view, boys->row[C::order][0], view.list[quartet], eri);
    fmo_gpu_store_integrals<C>(to, quartet, eri);
}

template <class C>
cudaError_t launch_compute(const fmo_gpu_class_view *view, const fmo_gpu_state *g, size_t quartets)
{
    const unsigned blocks = (unsigned)((quartets + FMO_GPU_THREADS - 1) / FMO_GPU_THREADS);
    compute<C>
        <<<blocks, FMO_GPU_THREADS, 0, g->device.stream>>>(*view, g->boys, quartets, g->eri[C::id]);
    return cudaGetLastError();
}

const struct {
    cudaError_t (*compute)(const fmo_gpu_class_view *, const fmo_gpu_state *, size_t);
    size_t (*size)(size_t);
} classes[FMO_ERI_LOW_L_COUNT] = {
#define ROW(e, name, ...) \
    {launch_compute<fmo_sp_class_##name>, fmo_gpu_stored_size<fmo_sp_class_##name>},
    FMO_ERI_LOW_L_TABLE(ROW)
#undef ROW
};

/* Prepares screening with the largest density for which the pairs are valid. Quartets that are
 * screened out with it are screened out with any smaller density, and the codes of its density
 * factors hold for all. */
cudaError_t order_largest_density(const fmo_gpu_group *group)
{
    const fmo_fock_plan *plan = group->build->plan;
    fmo_gpu_state *g = plan->gpu;
    const size_t n = (size_t)plan->basis->ao_num;
    const double *const norm = plan->basis->ao_norm;
    FMO_GPU_TRY(fmo_gpu_make_pinned(plan));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            g->pinned.in[i * n + j] = plan->density_limit / (norm[i] * norm[j]);
    FMO_GPU_TRY(cudaMemcpyAsync(g->arrays.density_in, g->pinned.in, n * n * sizeof(double),
                                cudaMemcpyHostToDevice, group->stream));
    return fmo_gpu_order_density(group);
}

/* Screens all passes and counts the screened-in quartets of each class. list_at: where the quartets
 * of each class are listed, those of all passes one after the other; NULL: each pass overwrites the
 * list of the previous one. */
cudaError_t screen_all(const fmo_gpu_group *group, const size_t *list_at, size_t *quartets)
{
    fmo_gpu_state *g = group->build->plan->gpu;
    fmo_gpu_counters *const counters = g->pinned.counters;
    memset(quartets, 0, FMO_ERI_LOW_L_COUNT * sizeof *quartets);
    for (int p = 0; p < g->lists.passes; p++) {
        fmo_gpu_pass *pass = &g->lists.pass[p];
        for (int n = 0; n < pass->num && list_at; n++) {
            const int c = pass->task[n].task.eri_class;
            pass->task[n].list_at = list_at[c] + quartets[c];
        }
        FMO_GPU_TRY(fmo_gpu_screen(group, p));
        FMO_GPU_TRY(cudaMemcpyAsync(counters, g->arrays.counters, sizeof *counters,
                                    cudaMemcpyDeviceToHost, group->stream));
        FMO_GPU_TRY(cudaStreamSynchronize(group->stream));
        for (int n = 0; n < pass->num; n++) {
            const int c = pass->task[n].task.eri_class;
            quartets[c] += counters->screened_in[FMO_GPU_NEAR][c];
        }
    }
    return cudaSuccess;
}

/* Decides whether `bytes` are stored; FMO_ERR_MEMORY if that was requested and they do not fit. */
fmo_status decide(const fmo_fock_plan *plan, size_t bytes, bool *store, fmo_error *err)
{
    const bool automatic = plan->options.integrals == FMO_INTEGRALS_AUTO;
    size_t available = 0, allowed = plan->gpu->device.memory;
    if (!allowed) {
        const fmo_status status = fmo_gpu_available_memory(&available, err);
        if (status != FMO_OK) return status;
        allowed =
            (size_t)((automatic ? fmo_tuning_gpu_stored_auto_share : fmo_tuning_gpu_stored_share) *
                     (double)available);
    }
    *store = bytes <= allowed;
    if (*store || automatic) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_MEMORY,
                         "integrals = stored needs %.1f MB of GPU memory, %.1f may be used; use "
                         "integrals = auto or direct, a larger cutoff or more memory",
                         1e-6 * (double)bytes, 1e-6 * (double)allowed);
}

/* The stored quartets and integrals of each class, and where they begin. */
typedef struct kept {
    size_t quartets[FMO_ERI_LOW_L_COUNT];
    size_t list_at[FMO_ERI_LOW_L_COUNT], eri_at[FMO_ERI_LOW_L_COUNT];
    size_t list_size, eri_size; /* of all classes */
    int2 *list;
    double *eri;
} kept;

/* Sets where the quartets and integrals of each class begin. */
void place(kept *k)
{
    k->list_size = k->eri_size = 0;
    for (int c = 0; c < FMO_ERI_LOW_L_COUNT; c++) {
        k->list_at[c] = k->list_size;
        k->eri_at[c] = k->eri_size;
        k->list_size += k->quartets[c];
        k->eri_size += classes[c].size(k->quartets[c]);
    }
}

/* Makes one pass of complete classes, those of highest angular momentum first. */
void whole_classes(const fmo_gpu_state *g, const kept *k, fmo_gpu_pass *pass)
{
    for (int c = FMO_ERI_LOW_L_COUNT - 1; c >= 0; c--)
        if (k->quartets[c])
            pass->task[pass->num++] = {
                {(fmo_eri_class)c, 0, g->pairs[fmo_eri_class_bra(c)].num, 1, 0.0},
                NULL,
                NULL,
                k->list_at[c],
                k->quartets[c],
                {NULL, NULL}};
}

/* Lists the quartets again, in a list of exactly their number, and computes their integrals. */
cudaError_t compute_all(const fmo_gpu_group *group, kept *k)
{
    fmo_fock_plan *plan = group->build->plan;
    fmo_gpu_state *g = plan->gpu;
    FMO_GPU_TRY(fmo_gpu_order_density(group)); /* sets the counters to zero */
    FMO_GPU_TRY(screen_all(group, k->list_at, k->quartets));
    fmo_gpu_pass *const pass = (fmo_gpu_pass *)calloc(1, sizeof *pass);
    if (!pass) return cudaErrorMemoryAllocation;
    whole_classes(g, k, pass);
    fmo_gpu_set_passes(&g->lists, pass, 1);
    for (int n = 0; n < pass->num; n++) {
        const fmo_gpu_task *task = &pass->task[n];
        const int c = task->task.eri_class;
        const fmo_gpu_class_view view = fmo_gpu_view(plan, task);
        g->eri[c] = k->eri + k->eri_at[c];
        FMO_GPU_TRY(classes[c].compute(&view, g, task->candidates));
    }
    return cudaStreamSynchronize(group->stream);
}

/* Launches the kernel for stored integrals, which does its own screening. Pieces, the consecutive
 * quartets that a warp processes, are as long as is possible with enough of them for each warp. */
cudaError_t run_task(const fmo_fock_plan *plan, const fmo_gpu_variant *variant,
                     const fmo_gpu_task *task, cudaStream_t stream)
{
    const fmo_gpu_state *g = plan->gpu;
    const int c = task->task.eri_class;
    int blocks = 0;
    FMO_GPU_TRY(fmo_gpu_blocks_for(g, task, (const void *)variant->stored[c], &blocks));
    const size_t warps = (size_t)blocks * (FMO_GPU_THREADS / 32);
    size_t piece = fmo_tuning_gpu_stored_piece_least;
    while (piece < fmo_tuning_gpu_stored_piece_max &&
           fmo_tuning_gpu_stored_pieces * warps * 2 * piece <= task->candidates)
        piece *= 2;
    const fmo_gpu_exchange_max exchange = fmo_gpu_find_exchange_max(g);
    const fmo_gpu_stored_args args = {
        g->eri[c],         task->candidates, piece,
        exchange.block,    exchange.stride,  fmo_gpu_screen_cutoff(plan),
        g->arrays.counters};
    variant->stored[c]<<<blocks, FMO_GPU_THREADS, 0, stream>>>(fmo_gpu_view(plan, task),
                                                               fmo_gpu_matrix_view(plan, c), args);
    return cudaGetLastError();
}

/* Sets the numbers of quartets to be computed: all that are listed. Their density factors hold for
 * every density. */
cudaError_t count_listed(const fmo_gpu_group *group, int pass_number)
{
    const fmo_gpu_state *const g = group->build->plan->gpu;
    const fmo_gpu_pass *const pass = &g->lists.pass[pass_number];
    for (int n = 0; n < pass->num; n++) {
        const fmo_gpu_task *const task = &pass->task[n];
        const unsigned quartets = (unsigned)task->candidates;
        FMO_GPU_TRY(
            cudaMemcpyAsync(&g->arrays.counters->screened_in[FMO_GPU_NEAR][task->task.eri_class],
                            &quartets, sizeof quartets, cudaMemcpyHostToDevice, group->stream));
    }
    return cudaSuccess;
}

/* Computes the quartets of the list as schedule `direct` does. */
cudaError_t run_listed(const fmo_fock_plan *plan, const fmo_gpu_variant *variant,
                       const fmo_gpu_task *task, cudaStream_t stream)
{
    return fmo_gpu_schedule_direct.run_task(plan, variant, task, stream);
}

} // namespace

extern const fmo_gpu_schedule fmo_gpu_schedule_stored = {"stored", NULL, NULL, run_task,
                                                         false,    true, true, false};
extern const fmo_gpu_schedule fmo_gpu_schedule_listed = {"listed", NULL, count_listed, run_listed,
                                                         false,    true, false,        false};

/* Returns to schedule `direct` if memory for the integrals could not be allocated, for example
 * because it is fragmented. That is an error only if they were requested. */
static fmo_status give_up(fmo_fock_plan *plan, int far, kept *k, const fmo_error *failure,
                          fmo_error *err)
{
    fmo_gpu_free(&plan->gpu->device, k->list);
    plan->gpu->far = far;
    return failure->status == FMO_ERR_MEMORY && plan->options.integrals == FMO_INTEGRALS_AUTO
               ? FMO_OK
               : fmo_error_set(err, failure->status, "%s", failure->message);
}

/* Counts the quartets to be stored, decides, allocates, and computes the integrals. */
fmo_status fmo_gpu_store(fmo_fock_plan *plan, fmo_error *err)
{
    fmo_gpu_state *g = plan->gpu;
    const fmo_gpu_build build = fmo_gpu_own_build(plan);
    const fmo_gpu_group group = fmo_gpu_group_of_one(&build);
    kept k = {};
    bool store = false;
    fmo_error failure = {FMO_OK, ""};
    if (plan->options.integrals == FMO_INTEGRALS_DIRECT || !g->schedule->sums || g->hermite ||
        plan->options.coulomb == FMO_COULOMB_BOXES)
        return FMO_OK;
    const fmo_gpu_range range("stored integrals");
    const int far = g->far;
    g->far = 0; /* all quartets in one list */
    FMO_GPU_CHECK(order_largest_density(&group), "counting the integrals to keep", err);
    FMO_GPU_CHECK(screen_all(&group, NULL, k.quartets), "counting the integrals to keep", err);
    place(&k);
    fmo_status status =
        decide(plan, k.list_size * sizeof *k.list + k.eri_size * sizeof *k.eri, &store, err);
    if (!store) g->far = far;
    if (status != FMO_OK || !store) return status;

    status = fmo_gpu_alloc(&g->device, "list of integrals", k.list_size * sizeof *k.list,
                           (void **)&k.list, &failure);
    if (status == FMO_OK)
        status = fmo_gpu_alloc(&g->device, "integrals", k.eri_size * sizeof *k.eri, (void **)&k.eri,
                               &failure);
    if (status != FMO_OK) return give_up(plan, far, &k, &failure, err);
    g->far = far; /* so that the next call frees the nodes */
    fmo_gpu_free_far(g);
    int2 *const candidates = g->lists.near;
    g->lists.near = k.list;
    g->lists.size = k.list_size;
    FMO_GPU_CHECK(compute_all(&group, &k), "computing the integrals to keep", err);
    fmo_gpu_free(&g->device, candidates);
    g->schedule = &fmo_gpu_schedule_stored;
    return FMO_OK;
}
