/* Texts made of a result, for files: the table of pairs (table.c) and their heat map (map.c). */
#ifndef FMO_FRAGMENT_TEXT_H
#define FMO_FRAGMENT_TEXT_H

#include <fmo/fragment.h>

#include <stdbool.h>
#include <stdio.h>

enum { FMO_FRAGMENT_NAME = 64 };

/* What is written of. */
typedef struct fmo_text_source {
    const fmo_fragment_system *system;
    const fmo_fragment_result *result;
    const char *basis; /* or NULL */
} fmo_text_source;

/* false: no memory. */
typedef bool fmo_put(FILE *stream, const fmo_text_source *source);

/* What `put` prints, numbers with a point whatever the locale, into a file: whole or not at all.
 * FMO_OK, FMO_ERR_ARGUMENT (a result that is not of this system), FMO_ERR_OUTPUT, FMO_ERR_MEMORY.
 */
fmo_status fmo_fragment_write_text(const char *path, const fmo_text_source *source, fmo_put *put,
                                   const char *call, fmo_error *err);

/* A fragment's name, harmless; "" without one. */
const char *fmo_fragment_name(const fmo_fragment_system *system, int fragment,
                              char name[FMO_FRAGMENT_NAME]);

#endif
