/* See norm.h. */
#include "io/basis_set/norm.h"
#include "integrals/tables.h"

#include <math.h>

FMO_STATIC_ASSERT(FMO_SHELL_KIND_COUNT == 2, "norm.c: norms of primitives, for s and p alone")

double fmo_primitive_norm(int ang_mom, double exponent)
{
    double norm = pow(2.0 * exponent / M_PI, 0.75);
    return ang_mom ? 2.0 * sqrt(exponent) * norm : norm;
}

double fmo_contraction_overlap(int ang_mom, int n, const double *exponent,
                               const double *coefficient)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double ratio =
                2.0 * sqrt(exponent[i]) * sqrt(exponent[j]) / (exponent[i] + exponent[j]);
            sum += coefficient[i] * coefficient[j] * pow(ratio, ang_mom + 1.5);
        }
    }
    return sum;
}
