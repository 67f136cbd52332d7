/* reduction: one sum of N items, as in the reduction examples of DPC++: one atomic per item; a
 * batch per work item, contiguous or strided, followed by one atomic; trees. int32 is exact mod
 * 2^32. Next: reduction.cu. */
#define _GNU_SOURCE
#include "reduction.h"
#include "driver/base/clock.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t cpu_items_max = (int64_t)1 << 28;

/* The sum of long doubles; Clang's own would need libatomic. */
#pragma omp declare reduction(long_sum      \
                              : long double \
                              : omp_out += omp_in) initializer(omp_priv = 0.0L)

/* Computes the exact sum of the first n items. */
static void count_expected(reduction_case *c, int64_t n)
{
    int64_t whole = 0;
    long double sum = 0.0L;
    double magnitude = 0.0;
    const uint64_t seed = c->seed;
    const bench_type type = c->type;
#pragma omp parallel for schedule(static) reduction(+ : whole, magnitude) reduction(long_sum : sum)
    for (int64_t i = 0; i < n; i++) {
        if (type == BENCH_INT32) {
            whole += reduction_int(seed, i);
        } else {
            const double x = reduction_number(seed, i);
            const double item = type == BENCH_FLOAT ? (float)x : x;
            sum += item;
            magnitude += item;
        }
    }
    c->sum_int = whole;
    c->sum = sum;
    c->sum_magnitude = magnitude;
    c->expected_n = n;
}

void reduction_check(reduction_case *c, int64_t n, double got, double quantum, bench_check *check)
{
    if (c->expected_n != n) count_expected(c, n);
    if (c->type == BENCH_INT32) {
        bench_check_exact(check, (uint32_t)(int64_t)got == (uint32_t)c->sum_int);
        return;
    }
    const double eps = c->type == BENCH_FLOAT ? FLT_EPSILON : DBL_EPSILON;
    bench_check_bound(check, got, (double)c->sum,
                      (double)n * eps * c->sum_magnitude + (double)n * quantum);
}

void reduction_cell_fill(const reduction_case *c, bench_cell *cell)
{
    char items[24];
    bench_format_count(c->count, items, sizeof items);
    snprintf(cell->table, sizeof cell->table, "%s items", items);
    snprintf(cell->column, sizeof cell->column, "%s", bench_type_name(c->type));
    bench_cell_text(cell, "type", bench_type_name(c->type));
}

/* ---- CPU ----------------------------------------------------------------------------------- */

typedef struct cpu_data {
    reduction_case *c;
    const int32_t *int32;
    const float *single;
    const double *number;
    double sum;
} cpu_data;

static void cpu_check(void *user, int64_t n, bench_check *check)
{
    cpu_data *d = user;
    reduction_check(d->c, n, d->sum, 0.0, check);
}

/* A sum in T; unsigned for int32, so that it wraps around. */
#define CPU_FORMS(NAME, T, ITEM)                                                                   \
    static double serial_##NAME(void *user, int64_t n)                                             \
    {                                                                                              \
        cpu_data *d = user;                                                                        \
        T sum = 0;                                                                                 \
        const double begin = driver_seconds();                                                     \
        for (int64_t i = 0; i < n; i++) sum += (T)ITEM;                                            \
        d->sum = (double)sum;                                                                      \
        return driver_seconds() - begin;                                                           \
    }                                                                                              \
    static double atomic_##NAME(void *user, int64_t n)                                             \
    {                                                                                              \
        cpu_data *d = user;                                                                        \
        T sum = 0;                                                                                 \
        const double begin = driver_seconds();                                                     \
        _Pragma("omp parallel for schedule(static)") for (int64_t i = 0; i < n; i++)               \
        {                                                                                          \
            _Pragma("omp atomic") sum += (T)ITEM;                                                  \
        }                                                                                          \
        d->sum = (double)sum;                                                                      \
        return driver_seconds() - begin;                                                           \
    }                                                                                              \
    static double tree_##NAME(void *user, int64_t n)                                               \
    {                                                                                              \
        cpu_data *d = user;                                                                        \
        T sum = 0;                                                                                 \
        const double begin = driver_seconds();                                                     \
        _Pragma("omp parallel for schedule(static) reduction(+ : sum)") for (int64_t i = 0; i < n; \
                                                                             i++) sum += (T)ITEM;  \
        d->sum = (double)sum;                                                                      \
        return driver_seconds() - begin;                                                           \
    }
CPU_FORMS(int32, uint32_t, d->int32[i])
CPU_FORMS(float, float, d->single[i])
CPU_FORMS(double, double, d->number[i])

/* Measures the serial sum, atomics, and OpenMP's reduction. */
static void run_cpu(bench_run *run, reduction_case *c)
{
    static const struct {
        const char *method;
        double (*form[BENCH_TYPE_COUNT])(void *user, int64_t n);
        bool parallel;
    } forms[] = {
        {"serial", {serial_int32, serial_float, serial_double}, false},
        {"openmp atomic", {atomic_int32, atomic_float, atomic_double}, true},
        {"openmp reduction", {tree_int32, tree_float, tree_double}, true},
    };
    static const size_t size[BENCH_TYPE_COUNT] = {4, 4, 8};
    const int64_t kept = c->count < cpu_items_max ? c->count : cpu_items_max;
    void *items = bench_alloc(run, (size_t)kept, size[c->type], "items");
    if (!items) return;
    cpu_data d = {c, items, items, items, 0.0};
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < kept; i++) {
        if (c->type == BENCH_INT32)
            ((int32_t *)items)[i] = reduction_int(c->seed, i);
        else if (c->type == BENCH_FLOAT)
            ((float *)items)[i] = (float)reduction_number(c->seed, i);
        else
            ((double *)items)[i] = reduction_number(c->seed, i);
    }
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        bench_cell cell = bench_cell_make(run, BENCH_ON_CPU, forms[f].method, NULL, "adds");
        reduction_cell_fill(c, &cell);
        bench_cell_number(&cell, "threads", forms[f].parallel ? run->threads : 1);
        snprintf(cell.against, sizeof cell.against, "gpu native/native");
        if (kept < c->count)
            snprintf(cell.note, sizeof cell.note, "only the first %lld items", (long long)kept);
        bench_task task = {.user = &d,
                           .units = kept,
                           .weight = 1,
                           .representative = 1 << 14,
                           .run = forms[f].form[c->type],
                           .check = cpu_check};
        bench_measure(run, &cell, &task);
    }
    free(items);
}

void bench_reduction(bench_run *run)
{
    const bench_options *o = run->options;
    const int64_t items_default = 10000000, types = 1 << BENCH_INT32 | 1 << BENCH_DOUBLE;
    for (int type = 0; type < BENCH_TYPE_COUNT && run->err.status == FMO_OK; type++) {
        if (!(bench_or(o->types, types) >> type & 1)) continue;
        reduction_case c = {.type = (bench_type)type,
                            .count = bench_or(o->items, items_default),
                            .seed = (uint64_t)o->seed,
                            .expected_n = -1};
        if (run->cpu) run_cpu(run, &c);
        if (run->gpu) bench_reduction_gpu(run, &c);
    }
}
