/* Snake (boustrophedon) distribution of items that are sorted by size. */
#ifndef FMO_SNAKE_H
#define FMO_SNAKE_H

#include <stddef.h>

/* Returns the owner, 0 to num - 1, of the item at position `at` of the sorted list. Owners are in
 * the order 0, 1, ..., num - 1, num - 1, ..., 1, 0, 0, 1, ... */
static inline size_t fmo_snake(size_t at, size_t num)
{
    const size_t turn = at % (2 * num);
    return turn < num ? turn : 2 * num - 1 - turn;
}

#endif
