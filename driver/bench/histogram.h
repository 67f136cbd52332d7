/* One case of the histogram experiment, shared by its CPU and GPU parts. */
#ifndef FMO_BENCH_HISTOGRAM_H
#define FMO_BENCH_HISTOGRAM_H

#include "items.h"

enum { HISTOGRAM_EXPECTED = 2 };

/* Expected contents of the bins after the first n items. */
typedef struct histogram_counts {
    int64_t n; /* -1: nothing counted yet */
    int64_t *count;
} histogram_counts;

typedef struct histogram_case {
    bench_items items;
    bench_input input;
    bench_type type;
    histogram_counts expected[HISTOGRAM_EXPECTED]; /* for all items; for the last other n */
    int64_t ids_all;                               /* replay: number of adds in the whole build */
} histogram_case;

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the counts of the first n items, which are counted on the CPU at the first call. */
const int64_t *histogram_expected_counts(histogram_case *c, int64_t n);

/** Sets table, column and parameters of a cell. */
void histogram_cell_fill(const histogram_case *c, bench_cell *cell);

#ifdef __cplusplus
}
#endif
#endif
