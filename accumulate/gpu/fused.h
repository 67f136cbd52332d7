/* Interface between the files of mode fused: single builds (fused.cu), batches (group.cu), several
 * GPUs (several.cu), K of two densities (two.cu) and J of another plan's density (source.cu). C++
 * only. */
#ifndef FMO_GPU_FUSED_H
#define FMO_GPU_FUSED_H

#include "accumulate/gpu/schedule/schedule.h"

/* Returns the kernels of a strategy; NULL if they are not in this build of the library. */
const fmo_gpu_variant *fmo_gpu_find_variant(fmo_scatter scatter, fmo_commit commit);

/* Returns the kernels of the plan's strategy. */
const fmo_gpu_variant *fmo_gpu_plan_variant(const fmo_fock_plan *plan);

/* Queues one build on the plan's stream. on_device: the job's matrices are in GPU memory; otherwise
 * on the host. The plan's GPU must be current. */
fmo_status fmo_gpu_start_one(const fmo_fock_job *job, bool on_device, fmo_error *err);

/* group.cu: queues builds of different plans, which share launches where they can, or one build in
 * the order of another plan's stream. */
fmo_status fmo_gpu_start_groups(const fmo_fock_job *const *jobs, size_t count, fmo_start *how,
                                fmo_error *err);

/* Queues a build from density_in to X on the plan's stream: as the plan's CUDA graph, captured in
 * the first call, or as single launches. timed: single launches, with timers around the classes. */
cudaError_t fmo_gpu_queue_sums(const fmo_gpu_build *build, const fmo_gpu_variant *variant,
                               bool timed);

/* Queues a build from density_in to J and K on the plan's stream. */
cudaError_t fmo_gpu_run(const fmo_gpu_build *build, const fmo_gpu_variant *variant, bool timed);
/* Queues the steps from a density to X on the group's stream, one by one. */
cudaError_t fmo_gpu_queue_single(const fmo_gpu_group *group, const fmo_gpu_variant *variant);

/* parts.cu: refuses an operator with several GPUs or stored integrals; */
fmo_status fmo_gpu_check_parts(const fmo_fock_job *job, fmo_error *err);
/* queues the builds of a job whose density is in density_in. */
cudaError_t fmo_gpu_run_parts(const fmo_fock_job *job, const fmo_gpu_build *build);

/* two.cu: whether a job and those in plan->also are built in one pass for K of two densities; */
bool fmo_gpu_is_of_two(const fmo_fock_job *job);
/* queues this pass. */
fmo_status fmo_gpu_start_two(const fmo_fock_job *job, bool on_device, fmo_error *err);

/* several.cu: the steps of a build that is shared with plans on other GPUs, which are called if
 * there are such plans, or after the build if others.shared is set. queue_others copies the first
 * plan's density to the others and queues their shares of X on their streams; */
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

/* Copies for builds with matrices on the host: the density to density_in; J, K and the counters to
 * pinned memory. */
cudaError_t fmo_gpu_copy_in(fmo_fock_plan *plan, const double *density, cudaStream_t stream);
cudaError_t fmo_gpu_copy_out(const fmo_fock_plan *plan, cudaStream_t stream);

/* source.cu: queues J of another plan's density on the plan's stream; the matrices are on the host.
 */
fmo_status fmo_gpu_start_from_source(const fmo_fock_job *job, fmo_error *err);

/* True if builds of this plan join groups. */
bool fmo_gpu_joins_groups(const fmo_fock_plan *plan);

#endif
