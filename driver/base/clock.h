/* Wall-clock time in seconds from a monotonic clock. */
#ifndef FMO_DRIVER_CLOCK_H
#define FMO_DRIVER_CLOCK_H

#include "base/clock.h"

static inline double driver_seconds(void)
{
    return fmo_now();
}

#endif
