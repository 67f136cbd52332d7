/* The sums of charge_sums.h, FMO_SIMD_WIDTH charges at a time. Compiled once per instruction set;
 * FMO_CHARGE_KERNELS (the name of the table below) and FMO_VECTOR_NAME are set by CMake. */
#include "integrals/one_electron/charge_sums.h"

#include "integrals/boys/boys.h"

enum { W = FMO_SIMD_WIDTH };

/* Adds g_n x^a y^b z^c of a vector of charges. Each monomial is one of a lower degree times x, y or
 * z. */
FMO_HD void add_charges(int L, const fmo_real *g, const fmo_real *r, fmo_real *sums)
{
    fmo_real mono[FMO_HERMITE_MAX]; /* of degrees 1 to L - 1 */
    FMO_HERMITE_UNROLL
    for (int k = 1; k < FMO_HERMITE_COUNT(L - 1); k++) {
        const int parent = fmo_hermite_term[k][3], x = fmo_hermite_term[k][4];
        mono[k] = parent ? mono[parent] * r[x] : r[x];
    }
    FMO_UNROLL
    for (int s = 0; s <= L / 2; s++) {
        fmo_real *const to = sums + FMO_CHARGE_SUMS_BEGIN(L, s);
        fmo_real h[FMO_HERMITE_MAX]; /* g times the monomial with one power less */
        to[0] += g[s];
        FMO_HERMITE_UNROLL
        for (int k = 0; k < FMO_HERMITE_COUNT(L - 1); k++) {
            const int n = FMO_HERMITE_DEGREE(k) + 1 + s;
            if (n <= L - s) h[k] = k ? g[n] * mono[k] : g[n];
        }
        FMO_HERMITE_UNROLL
        for (int k = 1; k < FMO_HERMITE_COUNT(L); k++)
            if (FMO_HERMITE_DEGREE(k) <= L - 2 * s)
                to[k] += h[fmo_hermite_term[k][3]] * r[fmo_hermite_term[k][4]];
    }
}

FMO_HD int any_below(fmo_real x, double limit)
{
#if FMO_SIMD_WIDTH == 1
    return x < limit;
#else
    return fmo_any(x < limit);
#endif
}

/* Sums over all charges for one product; far from it, without the Boys function. */
FMO_HD void sum_charges(int L, const fmo_charge_view *view, const double *offset, double p,
                        double *out)
{
    const double far = fmo_boys_far(L) / p; /* limit of r^2 */
    double scale[FMO_PAIR_ORDER_MAX + 1] = {2.0 * sqrt(p / M_PI)};
    fmo_real sums[FMO_CHARGE_SUMS_MAX];
    FMO_UNROLL
    for (int n = 1; n <= L; n++) scale[n] = 2.0 * p * scale[n - 1];
    for (int k = 0; k < FMO_CHARGE_SUMS_NUM(L); k++) sums[k] = fmo_set(0.0);
    for (size_t c = 0; c < view->num; c += W) {
        const fmo_real r[3] = {fmo_load(view->x + c) - offset[0], fmo_load(view->y + c) - offset[1],
                               fmo_load(view->z + c) - offset[2]};
        const fmo_real r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        const fmo_real q = fmo_load(view->charge + c);
        fmo_real g[FMO_PAIR_ORDER_MAX + 1];
        if (any_below(r2, far)) {
            fmo_real F[FMO_PAIR_ORDER_MAX + 1];
            fmo_boys_eval(fmo_boys.row[L][0], p * r2, L, F);
            FMO_UNROLL
            for (int n = 0; n <= L; n++) g[n] = scale[n] * q * F[n];
        } else {
            const fmo_real y = fmo_rsqrt_near_one(r2), y2 = y * y;
            g[0] = q * y;
            FMO_UNROLL
            for (int n = 1; n <= L; n++) g[n] = (2 * n - 1) * y2 * g[n - 1];
        }
        add_charges(L, g, r, sums);
    }
    for (int k = 0; k < FMO_CHARGE_SUMS_NUM(L); k++) out[k] = fmo_sum_lanes(sums[k]);
}

#define ROW(P, name, li, lj, partner)                                                    \
    static void sums_##name(const fmo_charge_view *view, const double *offset, double p, \
                            double *sums)                                                \
    {                                                                                    \
        sum_charges(li + lj, view, offset, p, sums);                                     \
    }
FMO_PAIR_TABLE(ROW)
#undef ROW

const fmo_charge_kernels FMO_CHARGE_KERNELS = {FMO_VECTOR_NAME,
                                               {
#define ROW(P, name, li, lj, partner) sums_##name,
                                                   FMO_PAIR_TABLE(ROW)
#undef ROW
                                               }};
