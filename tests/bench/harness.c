/* The harness of fmo-bench: growing, bounding and extrapolating with made-up times, medians,
 * ratios, checks, left-out cells; the random items, their tables and counts; the replayed
 * addresses. */
#include "tests/support/shipped.h"
#include "driver/bench/items.h"
#include "accumulate/rules/pair_order.h"

#include <fmo/dataset.h>

/* A task whose time is given by a formula. */
typedef struct fake {
    double per_unit;
    int64_t largest, last, checked;
    int runs, prepared;
    const double *times; /* of full runs, or NULL */
    int full;
} fake;

static void fake_prepare(void *user, int64_t n)
{
    (void)n;
    ((fake *)user)->prepared++;
}
static double fake_run(void *user, int64_t n)
{
    fake *f = user;
    f->runs++;
    f->last = n;
    if (n > f->largest) f->largest = n;
    if (f->times && f->full >= 0) return f->times[f->full++];
    return f->per_unit * (double)n;
}
static void fake_check(void *user, int64_t n, bench_check *check)
{
    ((fake *)user)->checked = n;
    bench_check_exact(check, true);
}

static bench_cell measure(bench_run *run, fake *f, int64_t units, int64_t weight,
                          int64_t representative)
{
    bench_cell cell = bench_cell_make(run, BENCH_ON_CPU, "fake", NULL, "items");
    const bench_task task = {.user = f,
                             .units = units,
                             .weight = weight,
                             .representative = representative,
                             .prepare = fake_prepare,
                             .run = fake_run,
                             .check = fake_check};
    const int before = run->cell_num;
    bench_measure(run, &cell, &task);
    CHECK(run->cell_num == before + 1, "cells %d", run->cell_num);
    CHECK(f->runs == f->prepared, "%d runs, %d prepared", f->runs, f->prepared);
    CHECK(f->checked == f->last, "checked %lld, ran %lld", (long long)f->checked,
          (long long)f->last);
    return run->cell[before];
}

/* The harness extrapolates work that is too long, repeats work that is short, does not count the
 * warm-up, and computes median and spread. */
static void test_measure(bench_run *run)
{
    fake fast = {.per_unit = 1e-9};
    bench_cell c = measure(run, &fast, 1000000, 3, 1000);
    CHECK(!c.extrapolated && c.repeat == 5, "fast: %d repeats", c.repeat);
    CHECK(c.items == 3000000 && c.items_run == c.items, "fast: %lld", (long long)c.items);
    CHECK(fabs(c.median - 1e-3) < 1e-12, "fast: %g s", c.median);

    /* 1000 s in all: a third of a second fits. */
    fake slow = {.per_unit = 1e-3};
    c = measure(run, &slow, 1000000, 1, 10);
    CHECK(c.extrapolated && c.items_run < c.items, "slow: %lld run", (long long)c.items_run);
    CHECK(slow.largest <= 334 && slow.largest > 100, "slow: %lld", (long long)slow.largest);
    CHECK(fabs(c.median - 1000.0) < 1e-6, "slow: %g s", c.median);
    CHECK(c.repeat == 4, "slow: %d repeats", c.repeat); /* 0.25 s each, until 1 s is over */

    /* No less than what is representative, even if that alone takes too long. */
    fake slowest = {.per_unit = 1e-2};
    c = measure(run, &slowest, 1000000, 1, 500);
    CHECK(c.items_run == 500 && slowest.runs == 1 && c.repeat == 1, "slowest: %d runs",
          slowest.runs);
    fake small = {.per_unit = 1.0};
    c = measure(run, &small, 7, 1, 500);
    CHECK(!c.extrapolated && c.items_run == 7 && c.min == 7.0, "small: %g", c.min);

    fake none = {.per_unit = 1.0};
    c = measure(run, &none, 0, 1, 500);
    CHECK(!c.extrapolated && c.items == 0 && c.median == 0.0, "none: %g", c.median);

    /* Short times are repeated until their spread can be given. */
    fake tiny = {.per_unit = 1e-9};
    c = measure(run, &tiny, 1000, 1, 1000);
    CHECK(c.repeat == 500, "tiny: %d repeats", c.repeat);
    fake quick = {.per_unit = 5e-8};
    c = measure(run, &quick, 1000, 1, 1000);
    CHECK(c.repeat == 400 || c.repeat == 401, "quick: %d repeats", c.repeat); /* 20 ms of 50 us */
    double hundred[101];
    for (int i = 0; i < 101; i++)
        hundred[i] = 1e-6 * (i == 0 ? 1.0 : i); /* the first is no repeat */
    fake many = {.times = hundred};
    const bench_options often = {.repeat = 100, .seconds = 1e-4 * 50.5 - 1e-9};
    const bench_options *before = run->options;
    run->options = &often;
    c = measure(run, &many, 10, 1, 10);
    run->options = before;
    /* 1 to 100: without a tenth at either end 11 to 90, and their median 50.5 */
    CHECK(c.repeat == 100 && fabs(c.spread - 79.0 / 50.5) < 1e-12, "many: %d, %g", c.repeat,
          c.spread);

    /* Warm-up is not counted; median of an odd and an even number. */
    static const double odd[] = {9.0e-3, 5e-3, 1e-3, 4e-3, 2e-3, 3e-3};
    fake given = {.times = odd};
    c = measure(run, &given, 10, 1, 10);
    CHECK(c.repeat == 5 && c.median == 3e-3 && c.min == 1e-3 && c.max == 5e-3 && c.first == 9e-3,
          "given: %g %g %g", c.min, c.median, c.max);
    CHECK(fabs(c.spread - 4.0 / 3.0) < 1e-12, "given: spread %g", c.spread);
    static const double even[] = {0.4, 0.1, 0.3, 0.35, 0.25};
    fake four = {.times = even};
    c = measure(run, &four, 10, 1, 10);
    CHECK(c.repeat == 4 && fabs(c.median - 0.275) < 1e-15, "four: %d, %g", c.repeat, c.median);
}

static void test_checks(void)
{
    bench_check c = {BENCH_CHECK_NONE, 0, 0, 0};
    bench_check_bound(&c, 1.0, 1.5, 1.0);
    bench_check_bound(&c, 1.0, 1.1, 0.11);
    CHECK(c.wrong == 0 && c.bound == 0.11 && fabs(c.error - 0.1) < 1e-15, "worst %g", c.error);
    bench_check_bound(&c, 1.0, 2.0, 0.5);
    CHECK(c.wrong == 1 && c.bound == 0.5, "wrong %d", (int)c.wrong);
    bench_check n = {BENCH_CHECK_NONE, 0, 0, 0};
    bench_check_bound(&n, NAN, 1.0, 1.0);
    bench_check_bound(&n, 1.0, 1.0, 0.0);
    CHECK(n.wrong == 1, "NaN passes");
    bench_check e = {BENCH_CHECK_NONE, 0, 0, 0};
    bench_check_exact(&e, true);
    bench_check_exact(&e, false);
    CHECK(e.kind == BENCH_EXACT && e.wrong == 1, "exact");
}

/* The ratio of a cell refers to the row it is compared with in the same column, and is NaN where
 * that row does not exist. */
static void test_ratios(bench_run *run)
{
    const int first = run->cell_num;
    for (int k = 0; k < 4; k++) {
        static const char *const row[] = {"plain", "plain", "other", "other"};
        static const double seconds[] = {1.0, 2.0, 0.5, 8.0};
        bench_cell cell = bench_cell_make(run, BENCH_ON_GPU, "x", NULL, "items");
        snprintf(cell.row, sizeof cell.row, "%s", row[k]);
        snprintf(cell.table, sizeof cell.table, "t");
        snprintf(cell.column, sizeof cell.column, "%d", k % 2);
        snprintf(cell.against, sizeof cell.against, "plain");
        bench_leave_out(run, &cell, "%s", "");
        run->cell[first + k].items = 10;
        run->cell[first + k].median = seconds[k];
    }
    bench_cell alone = bench_cell_make(run, BENCH_ON_GPU, "x", NULL, "items");
    snprintf(alone.against, sizeof alone.against, "nobody");
    bench_leave_out(run, &alone, "%s", "");
    bench_ratios(run, first);
    CHECK(run->cell[first].ratio == 1.0 && run->cell[first + 1].ratio == 1.0, "own ratio");
    CHECK(run->cell[first + 2].ratio == 2.0, "ratio %g", run->cell[first + 2].ratio);
    CHECK(run->cell[first + 3].ratio == 0.25, "ratio %g", run->cell[first + 3].ratio);
    CHECK(isnan(run->cell[first + 4].ratio), "ratio to nobody");
}

/* Counts are printed with an exponent only where that is shorter and exact. */
static void test_format(void)
{
    static const struct {
        int64_t count;
        const char *text;
    } rows[] = {{0, "0"},
                {1, "1"},
                {1000, "1000"},
                {10000, "1e4"},
                {5000000, "5e6"},
                {10000000, "1e7"},
                {2684354560, "2684354560"},
                {256, "256"}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char text[32];
        bench_format_count(rows[r].count, text, sizeof text);
        CHECK(strcmp(text, rows[r].text) == 0, "%s, not %s", text, rows[r].text);
    }
}

/* Ranges, totals, shapes of the patterns. */
static void test_items(bench_run *run)
{
    static const int64_t bins_list[] = {1, 2, 7, 1000, 100000};
    static int64_t counts[100000];
    const int64_t n = 200000;
    for (int b = 0; b < 5; b++) {
        const int64_t bins = bins_list[b];
        uint64_t *zipf = bench_zipf_table(run, bins, 1.0);
        for (int pattern = BENCH_UNIFORM; pattern <= BENCH_RUNS; pattern++) {
            const bench_items items = {(bench_pattern)pattern, n, bins, 1, 8, zipf, NULL, 0};
            for (int input = 0; input < BENCH_INPUT_COUNT; input++) {
                int64_t total = 0, largest = 0, bad = 0;
                bench_items_count(&items, (bench_input)input, n, counts);
                for (int64_t k = 0; k < bins; k++) {
                    total += counts[k];
                    if (counts[k] > largest) largest = counts[k];
                }
                CHECK(total == n, "%s, %lld bins: %lld items", bench_pattern_name(pattern),
                      (long long)bins, (long long)total);
                if (pattern == BENCH_ZIPF && bins == 7)
                    CHECK(fabs((double)counts[0] / (double)counts[6] - 7.0) < 0.5, "zipf: %g",
                          (double)counts[0] / (double)counts[6]);
                if (pattern == BENCH_UNIFORM && bins == 7)
                    CHECK((double)largest < 1.05 * (double)n / 7.0, "uniform: %lld",
                          (long long)largest);
                if (pattern == BENCH_UNIFORM) continue;
                for (int64_t i = 0; i < 1000; i++) /* a number is in the bin of its id */
                    bad +=
                        bench_bin(bench_item_number(&items, i), bins) != bench_item_id(&items, i);
                CHECK(bad == 0, "%s, %lld bins: %lld numbers in other bins",
                      bench_pattern_name(pattern), (long long)bins, (long long)bad);
            }
            for (int64_t i = 0; pattern == BENCH_RUNS && i < 800; i++)
                CHECK(bench_item_id(&items, i) == bench_item_id(&items, i / 8 * 8), "run %d",
                      (int)i);
        }
        free(zipf);
    }
    const double below_one = 1.0 - 0x1p-53;
    for (int64_t bins = 1; bins < 1000; bins++)
        CHECK(bench_bin(below_one, bins) == bins - 1 && bench_bin(0.0, bins) == 0, "bin of %d",
              (int)bins);
}

/* Additions of every canonical quartet of h2_sto-3g and h2o_sto-3g, counted in another way. */
/* Each field counts only where those before it are equal; a larger bound comes first. */
static void test_pair_order(void)
{
    const fmo_pair_rank order[] = {{9, 3, 5, 5, 5}, {4, 0, 7, 7, 7}, {4, 1, 0, 9, 9},
                                   {4, 1, 2, 0, 9}, {4, 1, 2, 1, 0}, {4, 1, 2, 1, 3}};
    enum { NUM = sizeof order / sizeof order[0] };
    for (int a = 0; a < NUM; a++)
        for (int b = 0; b < NUM; b++) {
            const int got = fmo_pair_rank_compare(&order[a], &order[b]);
            CHECK((got > 0) - (got < 0) == (a > b) - (a < b), "%d against %d: %d", a, b, got);
        }
    CHECK(fmo_pair_octet(1.0) == 0 && fmo_pair_octet(255.0) == 0 && fmo_pair_octet(0.9) == 1 &&
              fmo_pair_octet(0x1p-8) == 1 && fmo_pair_octet(0x1p-9) == 2 &&
              fmo_pair_octet(0.0) == INT16_MAX,
          "steps of 2^8");
}

/* The recorded stream of a data set has the expected number of additions, all of them in the lower
 * triangle, and a part of it can be read. */
static void test_replay(bench_run *run, const char *path)
{
    int64_t num = 0, bins = 0, all = 0, some = 0, all_again = 0;
    fmo_dataset *const dataset = read_dataset(path);
    if (!dataset) return;
    const fmo_basis *basis = fmo_dataset_basis(dataset);
    const int s = fmo_basis_shell_num(basis, 0), p = fmo_basis_shell_num(basis, 1);
    const int64_t nao = fmo_basis_ao_num(basis);
    int64_t expected = 0;
    for (int i = 0; i < s + p; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k <= i; k++)
                for (int l = 0; l <= k; l++) {
                    if (k == i && l > j) continue;
                    const int a = i < s ? 1 : 3, b = j < s ? 1 : 3, c = k < s ? 1 : 3,
                              d = l < s ? 1 : 3;
                    expected += a * b + c * d + a * c + a * d + b * c + b * d;
                }
    int32_t *stream = bench_replay_read(run, path, INT64_MAX, &num, &bins, &all);
    CHECK(stream && num == expected && all == expected, "%s: %lld adds, not %lld", path,
          (long long)num, (long long)expected);
    CHECK(bins == 2 * nao * nao, "%s: %lld bins", path, (long long)bins);
    int64_t bad = 0, upper = 0;
    for (int64_t i = 0; stream && i < num; i++) {
        bad += stream[i] < 0 || stream[i] >= bins;
        const int64_t row = stream[i] % (nao * nao) / nao, column = stream[i] % nao;
        upper += row < column && (row < s || (row - s) / 3 != (column - s) / 3);
    }
    CHECK(bad == 0, "%s: %lld outside", path, (long long)bad);
    /* Blocks above the diagonal are never added to; one on it is added to as a whole. */
    CHECK(upper == 0, "%s: %lld above the diagonal", path, (long long)upper);
    int32_t *part = bench_replay_read(run, path, num / 3, &some, &bins, &all_again);
    CHECK(part && some <= num / 3 && some > 0 && all_again == all, "%s: part of %lld", path,
          (long long)some);
    free(part);
    free(stream);
    fmo_dataset_destroy(dataset);
}

/* Runs all checks, and reads a data set that does not exist. */
int main(void)
{
    const bench_options options = {.repeat = 5, .seconds = 1.0};
    bench_run run = {.options = &options, .threads = 2, .err = {FMO_OK, ""}};
    test_measure(&run);
    test_checks();
    test_ratios(&run);
    test_format();
    test_items(&run);
    test_pair_order();
    test_replay(&run, FMO_DATASET_DIR "/h2_sto-3g.h5");
    test_replay(&run, FMO_DATASET_DIR "/h2o_sto-3g.h5");
    CHECK(run.err.status == FMO_OK, "%s", run.err.message);
    CHECK(!bench_replay_read(&run, FMO_DATASET_DIR "/no-such-file.h5", 1, &(int64_t){0},
                             &(int64_t){0}, &(int64_t){0}) &&
              run.err.status == FMO_ERR_INPUT,
          "a missing data set");
    free(run.cell);
    return check_summary();
}
