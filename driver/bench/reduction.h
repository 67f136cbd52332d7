/* One case of the reduction experiment, shared by its CPU and GPU parts. */
#ifndef FMO_BENCH_REDUCTION_H
#define FMO_BENCH_REDUCTION_H

#include "items.h"

typedef struct reduction_case {
    bench_type type;
    int64_t count;
    uint64_t seed;
    int64_t expected_n; /* number of items of the sums below; -1: none yet */
    int64_t sum_int;
    long double sum;      /* of the items, rounded to their type */
    double sum_magnitude; /* sum of |item| */
} reduction_case;

/* Items: whole numbers in -1000 .. 999, or numbers in [0,1). */
BENCH_HD int32_t reduction_int(uint64_t seed, int64_t i)
{
    return (int32_t)bench_below(bench_hash(seed, (uint64_t)i), 2000) - 1000;
}
BENCH_HD double reduction_number(uint64_t seed, int64_t i)
{
    return bench_uniform(bench_hash(seed, (uint64_t)i));
}

#ifdef __cplusplus
extern "C" {
#endif

/** Compares a sum of the first n items: int32 exactly mod 2^32, others within n x eps x sum|item|,
 *  plus `quantum` for each item (the rounding of fixed point). */
void reduction_check(reduction_case *c, int64_t n, double got, double quantum, bench_check *check);

/** Sets table, column and parameters of a cell. */
void reduction_cell_fill(const reduction_case *c, bench_cell *cell);

#ifdef __cplusplus
}
#endif
#endif
