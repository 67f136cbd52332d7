/* Numbers of pairs i >= j: i (i + 1) / 2 + j. Host and device. */
#ifndef FMO_PAIR_NUMBER_H
#define FMO_PAIR_NUMBER_H

#include "integrals/real.h"

/* Number of a pair in any order. */
FMO_HD int fmo_pair_number(int i, int j)
{
    return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

/* The pair i >= j of a number. */
FMO_HD void fmo_pair_of(int number, int *i, int *j)
{
    int row = (int)((sqrt(8.0 * number + 1.0) - 1.0) * 0.5);
    while (row * (row + 1) / 2 > number) row--;
    while ((row + 1) * (row + 2) / 2 <= number) row++;
    *i = row;
    *j = number - row * (row + 1) / 2;
}

#endif
