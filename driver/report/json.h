/* Parts of JSON documents that both programs write. Each returns a new reference, NULL without
 * memory; json_pack's "o" takes it over and fails as a whole on a NULL. */
#ifndef FMO_REPORT_JSON_H
#define FMO_REPORT_JSON_H

#include "driver/base/spread.h"

#include <jansson.h>

/** null for what is not a number. */
json_t *driver_json_number(double value);

/** null for NULL; '?' for bytes that are not ASCII in what is not UTF-8. */
json_t *driver_json_text(const char *value);

/** The document in memory (free it), ASCII alone: whatever is in its strings, nothing of it reaches
 *  a terminal as a control character. NULL without memory. @param[in] flags  of json_dumps */
char *driver_json_document(const json_t *root, size_t flags);

/** {"min", "median", "max"} */
json_t *driver_json_spread(const driver_spread *spread);

/** What a document begins with: "format", "version", "fmo_version", "revision" and "host", an
 * object of "cpu" and "cores". */
json_t *driver_json_head(const char *format, int version);

#endif
