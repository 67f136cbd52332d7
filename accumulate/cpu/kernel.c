/* One bra pair against the ket pairs that survive: screen, order, compute quartets lane by lane,
 * digest. Compiled once per instruction set with FMO_SIMD_WIDTH and FMO_CPU_KERNELS (the name of
 * the table below) set by CMake; the arithmetic is that of integrals/eri_*.h and digest.h.
 *
 * Where two charge distributions do not overlap, the Boys function is its asymptotic form and an
 * integral is that of point multipoles; four out of five primitive quartets of a molecule are such.
 * Ket pairs are therefore ordered by distance, so that whole vectors take the short way. */
#include "accumulate/cpu/kernel.h"

#include "accumulate/cpu/lanes.h"
#include "accumulate/rules/digest.h"
#include "accumulate/rules/screen.h"

enum { W = FMO_SIMD_WIDTH };

static const double half_sqrt_pi = 0.88622692545275801365;

/* ---- screening ------------------------------------------------------------------------------ */

/* Pairs [begin, end) of the ket list that survive, in list order; returns how many. `most` bounds
 * the density factor. */
static int screen_kets(const fmo_cpu_build *build, const fmo_cpu_pair_list *kets,
                       const double *pair_max, const double *shell_max, double bra_bound,
                       double bra_max, double most, int begin, int end, int *ket)
{
    const double cutoff = build->cutoff;
    int num = 0;
    end = fmo_cpu_kets_end(kets, begin, end, bra_bound, most, cutoff);
    if (build->store) {
        for (int q = begin; q < end; q++) ket[num++] = q;
        return num;
    }
    int q = begin;
#if FMO_SIMD_WIDTH == 8 && defined(__AVX512F__)
    const __m512d Q = _mm512_set1_pd(bra_bound), D = _mm512_set1_pd(bra_max),
                  limit = _mm512_set1_pd(cutoff), four = _mm512_set1_pd(4.0);
    __m256i index =
        _mm256_add_epi32(_mm256_set1_epi32(begin), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    for (; q + 8 <= end; q += 8) {
        const __m256i i = _mm256_loadu_si256((const __m256i *)(kets->i + q));
        const __m256i j = _mm256_loadu_si256((const __m256i *)(kets->j + q));
        const __m512d rows = _mm512_max_pd(_mm512_i32gather_pd(i, shell_max, 8),
                                           _mm512_i32gather_pd(j, shell_max, 8));
        const __m512d own = _mm512_max_pd(D, _mm512_loadu_pd(pair_max + q));
        const __m512d factor = _mm512_max_pd(_mm512_mul_pd(four, own), rows);
        const __m512d bound = _mm512_mul_pd(Q, _mm512_loadu_pd(kets->bound + q));
        const __mmask8 stay = _mm512_cmp_pd_mask(_mm512_mul_pd(bound, factor), limit, _CMP_GE_OQ);
        _mm256_storeu_si256((__m256i *)(ket + num), _mm256_maskz_compress_epi32(stay, index));
        num += __builtin_popcount(stay);
        index = _mm256_add_epi32(index, _mm256_set1_epi32(8));
    }
#endif
    for (; q < end; q++) {
        const double factor = fmo_screen_density_by_rows(
            bra_max, pair_max[q], shell_max[kets->i[q]], shell_max[kets->j[q]]);
        ket[num] = q;
        num += bra_bound * kets->bound[q] * factor >= cutoff;
    }
    return num;
}

/* worker->ket[0..num-1] -> worker->ordered, by number of primitives and then by distance from the
 * bra; equals keep their order. Returns the primitive pairs in them. */
static int64_t order_kets(const fmo_cpu_pair_list *bras, int bra, const fmo_cpu_pair_list *kets,
                          int count_max, int num, fmo_cpu_worker *worker)
{
    const double x = bras->middle[0][bra], y = bras->middle[1][bra], z = bras->middle[2][bra];
    const int keys = count_max * FMO_CPU_DISTANCES;
    int *count = worker->key_count, *key = worker->key;
    int64_t prims = 0;
    memset(count, 0, ((size_t)keys + 1) * sizeof *count);
    for (int n = 0; n < num; n++) {
        const int q = worker->ket[n];
        const double dx = kets->middle[0][q] - x, dy = kets->middle[1][q] - y,
                     dz = kets->middle[2][q] - z;
        const double r2 = 1.0 + dx * dx + dy * dy + dz * dz;
        int64_t bits;
        memcpy(&bits, &r2, sizeof bits);
        const int step = (int)(bits >> 51) - 2 * 1023; /* exponent and a bit: r2 in factors of 2 */
        key[n] = (kets->count[q] - 1) * FMO_CPU_DISTANCES +
                 (step < FMO_CPU_DISTANCES ? step : FMO_CPU_DISTANCES - 1);
        prims += kets->kept[q];
    }
    for (int n = 0; n < num; n++) count[key[n] + 1]++;
    for (int k = 1; k < keys; k++) count[k + 1] += count[k];
    for (int n = 0; n < num; n++) worker->ordered[count[key[n]]++] = worker->ket[n];
    return prims;
}

/* ---- exponents ------------------------------------------------------------------------------ */

#define TABLE_STRIDE(M) ((M) == 0 ? 2 : FMO_CPU_TABLE_FIELDS)

/* worker->table of one bra group with one ket group. */
static void make_table(const fmo_cpu_pair_list *bras, const fmo_cpu_group *bra_group,
                       const fmo_cpu_pair_list *kets, const fmo_cpu_group *ket_group, int M,
                       double *table)
{
    for (int b = 0; b < bra_group->count_max; b++) {
        const double p = bras->exponent[bra_group->exponent + b];
        double *to =
            table + ((size_t)b * (size_t)kets->exponent_num + (size_t)ket_group->exponent) *
                        TABLE_STRIDE(M);
        for (int k = 0; k < ket_group->count_max; k++, to += TABLE_STRIDE(M)) {
            const double q = kets->exponent[ket_group->exponent + k];
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

/* ---- integrals ------------------------------------------------------------------------------ */

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
        memcpy(packed + FMO_CPU_PACK_K * W, &row[FMO_CPU_PRIM_K], sizeof *row);
        if (own_lane >= 0) packed[FMO_CPU_PACK_K * W + own_lane] *= 0.5;
        for (int x = 0; x < 3; x++) {
            const fmo_real t = centre[x] + row[FMO_CPU_PRIM_X + x];
            memcpy(packed + (FMO_CPU_PACK_X + x) * W, &t, sizeof t);
            if (with_QC)
                memcpy(packed + (FMO_CPU_PACK_QC + x) * W, &row[FMO_CPU_PRIM_X + x], sizeof *row);
        }
        for (int l = 0; mixed && l < W; l++) {
            const fmo_cpu_group *group = &kets->group[kets->group_of[q[l]]];
            packed[FMO_CPU_PACK_Q * W + l] =
                kets->exponent[group->exponent + (m < used[l] ? m : 0)];
        }
    }
    return count;
}

/* What a primitive quartet takes from its exponents (fields as in the table). */
typedef struct quartet_exponents {
    fmo_real rho, near, half_rho, q_over, p_over, half_pq, half_q;
} quartet_exponents;

/* The same for all lanes. */
FMO_HD quartet_exponents exponents_of_group(int M, const double *table, double q)
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

/* One primitive quartet into the accumulators of the class, which is a compile-time constant. */
FMO_HD void add_prim(int eri_class, const fmo_prim_quartet *z, fmo_real *acc)
{
    switch (eri_class) {
#define ROW(e, name, ...)          \
    case e:                        \
        eri_##name##_prim(z, acc); \
        break;
        FMO_ERI_CLASS_TABLE(ROW)
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
        FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
    }
}

/* All primitive quartets of the lanes. `table` and `exponents` belong to the group of the kets;
 * NULL if they are of several groups. */
FMO_HD void contract(int eri_class, int M, int accumulators, const fmo_cpu_pair_list *bras, int bra,
                     const double *table, size_t table_row, const double *exponents, int count,
                     const double *packed, fmo_real *acc)
{
    const double *prim = bras->prim + bras->prim_begin[bra] * FMO_CPU_PRIM_FIELDS;
    const double *p = bras->exponent + bras->group[bras->group_of[bra]].exponent;
    for (int a = 0; a < accumulators; a++) acc[a] = fmo_set(0.0);
    for (int b = 0; b < bras->count[bra]; b++, prim += FMO_CPU_PRIM_FIELDS) {
        if (prim[FMO_CPU_PRIM_K] == 0.0) continue;
        const double bra_K = half_sqrt_pi * prim[FMO_CPU_PRIM_K], half_p = 0.5 / p[b];
        const double *ket = packed;
        for (int m = 0; m < count; m++, ket += FMO_CPU_PACK_FIELDS * W) {
            const quartet_exponents e =
                exponents ? exponents_of_group(
                                M, table + (size_t)b * table_row + (size_t)m * TABLE_STRIDE(M),
                                exponents[m])
                          : exponents_of_lanes(p[b], fmo_load(ket + FMO_CPU_PACK_Q * W));
            fmo_prim_quartet z;
            fmo_real PQ[3], R2 = fmo_set(0.0);
            FMO_UNROLL
            for (int x = 0; x < 3; x++) {
                PQ[x] = prim[FMO_CPU_PRIM_X + x] - fmo_load(ket + (FMO_CPU_PACK_X + x) * W);
                R2 += PQ[x] * PQ[x];
            }
            s_integrals(M, &e, bra_K * fmo_load(ket + FMO_CPU_PACK_K * W), R2, z.S);
            if (M > 0) {
                FMO_UNROLL
                for (int x = 0; x < 3; x++) {
                    z.PA[x] = fmo_set(prim[FMO_CPU_PRIM_X + x]);
                    z.WP[x] = -e.q_over * PQ[x];
                    z.WQ[x] = e.p_over * PQ[x];
                    z.QC[x] = fmo_load(ket + (FMO_CPU_PACK_QC + x) * W);
                }
                z.half_p = fmo_set(half_p);
                z.half_q = e.half_q;
                z.half_pq = e.half_pq;
                z.q_over = e.q_over;
                z.p_over = e.p_over;
            }
            add_prim(eri_class, &z, acc);
        }
    }
}

/* ---- digestion ------------------------------------------------------------------------------ */

static inline void add_one(double *to, double value, double scale, const fmo_cpu_adding *how)
{
    if (how->fixed) {
        int64_t *const sum = (int64_t *)to;
        const int64_t rounded = llrint(value * scale);
        if (how->atomic) {
#pragma omp atomic
            *sum += rounded;
        } else {
            *sum += rounded;
        }
    } else if (how->atomic) {
#pragma omp atomic
        *to += value;
    } else {
        *to += value;
    }
}

/* Rows i and j of a bra by function: columns 0 .. ni-1 are those of i, then those of j, padded to
 * 2, 4 or 8. */
#define ROW_SIZE(columns) ((columns) <= 2 ? 2 : (columns) <= 4 ? 4 : 8)

FMO_HD void load_rows(int size, const double *base, const int *at, fmo_real *out)
{
    if (size == 2) {
        fmo_load_rows2(base, at, out);
    } else {
        fmo_load_rows4(base, at, out);
        if (size == 8) fmo_load_rows4(base + 4, at, out + 4);
    }
}

FMO_HD void add_rows(int size, double *base, const int *at, const fmo_real *in)
{
    if (size == 2) {
        fmo_add_rows2(base, at, in);
    } else {
        fmo_add_rows4(base, at, in);
        if (size == 8) fmo_add_rows4(base + 4, at, in + 4);
    }
}

FMO_HD void begin_rows(const fmo_cpu_build *build, int columns, int size, const int *ao,
                       fmo_cpu_worker *worker)
{
    const int n = build->basis->ao_num;
    for (int c = 0; c < size; c++) {
        if (c < columns) {
            const double *row = build->density + (size_t)ao[c] * (size_t)n;
            for (int a = 0; a < n; a++) worker->density_rows[a * size + c] = row[a];
        } else {
            for (int a = 0; a < n; a++) worker->density_rows[a * size + c] = 0.0;
        }
    }
    memset(worker->exchange_rows, 0, (size_t)(n * size) * sizeof *worker->exchange_rows);
}

FMO_HD void end_rows(const fmo_cpu_build *build, int columns, int size, const int *ao,
                     fmo_cpu_worker *worker)
{
    const int n = build->basis->ao_num;
    const fmo_cpu_adding *how = &build->adding;
    for (int c = 0; c < columns; c++) {
        double *row = worker->sums.exchange + (size_t)ao[c] * (size_t)n;
        if (how->atomic || how->fixed)
            for (int a = 0; a < n; a++)
                add_one(row + a, worker->exchange_rows[a * size + c], how->exchange_scale, how);
        else
            for (int a = 0; a < n; a++) row[a] += worker->exchange_rows[a * size + c];
    }
}

/* X^J_kl of the lanes, block[kl][lane]. */
FMO_HD void add_coulomb(const fmo_cpu_adding *how, int size, int stride, double *sums,
                        const int *at, const fmo_real *block)
{
    if (how->atomic || how->fixed) {
        for (int b = 0; b < size; b++) {
            double out[W];
            memcpy(out, &block[b], sizeof out);
            for (int l = 0; l < W; l++) add_one(sums + at[l] + b, out[l], how->coulomb_scale, how);
        }
    } else if (stride == 1) {
        double out[W];
        memcpy(out, block, sizeof out);
        for (int l = 0; l < W; l++) sums[at[l]] += out[l];
    } else {
        for (int b = 0; b < stride; b += 4) fmo_add_rows4(sums + b, at, block + b);
    }
}

/* The six terms of digest.h for the quartets in the lanes: rows i and j of D and X^K are the
 * bra's, X^J_ij is summed over the kets and added by the caller. */
FMO_HD void digest(const fmo_cpu_build *build, fmo_cpu_worker *worker, int ni, int nj, int nk,
                   int nl, int bra_class, int ket_class, int stride, int bra, const int *q,
                   const fmo_real *eri, fmo_real *bra_sum)
{
    enum { BLOCK = 12, ROW = 8 };
    const fmo_cpu_pair_list *kets = &build->pairs->list[ket_class];
    const int size = ROW_SIZE(ni + nj);
    const double *bra_density =
        build->pair_density[bra_class] + (size_t)bra * (size_t)(ni * nj == 1   ? 1
                                                                : ni * nj == 3 ? 4
                                                                               : 12);
    fmo_real Dk[3][ROW], Dl[3][ROW], Kk[3][ROW], Kl[3][ROW], Dkl[BLOCK], Jkl[BLOCK];
    int at_k[W], at_l[W], at[W];
    for (int l = 0; l < W; l++) {
        at_k[l] = kets->ao_i[q[l]] * size;
        at_l[l] = kets->ao_j[q[l]] * size;
        at[l] = q[l] * stride;
    }
    for (int k = 0; k < nk; k++) load_rows(size, worker->density_rows + k * size, at_k, Dk[k]);
    for (int l = 0; l < nl; l++) load_rows(size, worker->density_rows + l * size, at_l, Dl[l]);
    if (stride == 1)
        Dkl[0] = fmo_load_each(build->pair_density[ket_class], at);
    else
        for (int b = 0; b < stride; b += 4)
            fmo_load_rows4(build->pair_density[ket_class] + b, at, Dkl + b);
    FMO_UNROLL
    for (int c = 0; c < size; c++) {
        for (int k = 0; k < nk; k++) Kk[k][c] = fmo_set(0.0);
        for (int l = 0; l < nl; l++) Kl[l][c] = fmo_set(0.0);
    }
    for (int b = 0; b < stride; b++) Jkl[b] = fmo_set(0.0);
    FMO_UNROLL
    for (int i = 0; i < ni; i++) {
        FMO_UNROLL
        for (int j = 0; j < nj; j++) {
            fmo_real Jij = fmo_set(0.0);
            FMO_UNROLL
            for (int k = 0; k < nk; k++) {
                FMO_UNROLL
                for (int l = 0; l < nl; l++) {
                    const fmo_real v = eri[((i * nj + j) * nk + k) * nl + l];
                    Jij += Dkl[k * nl + l] * v;
                    Jkl[k * nl + l] += bra_density[i * nj + j] * v;
                    Kk[k][i] += Dl[l][ni + j] * v;
                    Kl[l][i] += Dk[k][ni + j] * v;
                    Kk[k][ni + j] += Dl[l][i] * v;
                    Kl[l][ni + j] += Dk[k][i] * v;
                }
            }
            bra_sum[i * nj + j] += Jij;
        }
    }
    for (int k = 0; k < nk; k++) add_rows(size, worker->exchange_rows + k * size, at_k, Kk[k]);
    for (int l = 0; l < nl; l++) add_rows(size, worker->exchange_rows + l * size, at_l, Kl[l]);
    add_coulomb(&build->adding, nk * nl, stride, worker->sums.coulomb[ket_class], at, Jkl);
}

/* ---- a bra ---------------------------------------------------------------------------------- */

#define STRIDE_OF(pair_class)                          \
    ((pair_class) == FMO_PAIR_SS   ? FMO_CPU_STRIDE_SS \
     : (pair_class) == FMO_PAIR_PS ? FMO_CPU_STRIDE_PS \
                                   : FMO_CPU_STRIDE_PP)

/* A class and a bra, all of it but the pointers known when the kernel is compiled. */
typedef struct bra_task {
    int eri_class, bra_class, ket_class, accumulators, M, ni, nj, nk, nl;
    int bra;
    const fmo_cpu_build *build;
    fmo_cpu_worker *worker;
} bra_task;

/* Kets worker->ordered[first..] in as many lanes as there are: compute and digest. */
FMO_HD void do_lanes(const bra_task *t, const int *ordered, int lanes, const fmo_cpu_group *group,
                     const fmo_real *AB, fmo_real *bra_sum)
{
    enum { ACC = eri_pppp_acc };
    const fmo_cpu_pair_list *bras = &t->build->pairs->list[t->bra_class];
    const fmo_cpu_pair_list *kets = &t->build->pairs->list[t->ket_class];
    fmo_cpu_worker *w = t->worker;
    fmo_real acc[ACC], eri[FMO_ERI_MAX], CD[4];
    int q[W], at[W];
    for (int l = 0; l < W; l++) {
        q[l] = ordered[l < lanes ? l : 0];
        at[l] = 4 * q[l];
    }
    if (t->nl > 1) fmo_load_rows4(kets->AB, at, CD);
    const int count = pack(kets, q, lanes, t->bra_class == t->ket_class ? t->bra : -1,
                           bras->centre + 4 * (size_t)t->bra, t->nk > 1, group == NULL, w->packed);
    if (group)
        contract(t->eri_class, t->M, t->accumulators, bras, t->bra,
                 w->table + (size_t)group->exponent * TABLE_STRIDE(t->M),
                 (size_t)kets->exponent_num * TABLE_STRIDE(t->M), kets->exponent + group->exponent,
                 count, w->packed, acc);
    else
        contract(t->eri_class, t->M, t->accumulators, bras, t->bra, NULL, 0, NULL, count, w->packed,
                 acc);
    finish(t->eri_class, AB, CD, acc, eri);
    if (t->build->store) {
        const fmo_cpu_store *store = &t->build->store[t->eri_class];
        const size_t size = (size_t)(t->ni * t->nj * t->nk * t->nl) * W, v = w->vector++;
        memcpy(store->ket + v * W, q, sizeof q);
        memcpy(store->eri + v * size, eri, size * sizeof *store->eri);
    }
    digest(t->build, w, t->ni, t->nj, t->nk, t->nl, t->bra_class, t->ket_class,
           STRIDE_OF(t->ket_class), t->bra, q, eri, bra_sum);
}

/* First functions of shells i and j, component by component. */
FMO_HD void bra_functions(const bra_task *t, int *ao)
{
    const fmo_cpu_pair_list *bras = &t->build->pairs->list[t->bra_class];
    for (int c = 0; c < t->ni; c++) ao[c] = bras->ao_i[t->bra] + c;
    for (int c = 0; c < t->nj; c++) ao[t->ni + c] = bras->ao_j[t->bra] + c;
}

FMO_HD void begin_bra(const bra_task *t)
{
    int ao[6];
    bra_functions(t, ao);
    begin_rows(t->build, t->ni + t->nj, ROW_SIZE(t->ni + t->nj), ao, t->worker);
}

FMO_HD void end_bra(const bra_task *t, const fmo_real *bra_sum)
{
    const fmo_cpu_adding *how = &t->build->adding;
    double *block =
        t->worker->sums.coulomb[t->bra_class] + (size_t)t->bra * STRIDE_OF(t->bra_class);
    int ao[6];
    bra_functions(t, ao);
    end_rows(t->build, t->ni + t->nj, ROW_SIZE(t->ni + t->nj), ao, t->worker);
    for (int b = 0; b < t->ni * t->nj; b++) {
        double sum = 0.0, lane[W];
        memcpy(lane, &bra_sum[b], sizeof lane);
        for (int l = 0; l < W; l++) sum += lane[l];
        add_one(block + b, sum, how->coulomb_scale, how);
    }
}

/* Computes a bra. */
FMO_HD void build_bra(const bra_task *t)
{
    enum { BLOCK = 9 };
    const fmo_cpu_build *build = t->build;
    fmo_cpu_worker *w = t->worker;
    const int bra = t->bra, same = t->bra_class == t->ket_class;
    const fmo_cpu_pair_list *bras = &build->pairs->list[t->bra_class];
    const fmo_cpu_pair_list *kets = &build->pairs->list[t->ket_class];
    const int shells = build->basis->shell_num, i = bras->i[bra], j = bras->j[bra];
    const int bra_group = bras->group_of[bra];
    const double *di = build->density_max + (size_t)i * (size_t)shells;
    const double *dj = build->density_max + (size_t)j * (size_t)shells;
    const double of_density = fmo_screen_max(4.0 * build->density_largest,
                                             fmo_screen_max(build->row_max[i], build->row_max[j]));
    const double most = build->store ? build->store_factor : of_density;
    int begun = 0, left = 0;
    fmo_real bra_sum[BLOCK], AB[3];
    for (int b = 0; b < BLOCK; b++) bra_sum[b] = fmo_set(0.0);
    for (int x = 0; x < 3; x++) AB[x] = fmo_set(bras->AB[4 * (size_t)bra + (size_t)x]);
    if (build->store) w->vector = build->store[t->eri_class].begin[bra];
    for (int s = 0; s < shells; s++) w->shell_max[s] = fmo_screen_max(di[s], dj[s]);

    for (int g = 0; g < (same ? bra_group + 1 : kets->group_num); g++) {
        const fmo_cpu_group *group = &kets->group[g];
        const int num =
            screen_kets(build, kets, build->pair_max[t->ket_class], w->shell_max, bras->bound[bra],
                        build->pair_max[t->bra_class][bra], most, group->begin,
                        same && g == bra_group ? bra + 1 : group->end, w->ket);
        if (!num) continue;
        if (!begun) begin_bra(t);
        begun = 1;
        w->quartets += num;
        const int full = fmo_cpu_kets_apart(num, W);
        const int64_t prims = order_kets(bras, bra, kets, group->count_max, num, w);
        w->prim_quartets += bras->kept[bra] * prims;
        if (full && w->table_of[g] != bra_group) {
            make_table(bras, &bras->group[bra_group], kets, group, t->M, w->table);
            w->table_of[g] = bra_group;
        }
        for (int first = 0; first < full; first += W)
            do_lanes(t, w->ordered + first, full - first < W ? full - first : W, group, AB,
                     bra_sum);
        for (int n = full; n < num; n++) w->left[left++] = w->ordered[n];
    }
    if (left) {
        memcpy(w->ket, w->left, (size_t)left * sizeof *w->ket);
        (void)order_kets(bras, bra, kets, kets->count_max, left, w);
        for (int first = 0; first < left; first += W)
            do_lanes(t, w->ordered + first, left - first < W ? left - first : W, NULL, AB, bra_sum);
    }
    if (begun) end_bra(t, bra_sum);
}

/* Adds what the store has of a bra. */
FMO_HD void replay_bra(const bra_task *t)
{
    enum { BLOCK = 9 };
    const fmo_cpu_store *store = &t->build->store[t->eri_class];
    const size_t components = (size_t)(t->ni * t->nj * t->nk * t->nl);
    fmo_real bra_sum[BLOCK], eri[FMO_ERI_MAX];
    size_t v = store->begin[t->bra];
    if (v == store->begin[t->bra + 1]) return;
    for (int b = 0; b < BLOCK; b++) bra_sum[b] = fmo_set(0.0);
    begin_bra(t);
    for (; v < store->begin[t->bra + 1]; v++) {
        const double *from = store->eri + v * components * W;
        for (size_t c = 0; c < components; c++) eri[c] = fmo_load(from + c * W);
        digest(t->build, t->worker, t->ni, t->nj, t->nk, t->nl, t->bra_class, t->ket_class,
               STRIDE_OF(t->ket_class), t->bra, store->ket + v * W, eri, bra_sum);
    }
    end_bra(t, bra_sum);
}

#define TASK(e, name, li, lj, lk, ll, bra_class_, ket_class_)                                \
    FMO_HD bra_task task_##name(const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra) \
    {                                                                                        \
        return (bra_task){.eri_class = e,                                                    \
                          .bra_class = bra_class_,                                           \
                          .ket_class = ket_class_,                                           \
                          .accumulators = eri_##name##_acc,                                  \
                          .M = li + lj + lk + ll,                                            \
                          .ni = 2 * li + 1,                                                  \
                          .nj = 2 * lj + 1,                                                  \
                          .nk = 2 * lk + 1,                                                  \
                          .nl = 2 * ll + 1,                                                  \
                          .bra = bra,                                                        \
                          .build = build,                                                    \
                          .worker = worker};                                                 \
    }
FMO_ERI_CLASS_TABLE(TASK)
#undef TASK

#define KERNEL(e, name, ...)                                                               \
    static void kernel_##name(const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra) \
    {                                                                                      \
        const bra_task t = task_##name(build, worker, bra);                                \
        build_bra(&t);                                                                     \
    }                                                                                      \
    static void replay_##name(const fmo_cpu_build *build, fmo_cpu_worker *worker, int bra) \
    {                                                                                      \
        const bra_task t = task_##name(build, worker, bra);                                \
        replay_bra(&t);                                                                    \
    }
FMO_ERI_CLASS_TABLE(KERNEL)
#undef KERNEL

extern fmo_cpu_digest *const FMO_CPU_DIGESTS[FMO_ERI_CLASS_COUNT]; /* cpu/split_digest.c */

const fmo_cpu_kernels FMO_CPU_KERNELS = {
    .name = FMO_CPU_NAME,
    .width = W,
    .kernel =
        {
#define ROW(e, name, ...) [e] = kernel_##name,
            FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
        },
    .replay =
        {
#define ROW(e, name, ...) [e] = replay_##name,
            FMO_ERI_CLASS_TABLE(ROW)
#undef ROW
        },
    .digest = FMO_CPU_DIGESTS,
};
