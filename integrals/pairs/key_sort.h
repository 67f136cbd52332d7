/* Sorting by keys of 64 bits, digit by digit: shell pairs and what is made of them come by the
 * hundred thousand, and a comparison through a pointer takes longer than all digits. */
#ifndef FMO_KEY_SORT_H
#define FMO_KEY_SORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* order[num]: 0 .. num - 1 by ascending keys, equal ones as they come. Returns 0 without memory. */
int fmo_sort_keys(const uint64_t *key, size_t num, uint32_t *order);

#ifdef __cplusplus
}
#endif
#endif
