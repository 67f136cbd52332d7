/* Norms of shells and functions of a basis. */
#include "integrals/basis_internal.h"
#include "integrals/norms.h"

#include <math.h>

/* Range of norms of functions: products of two norms must not overflow or underflow. */
#define FMO_AO_NORM_MIN 1e-140
#define FMO_AO_NORM_MAX 1e140

/* Returns the norm of those Cartesian functions of a shell whose powers of x, y and z are 0 or 1
 * (for l > 3 formally), the square root of
 *
 *    sum_ij c_i c_j (pi / p)^(3/2) / (2 p)^l,  p = a_i + a_j  (Helgaker, Joergensen, Olsen, 9.2).
 *
 * Where primitives cancel to rounding, a lower limit is used, 1e-14 of the sum of absolute terms.
 */
static double shell_norm(const fmo_basis *b, const fmo_shell *shell)
{
    const double *const a = b->exponent + shell->prim_begin;
    const double *const c = b->coefficient + shell->prim_begin;
    const double rounding = 1e-14;
    double largest = 0.0, sum = 0.0, size = 0.0;
    for (int i = 0; i < shell->prim_num; i++) largest = fmax(largest, fabs(c[i]));
    for (int i = 0; i < shell->prim_num; i++) {
        for (int j = 0; j < shell->prim_num; j++) {
            const double p = a[i] + a[j], root = sqrt(M_PI / p);
            double term = c[i] / largest * (c[j] / largest) * root * root * root;
            for (int l = 0; l < shell->ang_mom; l++) term /= 2.0 * p;
            sum += term;
            size += fabs(term);
        }
    }
    return largest * sqrt(fmax(sum, rounding * size));
}

/* Divides the coefficients of each shell by its norm, multiplies the factors of its functions by
 * it, and computes the functions' norms; refuses norms whose products overflow or underflow. */
fmo_status fmo_basis_normalise_shells(fmo_basis *b, fmo_error *err)
{
    for (int s = 0; s < b->shell_num; s++) {
        const fmo_shell *const shell = &b->shell[s];
        const double norm = shell_norm(b, shell);
        for (int k = 0; k < shell->prim_num; k++) b->coefficient[shell->prim_begin + k] /= norm;
        for (int m = 0; m < fmo_shell_functions_of(shell->ang_mom, b->cartesian); m++) {
            const int at = shell->caller_begin + m, ao = b->ao_caller[at];
            b->ao_factor[at] *= norm;
            b->ao_norm[ao] =
                fabs(b->ao_factor[at]) * fmo_function_norm(b->cartesian, shell->ang_mom, m);
            if (!(b->ao_norm[ao] >= FMO_AO_NORM_MIN && b->ao_norm[ao] <= FMO_AO_NORM_MAX))
                return fmo_error_set(err, FMO_ERR_INPUT,
                                     "function %d has the norm %g: expected one between %g and "
                                     "%g; change basis/coefficient, basis/prim_factor, "
                                     "basis/shell_factor or ao/normalization",
                                     ao, b->ao_norm[ao], FMO_AO_NORM_MIN, FMO_AO_NORM_MAX);
        }
    }
    return FMO_OK;
}
