/* Elements of JSON documents: numbers, texts, spreads, and the head of a document. See json.h. */
#define _GNU_SOURCE
#include "driver/report/json.h"
#include "driver/report/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fmo/version.h>

json_t *driver_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *driver_json_text(const char *value)
{
    if (!value) return json_null();
    json_t *string = json_string(value);
    if (string) return string;
    char *copy = strdup(value);
    if (!copy) return NULL;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c > 127) *c = '?';
    string = json_string(copy);
    free(copy);
    return string;
}

/* Dumps a document and escapes the control characters that Jansson leaves. */
char *driver_json_document(const json_t *root, size_t flags)
{
    char *document = json_dumps(root, flags | JSON_ENSURE_ASCII);
    size_t deletes = 0;
    if (!document) return NULL;
    for (const char *c = document; *c; c++) deletes += *c == '\x7f';
    if (!deletes) return document;
    /* Jansson does not escape DEL, which can only occur in strings. */
    char *clean = malloc(strlen(document) + 5 * deletes + 1), *to = clean;
    for (const char *c = document; clean && *c; c++)
        if (*c == '\x7f')
            to += sprintf(to, "\\u007f");
        else
            *to++ = *c;
    if (clean) *to = '\0';
    free(document);
    return clean;
}

json_t *driver_json_spread(const driver_spread *spread)
{
    return json_pack("{s:o, s:o, s:o}", "min", driver_json_number(spread->min), "median",
                     driver_json_number(spread->median), "max", driver_json_number(spread->max));
}

json_t *driver_json_head(const char *format, int version)
{
    char cpu[128];
    driver_host_cpu(cpu, sizeof cpu);
    return json_pack("{s:s, s:i, s:s, s:o, s:{s:o, s:i}}", "format", format, "version", version,
                     "fmo_version", FMO_VERSION_STRING, "revision",
                     driver_json_text(driver_host_revision()), "host", "cpu", driver_json_text(cpu),
                     "cores", driver_host_cores());
}
