/* What derivatives of two-electron energies on a GPU have in common
 * (docs/explanation/gradients.md), and those of the Coulomb energy of primitive pairs in a
 * potential, with the density folded in first. For host and device.
 *
 * A shell of angular momentum l is expanded in the monomials x^a y^b z^c of degrees up to l about
 * the centre P of a pair, in units of 1/2p: a p shell and its sp partner in 1, x, y and z. The
 * products of two such shells are monomials of degrees up to la + lb, and these are sums of Hermite
 * functions with small integers and powers of 2p as coefficients. */
#ifndef FMO_ERI_GRADIENT_H
#define FMO_ERI_GRADIENT_H

#include <fmo/operator.h>

#include "integrals/boys/boys.h"
#include "integrals/eri/eri_slice.h"

enum {
    FMO_GRADIENT_ORDER_MAX = FMO_ERI_GPU_ORDER_MAX + 1,
    /* monomials of one shell, and of a pair */
    FMO_GRADIENT_SHELL_MAX = FMO_HERMITE_COUNT(FMO_GPU_ANG_MOM_MAX),
    FMO_GRADIENT_PAIR_MAX = FMO_HERMITE_COUNT(FMO_PAIR_GPU_ORDER_MAX),
    FMO_GRADIENT_RAISED_MAX = FMO_HERMITE_COUNT(FMO_PAIR_GPU_ORDER_MAX + 1),
    /* terms of the expansions of all monomials up to order 6 or less, by the squares left out */
    FMO_GRADIENT_EXPANSIONS_MAX = FMO_GRADIENT_PAIR_MAX +
                                  3 * FMO_HERMITE_COUNT(FMO_PAIR_GPU_ORDER_MAX - 2) +
                                  6 * FMO_HERMITE_COUNT(FMO_PAIR_GPU_ORDER_MAX - 4) +
                                  10 * FMO_HERMITE_COUNT(FMO_PAIR_GPU_ORDER_MAX - 6),
    FMO_GRADIENT_SPLITS_MAX = FMO_GRADIENT_SHELL_MAX * FMO_GRADIENT_SHELL_MAX
};
FMO_STATIC_ASSERT(FMO_PAIR_GPU_ORDER_MAX <= 6, "eri_gradient.h: terms of expansions")

/* A primitive pair: exponent, prefactor (eri_common.h), P - A, b/p; the coefficients of the s
 * partners of both shells relative to those of the p shells, 0 if there is none; Schwarz bounds of
 * the pair and of its derivatives. */
typedef struct fmo_gradient_prim {
    double p, k, PA[3], b_over_p, ratio[2];
    float bound, derivative_bound;
} fmo_gradient_prim;

/* A term of the expansion of a monomial in Hermite functions: `factor` (2p)^power times function
 * `to`. */
typedef struct fmo_gradient_expansion {
    unsigned char to, factor, power;
} fmo_gradient_expansion;

/* Tables of monomials and Hermite functions, in the order of fmo_slice_at. */
typedef struct fmo_gradient_tables {
    unsigned char product[FMO_GRADIENT_SHELL_MAX][FMO_GRADIENT_SHELL_MAX]; /* of two monomials */
    unsigned char power[FMO_GRADIENT_PAIR_MAX][3], order[FMO_GRADIENT_PAIR_MAX];
    unsigned char raised[FMO_GRADIENT_PAIR_MAX][3]; /* multiplied by x, y or z */
    unsigned short expansion_begin[FMO_GRADIENT_PAIR_MAX + 1];
    fmo_gradient_expansion expansion[FMO_GRADIENT_EXPANSIONS_MAX];
} fmo_gradient_tables;

#ifdef __cplusplus
extern "C"
#endif
    void
    fmo_gradient_make_tables(fmo_gradient_tables *tables);

/* The first functions of a shell: of the s partner or s shell, and of the p or d shell. */
typedef struct fmo_gradient_functions {
    int s, high;
} fmo_gradient_functions;

/* A density with its weight. */
typedef struct fmo_gradient_density {
    const double *D; /* [nao][nao] */
    double weight;
} fmo_gradient_density;

/* A primitive pair of a quartet. */
typedef struct fmo_gradient_side {
    int pair_class, la, lb;
    double AB[3];
    fmo_gradient_functions a, b;
    fmo_gradient_prim prim;
} fmo_gradient_side;

/* A primitive quartet; AC is A - C. */
typedef struct fmo_gradient_quartet {
    const double *boys; /* fmo_boys_table */
    fmo_operator op;
    const fmo_gradient_density *term;
    int term_num, nao;
    double AC[3];
    fmo_gradient_side bra, ket;
} fmo_gradient_quartet;

/* ---- the Boys function and operators -------------------------------------------------------- */

/* Computes F[0..L] from the table of all orders. */
FMO_HD void fmo_gradient_boys(const double *boys, int L, double T, double *F)
{
    fmo_boys_eval(boys + (size_t)L * FMO_BOYS_ROWS * FMO_BOYS_ROW_SIZE, T, L, F);
}
FMO_STATIC_ASSERT((int)FMO_GRADIENT_ORDER_MAX <= (int)FMO_BOYS_ORDER_MAX,
                  "eri_gradient.h: orders of the Boys function")

/* Computes start[m] = factor (-2 rho)^m F_m of an operator, m <= L (operator_rules.h). */
FMO_HD_ONCE void fmo_gradient_start(const double *boys, fmo_operator op, int L, double rho,
                                    double R2, double factor, double *start)
{
    double F[FMO_BOYS_ORDER_MAX + 1], power = factor;
    fmo_gradient_boys(boys, L, rho * R2, F);
    FMO_UNROLL
    for (int m = 0; m <= L; m++) {
        start[m] = op.full * power * F[m];
        power *= -2.0 * rho;
    }
    if (op.long_range == 0.0) return;
    const double square = op.omega * op.omega;
    const double root = op.omega * fmo_rsqrt(rho + square), theta = root * root;
    fmo_gradient_boys(boys, L, theta * rho * R2, F);
    power = factor * op.long_range * root;
    FMO_UNROLL
    for (int m = 0; m <= L; m++) {
        start[m] += power * F[m];
        power *= -2.0 * rho * theta;
    }
}

/* ---- shells as monomials about P ------------------------------------------------------------ */

/* Returns 1 if shells of this angular momentum may have an s shell as partner: p shells. */
FMO_HD int fmo_gradient_has_partner(int l)
{
    return l + 1 == FMO_SHELL_LOW_L_COUNT;
}
/* Returns 1 for d shells and above. */
FMO_HD int fmo_gradient_is_high(int l)
{
    return l >= FMO_SHELL_LOW_L_COUNT;
}

/* Number of the monomial that the first function of a shell (with its partner) is, and number of
 * these functions. */
FMO_HD int fmo_gradient_first(int l)
{
    return fmo_gradient_is_high(l) ? FMO_HERMITE_COUNT(l - 1) : 0;
}
FMO_HD int fmo_gradient_functions_of(int l)
{
    return FMO_HERMITE_COUNT(l) - fmo_gradient_first(l);
}
/* Index of function n of a shell in the density. */
FMO_HD int fmo_gradient_function(fmo_gradient_functions f, int l, int n)
{
    return l == 0 ? f.s : fmo_gradient_is_high(l) ? f.high + n : n ? f.high + n - 1 : f.s;
}

FMO_STATIC_ASSERT(FMO_GPU_ANG_MOM_MAX <= 3, "eri_gradient.h: binomial coefficients")

/* The coefficient of monomial m, in units of 1/2p, in function n of a shell at displacement PA from
 * its centre to P. */
FMO_HD double fmo_gradient_shift(const fmo_gradient_tables *t, int l, int m, int n,
                                 const double *PA, double half, double ratio)
{
    const int a = fmo_gradient_first(l) + n;
    double value = fmo_gradient_has_partner(l) && n == 0 ? ratio : 1.0;
    for (int x = 0; x < 3; x++) {
        const int of = t->power[a][x], kept = t->power[m][x];
        if (kept > of) return 0.0;
        if (kept > 0 && kept < of) value *= of; /* binomial coefficients up to f shells */
        for (int k = kept; k < of; k++) value *= PA[x];
        for (int k = 0; k < kept; k++) value *= half;
    }
    return value;
}

/* Computes the coefficients of all monomials of a pair's two shells. */
FMO_HD void fmo_gradient_shifts(const fmo_gradient_tables *t, const fmo_gradient_side *side,
                                double *first, double *second)
{
    const double half = 0.5 / side->prim.p;
    const int na = fmo_gradient_functions_of(side->la), nb = fmo_gradient_functions_of(side->lb);
    double PB[3];
    for (int x = 0; x < 3; x++) PB[x] = side->prim.PA[x] + side->AB[x];
    for (int k = 0; k < FMO_HERMITE_COUNT(side->la) * na; k++)
        first[k] = fmo_gradient_shift(t, side->la, k / na, k % na, side->prim.PA, half,
                                      side->prim.ratio[0]);
    for (int k = 0; k < FMO_HERMITE_COUNT(side->lb) * nb; k++)
        second[k] = fmo_gradient_shift(t, side->lb, k / nb, k % nb, PB, half, side->prim.ratio[1]);
}

/* ---- derivatives ---------------------------------------------------------------------------- */

/* An energy and its derivatives with respect to P - Q, and to P - A, P - B, Q - C and Q - D
 * (shell[0] to shell[3]). */
typedef struct fmo_gradient_partials {
    double energy, PQ[3], shell[4][3];
} fmo_gradient_partials;

/* Adds the derivative with respect to the first centre of a pair, A or C, to to[3]. side: 0 for the
 * bra, 1 for the ket, on which P - Q depends with the opposite sign. */
FMO_HD void fmo_gradient_first_centre(const fmo_gradient_prim *prim, const double *AB,
                                      const fmo_gradient_partials *partials, int side, double *to)
{
    const double b = prim->b_over_p, a = 1.0 - b, sign = side ? -1.0 : 1.0;
    FMO_UNROLL
    for (int x = 0; x < 3; x++)
        to[x] += sign * a * partials->PQ[x] - 2.0 * prim->p * a * b * AB[x] * partials->energy +
                 2.0 * prim->p *
                     (a * partials->shell[2 * side + 1][x] - b * partials->shell[2 * side][x]);
}

/* Adds weight (m_x + 1) D_(m + x, n) K_mn of a block to a shell's derivative with respect to its
 * displacement from P, for its rows or columns m of degrees below l. */
FMO_HD void fmo_gradient_add_displacement(const fmo_gradient_tables *t, int l, int m,
                                          const double *D, int stride, double K, double *to)
{
    if (m >= FMO_HERMITE_COUNT(l - 1)) return;
    for (int x = 0; x < 3; x++) to[x] += (t->power[m][x] + 1) * D[t->raised[m][x] * stride] * K;
}

/* ---- a pair in a potential ------------------------------------------------------------------ */

/* Computes the density of a primitive pair in monomials, block[a][b], from a density matrix, times
 * `factor`. */
FMO_HD void fmo_gradient_pair_density(const fmo_gradient_tables *t, const fmo_gradient_side *side,
                                      const double *D, int nao, double factor, double *block)
{
    const int rows = fmo_gradient_functions_of(side->la),
              columns = fmo_gradient_functions_of(side->lb);
    const int na = FMO_HERMITE_COUNT(side->la), nb = FMO_HERMITE_COUNT(side->lb);
    double first[FMO_GRADIENT_SHELL_MAX * FMO_GPU_FUNCTIONS_MAX];
    double second[FMO_GRADIENT_SHELL_MAX * FMO_GPU_FUNCTIONS_MAX];
    fmo_gradient_shifts(t, side, first, second);
    for (int m = 0; m < na * nb; m++) block[m] = 0.0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            const double own =
                factor * D[(size_t)fmo_gradient_function(side->a, side->la, i) * (size_t)nao +
                           (size_t)fmo_gradient_function(side->b, side->lb, j)];
            for (int m = 0; m < na; m++)
                for (int n = 0; n < nb; n++)
                    block[m * nb + n] += first[m * rows + i] * second[n * columns + j] * own;
        }
}

/* Adds the density block[a][b] of a primitive pair, expanded in Hermite functions, to H[]. */
FMO_HD void fmo_gradient_hermite(const fmo_gradient_tables *t, const fmo_gradient_side *side,
                                 const double *block, double *H)
{
    const int na = FMO_HERMITE_COUNT(side->la), nb = FMO_HERMITE_COUNT(side->lb);
    for (int m = 0; m < na; m++)
        for (int n = 0; n < nb; n++) {
            const int to = t->product[m][n];
            for (int i = t->expansion_begin[to]; i < t->expansion_begin[to + 1]; i++) {
                double factor = t->expansion[i].factor;
                for (int k = 0; k < t->expansion[i].power; k++) factor *= 2.0 * side->prim.p;
                H[t->expansion[i].to] += factor * block[m * nb + n];
            }
        }
}

/* Adds the derivatives of the energy of block[a][b] in a potential V[p], p of order la + lb + 1,
 * with respect to A, and to A and B together: to[6]. */
FMO_HD void fmo_gradient_in_potential(const fmo_gradient_tables *t, const fmo_gradient_side *side,
                                      const double *block, const double *V, int stride, double *to)
{
    const int na = FMO_HERMITE_COUNT(side->la), nb = FMO_HERMITE_COUNT(side->lb);
    fmo_gradient_partials partials;
    memset(&partials, 0, sizeof partials);
    for (int m = 0; m < na; m++)
        for (int n = 0; n < nb; n++) {
            const int monomial = t->product[m][n];
            double value[4] = {0.0, 0.0, 0.0, 0.0};
            for (int i = t->expansion_begin[monomial]; i < t->expansion_begin[monomial + 1]; i++) {
                double factor = t->expansion[i].factor;
                for (int k = 0; k < t->expansion[i].power; k++) factor *= 2.0 * side->prim.p;
                value[0] += factor * V[t->expansion[i].to * stride];
                for (int x = 0; x < 3; x++)
                    value[1 + x] += factor * V[t->raised[t->expansion[i].to][x] * stride];
            }
            partials.energy += block[m * nb + n] * value[0];
            for (int x = 0; x < 3; x++) partials.PQ[x] += block[m * nb + n] * value[1 + x];
            fmo_gradient_add_displacement(t, side->la, m, block + n, nb, value[0],
                                          partials.shell[0]);
            fmo_gradient_add_displacement(t, side->lb, n, block + m * nb, 1, value[0],
                                          partials.shell[1]);
        }
    fmo_gradient_first_centre(&side->prim, side->AB, &partials, 0, to);
    for (int x = 0; x < 3; x++) to[3 + x] += partials.PQ[x];
}

#endif
