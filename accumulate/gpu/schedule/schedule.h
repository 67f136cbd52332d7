/* Schedules: in which order the quartets of a plan are gone through, and who does it. A schedule
 * executes the plan's list of tasks, pass by pass. C++ only. */
#ifndef FMO_GPU_SCHEDULE_H
#define FMO_GPU_SCHEDULE_H

#include "accumulate/gpu/plan.h"

/* Streams on which the tasks of a pass run side by side; the stream they start from joins them
 * again. */
typedef struct fmo_gpu_side_streams {
    cudaStream_t stream[FMO_GPU_PASS_TASKS];
    cudaEvent_t fork, join[FMO_GPU_PASS_TASKS];
    /* What goes beside all passes. */
    cudaStream_t beside;
    cudaEvent_t beside_fork, beside_join;
} fmo_gpu_side_streams;

/* Side streams start from a stream, and join it again. */
static inline cudaError_t fmo_gpu_fork(const fmo_gpu_side_streams *side, cudaStream_t stream)
{
    FMO_GPU_TRY(cudaEventRecord(side->fork, stream));
    for (int n = 0; n < FMO_GPU_PASS_TASKS; n++)
        FMO_GPU_TRY(cudaStreamWaitEvent(side->stream[n], side->fork, 0));
    return cudaSuccess;
}
static inline cudaError_t fmo_gpu_join(const fmo_gpu_side_streams *side, cudaStream_t stream)
{
    for (int n = 0; n < FMO_GPU_PASS_TASKS; n++) {
        FMO_GPU_TRY(cudaEventRecord(side->join[n], side->stream[n]));
        FMO_GPU_TRY(cudaStreamWaitEvent(stream, side->join[n], 0));
    }
    return cudaSuccess;
}

typedef struct fmo_gpu_schedule {
    const char *name;
    /* Passes, and what lists they need. */
    fmo_status (*make_lists)(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err);
    /* What comes before the tasks of a pass; NULL: nothing. */
    cudaError_t (*begin_pass)(const fmo_gpu_group *group, int pass);
    /* The quartets of a task: integrals, digestion, adds. */
    cudaError_t (*run_task)(const fmo_fock_plan *plan, const fmo_gpu_variant *variant,
                            const fmo_gpu_task *task, cudaStream_t stream);
    bool far;    /* far quartets may have lists of their own */
    bool sums;   /* X^J is summed pair by pair, and spread at the end */
    bool graph;  /* may be captured */
    bool groups; /* may share launches with other builds (group.cu) */
} fmo_gpu_schedule;

/* Screened into lists, then computed and digested; the same of integrals that are kept, which are
 * screened where they are digested; and rows owned in shared memory, without lists. */
extern const fmo_gpu_schedule fmo_gpu_schedule_direct;
extern const fmo_gpu_schedule fmo_gpu_schedule_stored;
extern const fmo_gpu_schedule fmo_gpu_schedule_tile;

/* The passes of a group's builds on its stream: tasks one after the other, between timers if they
 * are timed; or side by side, so that one fills the GPU where another ends. */
cudaError_t fmo_gpu_run_passes(const fmo_gpu_group *group, const fmo_gpu_variant *variant,
                               const fmo_gpu_side_streams *side, bool timed);

/* Everything before the quartets: the density and what is made from it. */
cudaError_t fmo_gpu_queue_density(const fmo_gpu_group *group, const fmo_gpu_variant *variant);

/* Everything after them: X to J and K. */
cudaError_t fmo_gpu_queue_finish(const fmo_gpu_group *group, const fmo_gpu_variant *variant);

/* Blocks for one list of a task: what fits the GPU, in large systems more, and no more than there
 * is work for. */
cudaError_t fmo_gpu_blocks_for(const fmo_gpu_state *g, const fmo_gpu_task *task, const void *kernel,
                               int *blocks);

/* options.integrals: computes and keeps all integrals that can matter to a density the pairs are
 * good for, if that is wanted and they fit; then the plan's schedule is `stored`. */
fmo_status fmo_gpu_store(fmo_fock_plan *plan, fmo_error *err);

/* Schedule `tile`: FMO_ERR_ARGUMENT if the rows of so many functions do not fit a block's shared
 * memory. */
fmo_status fmo_gpu_tile_check(const fmo_gpu_device *device, size_t nao, fmo_error *err);

#endif
