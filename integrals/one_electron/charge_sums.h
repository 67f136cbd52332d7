/* Sums over point charges, in SIMD lanes: the only dependence on the charges of their attraction of
 * a product of two primitives. With p the product's exponent, P its centre, (x, y, z) = C - P and r
 * its length,
 *
 *    sums[s][abc] = sum_C q_C g_(a+b+c+s)(r) x^a y^b z^c,   g_n = 2 sqrt(p/pi) (2p)^n F_n(p r^2),
 *
 * at the offsets given by FMO_CHARGE_SUMS_BEGIN and fmo_hermite_index. Far from the product g_n is
 * (2n-1)!!/r^(2n+1) and does not depend on p. charge_sums.c is compiled once per instruction set;
 * for the use of the sums see hermite.h. */
#ifndef FMO_CHARGE_SUMS_H
#define FMO_CHARGE_SUMS_H

#include <stddef.h>

#include "integrals/one_electron/hermite.h"

/* Charges are padded to groups of this size, a multiple of every vector width, with charges of 0.
 */
enum { FMO_CHARGE_GROUP = 8 };

/* Charges relative to a point near P: columns of x, y, z of C - point. offset, below, is P - point.
 */
typedef struct fmo_charge_view {
    size_t num; /* a multiple of FMO_CHARGE_GROUP */
    const double *charge, *x, *y, *z;
} fmo_charge_view;

/* Computes sums[FMO_CHARGE_SUMS_NUM(order)], which are overwritten. */
typedef void fmo_charge_sums(const fmo_charge_view *view, const double *offset, double p,
                             double *sums);

typedef struct fmo_charge_kernels {
    const char *name;
    fmo_charge_sums *sums[FMO_PAIR_CLASS_COUNT]; /* by pair class, for its order */
} fmo_charge_kernels;

/* One table for each vector width and instruction set. */
extern const fmo_charge_kernels fmo_charge_kernels_baseline;
extern const fmo_charge_kernels fmo_charge_kernels_avx2;   /* x86-64 */
extern const fmo_charge_kernels fmo_charge_kernels_avx512; /* x86-64 */

#endif
