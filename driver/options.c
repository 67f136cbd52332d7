/* Command line: the option table, strict number parsing, --help.
 * A new option is one row of option_table and, if it takes a value, one set_... function; a new
 * value of --mode or --reduce is a row in fock.h and nothing here. */
#define _GNU_SOURCE
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The values an option may take, by number; text may be NULL. */
typedef struct choice_list {
    int count;
    const char *(*name)(int value);
    const char *(*text)(int value);
} choice_list;

static const char *mode_name(int value)
{
    return fmo_mode_name((fmo_mode)value);
}
static const char *mode_text(int value)
{
    return fmo_mode_text((fmo_mode)value);
}
static const char *reduce_name(int value)
{
    return fmo_reduce_name((fmo_reduce)value);
}
static const char *reduce_text(int value)
{
    return fmo_reduce_text((fmo_reduce)value);
}
static const char *scatter_name(int value)
{
    return fmo_scatter_name((fmo_scatter)value);
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
static const char *profile_name(int value)
{
    static const char *const names[DRIVER_PROFILE_FORMAT_COUNT] = {"none", "table", "json"};
    return names[value];
}
static const char *profile_text(int value)
{
    static const char *const texts[DRIVER_PROFILE_FORMAT_COUNT] = {
        "no profile", "lines for people, after the report (as --profile alone)",
        "only JSON on stdout (docs/profile-json.md)"};
    return texts[value];
}

static const choice_list mode_choices = {FMO_MODE_COUNT, mode_name, mode_text};
static const choice_list reduce_choices = {FMO_REDUCE_COUNT, reduce_name, reduce_text};
static const choice_list scatter_choices = {FMO_SCATTER_COUNT, scatter_name, scatter_text};
static const choice_list commit_choices = {FMO_COMMIT_COUNT, commit_name, commit_text};
static const choice_list profile_choices = {DRIVER_PROFILE_FORMAT_COUNT, profile_name,
                                            profile_text};

typedef struct option_row option_row;
struct option_row {
    const char *name;
    char letter;         /**< short form or 0 */
    int argument;        /**< no_argument, required_argument, optional_argument */
    const char *metavar; /**< of the argument, NULL without one */
    fmo_status (*set)(const option_row *row, const char *value, driver_options *options,
                      fmo_error *err);
    void (*show_default)(const driver_options *options, FILE *stream); /**< or NULL */
    const choice_list *choices;                                        /**< or NULL */
    const char *help;
};

/* ---- values -------------------------------------------------------------------------------- */

static fmo_status parse_choice(const option_row *row, const char *value, int *choice,
                               fmo_error *err)
{
    char list[256] = "";
    for (int i = 0; i < row->choices->count; i++) {
        const char *name = row->choices->name(i);
        if (strcmp(value, name) == 0) {
            *choice = i;
            return FMO_OK;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s",
                 i == 0 ? "" : (i == row->choices->count - 1 ? " or " : ", "), name);
    }
    return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s '%.64s': expected %s", row->name, value,
                         list);
}

/* A decimal integer and nothing else, low <= value <= high. */
static fmo_status parse_count(const option_row *row, const char *value, int low, int high,
                              int *count, fmo_error *err)
{
    size_t digits = strspn(value, "0123456789");
    errno = 0;
    long number = strtol(value, NULL, 10);
    if (digits == 0 || value[digits] != '\0' || errno != 0 || number < low || number > high)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--%s '%.64s': expected a whole number from %d to %d", row->name,
                             value, low, high);
    *count = (int)number;
    return FMO_OK;
}

static fmo_status set_mode(const option_row *row, const char *value, driver_options *options,
                           fmo_error *err)
{
    int choice = 0;
    fmo_status status = parse_choice(row, value, &choice, err);
    if (status == FMO_OK) options->fock.mode = (fmo_mode)choice;
    return status;
}
static void default_mode(const driver_options *options, FILE *stream)
{
    fputs(fmo_mode_name(options->fock.mode), stream);
}

static fmo_status set_reduce(const option_row *row, const char *value, driver_options *options,
                             fmo_error *err)
{
    int choice = 0;
    fmo_status status = parse_choice(row, value, &choice, err);
    if (status == FMO_OK) options->fock.reduce = (fmo_reduce)choice;
    return status;
}
static void default_reduce(const driver_options *options, FILE *stream)
{
    fputs(fmo_reduce_name(options->fock.reduce), stream);
}

static fmo_status set_scatter(const option_row *row, const char *value, driver_options *options,
                              fmo_error *err)
{
    int choice = 0;
    fmo_status status = parse_choice(row, value, &choice, err);
    if (status == FMO_OK) options->fock.scatter = (fmo_scatter)choice;
    return status;
}
static void default_scatter(const driver_options *options, FILE *stream)
{
    fputs(fmo_scatter_name(options->fock.scatter), stream);
}

static fmo_status set_commit(const option_row *row, const char *value, driver_options *options,
                             fmo_error *err)
{
    int choice = 0;
    fmo_status status = parse_choice(row, value, &choice, err);
    if (status == FMO_OK) options->fock.commit = (fmo_commit)choice;
    return status;
}
static void default_commit(const driver_options *options, FILE *stream)
{
    fputs(fmo_commit_name(options->fock.commit), stream);
}

/* Bytes, or with a suffix K, M, G or T powers of 1024 of them. */
static fmo_status set_memory(const option_row *row, const char *value, driver_options *options,
                             fmo_error *err)
{
    static const char suffixes[] = "KMGT";
    size_t digits = strspn(value, "0123456789");
    errno = 0;
    unsigned long long bytes = strtoull(value, NULL, 10);
    const char *rest = value + digits;
    int shift = 0;
    if (digits > 0 && errno == 0 && *rest != '\0') {
        const char *suffix = strchr(suffixes, *rest);
        if (suffix && rest[1] == '\0') shift = 10 * (int)(suffix - suffixes + 1);
    }
    if (digits == 0 || errno != 0 || (*rest != '\0' && shift == 0) || bytes == 0 ||
        bytes > SIZE_MAX >> shift)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--%s '%.64s': expected bytes, or a whole number with K, M, G or T",
                             row->name, value);
    options->fock.memory = (size_t)bytes << shift;
    return FMO_OK;
}
static void default_memory(const driver_options *options, FILE *stream)
{
    (void)options;
    fputs("what is free", stream);
}

static fmo_status set_no_overlap(const option_row *row, const char *value, driver_options *options,
                                 fmo_error *err)
{
    (void)row, (void)value, (void)err;
    options->fock.no_overlap = 1;
    return FMO_OK;
}

/* Above 1 hartree nothing would be left: that is a slip such as "10" for "1e-10". */
static fmo_status set_cutoff(const option_row *row, const char *value, driver_options *options,
                             fmo_error *err)
{
    char *end = NULL;
    errno = 0;
    double cutoff = strtod(value, &end);
    if (strspn(value, "0123456789.") == 0 || strpbrk(value, "xX") || end == value || *end != '\0' ||
        errno != 0 || !(cutoff >= 0.0 && cutoff <= 1.0))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--%s '%.64s': expected a number from 0 to 1, such as 1e-10",
                             row->name, value);
    options->fock.cutoff = cutoff;
    return FMO_OK;
}
static void default_cutoff(const driver_options *options, FILE *stream)
{
    fprintf(stream, "%g", options->fock.cutoff);
}

static fmo_status set_threads(const option_row *row, const char *value, driver_options *options,
                              fmo_error *err)
{
    return parse_count(row, value, 1, 4096, &options->fock.threads, err);
}
static void default_threads(const driver_options *options, FILE *stream)
{
    (void)options;
    fputs("OMP_NUM_THREADS, else all cores", stream);
}

static fmo_status set_repeat(const option_row *row, const char *value, driver_options *options,
                             fmo_error *err)
{
    return parse_count(row, value, 1, 100000, &options->repeat, err);
}
static void default_repeat(const driver_options *options, FILE *stream)
{
    fprintf(stream, "%d", options->repeat);
}

static fmo_status set_check(const option_row *row, const char *value, driver_options *options,
                            fmo_error *err)
{
    (void)row, (void)value, (void)err;
    options->check = true;
    return FMO_OK;
}

static fmo_status set_output(const option_row *row, const char *value, driver_options *options,
                             fmo_error *err)
{
    if (*value == '\0')
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s: expected the name of a file", row->name);
    options->output = value;
    return FMO_OK;
}

static fmo_status set_profile(const option_row *row, const char *value, driver_options *options,
                              fmo_error *err)
{
    int choice = DRIVER_PROFILE_TABLE;
    fmo_status status = value ? parse_choice(row, value, &choice, err) : FMO_OK;
    if (status == FMO_OK) options->profile = (driver_profile_format)choice;
    return status;
}

static fmo_status set_quiet(const option_row *row, const char *value, driver_options *options,
                            fmo_error *err)
{
    (void)row, (void)value, (void)err;
    options->quiet = true;
    return FMO_OK;
}

static fmo_status set_help(const option_row *row, const char *value, driver_options *options,
                           fmo_error *err)
{
    (void)row, (void)value, (void)err;
    options->action = DRIVER_HELP;
    return FMO_OK;
}

static fmo_status set_version(const option_row *row, const char *value, driver_options *options,
                              fmo_error *err)
{
    (void)row, (void)value, (void)err;
    options->action = DRIVER_VERSION;
    return FMO_OK;
}

/* ---- the table ----------------------------------------------------------------------------- */

static const option_row option_table[] = {
    {"mode", 'm', required_argument, "MODE", set_mode, default_mode, &mode_choices,
     "where and how to build"},
    {"cutoff", 'c', required_argument, "X", set_cutoff, default_cutoff, NULL,
     "drop quartets whose estimate falls below X; 0: none"},
    {"threads", 't', required_argument, "N", set_threads, default_threads, NULL, "CPU threads"},
    {"reduce", 0, required_argument, "HOW", set_reduce, default_reduce, &reduce_choices,
     "how CPU threads add into J and K"},
    {"scatter", 's', required_argument, "HOW", set_scatter, default_scatter, &scatter_choices,
     "how GPU threads add into J and K (fused)"},
    {"commit", 0, required_argument, "HOW", set_commit, default_commit, &commit_choices,
     "how one atomic is done (fused)"},
    {"no-overlap", 0, no_argument, NULL, set_no_overlap, NULL, NULL,
     "GPU and CPU take turns (split)"},
    {"memory", 0, required_argument, "SIZE", set_memory, default_memory, NULL,
     "work space a build may take, such as 500M or 8G"},
    {"repeat", 'n', required_argument, "N", set_repeat, default_repeat, NULL,
     "build N times; report min, median and max"},
    {"check", 0, no_argument, NULL, set_check, NULL, NULL,
     "compare with the file's reference values, else with --mode reference"},
    {"output", 'o', required_argument, "FILE", set_output, NULL, NULL,
     "write J, K, G and, when H is known, F = H + G (HDF5)"},
    {"profile", 'p', optional_argument, "FORMAT", set_profile, NULL, &profile_choices,
     "say where the time went"},
    {"quiet", 'q', no_argument, NULL, set_quiet, NULL, NULL,
     "print only the check line and errors"},
    {"help", 'h', no_argument, NULL, set_help, NULL, NULL, "print this text"},
    {"version", 'V', no_argument, NULL, set_version, NULL, NULL, "print the version"},
};
enum { OPTION_NUM = sizeof option_table / sizeof option_table[0] };
enum { OPTION_BASE = 1000 }; /* getopt_long's value of row i is OPTION_BASE + i */

static const option_row *row_of(int code)
{
    if (code >= OPTION_BASE && code < OPTION_BASE + OPTION_NUM)
        return &option_table[code - OPTION_BASE];
    for (int i = 0; i < OPTION_NUM; i++)
        if (code != 0 && option_table[i].letter == code) return &option_table[i];
    return NULL;
}

/* Edit distance, for "did you mean"; names are short, longer ones count as far. */
static int edit_distance(const char *a, const char *b)
{
    int row[33];
    int length = (int)strlen(b);
    if (length > 32) return 99;
    for (int j = 0; j <= length; j++) row[j] = j;
    for (int i = 1; a[i - 1] != '\0'; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            int insert_or_delete = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < insert_or_delete ? change : insert_or_delete;
        }
    }
    return row[length];
}

/* getopt_long said '?' to a word: an unknown option, an ambiguous one, or a value too many. */
static fmo_status refuse_option(const char *word, int letter, fmo_error *err)
{
    const option_row *known = row_of(letter);
    if (known) return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s takes no value", known->name);
    if (strncmp(word, "--", 2) != 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "unknown option -%c (see fmo-driver --help)",
                             letter);
    char name[33];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    char list[256] = "";
    const char *nearest = NULL, *first = NULL;
    int nearest_distance = 3; /* more changes than two are no slip */
    for (int i = 0; i < OPTION_NUM; i++) {
        const char *candidate = option_table[i].name;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s--%s", i ? " " : "", candidate);
        if (*name != '\0' && strncmp(candidate, name, strlen(name)) == 0) {
            if (first)
                return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s could be --%s or --%s", name,
                                     first, candidate);
            first = candidate;
        }
        int distance = edit_distance(name, candidate);
        if (distance < nearest_distance) nearest_distance = distance, nearest = candidate;
    }
    if (nearest)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "unknown option --%s: did you mean --%s?", name,
                             nearest);
    return fmo_error_set(err, FMO_ERR_ARGUMENT, "unknown option --%s: expected one of %s", name,
                         list);
}

static void set_defaults(driver_options *options)
{
    memset(options, 0, sizeof *options);
    fmo_fock_options_init(&options->fock);
    options->repeat = 1;
}

static fmo_status check_data_sets(const driver_options *options, fmo_error *err)
{
    if (options->dataset_num == 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "no data set given: fmo-driver DATASET.h5... (see fmo-driver --help)");
    if (options->output && options->dataset_num > 1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--output takes one data set, not %d: run them one by one",
                             options->dataset_num);
    for (int i = 0; i < options->dataset_num; i++) {
        const char *path = options->datasets[i];
        if (*path == '\0')
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "data set %d has an empty name", i + 1);
        /* "--profile json": getopt takes the value of an optional argument only after "=". */
        if (options->profile != DRIVER_PROFILE_NONE && access(path, F_OK) != 0)
            for (int format = 0; format < DRIVER_PROFILE_FORMAT_COUNT; format++)
                if (strcmp(path, profile_name(format)) == 0)
                    return fmo_error_set(err, FMO_ERR_ARGUMENT, "did you mean --profile=%s?", path);
    }
    return FMO_OK;
}

fmo_status driver_options_parse(int argc, char **argv, driver_options *options, fmo_error *err)
{
    struct option rows[OPTION_NUM + 1] = {{0}};
    char letters[3 * OPTION_NUM + 2] =
        ":"; /* ":": a missing value is told from an unknown option */
    char *end = letters + 1;
    for (int i = 0; i < OPTION_NUM; i++) {
        const option_row *row = &option_table[i];
        rows[i] = (struct option){row->name, row->argument, NULL, OPTION_BASE + i};
        if (row->letter == 0) continue;
        *end++ = row->letter;
        for (int colon = 0; colon < row->argument; colon++) *end++ = ':';
    }

    set_defaults(options);
    opterr = 0;
    optind = 0; /* GNU: forget everything of an earlier parse */
    for (;;) {
        int code = getopt_long(argc, argv, letters, rows, NULL);
        if (code == -1) break;
        const char *word = argv[optind > 0 ? optind - 1 : 0];
        const option_row *row = row_of(code == ':' ? optopt : code);
        if (code == ':' && row)
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s needs a value: --%s %s", row->name,
                                 row->name, row->metavar);
        if (!row) return refuse_option(word, optopt, err);
        fmo_status status = row->set(row, optarg, options, err);
        if (status != FMO_OK) return status;
        if (options->action != DRIVER_RUN) return FMO_OK; /* --help wins over what follows */
    }
    options->datasets = argv + optind;
    options->dataset_num = argc - optind;
    return check_data_sets(options, err);
}

/* ---- --help -------------------------------------------------------------------------------- */

enum { HELP_WIDTH = 100, HELP_INDENT = 8 };

/* The values of an option, one below the other, long texts broken between words. */
static void print_choices(const choice_list *choices, FILE *stream)
{
    int name_width = 0;
    for (int k = 0; k < choices->count; k++) {
        int length = (int)strlen(choices->name(k));
        if (length > name_width) name_width = length;
    }
    int indent = HELP_INDENT + name_width + 2;
    for (int k = 0; k < choices->count; k++) {
        fprintf(stream, "%*s%-*s", HELP_INDENT, "", name_width, choices->name(k));
        int column = indent - 2;
        for (const char *word = choices->text(k); *word;) {
            int length = (int)strcspn(word, " ");
            if (column > indent && column + 1 + length > HELP_WIDTH) {
                fprintf(stream, "\n%*s", indent, "");
                column = indent;
            } else {
                int gap = column < indent ? indent - column : 1;
                fprintf(stream, "%*s", gap, "");
                column += gap;
            }
            fprintf(stream, "%.*s", length, word);
            column += length;
            word += length + strspn(word + length, " ");
        }
        fputc('\n', stream);
    }
}

void driver_options_help(FILE *stream)
{
    driver_options defaults;
    set_defaults(&defaults);
    fputs("Usage: fmo-driver DATASET.h5... [OPTION]...\n"
          "Build the two-electron Fock matrix G = J - K/2 of each data set (a TREXIO file with a\n"
          "density; docs/dataset-format.md), report it, its cost and the energy.\n\n"
          "Options, anywhere on the line:\n",
          stream);
    for (int i = 0; i < OPTION_NUM; i++) {
        const option_row *row = &option_table[i];
        char left[64];
        const char *open = "", *close = "", *value = "";
        if (row->metavar) {
            open = row->argument == optional_argument ? "[=" : " ";
            close = row->argument == optional_argument ? "]" : "";
            value = row->metavar;
        }
        if (row->letter)
            snprintf(left, sizeof left, "-%c, --%s%s%s%s", row->letter, row->name, open, value,
                     close);
        else
            snprintf(left, sizeof left, "    --%s%s%s%s", row->name, open, value, close);
        fprintf(stream, "  %-24s %s", left, row->help);
        if (row->show_default) {
            fputs(" [", stream);
            row->show_default(&defaults, stream);
            fputc(']', stream);
        }
        fputc('\n', stream);
        if (row->choices) print_choices(row->choices, stream);
    }
    fputs("\nExit codes: 0 done, 1 check failed or not possible, 2 usage, 3 unusable input or "
          "output,\n"
          "4 no GPU or a GPU fault, 5 out of memory; the worst one of several data sets.\n\n"
          "Example: fmo-driver datasets/h2o8_6-31g.h5 --check\n",
          stream);
}
