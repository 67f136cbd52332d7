/* Wall-clock time in seconds from a monotonic clock. */
#ifndef FMO_CLOCK_H
#define FMO_CLOCK_H

#include <time.h>

static inline double fmo_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
