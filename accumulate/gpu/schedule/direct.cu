/* Steps that all schedules share, and the usual schedule, `direct`: in each pass one screening
 * kernel, then one quartet kernel for each task or, in large systems with far quartets, one for
 * each of its lists. The kernels are in kernels/near.cuh and far.cuh. */
#include "accumulate/gpu/range.h"
#include "accumulate/gpu/hermite/hermite.h"
#include "accumulate/gpu/hermite/use.h"

cudaError_t fmo_gpu_blocks_for(const fmo_gpu_state *g, const fmo_gpu_task *task, const void *kernel,
                               int *blocks)
{
    FMO_GPU_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, FMO_GPU_THREADS, 0));
    *blocks *= g->device.processors * (g->far ? fmo_tuning_gpu_waves_large : 1);
    if ((size_t)*blocks * FMO_GPU_THREADS > task->candidates)
        *blocks = (int)((task->candidates + FMO_GPU_THREADS - 1) / FMO_GPU_THREADS);
    return cudaSuccess;
}

/* Launches one kernel for the only list, one for each list, or one for all lists. */
static cudaError_t run_task(const fmo_fock_plan *plan, const fmo_gpu_variant *variant,
                            const fmo_gpu_task *task, cudaStream_t stream)
{
    const fmo_gpu_state *g = plan->gpu;
    const int c = task->task.eri_class;
    fmo_gpu_one<fmo_gpu_quartet_args> args;
    args.of[0].view = fmo_gpu_view(plan, task);
    args.of[0].matrices = fmo_gpu_matrix_view(plan, c);
    static const int lists[] = {FMO_GPU_NEAR, FMO_GPU_FAR_J, FMO_GPU_FAR_K};
    static const int exchange_only[] = {FMO_GPU_NEAR_EXCHANGE_ONLY, FMO_GPU_FAR_J,
                                        FMO_GPU_FAR_K_EXCHANGE_ONLY};
    static const int whole[] = {FMO_GPU_ALL}, of_operator[] = {FMO_GPU_NEAR_OPERATOR};
    const bool all = g->far && !g->boxes && g->primitives < fmo_tuning_gpu_lists_work;
    const int *const kernels = g->with_operator ? of_operator
                               : all            ? whole
                               : g->boxes       ? exchange_only
                                                : lists;
    const int num = all || !g->far ? 1 : FMO_GPU_LISTS;
    for (int k = 0; k < num; k++) {
        fmo_gpu_kernel *const kernel =
            (g->densities > 1 ? variant->two : variant->kernel)[kernels[k]][c];
        int blocks = 0;
        if (!kernel) continue;
        FMO_GPU_TRY(fmo_gpu_blocks_for(g, task, (const void *)kernel, &blocks));
        kernel<<<blocks, FMO_GPU_THREADS, 0, stream>>>(args);
        FMO_GPU_TRY(cudaGetLastError());
    }
    return cudaSuccess;
}

extern const fmo_gpu_schedule fmo_gpu_schedule_direct = {
    "direct", fmo_gpu_make_lists, fmo_gpu_screen, run_task, true, true, true, true};

/* Runs the tasks of each pass between its screening and the next pass, on side streams if there are
 * any. */
cudaError_t fmo_gpu_run_passes(const fmo_gpu_group *group, const fmo_gpu_variant *variant,
                               const fmo_gpu_side_streams *side, bool timed)
{
    const fmo_fock_plan *plan = group->build->plan;
    const fmo_gpu_state *g = plan->gpu;
    const fmo_gpu_schedule *schedule = g->schedule;
    for (int p = 0; p < g->lists.passes; p++) {
        const fmo_gpu_pass *pass = &g->lists.pass[p];
        if (schedule->begin_pass) FMO_GPU_TRY(schedule->begin_pass(group, p));
        if (side) FMO_GPU_TRY(cudaEventRecord(side->fork, group->stream));
        for (int n = 0; n < pass->num; n++) {
            const fmo_gpu_task *task = &pass->task[n];
            const cudaStream_t stream = side ? side->stream[n] : group->stream;
            const fmo_gpu_range range(fmo_eri_class_name(task->task.eri_class));
            if (side) FMO_GPU_TRY(cudaStreamWaitEvent(stream, side->fork, 0));
            if (timed) FMO_GPU_TRY(cudaEventRecord(task->event[0], stream));
            FMO_GPU_TRY(schedule->run_task(plan, variant, task, stream));
            if (timed) FMO_GPU_TRY(cudaEventRecord(task->event[1], stream));
            if (side) FMO_GPU_TRY(cudaEventRecord(side->join[n], stream));
        }
        for (int n = 0; n < pass->num && side; n++)
            FMO_GPU_TRY(cudaStreamWaitEvent(group->stream, side->join[n], 0));
    }
    return cudaSuccess;
}

cudaError_t fmo_gpu_queue_density(const fmo_gpu_group *group, const fmo_gpu_variant *variant)
{
    FMO_GPU_TRY(fmo_gpu_order_density(group));
    if (variant->fixed_point) FMO_GPU_TRY(fmo_gpu_fixed_scale(group));
    if (group->build->plan->gpu->far) FMO_GPU_TRY(fmo_gpu_make_moments(group));
    return cudaSuccess;
}

cudaError_t fmo_gpu_queue_finish(const fmo_gpu_group *group, const fmo_gpu_variant *variant)
{
    if (group->build->plan->gpu->schedule->sums)
        FMO_GPU_TRY(fmo_gpu_spread_sums(group, variant->fixed_point));
    FMO_GPU_TRY(fmo_gpu_finish(group, variant->fixed_point));
    return fmo_gpu_uses_hermite(group->build->plan)
               ? fmo_hermite_finish(group, variant->fixed_point)
               : cudaSuccess;
}
