/* Items and the bins into which they fall. Counter-based random numbers make item i the same on CPU
 * and GPU without storing it, so that the first n of more than 2^31 items can be counted again.
 * items.c has the tables and the serial reference, replay.c the addresses of a Fock build. */
#ifndef FMO_BENCH_ITEMS_H
#define FMO_BENCH_ITEMS_H

#include "bench.h"

#ifdef __CUDACC__
#define BENCH_HD static __host__ __device__ __forceinline__
#else
#define BENCH_HD static inline
#endif

/* Everything that determines item i. Pointers are to host or device memory. */
typedef struct bench_items {
    bench_pattern pattern;
    int64_t count, bins;
    uint64_t seed;
    int64_t run; /* runs: length of a run of items */
    const uint64_t
        *zipf; /* zipf: [bins] cumulative probabilities in units of 2^-64; the last is 2^64 - 1 */
    const int32_t *replay; /* replay: [replay_num] bins, repeated if there are more items */
    int64_t replay_num;
} bench_items;

/* SplitMix64 (Steele, Lea, Flood 2014) as a hash of a counter. */
BENCH_HD uint64_t bench_hash(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed << 32) + 0x9e3779b97f4a7c15ull * (i + 1);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* Uniform in [0,1), a multiple of 2^-53. */
BENCH_HD double bench_uniform(uint64_t hash)
{
    return (double)(hash >> 11) * 0x1p-53;
}

/* Uniform in 0 .. n - 1 for n < 2^32. */
BENCH_HD int64_t bench_below(uint64_t hash, int64_t n)
{
    return (int64_t)(((hash >> 32) * (uint64_t)n) >> 32);
}

/* The bin of a number in [0,1). The product may round up to `bins`. */
BENCH_HD int64_t bench_bin(double x, int64_t bins)
{
    const int64_t bin = (int64_t)(x * (double)bins);
    return bin < bins ? bin : bins - 1;
}

/* Item i as a bin number. */
BENCH_HD int64_t bench_item_id(const bench_items *items, int64_t i)
{
    switch (items->pattern) {
    case BENCH_RUNS:
        return bench_below(bench_hash(items->seed, (uint64_t)(i / items->run)), items->bins);
    case BENCH_REPLAY:
        return items->replay[i % items->replay_num];
    case BENCH_ZIPF: { /* first bin whose cumulative probability reaches the random number */
        const uint64_t p = bench_hash(items->seed, (uint64_t)i);
        int64_t low = 0, high = items->bins - 1;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (items->zipf[middle] < p)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
    default:
        return bench_below(bench_hash(items->seed, (uint64_t)i), items->bins);
    }
}

/* Item i as a number in [0,1): uniform, or the middle of its bin. */
BENCH_HD double bench_item_number(const bench_items *items, int64_t i)
{
    if (items->pattern == BENCH_UNIFORM) return bench_uniform(bench_hash(items->seed, (uint64_t)i));
    return ((double)bench_item_id(items, i) + 0.5) / (double)items->bins;
}

#ifdef __cplusplus
extern "C" {
#endif

/** Makes the table of zipf, to be freed; returns NULL after an error. */
uint64_t *bench_zipf_table(bench_run *run, int64_t bins, double exponent);

/** Writes items to memory, as ids or numbers [count]; the other pointer is NULL. */
void bench_items_fill(const bench_items *items, int64_t count, int32_t *ids, double *numbers);

/** Counts how many of the first n items fall into each bin, using the generator. */
void bench_items_count(const bench_items *items, bench_input input, int64_t n, int64_t *counts);

/** Returns the matrix elements to which the Fock build of a data set adds, in order (replay.c): at
 *  most `max_num` bin numbers, to be freed; NULL after an error.
 *  @param[out] num   bin numbers returned
 *  @param[out] bins  2 nao^2, the elements of J and K
 *  @param[out] all   adds of the whole build */
int32_t *bench_replay_read(bench_run *run, const char *path, int64_t max_num, int64_t *num,
                           int64_t *bins, int64_t *all);

#ifdef __cplusplus
}
#endif
#endif
