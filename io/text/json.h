/* Parses text files that are JSON, with the library jansson. Next: text.h. */
#ifndef FMO_IO_TEXT_JSON_H
#define FMO_IO_TEXT_JSON_H

#include "io/text/text.h"

#include <jansson.h>

/* Parses the rest of an open text as JSON; duplicate keys are errors. The caller frees *document
 * with json_decref. On error it is NULL: FMO_ERR_INPUT with the message "not valid JSON (why)"
 * followed by `cure`, or FMO_ERR_MEMORY. */
fmo_status fmo_text_json(const fmo_text *text, const char *cure, json_t **document);

#endif
