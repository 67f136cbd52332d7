/* The data of the k-means experiment. Samples and centroids are whole numbers from 0 to 255, so
 * that distances (below 2^24) are exact in float, and sums in double, in any order. For this,
 * centroids are rounded after each iteration. */
#ifndef FMO_BENCH_KMEANS_H
#define FMO_BENCH_KMEANS_H

#include "items.h"

typedef struct kmeans_case {
    int64_t samples;
    int clusters, dimensions;
    const float *sample;    /* [dimensions][samples] */
    const float *centroid;  /* [clusters][dimensions] */
    const int32_t *nearest; /* [samples] reference: the nearest centroid, the first one of equals */
    const double *sum;      /* [clusters][dimensions + 1] reference: sums and numbers of samples */
    double *sum_back;       /* result of a run */
    int32_t *nearest_back;
} kmeans_case;

static inline int64_t kmeans_sums(const kmeans_case *c)
{
    return (int64_t)c->clusters * (c->dimensions + 1);
}

#ifdef __cplusplus
extern "C" {
#endif

/** Compares nearest_back[0..n-1], or sum_back over the first n samples, with the reference. */
void kmeans_check_nearest(const kmeans_case *c, int64_t n, bench_check *check);
void kmeans_check_sum(const kmeans_case *c, int64_t n, bench_check *check);

/** Sets table, column and parameters; strip -1: the update of the centroids. */
void kmeans_cell_fill(const kmeans_case *c, int64_t strip, bench_cell *cell);

#ifdef __cplusplus
}
#endif
#endif
