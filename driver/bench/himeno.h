/* The grid of the himeno experiment and its stencil, with the same arithmetic on CPU and GPU: this
 * file is compiled without fused multiply-add, so that both give the same bits. */
#ifndef FMO_BENCH_HIMENO_H
#define FMO_BENCH_HIMENO_H

#include "items.h"

/* Arrays are [ni][nj][nk]; k is contiguous. */
typedef struct himeno_grid {
    int ni, nj, nk;
    const float *p;                  /* pressure */
    float *next;                     /* pressure after the sweep */
    const float *a[4], *b[3], *c[3]; /* coefficients */
    const float *bound;              /* 1 where the equation is solved */
    const float *source;
} himeno_grid;

enum { HIMENO_ARRAYS = 14 }; /* 2 of pressure, 10 of coefficients, bound, source */

typedef struct himeno_case {
    const char *name;
    bench_type type;  /* of the residual */
    himeno_grid grid; /* host */
    float *array[HIMENO_ARRAYS];
    const float *swept;  /* p after the sweeps */
    const double *plane; /* [ni] residual of each plane i of the timed sweep, in double */
} himeno_case;

/* The right-hand side at a point; its bits depend on the order of the operations. P(i, j, k) is the
 * pressure at that offset from the point; A(n), B(n) and C(n) are coefficients. */
#define HIMENO_SUM(A, B, C, P, SOURCE)                                                     \
    (A(0) * P(1, 0, 0) + A(1) * P(0, 1, 0) + A(2) * P(0, 0, 1) +                           \
     B(0) * (P(1, 1, 0) - P(1, -1, 0) - P(-1, 1, 0) + P(-1, -1, 0)) +                      \
     B(1) * (P(0, 1, 1) - P(0, -1, 1) - P(0, 1, -1) + P(0, -1, -1)) +                      \
     B(2) * (P(1, 0, 1) - P(-1, 0, 1) - P(1, 0, -1) + P(-1, 0, -1)) + C(0) * P(-1, 0, 0) + \
     C(1) * P(0, -1, 0) + C(2) * P(0, 0, -1) + SOURCE)

/* Computes p after the sweep, with omega = 0.8; returns the point's term of the residual. */
BENCH_HD float himeno_update(float sum, float a3, float bound, float p, float *next)
{
    const float omega = 0.8f;
    const float ss = (sum * a3 - p) * bound;
    *next = p + omega * ss;
    return ss * ss;
}

/* Updates one point; returns its term of the residual. */
BENCH_HD float himeno_point(const himeno_grid *g, int64_t at, float *next)
{
    const int64_t di = (int64_t)g->nj * g->nk, dj = g->nk;
    const float *p = g->p + at;
#define A(n)       g->a[n][at]
#define B(n)       g->b[n][at]
#define C(n)       g->c[n][at]
#define P(i, j, k) p[(i)*di + (j)*dj + (k)]
    return himeno_update(HIMENO_SUM(A, B, C, P, g->source[at]), A(3), g->bound[at], p[0], next);
#undef A
#undef B
#undef C
#undef P
}

/* Initial values. As published: p = (i/(ni-1))^2, a = 1, 1, 1, 1/6, b = 0, c = 1, bound = 1, source
 * = 0. With `rough`, each value is altered by up to 1/16, so that reading a wrong neighbour changes
 * the bits. */
BENCH_HD float himeno_alter(float value, int array, int64_t at, bool rough)
{
    if (!rough) return value;
    const int32_t noise = (int32_t)(bench_hash((uint64_t)array, (uint64_t)at) >> 48) - 32768;
    return value + (float)noise * 0x1p-19f;
}
BENCH_HD float himeno_pressure(int i, int ni, int64_t at, bool rough)
{
    const float x = (float)i / (float)(ni - 1);
    return himeno_alter(x * x, 0, at, rough);
}
enum { HIMENO_COEFFICIENTS = HIMENO_ARRAYS - 2 };
BENCH_HD float himeno_coefficient(int n, int64_t at, bool rough)
{
    const float value = n == 3 ? 1.0f / 6 : n < 3 || (n >= 7 && n < 11) ? 1.0f : 0.0f;
    return himeno_alter(value, n + 1, at, rough);
}

/* Hash of the bits of a point; planes are compared by its sum over their points. */
BENCH_HD uint64_t himeno_bits_hash(uint32_t bits, int64_t at)
{
    return bench_hash(bits, (uint64_t)at);
}

BENCH_HD int64_t himeno_at(const himeno_grid *g, int i, int j, int k)
{
    return ((int64_t)i * g->nj + j) * g->nk + k;
}

#ifdef __cplusplus
extern "C" {
#endif

/** Compares the residual of the first n planes with the sum of the same terms in double: within
 *  points x eps x residual, plus `quantum` for each point. */
void himeno_check(const himeno_case *c, int64_t n, double got, double quantum, bench_check *check);

/** Sets table, column and parameters of a cell. way: 1 to 6 as in the paper, 0 for none of them. */
void himeno_cell_fill(const himeno_case *c, int way, bench_cell *cell);

/** Sets the pressure before any sweep, [ni][nj][nk]. */
void himeno_start(const himeno_case *c, float *p);

/** Computes a hash [ni] of each plane's pressure after sweeps from the rough start. */
void himeno_reference(bench_run *run, const int edge[3], int64_t sweeps, uint64_t *hash);

/** Returns the numbers of points i, j, k of a grid. */
const int *himeno_edges(bench_grid grid);

/** Runs the same sweeps on several GPUs (himeno_ranks.c). */
void himeno_ranks(bench_run *run);

/** Number of interior points of a plane. */
static inline int64_t himeno_weight(const himeno_grid *g)
{
    return (int64_t)(g->nj - 2) * (g->nk - 2);
}

#ifdef __cplusplus
}
#endif
#endif
