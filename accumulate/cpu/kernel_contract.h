/* Contracted integrals of one bra and as many kets as there are lanes; the second step of
 * cpu/kernel.c. The arithmetic is that of integrals/eri/eri_*.h. */
#ifndef FMO_CPU_KERNEL_CONTRACT_H
#define FMO_CPU_KERNEL_CONTRACT_H

#include "accumulate/cpu/kernel.h"
#include "accumulate/cpu/lanes.h"
#include "integrals/real.h"

static const double half_sqrt_pi = 0.88622692545275801365;

#define TABLE_STRIDE(M) ((M) == 0 ? 2 : FMO_CPU_TABLE_FIELDS)

/* worker->table of one bra family with one ket family. */
__attribute__((unused)) static void
make_table(const fmo_cpu_pair_list *bras, const fmo_cpu_family *bra_family,
           const fmo_cpu_pair_list *kets, const fmo_cpu_family *ket_family, int M, double *table)
{
    for (int b = 0; b < bra_family->count_max; b++) {
        const double p = bras->exponent[bra_family->exponent + b];
        double *to =
            table + ((size_t)b * (size_t)kets->exponent_num + (size_t)ket_family->exponent) *
                        TABLE_STRIDE(M);
        for (int k = 0; k < ket_family->count_max; k++, to += TABLE_STRIDE(M)) {
            const double q = kets->exponent[ket_family->exponent + k];
            const double r = 1.0 / (p + q), rho = p * q * r;
            to[FMO_CPU_RHO] = rho;
            to[FMO_CPU_NEAR] = sqrt(rho) / half_sqrt_pi;
            if (M == 0) continue;
            to[FMO_CPU_HALF_RHO] = 0.5 / rho;
            to[FMO_CPU_Q_OVER] = q * r;
            to[FMO_CPU_P_OVER] = p * r;
            to[FMO_CPU_HALF_PQ] = 0.5 * r;
        }
    }
}

/* A primitive of each lane, row [FMO_CPU_PRIM_FIELDS] and the place of its pair, to where
 * `contract` reads it. */
FMO_HD void pack_row(const fmo_real *row, const fmo_real *centre, int with_QC, double *packed)
{
    memcpy(packed + FMO_CPU_PACK_K * W, &row[FMO_CPU_PRIM_K], sizeof *row);
    for (int x = 0; x < 3; x++) {
        const fmo_real t = centre[x] + row[FMO_CPU_PRIM_X + x];
        memcpy(packed + (FMO_CPU_PACK_X + x) * W, &t, sizeof t);
        if (with_QC)
            memcpy(packed + (FMO_CPU_PACK_QC + x) * W, &row[FMO_CPU_PRIM_X + x], sizeof *row);
    }
}

/* Primitives of the ket pairs in the lanes; returns how many. Lanes with fewer of them, and lanes
 * that are not in use, get zero prefactors; a pair with itself, whose index is `own`, counts half.
 */
FMO_HD int pack(const fmo_cpu_pair_list *kets, const int *q, int lanes, int own, const double *A,
                int with_QC, int mixed, double *packed)
{
    fmo_real centre[4], row[4];
    int at[W], begin[W], used[W], count = 0, own_lane = -1;
    for (int l = 0; l < W; l++) at[l] = 4 * q[l];
    fmo_load_rows4(kets->centre, at, centre);
    for (int x = 0; x < 3; x++) centre[x] -= A[x];
    for (int l = 0; l < W; l++) {
        used[l] = l < lanes ? kets->count[q[l]] : 0;
        begin[l] = (int)(kets->prim_begin[q[l]] * FMO_CPU_PRIM_FIELDS);
        if (used[l] > count) count = used[l];
        if (q[l] == own && l < lanes) own_lane = l;
    }
    for (int m = 0; m < count; m++, packed += FMO_CPU_PACK_FIELDS * W) {
        for (int l = 0; l < W; l++) at[l] = m < used[l] ? begin[l] + m * FMO_CPU_PRIM_FIELDS : 0;
        fmo_load_rows4(kets->prim, at, row);
        pack_row(row, centre, with_QC, packed);
        if (own_lane >= 0) packed[FMO_CPU_PACK_K * W + own_lane] *= 0.5;
        for (int l = 0; mixed && l < W; l++) {
            const fmo_cpu_family *family = &kets->family[kets->family_of[q[l]]];
            packed[FMO_CPU_PACK_Q * W + l] =
                kets->exponent[family->exponent + (m < used[l] ? m : 0)];
        }
    }
    return count;
}

/* The same of one primitive in each lane: number prim[l] of pair q[l]. */
FMO_HD void pack_prims(const fmo_cpu_pair_list *kets, const int *q, const int *prim, int lanes,
                       int own, const double *A, int with_QC, double *packed)
{
    fmo_real centre[4], row[4];
    int at[W];
    for (int l = 0; l < W; l++) at[l] = 4 * q[l];
    fmo_load_rows4(kets->centre, at, centre);
    for (int x = 0; x < 3; x++) centre[x] -= A[x];
    for (int l = 0; l < W; l++)
        at[l] = l < lanes ? (int)(kets->prim_begin[q[l]] * FMO_CPU_PRIM_FIELDS) +
                                prim[l] * FMO_CPU_PRIM_FIELDS
                          : 0;
    fmo_load_rows4(kets->prim, at, row);
    pack_row(row, centre, with_QC, packed);
    for (int l = 0; l < W; l++) {
        const fmo_cpu_family *family = &kets->family[kets->family_of[q[l]]];
        packed[FMO_CPU_PACK_Q * W + l] = kets->exponent[family->exponent + prim[l]];
        if (q[l] == own) packed[FMO_CPU_PACK_K * W + l] *= 0.5;
    }
}

/* What a primitive quartet takes from its exponents (fields as in the table). */
typedef struct quartet_exponents {
    fmo_real rho, near, half_rho, q_over, p_over, half_pq, half_q;
} quartet_exponents;

/* The same for all lanes. */
FMO_HD quartet_exponents exponents_of_family(int M, const double *table, double q)
{
    quartet_exponents z = {.rho = fmo_set(table[FMO_CPU_RHO]),
                           .near = fmo_set(table[FMO_CPU_NEAR])};
    if (M > 0) {
        z.half_rho = fmo_set(table[FMO_CPU_HALF_RHO]);
        z.q_over = fmo_set(table[FMO_CPU_Q_OVER]);
        z.p_over = fmo_set(table[FMO_CPU_P_OVER]);
        z.half_pq = fmo_set(table[FMO_CPU_HALF_PQ]);
        z.half_q = fmo_set(0.5 / q);
    }
    return z;
}

/* Lane by lane. */
FMO_HD quartet_exponents exponents_of_lanes(double p, fmo_real q)
{
    quartet_exponents z;
    const fmo_real rs = fmo_rsqrt_near_one(p + q), r = rs * rs;
    z.q_over = q * r;
    z.p_over = p * r;
    z.rho = p * z.q_over;
    const fmo_real root = fmo_rsqrt_near_one(z.rho);
    z.near = z.rho * root * (1.0 / half_sqrt_pi);
    z.half_rho = 0.5 * root * root;
    z.half_pq = 0.5 * r;
    const fmo_real root_q = fmo_rsqrt_near_one(q);
    z.half_q = 0.5 * root_q * root_q;
    return z;
}

/* [ss|ss]^(m), m = 0..M, from R^2; K has all prefactors, over sqrt(p q). */
FMO_HD void s_integrals(int M, const quartet_exponents *z, fmo_real K, fmo_real R2, fmo_real *S)
{
    const fmo_real T = z->rho * R2;
    const unsigned far = fmo_lanes_from(T, fmo_boys_far(M)), all = (1u << W) - 1;
    fmo_real F[FMO_BOYS_ORDER_MAX + 1];
    if (far != all) {
        const fmo_mask near = T < fmo_boys_far(M);
        fmo_boys_eval(fmo_boys.row[M][0], fmo_select(near, T, fmo_set(0.0)), M, F);
        const fmo_real factor = K * z->near;
        FMO_UNROLL
        for (int m = 0; m <= M; m++) S[m] = factor * F[m];
        if (far) {
            const fmo_real y = fmo_rsqrt_near_one(R2);
            fmo_real f = K * y;
            FMO_UNROLL
            for (int m = 0; m <= M; m++) {
                S[m] = fmo_select(near, S[m], f);
                if (m < M) f *= (2 * m + 1) * z->half_rho * (y * y);
            }
        }
    } else {
        const fmo_real y = fmo_rsqrt_near_one(R2);
        S[0] = K * y;
        if (M > 0) {
            const fmo_real w = z->half_rho * (y * y);
            FMO_UNROLL
            for (int m = 1; m <= M; m++) S[m] = (2 * m - 1) * w * S[m - 1];
        }
    }
}

/* The same for classes by the rule, a function for each order. */
#define S_INTEGRALS(M, T)                                                                 \
    FMO_HD_ONCE void s_integrals_##M(const quartet_exponents *z, fmo_real K, fmo_real R2, \
                                     fmo_real *S)                                         \
    {                                                                                     \
        if ((M) <= (int)FMO_BOYS_ORDER_MAX) s_integrals(M, z, K, R2, S);                  \
    }
FMO_BOYS_FAR_TABLE(S_INTEGRALS)
#undef S_INTEGRALS

FMO_HD void s_integrals_of(int M, const quartet_exponents *z, fmo_real K, fmo_real R2, fmo_real *S)
{
    switch (M) {
#define ROW(order, T)                     \
    case order:                           \
        s_integrals_##order(z, K, R2, S); \
        break;
        FMO_BOYS_FAR_TABLE(ROW)
#undef ROW
    default:
        break;
    }
}

/* One primitive quartet into the accumulators of the class, which is a compile-time constant. */
FMO_HD void add_prim(int eri_class, const fmo_prim_quartet *z, fmo_real *acc)
{
    switch (eri_class) {
#define ROW(e, name, ...)          \
    case e:                        \
        eri_##name##_prim(z, acc); \
        break;
        FMO_ERI_LIGHT_TABLE(ROW)
#undef ROW
    }
}

FMO_HD void finish(int eri_class, const fmo_real *AB, const fmo_real *CD, const fmo_real *acc,
                   fmo_real *eri)
{
    switch (eri_class) {
#define ROW(e, name, ...)                      \
    case e:                                    \
        eri_##name##_finish(AB, CD, acc, eri); \
        break;
        FMO_ERI_LIGHT_TABLE(ROW)
#undef ROW
    }
}

/* The same of a class by the rule: what the kets of one primitive of the bra add up to, and what
 * that is in the end. */
FMO_HD int hermite_of(int eri_class)
{
    switch (eri_class) {
#define ROW(e, name, ...) \
    case e:               \
        return eri_##name##_hermite;
        FMO_ERI_HEAVY_TABLE(ROW)
#undef ROW
    default:
        return 0;
    }
}

FMO_HD void add_ket(int eri_class, const fmo_prim_quartet *z, fmo_real *H)
{
    switch (eri_class) {
#define ROW(e, name, ...)       \
    case e:                     \
        eri_##name##_ket(z, H); \
        break;
        FMO_ERI_HEAVY_TABLE(ROW)
#undef ROW
    default:
        break;
    }
}

FMO_HD void add_bra(int eri_class, const fmo_prim_quartet *z, const fmo_real *H, fmo_real *acc)
{
    switch (eri_class) {
#define ROW(e, name, ...)            \
    case e:                          \
        eri_##name##_bra(z, H, acc); \
        break;
        FMO_ERI_HEAVY_TABLE(ROW)
#undef ROW
    default:
        break;
    }
}

/* All primitive quartets of the lanes; AB and CD are for classes by the rule. `table` and
 * `exponents` belong to the family of the kets; NULL if they are of several families. */
FMO_HD void contract(int rule, int eri_class, int M, int accumulators,
                     const fmo_cpu_pair_list *bras, int bra, const double *table, size_t table_row,
                     const double *exponents, int count, const double *packed, const fmo_real *AB,
                     const fmo_real *CD, fmo_real *acc)
{
    fmo_real H[FMO_RULE_HERMITE_MAX];
    const int hermite = rule ? hermite_of(eri_class) : 0;
    const double *prim = bras->prim + bras->prim_begin[bra] * FMO_CPU_PRIM_FIELDS;
    const double *p = bras->exponent + bras->family[bras->family_of[bra]].exponent;
    for (int a = 0; a < accumulators; a++) acc[a] = fmo_set(0.0);
    for (int b = 0; b < bras->count[bra]; b++, prim += FMO_CPU_PRIM_FIELDS) {
        if (prim[FMO_CPU_PRIM_K] == 0.0) continue;
        const double bra_K = half_sqrt_pi * prim[FMO_CPU_PRIM_K], half_p = 0.5 / p[b];
        const double *ket = packed;
        fmo_prim_quartet z;
        for (int h = 0; h < hermite; h++) H[h] = fmo_set(0.0);
        for (int m = 0; m < count; m++, ket += FMO_CPU_PACK_FIELDS * W) {
            const quartet_exponents e =
                exponents ? exponents_of_family(
                                M, table + (size_t)b * table_row + (size_t)m * TABLE_STRIDE(M),
                                exponents[m])
                          : exponents_of_lanes(p[b], fmo_load(ket + FMO_CPU_PACK_Q * W));
            fmo_real PQ[3], R2 = fmo_set(0.0);
            FMO_UNROLL
            for (int x = 0; x < 3; x++) {
                PQ[x] = prim[FMO_CPU_PRIM_X + x] - fmo_load(ket + (FMO_CPU_PACK_X + x) * W);
                R2 += PQ[x] * PQ[x];
            }
            const fmo_real K = bra_K * fmo_load(ket + FMO_CPU_PACK_K * W);
            if (rule)
                s_integrals_of(M, &e, K, R2, z.S);
            else
                s_integrals(M, &e, K, R2, z.S);
            if (M > 0) {
                FMO_UNROLL
                for (int x = 0; x < 3; x++) {
                    z.PA[x] = fmo_set(prim[FMO_CPU_PRIM_X + x]);
                    z.PQ[x] = PQ[x];
                    z.WP[x] = -e.q_over * PQ[x];
                    z.WQ[x] = e.p_over * PQ[x];
                    z.QC[x] = fmo_load(ket + (FMO_CPU_PACK_QC + x) * W);
                }
                z.alpha = e.rho;
                FMO_UNROLL
                for (int x = 0; x < 3 && rule; x++) {
                    z.AB[x] = AB[x];
                    z.CD[x] = CD[x];
                }
                z.half_p = fmo_set(half_p);
                z.half_q = e.half_q;
                z.half_pq = e.half_pq;
                z.q_over = e.q_over;
                z.p_over = e.p_over;
            }
            if (rule)
                add_ket(eri_class, &z, H);
            else
                add_prim(eri_class, &z, acc);
        }
        if (rule) add_bra(eri_class, &z, H, acc);
    }
}

#endif
