/* Checks that threads have enough stack for the kernels, whose arrays are on the stack. */
#ifndef FMO_STACK_H
#define FMO_STACK_H

#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Checks the remaining stack of the calling thread, for kernels of f and g shells if `large`.
 * Called once for each plan or matrix, before large allocations.
 * @return FMO_OK, or FMO_ERR_MEMORY with the size found and the cure */
fmo_status fmo_stack_check(int large, fmo_error *err);

/* Returns 1 if the other OpenMP threads have enough stack, by OMP_STACKSIZE or else by ulimit -s.
 * If not, fmo_threads returns 1. */
int fmo_stack_is_enough_for_team(void);

#ifdef __cplusplus
}
#endif
#endif
