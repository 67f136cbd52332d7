/* The sums of charge_forces.h, FMO_SIMD_WIDTH charges at a time. Compiled once per instruction set;
 * FMO_CHARGE_FORCE_KERNELS (the name of the table below) and FMO_VECTOR_NAME are set by CMake. */
#include "integrals/one_electron/charge_forces.h"

#include "integrals/eri/eri_any.h"
#include "integrals/one_electron/charge_radial.h"

enum { W = FMO_SIMD_WIDTH };

/* Index of the Hermite function k with one power more (step 1) or less (-1) along an axis. */
FMO_HD int neighbour(int k, int axis, int step)
{
    const uint8_t *const n = fmo_hermite_term[k];
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

/* Adds the derivative of the attraction of a vector of charges to force[3], and R_tuv to order L +
 * 1 to the sums. */
FMO_HD void add_forces(int L, const fmo_real *g, const fmo_real *r, const double *H,
                       fmo_real *force, fmo_real *sums)
{
    fmo_real R[FMO_HERMITE_GRADIENT_MAX];
    hermite_integrals(L + 1, g, r, R);
    for (int x = 0; x < 3; x++) {
        FMO_HERMITE_UNROLL
        for (int k = 0; k < FMO_HERMITE_COUNT(L); k++) force[x] += H[k] * R[neighbour(k, x, 1)];
    }
    FMO_HERMITE_UNROLL
    for (int k = 0; k < FMO_HERMITE_COUNT(L + 1); k++) sums[k] += R[k];
}

/* The same for any order, without unrolling, with the recursion of eri_any.h: its R are derivatives
 * with respect to P, and r is C - P. */
__attribute__((noinline)) static void add_forces_any(int L, const fmo_real *g, const fmo_real *r,
                                                     const double *H, fmo_real *force,
                                                     fmo_real *sums)
{
    const fmo_real PC[3] = {-r[0], -r[1], -r[2]};
    fmo_real R[FMO_HERMITE_GRADIENT_MAX], start[FMO_HERMITE_GRADIENT_ORDER_MAX + 1];
    for (int n = 0; n <= L + 1; n++) start[n] = n % 2 ? -g[n] : g[n];
    fmo_any_derivatives(L + 1, start, PC, R);
    for (int x = 0; x < 3; x++)
        for (int k = 0; k < FMO_HERMITE_COUNT(L); k++) force[x] += H[k] * R[neighbour(k, x, 1)];
    for (int k = 0; k < FMO_HERMITE_COUNT(L + 1); k++) sums[k] += R[k];
}

/* Adds the forces of one product of order L on all charges, and computes the sums over the charges
 * of q R_tuv (`out`). any: 1 for add_forces_any. */
FMO_HD void forces_of(int any, int L, const fmo_charge_view *view, const double *offset, double p,
                      const double *H, double *const *force, double *out)
{
    const int M = L + 1;
    const fmo_charge_radial radial = fmo_charge_radial_of(M, p);
    fmo_real sums[FMO_HERMITE_GRADIENT_MAX];
    for (int k = 0; k < FMO_HERMITE_COUNT(M); k++) sums[k] = fmo_set(0.0);
    for (size_t c = 0; c < view->num; c += W) {
        const fmo_real r[3] = {fmo_load(view->x + c) - offset[0], fmo_load(view->y + c) - offset[1],
                               fmo_load(view->z + c) - offset[2]};
        fmo_real g[FMO_HERMITE_GRADIENT_ORDER_MAX + 1], f[3];
        fmo_charge_g(M, &radial, fmo_load(view->charge + c),
                     r[0] * r[0] + r[1] * r[1] + r[2] * r[2], g);
        for (int x = 0; x < 3; x++) f[x] = fmo_load(force[x] + c);
        if (any)
            add_forces_any(L, g, r, H, f, sums);
        else
            add_forces(L, g, r, H, f, sums);
        for (int x = 0; x < 3; x++) memcpy(force[x] + c, &f[x], sizeof f[x]);
    }
    for (int k = 0; k < FMO_HERMITE_COUNT(M); k++) out[k] = fmo_sum_lanes(sums[k]);
}

#define FORCES(any, name, L)                                                               \
    static void forces_##name(const fmo_charge_view *view, const double *offset, double p, \
                              const double *H, double *const *force, double *sums)         \
    {                                                                                      \
        forces_of(any, L, view, offset, p, H, force, sums);                                \
    }
#define ROW(P, name, li, lj, partner) FORCES(0, name, li + lj)
FMO_PAIR_GPU_TABLE(ROW)
#undef ROW
#define ROW(P, name, li, lj, partner) FORCES(1, name, li + lj)
FMO_PAIR_ANY_CPU_TABLE(ROW)
#undef ROW
#undef FORCES

const fmo_charge_force_kernels FMO_CHARGE_FORCE_KERNELS = {FMO_VECTOR_NAME,
                                                           {
#define ROW(P, name, li, lj, partner) forces_##name,
                                                               FMO_PAIR_TABLE(ROW)
#undef ROW
                                                           }};
