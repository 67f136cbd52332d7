/* strip: a loop of N elements divided into strips. On a GPU a thread takes a strip (serial inner
 * loop), or a block does (parallel inner loop). Published on a Tesla C1060: 1000 elements, strips
 * of 5 to 1000. It shows the effect of coalescing. Also run at a size that exceeds the caches.
 * Next: strip.cu. */
#define _GNU_SOURCE
#include "strip.h"
#include "driver/base/clock.h"

#include <stdlib.h>
#include <string.h>

static const int64_t published_count = 1000, large_count = (int64_t)1 << 26; /* x and y: 1 GB */

void strip_check(const strip_case *c, int64_t n, bench_check *check)
{
    int64_t wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (int64_t i = 0; i < n; i++) wrong += c->z[i] != STRIP_FACTOR * c->x[i] + c->y[i];
    bench_check_exact(check, wrong == 0);
    check->wrong = wrong;
}

void strip_cell_fill(const strip_case *c, int64_t strip, int64_t column, bench_cell *cell)
{
    char count[24];
    bench_format_count(c->count, count, sizeof count);
    snprintf(cell->table, sizeof cell->table, "%s elements, by strip length", count);
    snprintf(cell->column, sizeof cell->column, "%lld", (long long)column);
    if (strip) bench_cell_number(cell, "strip", (double)strip);
    snprintf(cell->against, sizeof cell->against, "gpu no strips");
}

typedef struct cpu_data {
    const strip_case *c;
    int64_t strip;
} cpu_data;

static void cpu_prepare(void *user, int64_t n)
{
    const cpu_data *d = user;
    memset(d->c->z, 0, (size_t)n * sizeof *d->c->z);
}
static void cpu_check(void *user, int64_t n, bench_check *check)
{
    const cpu_data *d = user;
    strip_check(d->c, n, check);
}

static void one_strip(const strip_case *c, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) c->z[i] = STRIP_FACTOR * c->x[i] + c->y[i];
}

/* Returns seconds for n elements. A loop of 1000 elements takes less than a microsecond, so short
 * loops are repeated until the clock can resolve their time. */
static double timed(const cpu_data *d, int64_t n, bool parallel)
{
    const strip_case *c = d->c;
    const int64_t strip = d->strip ? d->strip : n + 1, strips = (n + strip - 1) / strip;
    const int times = n < 100000 ? 100 : 1;
    const double begin = driver_seconds();
    for (int t = 0; t < times; t++) {
#pragma omp parallel for schedule(static) if (parallel)
        for (int64_t s = 0; s < strips; s++)
            one_strip(c, s * strip, s * strip + strip < n ? s * strip + strip : n);
    }
    return (driver_seconds() - begin) / times;
}
static double serial(void *user, int64_t n)
{
    return timed(user, n, false);
}
static double openmp(void *user, int64_t n)
{
    return timed(user, n, true);
}

/* Measures the loop without strips, and with strips of each length. */
static void run_cpu(bench_run *run, const strip_case *c)
{
    for (int s = 0; s < run->options->strips.count; s++) {
        const int64_t strip = run->options->strips.value[s];
        static const struct {
            const char *method;
            double (*form)(void *user, int64_t n);
            bool strips;
        } forms[] = {{"no strips", serial, false},
                     {"strips, serial", serial, true},
                     {"strips, openmp", openmp, true}};
        for (int f = 0; f < 3; f++) {
            cpu_data d = {c, forms[f].strips ? strip : 0};
            bench_cell cell = bench_cell_make(run, BENCH_ON_CPU, forms[f].method, NULL, "elements");
            strip_cell_fill(c, d.strip, strip, &cell);
            bench_cell_number(&cell, "threads", forms[f].form == openmp ? run->threads : 1);
            bench_task task = {.user = &d,
                               .units = c->count,
                               .weight = 1,
                               .representative = 1 << 14,
                               .prepare = cpu_prepare,
                               .run = forms[f].form,
                               .check = cpu_check};
            bench_measure(run, &cell, &task);
        }
    }
}

/* Measures one number of elements. */
static void run_count(bench_run *run, int64_t count)
{
    double *x = bench_alloc(run, (size_t)count, sizeof *x, "x");
    double *y = bench_alloc(run, (size_t)count, sizeof *y, "y");
    double *z = bench_alloc(run, (size_t)count, sizeof *z, "z");
    const strip_case c = {count, (uint64_t)run->options->seed, x, y, z};
    if (run->err.status == FMO_OK) {
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < count; i++) {
            const uint64_t hash = bench_hash(c.seed, (uint64_t)i);
            x[i] = (double)bench_below(hash, STRIP_VALUES);
            y[i] = (double)bench_below(hash << 32, STRIP_VALUES);
            z[i] = 0.0;
        }
        if (run->cpu) run_cpu(run, &c);
        if (run->gpu) bench_strip_gpu(run, &c);
    }
    free(x);
    free(y);
    free(z);
}

void bench_strip(bench_run *run)
{
    if (run->options->items >= 0) {
        run_count(run, run->options->items);
        return;
    }
    run_count(run, published_count);
    run_count(run, large_count);
}
