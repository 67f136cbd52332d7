/* The data of the median experiment: a square image of bytes; outside, edge pixels are repeated. */
#ifndef FMO_BENCH_MEDIAN_H
#define FMO_BENCH_MEDIAN_H

#include "items.h"

typedef struct median_case {
    int edge, window;     /* pixels; window is odd */
    const uint8_t *image; /* [edge][edge] */
    const uint8_t *expected;
    uint8_t *back; /* result of a run */
} median_case;

BENCH_HD int median_clamp(int at, int edge)
{
    return at < 0 ? 0 : at < edge ? at : edge - 1;
}

#ifdef __cplusplus
extern "C" {
#endif

/** Compares the first n rows of c->back with the reference. */
void median_check(const median_case *c, int64_t n, bench_check *check);

/** Sets table, column and parameters; strip 0: no strips. */
void median_cell_fill(const median_case *c, int64_t strip, bench_cell *cell);

#ifdef __cplusplus
}
#endif
#endif
