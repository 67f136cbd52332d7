/* Derivatives of the exchange energy of primitive quartets, and of the Coulomb energy of primitive
 * pairs in a potential, for density matrices that are folded in first
 * (docs/explanation/gradients.md). For host and device: the functions are called by `lanes`
 * threads together, each with its own `lane`, which share the memory `work`; FMO_GRADIENT_SYNC
 * makes the threads wait for each other. On the host there is one.
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

/* Waits for the `lanes` threads of a warp that call together, a power of two. */
#if defined(__CUDA_ARCH__)
#define FMO_GRADIENT_SYNC(lanes)               \
    __syncwarp((0xffffffffu >> (32 - (lanes))) \
               << (threadIdx.x % 32 / (unsigned)(lanes) * (unsigned)(lanes)))
#else
#define FMO_GRADIENT_SYNC(lanes) (void)0
#endif

enum {
    FMO_GRADIENT_ORDER_MAX = FMO_ERI_UNROLLED_ORDER_MAX + 1,
    FMO_GRADIENT_R_MAX = FMO_HERMITE_COUNT(FMO_ERI_UNROLLED_ORDER_MAX + 1),
    /* monomials of one shell, of a pair, and of a pair's derivative; functions of a shell */
    FMO_GRADIENT_SHELL_MAX = FMO_HERMITE_COUNT(FMO_UNROLLED_ANG_MOM_MAX),
    FMO_GRADIENT_PAIR_MAX = FMO_HERMITE_COUNT(FMO_PAIR_UNROLLED_ORDER_MAX),
    FMO_GRADIENT_RAISED_MAX = FMO_HERMITE_COUNT(FMO_PAIR_UNROLLED_ORDER_MAX + 1),
    FMO_GRADIENT_EXPANSIONS_MAX = 2 * FMO_GRADIENT_PAIR_MAX + 1,
    FMO_GRADIENT_SPLITS_MAX = FMO_GRADIENT_SHELL_MAX * FMO_GRADIENT_SHELL_MAX
};

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
    /* R_tuv from those one and two orders lower along an axis (fmo_md_derivatives) */
    struct {
        unsigned char axis, below, one, two;
    } step[FMO_GRADIENT_R_MAX];
    unsigned char product[FMO_GRADIENT_RAISED_MAX][FMO_GRADIENT_PAIR_MAX]; /* of two monomials */
    unsigned char power[FMO_GRADIENT_PAIR_MAX][3], order[FMO_GRADIENT_PAIR_MAX];
    unsigned char raised[FMO_GRADIENT_PAIR_MAX][3]; /* multiplied by x, y or z */
    unsigned char expansion_begin[FMO_GRADIENT_PAIR_MAX + 1];
    fmo_gradient_expansion expansion[FMO_GRADIENT_EXPANSIONS_MAX];
    /* The ways to divide a monomial of a pair over its two shells, for each pair class */
    unsigned char split_begin[FMO_PAIR_UNROLLED_COUNT][FMO_GRADIENT_PAIR_MAX + 1];
    unsigned char split[FMO_PAIR_UNROLLED_COUNT][FMO_GRADIENT_SPLITS_MAX][2];
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
    const fmo_gradient_tables *tables;
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

/* Computes R_tuv to order L from `start`, level by level; work[2][count]. Returns the half in which
 * they are. */
FMO_HD double *fmo_gradient_derivatives(const fmo_gradient_tables *t, int L, const double *start,
                                        const double *PQ, double *work, int lane, int lanes)
{
    const int count = FMO_HERMITE_COUNT(L);
    double *from = work, *to = work + count;
    if (lane == 0) to[0] = start[L];
    for (int m = L - 1; m >= 0; m--) {
        double *const swap = from;
        from = to;
        to = swap;
        FMO_GRADIENT_SYNC(lanes);
        const int num = FMO_HERMITE_COUNT(L - m);
        for (int k = lane; k < num; k += lanes) {
            if (k == 0) {
                to[0] = start[m];
                continue;
            }
            const int x = t->step[k].axis;
            double value = (x == 0 ? PQ[0] : x == 1 ? PQ[1] : PQ[2]) * from[t->step[k].one];
            if (t->step[k].below) value += t->step[k].below * from[t->step[k].two];
            to[k] = value;
        }
    }
    FMO_GRADIENT_SYNC(lanes);
    return to;
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
        if (of - kept == 2)
            value *= PA[x] * PA[x];
        else if (of - kept == 1)
            value *= of * PA[x];
        for (int k = 0; k < kept; k++) value *= half;
    }
    return value;
}

/* The offsets of the arrays in `work`. */
typedef struct fmo_gradient_layout {
    int monomials[4], functions[4], pair[2];
    int r, integral, shift[4], half_transformed[4], block[4], all;
} fmo_gradient_layout;

/* Shells (0 to 3: A to D) of the rows and of the columns of a block of the density: AC, AD, BC,
 * BD. */
FMO_HD int fmo_gradient_row_of(int block)
{
    return block / 2;
}
FMO_HD int fmo_gradient_column_of(int block)
{
    return 2 + block % 2;
}

/* The layout for a class; `all` is the size of `work`. */
FMO_HD fmo_gradient_layout fmo_gradient_layout_of(int la, int lb, int lc, int ld)
{
    const int l[4] = {la, lb, lc, ld}, order = la + lb + lc + ld + 1;
    fmo_gradient_layout at;
    for (int s = 0; s < 4; s++) {
        at.monomials[s] = FMO_HERMITE_COUNT(l[s]);
        at.functions[s] = fmo_gradient_functions_of(l[s]);
    }
    at.pair[0] = FMO_HERMITE_COUNT(la + lb);
    at.pair[1] = FMO_HERMITE_COUNT(lc + ld);
    at.r = 0;
    at.integral = 2 * FMO_HERMITE_COUNT(order);
    at.all = at.integral + at.pair[0] * at.pair[1];
    for (int s = 0; s < 4; s++) {
        at.shift[s] = at.all;
        at.all += at.monomials[s] * at.functions[s];
    }
    for (int b = 0; b < 4; b++) {
        const int row = fmo_gradient_row_of(b), column = fmo_gradient_column_of(b);
        at.half_transformed[b] = at.all;
        at.block[b] = at.all + at.monomials[row] * at.functions[column];
        at.all = at.block[b] + at.monomials[row] * at.monomials[column];
    }
    return at;
}

/* Computes the coefficients of all monomials of a pair's two shells. */
FMO_HD void fmo_gradient_shifts(const fmo_gradient_tables *t, const fmo_gradient_side *side,
                                double *first, double *second, int lane, int lanes)
{
    const double half = 0.5 / side->prim.p;
    const int na = fmo_gradient_functions_of(side->la), nb = fmo_gradient_functions_of(side->lb);
    double PB[3];
    for (int x = 0; x < 3; x++) PB[x] = side->prim.PA[x] + side->AB[x];
    for (int k = lane; k < FMO_HERMITE_COUNT(side->la) * na; k += lanes)
        first[k] = fmo_gradient_shift(t, side->la, k / na, k % na, side->prim.PA, half,
                                      side->prim.ratio[0]);
    for (int k = lane; k < FMO_HERMITE_COUNT(side->lb) * nb; k += lanes)
        second[k] = fmo_gradient_shift(t, side->lb, k / nb, k % nb, PB, half, side->prim.ratio[1]);
}

/* Transforms the four blocks of a density to monomials. */
FMO_HD void fmo_gradient_blocks(const fmo_gradient_quartet *z, const double *D,
                                const fmo_gradient_layout *at, double *work, int lane, int lanes)
{
    const fmo_gradient_functions f[4] = {z->bra.a, z->bra.b, z->ket.a, z->ket.b};
    const int l[4] = {z->bra.la, z->bra.lb, z->ket.la, z->ket.lb};
    FMO_GRADIENT_SYNC(lanes);
    for (int b = 0; b < 4; b++) {
        const int row = b / 2, column = 2 + b % 2, rows = at->functions[row];
        const int columns = at->functions[column];
        const double *const shift = work + at->shift[row];
        for (int k = lane; k < at->monomials[row] * columns; k += lanes) {
            const int m = k / columns;
            const double *const from = D + fmo_gradient_function(f[column], l[column], k % columns);
            double sum = 0.0;
            for (int n = 0; n < rows; n++)
                sum += shift[m * rows + n] *
                       from[(size_t)fmo_gradient_function(f[row], l[row], n) * (size_t)z->nao];
            work[at->half_transformed[b] + k] = sum;
        }
    }
    FMO_GRADIENT_SYNC(lanes);
    for (int b = 0; b < 4; b++) {
        const int row = b / 2, column = 2 + b % 2, num = at->monomials[column];
        const int columns = at->functions[column];
        for (int k = lane; k < at->monomials[row] * num; k += lanes) {
            const double *const from = work + at->half_transformed[b] + k / num * columns;
            const double *const shift = work + at->shift[column] + k % num * columns;
            double sum = 0.0;
            for (int n = 0; n < columns; n++) sum += shift[n] * from[n];
            work[at->block[b] + k] = sum;
        }
    }
    FMO_GRADIENT_SYNC(lanes);
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

/* Computes the integral of monomials m of the bra and k of the ket, and its derivatives with
 * respect to P: value[4]. */
FMO_HD void fmo_gradient_integral(const fmo_gradient_quartet *z, const double *r, int m, int k,
                                  double *value)
{
    const fmo_gradient_tables *const t = z->tables;
    const double twice[2] = {2.0 * z->bra.prim.p, 2.0 * z->ket.prim.p};
    for (int x = 0; x < 4; x++) value[x] = 0.0;
    for (int i = t->expansion_begin[m]; i < t->expansion_begin[m + 1]; i++) {
        const fmo_gradient_expansion p = t->expansion[i];
        double of_bra = p.factor;
        for (int n = 0; n < p.power; n++) of_bra *= twice[0];
        for (int j = t->expansion_begin[k]; j < t->expansion_begin[k + 1]; j++) {
            const fmo_gradient_expansion q = t->expansion[j];
            double factor = t->order[q.to] % 2 ? -of_bra : of_bra;
            factor *= q.factor;
            for (int n = 0; n < q.power; n++) factor *= twice[1];
            value[0] += factor * r[t->product[p.to][q.to]];
            for (int x = 0; x < 3; x++)
                value[1 + x] += factor * r[t->product[t->raised[p.to][x]][q.to]];
        }
    }
}

/* Adds the energy of one density and its derivative with respect to P - Q, and stores the integrals
 * over monomials in `work`. */
FMO_HD void fmo_gradient_energy(const fmo_gradient_quartet *z, double weight, const double *r,
                                const fmo_gradient_layout *at, double *work, int lane, int lanes,
                                fmo_gradient_partials *partials)
{
    const fmo_gradient_tables *const t = z->tables;
    const int kets = at->pair[1], nc = at->monomials[2], nd = at->monomials[3];
    const double *const ac = work + at->block[0], *const ad = work + at->block[1];
    const double *const bc = work + at->block[2], *const bd = work + at->block[3];
    const unsigned char(*const of_bra)[2] = t->split[z->bra.pair_class];
    const unsigned char(*const of_ket)[2] = t->split[z->ket.pair_class];
    for (int mk = lane; mk < at->pair[0] * kets; mk += lanes) {
        const int m = mk / kets, k = mk % kets;
        double value[4], density = 0.0;
        fmo_gradient_integral(z, r, m, k, value);
        for (int i = t->split_begin[z->bra.pair_class][m];
             i < t->split_begin[z->bra.pair_class][m + 1]; i++) {
            const int a = of_bra[i][0], b = of_bra[i][1];
            for (int j = t->split_begin[z->ket.pair_class][k];
                 j < t->split_begin[z->ket.pair_class][k + 1]; j++) {
                const int c = of_ket[j][0], d = of_ket[j][1];
                density += ac[a * nc + c] * bd[b * nd + d] + ad[a * nd + d] * bc[b * nc + c];
            }
        }
        density *= weight;
        work[at->integral + mk] = value[0];
        partials->energy += density * value[0];
        for (int x = 0; x < 3; x++) partials->PQ[x] += density * value[1 + x];
    }
}

/* Adds weight (m_x + 1) D_(m + x, n) K_mn of a block to a shell's derivative with respect to its
 * displacement from P, for its rows or columns m of degrees below l. */
FMO_HD void fmo_gradient_add_displacement(const fmo_gradient_tables *t, int l, int m,
                                          const double *D, int stride, double K, double *to)
{
    if (m >= FMO_HERMITE_COUNT(l - 1)) return;
    for (int x = 0; x < 3; x++) to[x] += (t->power[m][x] + 1) * D[t->raised[m][x] * stride] * K;
}

/* Adds the derivatives with respect to the shells' displacements from P and Q: of every block of D
 * with the integrals contracted with the block of the other two shells, which are `other`. */
FMO_HD void fmo_gradient_displacements(const fmo_gradient_quartet *z, double weight,
                                       const fmo_gradient_layout *at, const double *work, int lane,
                                       int lanes, fmo_gradient_partials *partials)
{
    const fmo_gradient_tables *const t = z->tables;
    const int l[4] = {z->bra.la, z->bra.lb, z->ket.la, z->ket.lb};
    const double *const integral = work + at->integral;
    FMO_GRADIENT_SYNC(lanes);
    FMO_UNROLL
    for (int b = 0; b < 4; b++) {
        const int row = b / 2, column = 2 + b % 2, other_row = 1 - row, other_column = 5 - column;
        const int rows = at->monomials[row], columns = at->monomials[column];
        const double *const D = work + at->block[b], *const other = work + at->block[3 - b];
        for (int k = lane; k < rows * columns; k += lanes) {
            const int m = k / columns, n = k % columns;
            double K = 0.0;
            if (m >= FMO_HERMITE_COUNT(l[row] - 1) && n >= FMO_HERMITE_COUNT(l[column] - 1))
                continue;
            for (int i = 0; i < at->monomials[other_row]; i++) {
                const double *const from = integral + t->product[m][i] * at->pair[1];
                const double *const of = other + i * at->monomials[other_column];
                for (int j = 0; j < at->monomials[other_column]; j++)
                    K += of[j] * from[t->product[n][j]];
            }
            K *= weight;
            fmo_gradient_add_displacement(t, l[row], m, D + n, columns, K, partials->shell[row]);
            fmo_gradient_add_displacement(t, l[column], n, D + m * columns, 1, K,
                                          partials->shell[column]);
        }
    }
}

/* Adds the derivatives of sum weight (D_ac D_bd + D_ad D_bc) (ab|cd) of a primitive quartet with
 * respect to A, to A and B together, and to C: to[9], a part of them in each lane. */
FMO_HD_ONCE void fmo_gradient_exchange(const fmo_gradient_quartet *z, double *work, int lane,
                                       int lanes, double *to)
{
    const int order = z->bra.la + z->bra.lb + z->ket.la + z->ket.lb + 1;
    const fmo_gradient_layout at =
        fmo_gradient_layout_of(z->bra.la, z->bra.lb, z->ket.la, z->ket.lb);
    const double p = z->bra.prim.p, q = z->ket.prim.p, rs = fmo_rsqrt(p + q);
    fmo_gradient_partials partials;
    double start[FMO_GRADIENT_ORDER_MAX + 1], PQ[3], R2 = 0.0;
    memset(&partials, 0, sizeof partials);
    for (int x = 0; x < 3; x++) {
        PQ[x] = z->AC[x] + (z->bra.prim.PA[x] - z->ket.prim.PA[x]);
        R2 += PQ[x] * PQ[x];
    }
    fmo_gradient_start(z->boys, z->op, order, p * q * (rs * rs), R2,
                       rs * z->bra.prim.k * z->ket.prim.k, start);
    FMO_GRADIENT_SYNC(lanes); /* for the quartet before */
    const double *const r =
        fmo_gradient_derivatives(z->tables, order, start, PQ, work + at.r, lane, lanes);
    fmo_gradient_shifts(z->tables, &z->bra, work + at.shift[0], work + at.shift[1], lane, lanes);
    fmo_gradient_shifts(z->tables, &z->ket, work + at.shift[2], work + at.shift[3], lane, lanes);
    for (int n = 0; n < z->term_num; n++) {
        fmo_gradient_blocks(z, z->term[n].D, &at, work, lane, lanes);
        fmo_gradient_energy(z, z->term[n].weight, r, &at, work, lane, lanes, &partials);
        fmo_gradient_displacements(z, z->term[n].weight, &at, work, lane, lanes, &partials);
    }
    fmo_gradient_first_centre(&z->bra.prim, z->bra.AB, &partials, 0, to);
    for (int x = 0; x < 3; x++) to[3 + x] += partials.PQ[x];
    /* the ket's 2q replaces 2p in its own derivatives */
    fmo_gradient_first_centre(&z->ket.prim, z->ket.AB, &partials, 1, to + 6);
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
    double first[FMO_GRADIENT_SHELL_MAX * FMO_UNROLLED_FUNCTIONS_MAX];
    double second[FMO_GRADIENT_SHELL_MAX * FMO_UNROLLED_FUNCTIONS_MAX];
    fmo_gradient_shifts(t, side, first, second, 0, 1);
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
