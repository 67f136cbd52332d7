/* Shared by the options' uses as text (options_uses.c), the table of options (options.c) and the
 * checks that read the table (options_check.c); each of these files uses only those before it. */
#ifndef FMO_CLI_OPTIONS_INTERNAL_H
#define FMO_CLI_OPTIONS_INTERNAL_H

#include "driver/cli/option.h"
#include "driver/cli/options.h"

/* Kinds of runs, as bits of cli_option.commands: builds of one data set or of all in one call, SCFs
 * of one or of all in one call, and fragments. */
enum {
    BUILD = 1u << 0,
    BUILD_BATCH = 1u << 1,
    SCF = 1u << 2,
    SCF_BATCH = 1u << 3,
    FRAGMENTS = 1u << 4,
    ANY_BUILD = BUILD | BUILD_BATCH,
    ANY_SCF = SCF | SCF_BATCH
};

/* Kinds of input files, as bits of cli_option.inputs. */
enum { DATASET = 1u << 0, GEOMETRY = 1u << 1, SYSTEM = 1u << 2, PDB = 1u << 3 };

#define MODE(name) (1u << FMO_MODE_##name)
#define AT(field)  offsetof(driver_options, field) /* column `at` of a row */

extern const cli_program driver_program;

void driver_options_defaults(driver_options *options);

/* Writes the names of the bits of a set, separated by ", ", with `last` before the last one. */
void driver_list_bits(unsigned set, const char *const *names, int num, const char *last, char *text,
                      size_t size);
void driver_list_modes(unsigned modes, char *text, size_t size);
void driver_list_commands(unsigned commands, char *text, size_t size);
void driver_list_inputs(unsigned inputs, char *text, size_t size);

/* Writes where an option has an effect, for --help: "--scf or --fmo; --mode cpu; with --output". */
void driver_list_uses(const cli_option *row, char *text, size_t size);

/* Whether the first line of a file is a whole number, as in a .xyz file. */
bool driver_looks_like_xyz(const char *path);

bool driver_is_folder(const char *path);
bool driver_is_pdb(const char *path);

/* Returns the program that unpacks a file, by the end of its name; NULL if it is not compressed. */
const char *driver_unpacker_of(const char *path);

#endif
