/* Makes text from the command line or from a file safe to print on a terminal: one line without
 * control characters, so that it can neither imitate other output nor move the cursor. JSON output
 * contains such text unchanged, but escaped. */
#ifndef FMO_BASE_SHOWN_H
#define FMO_BASE_SHOWN_H

#include "base/harmless.h"

#include <stdio.h>

enum { DRIVER_SHOWN_SIZE = 4400 /* a path of any length that Linux opens */ };
typedef struct driver_shown_text {
    char text[DRIVER_SHOWN_SIZE];
} driver_shown_text;

static inline driver_shown_text driver_shown_copy(const char *text)
{
    driver_shown_text shown;
    snprintf(shown.text, sizeof shown.text, "%s", text);
    fmo_text_harmless(shown.text);
    return shown;
}

/** The returned text is valid until the end of the full expression. */
#define driver_shown(string) (driver_shown_copy(string).text)

#endif
