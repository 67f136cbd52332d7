/* The order of the functions of a shell in a TREXIO file, and so in a data set. Cartesian functions
 * are ordered as in the library: x y z, xx xy xz yy yz zz, ... Spherical functions are ordered by m
 * = 0, +1, -1, ...: p shells are z x y, where the library has x y z
 * (fmo_basis_input.ao_component). */
#ifndef FMO_IO_DATASET_ORDER_H
#define FMO_IO_DATASET_ORDER_H

#include <stdbool.h>

#include "integrals/tables.h"

/* Returns true if Cartesian and spherical shells of this angular momentum have different
 * functions. */
static inline bool fmo_shell_has_forms(int ang_mom)
{
    return fmo_shell_functions(ang_mom) != fmo_shell_spherical(ang_mom);
}

/* Returns the component (fmo_basis_input.ao_component) of function k of a shell in the file. */
static inline int fmo_file_component(int ang_mom, int k, bool cartesian)
{
    static const int place[FMO_SHELL_KIND_COUNT][9] = {
        {0}, {2, 0, 1}, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, 5, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8}};
    FMO_STATIC_ASSERT(FMO_SHELL_KIND_COUNT == 5, "order.h: TREXIO's order of spherical functions")
    return cartesian ? k : place[ang_mom][k];
}

#endif
