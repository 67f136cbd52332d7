/* Radix sort by 64-bit keys: for the hundreds of thousands of shell pairs of a system it is faster
 * than sorting with a comparison function. */
#ifndef FMO_KEY_SORT_H
#define FMO_KEY_SORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets order[num] to 0 .. num - 1 sorted by ascending keys; equal keys keep their order. Returns 0
 * if there is no memory. */
int fmo_sort_keys(const uint64_t *key, size_t num, uint32_t *order);

#ifdef __cplusplus
}
#endif
#endif
