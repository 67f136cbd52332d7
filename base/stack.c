/* Sizes of thread stacks; see stack.h. */
#define _GNU_SOURCE /* for pthread_getattr_np */
#include "base/stack.h"

#include <ctype.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Stack needed, in KB: kernels of d shells crash with 320 and run with 384, and those of f and g
 * shells have arrays of 610 (tests/base/stack.c). */
enum { NEEDED = 448, NEEDED_LARGE = 832 };
/* Stack of a team's threads, in KB: some of them have used up to 132 when they call a kernel. */
enum { NEEDED_OF_TEAM = 1000 };

/* Returns the stack size in KB that OMP_STACKSIZE or GOMP_STACKSIZE specifies; 0 if none is set or
 * valid. */
static size_t specified_kilobytes(void)
{
    static const char *const names[] = {"OMP_STACKSIZE", "GOMP_STACKSIZE"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *const text = getenv(names[k]);
        char *end;
        if (!text) continue;
        const double number = strtod(text, &end);
        while (isspace((unsigned char)*end)) end++;
        const int unit = toupper((unsigned char)*end);
        const double kilobytes = unit == 'B'   ? number / 1024.0
                                 : unit == 'M' ? number * 1024.0
                                 : unit == 'G' ? number * 1048576.0
                                               : number;
        if (end != text && kilobytes >= 1.0 && kilobytes < 1e15) return (size_t)kilobytes;
    }
    return 0;
}

/* Returns the default stack size of a new thread in KB; SIZE_MAX if unknown. */
static size_t default_kilobytes(void)
{
    pthread_attr_t attr;
    size_t size = SIZE_MAX;
    if (pthread_getattr_default_np(&attr) != 0) return SIZE_MAX;
    if (pthread_attr_getstacksize(&attr, &size) != 0) size = SIZE_MAX;
    pthread_attr_destroy(&attr);
    return size >> 10;
}

/* Returns the remaining stack of the calling thread in KB; SIZE_MAX if unknown. For the first
 * thread it returns the limit (ulimit -s) instead: finding where its stack begins would mean
 * reading a file, and it has used little so far. */
static size_t left_kilobytes(void)
{
    pthread_attr_t attr;
    struct rlimit limit;
    void *lowest = NULL;
    size_t size = 0;
    if (syscall(SYS_gettid) == getpid())
        return getrlimit(RLIMIT_STACK, &limit) == 0 ? (size_t)limit.rlim_cur >> 10 : SIZE_MAX;
    if (pthread_getattr_np(pthread_self(), &attr) != 0) return SIZE_MAX;
    const int known = pthread_attr_getstack(&attr, &lowest, &size) == 0;
    pthread_attr_destroy(&attr);
    return known ? ((uintptr_t)__builtin_frame_address(0) - (uintptr_t)lowest) >> 10 : SIZE_MAX;
}

fmo_status fmo_stack_check(int large, fmo_error *err)
{
    const size_t left = left_kilobytes(), needed = large ? NEEDED_LARGE : NEEDED;
    if (left >= needed) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_MEMORY,
                         "this thread has %zu KB of stack left, and %zu are needed: start it with "
                         "%d or more (pthread_attr_setstacksize, Python's threading.stack_size; "
                         "OpenMP's threads: OMP_STACKSIZE; a program's first thread: ulimit -s)",
                         left, needed, NEEDED_OF_TEAM);
}

int fmo_stack_is_enough_for_team(void)
{
    const size_t specified = specified_kilobytes();
    return (specified ? specified : default_kilobytes()) >= NEEDED_OF_TEAM;
}
