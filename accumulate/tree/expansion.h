/* Solid harmonics and their addition theorems, in SIMD lanes, for the multipoles of cells.
 * Conventions of Helgaker, Jorgensen and Olsen, section 9.13 (scaled regular harmonics R_lm and
 * irregular I_lm, complex, with R_l(-m) = (-1)^m conj R_lm, and the same for I):
 *
 *    1/|r - s| = sum_lm conj(R_lm(s)) I_lm(r)                        |s| < |r|
 *    R_lm(r + s) = sum_jk R_jk(r) R_(l-j)(m-k)(s)
 *    I_lm(r - s) = sum_jk conj(R_jk(s)) I_(l+j)(m+k)(r)              |s| < |r|
 *
 * Arrays contain m >= 0, real and imaginary parts interleaved: [2 * fmo_harmonic(l, m) + part].
 * Equations: docs/explanation/multipoles.md. */
#ifndef FMO_TREE_EXPANSION_H
#define FMO_TREE_EXPANSION_H

#include "integrals/real.h"

/* Highest order of an expansion. */
enum { FMO_BOX_ORDER_MAX = 20 };

#define FMO_HARMONIC_TERMS(order) (((order) + 1) * ((order) + 2) / 2)
enum { FMO_BOX_TERMS_MAX = FMO_HARMONIC_TERMS(FMO_BOX_ORDER_MAX) };

FMO_HD int fmo_harmonic(int l, int m)
{
    return l * (l + 1) / 2 + m;
}

/* Computes R_lm(x, y, z) up to an order, by recursion in l. */
FMO_HD void fmo_harmonics_regular(int order, fmo_real x, fmo_real y, fmo_real z, fmo_real *R)
{
    const fmo_real r2 = x * x + y * y + z * z;
    R[0] = fmo_set(1.0);
    R[1] = fmo_set(0.0);
    for (int n = 1; n <= order; n++) {
        fmo_real *const at = R + 2 * fmo_harmonic(n, 0);
        const fmo_real *const one = R + 2 * fmo_harmonic(n - 1, 0);
        const fmo_real *const two = n > 1 ? R + 2 * fmo_harmonic(n - 2, 0) : one;
        for (int m = 0; m < n; m++) {
            const double under = 1.0 / ((double)(n + m) * (double)(n - m));
            const fmo_real up = ((2 * n - 1) * under) * z, down = under * r2;
            for (int part = 0; part < 2; part++) {
                at[2 * m + part] = up * one[2 * m + part];
                if (m < n - 1) at[2 * m + part] -= down * two[2 * m + part];
            }
        }
        const double under = -1.0 / (2.0 * n);
        const fmo_real re = one[2 * n - 2], im = one[2 * n - 1];
        at[2 * n] = under * (x * re - y * im);
        at[2 * n + 1] = under * (x * im + y * re);
    }
}

/* Computes I_lm(x, y, z) up to an order, not at the origin. */
FMO_HD void fmo_harmonics_irregular(int order, fmo_real x, fmo_real y, fmo_real z, fmo_real *I)
{
    const fmo_real root = fmo_rsqrt(x * x + y * y + z * z), over = root * root;
    const fmo_real zo = z * over, xo = x * over, yo = y * over;
    I[0] = root;
    I[1] = fmo_set(0.0);
    for (int n = 1; n <= order; n++) {
        fmo_real *const at = I + 2 * fmo_harmonic(n, 0);
        const fmo_real *const one = I + 2 * fmo_harmonic(n - 1, 0);
        const fmo_real *const two = n > 1 ? I + 2 * fmo_harmonic(n - 2, 0) : one;
        for (int m = 0; m < n; m++) {
            const fmo_real up = (2.0 * n - 1.0) * zo;
            const fmo_real down = ((double)(n - 1) * (n - 1) - (double)m * m) * over;
            for (int part = 0; part < 2; part++) {
                at[2 * m + part] = up * one[2 * m + part];
                if (m < n - 1) at[2 * m + part] -= down * two[2 * m + part];
            }
        }
        const double factor = -(2.0 * n - 1.0);
        const fmo_real re = one[2 * n - 2], im = one[2 * n - 1];
        at[2 * n] = factor * (xo * re - yo * im);
        at[2 * n + 1] = factor * (xo * im + yo * re);
    }
}

/* Sums of products of complex numbers a and b, separately for real and imaginary parts: four
 * independent sums, from which both sum a b and sum conj(a) b follow. */
typedef struct fmo_harmonic_sum {
    fmo_real rr, ii, ri, ir;
} fmo_harmonic_sum;

FMO_HD fmo_harmonic_sum fmo_harmonic_zero(void)
{
    const fmo_real zero = fmo_set(0.0);
    const fmo_harmonic_sum sum = {zero, zero, zero, zero};
    return sum;
}

FMO_HD void fmo_harmonic_add(fmo_harmonic_sum *to, const fmo_real *a, const fmo_real *b)
{
    to->rr += a[0] * b[0];
    to->ii += a[1] * b[1];
    to->ri += a[0] * b[1];
    to->ir += a[1] * b[0];
}

/* to += factor * sum a b */
FMO_HD void fmo_harmonic_put(fmo_real *to, double factor, const fmo_harmonic_sum *s)
{
    to[0] += factor * (s->rr - s->ii);
    to[1] += factor * (s->ri + s->ir);
}

/* to += factor * sum conj(a) b */
FMO_HD void fmo_harmonic_put_conj(fmo_real *to, double factor, const fmo_harmonic_sum *s)
{
    to[0] += factor * (s->rr + s->ii);
    to[1] += factor * (s->ri - s->ir);
}

/* to += sum_k a_jk b_(l-j)(m-k) over all valid k, for m >= 0; rest is l - j. */
FMO_HD void fmo_harmonics_row(const fmo_real *a, int j, const fmo_real *b, int rest, int m,
                              fmo_real *to)
{
    const fmo_real *const aj = a + 2 * fmo_harmonic(j, 0), *const br =
                                                               b + 2 * fmo_harmonic(rest, 0);
    fmo_harmonic_sum plain = fmo_harmonic_zero(), even = plain, odd = plain;
    /* k >= 0, m - k >= 0 */
    for (int k = m > rest ? m - rest : 0; k <= (j < m ? j : m); k++)
        fmo_harmonic_add(&plain, aj + 2 * k, br + 2 * (m - k));
    /* k > m: b_(-n) = (-1)^n conj b_n, n = k - m */
    for (int k = m + 1; k <= (j < m + rest ? j : m + rest); k++)
        fmo_harmonic_add((k - m) & 1 ? &odd : &even, br + 2 * (k - m), aj + 2 * k);
    /* k < 0: a_(-n) = (-1)^n conj a_n */
    for (int n = 1; n <= (j < rest - m ? j : rest - m); n++)
        fmo_harmonic_add(n & 1 ? &odd : &even, aj + 2 * n, br + 2 * (m + n));
    fmo_harmonic_put(to, 1.0, &plain);
    fmo_harmonic_put_conj(to, 1.0, &even);
    fmo_harmonic_put_conj(to, -1.0, &odd);
}

/* Shifts multipoles of orders up to `from` to another centre, up to `order`: to_lm += sum_jk M_jk
 * R_(l-j)(m-k), with R at the old centre relative to the new one. */
FMO_HD void fmo_multipoles_shift(int from, const fmo_real *M, int order, const fmo_real *R,
                                 fmo_real *to)
{
    for (int l = 0; l <= order; l++)
        for (int m = 0; m <= l; m++)
            for (int j = 0; j <= (l < from ? l : from); j++)
                fmo_harmonics_row(M, j, R, l - j, m, to + 2 * fmo_harmonic(l, m));
}

/* to += sum_lm L_lm conj(R_(l-j)(m-k)) over orders l up to `from`: element (j, k) of
 * fmo_potential_shift. */
FMO_HD void fmo_potential_row(int from, const fmo_real *L, const fmo_real *R, int j, int k,
                              fmo_real *to)
{
    fmo_harmonic_sum even = fmo_harmonic_zero(), odd = even, above = even, below = even;
    for (int l = j; l <= from; l++) {
        const fmo_real *const Ll = L + 2 * fmo_harmonic(l, 0);
        const fmo_real *const Rr = R + 2 * fmo_harmonic(l - j, 0);
        const int rest = l - j;
        /* m >= k: conj(R_(m-k)) */
        for (int m = k; m <= k + rest; m++) fmo_harmonic_add(&above, Rr + 2 * (m - k), Ll + 2 * m);
        /* 0 <= m < k: conj(R_-(k-m)) = (-1)^(k-m) R_(k-m) */
        for (int m = k > rest ? k - rest : 0; m < k; m++)
            fmo_harmonic_add((k - m) & 1 ? &odd : &even, Rr + 2 * (k - m), Ll + 2 * m);
        /* m = -n < 0: (-1)^n conj(L_n) (-1)^(k+n) R_(k+n) */
        for (int n = 1; n <= rest - k; n++) fmo_harmonic_add(&below, Ll + 2 * n, Rr + 2 * (k + n));
    }
    fmo_harmonic_put(to, 1.0, &even);
    fmo_harmonic_put(to, -1.0, &odd);
    fmo_harmonic_put_conj(to, 1.0, &above);
    fmo_harmonic_put_conj(to, k & 1 ? -1.0 : 1.0, &below);
}

/* Shifts an expansion of a potential, V(s) = sum_lm L_lm conj(R_lm(s)), of orders up to `from` to
 * another centre, up to `order`: to_jk += sum_lm L_lm conj(R_(l-j)(m-k)), with R at the new centre
 * relative to the old one. */
FMO_HD void fmo_potential_shift(int from, const fmo_real *L, int order, const fmo_real *R,
                                fmo_real *to)
{
    for (int j = 0; j <= order; j++)
        for (int k = 0; k <= j; k++)
            fmo_potential_row(from, L, R, j, k, to + 2 * fmo_harmonic(j, k));
}

/* Expands the potential of multipoles M about another centre, with the sum of both orders up to
 * `order`: to_lm += (-1)^l sum_jk conj(M_jk) I_(j+l)(k+m), with I at the second centre relative to
 * the first. alternate: (-1)^k M_jk. */
FMO_HD void fmo_multipoles_interact(int order, const fmo_real *M, const fmo_real *alternate,
                                    const fmo_real *I, fmo_real *to)
{
    for (int l = 0; l <= order; l++) {
        const double sign = l & 1 ? -1.0 : 1.0;
        for (int m = 0; m <= l; m++) {
            fmo_harmonic_sum above = fmo_harmonic_zero(), between = above, below = above;
            for (int j = 0; j <= order - l; j++) {
                const fmo_real *const Mj = M + 2 * fmo_harmonic(j, 0);
                const fmo_real *const Aj = alternate + 2 * fmo_harmonic(j, 0);
                const fmo_real *const In = I + 2 * fmo_harmonic(j + l, 0);
                for (int k = 0; k <= j; k++) fmo_harmonic_add(&above, Mj + 2 * k, In + 2 * (k + m));
                /* k = -n: conj(M_jk) = (-1)^n M_jn */
                const int middle = j < m ? j : m;
                for (int n = 1; n <= middle; n++)
                    fmo_harmonic_add(&between, Aj + 2 * n, In + 2 * (m - n));
                /* k = -n: also I_(m-n) = (-1)^(n-m) conj(I_(n-m)) */
                for (int n = m + 1; n <= j; n++)
                    fmo_harmonic_add(&below, In + 2 * (n - m), Mj + 2 * n);
            }
            fmo_real *const at = to + 2 * fmo_harmonic(l, m);
            fmo_harmonic_put_conj(at, sign, &above);
            fmo_harmonic_put(at, sign, &between);
            fmo_harmonic_put_conj(at, m & 1 ? -sign : sign, &below);
        }
    }
}

#endif
