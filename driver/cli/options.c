/* Command line: the option table, strict number parsing, --help.
 * A new option is one row of option_table and, if it takes a value, one set_... function; a new
 * value of --mode or --reduce is a row in fock.h and nothing here. */
#define _GNU_SOURCE
#include "driver/cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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
static const char *integrals_name(int value)
{
    return fmo_integrals_name((fmo_integrals)value);
}
static const char *integrals_text(int value)
{
    return fmo_integrals_text((fmo_integrals)value);
}
static const char *guess_name(int value)
{
    return fmo_scf_guess_name((fmo_scf_guess)value);
}
static const char *guess_text(int value)
{
    return fmo_scf_guess_text((fmo_scf_guess)value);
}
static const char *solver_name(int value)
{
    return fmo_scf_solver_name((fmo_scf_solver)value);
}
static const char *solver_text(int value)
{
    return fmo_scf_solver_text((fmo_scf_solver)value);
}
static const char *stability_name(int value)
{
    return fmo_scf_stability_name((fmo_scf_stability)value);
}
static const char *stability_text(int value)
{
    return fmo_scf_stability_text((fmo_scf_stability)value);
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
static const choice_list integrals_choices = {FMO_INTEGRALS_COUNT, integrals_name, integrals_text};
static const choice_list guess_choices = {FMO_SCF_GUESS_COUNT, guess_name, guess_text};
static const choice_list solver_choices = {FMO_SCF_SOLVER_COUNT, solver_name, solver_text};
static const choice_list stability_choices = {FMO_SCF_STABILITY_COUNT, stability_name,
                                              stability_text};
static const choice_list profile_choices = {DRIVER_PROFILE_FORMAT_COUNT, profile_name,
                                            profile_text};

/* What an option goes with. */
typedef enum option_use { USE_ALWAYS, USE_BUILD, USE_SCF } option_use;

typedef struct option_row option_row;
struct option_row {
    const char *name;
    char letter;         /**< short form or 0 */
    int argument;        /**< no_argument, required_argument, optional_argument */
    const char *metavar; /**< of the argument, NULL without one */
    fmo_status (*set)(const option_row *row, const char *value, driver_options *options,
                      fmo_error *err);
    void (*show_default)(const option_row *row, const driver_options *options,
                         FILE *stream); /**< or NULL */
    const choice_list *choices;         /**< or NULL */
    const char *help;
    option_use use;
    size_t at;           /**< of the int, enum or double in driver_options that set_... fills */
    double low, high;    /**< of a number */
    const char *example; /**< of a real number */
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

/* A decimal number and nothing else, low <= value <= high. */
static fmo_status parse_number(const option_row *row, const char *value, double low, double high,
                               const char *example, double *number, fmo_error *err)
{
    char *end = NULL;
    errno = 0;
    const double got = strtod(value, &end);
    if (strspn(value, "0123456789.") == 0 || strpbrk(value, "xX") || end == value || *end != '\0' ||
        errno != 0 || !(got >= low && got <= high))
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--%s '%.64s': expected a number from %g to %g, such as %s", row->name,
                             value, low, high, example);
    *number = got;
    return FMO_OK;
}

/* One of the choices, into the enum at row->at. */
static fmo_status set_choice(const option_row *row, const char *value, driver_options *options,
                             fmo_error *err)
{
    int choice = 0;
    const fmo_status status = parse_choice(row, value, &choice, err);
    if (status == FMO_OK) memcpy((char *)options + row->at, &choice, sizeof choice);
    return status;
}
static void default_choice(const option_row *row, const driver_options *options, FILE *stream)
{
    int choice;
    memcpy(&choice, (const char *)options + row->at, sizeof choice);
    fputs(row->choices->name(choice), stream);
}

/* A whole number, into the int at row->at. */
static fmo_status set_count(const option_row *row, const char *value, driver_options *options,
                            fmo_error *err)
{
    int count = 0;
    const fmo_status status = parse_count(row, value, (int)row->low, (int)row->high, &count, err);
    if (status == FMO_OK) memcpy((char *)options + row->at, &count, sizeof count);
    return status;
}
static void default_count(const option_row *row, const driver_options *options, FILE *stream)
{
    int count;
    memcpy(&count, (const char *)options + row->at, sizeof count);
    fprintf(stream, "%d", count);
}

/* A real number, into the double at row->at. */
static fmo_status set_number(const option_row *row, const char *value, driver_options *options,
                             fmo_error *err)
{
    double number = 0.0;
    const fmo_status status =
        parse_number(row, value, row->low, row->high, row->example, &number, err);
    if (status == FMO_OK) memcpy((char *)options + row->at, &number, sizeof number);
    return status;
}
static void default_number(const option_row *row, const driver_options *options, FILE *stream)
{
    double number;
    memcpy(&number, (const char *)options + row->at, sizeof number);
    fprintf(stream, "%g", number);
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
static void default_memory(const option_row *row, const driver_options *options, FILE *stream)
{
    (void)row, (void)options;
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
    const fmo_status status =
        parse_number(row, value, 0.0, 1.0, "1e-10", &options->fock.cutoff, err);
    options->cutoff_given = true;
    return status;
}
static void default_cutoff(const option_row *row, const driver_options *options, FILE *stream)
{
    (void)row;
    fprintf(stream, "%g; --scf %g", options->fock.cutoff, options->scf_options.fock.cutoff);
}

static void default_threads(const option_row *row, const driver_options *options, FILE *stream)
{
    (void)row, (void)options;
    fputs("OMP_NUM_THREADS, else all cores", stream);
}

static fmo_status set_check(const option_row *row, const char *value, driver_options *options,
                            fmo_error *err)
{
    (void)row, (void)value, (void)err;
    options->check = true;
    return FMO_OK;
}

static fmo_status set_batch(const option_row *row, const char *value, driver_options *options,
                            fmo_error *err)
{
    (void)row, (void)value, (void)err;
    options->batch = true;
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

/* ---- values of an SCF ---------------------------------------------------------------------- */

static fmo_status set_scf(const option_row *row, const char *value, driver_options *options,
                          fmo_error *err)
{
    (void)row, (void)value, (void)err;
    options->scf = true;
    return FMO_OK;
}

/* The text of an option that takes a name. */
static fmo_status parse_name(const option_row *row, const char *value, const char **name,
                             fmo_error *err)
{
    if (*value == '\0')
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s: expected a name", row->name);
    *name = value;
    return FMO_OK;
}

static fmo_status set_basis(const option_row *row, const char *value, driver_options *options,
                            fmo_error *err)
{
    return parse_name(row, value, &options->basis, err);
}

static fmo_status set_molden(const option_row *row, const char *value, driver_options *options,
                             fmo_error *err)
{
    return parse_name(row, value, &options->molden, err);
}

static fmo_status set_charge(const option_row *row, const char *value, driver_options *options,
                             fmo_error *err)
{
    const bool negative = *value == '-';
    int size = 0;
    if (parse_count(row, value + (negative || *value == '+'), 0, 100000, &size, NULL) != FMO_OK)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--%s '%.64s': expected a whole number such as 1 or -1", row->name,
                             value);
    options->charge = negative ? -size : size;
    options->charge_given = true;
    return FMO_OK;
}
static void default_charge(const option_row *row, const driver_options *options, FILE *stream)
{
    (void)row, (void)options;
    fputs("0; what a data set says", stream);
}

static fmo_status set_stability(const option_row *row, const char *value, driver_options *options,
                                fmo_error *err)
{
    int choice = FMO_SCF_STABILITY_FOLLOW;
    fmo_status status = value ? parse_choice(row, value, &choice, err) : FMO_OK;
    if (status == FMO_OK) options->scf_options.stability = (fmo_scf_stability)choice;
    return status;
}
static void default_stability(const option_row *row, const driver_options *options, FILE *stream)
{
    (void)row;
    fprintf(stream, "%s; %s where no value is given",
            fmo_scf_stability_name(options->scf_options.stability),
            fmo_scf_stability_name(FMO_SCF_STABILITY_FOLLOW));
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

#define AT(field) .at = offsetof(driver_options, field)

static const option_row option_table[] = {
    {"mode", 'm', required_argument, "MODE", set_choice, default_choice, &mode_choices,
     "where and how to build", AT(fock.mode)},
    {"cutoff", 'c', required_argument, "X", set_cutoff, default_cutoff, NULL,
     "drop quartets estimated below X; 0: none", AT(fock.cutoff), .high = 1.0, .example = "1e-10"},
    {"threads", 't', required_argument, "N", set_count, default_threads, NULL, "CPU threads",
     AT(fock.threads), .low = 1, .high = 4096},
    {"reduce", 0, required_argument, "HOW", set_choice, default_choice, &reduce_choices,
     "how CPU threads add into J and K", AT(fock.reduce)},
    {"scatter", 's', required_argument, "HOW", set_choice, default_choice, &scatter_choices,
     "how GPU threads add into J and K (fused)", AT(fock.scatter)},
    {"commit", 0, required_argument, "HOW", set_choice, default_choice, &commit_choices,
     "how one atomic is done (fused)", AT(fock.commit)},
    {"integrals", 0, required_argument, "HOW", set_choice, default_choice, &integrals_choices,
     "whether integrals are kept between builds (cpu, fused)", AT(fock.integrals)},
    {"no-overlap", 0, no_argument, NULL, set_no_overlap, NULL, NULL,
     "GPU and CPU take turns (split)", .use = USE_ALWAYS},
    {"memory", 0, required_argument, "SIZE", set_memory, default_memory, NULL,
     "work space a build may take, such as 500M or 8G", .use = USE_ALWAYS},
    {"repeat", 'n', required_argument, "N", set_count, default_count, NULL,
     "build N times; report min, median and max", AT(repeat), .low = 1, .high = 100000,
     .use = USE_BUILD},
    {"batch", 0, no_argument, NULL, set_batch, NULL, NULL,
     "build all data sets in one call: side by side on the GPU (fused)", .use = USE_BUILD},
    {"check", 0, no_argument, NULL, set_check, NULL, NULL,
     "compare with the file's reference values, else with --mode reference", .use = USE_BUILD},
    {"output", 'o', required_argument, "FILE", set_output, NULL, NULL,
     "write J, K, G, F = H + G (HDF5); with --scf the orbitals (TREXIO)", .use = USE_ALWAYS},
    {"profile", 'p', optional_argument, "FORMAT", set_profile, NULL, &profile_choices,
     "say where the time went", .use = USE_ALWAYS},
    {"scf", 0, no_argument, NULL, set_scf, NULL, NULL,
     "converge the closed-shell SCF (RHF) of each data set or .xyz file", .use = USE_ALWAYS},
    {"basis", 'b', required_argument, "NAME", set_basis, NULL, NULL,
     "basis set of .xyz files: a name such as 6-31g, or a .json or .gbs file", .use = USE_SCF},
    {"charge", 0, required_argument, "Q", set_charge, default_charge, NULL,
     "charge of the molecule", .use = USE_SCF},
    {"multiplicity", 0, required_argument, "M", set_count, default_count, NULL,
     "2 S + 1; only 1 can be done", AT(multiplicity), .low = 1, .high = 1000, .use = USE_SCF},
    {"guess", 'g', required_argument, "HOW", set_choice, default_choice, &guess_choices,
     "the first density", AT(scf_options.guess), .use = USE_SCF},
    {"max-cycles", 0, required_argument, "N", set_count, default_count, NULL, "Fock builds allowed",
     AT(scf_options.max_cycles), .low = 1, .high = 100000, .use = USE_SCF},
    {"convergence", 0, required_argument, "X", set_number, default_number, NULL,
     "change of the energy in the last cycle, hartree", AT(scf_options.energy_convergence),
     .low = 1e-14, .high = 1.0, .example = "1e-9", .use = USE_SCF},
    {"gradient-convergence", 0, required_argument, "X", set_number, default_number, NULL,
     "norm of the orbital gradient, hartree", AT(scf_options.gradient_convergence), .low = 1e-10,
     .high = 1.0, .example = "3e-5", .use = USE_SCF},
    {"level-shift", 0, required_argument, "X", set_number, default_number, NULL,
     "added to empty orbitals, hartree", AT(scf_options.level_shift), .high = 100.0,
     .example = "0.3", .use = USE_SCF},
    {"diis-size", 0, required_argument, "N", set_count, default_count, NULL,
     "Fock matrices kept for extrapolation; 1: none", AT(scf_options.diis_size), .low = 1,
     .high = FMO_SCF_DIIS_MAX, .use = USE_SCF},
    {"rebuild-cycles", 0, required_argument, "N", set_count, default_count, NULL,
     "builds in a row from the change of the density; 0: none", AT(scf_options.rebuild_cycles),
     .high = 100000, .use = USE_SCF},
    {"linear-dependence", 0, required_argument, "X", set_number, default_number, NULL,
     "least eigenvalue of the overlap that is kept", AT(scf_options.linear_dependence), .high = 0.1,
     .example = "1e-7", .use = USE_SCF},
    {"solver", 0, required_argument, "HOW", set_choice, default_choice, &solver_choices,
     "from the Fock matrix to the density", AT(scf_options.solver), .use = USE_SCF},
    {"stability", 0, optional_argument, "WHAT", set_stability, default_stability,
     &stability_choices, "is it a minimum?", .use = USE_SCF},
    {"molden", 0, required_argument, "FILE", set_molden, NULL, NULL,
     "write the orbitals for viewers (Molden)", .use = USE_SCF},
    {"quiet", 'q', no_argument, NULL, set_quiet, NULL, NULL,
     "print only the check line, or the SCF's energy, and errors", .use = USE_ALWAYS},
    {"help", 'h', no_argument, NULL, set_help, NULL, NULL, "print this text", .use = USE_ALWAYS},
    {"version", 'V', no_argument, NULL, set_version, NULL, NULL, "print the version",
     .use = USE_ALWAYS},
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
    char list[512] = "";
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
    options->multiplicity = 1;
    fmo_scf_options_init(&options->scf_options);
}

double driver_cutoff(const driver_options *options)
{
    return options->scf && !options->cutoff_given ? options->scf_options.fock.cutoff
                                                  : options->fock.cutoff;
}

bool driver_is_xyz(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".xyz") == 0;
}

/* Geometries need a basis set, data sets have theirs. */
static fmo_status check_kind(const driver_options *options, const char *path, fmo_error *err)
{
    if (driver_is_xyz(path) && !options->scf)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%.200s: a geometry has no density: add --scf --basis NAME", path);
    if (driver_is_xyz(path) && !options->basis)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%.200s: a geometry needs a basis set: add --basis NAME, such as "
                             "--basis 6-31g",
                             path);
    if (!driver_is_xyz(path) && options->basis)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "%.200s: a data set has its own basis functions: leave out --basis, "
                             "which is for .xyz files",
                             path);
    return FMO_OK;
}

/* Options that were given, by row, against what is to be run. */
static fmo_status check_use(const driver_options *options, const bool *given, fmo_error *err)
{
    for (int i = 0; i < OPTION_NUM; i++) {
        const option_row *row = &option_table[i];
        if (given[i] && row->use == USE_SCF && !options->scf)
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s belongs to an SCF: add --scf",
                                 row->name);
        if (given[i] && row->use == USE_BUILD && options->scf)
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s does not go with --scf", row->name);
    }
    return FMO_OK;
}

static fmo_status check_data_sets(const driver_options *options, fmo_error *err)
{
    if (options->dataset_num == 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "no data set given: fmo-driver DATASET.h5... (see fmo-driver --help)");
    if ((options->output || options->molden) && options->dataset_num > 1)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--%s takes one data set, not %d: run them one by one",
                             options->output ? "output" : "molden", options->dataset_num);
    if (options->output && options->molden && strcmp(options->output, options->molden) == 0)
        return fmo_error_set(err, FMO_ERR_ARGUMENT,
                             "--output and --molden name the same file: choose two");
    for (int i = 0; i < options->dataset_num; i++) {
        const char *path = options->datasets[i];
        if (*path == '\0')
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "data set %d has an empty name", i + 1);
        /* "--profile json": getopt takes the value of an optional argument only after "=". */
        if (options->profile != DRIVER_PROFILE_NONE && access(path, F_OK) != 0)
            for (int format = 0; format < DRIVER_PROFILE_FORMAT_COUNT; format++)
                if (strcmp(path, profile_name(format)) == 0)
                    return fmo_error_set(err, FMO_ERR_ARGUMENT, "did you mean --profile=%s?", path);
        const fmo_status status = check_kind(options, path, err);
        if (status != FMO_OK) return status;
    }
    return FMO_OK;
}

fmo_status driver_options_parse(int argc, char **argv, driver_options *options, fmo_error *err)
{
    struct option rows[OPTION_NUM + 1] = {{0}};
    char letters[3 * OPTION_NUM + 2] =
        ":"; /* ":": a missing value is told from an unknown option */
    bool given[OPTION_NUM] = {false};
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
        given[row - option_table] = true;
        if (options->action != DRIVER_RUN) return FMO_OK; /* --help wins over what follows */
    }
    options->datasets = argv + optind;
    options->dataset_num = argc - optind;
    const fmo_status status = check_use(options, given, err);
    return status == FMO_OK ? check_data_sets(options, err) : status;
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
    fputs("Usage: fmo-driver DATASET.h5... [--batch] [OPTION]...\n"
          "       fmo-driver DATASET.h5... --scf [OPTION]...\n"
          "       fmo-driver MOLECULE.xyz... --basis NAME --scf [OPTION]...\n"
          "Build the two-electron Fock matrix G = J - K/2 of each data set (a TREXIO file with a\n"
          "density; docs/dataset-format.md), report it, its cost and the energy; or converge the\n"
          "closed-shell SCF of each data set or geometry (docs/scf.md).\n\n"
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
            row->show_default(row, &defaults, stream);
            fputc(']', stream);
        }
        fputc('\n', stream);
        if (row->choices) print_choices(row->choices, stream);
    }
    fputs("\nExit codes: 0 done, 1 check failed or not possible, or SCF not converged, 2 usage,\n"
          "3 unusable input or output, 4 no GPU or a GPU fault, 5 out of memory; the worst one of\n"
          "several data sets.\n\n"
          "Examples: fmo-driver datasets/h2o8_6-31g.h5 --check\n"
          "          fmo-driver datasets/xyz/water008.xyz --basis 6-31g --scf\n",
          stream);
}
