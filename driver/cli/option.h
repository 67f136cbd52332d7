/* The option parser of fmo-driver and fmo-bench. Each program has one table with one row per
 * option: name, argument, destination field, default, where it has an effect, and the text of
 * --help. Parsing (option_line.c), values (option_values.c) and --help (option_help.c) read nothing
 * else; each program checks combinations of options itself (cli/options_check.c,
 * bench/options.c). */
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

/* Kind of argument, and type of the field that receives the value. */
typedef enum cli_kind {
    CLI_FLAG,   /**< no argument; sets a bool to true */
    CLI_SWITCH, /**< no argument; sets an int to 1 */
    CLI_ACTION, /**< no argument; sets an int to `low` and ends parsing, e.g. --help */
    CLI_COUNT,  /**< int from low to high, digits only */
    CLI_SIGNED, /**< int with optional sign; high: largest absolute value */
    CLI_WHOLE,  /**< int64_t from low to high, also written as 1e7 or 2^28 */
    CLI_LIST,   /**< cli_list: comma-separated numbers as of CLI_WHOLE */
    CLI_REAL,   /**< double from low to high */
    CLI_SIZE,   /**< size_t, a number of bytes, optionally with suffix K, M, G or T */
    CLI_TEXT,   /**< const char *, points into argv, not empty */
    CLI_CHOICE, /**< int or enum, one of `choices` */
    CLI_SET     /**< int64_t, one bit for each of `choices`; "all" sets all bits */
} cli_kind;

enum { CLI_LIST_MAX = 32 };
typedef struct cli_list {
    int count;
    int64_t value[CLI_LIST_MAX];
} cli_list;

/* Values by name, numbered from 0; a value whose name is NULL cannot be chosen. */
typedef struct cli_choices {
    int count;
    const char *(*name)(int value);
    const char *(*text)(int value); /**< a line for --help; NULL: only names */
} cli_choices;

/* Defines the cli_choices `list` of an enum from the functions look_up_name() and
 * look_up_text(). */
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
    char letter; /**< short form, or 0 */
    cli_kind kind;
    const char *metavar;        /**< placeholder of the argument in --help; NULL if there is none */
    size_t at;                  /**< offset of the field in the program's options */
    double low, high;           /**< range of numbers */
    const cli_choices *choices; /**< or NULL */
    const char *what;           /**< CLI_REAL: an example; CLI_TEXT: what is expected */
    const char *without; /**< value if no argument is given, which makes "=" mandatory; or NULL */
    const char *value;   /**< default as text; NULL: see `show` */
    /** Prints a default that is not a text of the table; NULL: `value` is printed, if any. */
    void (*show)(const cli_option *row, const void *defaults, FILE *stream);
    unsigned commands; /**< bits of the commands in which it has an effect; 0: all */
    unsigned modes;    /**< bits of the build modes in which it has an effect; 0: all */
    unsigned inputs;   /**< bits of the kinds of input files for which it has an effect; 0: all */
    const char *needs; /**< name of an option without which it has no effect, or NULL */
    bool alone;        /**< it has an effect only in a single process, not under mpirun */
    size_t given;      /**< offset of a bool that is set if it was given; 0: none */
    const char *help;
    const char *section; /**< heading of a section of --help that begins with this row, or NULL */
};

typedef struct cli_program {
    const char *name; /**< e.g. "fmo-driver" */
    const cli_option *option;
    int option_num;
    int command_num;                  /**< number of commands that --help names after options */
    const char *(*command_name)(int); /**< or NULL */
    /** Writes where an option has an effect, for --help, instead of using command_name; "" means
     *  everywhere. May be NULL. */
    void (*list_uses)(const cli_option *row, char *text, size_t size);
} cli_program;

/** Parses argv. Options may appear anywhere; long names may be abbreviated if unambiguous; "--"
 *  ends the options.
 *  @param[in,out] argv     [argc]; operands are moved to argv[1], argv[2], ...
 *  @param[in,out] options  the program's options, initialised with their defaults
 *  @param[out] given       [option_num] true for each option that was given
 *  @param[out] operand_num  number of operands
 *  @return FMO_OK, or FMO_ERR_ARGUMENT with one line that names the option and what it expects */
fmo_status cli_parse(const cli_program *program, int argc, char **argv, void *options, bool *given,
                     int *operand_num, fmo_error *err);

/** Converts one value and stores it in its field. @param[in] value  NULL: no argument was given */
fmo_status cli_set(const cli_option *row, const char *value, void *options, fmo_error *err);

/** Returns a hash of a row's field; equal values have equal hashes. */
uint64_t cli_digest(const cli_option *row, const void *options);

/** Sets the fields of all rows that have a `value`. */
fmo_status cli_defaults(const cli_program *program, void *options, fmo_error *err);

/** Returns the first given option that has no effect in any of these commands, or NULL. */
const cli_option *cli_misplaced(const cli_program *program, const bool *given, unsigned commands);

/** Writes the names of choices, e.g. "a, b or c" with last = " or ". */
void cli_choice_list(const cli_choices *choices, const char *last, char *text, size_t size);

/** Prints the options that have an effect in any of the commands, for --help.
 *  @param[in] named  name the commands after an option that only some of them accept */
void cli_print_options(const cli_program *program, unsigned commands, bool named,
                       const void *defaults, FILE *stream);

/** A cli_option.show that prints the value of the field. */
void cli_show_field(const cli_option *row, const void *defaults, FILE *stream);

#ifdef __cplusplus
}
#endif
#endif
