/* Dealing things out in order of size, so that all have about as much. */
#ifndef FMO_TO_AND_FRO_H
#define FMO_TO_AND_FRO_H

#include <stddef.h>

/* Who of num has thing number `at`: 0, 1, ..., num - 1, num - 1, ..., 1, 0, 0, 1, ... */
static inline size_t fmo_to_and_fro(size_t at, size_t num)
{
    const size_t turn = at % (2 * num);
    return turn < num ? turn : 2 * num - 1 - turn;
}

#endif
