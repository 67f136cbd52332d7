/* interchange: b[j] += a[i][j] with either loop outside, and with a stored by rows or by columns.
 * Published on a Tesla C1060. On a GPU, threads take the outer loop: with j outside, a thread owns
 * b[j]; with i outside, all threads of a warp add to the same b[j], a scatter-add through the
 * strategies. It shows the effects of coalescing and of ownership. Next: interchange.cu. */
#define _GNU_SOURCE
#include "interchange.h"
#include "driver/base/clock.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static void sum_columns(const interchange_case *c)
{
    const int64_t edge = c->edge;
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < edge; j++) {
        double sum = 0.0;
        for (int64_t i = 0; i < edge; i++) sum += interchange_value(c->seed, edge, i, j);
        c->sum[j] = sum;
    }
}

void interchange_check(const interchange_case *c, int64_t n, const double *b, double quantum,
                       bench_check *check)
{
    for (int64_t j = 0; j < n; j++)
        bench_check_bound(check, b[j], c->sum[j],
                          (double)c->edge * (DBL_EPSILON * c->sum[j] + quantum));
}

void interchange_cell_fill(const interchange_case *c, bool by_rows, bench_cell *cell)
{
    const size_t used = strlen(cell->row);
    snprintf(cell->row + used, sizeof cell->row - used, ", by %s", by_rows ? "rows" : "columns");
    snprintf(cell->table, sizeof cell->table, "b[j] += a[i][j], by edge");
    bench_format_count(c->edge, cell->column, sizeof cell->column);
    bench_cell_number(cell, "edge", (double)c->edge);
    bench_cell_text(cell, "storage", by_rows ? "rows" : "columns");
}

typedef struct cpu_data {
    const interchange_case *c;
    const double *a;
    double *b;
    bool by_rows, i_outside;
} cpu_data;

static void cpu_prepare(void *user, int64_t n)
{
    const cpu_data *d = user;
    (void)n;
    memset(d->b, 0, (size_t)d->c->edge * sizeof *d->b);
}
static void cpu_check(void *user, int64_t n, bench_check *check)
{
    const cpu_data *d = user;
    interchange_check(d->c, n, d->b, 0.0, check);
}

/* Adds the first n columns of a; returns seconds. */
static double cpu_loops(void *user, int64_t n)
{
    const cpu_data *d = user;
    const int64_t edge = d->c->edge;
    const int64_t step_i = d->by_rows ? edge : 1, step_j = d->by_rows ? 1 : edge;
    const double *a = d->a;
    double *b = d->b;
    const double begin = driver_seconds();
    if (d->i_outside) {
        for (int64_t i = 0; i < edge; i++)
            for (int64_t j = 0; j < n; j++) b[j] += a[i * step_i + j * step_j];
    } else {
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < edge; i++) b[j] += a[i * step_i + j * step_j];
    }
    return driver_seconds() - begin;
}

/* Measures both loop orders with both storage orders. */
static void run_cpu(bench_run *run, const interchange_case *c)
{
    double *a = bench_alloc(run, (size_t)(c->edge * c->edge), sizeof *a, "the matrix");
    double *b = bench_alloc(run, (size_t)c->edge, sizeof *b, "b");
    for (int by_rows = 1; by_rows >= 0 && run->err.status == FMO_OK; by_rows--) {
        const int64_t edge = c->edge;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < edge; i++)
            for (int64_t j = 0; j < edge; j++)
                a[interchange_at(edge, by_rows, i, j)] = interchange_value(c->seed, edge, i, j);
        for (int i_outside = 0; i_outside < 2; i_outside++) {
            cpu_data d = {c, a, b, by_rows, i_outside};
            bench_cell cell = bench_cell_make(run, BENCH_ON_CPU,
                                              i_outside ? "i outside" : "j outside", NULL, "adds");
            interchange_cell_fill(c, by_rows, &cell);
            bench_task task = {.user = &d,
                               .units = edge,
                               .weight = edge,
                               .representative = 64,
                               .prepare = cpu_prepare,
                               .run = cpu_loops,
                               .check = cpu_check};
            bench_measure(run, &cell, &task);
        }
    }
    free(a);
    free(b);
}

void bench_interchange(bench_run *run)
{
    const bench_options *o = run->options;
    for (int e = 0; e < o->edges.count && run->err.status == FMO_OK; e++) {
        interchange_case c = {.edge = o->edges.value[e], .seed = (uint64_t)o->seed};
        c.sum = bench_alloc(run, (size_t)c.edge, sizeof *c.sum, "sums");
        if (run->err.status == FMO_OK) sum_columns(&c);
        if (run->cpu) run_cpu(run, &c);
        if (run->gpu) bench_interchange_gpu(run, &c);
        free(c.sum);
    }
}
