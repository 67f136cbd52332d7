/* Between the parts of mode fused: single builds (schedule/direct.cu) and groups
 * (schedule/group.cu). C++ only. */
#ifndef FMO_BUILD_FUSED_H
#define FMO_BUILD_FUSED_H

#include "accumulate/gpu/plan.h"

/* The kernels of the plan's strategy. */
const fmo_gpu_variant *fmo_gpu_plan_variant(const fmo_fock_plan *plan);

/* What is queued on a stream from here on comes after the plan's last build. */
cudaError_t fmo_gpu_enter(fmo_gpu_state *g, cudaStream_t stream);

/* One build, queued on the plan's stream. */
fmo_status fmo_gpu_start_one(const fmo_fock_job *job, fmo_error *err);  /* matrices of the host */
fmo_status fmo_gpu_device_one(const fmo_fock_job *job, fmo_error *err); /* of the GPU */

/* Copies around a build whose matrices are of the host: the density to density_in; J, K and the
 * counters to pinned memory. */
cudaError_t fmo_gpu_copy_in(const fmo_fock_job *job, cudaStream_t stream);
cudaError_t fmo_gpu_copy_out(const fmo_fock_plan *plan, cudaStream_t stream);

/* Whether builds of this plan join groups. */
bool fmo_gpu_joins_groups(const fmo_fock_plan *plan);

/* Many builds, in groups where that is faster. In those of the host plans occur once; those of the
 * GPU come after what is on the first plan's stream, which comes after them. */
fmo_status fmo_gpu_start_many(const fmo_fock_job *jobs, size_t count, fmo_error *err);
fmo_status fmo_gpu_device_many(const fmo_fock_job *jobs, size_t count, fmo_error *err);

#endif
