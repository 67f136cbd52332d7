/* One size of the interchange experiment: b[j] += a[i][j], i, j < edge. */
#ifndef FMO_BENCH_INTERCHANGE_H
#define FMO_BENCH_INTERCHANGE_H

#include "items.h"

typedef struct interchange_case {
    int64_t edge;
    uint64_t seed;
    double *sum; /* [edge] reference, in double; the terms are non-negative */
} interchange_case;

/* a[i][j], in [0,1). */
BENCH_HD double interchange_value(uint64_t seed, int64_t edge, int64_t i, int64_t j)
{
    return bench_uniform(bench_hash(seed, (uint64_t)(i * edge + j)));
}

/* Index of a[i][j] in memory. */
BENCH_HD int64_t interchange_at(int64_t edge, bool by_rows, int64_t i, int64_t j)
{
    return by_rows ? i * edge + j : j * edge + i;
}

#ifdef __cplusplus
extern "C" {
#endif

/** Compares b[0..n-1]: within edge x eps x sum, plus `quantum` for each term. */
void interchange_check(const interchange_case *c, int64_t n, const double *b, double quantum,
                       bench_check *check);

/** Sets table, column and parameters of a cell, and appends the storage order to its row. */
void interchange_cell_fill(const interchange_case *c, bool by_rows, bench_cell *cell);

#ifdef __cplusplus
}
#endif
#endif
