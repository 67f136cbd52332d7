/* The sums of charge_forces.h, FMO_SIMD_WIDTH charges at a time. Compiled once per instruction set;
 * FMO_CHARGE_FORCE_KERNELS (the name of the table below) and FMO_VECTOR_NAME are set by CMake. */
#include "integrals/one_electron/charge_forces.h"

#include "integrals/one_electron/charge_radial.h"

enum { W = FMO_SIMD_WIDTH };

/* Index of the Hermite function k with one power more (step 1) or less (-1) along an axis. */
FMO_HD int neighbour(int k, int axis, int step)
{
    const signed char *const n = fmo_hermite_term[k];
    return fmo_hermite_index(n[0] + (axis == 0 ? step : 0), n[1] + (axis == 1 ? step : 0),
                             n[2] + (axis == 2 ? step : 0));
}

/* R_tuv to order M from g_n: R^n_(t+1)uv = x R^(n+1)_tuv - t R^(n+1)_(t-1)uv, in place, each level
 * from the highest degree down. */
FMO_HD void hermite_integrals(int M, const fmo_real *g, const fmo_real *r, fmo_real *R)
{
    R[0] = g[M];
    FMO_UNROLL
    for (int n = M - 1; n >= 0; n--) {
        FMO_HERMITE_UNROLL
        for (int k = FMO_HERMITE_COUNT(M - n) - 1; k > 0; k--) {
            const int parent = fmo_hermite_term[k][3], x = fmo_hermite_term[k][4];
            const int t = fmo_hermite_term[k][x] - 1;
            R[k] = r[x] * R[parent];
            if (t > 0) R[k] -= (double)t * R[neighbour(parent, x, -1)];
        }
        R[0] = g[n];
    }
}

/* Derivatives for all charges and one product of order L. */
FMO_HD void forces_of(int L, const fmo_charge_view *view, const double *offset, double p,
                      const double *H, double *const *force, double *out)
{
    const int M = L + 1;
    const fmo_charge_radial radial = fmo_charge_radial_of(M, p);
    fmo_real sums[FMO_HERMITE_GRADIENT_MAX];
    for (int k = 0; k < FMO_HERMITE_COUNT(M); k++) sums[k] = fmo_set(0.0);
    for (size_t c = 0; c < view->num; c += W) {
        const fmo_real r[3] = {fmo_load(view->x + c) - offset[0], fmo_load(view->y + c) - offset[1],
                               fmo_load(view->z + c) - offset[2]};
        fmo_real g[FMO_HERMITE_GRADIENT_ORDER_MAX + 1], R[FMO_HERMITE_GRADIENT_MAX];
        fmo_charge_g(M, &radial, fmo_load(view->charge + c),
                     r[0] * r[0] + r[1] * r[1] + r[2] * r[2], g);
        hermite_integrals(M, g, r, R);
        for (int x = 0; x < 3; x++) {
            fmo_real f = fmo_load(force[x] + c);
            FMO_HERMITE_UNROLL
            for (int k = 0; k < FMO_HERMITE_COUNT(L); k++) f += H[k] * R[neighbour(k, x, 1)];
            memcpy(force[x] + c, &f, sizeof f);
        }
        FMO_HERMITE_UNROLL
        for (int k = 0; k < FMO_HERMITE_COUNT(M); k++) sums[k] += R[k];
    }
    for (int k = 0; k < FMO_HERMITE_COUNT(M); k++) out[k] = fmo_sum_lanes(sums[k]);
}

#define ROW(P, name, li, lj, partner)                                                      \
    static void forces_##name(const fmo_charge_view *view, const double *offset, double p, \
                              const double *H, double *const *force, double *sums)         \
    {                                                                                      \
        forces_of(li + lj, view, offset, p, H, force, sums);                               \
    }
FMO_PAIR_TABLE(ROW)
#undef ROW

const fmo_charge_force_kernels FMO_CHARGE_FORCE_KERNELS = {FMO_VECTOR_NAME,
                                                           {
#define ROW(P, name, li, lj, partner) forces_##name,
                                                               FMO_PAIR_TABLE(ROW)
#undef ROW
                                                           }};
