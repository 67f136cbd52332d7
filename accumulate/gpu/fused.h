/* Between the segments of mode fused: single builds (fused.cu) and batches (group.cu). C++ only. */
#ifndef FMO_GPU_FUSED_H
#define FMO_GPU_FUSED_H

#include "accumulate/gpu/schedule/schedule.h"

/* The kernels of a strategy; NULL: not in this build. */
const fmo_gpu_variant *fmo_gpu_find_variant(fmo_scatter scatter, fmo_commit commit);

/* The kernels of the plan's strategy. */
const fmo_gpu_variant *fmo_gpu_plan_variant(const fmo_fock_plan *plan);

/* One build, queued on the plan's stream; its matrices are of the host, or in GPU memory. Inside of
 * the device. */
fmo_status fmo_gpu_start_one(const fmo_fock_job *job, bool on_device, fmo_error *err);

/* From density_in to X, queued on the plan's stream: its graph, made at the first call, or launch
 * by launch; with timers around the classes if it is timed. */
cudaError_t fmo_gpu_queue_sums(const fmo_gpu_build *build, const fmo_gpu_variant *variant,
                               bool timed);

/* several.cu: the steps of a build that is shared with plans on other GPUs; nothing where there are
 * none. The first plan's density goes to the others, whose shares of X are queued on streams of
 * theirs; */
cudaError_t fmo_gpu_queue_others(const fmo_gpu_build *build, const fmo_gpu_variant *variant,
                                 bool timed);
/* and is added to its own when they have it, on its stream. */
cudaError_t fmo_gpu_add_others(const fmo_gpu_build *build, bool fixed);
/* What the others have counted, to pinned memory; and, at the end, added to the plan's. */
cudaError_t fmo_gpu_copy_others_counters(const fmo_fock_plan *plan, cudaStream_t stream);
void fmo_gpu_add_others_counters(const fmo_fock_plan *plan);
/* [1 + others] How long each GPU was busy with its share of the last build; nothing is written if
 * it was not shared. All have finished. */
cudaError_t fmo_gpu_others_seconds(const fmo_fock_plan *plan, double *seconds);
/* What one GPU has counted to what another has. */
void fmo_gpu_add_counts(fmo_gpu_counters *to, const fmo_gpu_counters *from);

/* Copies around a build whose matrices are of the host: the density to density_in; J, K and the
 * counters to pinned memory. */
cudaError_t fmo_gpu_copy_in(fmo_fock_plan *plan, const double *density, cudaStream_t stream);
cudaError_t fmo_gpu_copy_out(const fmo_fock_plan *plan, cudaStream_t stream);

/* source.cu: J of another plan's density, queued on the plan's stream; matrices of the host. */
fmo_status fmo_gpu_start_from_source(const fmo_fock_job *job, fmo_error *err);

/* Whether builds of this plan join groups. */
bool fmo_gpu_joins_groups(const fmo_fock_plan *plan);

#endif
