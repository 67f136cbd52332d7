/* Text files made from a result: the table of pairs (table.c), their heat map (map.c), a page for
 * browsers (page.c) and a check point file of ABINIT-MP (cpf.c). */
#ifndef FMO_FRAGMENT_TEXT_H
#define FMO_FRAGMENT_TEXT_H

#include <fmo/fragment.h>

#include <stdbool.h>
#include <stdio.h>

enum { FMO_FRAGMENT_NAME = 64 };

/* Source of a text. */
typedef struct fmo_text_source {
    const fmo_fragment_system *system;
    const fmo_fragment_result *result;
    const char *basis; /* may be NULL */
    int ligand;        /* fragment whose pairs are listed first, or -1 */
} fmo_text_source;

/* Writes a text; returns false if there is no memory. */
typedef bool fmo_put(FILE *stream, const fmo_text_source *source);

/* Writes what `put` prints to a file, completely or not at all; numbers have a decimal point in
 * every locale. call: name of the function in messages. Returns FMO_OK, FMO_ERR_ARGUMENT (a result
 * of another system), FMO_ERR_OUTPUT, FMO_ERR_MEMORY. */
fmo_status fmo_fragment_write_text(const char *path, const fmo_text_source *source, fmo_put *put,
                                   const char *call, fmo_error *err);

/* Checks that the system can be computed, and that the result has its monomers with atoms, and its
 * charges, which the table and the heat map do not need. Returns FMO_OK or FMO_ERR_ARGUMENT, or an
 * error of fmo_fragment_system_check. */
fmo_status fmo_fragment_check_whole(const fmo_text_source *source, const char *call,
                                    fmo_error *err);

/* Returns a fragment's name without control characters; "" if it has none. */
const char *fmo_fragment_name(const fmo_fragment_system *system, int fragment,
                              char name[FMO_FRAGMENT_NAME]);

#endif
