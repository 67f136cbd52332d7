/* Writes the tables of boys.h and of boys_lanes.h as C initialisers at build time:
 * fmo-boys-table-maker FILE LANES_FILE GPU_FILE. On each interval of width 1/20 around T0 the
 * highest order is a polynomial of degree 5 in T - T0, interpolated at Chebyshev nodes in long
 * double. */
#define FMO_REF_REAL long double
#include "integrals/boys/boys_reference.inc"
#include "integrals/boys/boys.h"

#include <stdio.h>

enum { NODES_MAX = (int)FMO_BOYS_LANES_TERMS };

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

/* y[k] = F_order(T0 + x[k]) */
static void values(int n, int order, long double T0, const long double *x, long double *y)
{
    for (int k = 0; k < n; k++) {
        /* The first interval extends below 0, where the series alternates; |T| is tiny there, so no
         * digits are lost. */
        long double F[FMO_BOYS_ORDER_MAX + 1];
        boys_reference(T0 + x[k], order, F);
        y[k] = F[order];
    }
}

/* Interval m of boys_lanes.h, selected by exponent and two bits of the mantissa of 1 + T/unit.
 * Returns its middle as a double, and half its width in *half. */
static long double lanes_interval(int unit, int m, long double *half)
{
    /* (bits >> 50) & 15: exponents 1023 .. 1026 are 12 .. 15, 0 .. 3, 4 .. 7, 8 .. 11 */
    const int exponent = ((m >> 2) + 1) & 3;
    const long double begin = ldexp(1.0L + (m & 3) * 0.25L, exponent);
    const long double width = ldexp(0.25L, exponent);
    *half = 0.5L * unit * width;
    return (double)(unit * (begin + 0.5L * width - 1));
}

/* Writes the tables of boys_lanes.h: middles, roots and polynomial coefficients. */
static void write_lanes(FILE *out)
{
    static long double row[FMO_BOYS_LANES_TERMS][FMO_BOYS_LANES_INTERVALS];
    long double x[NODES_MAX], y[NODES_MAX], c[NODES_MAX], half;
    fprintf(out, "/* middles; 2^(-k/16); [order][term][interval] */\n{");
    for (int kind = 0; kind < FMO_BOYS_LANES_UNITS; kind++) {
        fprintf(out, "{");
        for (int m = 0; m < FMO_BOYS_LANES_INTERVALS; m++)
            fprintf(out, "%.17Lg,", lanes_interval(FMO_BOYS_LANES_UNIT_OF(kind), m, &half));
        fprintf(out, "},\n");
    }
    fprintf(out, "},\n{");
    for (int m = 0; m < FMO_BOYS_LANES_INTERVALS; m++)
        fprintf(out, "%.17Lg,", exp2(-m / (long double)FMO_BOYS_LANES_INTERVALS));
    fprintf(out, "},\n{");
    for (int order = 0; order <= FMO_BOYS_ORDER_MAX; order++) {
        const int terms = 12 + order;
        for (int m = 0; m < FMO_BOYS_LANES_INTERVALS; m++) {
            const long double T0 = lanes_interval(FMO_BOYS_LANES_UNIT(order), m, &half);
            chebyshev_nodes(terms, half, x);
            values(terms, order, T0, x, y);
            interpolate(terms, x, y, c);
            for (int k = 0; k < FMO_BOYS_LANES_TERMS; k++) row[k][m] = k < terms ? c[k] : 0;
        }
        fprintf(out, "{\n");
        for (int k = 0; k < FMO_BOYS_LANES_TERMS; k++) {
            fprintf(out, "{");
            for (int m = 0; m < FMO_BOYS_LANES_INTERVALS; m++) fprintf(out, "%.17Lg,", row[k][m]);
            fprintf(out, "},\n");
        }
        fprintf(out, "},\n");
    }
    fprintf(out, "}\n");
}

/* The upper half of a double, rounded to nearest. */
static uint64_t upper_half(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits + 0x80000000u) >> 32;
}

static double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Rounds coefficients 4 and 5 to upper halves of doubles. The rest times d^4 (d^5) goes to the
 * lower coefficients, but for a Chebyshev polynomial, which has 1/8 (1/16) of its size on the
 * interval. */
static void round_high_terms(long double half, long double *c)
{
    const long double h2 = half * half;
    long double rest[2];
    for (int k = 4; k < 6; k++) {
        const long double rounded = of_bits(upper_half((double)c[k]) << 32);
        rest[k - 4] = c[k] - rounded;
        c[k] = rounded;
    }
    c[0] -= rest[0] * h2 * h2 / 8;
    c[1] -= rest[1] * h2 * h2 * 5 / 16;
    c[2] += rest[0] * h2;
    c[3] += rest[1] * h2 * 5 / 4;
}

/* Writes a table of boys.h up to an order, row by row. */
static void write_rows(FILE *out, int order_max)
{
    const int rows = FMO_BOYS_ROWS_TO((int)fmo_boys_far(order_max));
    long double x[NODES_MAX], y[NODES_MAX], c[NODES_MAX];
    const long double half = 0.5L / FMO_BOYS_PER_UNIT;
    fprintf(out, "/* [order][interval]: rows of boys.h */\n{");
    chebyshev_nodes(FMO_BOYS_TERMS, half, x);
    for (int order = 0; order <= order_max; order++) {
        fprintf(out, "{\n");
        for (int row = 0; row < rows; row++) {
            /* the same rounding as in boys.h */
            const long double T0 = row * (long double)(1.0 / FMO_BOYS_PER_UNIT);
            values(FMO_BOYS_TERMS, order, T0, x, y);
            interpolate(FMO_BOYS_TERMS, x, y, c);
            round_high_terms(half, c);
            fprintf(out, "{%.17Lg,", exp(-T0));
            for (int k = 0; k < 4; k++) fprintf(out, "%.17Lg,", c[k]);
            fprintf(out, "%a},\n",
                    of_bits(upper_half((double)c[4]) << 32 | upper_half((double)c[5])));
        }
        fprintf(out, "},\n");
    }
    fprintf(out, "}\n");
}

/* Writes FILE and, if specified, LANES_FILE and GPU_FILE, the table of the GPU's classes. */
int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4) {
        fprintf(stderr, "usage: fmo-boys-table-maker FILE [LANES_FILE [GPU_FILE]]\n");
        return 2;
    }
    for (int file = 1; file < argc; file++) {
        FILE *out = fopen(argv[file], "w");
        if (!out) {
            perror(argv[file]);
            return 1;
        }
        if (file == 2)
            write_lanes(out);
        else
            write_rows(out, file == 1 ? FMO_BOYS_ORDER_MAX : FMO_BOYS_GPU_ORDER_MAX);
        if (fclose(out)) {
            perror(argv[file]);
            return 1;
        }
    }
    return 0;
}
