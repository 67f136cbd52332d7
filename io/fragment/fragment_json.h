/* Helpers for reading JSON documents: fields by name, and arrays of numbers with a specific error
 * message for each kind of mistake. Next: json.c, hybrids.c. */
#ifndef FMO_IO_FRAGMENT_JSON_H
#define FMO_IO_FRAGMENT_JSON_H

#include "io/text/json.h"

/* Returns the first key of an object that is not in `known`, a NULL-terminated list; NULL if all
 * are. */
const char *fmo_json_unknown(const json_t *object, const char *const *known);

/* Copies a text for a message, truncated and with unprintable characters replaced. Returns
 * quote. */
const char *fmo_json_quote(const char *text, char quote[FMO_QUOTE_SIZE]);

/* Read an array of `count` integers from low to high, or of finite numbers of magnitude at most
 * `limit`. Return FMO_OK, or FMO_ERR_INPUT with a message that names the element. */
fmo_status fmo_json_integers(const fmo_text *text, const char *name, const json_t *array, int count,
                             int low, int high, int *values);
fmo_status fmo_json_reals(const fmo_text *text, const char *name, const json_t *array, int count,
                          double limit, double *values);

#endif
