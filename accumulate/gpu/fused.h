/* Interface between the files of mode fused. Files call only those that come before them here.
 * C++ only. */
#ifndef FMO_GPU_FUSED_H
#define FMO_GPU_FUSED_H

#include "accumulate/gpu/hermite/use.h"
#include "accumulate/gpu/schedule/schedule.h"

/* ---- queue.cu: the steps on one GPU ---------------------------------------------------------- */

/* Returns the kernels of a strategy; NULL if they are not in this build of the library. */
const fmo_gpu_variant *fmo_gpu_find_variant(fmo_scatter scatter, fmo_commit commit);
/* Returns the kernels of the plan's strategy. */
const fmo_gpu_variant *fmo_gpu_plan_variant(const fmo_fock_plan *plan);
/* Returns the kernels without updates of the matrices, for the profile. */
const fmo_gpu_variant *fmo_gpu_variant_without_commits(void);
/* True if builds of this plan join groups. */
bool fmo_gpu_joins_groups(const fmo_fock_plan *plan);

/* Stored integrals are of 1/r: K of an operator is computed from the quartets in their list
 * (schedule/stored.cu). */
extern const fmo_gpu_schedule fmo_gpu_schedule_listed;
/* The state for a build with the operator in arrays.op, which has no far quartets, no graph and no
 * stored integrals. density_factor, operator_range: those of the state. */
static inline fmo_gpu_state fmo_gpu_state_of_operator(const fmo_gpu_state *g, double density_factor,
                                                      float operator_range)
{
    fmo_gpu_state own = *g;
    own.with_operator = 1;
    own.density_factor = density_factor;
    own.operator_range = operator_range;
    own.far = 0;
    own.boxes = NULL;
    if (g->schedule == &fmo_gpu_schedule_stored) own.schedule = &fmo_gpu_schedule_listed;
    return own;
}

/* Queues the steps from a density to X on the group's stream, one by one. */
cudaError_t fmo_gpu_queue_single(const fmo_gpu_group *group, const fmo_gpu_variant *variant);
/* Captures these steps of a plan's builds as a CUDA graph. If that fails, builds launch their
 * kernels one by one. */
void fmo_gpu_capture(fmo_fock_plan *plan, const fmo_gpu_variant *variant);
/* Queues a build from density_in to X on the plan's stream: as the plan's CUDA graph, captured in
 * the first call, or as single launches. timed: single launches, with timers around the classes. */
cudaError_t fmo_gpu_queue_sums(const fmo_gpu_build *build, const fmo_gpu_variant *variant,
                               bool timed);

/* ---- several.cu: the steps of a build that is shared with plans on other GPUs ---------------- */

/* They are called if there are such plans, or after the build if others.shared is set. queue_others
 * copies the first plan's density to the others and queues their shares of X on their streams; */
cudaError_t fmo_gpu_queue_others(const fmo_gpu_build *build, const fmo_gpu_variant *variant,
                                 bool timed);
/* add_others adds these shares to the first plan's, on its stream, when they are complete. fixed:
 * they are fixed-point integers. */
cudaError_t fmo_gpu_add_others(const fmo_gpu_build *build, bool fixed);
/* Copy the counters of the other plans to pinned memory; at the end, add them to the plan's. */
cudaError_t fmo_gpu_copy_others_counters(const fmo_fock_plan *plan, cudaStream_t stream);
void fmo_gpu_add_others_counters(const fmo_fock_plan *plan);
/* [1 + others] Seconds that each GPU was busy with its share of the last build. All GPUs must have
 * finished. */
cudaError_t fmo_gpu_others_seconds(const fmo_fock_plan *plan, double *seconds);
/* Adds the counts of one GPU to those of another. */
void fmo_gpu_add_counts(fmo_gpu_counters *to, const fmo_gpu_counters *from);

/* ---- single.cu: a build on all GPUs of a plan ------------------------------------------------ */

/* Queues a build from density_in to J and K on the plan's stream. */
cudaError_t fmo_gpu_run(const fmo_gpu_build *build, const fmo_gpu_variant *variant, bool timed);
/* Copies for builds with matrices on the host: the density to density_in; J, K and the counters to
 * pinned memory. */
cudaError_t fmo_gpu_copy_in(fmo_fock_plan *plan, const double *density, cudaStream_t stream);
cudaError_t fmo_gpu_copy_out(const fmo_fock_plan *plan, cudaStream_t stream);
/* Makes the data of hermite/ that J of operators and of other molecules' densities need, if the
 * plan has none, as its basis has s and p shells alone. */
fmo_status fmo_gpu_make_hermite(fmo_fock_plan *plan, fmo_error *err);
/* Queues the builds of the parts of a job on the plan's stream. on_device: the job's matrices are
 * in GPU memory; otherwise on the host. The plan's GPU must be current. */
fmo_status fmo_gpu_start_parts(const fmo_fock_job *job, bool on_device, fmo_error *err);

/* ---- two.cu: K of two densities in one pass -------------------------------------------------- */

/* Queues a job: in one pass with those in plan->also, if this is a pass for K of two densities,
 * else by fmo_gpu_start_parts. */
fmo_status fmo_gpu_start_one(const fmo_fock_job *job, bool on_device, fmo_error *err);

/* ---- source.cu, group.cu --------------------------------------------------------------------- */

/* Queues J of another plan's density on the plan's stream; the matrices are on the host. */
fmo_status fmo_gpu_start_from_source(const fmo_fock_job *job, fmo_error *err);

/* Queues builds of different plans, which share launches where they can, or one build in the order
 * of another plan's stream. */
fmo_status fmo_gpu_start_groups(const fmo_fock_job *const *jobs, size_t count, fmo_start *how,
                                fmo_error *err);
#endif
