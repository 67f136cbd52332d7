/* What the integrals in the lanes add to J and K; the third step of cpu/kernel.c. The terms are
 * those of digest.h; where D comes from and where X goes is what is here. */
#ifndef FMO_CPU_KERNEL_DIGEST_H
#define FMO_CPU_KERNEL_DIGEST_H

#include "accumulate/cpu/kernel.h"
#include "accumulate/cpu/lanes.h"
#include "accumulate/rules/digest.h"

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
 * 2, 4, 8 or 12. */
#define ROW_SIZE(columns) \
    ((columns) <= 2 ? 2 : (columns) <= 4 ? 4 : (columns) <= 8 ? 8 : (int)FMO_CPU_ROW_MAX)

FMO_HD void load_rows(int size, const double *base, const int *at, fmo_real *out)
{
    if (size == 2) {
        fmo_load_rows2(base, at, out);
    } else {
        FMO_UNROLL
        for (int c = 0; c < size; c += 4) fmo_load_rows4(base + c, at, out + c);
    }
}

FMO_HD void add_rows(int size, double *base, const int *at, const fmo_real *in)
{
    if (size == 2) {
        fmo_add_rows2(base, at, in);
    } else {
        FMO_UNROLL
        for (int c = 0; c < size; c += 4) fmo_add_rows4(base + c, at, in + c);
    }
}

FMO_HD void begin_rows(const fmo_cpu_build *build, int columns, int size, const int *ao,
                       fmo_cpu_worker *worker)
{
    const int n = build->basis->function_num;
    for (int d = 0; d < build->densities; d++) {
        const double *density = build->density + (size_t)d * (size_t)n * (size_t)n;
        double *rows = worker->density_rows + (size_t)d * (size_t)n * FMO_CPU_ROW_MAX;
        for (int c = 0; c < size; c++) {
            if (c < columns) {
                const double *row = density + (size_t)ao[c] * (size_t)n;
                for (int a = 0; a < n; a++) rows[a * size + c] = row[a];
            } else {
                for (int a = 0; a < n; a++) rows[a * size + c] = 0.0;
            }
        }
        memset(worker->exchange_rows + (size_t)d * (size_t)n * FMO_CPU_ROW_MAX, 0,
               (size_t)(n * size) * sizeof *worker->exchange_rows);
    }
}

FMO_HD void end_rows(const fmo_cpu_build *build, int columns, int size, const int *ao,
                     fmo_cpu_worker *worker)
{
    const int n = build->basis->function_num;
    const fmo_cpu_adding *how = &build->adding;
    for (int d = 0; d < build->densities; d++) {
        double *exchange = worker->sums.exchange + (size_t)d * (size_t)n * (size_t)n;
        const double *rows = worker->exchange_rows + (size_t)d * (size_t)n * FMO_CPU_ROW_MAX;
        for (int c = 0; c < columns; c++) {
            double *row = exchange + (size_t)ao[c] * (size_t)n;
            if (how->atomic || how->fixed)
                for (int a = 0; a < n; a++)
                    add_one(row + a, rows[a * size + c], how->exchange_scale, how);
            else
                for (int a = 0; a < n; a++) row[a] += rows[a * size + c];
        }
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

/* Where integral (ij|kl), in the innermost loop of digest(), finds what the terms of digest.h name:
 * the element of X of shells row and column, and that of D. Rows i and j of D and X^K are the
 * bra's, columns of Dk, Dl, Kk, Kl. */
#define SUM_J01    Jij
#define SUM_J23    Jkl[k * nl + l]
#define SUM_K02    Kk[k][i]
#define SUM_K03    Kl[l][i]
#define SUM_K12    Kk[k][ni + j]
#define SUM_K13    Kl[l][ni + j]
#define DENSITY_01 Dij[i * nj + j]
#define DENSITY_23 Dkl[k * nl + l]
#define DENSITY_02 Dk[k][i]
#define DENSITY_03 Dl[l][i]
#define DENSITY_12 Dk[k][ni + j]
#define DENSITY_13 Dl[l][ni + j]
#define TERM(matrix, row, column, den_row, den_column) \
    SUM_##matrix##row##column += DENSITY_##den_row##den_column * v;
#define TERMS(table)                                                          \
    FMO_UNROLL                                                                \
    for (int i = 0; i < ni; i++) {                                            \
        FMO_UNROLL                                                            \
        for (int j = 0; j < nj; j++) {                                        \
            fmo_real Jij = fmo_set(0.0);                                      \
            FMO_UNROLL                                                        \
            for (int k = 0; k < nk; k++) {                                    \
                FMO_UNROLL                                                    \
                for (int l = 0; l < nl; l++) {                                \
                    const fmo_real v = eri[((i * nj + j) * nk + k) * nl + l]; \
                    table(TERM)                                               \
                }                                                             \
            }                                                                 \
            bra_sum[i * nj + j] += Jij;                                       \
        }                                                                     \
    }

/* The same with sums and densities of integrals with d shells, too many for registers: i and j are
 * loops, and what belongs to a pair of them stands apart while all kl add to it. */
#define TERMS_OF_D(table)                                               \
    for (int i = 0; i < ni; i++) {                                      \
        for (int j = 0; j < nj; j++) {                                  \
            fmo_real Jij = fmo_set(0.0), row[N][4], sum[N][4];          \
            const fmo_real *const of_ij = eri + (i * nj + j) * nk * nl; \
            take_rows(with_K, ni, i, j, nk, nl, Dk, Dl, row);           \
            take_rows(with_K, ni, i, j, nk, nl, Kk, Kl, sum);           \
            FMO_UNROLL                                                  \
            for (int k = 0; k < nk; k++) {                              \
                FMO_UNROLL                                              \
                for (int l = 0; l < nl; l++) {                          \
                    const fmo_real v = of_ij[k * nl + l];               \
                    table(TERM_OF_D)                                    \
                }                                                       \
            }                                                           \
            give_rows(with_K, ni, i, j, nk, nl, sum, Kk, Kl);           \
            bra_sum[i * nj + j] += Jij;                                 \
        }                                                               \
    }
#define D_SUM_J01    Jij
#define D_SUM_J23    Jkl[k * nl + l]
#define D_SUM_K02    sum[k][0]
#define D_SUM_K12    sum[k][1]
#define D_SUM_K03    sum[l][2]
#define D_SUM_K13    sum[l][3]
#define D_DENSITY_01 Dij[i * nj + j]
#define D_DENSITY_23 Dkl[k * nl + l]
#define D_DENSITY_02 row[k][0]
#define D_DENSITY_12 row[k][1]
#define D_DENSITY_03 row[l][2]
#define D_DENSITY_13 row[l][3]
#define TERM_OF_D(matrix, row_, column, den_row, den_column) \
    D_SUM_##matrix##row_##column += D_DENSITY_##den_row##den_column * v;

/* Columns i and j of the rows of k and l: [k][0], [k][1], [l][2], [l][3]. */
FMO_HD void take_rows(int with_K, int ni, int i, int j, int nk, int nl,
                      fmo_real of_k[][FMO_CPU_ROW_MAX], fmo_real of_l[][FMO_CPU_ROW_MAX],
                      fmo_real to[][4])
{
    FMO_UNROLL
    for (int k = 0; with_K && k < nk; k++) {
        to[k][0] = of_k[k][i];
        to[k][1] = of_k[k][ni + j];
    }
    FMO_UNROLL
    for (int l = 0; with_K && l < nl; l++) {
        to[l][2] = of_l[l][i];
        to[l][3] = of_l[l][ni + j];
    }
}

FMO_HD void give_rows(int with_K, int ni, int i, int j, int nk, int nl, fmo_real from[][4],
                      fmo_real of_k[][FMO_CPU_ROW_MAX], fmo_real of_l[][FMO_CPU_ROW_MAX])
{
    FMO_UNROLL
    for (int k = 0; with_K && k < nk; k++) {
        of_k[k][i] = from[k][0];
        of_k[k][ni + j] = from[k][1];
    }
    FMO_UNROLL
    for (int l = 0; with_K && l < nl; l++) {
        of_l[l][i] = from[l][2];
        of_l[l][ni + j] = from[l][3];
    }
}

/* Where one density and what is made from it are, for a bra and the kets of a class. */
typedef struct density_at {
    const double *rows, *bra, *kets; /* D: rows i and j, the bra's block, the kets' */
    double *exchange, *coulomb;      /* X^K: rows i and j; X^J of the kets, NULL: not wanted */
    fmo_real *bra_sum;               /* X^J of the bra */
    const double *near;              /* [leaf] 1: counts in J, 0: does not; NULL: all count */
    const int *leaf_of;              /* [ket] */
} density_at;

/* The terms of digest.h for a density and the quartets in the lanes, those of K as well or those of
 * J alone; X^J_ij is summed over the kets, in bra_sum, and added by the caller. `wide`: the class
 * is one with d shells. */
FMO_HD void digest_sizes(int wide, const fmo_cpu_build *build, const density_at *with, int with_K,
                         int ni, int nj, int nk, int nl, int ket_class, const int *q,
                         const fmo_real *eri)
{
    enum { N = FMO_SHELL_FUNCTIONS_MAX, ROW = FMO_CPU_ROW_MAX };
    const int stride = fmo_cpu_stride(ket_class), size = ROW_SIZE(ni + nj);
    const fmo_cpu_pair_list *kets = &build->side[FMO_CPU_KET].pairs->list[ket_class];
    const double *Dij = with->bra;
    fmo_real *const bra_sum = with->bra_sum;
    fmo_real Dk[N][ROW], Dl[N][ROW], Kk[N][ROW], Kl[N][ROW];
    fmo_real Dkl[FMO_CPU_STRIDE_MAX], Jkl[FMO_CPU_STRIDE_MAX];
    int at_k[W], at_l[W], at[W];
    for (int l = 0; l < W; l++) {
        at_k[l] = kets->ao_i[q[l]] * size;
        at_l[l] = kets->ao_j[q[l]] * size;
        at[l] = q[l] * stride;
    }
    if (with_K) {
        for (int k = 0; k < nk; k++) load_rows(size, with->rows + k * size, at_k, Dk[k]);
        for (int l = 0; l < nl; l++) load_rows(size, with->rows + l * size, at_l, Dl[l]);
        FMO_UNROLL
        for (int c = 0; c < size; c++) {
            for (int k = 0; k < nk; k++) Kk[k][c] = fmo_set(0.0);
            for (int l = 0; l < nl; l++) Kl[l][c] = fmo_set(0.0);
        }
    }
    if (stride == 1)
        Dkl[0] = fmo_load_each(with->kets, at);
    else
        for (int b = 0; b < stride; b += 4) fmo_load_rows4(with->kets + b, at, Dkl + b);
    fmo_real in_J = fmo_set(1.0);
    if (with->near) {
        int leaf[W];
        for (int l = 0; l < W; l++) leaf[l] = with->leaf_of[q[l]];
        in_J = fmo_load_each(with->near, leaf);
        for (int b = 0; b < stride; b++) Dkl[b] *= in_J;
    }
    for (int b = 0; b < stride; b++) Jkl[b] = fmo_set(0.0);
    if (with_K && wide) {
        TERMS_OF_D(FMO_DIGEST_TABLE)
        for (int k = 0; k < nk; k++) add_rows(size, with->exchange + k * size, at_k, Kk[k]);
        for (int l = 0; l < nl; l++) add_rows(size, with->exchange + l * size, at_l, Kl[l]);
    } else if (wide) {
        TERMS_OF_D(FMO_DIGEST_J_TABLE)
    } else if (with_K) {
        TERMS(FMO_DIGEST_TABLE)
        for (int k = 0; k < nk; k++) add_rows(size, with->exchange + k * size, at_k, Kk[k]);
        for (int l = 0; l < nl; l++) add_rows(size, with->exchange + l * size, at_l, Kl[l]);
    } else {
        TERMS(FMO_DIGEST_J_TABLE)
    }
    if (with->near)
        for (int b = 0; b < stride; b++) Jkl[b] *= in_J;
    if (with->coulomb) add_coulomb(&build->adding, nk * nl, stride, with->coulomb, at, Jkl);
}

/* Of classes by the rule a function for each pair of the kets, not one in every place that digests.
 */
#define DIGEST_BY_KET(P, name, lk, ll, partner)                                                    \
    FMO_HD_ONCE void digest_##name(const fmo_cpu_build *build, const density_at *with, int with_K, \
                                   int ni, int nj, const int *q, const fmo_real *eri)              \
    {                                                                                              \
        digest_sizes(1, build, with, with_K, ni, nj, FMO_CARTESIAN(lk), FMO_CARTESIAN(ll),         \
                     FMO_PAIR_##P, q, eri);                                                        \
    }
FMO_PAIR_TABLE(DIGEST_BY_KET)
#undef DIGEST_BY_KET

FMO_HD void digest(int rule, const fmo_cpu_build *build, const density_at *with, int with_K, int ni,
                   int nj, int nk, int nl, int ket_class, const int *q, const fmo_real *eri)
{
    if (!rule) {
        digest_sizes(0, build, with, with_K, ni, nj, nk, nl, ket_class, q, eri);
        return;
    }
    switch (ket_class) {
#define ROW(P, name, lk, ll, partner)                       \
    case FMO_PAIR_##P:                                      \
        digest_##name(build, with, with_K, ni, nj, q, eri); \
        break;
        FMO_PAIR_TABLE(ROW)
#undef ROW
    default:
        break;
    }
}

#undef TERMS
#undef TERMS_OF_D
#undef TERM
#undef TERM_OF_D
#undef D_SUM_J01
#undef D_SUM_J23
#undef D_SUM_K02
#undef D_SUM_K03
#undef D_SUM_K12
#undef D_SUM_K13
#undef D_DENSITY_01
#undef D_DENSITY_23
#undef D_DENSITY_02
#undef D_DENSITY_03
#undef D_DENSITY_12
#undef D_DENSITY_13
#undef SUM_J01
#undef SUM_J23
#undef SUM_K02
#undef SUM_K03
#undef SUM_K12
#undef SUM_K13
#undef DENSITY_01
#undef DENSITY_23
#undef DENSITY_02
#undef DENSITY_03
#undef DENSITY_12
#undef DENSITY_13

#endif
