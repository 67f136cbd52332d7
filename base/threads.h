/* Number of OpenMP threads to use: limits of the system, and how much work justifies a thread. */
#ifndef FMO_THREADS_H
#define FMO_THREADS_H

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Upper limit of the number of threads: the larger of 64 and 4 for each processor. */
enum { FMO_THREADS_ALWAYS = 64, FMO_THREADS_PER_PROCESSOR = 4 };

/* Returns the number of threads for a parallel region, at most `requested` (0: as many as OpenMP
 * would use). The result, at least 1, is limited by the constants above and by the number of
 * threads that the system lets this process start now, because libgomp ends the process if it
 * cannot start a thread. Threads that others start between this call and the region are not
 * accounted for. If fewer threads can be started than requested, half of them are used, because
 * OpenBLAS and the program need threads too. The result is 1 if the threads would have too little
 * stack (stack.h). */
int fmo_threads(int requested);

/* Returns how many of `threads` the work can keep busy, at least 1. `shares` is the work in units
 * of the least work that is worth a thread. Threads of a team wait for each other by spinning, on
 * processors that others may need, so a team with little work can take a hundred times as long as
 * one thread. If FMO_TEST_TEAMS is set in the environment, returns `threads`, since tests of teams
 * are small. */
int fmo_threads_for(int threads, double shares);

/* Returns 1 if the body of a parallel region of that many threads can be called without the region:
 * one thread, outside of any region. Barriers of a team of one thread make a system call that wakes
 * no thread, and many threads of a program that do so at once, as in batches of SCFs with one
 * thread each, wait for each other in the kernel. */
int fmo_threads_alone(int threads);

/* Returns 1 if the number of threads was specified: by the caller (`requested` above 0) or by
 * OMP_NUM_THREADS. */
static inline int fmo_threads_are_specified(int requested)
{
    const char *const of_all = getenv("OMP_NUM_THREADS");
    return requested > 0 || (of_all && *of_all);
}

#ifdef __cplusplus
}
#endif
#endif
