/* Parses text files that are JSON; declared in json.h. */
#include "io/text/json.h"
#include "base/harmless.h"

#include <stdlib.h>

/* Whether a document of so many bytes could not be held. jansson calls a string for which there is
 * no memory an invalid token; a value takes up to about 16 times the bytes of its text. */
static int is_short_of_memory(size_t bytes)
{
    void *volatile memory = malloc(16 * bytes);
    free(memory);
    return !memory;
}

fmo_status fmo_text_json(const fmo_text *text, const char *cure, json_t **document)
{
    json_error_t error;
    const size_t left = text->size - (size_t)(text->next - text->bytes);
    *document = json_loadb(text->next, left, JSON_REJECT_DUPLICATES, &error);
    if (*document) return FMO_OK;
    fmo_text_harmless(error.text); /* the text quotes the file; without memory it may be empty */
    if (json_error_code(&error) == json_error_out_of_memory || !*error.text ||
        is_short_of_memory(left))
        return fmo_text_fail(text, 0, FMO_ERR_MEMORY, "no memory to read it");
    return fmo_text_fail(text, error.line, FMO_ERR_INPUT, "not valid JSON (%s)%s", error.text,
                         cure);
}
