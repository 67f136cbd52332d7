/* Norms of shells and of the functions of a shell relative to each other. */
#ifndef FMO_NORMS_H
#define FMO_NORMS_H

#include <fmo/basis.h>

#include "integrals/tables.h"

#include <math.h>

/* Scales every shell so that those Cartesian functions have norm 1 whose powers of x, y and z are 0
 * or 1, adapts the factors of the caller's functions and computes their norms (norms.c). */
fmo_status fmo_basis_normalise_shells(fmo_basis *basis, fmo_error *err);

/* Returns the norm of function m (fmo_basis_input.ao_component) of a shell in which those Cartesian
 * functions have norm 1 whose powers of x, y and z are 0 or 1: the square root of (2a-1)!! (2b-1)!!
 * (2c-1)!! for x^a y^b z^c, and of (2l-1)!! for a solid harmonic. */
static inline double fmo_function_norm(int cartesian, int ang_mom, int m)
{
    double square = 1.0;
    for (int k = 1; k <= ang_mom && !cartesian; k++) square *= 2 * k - 1;
    for (int axis = 0; axis < 3 && cartesian; axis++)
        for (int k = 1; k <= fmo_shell_power(ang_mom, m, axis); k++) square *= 2 * k - 1;
    return sqrt(square);
}

/* Returns the factor that normalises function m of a shell whose x^l is normalised: sqrt(3) for xy,
 * 1 for yy and for all spherical functions. */
static inline double fmo_function_factor(int cartesian, int ang_mom, int m)
{
    return fmo_function_norm(cartesian, ang_mom, 0) / fmo_function_norm(cartesian, ang_mom, m);
}

#endif
