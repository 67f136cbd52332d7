/* The weight of J relative to K in screening (screen.h): the error of an element of J by screening
 * grows with the system, that of K does not. docs/explanation/screening.md, "The sum of what is
 * left out". */
#ifndef FMO_SCREEN_WEIGHT_H
#define FMO_SCREEN_WEIGHT_H

#include "integrals/basis_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The error of an element of J by screening with weight 1, divided by the cutoff, is at most 1.7
 * times (measured, docs/explanation/accuracy.md) the largest potential of all functions, each taken
 * as a unit charge on its nucleus. Up to this potential, in units of 1/bohr, the weight is 1. Above
 * it, the weight grows in proportion, so that errors stay below 100 cutoffs in any system. */
#define FMO_SCREEN_POTENTIAL 58.0

/* Smaller distances between nuclei are replaced by this one, in bohr. */
#define FMO_SCREEN_NEAREST 2.0

/* Returns the largest potential at some hundred nuclei, in units of 1/bohr. */
double fmo_screen_potential(const fmo_basis *basis);

/* Returns the factor for the elements of D that multiply a quartet in J: 1 in systems below the
 * limit (most of those with less than 800 functions), else their potential divided by the limit. It
 * does not depend on the order of the nuclei, except for rounding. */
double fmo_screen_coulomb_weight(const fmo_basis *basis);

#ifdef __cplusplus
}
#endif
#endif
