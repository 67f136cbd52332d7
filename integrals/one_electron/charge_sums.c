/* The sums of charge_sums.h, FMO_SIMD_WIDTH charges at a time. Compiled once per instruction set;
 * FMO_CHARGE_KERNELS (the name of the table below) and FMO_VECTOR_NAME are set by CMake. */
#include "integrals/one_electron/charge_sums.h"

#include "integrals/one_electron/charge_radial.h"

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

/* The same for any order, without unrolling: two g shells have 295 sums. */
__attribute__((noinline)) static void add_charges_any(int L, const fmo_real *g, const fmo_real *r,
                                                      fmo_real *sums)
{
    fmo_real mono[FMO_HERMITE_MAX];
    mono[0] = fmo_set(1.0);
    for (int k = 1; k < FMO_HERMITE_COUNT(L); k++)
        mono[k] = mono[fmo_hermite_term[k][3]] * r[fmo_hermite_term[k][4]];
    for (int s = 0; s <= L / 2; s++)
        for (int k = 0; k < FMO_HERMITE_COUNT(L - 2 * s); k++)
            *sums++ += g[FMO_HERMITE_DEGREE(k) + s] * mono[k];
}

/* Sums over all charges for one product; far from it, without the Boys function. any: 1 for
 * add_charges_any. */
FMO_HD void sum_charges(int any, int L, const fmo_charge_view *view, const double *offset, double p,
                        double *out)
{
    const fmo_charge_radial radial = fmo_charge_radial_of(L, p);
    fmo_real sums[FMO_CHARGE_SUMS_MAX];
    for (int k = 0; k < FMO_CHARGE_SUMS_NUM(L); k++) sums[k] = fmo_set(0.0);
    for (size_t c = 0; c < view->num; c += W) {
        const fmo_real r[3] = {fmo_load(view->x + c) - offset[0], fmo_load(view->y + c) - offset[1],
                               fmo_load(view->z + c) - offset[2]};
        fmo_real g[FMO_PAIR_ORDER_MAX + 1];
        fmo_charge_g(L, &radial, fmo_load(view->charge + c),
                     r[0] * r[0] + r[1] * r[1] + r[2] * r[2], g);
        if (any)
            add_charges_any(L, g, r, sums);
        else
            add_charges(L, g, r, sums);
    }
    for (int k = 0; k < FMO_CHARGE_SUMS_NUM(L); k++) out[k] = fmo_sum_lanes(sums[k]);
}

#define SUMS(any, name, L)                                                               \
    static void sums_##name(const fmo_charge_view *view, const double *offset, double p, \
                            double *sums)                                                \
    {                                                                                    \
        sum_charges(any, L, view, offset, p, sums);                                      \
    }
#define ROW(P, name, li, lj, partner) SUMS(0, name, li + lj)
FMO_PAIR_GPU_TABLE(ROW)
#undef ROW
#define ROW(P, name, li, lj, partner) SUMS(1, name, li + lj)
FMO_PAIR_ANY_CPU_TABLE(ROW)
#undef ROW
#undef SUMS

const fmo_charge_kernels FMO_CHARGE_KERNELS = {FMO_VECTOR_NAME,
                                               {
#define ROW(P, name, li, lj, partner) sums_##name,
                                                   FMO_PAIR_TABLE(ROW)
#undef ROW
                                               }};
