/* A distance-dependent bound on integrals, for the shells of the GPU: two products that do not
 * overlap interact as charges, dipoles and so on, which decay with distance, unlike Schwarz bounds.
 * Host and device; equations in docs/explanation/far-field.md, "A bound that depends on distance".
 */
#ifndef FMO_FAR_SEPARATION_H
#define FMO_FAR_SEPARATION_H

#include "integrals/far/decide.h"
#include "integrals/pairs/hermite_expand.h"

enum { FMO_SEPARATION_ORDERS = FMO_PAIR_UNROLLED_ORDER_MAX + 1 };

/* Data of a pair for the bound; all except the position are rounded up. */
typedef struct fmo_separation {
    float x, y, z, radius; /* centre of the primitives weighted by their bounds, and the largest
                              distance from it; bohr */
    float spread;          /* largest 1/p */
    float log_size;        /* binary logarithm of the sum of the primitives' Schwarz bounds */
    float moment[FMO_SEPARATION_ORDERS]; /* by order: the largest of any product */
} fmo_separation;

/* The primitives of a pair, with pairs of fields (eri_common.h) stored together: `twos` pairs per
 * primitive, `stride` pairs apart. Field `bound` contains the Schwarz bound as a float in its first
 * half. */
typedef struct fmo_separation_prims {
    const double *prim;
    int num, twos, bound;
    size_t stride;
} fmo_separation_prims;

FMO_HD const double *fmo_separation_field(const fmo_separation_prims *prims, int m, int field)
{
    return prims->prim + 2 * (size_t)(m * prims->twos + field / 2) * prims->stride + field % 2;
}
FMO_HD float fmo_separation_prim_bound(const fmo_separation_prims *prims, int m)
{
    float bound;
    memcpy(&bound, fmo_separation_field(prims, m, prims->bound), sizeof bound);
    return bound;
}
FMO_HD float fmo_separation_up(double x)
{
    return (float)(x * 1.000001);
}

/* Sums over primitives for one product: charge and dipole about the centre; magnitudes of the rest,
 * from order 2 on. */
typedef struct fmo_separation_sums {
    double charge, dipole[3], rest[FMO_SEPARATION_ORDERS];
} fmo_separation_sums;

/* Adds a primitive of charge c at d from the centre to a product. c E_tuv multiplies the derivative
 * tuv of 1/R at the primitive's position; expanded about the centre by Taylor's theorem, charge and
 * dipole are exact and the remainder is bounded by a term of order 2. */
FMO_HD void
fmo_separation_add(const int *power, double c, const double *d,
                   double E[3][FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS],
                   fmo_separation_sums *sums)
{
    const double d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    for (int t = 0; t <= power[0] + power[3]; t++)
        for (int u = 0; u <= power[1] + power[4]; u++)
            for (int v = 0; v <= power[2] + power[5]; v++) {
                const double e = c * E[0][power[0]][power[3]][t] * E[1][power[1]][power[4]][u] *
                                 E[2][power[2]][power[5]][v];
                const int order = t + u + v;
                if (order == 0) {
                    sums->charge += e;
                    for (int x = 0; x < 3; x++) sums->dipole[x] += e * d[x];
                    sums->rest[2] += 0.5 * fabs(e) * d2;
                } else if (order == 1) {
                    sums->dipole[t ? 0 : u ? 1 : 2] += e;
                    sums->rest[2] += fabs(e) * sqrt(d2);
                } else {
                    sums->rest[order] += fabs(e);
                }
            }
}

/* Computes the data of a pair except its moments; at: gets its position relative to A, the centre
 * of the first shell. */
FMO_HD_ONCE void fmo_separation_place(const double *A, const fmo_separation_prims *prims,
                                      double *at, fmo_separation *separation)
{
    double weight = 0.0, spread = 0.0, radius2 = 0.0;
    for (int x = 0; x < 3; x++) at[x] = 0.0;
    for (int m = 0; m < prims->num; m++) {
        const double bound = (double)fmo_separation_prim_bound(prims, m) + 1e-30;
        weight += bound;
        spread = fmax(spread, 1.0 / *fmo_separation_field(prims, m, FMO_PAIR_P));
        for (int x = 0; x < 3; x++)
            at[x] += bound * *fmo_separation_field(prims, m, FMO_PAIR_X + x);
    }
    for (int x = 0; x < 3; x++) at[x] /= weight;
    for (int m = 0; m < prims->num; m++) {
        double d2 = 0.0;
        for (int x = 0; x < 3; x++) {
            const double d = *fmo_separation_field(prims, m, FMO_PAIR_X + x) - at[x];
            d2 += d * d;
        }
        radius2 = fmax(radius2, d2);
    }
    separation->x = (float)(A[0] + at[0]);
    separation->y = (float)(A[1] + at[1]);
    separation->z = (float)(A[2] + at[2]);
    separation->radius = fmo_separation_up(sqrt(radius2));
    separation->spread = fmo_separation_up(spread);
    separation->log_size = (float)log2(weight) + 1e-4f;
}

/* Computes the moments of a pair. AB = A - B; factor: multiplies the prefactors; at: as set by
 * fmo_separation_place. */
FMO_HD_ONCE void fmo_separation_find_moments(int la, int lb, const double *AB, double factor,
                                             const fmo_separation_prims *prims, const double *at,
                                             fmo_separation *separation)
{
    fmo_separation_sums sums[FMO_UNROLLED_FUNCTIONS_MAX * FMO_UNROLLED_FUNCTIONS_MAX];
    const int products = FMO_CARTESIAN(la) * FMO_CARTESIAN(lb);
    memset(sums, 0, sizeof sums);
    for (int m = 0; m < prims->num; m++) {
        const double p = *fmo_separation_field(prims, m, FMO_PAIR_P);
        const double half = *fmo_separation_field(prims, m, FMO_PAIR_HALF);
        const double c =
            factor * *fmo_separation_field(prims, m, FMO_PAIR_K) * FMO_FAR_CHARGE / sqrt(p);
        double E[3][FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS], d[3];
        for (int x = 0; x < 3; x++) {
            const double PA = *fmo_separation_field(prims, m, FMO_PAIR_X + x);
            fmo_hermite_expand(la, lb, PA, PA + AB[x], half, E[x]);
            d[x] = PA - at[x];
        }
        for (int k = 0; k < products; k++) {
            const int a = k / FMO_CARTESIAN(lb), b = k % FMO_CARTESIAN(lb);
            int power[6];
            for (int x = 0; x < 3; x++) {
                power[x] = fmo_shell_power(la, a, x);
                power[3 + x] = fmo_shell_power(lb, b, x);
            }
            fmo_separation_add(power, c, d, E, &sums[k]);
        }
    }
    for (int n = 0; n < FMO_SEPARATION_ORDERS; n++) {
        double largest = 0.0;
        for (int k = 0; k < products; k++) {
            const double *const D = sums[k].dipole;
            largest = fmax(largest, n == 0   ? fabs(sums[k].charge)
                                    : n == 1 ? sqrt(D[0] * D[0] + D[1] * D[1] + D[2] * D[2])
                                             : sums[k].rest[n]);
        }
        separation->moment[n] = fmo_separation_up(largest);
    }
}

/* Products are separated if T = gap^2 / (1/p + 1/q) is at least this plus the logarithm of the
 * product of their sizes over the tolerance: overlap then changes an integral by less than a fifth
 * of the tolerance (tests/integrals/separation.c). */
#define FMO_SEPARATION_T 7.0f

FMO_STATIC_ASSERT(2 * (FMO_SEPARATION_ORDERS - 1) == 8,
                  "separation.h: the factorial of the highest order")

/* Rounding error of a position in single precision, per bohr of distance from the origin. */
#define FMO_SEPARATION_PLACE 4e-7f

/* Upper bound of an integral of two products, from their moments of order n and m,
 *
 *    sum_nm M_n N_m (n + m)! / R^(n+m+1)
 *
 * with the distance of the centres for charges and dipoles, and of the nearest primitives for the
 * rest; infinite if the products are not separated. log_worth: binary logarithm of 1 / tolerance.
 */
FMO_HD float fmo_separation_bound(const fmo_separation *a, const fmo_separation *b, float log_worth)
{
    const float x = a->x - b->x, y = a->y - b->y, z = a->z - b->z;
    const float size =
        fabsf(a->x) + fabsf(a->y) + fabsf(a->z) + fabsf(b->x) + fabsf(b->y) + fabsf(b->z);
    const float R = sqrtf(x * x + y * y + z * z) - FMO_SEPARATION_PLACE * (size + 1.0f);
    const float gap = R - a->radius - b->radius;
    const float T = gap * gap / (a->spread + b->spread);
    const float log_all = fmaxf(a->log_size + b->log_size + log_worth, 0.0f);
    if (!(gap > 0.0f && T >= FMO_SEPARATION_T + FMO_FAR_LN_2 * log_all)) return INFINITY;
    const float far = 1.0f / R, near = 1.0f / gap;
    float sum = far * (a->moment[0] * b->moment[0] +
                       far * (a->moment[0] * b->moment[1] + a->moment[1] * b->moment[0] +
                              far * 2.0f * a->moment[1] * b->moment[1]));
    float rest = 0.0f, factorial = 40320.0f; /* 8!, for the highest order */
    FMO_UNROLL
    for (int order = 2 * (FMO_SEPARATION_ORDERS - 1); order >= 2; order--) {
        float products = 0.0f;
        FMO_UNROLL
        for (int n = 0; n < FMO_SEPARATION_ORDERS; n++) {
            const int m = order - n;
            if (m < 0 || m >= FMO_SEPARATION_ORDERS || (n < 2 && m < 2)) continue;
            products += a->moment[n] * b->moment[m];
        }
        rest = near * rest + factorial * products;
        factorial /= (float)order;
    }
    sum += near * near * near * rest;
    return sum;
}

#endif
