/* How many threads OpenMP may be asked for. */
#ifndef FMO_THREADS_H
#define FMO_THREADS_H

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Threads that may be asked for, whatever the number of processors; and for each of them. */
enum { FMO_THREADS_ALWAYS = 64, FMO_THREADS_PER_PROCESSOR = 4 };

/* Threads for a parallel region where `asked` are wanted (0: as many as OpenMP would use): no more
 * than the limits above, and no more than the system lets this process start now. libgomp ends the
 * process where it cannot start a thread; what others start between this call and the region is not
 * known here. Where that is fewer than are wanted, it is half of what can be started: OpenBLAS and
 * the program have threads, too. 1 where they would have too little stack (stack.h). At least 1. */
int fmo_threads(int asked);

/* Of `threads`, those that so much work keeps busy: `shares` is the work, in units of what a thread
 * has to have to be worth starting; at least 1. Threads of a team wait for each other by spinning,
 * on processors that others may need, so a team for little work can take a hundred times as long as
 * one thread. With FMO_TEST_TEAMS in the environment all of them: tests of teams are small. */
int fmo_threads_for(int threads, double shares);

/* Whether what a parallel region of so many threads is to do can be called without the region: one
 * thread, which is in none. Barriers of a team of one ask the kernel to wake nobody, and where many
 * threads of a program do so at a time, as SCFs of a batch that have one each, they wait there. */
int fmo_threads_alone(int threads);

/* Whether somebody says how many: the caller, `asked` above 0, or the environment. */
static inline int fmo_threads_are_told(int asked)
{
    const char *const of_all = getenv("OMP_NUM_THREADS");
    return asked > 0 || (of_all && *of_all);
}

#ifdef __cplusplus
}
#endif
#endif
