/* Writes the tables of boys.h as C initialisers: make-boys-table FILE. Runs at build time.
 * On each interval of width 1/8 around T0 the highest order is a polynomial of degree 6 in T - T0,
 * interpolated at Chebyshev nodes in long double. */
#define FMO_REF_REAL long double
#include "integrals/boys_reference.h"
#include "integrals/boys.h"

#include <stdio.h>

enum { NODES_MAX = 16 };

/* Monomial coefficients of the polynomial through (x_k, y_k), by Newton's divided differences. */
static void interpolate(int n, const long double *x, long double *y, long double *c)
{
    for (int j = 1; j < n; j++)
        for (int k = n - 1; k >= j; k--) y[k] = (y[k] - y[k - 1]) / (x[k] - x[k - j]);
    for (int k = 0; k < n; k++) c[k] = 0;
    for (int k = n - 1; k >= 0; k--) {
        for (int i = n - 1; i > 0; i--) c[i] = c[i - 1] - x[k] * c[i];
        c[0] = y[k] - x[k] * c[0];
    }
}

static void chebyshev_nodes(int n, long double half_width, long double *x)
{
    const long double pi = 3.14159265358979323846264338327950288L;
    for (int k = 0; k < n; k++) x[k] = half_width * cos(pi * (2 * k + 1) / (2 * n));
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make-boys-table FILE\n");
        return 2;
    }
    FILE *out = fopen(argv[1], "w");
    if (!out) {
        perror(argv[1]);
        return 1;
    }
    long double x[NODES_MAX], y[NODES_MAX], c[NODES_MAX];
    const long double half = 0.5L / FMO_BOYS_PER_UNIT;

    fprintf(out, "/* [order][interval]: exp(-T0), coefficients of F_order */\n{");
    chebyshev_nodes(FMO_BOYS_TERMS, half, x);
    for (int order = 0; order <= FMO_BOYS_ORDER_MAX; order++) {
        fprintf(out, "{\n");
        for (int row = 0; row < FMO_BOYS_ROWS; row++) {
            long double T0 = (long double)row / FMO_BOYS_PER_UNIT;
            for (int k = 0; k < FMO_BOYS_TERMS; k++) {
                /* The first interval reaches below 0; the function is entire, its series alternates
                 * there but |T| is tiny. */
                long double F[FMO_BOYS_ORDER_MAX + 1];
                boys_reference(T0 + x[k], order, F);
                y[k] = F[order];
            }
            interpolate(FMO_BOYS_TERMS, x, y, c);
            fprintf(out, "{%.17Lg,", exp(-T0));
            for (int k = 0; k < FMO_BOYS_TERMS; k++) fprintf(out, "%.17Lg,", c[k]);
            fprintf(out, "},\n");
        }
        fprintf(out, "},\n");
    }
    fprintf(out, "}\n");
    if (fclose(out)) {
        perror(argv[1]);
        return 1;
    }
    return 0;
}
