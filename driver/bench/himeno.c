/* himeno: the Poisson equation by Jacobi sweeps in float with a 19-point stencil, after the public
 * description of R. Himeno's benchmark (RIKEN). Independent code, in which the two pressure arrays
 * are swapped instead of copied. It compares ways to reduce the residual, numbered as in Tabaru and
 * Nakahira, 2013:
 *   (1) GPU, atomics after aggregation   (2) GPU, plain atomics
 *   (3) GPU computes, CPU adds serially  (4) GPU computes, CPU adds with OpenMP
 *   (5) CPU serial                       (6) CPU, OpenMP collapse(2)
 * Next: himeno.cu; himeno_ranks.c for several GPUs. */
#define _GNU_SOURCE
#include "himeno.h"
#include "driver/base/clock.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

void himeno_check(const himeno_case *c, int64_t n, double got, double quantum, bench_check *check)
{
    const double points = (double)n * (double)himeno_weight(&c->grid);
    const double eps = c->type == BENCH_FLOAT ? FLT_EPSILON : DBL_EPSILON;
    double expected = 0.0;
    for (int64_t i = 1; i <= n; i++) expected += c->plane[i];
    /* The GPU's float atomics may flush a subnormal sum to zero. */
    if (c->type == BENCH_FLOAT) quantum += FLT_MIN;
    bench_check_bound(check, got, expected, points * (eps * expected + quantum));
}

void himeno_cell_fill(const himeno_case *c, int way, bench_cell *cell)
{
    snprintf(cell->table, sizeof cell->table, "%s residual", bench_type_name(c->type));
    snprintf(cell->column, sizeof cell->column, "%s", c->name);
    bench_cell_text(cell, "grid", c->name);
    bench_cell_text(cell, "type", bench_type_name(c->type));
    if (way) bench_cell_number(cell, "way", way);
    const double points = (double)himeno_weight(&c->grid) * (c->grid.ni - 2);
    if (c->type == BENCH_FLOAT && points * FLT_EPSILON >= 1.0)
        snprintf(cell->note, sizeof cell->note,
                 "so many floats that the bound is above 100 %%: see the error instead");
}

/* ---- CPU ----------------------------------------------------------------------------------- */

typedef struct cpu_data {
    himeno_case *c;
    double residual;
} cpu_data;

static void cpu_check(void *user, int64_t n, bench_check *check)
{
    const cpu_data *d = user;
    himeno_check(d->c, n, d->residual, 0.0, check);
}

#define CPU_FORMS(T)                                                                      \
    static double serial_##T(void *user, int64_t n)                                       \
    {                                                                                     \
        cpu_data *d = user;                                                               \
        const himeno_grid *g = &d->c->grid;                                               \
        T sum = 0;                                                                        \
        const double begin = driver_seconds();                                            \
        for (int i = 1; i <= n; i++)                                                      \
            for (int j = 1; j < g->nj - 1; j++)                                           \
                for (int k = 1; k < g->nk - 1; k++) {                                     \
                    const int64_t at = himeno_at(g, i, j, k);                             \
                    sum += himeno_point(g, at, &g->next[at]);                             \
                }                                                                         \
        d->residual = sum;                                                                \
        return driver_seconds() - begin;                                                  \
    }                                                                                     \
    static double openmp_##T(void *user, int64_t n)                                       \
    {                                                                                     \
        cpu_data *d = user;                                                               \
        const himeno_grid *g = &d->c->grid;                                               \
        const int planes = (int)n;                                                        \
        T sum = 0;                                                                        \
        const double begin = driver_seconds();                                            \
        _Pragma("omp parallel for collapse(2) schedule(static) reduction(+ : sum)") for ( \
            int i = 1; i <= planes; i++) for (int j = 1; j < g->nj - 1;                   \
                                              j++) for (int k = 1; k < g->nk - 1; k++)    \
        {                                                                                 \
            const int64_t at = himeno_at(g, i, j, k);                                     \
            sum += himeno_point(g, at, &g->next[at]);                                     \
        }                                                                                 \
        d->residual = sum;                                                                \
        return driver_seconds() - begin;                                                  \
    }
CPU_FORMS(float)
CPU_FORMS(double)

/* Measures the ways (5) and (6). */
static void run_cpu(bench_run *run, himeno_case *c)
{
    static const struct {
        const char *method;
        double (*form[2])(void *user, int64_t n);
        int way;
    } forms[] = {{"serial", {serial_float, serial_double}, 5},
                 {"openmp collapse(2)", {openmp_float, openmp_double}, 6}};
    cpu_data d = {c, 0.0};
    for (int f = 0; f < 2; f++) {
        bench_cell cell = bench_cell_make(run, BENCH_ON_CPU, forms[f].method, NULL, "points");
        himeno_cell_fill(c, forms[f].way, &cell);
        bench_cell_number(&cell, "threads", forms[f].way == 6 ? run->threads : 1);
        snprintf(cell.against, sizeof cell.against, "gpu native/native");
        bench_task task = {.user = &d,
                           .units = c->grid.ni - 2,
                           .weight = himeno_weight(&c->grid),
                           .representative = 1,
                           .run = forms[f].form[c->type == BENCH_DOUBLE],
                           .check = cpu_check};
        bench_measure(run, &cell, &task);
    }
}

/* ---- both ---------------------------------------------------------------------------------- */

static void set_grid(himeno_case *c)
{
    himeno_grid *g = &c->grid;
    g->p = c->array[0];
    g->next = c->array[1];
    for (int n = 0; n < 4; n++) g->a[n] = c->array[2 + n];
    for (int n = 0; n < 3; n++) g->b[n] = c->array[6 + n];
    for (int n = 0; n < 3; n++) g->c[n] = c->array[9 + n];
    g->bound = c->array[12];
    g->source = c->array[13];
}

static void set_start(const himeno_grid *g, float *p, bool rough)
{
    const int64_t plane = (int64_t)g->nj * g->nk;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < g->ni; i++)
        for (int64_t at = i * plane; at < (i + 1) * plane; at++)
            p[at] = himeno_pressure(i, g->ni, at, rough);
}
void himeno_start(const himeno_case *c, float *p)
{
    set_start(&c->grid, p, false);
}

static void set_values(himeno_case *c, bool rough)
{
    const int64_t points = (int64_t)c->grid.ni * c->grid.nj * c->grid.nk;
    set_start(&c->grid, c->array[0], rough);
    set_start(&c->grid, c->array[1], rough);
#pragma omp parallel for schedule(static)
    for (int64_t at = 0; at < points; at++)
        for (int n = 0; n < HIMENO_COEFFICIENTS; n++)
            c->array[2 + n][at] = himeno_coefficient(n, at, rough);
}

/* Does the sweeps before the timed one, whose pressure is left in p, and computes the residual of
 * the timed one for each plane. */
static void sweep(himeno_case *c, int64_t sweeps, double *plane)
{
    himeno_grid *g = &c->grid;
    for (int64_t s = 0; s <= sweeps; s++) {
#pragma omp parallel for schedule(static)
        for (int i = 1; i < g->ni - 1; i++) {
            double sum = 0.0;
            for (int j = 1; j < g->nj - 1; j++)
                for (int k = 1; k < g->nk - 1; k++) {
                    const int64_t at = himeno_at(g, i, j, k);
                    sum += himeno_point(g, at, &g->next[at]);
                }
            plane[i] = sum;
        }
        if (s == sweeps) break; /* this sweep is only for its residual */
        const float *p = g->p;
        g->p = g->next;
        g->next = (float *)p;
    }
}

const int *himeno_edges(bench_grid grid)
{
    static const int edges[BENCH_GRID_COUNT][3] = {
#define ROW(name, i, j, k) {i, j, k},
        BENCH_GRID_TABLE(ROW)
#undef ROW
    };
    return edges[grid];
}

/* Allocates and fills the arrays of a grid; returns false after an error. Call free_case in any
 * case. */
static bool make_case(bench_run *run, const int edge[3], bool rough, himeno_case *c)
{
    c->grid.ni = edge[0];
    c->grid.nj = edge[1];
    c->grid.nk = edge[2];
    const size_t points = (size_t)edge[0] * edge[1] * edge[2];
    for (int n = 0; n < HIMENO_ARRAYS; n++)
        c->array[n] = bench_alloc(run, points, sizeof(float), "the grid");
    if (run->err.status != FMO_OK) return false;
    set_grid(c);
    set_values(c, rough);
    return true;
}
static void free_case(himeno_case *c)
{
    for (int n = 0; n < HIMENO_ARRAYS; n++) free(c->array[n]);
}

/* Measures all ways on one grid for each type of the residual. */
static void run_grid(bench_run *run, bench_grid grid)
{
    himeno_case c = {.name = bench_grid_name(grid)};
    const int *edge = himeno_edges(grid);
    double *plane = bench_alloc(run, (size_t)edge[0], sizeof *plane, "residuals");
    if (make_case(run, edge, false, &c)) {
        sweep(&c, run->options->sweeps, plane);
        c.plane = plane;
        c.swept = c.grid.p;
        const int64_t types = 1 << BENCH_FLOAT | 1 << BENCH_DOUBLE;
        for (int type = BENCH_FLOAT; type <= BENCH_DOUBLE; type++) {
            if (!(types & bench_or(run->options->types, types) & 1 << type)) continue;
            c.type = (bench_type)type;
            if (run->cpu) run_cpu(run, &c);
            if (run->gpu) bench_himeno_gpu(run, &c);
        }
    }
    free_case(&c);
    free(plane);
}

/* Sweeps from the rough start, and hashes each plane. */
void himeno_reference(bench_run *run, const int edge[3], int64_t sweeps, uint64_t *hash)
{
    himeno_case c = {.name = ""};
    double *plane = bench_alloc(run, (size_t)edge[0], sizeof *plane, "residuals");
    if (make_case(run, edge, true, &c)) {
        const int64_t points = (int64_t)edge[1] * edge[2];
        sweep(&c, sweeps, plane);
#pragma omp parallel for schedule(static)
        for (int i = 0; i < edge[0]; i++) {
            hash[i] = 0;
            for (int64_t at = i * points; at < (i + 1) * points; at++) {
                uint32_t bits;
                memcpy(&bits, &c.grid.p[at], sizeof bits);
                hash[i] += himeno_bits_hash(bits, at);
            }
        }
    }
    free_case(&c);
    free(plane);
}

void bench_himeno(bench_run *run)
{
    if (bench_himeno_ranks(run->options)) {
        himeno_ranks(run);
        return;
    }
    for (int grid = 0; grid < BENCH_GRID_COUNT && run->err.status == FMO_OK; grid++)
        if (run->options->grids >> grid & 1) run_grid(run, (bench_grid)grid);
}
