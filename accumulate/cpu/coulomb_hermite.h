/* Hermite densities and potentials of the shell pairs in the lanes, for cpu/coulomb_kernel.c: a
 * density of products of functions becomes one of Hermite functions, primitive by primitive, and a
 * potential goes the other way. Equations are in docs/explanation/theory.md, "J alone". */
#ifndef FMO_CPU_COULOMB_HERMITE_H
#define FMO_CPU_COULOMB_HERMITE_H

#include "accumulate/cpu/coulomb_sweep.h"
#include "accumulate/cpu/hermite_terms.h"

/* Pairs of one class, one in each lane or the same in all. */
typedef struct coulomb_pairs {
    int count;               /* primitives */
    const double *packed;    /* [count] as cpu/kernel.h has them, with Q-C */
    const double *exponents; /* [count], NULL: they are packed */
    const fmo_real *AB;
    double odd; /* Hermite functions of odd order have this factor: 1 in bras, -1 in kets */
} coulomb_pairs;

/* The expansion of primitive pair m in one dimension each, and its prefactor. */
FMO_HD fmo_real
expand_prim(int la, int lb, const coulomb_pairs *pairs, int m,
            fmo_real E[3][FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS])
{
    const double *prim = pairs->packed + m * FMO_CPU_PACK_FIELDS * W;
    fmo_real half = fmo_set(0.0);
    if (la + lb > 0)
        half = pairs->exponents ? fmo_set(0.5 / pairs->exponents[m])
                                : 0.5 / fmo_load(prim + FMO_CPU_PACK_Q * W);
    FMO_UNROLL
    for (int x = 0; x < 3; x++) {
        const fmo_real PA = fmo_load(prim + (FMO_CPU_PACK_QC + x) * W);
        fmo_hermite_expand(la, lb, PA, lb > 0 ? PA + pairs->AB[x] : PA, half, E[x]);
    }
    return fmo_load(prim + FMO_CPU_PACK_K * W);
}

/* H[m][k] = K sum_ab E^ab_k D_ab */
FMO_HD void fold(int la, int lb, const coulomb_pairs *pairs, const fmo_real *D, fmo_real *H)
{
    enum { MAX = FMO_HERMITE_COUNT(FMO_PAIR_ORDER_MAX) };
    const int hermite = FMO_HERMITE_COUNT(la + lb);
    for (int m = 0; m < pairs->count; m++, H += hermite) {
        fmo_real E[3][FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS], sum[MAX];
        const fmo_real K = half_sqrt_pi * expand_prim(la, lb, pairs, m, E);
        COULOMB_UNROLL
        for (int k = 0; k < hermite; k++) sum[k] = fmo_set(0.0);
#define ADD(ab, k, e) sum[k] += D[ab] * (e);
        FMO_HERMITE_TERMS(la, lb, E, ADD)
#undef ADD
        COULOMB_UNROLL
        for (int k = 0; k < hermite; k++)
            H[k] = (FMO_HERMITE_DEGREE(k) % 2 ? pairs->odd * K : K) * sum[k];
    }
}

/* X_ab += sum over primitives m of K sum_k E^ab_k V[m][k] */
FMO_HD void unfold(int la, int lb, const coulomb_pairs *pairs, const fmo_real *V, fmo_real *X)
{
    enum { MAX = FMO_HERMITE_COUNT(FMO_PAIR_ORDER_MAX) };
    const int hermite = FMO_HERMITE_COUNT(la + lb);
    for (int m = 0; m < pairs->count; m++, V += hermite) {
        fmo_real E[3][FMO_HERMITE_POWERS][FMO_HERMITE_POWERS][FMO_HERMITE_ORDERS], part[MAX];
        const fmo_real K = expand_prim(la, lb, pairs, m, E);
        COULOMB_UNROLL
        for (int k = 0; k < hermite; k++)
            part[k] = (FMO_HERMITE_DEGREE(k) % 2 ? pairs->odd * K : K) * V[k];
#define ADD(ab, k, e) X[ab] += part[k] * (e);
        FMO_HERMITE_TERMS(la, lb, E, ADD)
#undef ADD
    }
}

typedef void fold_function(const coulomb_pairs *pairs, const fmo_real *from, fmo_real *to);

#define FOLD(P, name, la, lb, partner)                                                    \
    static void fold_##name(const coulomb_pairs *pairs, const fmo_real *D, fmo_real *H)   \
    {                                                                                     \
        fold(la, lb, pairs, D, H);                                                        \
    }                                                                                     \
    static void unfold_##name(const coulomb_pairs *pairs, const fmo_real *V, fmo_real *X) \
    {                                                                                     \
        unfold(la, lb, pairs, V, X);                                                      \
    }
FMO_PAIR_TABLE(FOLD)
#undef FOLD

static fold_function *const fold_of[FMO_PAIR_CLASS_COUNT] = {
#define ROW(P, name, la, lb, partner) [FMO_PAIR_##P] = fold_##name,
    FMO_PAIR_TABLE(ROW)
#undef ROW
};
static fold_function *const unfold_of[FMO_PAIR_CLASS_COUNT] = {
#define ROW(P, name, la, lb, partner) [FMO_PAIR_##P] = unfold_##name,
    FMO_PAIR_TABLE(ROW)
#undef ROW
};

#endif
