/* median: median filter of a byte image. Published on a Tesla C1060 with a window of 49 x 49,
 * staged in strips. Direct: the median of each pixel by bisection of its value, which counts the
 * window eight times. Sliding: a histogram of the window moves along a strip of a row (Huang, Yang,
 * Tang 1979); the CPU's reference uses it. The published text does not give the size of the image.
 * Next: median.cu. */
#define _GNU_SOURCE
#include "median.h"
#include "driver/base/clock.h"

#include <stdlib.h>
#include <string.h>

void median_check(const median_case *c, int64_t n, bench_check *check)
{
    for (int64_t at = 0; at < n * c->edge; at++)
        bench_check_exact(check, c->back[at] == c->expected[at]);
}

void median_cell_fill(const median_case *c, int64_t strip, bench_cell *cell)
{
    snprintf(cell->table, sizeof cell->table, "%d x %d pixels, window %d x %d, by strip", c->edge,
             c->edge, c->window, c->window);
    if (strip)
        snprintf(cell->column, sizeof cell->column, "%lld", (long long)strip);
    else
        snprintf(cell->column, sizeof cell->column, "none");
    bench_cell_number(cell, "window", c->window);
    if (strip) bench_cell_number(cell, "strip", (double)strip);
}

/* Filters one row with a sliding histogram. */
static void slide_row(const median_case *c, int y, uint8_t *out)
{
    int count[256] = {0};
    const int edge = c->edge, half = c->window / 2, rank = c->window * c->window / 2;
    for (int dy = -half; dy <= half; dy++)
        for (int dx = -half; dx <= half; dx++)
            count[c->image[(int64_t)median_clamp(y + dy, edge) * edge + median_clamp(dx, edge)]]++;
    for (int x = 0; x < edge; x++) {
        int below = 0, value = 0; /* the value preceded by `rank` smaller or equal ones */
        while (below + count[value] <= rank) below += count[value++];
        out[x] = (uint8_t)value;
        for (int dy = -half; dy <= half; dy++) {
            const uint8_t *row = c->image + (int64_t)median_clamp(y + dy, edge) * edge;
            count[row[median_clamp(x - half, edge)]]--;
            count[row[median_clamp(x + half + 1, edge)]]++;
        }
    }
}

/* Filters one row pixel by pixel: the least value m with more than `rank` window pixels <= m. */
static void direct_row(const median_case *c, int y, uint8_t *out)
{
    const int edge = c->edge, half = c->window / 2, rank = c->window * c->window / 2;
    for (int x = 0; x < edge; x++) {
        int low = 0, high = 255;
        while (low < high) {
            const int middle = (low + high) / 2;
            int count = 0;
            for (int dy = -half; dy <= half; dy++) {
                const uint8_t *row = c->image + (int64_t)median_clamp(y + dy, edge) * edge;
                for (int dx = -half; dx <= half; dx++)
                    count += row[median_clamp(x + dx, edge)] <= middle;
            }
            if (count > rank)
                high = middle;
            else
                low = middle + 1;
        }
        out[x] = (uint8_t)low;
    }
}

typedef struct cpu_data {
    const median_case *c;
    void (*row)(const median_case *c, int y, uint8_t *out);
    bool parallel;
} cpu_data;

static double cpu_rows(void *user, int64_t n)
{
    const cpu_data *d = user;
    const median_case *c = d->c;
    const double begin = driver_seconds();
#pragma omp parallel for schedule(static) if (d->parallel)
    for (int64_t y = 0; y < n; y++) d->row(c, (int)y, c->back + y * c->edge);
    return driver_seconds() - begin;
}
static void cpu_prepare(void *user, int64_t n)
{
    const median_case *c = ((const cpu_data *)user)->c;
    memset(c->back, 0, (size_t)(n * c->edge));
}
static void cpu_check(void *user, int64_t n, bench_check *check)
{
    median_check(((const cpu_data *)user)->c, n, check);
}

/* Measures both methods, serial and with OpenMP. */
static void run_cpu(bench_run *run, const median_case *c)
{
    static const struct {
        const char *method;
        void (*row)(const median_case *c, int y, uint8_t *out);
        bool parallel;
    } forms[] = {{"direct, serial", direct_row, false},
                 {"direct, openmp", direct_row, true},
                 {"sliding, serial", slide_row, false},
                 {"sliding, openmp", slide_row, true}};
    for (int f = 0; f < 4; f++) {
        cpu_data d = {c, forms[f].row, forms[f].parallel};
        bench_cell cell = bench_cell_make(run, BENCH_ON_CPU, forms[f].method, NULL, "pixels");
        median_cell_fill(c, 0, &cell);
        bench_cell_number(&cell, "threads", forms[f].parallel ? run->threads : 1);
        bench_task task = {.user = &d,
                           .units = c->edge,
                           .weight = c->edge,
                           .representative = forms[f].parallel ? run->threads : 1,
                           .prepare = cpu_prepare,
                           .run = cpu_rows,
                           .check = cpu_check};
        bench_measure(run, &cell, &task);
    }
}

/* Generates the image and the reference, and measures. */
void bench_median(bench_run *run)
{
    const bench_options *o = run->options;
    median_case c = {.edge = (int)o->image, .window = (int)o->window};
    const size_t pixels = (size_t)c.edge * (size_t)c.edge;
    uint8_t *image = bench_alloc(run, pixels, 1, "the image");
    uint8_t *expected = bench_alloc(run, pixels, 1, "the image");
    c.back = bench_alloc(run, pixels, 1, "the image");
    if (run->err.status == FMO_OK) {
        /* A slope with noise, so that neighbouring medians differ. */
        for (size_t at = 0; at < pixels; at++) {
            const int slope = (int)(at % (size_t)c.edge + at / (size_t)c.edge) * 96 / c.edge;
            image[at] = (uint8_t)(slope + (int)bench_below(
                                              bench_hash((uint64_t)o->seed, (uint64_t)at), 64));
        }
        c.image = image;
        c.expected = expected;
#pragma omp parallel for schedule(static)
        for (int y = 0; y < c.edge; y++) slide_row(&c, y, expected + (int64_t)y * c.edge);
        if (run->cpu) run_cpu(run, &c);
        if (run->gpu) bench_median_gpu(run, &c);
    }
    free(image);
    free(expected);
    free(c.back);
}
