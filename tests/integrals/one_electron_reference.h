/* Long double references for one_electron.c: S and T by Gauss-Hermite quadrature along
 * the three axes (exact for these integrands), T with the Laplacian taken analytically, V by
 * McMurchie and Davidson, charge by charge. */
#ifndef FMO_TESTS_ONE_ELECTRON_REFERENCE_H
#define FMO_TESTS_ONE_ELECTRON_REFERENCE_H

#define FMO_REF_REAL long double
#include "integrals/eri/eri_reference.inc"

#include "tests/support/calls.h"
#include "tests/support/system.h"

typedef long double real;

/* Nodes and weights for int exp(-x^2) f(x) dx with `num` nodes, exact for polynomials up to degree
 * 2 num - 1: the kinetic energy of two g functions has x^10. */
enum { NODES_MAX = FMO_ANG_MOM_MAX + 2 };
typedef struct quadrature {
    int num;
    real node[NODES_MAX], weight[NODES_MAX];
} quadrature;
static quadrature quadratures[NODES_MAX + 1]; /* by number of nodes */

/* The Hermite polynomial H_n(x). */
static real hermite_polynomial(int n, real x)
{
    real last = 0, now = 1;
    for (int k = 0; k < n; k++) {
        const real next = 2 * x * now - 2 * k * last;
        last = now;
        now = next;
    }
    return now;
}

/* Computes nodes, by bisection between those of the rule with one node less, and weights; and
 * checks them by the moments. */
static void make_quadrature(void)
{
    const real pi = acosl(-1.0L);
    for (int n = 1; n <= NODES_MAX; n++) {
        quadrature *const to = &quadratures[n];
        const quadrature *const before = &quadratures[n - 1];
        real factor = sqrtl(pi) / n; /* 2^(n-1) n! sqrt(pi) / n^2 */
        to->num = n;
        for (int k = 1; k < n; k++) factor *= 2 * k;
        for (int s = 0; s < n; s++) {
            real low = s ? before->node[s - 1] : -sqrtl(2 * n + 1);
            real high = s < n - 1 ? before->node[s] : sqrtl(2 * n + 1);
            const int sign = hermite_polynomial(n, low) > 0 ? 1 : -1;
            for (int k = 0; k < 80; k++) {
                const real middle = (low + high) / 2;
                if (sign * hermite_polynomial(n, middle) > 0)
                    low = middle;
                else
                    high = middle;
            }
            to->node[s] = (low + high) / 2;
            const real H = hermite_polynomial(n - 1, to->node[s]);
            to->weight[s] = factor / (H * H);
        }
        for (int degree = 0; degree < 2 * n; degree += 2) { /* int x^d = Gamma((d+1)/2) */
            real sum = 0;
            for (int k = 0; k < n; k++) sum += to->weight[k] * powl(to->node[k], degree);
            const real expected = tgammal((degree + 1) * 0.5L);
            CHECK(fabsl(sum / expected - 1) < 1e-17L, "%d nodes, x^%d: %.20Lg, %.20Lg", n, degree,
                  sum, expected);
        }
    }
}

typedef struct values {
    real S, T, V, D[3]; /* integrals */
    /* The scale of errors: sums of absolute values, each times 1 + ab/p |AB|^2, the condition
     * number of the exponential; for T the size of ab/p (3 - 2 ab/p |AB|^2) S. */
    real size_S, size_T, size_V, size_D[3];
} values;

/* Point charges of a potential. */
typedef struct charges {
    int num;
    const double *charge, *coord;
} charges;

static real power(real x, int n)
{
    real y = 1;
    while (n-- > 0) y *= x;
    return y;
}

/* d^2/dx^2 x^l exp(-b x^2) over exp(-b x^2), and the sum of absolute values of its terms */
static real second(real x, int l, real b, real *size)
{
    const real low = l > 1 ? l * (l - 1) * power(x, l - 2) : 0;
    const real same = 2 * b * (2 * l + 1) * power(x, l), high = 4 * b * b * power(x, l + 2);
    *size = fabsl(low) + fabsl(same) + fabsl(high);
    return low - same + high;
}

static const double origin[3] = {0.4, -1.5, 2.2}; /* of dipole moments */

/* A primitive: its centre, angular momentum, component and exponent. */
typedef struct primitive {
    const double *at;
    int l, component;
    real exponent;
} primitive;

static primitive primitive_of(const test_system *s, int prim, int f)
{
    const int shell = s->ao_shell[f];
    return (primitive){s->coord + 3 * s->nucleus[shell], s->ang_mom[shell], s->ao_component[f],
                       s->exponent[prim]};
}

/* Integrals along one axis over a product of two primitives, without their common factor: overlap,
 * dipole moment and second derivative of the ket, and the sums of the absolute values. */
typedef struct line {
    real S, D, second, size_S, size_D, size_second;
} line;

/* By quadrature. PA, PB: the product's centre from those of the primitives, of powers pa and pb;
 * b: exponent of the ket; from: the product's centre from the origin, and `size` of that. */
static line line_of(const quadrature *by, real p, real b, real PA, real PB, int pa, int pb,
                    real from, real size)
{
    line z = {0};
    for (int n = 0; n < by->num; n++) {
        const real u = by->node[n] / sqrtl(p), bra = by->weight[n] / sqrtl(p) * power(u + PA, pa);
        const real overlap = bra * power(u + PB, pb);
        real size_second;
        z.S += overlap;
        z.size_S += fabsl(overlap);
        z.D += overlap * (u + from);
        z.size_D += fabsl(overlap) * (fabsl(u) + size);
        z.second += bra * second(u + PB, pb, b, &size_second);
        z.size_second += fabsl(bra) * size_second;
    }
    return z;
}

/* Adds the integrals of a pair of primitives, times a factor. */
static void add_primitives(const charges *field, primitive bra_prim, primitive ket_prim,
                           real factor, values *v)
{
    const double *const A = bra_prim.at, *const B = ket_prim.at;
    const int la = bra_prim.l, lb = ket_prim.l;
    const real a = bra_prim.exponent, b = ket_prim.exponent;
    const real pi = acosl(-1.0L), p = a + b;
    real P[3], PA[3], PB[3], r2 = 0, E[3][ERI_REF_POWERS][ERI_REF_POWERS][ERI_REF_HERMITE];
    int pa[3], pb[3];
    for (int x = 0; x < 3; x++) {
        const real AB = (real)A[x] - B[x];
        r2 += AB * AB;
        PA[x] = -b / p * AB;
        PB[x] = a / p * AB;
        P[x] = A[x] + PA[x];
        pa[x] = fmo_shell_power(la, bra_prim.component, x);
        pb[x] = fmo_shell_power(lb, ket_prim.component, x);
        eri_reference_hermite(la, lb, PA[x], PB[x], p, E[x]);
    }
    const real exponent = a * b / p * r2, condition = 1 + exponent;
    factor *= expl(-exponent);
    line along[3];
    for (int x = 0; x < 3; x++)
        along[x] = line_of(&quadratures[(la + lb + 4) / 2], p, b, PA[x], PB[x], pa[x], pb[x],
                           P[x] - origin[x], fabsl(PB[x]) + fabsl((real)B[x] - origin[x]));
    v->S += factor * along[0].S * along[1].S * along[2].S;
    const real size = fabsl(factor) * along[0].size_S * along[1].size_S * along[2].size_S;
    v->size_S += condition * size;
    v->size_T += condition * size * a * b / p * (3 + 2 * (la + lb) + 2 * exponent);
    for (int x = 0; x < 3; x++) {
        const line *const y = &along[(x + 1) % 3], *const z = &along[(x + 2) % 3];
        const real others = factor * y->S * z->S,
                   size_others = fabsl(factor) * y->size_S * z->size_S;
        v->D[x] += others * along[x].D;
        v->size_D[x] += condition * size_others * along[x].size_D;
        v->T -= others * along[x].second / 2;
        v->size_T += 1e-5L * size_others * along[x].size_second; /* rounding of the reference */
    }
    for (int c = 0; c < field->num; c++) {
        static eri_reference_work work;
        real PC[3];
        for (int x = 0; x < 3; x++) PC[x] = P[x] - field->coord[3 * c + x];
        eri_reference_coulomb((fmo_operator){0}, la + lb, p, PC, &work);
        for (int t = 0; t <= pa[0] + pb[0]; t++)
            for (int u = 0; u <= pa[1] + pb[1]; u++)
                for (int w = 0; w <= pa[2] + pb[2]; w++) {
                    const real term = -field->charge[c] * 2 * pi / p * factor *
                                      E[0][pa[0]][pb[0]][t] * E[1][pa[1]][pb[1]][u] *
                                      E[2][pa[2]][pb[2]][w] * work.R[t][u][w];
                    v->V += term;
                    v->size_V += condition * fabsl(term);
                }
    }
}

/* Element (f, g) of the caller's functions. */
static values reference(const test_system *s, const charges *field, int f, int g)
{
    const int A = s->ao_shell[f], B = s->ao_shell[g];
    values v = {0};
    for (int k = 0; k < s->prims; k++)
        for (int l = 0; l < s->prims; l++)
            if (s->prim_shell[k] == A && s->prim_shell[l] == B)
                add_primitives(field, primitive_of(s, k, f), primitive_of(s, l, g),
                               (real)s->coefficient[k] * s->coefficient[l] * s->ao_factor[f] *
                                   s->ao_factor[g],
                               &v);
    return v;
}

#endif
