/* Whether threads have the stack that the kernels need, whose arrays are on it. */
#ifndef FMO_STACK_H
#define FMO_STACK_H

#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the thread that calls, what is left of it; and, where a team of `threads` is to be started,
 * what OpenMP gives its others. Once for each plan or matrix, before anything large.
 * @return FMO_OK, or FMO_ERR_MEMORY with how much there is, and the cure */
fmo_status fmo_stack_check(int threads, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
