/* Hermite potentials at a point, from FMO_SIMD_WIDTH points of a list at a time; see points.h.
 * Compiled once per instruction set, with FMO_SIMD_WIDTH and FMO_POINT_KERNELS (the name of the
 * table below) set by CMake. */
#include "accumulate/potential/points.h"

#include "accumulate/cpu/coulomb_sweep.inc"

/* Returns the end of the points with norms of at least `least`, rounded up to whole vectors. */
static int end_of(const fmo_point_list *list, double least)
{
    int begin = 0, end = list->used;
    while (begin < end) {
        const int middle = begin + (end - begin) / 2;
        if (list->norm[middle] < least)
            end = middle;
        else
            begin = middle + 1;
    }
    return (end + W - 1) / W * W;
}

/* R_tuv in a cube, or with `any` in a list. */
enum {
    SIDE = FMO_ERI_UNROLLED_ORDER_MAX + 1,
    CUBE = SIDE * SIDE * SIDE,
    R_SIZE = CUBE > (int)FMO_ANY_R_MAX ? CUBE : (int)FMO_ANY_R_MAX
};

/* Adds to V the potential of some lists at a point. NB, NK: orders of the point and of the lists,
 * constants unless `any`, which is one. */
FMO_HD void potential(int any, int NB, int NK, const fmo_point *at, const fmo_point_source *source,
                      int lists, double least, double *V)
{
    const int L = NB + NK, own = FMO_HERMITE_COUNT(NB), others = FMO_HERMITE_COUNT(NK);
    fmo_real sum[FMO_HERMITE_COUNT(FMO_PAIR_ORDER_MAX)];
    fmo_real r[R_SIZE];
    COULOMB_UNROLL
    for (int k = 0; k < own; k++) sum[k] = fmo_set(0.0);
    for (int n = 0; n < lists; n++) {
        const fmo_point_list *const from = source[n].list;
        const double even = source[n].weight, odd = -even;
        const size_t num = (size_t)from->num;
        const int end = end_of(from, least);
        for (int q = 0; q < end; q += W) {
            fmo_real PQ[3], R2 = fmo_set(0.0), S[FMO_ERI_ORDER_MAX + 1];
            fmo_real H[FMO_HERMITE_COUNT(FMO_PAIR_ORDER_MAX)];
            FMO_UNROLL
            for (int x = 0; x < 3; x++) {
                PQ[x] = at->at[x] - fmo_load(from->at + (size_t)x * num + q);
                R2 += PQ[x] * PQ[x];
            }
            const quartet_exponents e = exponents_of_lanes(at->p, fmo_load(from->at + 3 * num + q));
            if (any) {
                derivatives_any(L, e.rho, e.near, R2, PQ, r);
            } else {
                boys_start(L, e.rho, e.near, R2, S);
                fmo_md_derivatives(L, S, PQ, r);
            }
            COULOMB_UNROLL
            for (int k = 0; k < others; k++) {
                const fmo_real h = fmo_load(from->H + (size_t)k * num + q);
                H[k] = (FMO_HERMITE_DEGREE(k) % 2 ? odd : even) * h;
            }
            interact_of(any, (interaction){NB, NK, .to_bra = 1, .to_ket = 0}, r, NULL, H, sum,
                        NULL);
        }
    }
    COULOMB_UNROLL
    for (int k = 0; k < own; k++) V[k] += fmo_sum_lanes(sum[k]);
}

/* All combinations of the two orders: those of shells up to d, and the others, which share one copy
 * of the code. */
#define LOW(X, a)  X(a, 0) X(a, 1) X(a, 2) X(a, 3) X(a, 4)
#define HIGH(X, a) X(a, 5) X(a, 6) X(a, 7) X(a, 8)
#define BOTH(X, a) LOW(X, a) HIGH(X, a)
#define ALL_LOW(X) LOW(X, 0) LOW(X, 1) LOW(X, 2) LOW(X, 3) LOW(X, 4)
#define ALL_HIGH(X) \
    HIGH(X, 0)      \
    HIGH(X, 1)      \
    HIGH(X, 2)      \
    HIGH(X, 3)      \
    HIGH(X, 4)      \
    BOTH(X, 5)      \
    BOTH(X, 6)      \
    BOTH(X, 7)      \
    BOTH(X, 8)
FMO_STATIC_ASSERT(FMO_POINT_ORDERS == 9, "potential/kernel.c: a row and a column for each order")

__attribute__((noinline)) static void potential_any(int NB, int NK, const fmo_point *at,
                                                    const fmo_point_source *source, int lists,
                                                    double least, double *V)
{
    potential(1, NB, NK, at, source, lists, least, V);
}

#define KERNEL(NB, NK)                                                                             \
    static void potential_##NB##NK(const fmo_point *at, const fmo_point_source *source, int lists, \
                                   double least, double *V)                                        \
    {                                                                                              \
        POTENTIAL(NB, NK, at, source, lists, least, V);                                            \
    }
#define POTENTIAL(...) potential(0, __VA_ARGS__)
ALL_LOW(KERNEL)
#undef POTENTIAL
#define POTENTIAL potential_any
ALL_HIGH(KERNEL)
#undef POTENTIAL
#undef KERNEL

#define ENTRY(NB, NK) [NB][NK] = potential_##NB##NK,
const fmo_point_kernels FMO_POINT_KERNELS = {{ALL_LOW(ENTRY) ALL_HIGH(ENTRY)}};
