/* Spherical functions of a shell over Cartesian ones: real solid harmonics, in the orders of
 * fmo_basis_input.ao_component. */
#ifndef FMO_HARMONICS_H
#define FMO_HARMONICS_H

#include <stddef.h>

#include "integrals/tables.h"

/* Coefficient of Cartesian function c in spherical function m. Up to p shells they are the same. */
static inline double fmo_shell_harmonic(int ang_mom, int m, int c)
{
#define FMO_HALF_ROOT_3 0.86602540378443864676
    /* sqrt(3/8), sqrt(5/8), sqrt(15)/2 */
#define FMO_ROOT_3_8     0.61237243569579452455
#define FMO_ROOT_5_8     0.79056941504209483300
#define FMO_HALF_ROOT_15 1.93649167310370844259
    static const double d[][6] = {{-0.5, 0, 0, -0.5, 0, 1},
                                  {0, 0, 2 * FMO_HALF_ROOT_3, 0, 0, 0},
                                  {0, 0, 0, 0, 2 * FMO_HALF_ROOT_3, 0},
                                  {FMO_HALF_ROOT_3, 0, 0, -FMO_HALF_ROOT_3, 0, 0},
                                  {0, 2 * FMO_HALF_ROOT_3, 0, 0, 0, 0}};
    /* sqrt(5)/4, sqrt(70)/4, sqrt(35)/8 */
#define FMO_ROOT_5_4  0.55901699437494742410
#define FMO_ROOT_70_4 2.09165006633518886955
#define FMO_ROOT_35_8 0.73950997288745200532
    /* xxx xxy xxz xyy xyz xzz yyy yyz yzz zzz */
    static const double f[][10] = {
        {0, 0, -1.5, 0, 0, 0, 0, -1.5, 0, 1},
        {-FMO_ROOT_3_8, 0, 0, -FMO_ROOT_3_8, 0, 4 * FMO_ROOT_3_8, 0, 0, 0, 0},
        {0, -FMO_ROOT_3_8, 0, 0, 0, 0, -FMO_ROOT_3_8, 0, 4 * FMO_ROOT_3_8, 0},
        {0, 0, FMO_HALF_ROOT_15, 0, 0, 0, 0, -FMO_HALF_ROOT_15, 0, 0},
        {0, 0, 0, 0, 2 * FMO_HALF_ROOT_15, 0, 0, 0, 0, 0},
        {FMO_ROOT_5_8, 0, 0, -3 * FMO_ROOT_5_8, 0, 0, 0, 0, 0, 0},
        {0, 3 * FMO_ROOT_5_8, 0, 0, 0, 0, -FMO_ROOT_5_8, 0, 0, 0}};
    /* xxxx xxxy xxxz xxyy xxyz xxzz xyyy xyyz xyzz xzzz yyyy yyyz yyzz yzzz zzzz */
    static const double g[][15] = {
        {0.375, 0, 0, 0.75, 0, -3, 0, 0, 0, 0, 0.375, 0, -3, 0, 1},
        {0, 0, -3 * FMO_ROOT_5_8, 0, 0, 0, 0, -3 * FMO_ROOT_5_8, 0, 4 * FMO_ROOT_5_8, 0, 0, 0, 0,
         0},
        {0, 0, 0, 0, -3 * FMO_ROOT_5_8, 0, 0, 0, 0, 0, 0, -3 * FMO_ROOT_5_8, 0, 4 * FMO_ROOT_5_8,
         0},
        {-FMO_ROOT_5_4, 0, 0, 0, 0, 6 * FMO_ROOT_5_4, 0, 0, 0, 0, FMO_ROOT_5_4, 0,
         -6 * FMO_ROOT_5_4, 0, 0},
        {0, -2 * FMO_ROOT_5_4, 0, 0, 0, 0, -2 * FMO_ROOT_5_4, 0, 12 * FMO_ROOT_5_4, 0, 0, 0, 0, 0,
         0},
        {0, 0, FMO_ROOT_70_4, 0, 0, 0, 0, -3 * FMO_ROOT_70_4, 0, 0, 0, 0, 0, 0, 0},
        {0, 0, 0, 0, 3 * FMO_ROOT_70_4, 0, 0, 0, 0, 0, 0, -FMO_ROOT_70_4, 0, 0, 0},
        {FMO_ROOT_35_8, 0, 0, -6 * FMO_ROOT_35_8, 0, 0, 0, 0, 0, 0, FMO_ROOT_35_8, 0, 0, 0, 0},
        {0, 4 * FMO_ROOT_35_8, 0, 0, 0, 0, -4 * FMO_ROOT_35_8, 0, 0, 0, 0, 0, 0, 0, 0}};
    static const double *const of_kind[FMO_SHELL_KIND_COUNT] = {NULL, NULL, d[0], f[0], g[0]};
#undef FMO_ROOT_5_4
#undef FMO_ROOT_70_4
#undef FMO_ROOT_35_8
#undef FMO_HALF_ROOT_3
#undef FMO_ROOT_3_8
#undef FMO_ROOT_5_8
#undef FMO_HALF_ROOT_15
    FMO_STATIC_ASSERT(sizeof g / sizeof *g == 2 * FMO_ANG_MOM_MAX + 1 &&
                          sizeof *g / sizeof **g == (size_t)FMO_SHELL_FUNCTIONS_MAX,
                      "harmonics.h lacks the transformation of functions of the highest kind of "
                      "shell between Cartesian and spherical")
    if (fmo_shell_spherical(ang_mom) == fmo_shell_functions(ang_mom)) return m == c;
    return of_kind[ang_mom][m * fmo_shell_functions(ang_mom) + c];
}

/* Coefficient of internal function c in the caller's function m of a shell, without its factor. */
static inline double fmo_caller_coefficient(int cartesian, int ang_mom, int m, int c)
{
    return cartesian ? m == c : fmo_shell_harmonic(ang_mom, m, c);
}

#endif
