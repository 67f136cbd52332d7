/* Parses the words of the command line. Has no global state, unlike getopt. See option.h. Next:
 * option_values.c. */
#include "driver/cli/option.h"

#include <string.h>

static bool takes_value(const cli_option *row)
{
    return row->metavar != NULL;
}

/* Edit (Levenshtein) distance, for "did you mean"; 99 if b is longer than 32 characters. */
static int edit_distance(const char *a, const char *b)
{
    int row[33];
    const int length = (int)strlen(b);
    if (length > 32) return 99;
    for (int j = 0; j <= length; j++) row[j] = j;
    for (int i = 1; a[i - 1] != '\0'; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            const int change = diagonal + (a[i - 1] != b[j - 1]);
            const int insert_or_delete = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < insert_or_delete ? change : insert_or_delete;
        }
    }
    return row[length];
}

static fmo_status refuse_name(const cli_program *program, const char *name, fmo_error *err)
{
    const char *nearest = NULL;
    int nearest_distance = 3; /* more than two changes are unlikely to be a typing error */
    for (int i = 0; i < program->option_num; i++) {
        const char *candidate = program->option[i].name;
        const int distance = edit_distance(name, candidate);
        if (distance < nearest_distance) nearest_distance = distance, nearest = candidate;
    }
    if (nearest)
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "unknown option --%s: did you mean --%s?", name,
                             nearest);
    return fmo_error_set(err, FMO_ERR_ARGUMENT, "unknown option --%s (see %s --help)", name,
                         program->name);
}

/* Finds the row of a long name of the given length, which may be abbreviated; returns NULL and sets
 * an error if there is none, or more than one. */
static const cli_option *find_long(const cli_program *program, const char *word, size_t length,
                                   fmo_error *err)
{
    const cli_option *found = NULL;
    char name[33];
    snprintf(name, sizeof name, "%.*s", (int)(length < 32 ? length : 32), word);
    for (int i = 0; i < program->option_num; i++) {
        const cli_option *row = &program->option[i];
        if (strncmp(row->name, word, length) == 0 && row->name[length] == '\0') return row;
    }
    for (int i = 0; i < program->option_num && length > 0; i++) {
        const cli_option *row = &program->option[i];
        if (strncmp(row->name, word, length) != 0) continue;
        if (found) {
            fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s could be --%s or --%s", name, found->name,
                          row->name);
            return NULL;
        }
        found = row;
    }
    if (!found) refuse_name(program, name, err);
    return found;
}

static const cli_option *find_letter(const cli_program *program, char letter, fmo_error *err)
{
    for (int i = 0; i < program->option_num; i++)
        if (program->option[i].letter == letter) return &program->option[i];
    fmo_error_set(err, FMO_ERR_ARGUMENT, "unknown option -%c (see %s --help)", letter,
                  program->name);
    return NULL;
}

/* State of parsing. */
typedef struct reader {
    const cli_program *program;
    char **argv;
    int argc, next; /* next: index of the next word */
    void *options;
    bool *given, stopped;
} reader;

/* Sets an option. `attached`: the value in the same word, or NULL. */
static fmo_status take(reader *r, const cli_option *row, const char *attached, fmo_error *err)
{
    const char *value = attached;
    if (takes_value(row) && !row->without && !value) {
        if (r->next == r->argc)
            return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s needs a value: --%s %s", row->name,
                                 row->name, row->metavar);
        value = r->argv[r->next++];
    }
    const fmo_status status = cli_set(row, value, r->options, err);
    if (status != FMO_OK) return status;
    r->given[row - r->program->option] = true;
    if (row->given) *((char *)r->options + row->given) = true;
    if (row->kind == CLI_ACTION) r->stopped = true;
    return FMO_OK;
}

static fmo_status take_long(reader *r, const char *word, fmo_error *err)
{
    const size_t length = strcspn(word, "=");
    const cli_option *row = find_long(r->program, word, length, err);
    if (!row) return FMO_ERR_ARGUMENT;
    if (word[length] == '=' && !takes_value(row))
        return fmo_error_set(err, FMO_ERR_ARGUMENT, "--%s takes no value", row->name);
    return take(r, row, word[length] == '=' ? word + length + 1 : NULL, err);
}

/* Refuses "-o=y.h5", which would mean a file "=y.h5". */
static fmo_status refuse_sign(const cli_option *row, const char *value, fmo_error *err)
{
    const char *const between = row->without ? "" : " ";
    return fmo_error_set(err, FMO_ERR_ARGUMENT,
                         "-%c=%.64s: the value of a short option follows without =: did you mean "
                         "-%c%s%.64s, or --%s=%.64s?",
                         row->letter, value, row->letter, between, value, row->name, value);
}

/* Parses a word of short options: "-t4", or several without values, "-qV". */
static fmo_status take_letters(reader *r, const char *letters, fmo_error *err)
{
    fmo_status status = FMO_OK;
    for (const char *c = letters; *c && status == FMO_OK && !r->stopped; c++) {
        const cli_option *row = find_letter(r->program, *c, err);
        if (!row) return FMO_ERR_ARGUMENT;
        if (takes_value(row) && c[1] == '=') return refuse_sign(row, c + 2, err);
        if (takes_value(row)) return take(r, row, c[1] ? c + 1 : NULL, err);
        status = take(r, row, NULL, err);
    }
    return status;
}

/* Parses all words; what is not an option is moved to the front of argv. */
fmo_status cli_parse(const cli_program *program, int argc, char **argv, void *options, bool *given,
                     int *operand_num, fmo_error *err)
{
    reader r = {program, argv, argc, 1, options, given, false};
    fmo_status status = FMO_OK;
    int operands = 0;
    bool ended = false;
    memset(given, 0, (size_t)program->option_num * sizeof *given);
    while (status == FMO_OK && r.next < argc && !r.stopped) {
        char *word = argv[r.next++];
        if (ended || word[0] != '-' || word[1] == '\0')
            argv[++operands] = word; /* never overwrites a word that was not yet read */
        else if (strcmp(word, "--") == 0)
            ended = true;
        else if (word[1] == '-')
            status = take_long(&r, word + 2, err);
        else
            status = take_letters(&r, word + 1, err);
    }
    *operand_num = operands;
    return status;
}

fmo_status cli_defaults(const cli_program *program, void *options, fmo_error *err)
{
    fmo_status status = FMO_OK;
    for (int i = 0; i < program->option_num && status == FMO_OK; i++)
        if (program->option[i].value)
            status = cli_set(&program->option[i], program->option[i].value, options, err);
    return status;
}

const cli_option *cli_misplaced(const cli_program *program, const bool *given, unsigned commands)
{
    for (int i = 0; i < program->option_num; i++) {
        const cli_option *row = &program->option[i];
        if (given[i] && row->commands && !(row->commands & commands)) return row;
    }
    return NULL;
}
