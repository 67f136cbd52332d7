/* Minimum, median and maximum of several times. */
#ifndef FMO_BASE_SPREAD_H
#define FMO_BASE_SPREAD_H

#include <math.h>
#include <stdlib.h>

typedef struct driver_spread {
    double min, median, max; /**< NaN if there were no values */
} driver_spread;

static inline int driver_by_value(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/** @param[in,out] value  [count], sorted on return */
static inline driver_spread driver_spread_of(double *value, size_t count)
{
    const driver_spread none = {NAN, NAN, NAN};
    if (count == 0) return none;
    qsort(value, count, sizeof *value, driver_by_value);
    const driver_spread spread = {value[0], 0.5 * (value[(count - 1) / 2] + value[count / 2]),
                                  value[count - 1]};
    return spread;
}

#endif
