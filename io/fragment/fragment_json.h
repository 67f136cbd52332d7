/* JSON documents of ours that are read: fields by name, with one line for each way to be wrong. */
#ifndef FMO_IO_FRAGMENT_JSON_H
#define FMO_IO_FRAGMENT_JSON_H

#include "io/text/json.h"

/* The first field of an object that is not in `known`, a list that NULL ends; NULL: all are. */
const char *fmo_json_unknown(const json_t *object, const char *const *known);

/* A copy of a text for a message: cut, harmless. */
const char *fmo_json_quote(const char *text, char quote[FMO_QUOTE_SIZE]);

/* An array of `count` integers from low to high, or of finite numbers up to `most` in size.
 * FMO_OK, or FMO_ERR_INPUT that names the element. */
fmo_status fmo_json_integers(const fmo_text *text, const char *name, const json_t *array, int count,
                             int low, int high, int *values);
fmo_status fmo_json_reals(const fmo_text *text, const char *name, const json_t *array, int count,
                          double most, double *values);

#endif
