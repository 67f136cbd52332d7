/* Text files made from a result: the table of pairs (table.c) and their heat map (map.c). */
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
} fmo_text_source;

/* Writes a text; returns false if there is no memory. */
typedef bool fmo_put(FILE *stream, const fmo_text_source *source);

/* Writes what `put` prints to a file, completely or not at all; numbers have a decimal point in
 * every locale. call: name of the function in messages. Returns FMO_OK, FMO_ERR_ARGUMENT (a result
 * of another system), FMO_ERR_OUTPUT, FMO_ERR_MEMORY. */
fmo_status fmo_fragment_write_text(const char *path, const fmo_text_source *source, fmo_put *put,
                                   const char *call, fmo_error *err);

/* Returns a fragment's name without control characters; "" if it has none. */
const char *fmo_fragment_name(const fmo_fragment_system *system, int fragment,
                              char name[FMO_FRAGMENT_NAME]);

#endif
