/* Order of shell pairs, or of their segments, on the GPU: first by descending number of primitives,
 * so that the lanes of a warp do equal work; then by Schwarz bound in steps of 2^8, so that loops
 * can end early; then by functions, so that neighbouring lanes add to neighbouring elements of J
 * and K. */
#ifndef FMO_PAIR_ORDER_H
#define FMO_PAIR_ORDER_H

#include <math.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fmo_pair_rank {
    int prims; /* number of primitive pairs */
    int octet; /* magnitude of the Schwarz bound: fmo_pair_octet */
    int i, j;  /* first functions of the two shells */
    int begin; /* first primitive pair of the segment */
} fmo_pair_rank;

/* Returns -log2(bound) in units of 8; INT16_MAX if the bound is 0. */
static inline int fmo_pair_octet(double bound)
{
    return bound > 0.0 ? -(ilogb(bound) >> 3) : INT16_MAX;
}

/* Comparison as for qsort: < 0 if a comes before b. */
static inline int fmo_pair_rank_compare(const fmo_pair_rank *a, const fmo_pair_rank *b)
{
    if (a->prims != b->prims) return a->prims < b->prims ? 1 : -1;
    if (a->octet != b->octet) return a->octet > b->octet ? 1 : -1;
    if (a->i != b->i) return a->i < b->i ? -1 : 1;
    if (a->j != b->j) return a->j < b->j ? -1 : 1;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* The same order as an integer key, valid for up to 63 primitives, function numbers below 2^16 and
 * 2^17 primitives in all. */
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
