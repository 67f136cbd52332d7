/* The grid of the himeno experiment and its stencil, the same arithmetic on CPU and GPU: this file
 * is compiled without fused multiply-add, so that both give the same bits. */
#ifndef FMO_BENCH_HIMENO_H
#define FMO_BENCH_HIMENO_H

#include "items.h"

/* Arrays are [ni][nj][nk]; k is contiguous. */
typedef struct himeno_grid {
    int ni, nj, nk;
    const float *p;                  /* pressure */
    float *next;                     /* after the sweep */
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
    const double *plane; /* [ni] residual of each plane i of the sweep that is timed, in double */
} himeno_case;

/* One point: p after the sweep, and its term of the residual. omega = 0.8. */
BENCH_HD float himeno_point(const himeno_grid *g, int64_t at, float *next)
{
    const int64_t di = (int64_t)g->nj * g->nk, dj = g->nk;
    const float *p = g->p + at, omega = 0.8f;
    const float s0 = g->a[0][at] * p[di] + g->a[1][at] * p[dj] + g->a[2][at] * p[1] +
                     g->b[0][at] * (p[di + dj] - p[di - dj] - p[-di + dj] + p[-di - dj]) +
                     g->b[1][at] * (p[dj + 1] - p[-dj + 1] - p[dj - 1] + p[-dj - 1]) +
                     g->b[2][at] * (p[di + 1] - p[-di + 1] - p[di - 1] + p[-di - 1]) +
                     g->c[0][at] * p[-di] + g->c[1][at] * p[-dj] + g->c[2][at] * p[-1] +
                     g->source[at];
    const float ss = (s0 * g->a[3][at] - p[0]) * g->bound[at];
    *next = p[0] + omega * ss;
    return ss * ss;
}

BENCH_HD int64_t himeno_at(const himeno_grid *g, int i, int j, int k)
{
    return ((int64_t)i * g->nj + j) * g->nk + k;
}

#ifdef __cplusplus
extern "C" {
#endif

/** Compare the residual of the first n planes with the sum in double of the same terms: within
 *  points x eps x residual, plus `quantum` a point. */
void himeno_check(const himeno_case *c, int64_t n, double got, double quantum, bench_check *check);

/** Table, column and parameters of a cell; way: 1 to 6 of the paper, 0 for none of them. */
void himeno_cell_fill(const himeno_case *c, int way, bench_cell *cell);

/** The pressure before any sweep, [ni][nj][nk]. */
void himeno_start(const himeno_case *c, float *p);

/** Points of a plane that are solved for. */
static inline int64_t himeno_weight(const himeno_grid *g)
{
    return (int64_t)(g->nj - 2) * (g->nk - 2);
}

#ifdef __cplusplus
}
#endif
#endif
