/* Coulomb interaction of pairs that do not overlap. If T = pq/(p+q) |P-Q|^2 is large for all
 * primitive quartets of two pairs, the exponents have no effect: a primitive pair acts as a charge,
 * a dipole and a quadrupole at its centre P, and an integral is a sum of derivatives of 1/R. All
 * centres of a pair lie on the line P = A + s AB, and 1/R is smooth along it, so that the
 * primitives can be replaced by a few quadrature points (nodes) on the line (fmo_far_nodes), each
 * with the coefficients of a primitive. With D contracted first, J needs no integrals:
 *
 *    fmo_far_fold       D_ab -> folded density of a pair
 *    fmo_far_moments    folded density -> moments H of a quadrature point
 *    fmo_far_interact   moments of two points -> their potentials V at each other
 *    fmo_far_potential  V -> sums over the points of a pair
 *    fmo_far_unfold     sums -> J_ab, once per quartet
 *
 * K needs the integrals themselves, which are also cheap:
 *
 *    fmo_far_add_nodes  coefficients of two points -> sums over pairs of points
 *    fmo_far_integrals  sums -> (ab|cd), once per quartet
 *
 * Hermite Gaussians: McMurchie and Davidson, J. Comput. Phys. 26, 218 (1978); with D contracted
 * first: Ahmadi and Almlof, Chem. Phys. Lett. 246, 364 (1995). Equations and errors:
 * docs/explanation/far-field.md, "Far quartets".
 *
 * The arithmetic of each pair class is in far_<pair>.h; ps pairs are those of eri_sp.h and include
 * the carried ss pair. */
#ifndef FMO_FAR_H
#define FMO_FAR_H

#include "integrals/far/decide.h"
#include "integrals/far/errors.h"
#include "integrals/far/integrals.h"
#include "integrals/far/moments.h"
#include "integrals/far/nodes.h"
#include "integrals/far/pair.h"

#endif
