/* Norms of Gaussian primitives and contractions; declared in norm.h. */
#include "io/basis_set/norm.h"

#include <math.h>

/* <g|g> = (pi / 2a)^(3/2) (2l - 1)!! / (4a)^l, also for spherical functions of l */
double fmo_primitive_norm(int ang_mom, double exponent)
{
    double norm = pow(2.0 * exponent / M_PI, 0.75);
    for (int k = 1; k <= ang_mom; k++) norm *= 2.0 * sqrt(exponent / (2 * k - 1));
    return norm;
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
