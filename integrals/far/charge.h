/* The charge of a primitive pair (ss) for which prefactor (eri_common.h) over the square root of
 * the exponent is 1: for well-separated pairs (ss|ss) is K K' (pi^1/2 / 2) / (R (p q)^1/2). */
#ifndef FMO_FAR_CHARGE_H
#define FMO_FAR_CHARGE_H

#define FMO_FAR_CHARGE 0.94139626377671481 /* pi^(1/4) / 2^(1/2) */

#endif
