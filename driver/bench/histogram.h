/* One case of the histogram experiment, as its CPU and GPU parts share it. */
#ifndef FMO_BENCH_HISTOGRAM_H
#define FMO_BENCH_HISTOGRAM_H

#include "items.h"

enum { HISTOGRAM_TRUTHS = 2 };

/* What the bins must hold after the first n items. */
typedef struct histogram_truth {
    int64_t n; /* -1: nothing counted yet */
    int64_t *count;
} histogram_truth;

typedef struct histogram_case {
    bench_items items;
    bench_input input;
    bench_type type;
    histogram_truth truth[HISTOGRAM_TRUTHS]; /* all items; the last other n */
    int64_t ids_all;                         /* replay: adds of the whole build */
} histogram_case;

#ifdef __cplusplus
extern "C" {
#endif

/** Counts of the first n items, counted on the CPU by the generator when first asked for. */
const int64_t *histogram_truth_of(histogram_case *c, int64_t n);

/** Table, column and parameters of a cell. */
void histogram_cell_fill(const histogram_case *c, bench_cell *cell);

#ifdef __cplusplus
}
#endif
#endif
