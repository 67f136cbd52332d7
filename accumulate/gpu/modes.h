/* The functions of the GPU modes, which modes.c puts into the mode tables (fmo_mode_implementation
 * in plan/plan.h says what each must do). */
#ifndef FMO_GPU_MODES_H
#define FMO_GPU_MODES_H

#include "accumulate/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

void fmo_gpu_state_destroy(fmo_fock_plan *plan);
void fmo_gpu_workspace(const fmo_fock_plan *plan, fmo_fock_memory *memory);

/* fused.cu, several.cu */
fmo_status fmo_fused_prepare(fmo_fock_plan *plan, fmo_error *err);
void fmo_fused_prepare_some(fmo_fock_plan *const *plans, int num, fmo_error *errs);
fmo_status fmo_fused_new_pairs(fmo_fock_plan *plan, fmo_error *err);
fmo_status fmo_fused_join(fmo_fock_plan *plan, fmo_error *err);
fmo_status fmo_fused_start(const fmo_fock_job *const *jobs, size_t count, fmo_start *how,
                           fmo_error *err);
fmo_status fmo_fused_finish(fmo_fock_plan *plan, fmo_error *err);
void fmo_fused_copy_result(const fmo_fock_plan *plan, int job, double *coulomb, double *exchange);
int fmo_fused_shares_pass(const fmo_fock_job *const *jobs, int num, int alone);
fmo_status fmo_fused_measure(fmo_fock_plan *plan, fmo_error *err);

/* schedule/split.cu */
fmo_status fmo_split_prepare(fmo_fock_plan *plan, fmo_error *err);
fmo_status fmo_split_new_pairs(fmo_fock_plan *plan, fmo_error *err);
fmo_status fmo_split_join(fmo_fock_plan *plan, fmo_error *err);
void fmo_split_release(fmo_fock_plan *plan);
void fmo_split_workspace(const fmo_fock_plan *plan, fmo_fock_memory *memory);
fmo_status fmo_split_build(fmo_fock_plan *plan, fmo_fock_plan *source, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
