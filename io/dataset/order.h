/* The order in which a TREXIO file, and with it a data set, has the functions of a shell: Cartesian
 * ones x y z, xx xy xz yy yz zz, ... as the library does; spherical ones by m = 0, +1, -1, ..., of
 * p shells z x y, which the library has as x y z everywhere (fmo_basis_input.ao_component). */
#ifndef FMO_IO_DATASET_ORDER_H
#define FMO_IO_DATASET_ORDER_H

#include <stdbool.h>

#include "integrals/tables.h"

/* Whether the two forms have different functions. */
static inline bool fmo_shell_has_forms(int ang_mom)
{
    return fmo_shell_functions(ang_mom) != fmo_shell_spherical(ang_mom);
}

/* The component that function k of a shell in the file is. */
static inline int fmo_file_component(int ang_mom, int k, bool cartesian)
{
    static const int place[FMO_SHELL_KIND_COUNT][5] = {{0}, {2, 0, 1}, {0, 1, 2, 3, 4}};
    FMO_STATIC_ASSERT(FMO_SHELL_KIND_COUNT == 3, "order.h: TREXIO's order of spherical functions")
    return cartesian ? k : place[ang_mom][k];
}

#endif
