/* Cells: timing with limits, checks, ratios, tables. See bench.h. Next: json.c. */
#define _GNU_SOURCE
#include "bench.h"
#include "base/data_path.h"
#include "driver/base/clock.h"
#include "driver/base/spread.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- names --------------------------------------------------------------------------------- */

#define NAME_ROW(e, name)                 name,
#define GRID_ROW(name, i, j, k)           #name,
#define EXPERIMENT_NAME(name, kind, text) #name,
#define EXPERIMENT_TEXT(name, kind, text) text,
#define NAMES(function, table, row, count)                               \
    const char *function(int value)                                      \
    {                                                                    \
        static const char *const names[] = {table(row)};                 \
        return value >= 0 && value < (int)(count) ? names[value] : NULL; \
    }
NAMES(bench_experiment_name, BENCH_EXPERIMENT_TABLE, EXPERIMENT_NAME, BENCH_EXPERIMENT_COUNT)
NAMES(bench_experiment_text, BENCH_EXPERIMENT_TABLE, EXPERIMENT_TEXT, BENCH_EXPERIMENT_COUNT)
bench_kind bench_experiment_kind(int experiment)
{
    static const bench_kind kinds[] = {
#define ROW(name, kind, text) BENCH_##kind,
        BENCH_EXPERIMENT_TABLE(ROW)
#undef ROW
    };
    return kinds[experiment];
}
NAMES(bench_type_name, BENCH_TYPE_TABLE, NAME_ROW, BENCH_TYPE_COUNT)
NAMES(bench_input_name, BENCH_INPUT_TABLE, NAME_ROW, BENCH_INPUT_COUNT)
NAMES(bench_pattern_name, BENCH_PATTERN_TABLE, NAME_ROW, BENCH_PATTERN_COUNT)
NAMES(bench_grid_name, BENCH_GRID_TABLE, GRID_ROW, BENCH_GRID_COUNT)
NAMES(bench_place_name, BENCH_PLACE_TABLE, NAME_ROW, BENCH_PLACE_COUNT)

void bench_format_count(int64_t count, char *text, size_t size)
{
    int64_t mantissa = count;
    int zeros = 0;
    while (mantissa >= 10 && mantissa % 10 == 0) mantissa /= 10, zeros++;
    if (count >= 10000 && mantissa < 10)
        snprintf(text, size, "%de%d", (int)mantissa, zeros);
    else
        snprintf(text, size, "%lld", (long long)count);
}

void bench_geometry_path(const bench_options *options, const char *name, size_t size, char *path)
{
    char *const shipped = options->geometries ? NULL : fmo_data_path("xyz");
    const char *const folder = shipped ? shipped : options->geometries;
    snprintf(path, size, "%s/%s.xyz", folder ? folder : "share/fmo/xyz", name);
    free(shipped);
}

/* ---- errors, memory, checks ----------------------------------------------------------------- */

double bench_fail(bench_run *run, fmo_status status, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fmo_error_set(&run->err, status, "%s: %s", bench_experiment_name(run->experiment), text);
    return -1.0;
}

void *bench_alloc(bench_run *run, size_t count, size_t size, const char *what)
{
    if (run->err.status != FMO_OK) return NULL;
    void *memory = count <= SIZE_MAX / size ? malloc(count * size + 1) : NULL;
    if (!memory)
        bench_fail(run, FMO_ERR_MEMORY, "no memory for %s (%.3g GB)", what,
                   1e-9 * (double)count * (double)size);
    return memory;
}

void bench_check_exact(bench_check *check, bool same)
{
    check->kind = BENCH_EXACT;
    check->wrong += !same;
}

void bench_check_bound(bench_check *check, double got, double expected, double bound)
{
    const double error = fabs(got - expected);
    check->kind = BENCH_BOUND;
    check->wrong += !(error <= bound);
    /* Keep the worst; NaN counts as the worst of all. */
    if (check->bound == 0.0 || !(error * check->bound <= check->error * bound)) {
        check->error = error;
        check->bound = bound;
    }
}

/* ---- cells --------------------------------------------------------------------------------- */

bench_cell bench_cell_make(const bench_run *run, bench_place place, const char *method,
                           const char *commit, const char *unit)
{
    bench_cell cell;
    memset(&cell, 0, sizeof cell);
    cell.experiment = run->experiment;
    cell.place = place;
    cell.commit = commit;
    cell.unit = unit;
    cell.ratio = NAN;
    snprintf(cell.method, sizeof cell.method, "%s", method);
    snprintf(cell.row, sizeof cell.row, "%s %s%s%s", bench_place_name(place), method,
             commit ? "/" : "", commit ? commit : "");
    return cell;
}

static void add_param(bench_cell *cell, bench_param param)
{
    if (cell->param_num < BENCH_PARAM_MAX) cell->param[cell->param_num++] = param;
}
void bench_cell_number(bench_cell *cell, const char *name, double value)
{
    add_param(cell, (bench_param){name, NULL, value});
}
void bench_cell_text(bench_cell *cell, const char *name, const char *value)
{
    add_param(cell, (bench_param){name, value, 0.0});
}

void bench_keep(bench_run *run, const bench_cell *cell)
{
    if (run->cell_num == run->cell_max) {
        const int max = run->cell_max ? 2 * run->cell_max : 256;
        bench_cell *grown = realloc(run->cell, (size_t)max * sizeof *grown);
        if (!grown) {
            bench_fail(run, FMO_ERR_MEMORY, "no memory for results");
            return;
        }
        run->cell = grown;
        run->cell_max = max;
    }
    run->cell[run->cell_num++] = *cell;
}

void bench_leave_out(bench_run *run, bench_cell *cell, const char *format, ...)
{
    if (run->err.status != FMO_OK) return;
    va_list args;
    va_start(args, format);
    vsnprintf(cell->left_out, sizeof cell->left_out, format, args);
    va_end(args);
    bench_keep(run, cell);
}

static double run_once(bench_run *run, const bench_task *task, int64_t n)
{
    if (task->prepare) task->prepare(task->user, n);
    if (run->err.status != FMO_OK) return -1.0;
    const double seconds = task->run(task->user, n);
    return run->err.status == FMO_OK ? seconds : -1.0;
}

/* Determines how many units one run may have by increasing the number: all of them, or as many as
 * take a third of the cell's time, so that three runs fit; but at least the representative number.
 * These runs are the warm-up. Returns the time of the last one. */
static double find_units(bench_run *run, const bench_task *task, int64_t *units)
{
    const double cap = run->options->seconds / 3.0;
    int64_t n = task->representative < task->units ? task->representative : task->units;
    double seconds = run_once(run, task, n);
    if (n < task->units && seconds >= 0.0 && seconds < run->options->seconds) {
        /* The first run also loads code and touches memory. */
        const double again = run_once(run, task, n);
        if (again < seconds) seconds = again;
    }
    while (seconds >= 0.0 && n < task->units) {
        double next = 8.0 * (double)n;
        if (seconds > 0.0 && next * seconds > cap * (double)n) next = (double)n * cap / seconds;
        if (next >= (double)task->units) next = (double)task->units;
        if (next < 2.0 * (double)n && next < (double)task->units) break;
        if (next <= (double)n) break;
        n = next < (double)task->units ? (int64_t)next : task->units;
        seconds = run_once(run, task, n);
    }
    *units = n;
    return seconds;
}

/* Whether enough was measured. The spread of a few runs of microseconds would only reflect the
 * clock and the system: such cells continue until 20 ms, 500 runs, or a total of 0.2 s and at most
 * twice the cell's time, including parts that are not timed. */
static bool is_a_figure(int count, double total, double begin, double seconds)
{
    const double quick = 1e-4, enough = 0.02, longest = fmin(0.2, 2.0 * seconds);
    const int count_max = 500;
    return total >= quick * count || total >= enough || count >= count_max ||
           driver_seconds() - begin > longest;
}

/* Difference of the last and the first decile of the runs, divided by the median; of ten runs or
 * fewer, the range. NaN for one run. */
static double spread_of(const double *sorted, int count)
{
    const int out = count > 10 ? count / 10 : 0;
    const double median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
    return count > 1 && median > 0.0 ? (sorted[count - 1 - out] - sorted[out]) / median : NAN;
}

/* Warms up, measures the requested number of runs or more, checks the last one, and stores the
 * cell. */
void bench_measure(bench_run *run, bench_cell *cell, const bench_task *task)
{
    enum { REPEAT_MAX = 1000 };
    static double seconds[REPEAT_MAX];
    if (run->err.status != FMO_OK) return;
    int64_t n;
    cell->first = find_units(run, task, &n);
    if (cell->first < 0.0) return;

    /* A single run that takes the cell's time is the measurement. */
    const int least_runs = (int)run->options->repeat;
    const double begin = driver_seconds();
    double total = 0.0;
    int count = 0;
    if (cell->first > run->options->seconds) {
        seconds[count++] = cell->first;
    } else {
        while (count < REPEAT_MAX && (count == 0 || total < run->options->seconds) &&
               (count < least_runs || !is_a_figure(count, total, begin, run->options->seconds))) {
            seconds[count] = run_once(run, task, n);
            if (seconds[count] < 0.0) return;
            total += seconds[count++];
        }
    }
    if (task->check) task->check(task->user, n, &cell->check);
    if (task->check && cell->check.kind == BENCH_CHECK_NONE)
        cell->check.kind = BENCH_EXACT; /* nothing was compared */
    if (run->err.status != FMO_OK) return;

    const driver_spread spread = driver_spread_of(seconds, (size_t)count);
    const double scale = n > 0 ? (double)task->units / (double)n : 1.0;
    cell->items = task->units * task->weight;
    cell->items_run = n * task->weight;
    cell->extrapolated = n < task->units;
    cell->repeat = count;
    cell->min = scale * spread.min;
    cell->max = scale * spread.max;
    cell->median = scale * spread.median;
    cell->spread = spread_of(seconds, count);
    bench_keep(run, cell);
}

int bench_failures(const bench_run *run)
{
    int failures = 0;
    for (int c = 0; c < run->cell_num; c++) failures += run->cell[c].check.wrong != 0;
    return failures;
}

/* ---- tables -------------------------------------------------------------------------------- */

static double rate(const bench_cell *cell)
{
    return cell->median > 0.0 && cell->items > 0 ? (double)cell->items / cell->median : NAN;
}

void bench_ratios(bench_run *run, int first)
{
    for (int c = first; c < run->cell_num; c++) {
        bench_cell *cell = &run->cell[c];
        if (!*cell->against || *cell->left_out) continue;
        for (int b = first; b < run->cell_num; b++) {
            const bench_cell *base = &run->cell[b];
            if (*base->left_out || strcmp(base->table, cell->table) != 0 ||
                strcmp(base->row, cell->against) != 0 || strcmp(base->column, cell->column) != 0)
                continue;
            cell->ratio = rate(cell) / rate(base);
        }
    }
}

/* The columns and rows of one table, in the order of their first cells. */
typedef struct layout {
    const char *column[64], *row[128];
    int columns, rows;
} layout;

static int place_of(const char **list, int *count, int max, const char *text)
{
    for (int i = 0; i < *count; i++)
        if (strcmp(list[i], text) == 0) return i;
    if (*count == max) return -1;
    list[*count] = text;
    return (*count)++;
}

static const bench_cell *find(const bench_run *run, int first, const char *table, const char *row,
                              const char *column)
{
    for (int c = first; c < run->cell_num; c++) {
        const bench_cell *cell = &run->cell[c];
        if (strcmp(cell->table, table) == 0 && strcmp(cell->row, row) == 0 &&
            strcmp(cell->column, column) == 0)
            return cell;
    }
    return NULL;
}

enum { SHOW_RATE, SHOW_RATIO, SHOW_SPREAD, SHOWS };

/* Formats a cell's rate ("!": wrong results, "~": extrapolated), its ratio, or its spread; "" if
 * there is none. */
static void format_cell(const bench_cell *cell, int show, char *text, size_t size)
{
    const char *mark = "";
    double value = NAN;
    snprintf(text, size, "%s", "");
    if (!cell) return;
    if (*cell->left_out) {
        snprintf(text, size, "-");
        return;
    }
    if (show == SHOW_RATE) {
        value = 1e-9 * rate(cell);
        mark = cell->check.wrong ? "!" : cell->extrapolated ? "~" : "";
    } else if (show == SHOW_RATIO) {
        value = cell->ratio;
    } else {
        value = 100.0 * cell->spread;
    }
    if (isnan(value))
        snprintf(text, size, "%s%s", show == SHOW_RATE ? "0" : "", mark);
    else
        snprintf(text, size, value >= 1000.0 ? "%.0f%s" : "%.3g%s", value, mark);
}

/* Prints one table: rates, and ratios and spreads if there are any. */
static void print_table(const bench_run *run, int first, const char *table, FILE *stream)
{
    static const char *const captions[SHOWS] = {
        "1e9 %s per second (~ extrapolated, ! wrong result, - left out)",
        "ratio to the plain form with the same atomic update",
        "spread of the repeats, in %% of the median: max - min, beyond ten the middle 80 %%"};
    layout l = {.columns = 0, .rows = 0};
    bool any[SHOWS] = {true, false, false};
    const char *unit = "items";
    size_t width = 0;
    for (int c = first; c < run->cell_num; c++) {
        const bench_cell *cell = &run->cell[c];
        if (strcmp(cell->table, table) != 0) continue;
        place_of(l.column, &l.columns, 64, cell->column);
        place_of(l.row, &l.rows, 128, cell->row);
        if (strlen(cell->row) > width) width = strlen(cell->row);
        if (!isnan(cell->ratio)) any[SHOW_RATIO] = true;
        if (cell->repeat > 1) any[SHOW_SPREAD] = true;
        unit = cell->unit;
    }
    fprintf(stream, "\n%s: %s\n", bench_experiment_name(run->experiment), table);
    for (int show = 0; show < SHOWS; show++) {
        if (!any[show]) continue;
        fputs("  ", stream);
        fprintf(stream, captions[show], unit);
        fprintf(stream, "\n  %-*s", (int)width, "");
        for (int j = 0; j < l.columns; j++) fprintf(stream, " %9s", l.column[j]);
        fputc('\n', stream);
        for (int i = 0; i < l.rows; i++) {
            fprintf(stream, "  %-*s", (int)width, l.row[i]);
            for (int j = 0; j < l.columns; j++) {
                char text[32];
                format_cell(find(run, first, table, l.row[i], l.column[j]), show, text,
                            sizeof text);
                fprintf(stream, " %9s", text);
            }
            fputc('\n', stream);
        }
    }
}

/* Prints all tables, and a line for each cell that is wrong or left out. */
void bench_print(const bench_run *run, int first, FILE *stream)
{
    for (int c = first; c < run->cell_num; c++) {
        bool seen = false;
        for (int b = first; b < c && !seen; b++)
            seen = strcmp(run->cell[b].table, run->cell[c].table) == 0;
        if (!seen) print_table(run, first, run->cell[c].table, stream);
    }
    for (int c = first; c < run->cell_num; c++) {
        const bench_cell *cell = &run->cell[c];
        if (*cell->left_out)
            fprintf(stream, "  left out: %s, %s, %s: %s\n", cell->table, cell->row, cell->column,
                    cell->left_out);
        else if (cell->check.kind == BENCH_BOUND && cell->check.wrong)
            fprintf(stream, "  WRONG: %s, %s, %s: %lld values, worst error %.3g, bound %.3g\n",
                    cell->table, cell->row, cell->column, (long long)cell->check.wrong,
                    cell->check.error, cell->check.bound);
        else if (cell->check.wrong)
            fprintf(stream, "  WRONG: %s, %s, %s: %lld values differ\n", cell->table, cell->row,
                    cell->column, (long long)cell->check.wrong);
    }
}

int bench_processes(void)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    if (!size) size = getenv("PMI_SIZE");
    return size ? atoi(size) : 1;
}
bool bench_is_first(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank) rank = getenv("PMI_RANK");
    return !rank || atoi(rank) == 0;
}
