/* From sums over charges to attraction integrals over a product of two primitives, after McMurchie
 * and Davidson (1978). The sums of g_n x^a y^b z^c over charges (charge_sums.h) give the
 * derivatives R_tuv of the charges' potential at the product's centre, and these give the integrals
 * by the Hermite expansion of the product. Orders and angular momenta are compile-time constants;
 * equations are in docs/explanation/one-electron.md, "One-electron integrals". */
#ifndef FMO_HERMITE_H
#define FMO_HERMITE_H

#include "integrals/pairs/hermite_expand.h"

/* Unrolling of loops with many iterations; see FMO_UNROLL. */
#if defined(FMO_CALLED) || defined(__CUDACC__)
#define FMO_HERMITE_UNROLL
#else
#define FMO_HERMITE_UNROLL _Pragma("GCC unroll 96")
#endif

/* Index of the monomial x^t y^u z^v: by degree, then in the order of fmo_shell_power. */
FMO_TABLE_FUNCTION int fmo_hermite_index(int t, int u, int v)
{
    return FMO_HERMITE_COUNT(t + u + v - 1) + FMO_CARTESIAN(u + v - 1) + v;
}

/* For orders up to one above those of two g shells, by index: powers of x, y and z; index of the
 * monomial with one power less, and the axis (x 0, y 1, z 2) of that power. Meant for unrolled
 * loops, where the compiler evaluates it; tests/integrals/charges.c compares it with
 * fmo_hermite_index. */
static const uint8_t fmo_hermite_term[][5] = {
    {0, 0, 0, 0, 0},   {1, 0, 0, 0, 0},   {0, 1, 0, 0, 1},   {0, 0, 1, 0, 2},   {2, 0, 0, 1, 0},
    {1, 1, 0, 1, 1},   {1, 0, 1, 1, 2},   {0, 2, 0, 2, 1},   {0, 1, 1, 2, 2},   {0, 0, 2, 3, 2},
    {3, 0, 0, 4, 0},   {2, 1, 0, 4, 1},   {2, 0, 1, 4, 2},   {1, 2, 0, 5, 1},   {1, 1, 1, 5, 2},
    {1, 0, 2, 6, 2},   {0, 3, 0, 7, 1},   {0, 2, 1, 7, 2},   {0, 1, 2, 8, 2},   {0, 0, 3, 9, 2},
    {4, 0, 0, 10, 0},  {3, 1, 0, 10, 1},  {3, 0, 1, 10, 2},  {2, 2, 0, 11, 1},  {2, 1, 1, 11, 2},
    {2, 0, 2, 12, 2},  {1, 3, 0, 13, 1},  {1, 2, 1, 13, 2},  {1, 1, 2, 14, 2},  {1, 0, 3, 15, 2},
    {0, 4, 0, 16, 1},  {0, 3, 1, 16, 2},  {0, 2, 2, 17, 2},  {0, 1, 3, 18, 2},  {0, 0, 4, 19, 2},
    {5, 0, 0, 20, 0},  {4, 1, 0, 20, 1},  {4, 0, 1, 20, 2},  {3, 2, 0, 21, 1},  {3, 1, 1, 21, 2},
    {3, 0, 2, 22, 2},  {2, 3, 0, 23, 1},  {2, 2, 1, 23, 2},  {2, 1, 2, 24, 2},  {2, 0, 3, 25, 2},
    {1, 4, 0, 26, 1},  {1, 3, 1, 26, 2},  {1, 2, 2, 27, 2},  {1, 1, 3, 28, 2},  {1, 0, 4, 29, 2},
    {0, 5, 0, 30, 1},  {0, 4, 1, 30, 2},  {0, 3, 2, 31, 2},  {0, 2, 3, 32, 2},  {0, 1, 4, 33, 2},
    {0, 0, 5, 34, 2},  {6, 0, 0, 35, 0},  {5, 1, 0, 35, 1},  {5, 0, 1, 35, 2},  {4, 2, 0, 36, 1},
    {4, 1, 1, 36, 2},  {4, 0, 2, 37, 2},  {3, 3, 0, 38, 1},  {3, 2, 1, 38, 2},  {3, 1, 2, 39, 2},
    {3, 0, 3, 40, 2},  {2, 4, 0, 41, 1},  {2, 3, 1, 41, 2},  {2, 2, 2, 42, 2},  {2, 1, 3, 43, 2},
    {2, 0, 4, 44, 2},  {1, 5, 0, 45, 1},  {1, 4, 1, 45, 2},  {1, 3, 2, 46, 2},  {1, 2, 3, 47, 2},
    {1, 1, 4, 48, 2},  {1, 0, 5, 49, 2},  {0, 6, 0, 50, 1},  {0, 5, 1, 50, 2},  {0, 4, 2, 51, 2},
    {0, 3, 3, 52, 2},  {0, 2, 4, 53, 2},  {0, 1, 5, 54, 2},  {0, 0, 6, 55, 2},  {7, 0, 0, 56, 0},
    {6, 1, 0, 56, 1},  {6, 0, 1, 56, 2},  {5, 2, 0, 57, 1},  {5, 1, 1, 57, 2},  {5, 0, 2, 58, 2},
    {4, 3, 0, 59, 1},  {4, 2, 1, 59, 2},  {4, 1, 2, 60, 2},  {4, 0, 3, 61, 2},  {3, 4, 0, 62, 1},
    {3, 3, 1, 62, 2},  {3, 2, 2, 63, 2},  {3, 1, 3, 64, 2},  {3, 0, 4, 65, 2},  {2, 5, 0, 66, 1},
    {2, 4, 1, 66, 2},  {2, 3, 2, 67, 2},  {2, 2, 3, 68, 2},  {2, 1, 4, 69, 2},  {2, 0, 5, 70, 2},
    {1, 6, 0, 71, 1},  {1, 5, 1, 71, 2},  {1, 4, 2, 72, 2},  {1, 3, 3, 73, 2},  {1, 2, 4, 74, 2},
    {1, 1, 5, 75, 2},  {1, 0, 6, 76, 2},  {0, 7, 0, 77, 1},  {0, 6, 1, 77, 2},  {0, 5, 2, 78, 2},
    {0, 4, 3, 79, 2},  {0, 3, 4, 80, 2},  {0, 2, 5, 81, 2},  {0, 1, 6, 82, 2},  {0, 0, 7, 83, 2},
    {8, 0, 0, 84, 0},  {7, 1, 0, 84, 1},  {7, 0, 1, 84, 2},  {6, 2, 0, 85, 1},  {6, 1, 1, 85, 2},
    {6, 0, 2, 86, 2},  {5, 3, 0, 87, 1},  {5, 2, 1, 87, 2},  {5, 1, 2, 88, 2},  {5, 0, 3, 89, 2},
    {4, 4, 0, 90, 1},  {4, 3, 1, 90, 2},  {4, 2, 2, 91, 2},  {4, 1, 3, 92, 2},  {4, 0, 4, 93, 2},
    {3, 5, 0, 94, 1},  {3, 4, 1, 94, 2},  {3, 3, 2, 95, 2},  {3, 2, 3, 96, 2},  {3, 1, 4, 97, 2},
    {3, 0, 5, 98, 2},  {2, 6, 0, 99, 1},  {2, 5, 1, 99, 2},  {2, 4, 2, 100, 2}, {2, 3, 3, 101, 2},
    {2, 2, 4, 102, 2}, {2, 1, 5, 103, 2}, {2, 0, 6, 104, 2}, {1, 7, 0, 105, 1}, {1, 6, 1, 105, 2},
    {1, 5, 2, 106, 2}, {1, 4, 3, 107, 2}, {1, 3, 4, 108, 2}, {1, 2, 5, 109, 2}, {1, 1, 6, 110, 2},
    {1, 0, 7, 111, 2}, {0, 8, 0, 112, 1}, {0, 7, 1, 112, 2}, {0, 6, 2, 113, 2}, {0, 5, 3, 114, 2},
    {0, 4, 4, 115, 2}, {0, 3, 5, 116, 2}, {0, 2, 6, 117, 2}, {0, 1, 7, 118, 2}, {0, 0, 8, 119, 2},
    {9, 0, 0, 120, 0}, {8, 1, 0, 120, 1}, {8, 0, 1, 120, 2}, {7, 2, 0, 121, 1}, {7, 1, 1, 121, 2},
    {7, 0, 2, 122, 2}, {6, 3, 0, 123, 1}, {6, 2, 1, 123, 2}, {6, 1, 2, 124, 2}, {6, 0, 3, 125, 2},
    {5, 4, 0, 126, 1}, {5, 3, 1, 126, 2}, {5, 2, 2, 127, 2}, {5, 1, 3, 128, 2}, {5, 0, 4, 129, 2},
    {4, 5, 0, 130, 1}, {4, 4, 1, 130, 2}, {4, 3, 2, 131, 2}, {4, 2, 3, 132, 2}, {4, 1, 4, 133, 2},
    {4, 0, 5, 134, 2}, {3, 6, 0, 135, 1}, {3, 5, 1, 135, 2}, {3, 4, 2, 136, 2}, {3, 3, 3, 137, 2},
    {3, 2, 4, 138, 2}, {3, 1, 5, 139, 2}, {3, 0, 6, 140, 2}, {2, 7, 0, 141, 1}, {2, 6, 1, 141, 2},
    {2, 5, 2, 142, 2}, {2, 4, 3, 143, 2}, {2, 3, 4, 144, 2}, {2, 2, 5, 145, 2}, {2, 1, 6, 146, 2},
    {2, 0, 7, 147, 2}, {1, 8, 0, 148, 1}, {1, 7, 1, 148, 2}, {1, 6, 2, 149, 2}, {1, 5, 3, 150, 2},
    {1, 4, 4, 151, 2}, {1, 3, 5, 152, 2}, {1, 2, 6, 153, 2}, {1, 1, 7, 154, 2}, {1, 0, 8, 155, 2},
    {0, 9, 0, 156, 1}, {0, 8, 1, 156, 2}, {0, 7, 2, 157, 2}, {0, 6, 3, 158, 2}, {0, 5, 4, 159, 2},
    {0, 4, 5, 160, 2}, {0, 3, 6, 161, 2}, {0, 2, 7, 162, 2}, {0, 1, 8, 163, 2}, {0, 0, 9, 164, 2}};
FMO_STATIC_ASSERT(FMO_HERMITE_COUNT(FMO_PAIR_ORDER_MAX) <=
                      (int)(sizeof fmo_hermite_term / sizeof *fmo_hermite_term),
                  "hermite.h: fmo_hermite_term lacks orders")

/* The power of an axis in Cartesian function c of angular momentum l, as fmo_shell_power, but from
 * the table, which GPU code does not have. */
FMO_HD int fmo_hermite_power(int l, int c, int axis)
{
#if defined(__CUDA_ARCH__)
    const int rest = FMO_SHELL_REST(c), k = c - rest * (rest + 1) / 2;
    return axis == 0 ? l - rest : axis == 1 ? rest - k : k;
#else
    return fmo_hermite_term[FMO_HERMITE_COUNT(l - 1) + c][axis];
#endif
}

#define FMO_HERMITE_DEGREE(k) \
    (fmo_hermite_term[k][0] + fmo_hermite_term[k][1] + fmo_hermite_term[k][2])

/* Offsets of the sums for order L: for s = 0 .. L/2 the sums with g_(degree + s), of degrees up to
 * L - 2s, begin at FMO_CHARGE_SUMS_BEGIN(L, s). */
#define FMO_CHARGE_SUMS_BEGIN(L, s)                                                        \
    (((s) > 0 ? FMO_HERMITE_COUNT(L) : 0) + ((s) > 1 ? FMO_HERMITE_COUNT((L)-2) : 0) +     \
     ((s) > 2 ? FMO_HERMITE_COUNT((L)-4) : 0) + ((s) > 3 ? FMO_HERMITE_COUNT((L)-6) : 0) + \
     ((s) > 4 ? FMO_HERMITE_COUNT((L)-8) : 0))
#define FMO_CHARGE_SUMS_NUM(L) FMO_CHARGE_SUMS_BEGIN(L, (L) / 2 + 1)

enum {
    FMO_HERMITE_MAX = FMO_HERMITE_COUNT(FMO_TARGET_PAIR_ORDER_MAX),
    /* of derivatives of a pair, one order above its own */
    FMO_HERMITE_GRADIENT_ORDER_MAX = FMO_TARGET_PAIR_ORDER_MAX + 1,
    FMO_HERMITE_GRADIENT_MAX = FMO_HERMITE_COUNT(FMO_HERMITE_GRADIENT_ORDER_MAX),
    FMO_CHARGE_SUMS_MAX = FMO_CHARGE_SUMS_NUM(FMO_TARGET_PAIR_ORDER_MAX)
};
FMO_STATIC_ASSERT(FMO_PAIR_ORDER_MAX / 2 <= 4, "hermite.h: FMO_CHARGE_SUMS_BEGIN lacks orders")

/* [t][i]: number of ways to choose i disjoint pairs among t; the coefficients of Hermite
 * polynomials. */
static const double fmo_hermite_pairs[][5] = {{1},
                                              {1},
                                              {1, 1},
                                              {1, 3},
                                              {1, 6, 3},
                                              {1, 10, 15},
                                              {1, 15, 45, 15},
                                              {1, 21, 105, 105},
                                              {1, 28, 210, 420, 105}};
FMO_STATIC_ASSERT(FMO_PAIR_ORDER_MAX < (int)(sizeof fmo_hermite_pairs / sizeof *fmo_hermite_pairs),
                  "hermite.h: fmo_hermite_pairs lacks orders")

/* R_tuv = sum over i, j, k, with s = i + j + k, of (-1)^s pairs g_(degree + s) x^(t-2i) ... */
FMO_HD void fmo_hermite_from_sums(int L, const double *sums, double *R)
{
    FMO_HERMITE_UNROLL
    for (int n = 0; n < FMO_HERMITE_COUNT(L); n++) {
        const int t = fmo_hermite_term[n][0], u = fmo_hermite_term[n][1];
        const int v = fmo_hermite_term[n][2];
        double r = 0.0;
        FMO_UNROLL
        for (int i = 0; i <= L / 2; i++) {
            FMO_UNROLL
            for (int j = 0; j <= L / 2; j++) {
                FMO_UNROLL
                for (int k = 0; k <= L / 2; k++) {
                    const int s = i + j + k;
                    if (2 * i > t || 2 * j > u || 2 * k > v) continue;
                    const double pairs =
                        fmo_hermite_pairs[t][i] * fmo_hermite_pairs[u][j] * fmo_hermite_pairs[v][k];
                    r += (s & 1 ? -pairs : pairs) *
                         sums[FMO_CHARGE_SUMS_BEGIN(L, s) +
                              fmo_hermite_index(t - 2 * i, u - 2 * j, v - 2 * k)];
                }
            }
        }
        R[n] = r;
    }
}

/* E[i][j][t] of hermite_expand.h, in one dimension. */
typedef double fmo_hermite_1d[FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS];

/* out[function of la][function of lb] = scale sum_tuv E E E R_tuv */
FMO_HD void fmo_hermite_block(int la, int lb, double scale, fmo_hermite_1d *E, const double *R,
                              double *out)
{
    FMO_UNROLL
    for (int a = 0; a < FMO_CARTESIAN(la); a++) {
        FMO_UNROLL
        for (int b = 0; b < FMO_CARTESIAN(lb); b++) {
            const int ax = fmo_hermite_power(la, a, 0), bx = fmo_hermite_power(lb, b, 0);
            const int ay = fmo_hermite_power(la, a, 1), by = fmo_hermite_power(lb, b, 1);
            const int az = fmo_hermite_power(la, a, 2), bz = fmo_hermite_power(lb, b, 2);
            double sum = 0.0;
            FMO_UNROLL
            for (int t = 0; t <= la + lb; t++) {
                double plane = 0.0;
                FMO_UNROLL
                for (int u = 0; u <= la + lb; u++) {
                    double line = 0.0;
                    FMO_UNROLL
                    for (int v = 0; v <= la + lb; v++)
                        if (t <= ax + bx && u <= ay + by && v <= az + bz)
                            line += E[2][az][bz][v] * R[fmo_hermite_index(t, u, v)];
                    if (u <= ay + by) plane += E[1][ay][by][u] * line;
                }
                if (t <= ax + bx) sum += E[0][ax][bx][t] * plane;
            }
            out[a * FMO_CARTESIAN(lb) + b] = scale * sum;
        }
    }
}

#endif
