/* The order of shell pairs, or of parts of them, on the GPU: deepest first, so that the lanes of a
 * warp are equally long; then by bound, in steps of 2^8, so that loops can end early; then by
 * functions, so that neighbouring lanes' elements of J and K are neighbours. */
#ifndef FMO_PAIR_ORDER_H
#define FMO_PAIR_ORDER_H

#include <math.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fmo_pair_rank {
    int prims; /* primitive pairs */
    int octet; /* how small the bound is: fmo_pair_octet */
    int i, j;  /* where the two sides' functions stand */
    int begin; /* first primitive pair of a part */
} fmo_pair_rank;

/* How small a Schwarz bound is, in factors of 2^8. */
static inline int fmo_pair_octet(double bound)
{
    return bound > 0.0 ? -(ilogb(bound) >> 3) : INT16_MAX;
}

/* < 0 if a comes before b, as qsort wants it. */
static inline int fmo_pair_rank_compare(const fmo_pair_rank *a, const fmo_pair_rank *b)
{
    if (a->prims != b->prims) return a->prims < b->prims ? 1 : -1;
    if (a->octet != b->octet) return a->octet > b->octet ? 1 : -1;
    if (a->i != b->i) return a->i < b->i ? -1 : 1;
    if (a->j != b->j) return a->j < b->j ? -1 : 1;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* The same order as a number: up to 63 primitives, numbers below 2^16, 2^17 primitives in all. */
static inline uint64_t fmo_pair_rank_key(const fmo_pair_rank *rank)
{
    const int octet = rank->octet < 383 ? rank->octet + 128 : 511; /* 9 bits */
    return (uint64_t)(63 - rank->prims) << 58 | (uint64_t)octet << 49 | (uint64_t)rank->i << 33 |
           (uint64_t)rank->j << 17 | (uint64_t)rank->begin;
}

#ifdef __cplusplus
}
#endif
#endif
