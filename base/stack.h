/* Whether threads have the stack that the kernels need, whose arrays are on it. */
#ifndef FMO_STACK_H
#define FMO_STACK_H

#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the thread that calls, what is left of it. Once for each plan or matrix, before anything
 * large.
 * @return FMO_OK, or FMO_ERR_MEMORY with how much there is, and the cure */
fmo_status fmo_stack_check(fmo_error *err);

/* Whether OpenMP's other threads have enough, by OMP_STACKSIZE or else ulimit -s. Without it there
 * is no team (fmo_threads). */
int fmo_stack_is_enough_for_team(void);

#ifdef __cplusplus
}
#endif
#endif
