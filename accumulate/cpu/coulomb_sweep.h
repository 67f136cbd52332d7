/* All primitives of a bra against all primitives of the kets in the lanes, for
 * cpu/coulomb_sweep.c and cpu/coulomb_kernel.c: Hermite potentials of either side from the Hermite
 * density of the other. */
#ifndef FMO_CPU_COULOMB_SWEEP_H
#define FMO_CPU_COULOMB_SWEEP_H

#include "accumulate/cpu/kernel_contract.h"
#include "integrals/one_electron/hermite.h"

/* Loops over the Hermite functions of a pair. */
#if defined(FMO_SANITIZED)
#define COULOMB_UNROLL
#else
#define COULOMB_UNROLL _Pragma("GCC unroll 40")
#endif

/* Densities and sums are [density][primitive][Hermite function]; a stride for each side. */
typedef struct coulomb_sweep {
    int bras, kets, densities; /* primitives of either side */
    const double *prim, *p;    /* rows of the bra (cpu/pairs.h) and its exponents */
    const double *packed;      /* primitives of the kets */
    const double *table;       /* of the kets' family, NULL: they are of several */
    size_t table_row;
    const double *bra_density;
    const fmo_real *ket_density;
    fmo_real *bra_sum, *ket_sum;
    size_t bra_stride, ket_stride; /* from density to density */
} coulomb_sweep;

/* Light classes of lower orders are faster with integrals: their few Hermite functions save
 * nothing, and potentials of primitive kets take more memory than integrals
 * (docs/explanation/performance-cpu.md). */
enum { COULOMB_LEAST_ORDER = 3 };
#define COULOMB_SWEEPS(e, order) \
    ((int)(e) >= (int)FMO_ERI_LIGHT_COUNT || (order) >= COULOMB_LEAST_ORDER)

/* What a sweep is to find. SEVERAL: both, of several densities. */
enum { TO_BRA, TO_KET, TO_BOTH, SEVERAL, SWEEPS };

/* (-2 rho)^m times [s|s]^(m) without prefactors: near ones are sqrt(rho) F_m, those of charges that
 * do not overlap derivatives of 1/R, which know of no exponents. */
FMO_HD void start_of(int L, fmo_real rho, fmo_real near_factor, fmo_real R2, fmo_real *S)
{
    const fmo_real T = rho * R2;
    const unsigned far = fmo_lanes_from(T, fmo_boys_far(L)), all = (1u << W) - 1;
    if (far != all) {
        const fmo_mask near = T < fmo_boys_far(L);
        fmo_real F[FMO_BOYS_ORDER_MAX + 1], factor = near_factor;
        fmo_boys_eval(fmo_boys.row[L][0], fmo_select(near, T, fmo_set(0.0)), L, F);
        FMO_UNROLL
        for (int m = 0; m <= L; m++) {
            S[m] = factor * F[m];
            factor *= -2.0 * rho;
        }
        if (far) {
            const fmo_real y = fmo_rsqrt_near_one(R2), y2 = y * y;
            fmo_real f = y;
            FMO_UNROLL
            for (int m = 0; m <= L; m++) {
                S[m] = fmo_select(near, S[m], f);
                f *= -(2 * m + 1) * y2;
            }
        }
    } else {
        const fmo_real y = fmo_rsqrt_near_one(R2), y2 = y * y;
        S[0] = y;
        FMO_UNROLL
        for (int m = 1; m <= L; m++) S[m] = -(2 * m - 1) * y2 * S[m - 1];
    }
}

/* Hermite functions of the bra that are in registers at a time. */
enum { COULOMB_BLOCK = 10 };

/* One Hermite function of the kets, density d and sum v, with `num` of the bra from `first` on; r
 * is where its own R_q stands, n the row of R_tuv. */
FMO_HD void meet(int to_bra, int to_ket, int n, int first, int num, const fmo_real *r,
                 const double *of_bra, fmo_real d, fmo_real *bra_sum, fmo_real *v)
{
    fmo_real sum = to_ket ? *v : fmo_set(0.0);
    FMO_UNROLL
    for (int k = 0; k < num; k++) {
        const signed char *const power = fmo_hermite_term[first + k];
        const fmo_real value = r[power[0] + n * (power[1] + n * power[2])];
        if (to_bra) bra_sum[k] += d * value;
        if (to_ket) sum += of_bra[first + k] * value;
    }
    if (to_ket) *v = sum;
}

/* V_p += sum_q D_q R_(p+q) of the bra, V_q += sum_p D_p R_(p+q) of the kets. */
FMO_HD void meet_all(int to_bra, int to_ket, int NB, int NK, const fmo_real *r,
                     const double *of_bra, const fmo_real *of_kets, fmo_real *to_bras,
                     fmo_real *to_kets)
{
    const int n = NB + NK + 1, bras = FMO_HERMITE_COUNT(NB), kets = FMO_HERMITE_COUNT(NK);
    FMO_UNROLL
    for (int first = 0; first < bras; first += COULOMB_BLOCK) {
        const int num = bras - first < COULOMB_BLOCK ? bras - first : COULOMB_BLOCK;
        fmo_real sum[COULOMB_BLOCK];
        FMO_UNROLL
        for (int k = 0; k < num; k++) sum[k] = to_bra ? to_bras[first + k] : fmo_set(0.0);
#define MEET(q)                                                                                  \
    meet(to_bra, to_ket, n, first, num,                                                          \
         r + fmo_hermite_term[q][0] + n * (fmo_hermite_term[q][1] + n * fmo_hermite_term[q][2]), \
         of_bra, of_kets[q], sum, to_kets + (q));
        if (kets <= COULOMB_BLOCK) {
            FMO_UNROLL
            for (int q = 0; q < kets; q++) MEET(q)
        } else {
            for (int q = 0; q < kets; q++) MEET(q)
        }
#undef MEET
        FMO_UNROLL
        for (int k = 0; k < num; k++)
            if (to_bra) to_bras[first + k] = sum[k];
    }
}

FMO_HD void sweep(int what, int NB, int NK, fmo_real *r, const coulomb_sweep *s)
{
    const int bras = FMO_HERMITE_COUNT(NB), kets = FMO_HERMITE_COUNT(NK), L = NB + NK;
    const double *prim = s->prim;
    for (int b = 0; b < s->bras; b++, prim += FMO_CPU_PRIM_FIELDS) {
        const double *ket = s->packed;
        fmo_real own[FMO_HERMITE_COUNT(FMO_PAIR_ORDER_MAX)];
        if (prim[FMO_CPU_PRIM_K] == 0.0) continue;
        if (what == TO_BRA || what == TO_BOTH) {
            COULOMB_UNROLL
            for (int k = 0; k < bras; k++) own[k] = s->bra_sum[b * bras + k];
        }
        for (int m = 0; m < s->kets; m++, ket += FMO_CPU_PACK_FIELDS * W) {
            fmo_real rho, near_factor, PQ[3], R2 = fmo_set(0.0), S[FMO_ERI_ORDER_MAX + 1];
            if (s->table) {
                const double *row = s->table + (size_t)b * s->table_row + m * TABLE_STRIDE(0);
                rho = fmo_set(row[FMO_CPU_RHO]);
                near_factor = fmo_set(row[FMO_CPU_NEAR]);
            } else {
                const quartet_exponents e =
                    exponents_of_lanes(s->p[b], fmo_load(ket + FMO_CPU_PACK_Q * W));
                rho = e.rho;
                near_factor = e.near;
            }
            FMO_UNROLL
            for (int x = 0; x < 3; x++) {
                PQ[x] = prim[FMO_CPU_PRIM_X + x] - fmo_load(ket + (FMO_CPU_PACK_X + x) * W);
                R2 += PQ[x] * PQ[x];
            }
            start_of(L, rho, near_factor, R2, S);
            fmo_rule_derivatives(L, S, PQ, r);
            if (what != SEVERAL) {
                meet_all(what != TO_KET, what != TO_BRA, NB, NK, r, s->bra_density + b * bras,
                         s->ket_density + m * kets, own, s->ket_sum + m * kets);
                continue;
            }
            for (int d = 0; d < s->densities; d++) {
                const size_t of_bra = (size_t)d * s->bra_stride + (size_t)(b * bras);
                const size_t of_ket = (size_t)d * s->ket_stride + (size_t)(m * kets);
                meet_all(1, 1, NB, NK, r, s->bra_density + of_bra, s->ket_density + of_ket,
                         s->bra_sum + of_bra, s->ket_sum + of_ket);
            }
        }
        if (what == TO_BRA || what == TO_BOTH) {
            COULOMB_UNROLL
            for (int k = 0; k < bras; k++) s->bra_sum[b * bras + k] = own[k];
        }
    }
}

typedef void coulomb_sweep_function(const coulomb_sweep *s);

#endif
