/* The kinds of shells that a basis has. */
#ifndef FMO_SHELL_FROM_H
#define FMO_SHELL_FROM_H

#include <fmo/basis.h>

#include "integrals/tables.h"

/* Returns the lowest angular momentum of the basis from `least` on; -1: there is none. */
static inline int fmo_basis_shell_from(const fmo_basis *basis, int least)
{
    for (int l = least; l < FMO_SHELL_KIND_COUNT; l++)
        if (fmo_basis_shell_num(basis, l) > 0) return l;
    return -1;
}

#endif
