/* Derivatives of the exchange energy of primitive quartets, for density matrices that are folded in
 * first (docs/explanation/gradients.md), by one thread in registers, for pairs of orders up to 3 of
 * s, p and d shells: angular momenta are constants at compile time, loops are unrolled, and the
 * products of density elements are added at once to the factor of each Hermite integral. */
#ifndef FMO_ERI_GRADIENT_LOW_H
#define FMO_ERI_GRADIENT_LOW_H

#include "integrals/eri/eri_gradient.h"

/* Largest order of a pair and of a quartet; monomials of a shell. */
enum {
    FMO_GRADIENT_LOW_PAIR_MAX = 3,
    FMO_GRADIENT_LOW_ORDER_MAX = 4,
    FMO_GRADIENT_LOW_SHELL_MAX = FMO_HERMITE_COUNT(FMO_UNROLLED_ANG_MOM_MAX)
};

/* A shell as seen from the centre of a pair: displacement, unit of its monomials, coefficient of
 * the s partner. */
typedef struct fmo_gradient_low_shell {
    double displacement[3], unit, ratio;
    fmo_gradient_functions functions;
} fmo_gradient_low_shell;

/* Number of the product of two monomials or Hermite functions. */
FMO_TABLE_FUNCTION int fmo_gradient_find_product(int m, int n)
{
    int power[3] = {0, 0, 0}, order = 0;
    for (int f = 0; f < 2; f++) {
        const int k = f ? n : m;
        int l = 0;
        while (FMO_HERMITE_COUNT(l) <= k) l++;
        for (int x = 0; x < 3; x++) power[x] += fmo_shell_power(l, k - FMO_HERMITE_COUNT(l - 1), x);
        order += l;
    }
    const int rest = power[1] + power[2];
    return FMO_HERMITE_COUNT(order - 1) + rest * (rest + 1) / 2 + power[2];
}

/* Power of an axis in monomial m. */
FMO_TABLE_FUNCTION int fmo_gradient_find_power(int m, int axis)
{
    int l = 0;
    while (FMO_HERMITE_COUNT(l) <= m) l++;
    return fmo_shell_power(l, m - FMO_HERMITE_COUNT(l - 1), axis);
}

/* On the GPU both are tables of constants, from which the compiler reads while it unrolls loops;
 * evaluating the functions takes it minutes. */
enum { FMO_GRADIENT_FACTORS = FMO_HERMITE_COUNT(FMO_GRADIENT_LOW_PAIR_MAX) };
#if defined(__CUDACC__)
struct fmo_gradient_low_tables {
    unsigned char product[FMO_HERMITE_COUNT(FMO_GRADIENT_LOW_ORDER_MAX)][FMO_GRADIENT_FACTORS];
    unsigned char power[FMO_GRADIENT_FACTORS][3];
};
static constexpr fmo_gradient_low_tables fmo_gradient_make_low_tables(void)
{
    fmo_gradient_low_tables t = {};
    for (int n = 0; n < FMO_GRADIENT_FACTORS; n++) {
        for (int m = 0; m < FMO_HERMITE_COUNT(FMO_GRADIENT_LOW_ORDER_MAX); m++)
            t.product[m][n] = (unsigned char)fmo_gradient_find_product(m, n);
        for (int x = 0; x < 3; x++) t.power[n][x] = (unsigned char)fmo_gradient_find_power(n, x);
    }
    return t;
}
static __device__ constexpr fmo_gradient_low_tables fmo_gradient_low =
    fmo_gradient_make_low_tables();
#endif
FMO_HD int fmo_gradient_product(int m, int n)
{
#if defined(__CUDA_ARCH__)
    return fmo_gradient_low.product[m][n];
#else
    return fmo_gradient_find_product(m, n);
#endif
}
FMO_HD int fmo_gradient_low_power(int m, int axis)
{
#if defined(__CUDA_ARCH__)
    return fmo_gradient_low.power[m][axis];
#else
    return fmo_gradient_find_power(m, axis);
#endif
}

/* True if monomial n contains m. */
FMO_HD int fmo_gradient_contains(int n, int m)
{
    return fmo_gradient_low_power(n, 0) >= fmo_gradient_low_power(m, 0) &&
           fmo_gradient_low_power(n, 1) >= fmo_gradient_low_power(m, 1) &&
           fmo_gradient_low_power(n, 2) >= fmo_gradient_low_power(m, 2);
}

/* The expansion of a monomial with x^2 or x^3 has a second term, the Hermite function of two powers
 * less, x^0 or x^1, times 2p or 3 (2p). Returns the factor without 2p, 0 if there is no such term,
 * and the number of that function. */
FMO_HD int fmo_gradient_square(int m)
{
    int factor = 0;
    FMO_GPU_UNROLL
    for (int x = 0; x < 3; x++) {
        const int power = fmo_gradient_low_power(m, x);
        if (power > 1) factor = power > 2 ? power : 1;
    }
    return factor;
}
FMO_HD int fmo_gradient_without_square(int m)
{
    int left = 0; /* 0, or the axis of the remaining power, plus 1 */
    FMO_GPU_UNROLL
    for (int x = 0; x < 3; x++) {
        const int power = fmo_gradient_low_power(m, x);
        if (power == 1 || power == 3) left = x + 1;
    }
    return left;
}

/* The coefficient of monomial m in function n of a shell, which contains m (fmo_gradient_shift). */
FMO_HD double fmo_gradient_low_shift(int l, int m, int n, const fmo_gradient_low_shell *s)
{
    const int a = fmo_gradient_first(l) + n;
    double value = fmo_gradient_has_partner(l) && n == 0 ? s->ratio : 1.0;
    FMO_GPU_UNROLL
    for (int x = 0; x < 3; x++) {
        const int of = fmo_gradient_low_power(a, x), kept = fmo_gradient_low_power(m, x);
        if (of - kept == 2) value *= s->displacement[x] * s->displacement[x];
        if (of - kept == 1) value *= of * s->displacement[x];
        if (kept > 0) value *= s->unit;
        if (kept > 1) value *= s->unit;
    }
    return value;
}

/* Computes block[rows][columns] of a density in monomials, times `weight`. */
FMO_HD_ONCE void fmo_gradient_low_block(int l, int m, const double *D, size_t nao,
                                        const fmo_gradient_low_shell *a,
                                        const fmo_gradient_low_shell *b, double weight,
                                        double *block)
{
    const int rows = FMO_HERMITE_COUNT(l), columns = FMO_HERMITE_COUNT(m);
    const int row_functions = fmo_gradient_functions_of(l);
    const int column_functions = fmo_gradient_functions_of(m);
    double half_transformed[FMO_GRADIENT_LOW_SHELL_MAX * FMO_UNROLLED_FUNCTIONS_MAX];
    FMO_GPU_UNROLL
    for (int k = 0; k < column_functions; k++) {
        const double *const from = D + fmo_gradient_function(b->functions, m, k);
        double raw[FMO_UNROLLED_FUNCTIONS_MAX];
        FMO_GPU_UNROLL
        for (int n = 0; n < row_functions; n++)
            raw[n] = weight * from[(size_t)fmo_gradient_function(a->functions, l, n) * nao];
        FMO_GPU_UNROLL
        for (int r = 0; r < rows; r++) {
            double sum = 0.0;
            FMO_GPU_UNROLL
            for (int n = 0; n < row_functions; n++)
                if (fmo_gradient_contains(fmo_gradient_first(l) + n, r))
                    sum += fmo_gradient_low_shift(l, r, n, a) * raw[n];
            half_transformed[r * column_functions + k] = sum;
        }
    }
    FMO_GPU_UNROLL
    for (int r = 0; r < rows; r++) {
        FMO_GPU_UNROLL
        for (int c = 0; c < columns; c++) {
            double sum = 0.0;
            FMO_GPU_UNROLL
            for (int n = 0; n < column_functions; n++)
                if (fmo_gradient_contains(fmo_gradient_first(m) + n, c))
                    sum += fmo_gradient_low_shift(m, c, n, b) *
                           half_transformed[r * column_functions + n];
            block[r * columns + c] = sum;
        }
    }
}

/* Adds the products of two blocks, first[a][c] second[b][d], to the factors of Hermite integrals.
 * twice: 2p, 2q. */
FMO_HD_ONCE void fmo_gradient_low_products(int la, int lb, int lc, int ld, const double *first,
                                           const double *second, const double *twice, double *to)
{
    const int nc = FMO_HERMITE_COUNT(lc), nd = FMO_HERMITE_COUNT(ld);
    FMO_GPU_UNROLL
    for (int a = 0; a < FMO_HERMITE_COUNT(la); a++) {
        FMO_GPU_UNROLL
        for (int b = 0; b < FMO_HERMITE_COUNT(lb); b++) {
            const int ab = fmo_gradient_product(a, b), bra = fmo_gradient_square(ab);
            const int low_ab = fmo_gradient_without_square(ab);
            FMO_GPU_UNROLL
            for (int c = 0; c < nc; c++) {
                FMO_GPU_UNROLL
                for (int d = 0; d < nd; d++) {
                    const int cd = fmo_gradient_product(c, d), ket = fmo_gradient_square(cd);
                    const int low_cd = fmo_gradient_without_square(cd);
                    const double value = first[a * nc + c] * second[b * nd + d];
                    to[fmo_gradient_product(ab, cd)] += value;
                    if (bra) to[fmo_gradient_product(low_ab, cd)] += bra * twice[0] * value;
                    if (ket) to[fmo_gradient_product(ab, low_cd)] += ket * twice[1] * value;
                    if (bra && ket)
                        to[fmo_gradient_product(low_ab, low_cd)] +=
                            bra * ket * (twice[0] * twice[1]) * value;
                }
            }
        }
    }
}

/* The integral of monomials m and n. */
FMO_HD double fmo_gradient_low_integral(int m, int n, const double *r, const double *twice)
{
    const int bra = fmo_gradient_square(m), ket = fmo_gradient_square(n);
    const int low_m = fmo_gradient_without_square(m), low_n = fmo_gradient_without_square(n);
    double value = r[fmo_gradient_product(m, n)];
    if (bra) value += bra * twice[0] * r[fmo_gradient_product(low_m, n)];
    if (ket) value += ket * twice[1] * r[fmo_gradient_product(m, low_n)];
    if (bra && ket)
        value += bra * ket * (twice[0] * twice[1]) * r[fmo_gradient_product(low_m, low_n)];
    return value;
}

/* Adds the derivatives of sum D other (ab|cd) with respect to the displacements of the two shells
 * of block D[row][column]; `other` is the block of the other two shells. l: angular momenta of the
 * shells of row and column, and of the other two. */
FMO_HD_ONCE void fmo_gradient_low_displacements(const int *l, const double *D, const double *other,
                                                const double *r, const double *twice,
                                                double *of_row, double *of_column)
{
    const int rows = FMO_HERMITE_COUNT(l[0]), columns = FMO_HERMITE_COUNT(l[1]);
    const int low_rows = FMO_HERMITE_COUNT(l[0] - 1), low_columns = FMO_HERMITE_COUNT(l[1] - 1);
    const int others = FMO_HERMITE_COUNT(l[3]);
    FMO_GPU_UNROLL
    for (int m = 0; m < rows; m++) {
        FMO_GPU_UNROLL
        for (int n = 0; n < columns; n++) {
            if (m >= low_rows && n >= low_columns) continue;
            double K = 0.0;
            FMO_GPU_UNROLL
            for (int i = 0; i < FMO_HERMITE_COUNT(l[2]); i++) {
                FMO_GPU_UNROLL
                for (int j = 0; j < others; j++)
                    K += other[i * others + j] *
                         fmo_gradient_low_integral(fmo_gradient_product(m, i),
                                                   fmo_gradient_product(n, j), r, twice);
            }
            FMO_GPU_UNROLL
            for (int x = 0; x < 3; x++) {
                if (m < low_rows)
                    of_row[x] += (fmo_gradient_low_power(m, x) + 1) *
                                 D[fmo_gradient_product(m, 1 + x) * columns + n] * K;
                if (n < low_columns)
                    of_column[x] += (fmo_gradient_low_power(n, x) + 1) *
                                    D[m * columns + fmo_gradient_product(n, 1 + x)] * K;
            }
        }
    }
}

/* Adds the derivatives of sum weight (D_ac D_bd + D_ad D_bc) (ab|cd) of a primitive quartet, whose
 * orders are within the limits above, with respect to A, to A and B together, and to C: to[9]. */
FMO_HD_ONCE void fmo_gradient_low_exchange(int la, int lb, int lc, int ld,
                                           const fmo_gradient_quartet *z, double *to)
{
    const int L = la + lb + lc + ld;
    const double p = z->bra.prim.p, q = z->ket.prim.p, rs = fmo_rsqrt(p + q);
    const double twice[2] = {2.0 * p, 2.0 * q}, up = 0.5 / p, uq = -0.5 / q;
    double start[FMO_GRADIENT_LOW_ORDER_MAX + 2], PQ[3], R2 = 0.0;
    double r[FMO_HERMITE_COUNT(FMO_GRADIENT_LOW_ORDER_MAX + 1)];
    fmo_gradient_low_shell a, b, c, d;
    double factors[FMO_HERMITE_COUNT(FMO_GRADIENT_LOW_ORDER_MAX)];
    fmo_gradient_partials partials;
    memset(&partials, 0, sizeof partials);
    memset(factors, 0, sizeof factors);
    const int ac_bd[4] = {la, lc, lb, ld}, bd_ac[4] = {lb, ld, la, lc};
    const int ad_bc[4] = {la, ld, lb, lc}, bc_ad[4] = {lb, lc, la, ld};
    FMO_GPU_UNROLL
    for (int x = 0; x < 3; x++) {
        a.displacement[x] = z->bra.prim.PA[x];
        b.displacement[x] = z->bra.prim.PA[x] + z->bra.AB[x];
        c.displacement[x] = z->ket.prim.PA[x];
        d.displacement[x] = z->ket.prim.PA[x] + z->ket.AB[x];
        PQ[x] = z->AC[x] + (a.displacement[x] - c.displacement[x]);
        R2 += PQ[x] * PQ[x];
    }
    a.unit = b.unit = up;
    c.unit = d.unit = uq; /* with the sign of the ket's Hermite functions */
    a.ratio = z->bra.prim.ratio[0], b.ratio = z->bra.prim.ratio[1];
    c.ratio = z->ket.prim.ratio[0], d.ratio = z->ket.prim.ratio[1];
    a.functions = z->bra.a, b.functions = z->bra.b;
    c.functions = z->ket.a, d.functions = z->ket.b;
    fmo_gradient_start(z->boys, z->op, L + 1, p * q * (rs * rs), R2,
                       rs * z->bra.prim.k * z->ket.prim.k, start);
    fmo_slice_derivatives(L + 1, start, PQ, r);
    for (int n = 0; n < z->term_num; n++) {
        const double *const D = z->term[n].D, w = z->term[n].weight;
        const size_t nao = (size_t)z->nao;
        double first[FMO_GRADIENT_LOW_SHELL_MAX * FMO_GRADIENT_LOW_SHELL_MAX];
        double second[FMO_GRADIENT_LOW_SHELL_MAX * FMO_GRADIENT_LOW_SHELL_MAX];
        fmo_gradient_low_block(la, lc, D, nao, &a, &c, w, first);
        fmo_gradient_low_block(lb, ld, D, nao, &b, &d, 1.0, second);
        fmo_gradient_low_products(la, lb, lc, ld, first, second, twice, factors);
        fmo_gradient_low_displacements(ac_bd, first, second, r, twice, partials.shell[0],
                                       partials.shell[2]);
        fmo_gradient_low_displacements(bd_ac, second, first, r, twice, partials.shell[1],
                                       partials.shell[3]);
        fmo_gradient_low_block(la, ld, D, nao, &a, &d, w, first);
        fmo_gradient_low_block(lb, lc, D, nao, &b, &c, 1.0, second);
        fmo_gradient_low_products(la, lb, ld, lc, first, second, twice, factors);
        fmo_gradient_low_displacements(ad_bc, first, second, r, twice, partials.shell[0],
                                       partials.shell[3]);
        fmo_gradient_low_displacements(bc_ad, second, first, r, twice, partials.shell[1],
                                       partials.shell[2]);
    }
    FMO_GPU_UNROLL
    for (int n = 0; n < FMO_HERMITE_COUNT(L); n++) {
        const double factor = factors[n];
        partials.energy += factor * r[n];
        FMO_GPU_UNROLL
        for (int x = 0; x < 3; x++) partials.PQ[x] += factor * r[fmo_gradient_product(n, 1 + x)];
    }
    FMO_GPU_UNROLL
    for (int x = 0; x < 3; x++) {
        partials.shell[2][x] = -partials.shell[2][x];
        partials.shell[3][x] = -partials.shell[3][x];
        to[3 + x] += partials.PQ[x];
    }
    fmo_gradient_first_centre(&z->bra.prim, z->bra.AB, &partials, 0, to);
    fmo_gradient_first_centre(&z->ket.prim, z->ket.AB, &partials, 1, to + 6);
}

#endif
