/* histogram: counts N items in bins. Tabaru and Nakahira, 2013: 1e7 numbers in [0,1), 1 to 1e7
 * bins, int and double bins. The 2023 article: 256 M int32 ids, 256 and 5 M bins. Counts are exact
 * in every type: int32 mod 2^32, double up to 2^53 (float is not offered: it is exact only up to
 * 2^24). Next: histogram.cu. */
#define _GNU_SOURCE
#include "histogram.h"
#include "driver/base/clock.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of items that the CPU parts store; only these are counted. */
static const int64_t cpu_items_max = (int64_t)1 << 28;
/* Maximum size of all threads' private bins, bytes. */
static const double private_bytes_max = 4e9;

const int64_t *histogram_expected_counts(histogram_case *c, int64_t n)
{
    histogram_counts *t = &c->expected[n == c->items.count ? 0 : 1];
    if (t->n != n) bench_items_count(&c->items, c->input, n, t->count);
    t->n = n;
    return t->count;
}

void histogram_cell_fill(const histogram_case *c, bench_cell *cell)
{
    char items[24];
    bench_format_count(c->items.count, items, sizeof items);
    snprintf(cell->table, sizeof cell->table, "%s %s, %s, %s bins", items,
             bench_input_name(c->input), bench_pattern_name(c->items.pattern),
             bench_type_name(c->type));
    bench_format_count(c->items.bins, cell->column, sizeof cell->column);
    bench_cell_text(cell, "input", bench_input_name(c->input));
    bench_cell_text(cell, "pattern", bench_pattern_name(c->items.pattern));
    bench_cell_text(cell, "type", bench_type_name(c->type));
    bench_cell_number(cell, "bins", (double)c->items.bins);
    if (c->items.pattern == BENCH_RUNS) bench_cell_number(cell, "run_length", (double)c->items.run);
    if (c->items.pattern == BENCH_REPLAY) {
        bench_cell_number(cell, "stream", (double)c->items.replay_num);
        bench_cell_number(cell, "stream_all", (double)c->ids_all);
    }
}

/* ---- CPU ----------------------------------------------------------------------------------- */

typedef struct cpu_data {
    histogram_case *c;
    const int32_t *ids;
    const double *numbers;
    void *count, *own; /* int32_t or double: [bins], [threads][bins] */
    size_t size;       /* size of one bin in bytes */
} cpu_data;

static void cpu_prepare(void *user, int64_t n)
{
    const cpu_data *d = user;
    (void)n;
    memset(d->count, 0, (size_t)d->c->items.bins * d->size);
}

static void cpu_check(void *user, int64_t n, bench_check *check)
{
    const cpu_data *d = user;
    const int64_t *expected = histogram_expected_counts(d->c, n);
    const int32_t *whole = d->count;
    const double *number = d->count;
    for (int64_t b = 0; b < d->c->items.bins; b++)
        bench_check_exact(check, d->c->type == BENCH_INT32
                                     ? (uint32_t)whole[b] == (uint32_t)expected[b]
                                     : number[b] == (double)expected[b]);
}

/* BIN is an expression in d, i and bins. The private form has bins for each thread, allocated
 * before timing begins; at the end each thread sums a share of the bins over all threads. */
#define CPU_FORMS(NAME, T, BIN)                                                      \
    static double serial_##NAME(void *user, int64_t n)                               \
    {                                                                                \
        const cpu_data *d = user;                                                    \
        const int64_t bins = d->c->items.bins;                                       \
        T *count = d->count;                                                         \
        const double begin = driver_seconds();                                       \
        for (int64_t i = 0; i < n; i++) count[BIN(d, i, bins)] += 1;                 \
        return driver_seconds() - begin;                                             \
    }                                                                                \
    static double atomic_##NAME(void *user, int64_t n)                               \
    {                                                                                \
        const cpu_data *d = user;                                                    \
        const int64_t bins = d->c->items.bins;                                       \
        T *count = d->count;                                                         \
        const double begin = driver_seconds();                                       \
        _Pragma("omp parallel for schedule(static)") for (int64_t i = 0; i < n; i++) \
        {                                                                            \
            T *at = &count[BIN(d, i, bins)];                                         \
            _Pragma("omp atomic") *at += 1;                                          \
        }                                                                            \
        return driver_seconds() - begin;                                             \
    }                                                                                \
    static double private_##NAME(void *user, int64_t n)                              \
    {                                                                                \
        const cpu_data *d = user;                                                    \
        const int64_t bins = d->c->items.bins;                                       \
        T *count = d->count, *own = d->own;                                          \
        const double begin = driver_seconds();                                       \
        _Pragma("omp parallel")                                                      \
        {                                                                            \
            T *mine = own + (int64_t)omp_get_thread_num() * bins;                    \
            const int team = omp_get_num_threads();                                  \
            memset(mine, 0, (size_t)bins * sizeof *mine);                            \
            _Pragma("omp for schedule(static)") for (int64_t i = 0; i < n; i++)      \
                mine[BIN(d, i, bins)] += 1;                                          \
            _Pragma("omp for schedule(static)") for (int64_t b = 0; b < bins; b++)   \
            {                                                                        \
                T sum = 0;                                                           \
                for (int t = 0; t < team; t++) sum += own[t * bins + b];             \
                count[b] = sum;                                                      \
            }                                                                        \
        }                                                                            \
        return driver_seconds() - begin;                                             \
    }
#define BIN_OF_ID(d, i, bins)     ((void)(bins), (d)->ids[i])
#define BIN_OF_NUMBER(d, i, bins) bench_bin((d)->numbers[i], bins)

CPU_FORMS(int32_ids, int32_t, BIN_OF_ID)
CPU_FORMS(int32_numbers, int32_t, BIN_OF_NUMBER)
CPU_FORMS(double_ids, double, BIN_OF_ID)
CPU_FORMS(double_numbers, double, BIN_OF_NUMBER)

typedef double cpu_form(void *user, int64_t n);

/* Measures the serial form, atomics, and private bins. */
static void run_cpu(bench_run *run, histogram_case *c, const int32_t *ids, const double *numbers,
                    int64_t kept)
{
    static const struct {
        const char *method;
        cpu_form *form[2][2]; /* [double][ids] */
        bool parallel, private_bins;
    } forms[] = {
        {"serial",
         {{serial_int32_numbers, serial_int32_ids}, {serial_double_numbers, serial_double_ids}},
         false,
         false},
        {"openmp atomic",
         {{atomic_int32_numbers, atomic_int32_ids}, {atomic_double_numbers, atomic_double_ids}},
         true,
         false},
        {"openmp private",
         {{private_int32_numbers, private_int32_ids}, {private_double_numbers, private_double_ids}},
         true,
         true},
    };
    const size_t bins = (size_t)c->items.bins;
    const bool is_double = c->type == BENCH_DOUBLE;
    cpu_data d = {c, ids, numbers, NULL, NULL, is_double ? sizeof(double) : sizeof(int32_t)};
    const double own_bytes = (double)bins * (double)d.size * run->threads;
    d.count = bench_alloc(run, bins, d.size, "bins");
    if (own_bytes <= private_bytes_max)
        d.own = bench_alloc(run, bins * (size_t)run->threads, d.size, "private bins");
    for (size_t f = 0; f < sizeof forms / sizeof *forms && run->err.status == FMO_OK; f++) {
        bench_cell cell = bench_cell_make(run, BENCH_ON_CPU, forms[f].method, NULL, "updates");
        histogram_cell_fill(c, &cell);
        bench_cell_number(&cell, "threads", forms[f].parallel ? run->threads : 1);
        snprintf(cell.against, sizeof cell.against, "gpu native/native");
        if (forms[f].private_bins && !d.own) {
            bench_leave_out(run, &cell, "private bins would take %.3g GB", 1e-9 * own_bytes);
            continue;
        }
        bench_task task = {.user = &d,
                           .units = kept,
                           .weight = 1,
                           /* Private bins cost the same for few items: no scaling. */
                           .representative = forms[f].private_bins ? kept : 1 << 14,
                           .prepare = cpu_prepare,
                           .run = forms[f].form[is_double][c->input == BENCH_IDS],
                           .check = cpu_check};
        if (kept < c->items.count)
            snprintf(cell.note, sizeof cell.note, "only the first %lld items", (long long)kept);
        bench_measure(run, &cell, &task);
    }
    free(d.count);
    free(d.own);
}

/* ---- both ---------------------------------------------------------------------------------- */

/* Measures one number of bins on CPU and GPU, for each type of the bins. */
static void run_case(bench_run *run, histogram_case *c)
{
    const int64_t kept = c->items.count < cpu_items_max ? c->items.count : cpu_items_max;
    int32_t *ids = NULL;
    double *numbers = NULL;
    for (int t = 0; t < HISTOGRAM_EXPECTED; t++) {
        c->expected[t].n = -1;
        c->expected[t].count = bench_alloc(run, (size_t)c->items.bins, sizeof(int64_t), "counts");
    }
    if (run->cpu && c->input == BENCH_IDS)
        ids = bench_alloc(run, (size_t)kept, sizeof *ids, "items");
    else if (run->cpu)
        numbers = bench_alloc(run, (size_t)kept, sizeof *numbers, "items");
    if (run->err.status == FMO_OK) {
        if (run->cpu) bench_items_fill(&c->items, kept, ids, numbers);
        const int64_t exact = 1 << BENCH_INT32 | 1 << BENCH_DOUBLE;
        for (int type = 0; type < BENCH_TYPE_COUNT; type++) {
            if (!(exact & bench_or(run->options->types, exact) & 1 << type)) continue;
            c->type = (bench_type)type;
            if (run->cpu) run_cpu(run, c, ids, numbers, kept);
            if (run->gpu) bench_histogram_gpu(run, c);
        }
    }
    for (int t = 0; t < HISTOGRAM_EXPECTED; t++) free(c->expected[t].count);
    free(ids);
    free(numbers);
}

/* Measures all numbers of bins of one pattern; replay has the bins of the data set. */
static void run_pattern(bench_run *run, bench_pattern pattern, bench_input input)
{
    const bench_options *o = run->options;
    const int64_t items_default = 10000000; /* the published number */
    histogram_case c = {.input = input,
                        .items = {.pattern = pattern,
                                  .count = bench_or(o->items, items_default),
                                  .seed = (uint64_t)o->seed,
                                  .run = o->run_length}};
    if (pattern == BENCH_REPLAY) {
        int32_t *replay = bench_replay_read(run, o->dataset, c.items.count, &c.items.replay_num,
                                            &c.items.bins, &c.ids_all);
        c.items.replay = replay;
        if (replay) run_case(run, &c);
        free(replay);
        return;
    }
    for (int b = 0; b < o->bins.count && run->err.status == FMO_OK; b++) {
        uint64_t *zipf = NULL;
        c.items.bins = o->bins.value[b];
        if (pattern == BENCH_ZIPF) zipf = bench_zipf_table(run, c.items.bins, o->zipf);
        c.items.zipf = zipf;
        if (run->err.status == FMO_OK) run_case(run, &c);
        free(zipf);
    }
}

void bench_histogram(bench_run *run)
{
    const bench_options *o = run->options;
    for (int pattern = 0; pattern < BENCH_PATTERN_COUNT; pattern++) {
        if (!(o->patterns >> pattern & 1)) continue;
        for (int input = 0; input < BENCH_INPUT_COUNT; input++)
            if (o->inputs >> input & 1)
                run_pattern(run, (bench_pattern)pattern, (bench_input)input);
    }
}
