/* Elements of the JSON documents of both programs. Each function returns a new reference, or NULL
 * if memory is short; json_pack's "o" takes it over, and fails as a whole on a NULL. */
#ifndef FMO_REPORT_JSON_H
#define FMO_REPORT_JSON_H

#include "driver/base/spread.h"

#include <jansson.h>

/** null for NaN and infinity. */
json_t *driver_json_number(double value);

/** null for NULL. If the text is not UTF-8, bytes that are not ASCII become '?'. */
json_t *driver_json_text(const char *value);

/** Returns the document as ASCII text, to be freed; no string in it can send a control character to
 *  a terminal. NULL if memory is short. @param[in] flags  of json_dumps */
char *driver_json_document(const json_t *root, size_t flags);

/** {"min", "median", "max"} */
json_t *driver_json_spread(const driver_spread *spread);

/** Returns the first members of a document: "format", "version", "fmo_version", "revision", and
 *  "host" with "cpu" and "cores". */
json_t *driver_json_head(const char *format, int version);

#endif
