/* The option engine of fmo-driver and fmo-bench: one table with a row an option says what it is
 * called, what it takes, where that goes, what it is without being given, what it belongs to, and
 * the text of --help. Parsing (option_line.c), values (option_values.c) and --help (option_help.c)
 * read nothing else; cross-checks between options are the programs' own (options.c of each). */
#ifndef FMO_CLI_OPTION_H
#define FMO_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an option takes, and the type of the field that it fills. */
typedef enum cli_kind {
    CLI_FLAG,   /**< nothing; bool, true */
    CLI_SWITCH, /**< nothing; int, 1 */
    CLI_ACTION, /**< nothing; int, `low`. What follows on the line is not looked at: --help */
    CLI_COUNT,  /**< int from low to high, digits alone */
    CLI_SIGNED, /**< int, with or without a sign; high: largest size */
    CLI_WHOLE,  /**< int64_t from low to high, also written 1e7 or 2^28 */
    CLI_LIST,   /**< cli_list: several of those, with commas between them */
    CLI_REAL,   /**< double from low to high */
    CLI_SIZE,   /**< size_t, bytes, or a whole number with K, M, G or T */
    CLI_TEXT,   /**< const char *, into argv, not empty */
    CLI_CHOICE, /**< int or enum, one of `choices` */
    CLI_SET     /**< int64_t, a bit for each of `choices`; "all": all bits */
} cli_kind;

enum { CLI_LIST_MAX = 32 };
typedef struct cli_list {
    int count;
    int64_t value[CLI_LIST_MAX];
} cli_list;

/* Values by name, numbered from 0; a name that is NULL cannot be chosen. */
typedef struct cli_choices {
    int count;
    const char *(*name)(int value);
    const char *(*text)(int value); /**< a line for --help; NULL: names alone */
} cli_choices;

/* cli_choices `list` of an enum whose names are what look_up_name() and look_up_text() return. */
#define CLI_CHOICES(list, num, type, look_up) \
    static const char *list##_name(int value) \
    {                                         \
        return look_up##_name((type)value);   \
    }                                         \
    static const char *list##_text(int value) \
    {                                         \
        return look_up##_text((type)value);   \
    }                                         \
    static const cli_choices list = {num, list##_name, list##_text}

typedef struct cli_option cli_option;
struct cli_option {
    const char *name;
    char letter; /**< short form or 0 */
    cli_kind kind;
    const char *metavar;        /**< of the argument in --help; NULL without one */
    size_t at;                  /**< of the field in the program's options */
    double low, high;           /**< of numbers */
    const cli_choices *choices; /**< or NULL */
    const char *what;           /**< of a real number an example, of a text what it should be */
    const char *without; /**< what the option alone means: its argument needs a "="; or NULL */
    const char *value;   /**< what it is without being given; NULL: see `show` */
    /** Prints that, where it is no text of the table; NULL: nothing, or `value`. */
    void (*show)(const cli_option *row, const void *defaults, FILE *stream);
    unsigned commands; /**< bits of the commands on which it has an effect; 0: all */
    unsigned modes;    /**< bits of the modes of a build in which it has one; 0: all */
    unsigned inputs;   /**< bits of the kinds of input files on which it has one; 0: all */
    const char *needs; /**< name of the option without which it has none, or NULL */
    bool alone;        /**< it has one in a single process alone, not under mpirun */
    size_t given;      /**< of a bool that says it was given; 0: none */
    const char *help;
    const char *section; /**< heading of --help that begins here, or NULL */
};

typedef struct cli_program {
    const char *name; /**< "fmo-driver" */
    const cli_option *option;
    int option_num;
    int command_num;                  /**< commands that --help names behind options */
    const char *(*command_name)(int); /**< or NULL */
    /** Where an option has an effect, for --help, in place of command_name: "" for everywhere; or
     *  NULL. */
    void (*list_uses)(const cli_option *row, char *text, size_t size);
} cli_program;

/** Parse argv. Options may stand anywhere, long names be cut where they stay unique; "--" ends
 * them.
 *  @param[in,out] argv     [argc]; what is no option stands from argv[1] on afterwards
 *  @param[in,out] options  the program's, with its defaults
 *  @param[out] given       [option_num] which were on the line
 *  @param[out] operand_num  words from argv[1] on
 *  @return FMO_OK, or FMO_ERR_ARGUMENT with one line that names the option and what it takes */
fmo_status cli_parse(const cli_program *program, int argc, char **argv, void *options, bool *given,
                     int *operand_num, fmo_error *err);

/** One value into its field. @param[in] value  NULL: what the option alone means */
fmo_status cli_set(const cli_option *row, const char *value, void *options, fmo_error *err);

/** Of what a row's field holds: equal for equal values. */
uint64_t cli_digest(const cli_option *row, const void *options);

/** The fields of rows that have a `value`. */
fmo_status cli_defaults(const cli_program *program, void *options, fmo_error *err);

/** Which of the options given none of these commands takes; NULL: all fit. */
const cli_option *cli_misplaced(const cli_program *program, const bool *given, unsigned commands);

/** Names of choices, "a, b or c" with last = " or ". */
void cli_choice_list(const cli_choices *choices, const char *last, char *text, size_t size);

/** The options that any of the commands takes, for --help.
 *  @param[in] named  behind an option that only some take, say which */
void cli_print_options(const cli_program *program, unsigned commands, bool named,
                       const void *defaults, FILE *stream);

/** cli_option.show: what the field holds. */
void cli_show_field(const cli_option *row, const void *defaults, FILE *stream);

#ifdef __cplusplus
}
#endif
#endif
