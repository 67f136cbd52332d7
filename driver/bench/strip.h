/* One size of the strip experiment: z[i] = factor x[i] + y[i], with whole numbers, exact in
 * double. */
#ifndef FMO_BENCH_STRIP_H
#define FMO_BENCH_STRIP_H

#include "items.h"

typedef struct strip_case {
    int64_t count;
    uint64_t seed;
    const double *x, *y; /* [count] */
    double *z;
} strip_case;

enum { STRIP_FACTOR = 3, STRIP_VALUES = 1000 };

#ifdef __cplusplus
extern "C" {
#endif

/** Compares c->z[0..n-1] with the reference. */
void strip_check(const strip_case *c, int64_t n, bench_check *check);

/** Sets table, column and parameters of a cell; strip 0: a loop without strips, shown in the column
 *  of strip length `column`. */
void strip_cell_fill(const strip_case *c, int64_t strip, int64_t column, bench_cell *cell);

#ifdef __cplusplus
}
#endif
#endif
