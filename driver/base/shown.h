/* Texts of a command line or a file as they may stand on a terminal: one line, nothing in it that
 * could forge another or move the cursor. JSON has them as they are, escaped. */
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

/** Until the end of the statement. */
#define driver_shown(string) (driver_shown_copy(string).text)

#endif
