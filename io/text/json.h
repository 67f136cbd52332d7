/* Files of text that are JSON. */
#ifndef FMO_IO_TEXT_JSON_H
#define FMO_IO_TEXT_JSON_H

#include "io/text/text.h"

#include <jansson.h>

/* The document in what is left of an open text, keys once each: json_decref it. NULL on error:
 * FMO_ERR_INPUT, "not valid JSON (why)" and then `cure`, or FMO_ERR_MEMORY. */
fmo_status fmo_text_json(const fmo_text *text, const char *cure, json_t **document);

#endif
