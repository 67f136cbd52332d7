/* Schedules: the order in which the quartets of a plan are processed, and the kernels that process
 * them. A schedule executes the plan's list of tasks (work/work.h), pass by pass. The three
 * schedules are in direct.cu, stored.cu and tile.cu. C++ only. */
#ifndef FMO_GPU_SCHEDULE_H
#define FMO_GPU_SCHEDULE_H

#include "accumulate/gpu/plan.h"

/* Streams on which the tasks of a pass run concurrently, and the events that order them with the
 * main stream. */
typedef struct fmo_gpu_side_streams {
    cudaStream_t stream[FMO_GPU_PASS_TASKS];
    cudaEvent_t fork, join[FMO_GPU_PASS_TASKS];
    /* for work that runs concurrently with all passes */
    cudaStream_t beside;
    cudaEvent_t beside_fork, beside_join;
} fmo_gpu_side_streams;

/* Makes all side streams wait for `stream`; fmo_gpu_join makes `stream` wait for all of them. */
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
    /* Makes the passes and allocates the lists they need. */
    fmo_status (*make_lists)(const fmo_fock_plan *plan, fmo_gpu_state *g, fmo_error *err);
    /* Queues what precedes the tasks of a pass; NULL: nothing. */
    cudaError_t (*begin_pass)(const fmo_gpu_group *group, int pass);
    /* Queues the quartets of a task: integrals, digestion, additions. */
    cudaError_t (*run_task)(const fmo_fock_plan *plan, const fmo_gpu_variant *variant,
                            const fmo_gpu_task *task, cudaStream_t stream);
    bool far;    /* far quartets may have lists of their own */
    bool sums;   /* X^J is summed pair by pair, and added to the matrix at the end */
    bool graph;  /* may be captured as a CUDA graph */
    bool groups; /* may share launches with other builds (group.cu) */
} fmo_gpu_schedule;

/* direct: quartets are screened into lists, computed and digested. stored: integrals are stored in
 * GPU memory; one kernel screens and digests them. tile: warps own rows of X^K in shared memory;
 * there are no lists. */
extern const fmo_gpu_schedule fmo_gpu_schedule_direct;
extern const fmo_gpu_schedule fmo_gpu_schedule_stored;
extern const fmo_gpu_schedule fmo_gpu_schedule_tile;

/* Queues the passes of a group's builds on its stream: tasks in sequence, between timers if
 * `timed`; or, with side streams, concurrently, so that one task uses the GPU where another ends.
 */
cudaError_t fmo_gpu_run_passes(const fmo_gpu_group *group, const fmo_gpu_variant *variant,
                               const fmo_gpu_side_streams *side, bool timed);

/* Queues the steps before the quartets: the density and what is computed from it. */
cudaError_t fmo_gpu_queue_density(const fmo_gpu_group *group, const fmo_gpu_variant *variant);

/* Queues the steps after the quartets: J and K from X. */
cudaError_t fmo_gpu_queue_finish(const fmo_gpu_group *group, const fmo_gpu_variant *variant);

/* Number of thread blocks for one list of a task: as many as the GPU holds at a time, a multiple of
 * that in large systems, but no more than there are candidates for. */
cudaError_t fmo_gpu_blocks_for(const fmo_gpu_state *g, const fmo_gpu_task *task, const void *kernel,
                               int *blocks);

/* Implements options.integrals: computes and stores all integrals that can count with any density
 * within the plan's limit, if that is requested and they fit into memory. The plan's schedule is
 * then `stored`. */
fmo_status fmo_gpu_store(fmo_fock_plan *plan, fmo_error *err);

/* Schedule `tile`: returns FMO_ERR_ARGUMENT if the rows of `nao` functions do not fit into the
 * shared memory of a block. */
fmo_status fmo_gpu_tile_check(const fmo_gpu_device *device, size_t nao, fmo_error *err);

#endif
