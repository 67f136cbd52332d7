/* Command line: one row of option_table per option says where its value goes, what it may be, which
 * experiments take it and what it is without being given. Parsing, checks and --help read it. */
#define _GNU_SOURCE
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/fock.h>

typedef enum option_kind {
    KIND_COUNT,
    KIND_LIST,
    KIND_SET,
    KIND_REAL,
    KIND_TEXT,
    KIND_FLAG
} option_kind;

/* The values of a set, by number; NULL: not to be chosen. */
typedef struct choice_list {
    int count;
    const char *(*name)(int value);
    const char *(*text)(int value);
} choice_list;

static const char *scatter_name(int value)
{
    const fmo_scatter scatter = (fmo_scatter)value;
    return fmo_scatter_kind(scatter) == FMO_SCATTER_ELEMENT ? fmo_scatter_name(scatter) : NULL;
}
static const char *scatter_text(int value)
{
    return fmo_scatter_text((fmo_scatter)value);
}
static const char *commit_name(int value)
{
    return fmo_commit_name((fmo_commit)value);
}
static const char *commit_text(int value)
{
    return fmo_commit_text((fmo_commit)value);
}

/* Modes that a build can be timed in here. */
static const char *mode_name(int value)
{
    return value == FMO_MODE_CPU || value == FMO_MODE_FUSED ? fmo_mode_name((fmo_mode)value) : NULL;
}
static const char *mode_text(int value)
{
    return fmo_mode_text((fmo_mode)value);
}

static const choice_list modes = {FMO_MODE_COUNT, mode_name, mode_text};
static const choice_list types = {BENCH_TYPE_COUNT, bench_type_name, NULL};
static const choice_list inputs = {BENCH_INPUT_COUNT, bench_input_name, NULL};
static const choice_list patterns = {BENCH_PATTERN_COUNT, bench_pattern_name, NULL};
static const choice_list grids = {BENCH_GRID_COUNT, bench_grid_name, NULL};
static const choice_list places = {BENCH_PLACE_COUNT, bench_place_name, NULL};
static const choice_list scatters = {FMO_SCATTER_COUNT, scatter_name, scatter_text};
static const choice_list commits = {FMO_COMMIT_COUNT, commit_name, commit_text};

#define BIT(name) (1u << BENCH_##name)
enum {
    ANY = (1u << BENCH_EXPERIMENT_COUNT) - 1u,
    BUILDS = BIT(fock) | BIT(growth),
    PUBLISHED = ANY & ~BUILDS
};

typedef struct option_row {
    const char *name;
    char letter;
    option_kind kind;
    const char *metavar; /* NULL without a value */
    size_t at;           /* in bench_options */
    double low, high;    /* of numbers */
    const choice_list *choices;
    unsigned experiments; /* that take it */
    const char *value;    /* without the option; NULL: the experiment's own, see its docs */
    const char *help;
} option_row;

#define AT(field) offsetof(bench_options, field)
static const option_row option_table[] = {
    {"where", 'w', KIND_SET, "SET", AT(places), 0, 0, &places, PUBLISHED, "cpu,gpu",
     "which parts run"},
    {"scatter", 's', KIND_SET, "SET", AT(scatters), 0, 0, &scatters, PUBLISHED, "all",
     "strategies of the GPU parts"},
    {"commit", 0, KIND_SET, "SET", AT(commits), 0, 0, &commits, PUBLISHED, "all",
     "how one atomic is done"},
    {"items", 'N', KIND_COUNT, "N", AT(items), 0, 1e12, NULL,
     BIT(histogram) | BIT(reduction) | BIT(strip), NULL, "items"},
    {"bins", 'b', KIND_LIST, "LIST", AT(bins), 1, 1e9, NULL, BIT(histogram),
     "1,10,100,1000,1e4,1e5,1e6,1e7", "bins; replay takes the data set's matrix elements instead"},
    {"type", 0, KIND_SET, "SET", AT(types), 0, 0, &types,
     BIT(histogram) | BIT(himeno) | BIT(reduction), NULL, "type of the sums"},
    {"input", 0, KIND_SET, "SET", AT(inputs), 0, 0, &inputs, BIT(histogram), "doubles",
     "items: numbers in [0,1) or bin numbers (int32)"},
    {"pattern", 'p', KIND_SET, "SET", AT(patterns), 0, 0, &patterns, BIT(histogram), "uniform",
     "how bins repeat; replay needs --dataset"},
    {"zipf", 0, KIND_REAL, "S", AT(zipf), 0, 10, NULL, BIT(histogram), "1",
     "zipf: bin k is hit like 1/(k+1)^S"},
    {"run-length", 0, KIND_COUNT, "N", AT(run_length), 1, 1e9, NULL, BIT(histogram), "8",
     "runs: neighbours that share a bin"},
    {"dataset", 'd', KIND_TEXT, "FILE", AT(dataset), 0, 0, NULL, BIT(histogram), NULL,
     "replay: data set whose Fock build is walked"},
    {"blocks", 0, KIND_LIST, "LIST", AT(blocks), 0, 1e9, NULL, BIT(histogram) | BIT(reduction),
     NULL, "GPU grid in blocks; 0: what is resident"},
    {"batch", 0, KIND_LIST, "LIST", AT(batches), 1, 1e9, NULL, BIT(reduction), "16,256",
     "items of a thread before its one atomic"},
    {"grid", 'g', KIND_SET, "SET", AT(grids), 0, 0, &grids, BIT(himeno), "all", "grid sizes"},
    {"sweeps", 0, KIND_COUNT, "N", AT(sweeps), 0, 1e6, NULL, BIT(himeno) | BIT(kmeans), "2",
     "sweeps (iterations) before the one that is timed"},
    {"strip", 0, KIND_LIST, "LIST", AT(strips), 1, 1e6, NULL,
     BIT(strip) | BIT(kmeans) | BIT(median), "5,10,20,50,100,200,500,1000", "strip lengths"},
    {"edge", 0, KIND_LIST, "LIST", AT(edges), 0, 1e6, NULL, BIT(interchange), "1000,11585",
     "edges of the square matrix; 11585: 1 GB"},
    {"samples", 0, KIND_COUNT, "N", AT(samples), 0, 1e8, NULL, BIT(kmeans), "29696", "samples"},
    {"clusters", 0, KIND_COUNT, "N", AT(clusters), 1, 1e6, NULL, BIT(kmeans), "1000", "clusters"},
    {"dimensions", 0, KIND_COUNT, "N", AT(dimensions), 1, 256, NULL, BIT(kmeans), "32",
     "coordinates of a sample"},
    {"image", 0, KIND_COUNT, "N", AT(image), 0, 32768, NULL, BIT(median), "1024",
     "edge of the image, pixels"},
    {"window", 0, KIND_COUNT, "N", AT(window), 1, 127, NULL, BIT(median), "49",
     "edge of the window, odd"},
    {"mode", 'm', KIND_SET, "SET", AT(modes), 0, 0, &modes, BUILDS, NULL,
     "where to build; without it fused if a GPU answers, else cpu, which leaves out what is large"},
    {"systems", 0, KIND_TEXT, "LIST", AT(systems), 0, 0, NULL, BIT(fock), NULL,
     "beginnings of systems' names, such as water008,batch"},
    {"geometry", 0, KIND_TEXT, "FILE", AT(geometry), 0, 0, NULL, BIT(fock), NULL,
     "a .xyz file instead of the systems; needs --basis"},
    {"basis", 0, KIND_TEXT, "NAME", AT(basis), 0, 0, NULL, BIT(fock), NULL,
     "its basis set: a name such as 6-31g, or a file"},
    {"geometries", 0, KIND_TEXT, "DIR", AT(geometries), 0, 0, NULL, BIT(fock), FMO_XYZ_DIR,
     "where the systems' .xyz files are"},
    {"fragments", 0, KIND_COUNT, "N", AT(fragments), 1, 1e5, NULL, BIT(fock), NULL,
     "displaced copies in one call: of the batch [1000], or of --geometry [1]"},
    {"waters", 0, KIND_LIST, "LIST", AT(waters), 1, 10, NULL, BIT(growth), "1,2,3,4,5",
     "edges of the cubes of waters"},
    {"carbons", 0, KIND_LIST, "LIST", AT(carbons), 1, 1000, NULL, BIT(growth),
     "5,10,20,40,60,80,100,120", "lengths of the alkanes"},
    {"cutoff", 'c', KIND_REAL, "X", AT(cutoff), 0, 1, NULL, BUILDS, "1e-10",
     "quartets estimated below are dropped"},
    {"cycles", 0, KIND_COUNT, "N", AT(cycles), 0, 100, NULL, BUILDS, "3",
     "SCF cycles that the densities come from; 0: atoms' densities"},
    {"threads", 't', KIND_COUNT, "N", AT(threads), 1, 4096, NULL, ANY, NULL, "CPU threads"},
    {"repeat", 'n', KIND_COUNT, "N", AT(repeat), 1, 1000, NULL, ANY, NULL,
     "timed runs of a cell [5; fock and growth 20]"},
    {"seconds", 0, KIND_REAL, "X", AT(seconds), 1e-3, 1e6, NULL, ANY, NULL,
     "time for a cell; of the others what takes longer is extrapolated, and marked [0.5; fock and "
     "growth 3]"},
    {"seed", 0, KIND_COUNT, "N", AT(seed), 0, 1e15, NULL, ANY, "2013", "of the random numbers"},
    {"json", 'j', KIND_TEXT, "FILE", AT(json), 0, 0, NULL, ANY, NULL,
     "write the results as JSON (docs/bench.md)"},
    {"quiet", 'q', KIND_FLAG, NULL, AT(quiet), 0, 0, NULL, ANY, NULL, "no tables"},
    {"help", 'h', KIND_FLAG, NULL, 0, 0, 0, NULL, ANY, NULL, "print this text"},
    {"version", 'V', KIND_FLAG, NULL, 0, 0, 0, NULL, ANY, NULL, "print the version"},
};
enum { OPTION_NUM = sizeof option_table / sizeof option_table[0], OPTION_BASE = 1000 };

/* ---- values -------------------------------------------------------------------------------- */

/* A whole number: digits, also as 1e7 or 2^28. Negative if text (up to end) is not one. */
static int64_t whole(const char *text, const char **end)
{
    const double limit = 9e15; /* doubles are exact up to here */
    size_t digits = strspn(text, "0123456789");
    *end = text + digits;
    if (digits == 0 || digits > 15) return -1;
    double number = strtod(text, NULL);
    number = 0.0;
    for (size_t i = 0; i < digits; i++) number = 10.0 * number + (text[i] - '0');
    if (**end == 'e' || **end == '^') {
        const bool power = **end == '^';
        const char *exponent = *end + 1;
        digits = strspn(exponent, "0123456789");
        if (digits == 0 || digits > 2) return -1;
        const int e = atoi(exponent);
        *end = exponent + digits;
        number = power ? pow(number, e) : number * pow(10.0, e);
    }
    return number <= limit ? (int64_t)number : -1;
}

static fmo_status refuse_number(const option_row *row, const char *value, fmo_error *err)
{
    return fmo_error_set(
        err, FMO_ERR_ARGUMENT, "--%s '%.64s': expected %s from %g to %g, such as 1000, 1e7 or 2^28",
        row->name, value,
        row->kind == KIND_LIST ? "whole numbers, with commas between them," : "a whole number",
        row->low, row->high);
}

static fmo_status set_count(const option_row *row, const char *value, int64_t *count,
                            fmo_error *err)
{
    const char *end;
    const int64_t number = whole(value, &end);
    if (number < 0 || *end || (double)number < row->low || (double)number > row->high)
        return refuse_number(row, value, err);
    *count = number;
    return FMO_OK;
}

static fmo_status set_list(const option_row *row, const char *value, bench_list *list,
                           fmo_error *err)
{
    bench_list read = {.count = 0};
    for (const char *word = value;;) {
        const char *end;
        const int64_t number = whole(word, &end);
        if (number < 0 || (*end && *end != ',') || (double)number < row->low ||
            (double)number > row->high)
            return refuse_number(row, value, err);
        if (read.count == BENCH_LIST_MAX)
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s: at most %d numbers", row->name,
                                 BENCH_LIST_MAX);
        read.value[read.count++] = number;
        if (!*end) break;
        word = end + 1;
    }
    *list = read;
    return FMO_OK;
}

static fmo_status set_set(const option_row *row, const char *value, int64_t *set, fmo_error *err)
{
    int64_t read = 0;
    char list[256] = "all";
    for (int i = 0; i < row->choices->count; i++) {
        const char *name = row->choices->name(i);
        const size_t used = strlen(list);
        if (name) snprintf(list + used, sizeof list - used, ", %s", name);
    }
    for (const char *word = value;;) {
        const size_t length = strcspn(word, ",");
        int64_t found = 0;
        for (int i = 0; i < row->choices->count; i++) {
            const char *name = row->choices->name(i);
            if (!name) continue;
            const bool all = length == 3 && strncmp(word, "all", 3) == 0;
            if (all || (strlen(name) == length && strncmp(word, name, length) == 0))
                found |= (int64_t)1 << i;
        }
        if (!found)
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "--%s '%.64s': expected, with commas between them, some of %s",
                                 row->name, value, list);
        read |= found;
        if (!word[length]) break;
        word += length + 1;
    }
    *set = read;
    return FMO_OK;
}

static fmo_status set_real(const option_row *row, const char *value, double *real, fmo_error *err)
{
    char *end = NULL;
    errno = 0;
    const double number = strtod(value, &end);
    if (strspn(value, "0123456789.") == 0 || strpbrk(value, "xX") || *end || errno != 0 ||
        !(number >= row->low && number <= row->high))
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s '%.64s': expected a number from %g to %g",
                             row->name, value, row->low, row->high);
    *real = number;
    return FMO_OK;
}

static fmo_status set_value(const option_row *row, const char *value, bench_options *options,
                            fmo_error *err)
{
    char *field = (char *)options + row->at;
    switch (row->kind) {
    case KIND_COUNT:
        return set_count(row, value, (int64_t *)(void *)field, err);
    case KIND_LIST:
        return set_list(row, value, (bench_list *)(void *)field, err);
    case KIND_SET:
        return set_set(row, value, (int64_t *)(void *)field, err);
    case KIND_REAL:
        return set_real(row, value, (double *)(void *)field, err);
    case KIND_TEXT:
        if (!*value)
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s: expected a %s", row->name,
                                 row->metavar);
        *(const char **)(void *)field = value;
        return FMO_OK;
    case KIND_FLAG:
        if (strcmp(row->name, "help") == 0)
            options->action = BENCH_HELP;
        else if (strcmp(row->name, "version") == 0)
            options->action = BENCH_VERSION;
        else
            *(bool *)field = true;
        break;
    }
    return FMO_OK;
}

/* ---- the line ------------------------------------------------------------------------------ */

static const option_row *row_of(int code)
{
    if (code >= OPTION_BASE && code < OPTION_BASE + OPTION_NUM)
        return &option_table[code - OPTION_BASE];
    for (int i = 0; i < OPTION_NUM; i++)
        if (code != 0 && option_table[i].letter == code) return &option_table[i];
    return NULL;
}

static fmo_status set_defaults(bench_options *options, fmo_error *err)
{
    memset(options, 0, sizeof *options);
    for (int i = 0; i < OPTION_NUM; i++) {
        const option_row *row = &option_table[i];
        if (row->kind == KIND_COUNT || row->kind == KIND_SET)
            *(int64_t *)(void *)((char *)options + row->at) = -1;
        if (row->kind == KIND_REAL) *(double *)(void *)((char *)options + row->at) = -1.0;
        if (row->value && set_value(row, row->value, options, err) != FMO_OK) return err->status;
    }
    return FMO_OK;
}

static fmo_status set_experiment(int argc, char **argv, bench_options *options, fmo_error *err)
{
    char list[256] = "all";
    for (int e = 0; e < BENCH_EXPERIMENT_COUNT; e++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, ", %s", bench_experiment_name(e));
    }
    if (argc == 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "no experiment given: expected one of %s (see fmo-bench --help)",
                             list);
    if (argc > 1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "one experiment at a time, not also '%.64s'",
                             argv[1]);
    options->experiment = -1;
    if (strcmp(argv[0], "all") == 0) options->experiment = BENCH_EXPERIMENT_COUNT;
    for (int e = 0; e < BENCH_EXPERIMENT_COUNT; e++)
        if (strcmp(argv[0], bench_experiment_name(e)) == 0) options->experiment = e;
    if (options->experiment < 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "unknown experiment '%.64s': expected one of %s", argv[0], list);
    return FMO_OK;
}

static fmo_status check_options(const bench_options *options, const bool *given, fmo_error *err)
{
    const int e = options->experiment;
    for (int i = 0; i < OPTION_NUM; i++)
        if (given[i] && e < BENCH_EXPERIMENT_COUNT && !(option_table[i].experiments >> e & 1u))
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "%s does not take --%s",
                                 bench_experiment_name(e), option_table[i].name);
    const bool histogram = e == BENCH_histogram || e == BENCH_EXPERIMENT_COUNT;
    if (histogram && (options->patterns >> BENCH_REPLAY & 1) && !options->dataset)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--pattern replay needs --dataset FILE");
    if (e == BENCH_histogram && options->types == 1 << BENCH_FLOAT)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--type float: a histogram counts in int32 or double (floats stop "
                             "counting at 2^24)");
    if (!options->geometry != !options->basis)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--geometry FILE and --basis NAME go together");
    if (bench_fock_check_systems(options->systems, err) != FMO_OK) return err->status;
    if (options->geometry && options->systems)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--geometry does not go with --systems");
    if (options->window % 2 == 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--window %d: expected an odd number",
                             (int)options->window);
    return FMO_OK;
}

fmo_status bench_options_parse(int argc, char **argv, bench_options *options, fmo_error *err)
{
    struct option rows[OPTION_NUM + 1] = {{0}};
    char letters[2 * OPTION_NUM + 2] = ":";
    char *end = letters + 1;
    bool given[OPTION_NUM] = {false};
    for (int i = 0; i < OPTION_NUM; i++) {
        const option_row *row = &option_table[i];
        rows[i] =
            (struct option){row->name, row->kind == KIND_FLAG ? no_argument : required_argument,
                            NULL, OPTION_BASE + i};
        if (!row->letter) continue;
        *end++ = row->letter;
        if (row->kind != KIND_FLAG) *end++ = ':';
    }
    if (set_defaults(options, err) != FMO_OK) return err->status;
    opterr = 0;
    optind = 0; /* GNU: forget everything of an earlier parse */
    for (;;) {
        const int code = getopt_long(argc, argv, letters, rows, NULL);
        if (code == -1) break;
        const char *word = argv[optind > 0 ? optind - 1 : 0];
        const option_row *row = row_of(code == ':' ? optopt : code);
        if (code == ':' && row)
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s needs a value: --%s %s", row->name,
                                 row->name, row->metavar);
        if (!row) {
            const option_row *known = row_of(optopt);
            if (known && optopt >= OPTION_BASE)
                return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s takes no value", known->name);
            return fmo_error_set(err, FMO_ERR_ARGUMENT,
                                 "unknown or ambiguous option %.64s (see fmo-bench --help)", word);
        }
        if (set_value(row, optarg ? optarg : "", options, err) != FMO_OK) return err->status;
        given[row - option_table] = true;
        if (options->action != BENCH_RUN) return FMO_OK; /* --help wins over what follows */
    }
    if (set_experiment(argc - optind, argv + optind, options, err) != FMO_OK) return err->status;
    const bool builds = options->experiment < BENCH_EXPERIMENT_COUNT &&
                        bench_experiment_kind(options->experiment) == BENCH_BUILDS;
    if (options->repeat < 0) options->repeat = builds ? 20 : 5;
    if (options->seconds < 0.0) options->seconds = builds ? 3.0 : 0.5;
    return check_options(options, given, err);
}

/* ---- --help -------------------------------------------------------------------------------- */

void bench_options_help(FILE *stream)
{
    fputs(
        "Usage: fmo-bench EXPERIMENT [OPTION]...\n"
        "Run a published experiment on conflicting updates again, or time Fock builds: check the\n"
        "results, print tables (docs/bench.md).\n\nExperiments:\n",
        stream);
    for (int e = 0; e < BENCH_EXPERIMENT_COUNT; e++)
        fprintf(stream, "  %-12s %s\n", bench_experiment_name(e), bench_experiment_text(e));
    fputs("  all          all of them but fock and growth, in this order\n\nOptions:\n", stream);
    for (int i = 0; i < OPTION_NUM; i++) {
        const option_row *row = &option_table[i];
        char left[48], letter[8] = "    ";
        if (row->letter) snprintf(letter, sizeof letter, "-%c, ", row->letter);
        snprintf(left, sizeof left, "%s--%s %s", letter, row->name,
                 row->metavar ? row->metavar : "");
        fprintf(stream, "  %-22s %s", left, row->help);
        if (row->value) fprintf(stream, " [%s]", row->value);
        if (row->experiments != ANY && row->experiments == PUBLISHED) {
            fputs(" (not fock, growth)", stream);
        } else if (row->experiments != ANY) {
            const char *between = " (";
            for (int e = 0; e < BENCH_EXPERIMENT_COUNT; e++) {
                if (!(row->experiments >> e & 1u)) continue;
                fprintf(stream, "%s%s", between, bench_experiment_name(e));
                between = ", ";
            }
            fputs(")", stream);
        }
        fputc('\n', stream);
        if (!row->choices) continue;
        if (!row->choices->text) fprintf(stream, "%25s", "");
        for (int k = 0; k < row->choices->count; k++) {
            const char *name = row->choices->name(k);
            if (!name) continue;
            if (row->choices->text)
                fprintf(stream, "%26s%-13s %s\n", "", name, row->choices->text(k));
            else
                fprintf(stream, " %s", name);
        }
        if (!row->choices->text) fputc('\n', stream);
    }
    fputs("\nA LIST or SET has commas between its values; a number may be written 1e7 or 2^28.\n"
          "Exit codes: 0 done, 1 a result was wrong, 2 usage, 3 unusable input or output, 4 no GPU "
          "where\n"
          "only GPU parts were asked for, or a GPU fault, 5 out of memory.\n\n"
          "Examples: fmo-bench histogram --items 1e6 --bins 1,1000,1e6 --json histogram.json\n"
          "          fmo-bench fock --systems water001,water008 --mode cpu\n",
          stream);
}
