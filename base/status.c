/* Status texts and error recording. */
#include <fmo/status.h>

#include <stdarg.h>
#include <stdio.h>

#include "base/harmless.h"

static const struct {
    int exit_code;
    const char *text;
} status_table[FMO_STATUS_COUNT] = {
#define ROW(name, code, text) [name] = {code, text},
    FMO_STATUS_TABLE(ROW)
#undef ROW
};

const char *fmo_status_text(fmo_status status)
{
    if ((int)status < 0 || status >= FMO_STATUS_COUNT) return "unknown status";
    return status_table[status].text;
}

int fmo_status_exit_code(fmo_status status)
{
    if ((int)status < 0 || status >= FMO_STATUS_COUNT) return 1;
    return status_table[status].exit_code;
}

fmo_status fmo_error_set(fmo_error *err, fmo_status status, const char *format, ...)
{
    if (!err || err->status != FMO_OK) return status;
    err->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    fmo_text_harmless(err->message);
    return status;
}
