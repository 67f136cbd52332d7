/* How much more J counts in the screening rule (screen.h) than K: the sum of what is left out of an
 * element of J grows with the system, that of K does not. docs/explanation/screening.md, "The sum
 * of what is left out". */
#ifndef FMO_SCREEN_WEIGHT_H
#define FMO_SCREEN_WEIGHT_H

#include "integrals/basis_internal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is left out of an element of J with the rule as it is, over the cutoff, is as large as the
 * potential of all functions, each a unit charge on its nucleus, where it is largest, times at most
 * 1.7 (measured, docs/explanation/accuracy.md); up to this potential, in units of 1/bohr, it may
 * stay. Above it is the cutoff that shrinks, for J: so 100 cutoffs are not reached in any system.
 */
#define FMO_SCREEN_POTENTIAL 58.0

/* Functions of nuclei closer than this are as far apart as this, in bohr. */
#define FMO_SCREEN_NEAREST 2.0

/* The potential, where it is largest of some hundred nuclei, in units of 1/bohr. */
double fmo_screen_potential(const fmo_basis *basis);

/* The factor on the elements of D that meet a quartet in J: 1 in systems below the limit (most of
 * less than 800 functions), else their potential over it. Symmetric in all nuclei but for sums'
 * roundings. */
double fmo_screen_coulomb_weight(const fmo_basis *basis);

#ifdef __cplusplus
}
#endif
#endif
