/* Radix sort from the lowest digit up; digits that are equal in all keys are skipped. See
 * key_sort.h. */
#include "integrals/pairs/key_sort.h"
#include "integrals/tuning.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = (64 + DIGIT_BITS - 1) / DIGIT_BITS, VALUES = 1 << DIGIT_BITS };

static unsigned digit_of(uint64_t key, int digit)
{
    return (unsigned)(key >> (digit * DIGIT_BITS)) & (VALUES - 1);
}

static void count_digits(const uint64_t *key, size_t num, uint32_t count[DIGITS][VALUES])
{
    memset(count, 0, DIGITS * sizeof *count);
    for (size_t n = 0; n < num; n++)
        for (int d = 0; d < DIGITS; d++) count[d][digit_of(key[n], d)]++;
}

/* Insertion sort for a few keys. */
static void insert_keys(const uint64_t *key, size_t num, uint32_t *order)
{
    for (size_t n = 0; n < num; n++) {
        size_t at = n;
        for (; at > 0 && key[order[at - 1]] > key[n]; at--) order[at] = order[at - 1];
        order[at] = (uint32_t)n;
    }
}

/* Sorts by one digit after the other, alternating between two arrays. */
int fmo_sort_keys(const uint64_t *key, size_t num, uint32_t *order)
{
    uint32_t count[DIGITS][VALUES];
    if (num <= fmo_tuning_sort_few) {
        insert_keys(key, num, order);
        return 1;
    }
    uint32_t *const other = malloc(num * sizeof *other);
    uint32_t *from = order, *to = other;
    if (!other) return 0;
    count_digits(key, num, count);
    for (size_t n = 0; n < num; n++) order[n] = (uint32_t)n;
    for (int d = 0; d < DIGITS; d++) {
        uint32_t *const at = count[d];
        uint32_t begin = 0;
        if (at[digit_of(key[0], d)] == num) continue;
        for (int v = 0; v < VALUES; v++) {
            const uint32_t some = at[v];
            at[v] = begin;
            begin += some;
        }
        for (size_t n = 0; n < num; n++) to[at[digit_of(key[from[n]], d)]++] = from[n];
        uint32_t *const swap = from;
        from = to;
        to = swap;
    }
    if (from != order) memcpy(order, from, num * sizeof *order);
    free(other);
    return 1;
}
