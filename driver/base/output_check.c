/* The folder is there and may be written to, and the file is no data set of ours. */
#define _GNU_SOURCE
#include "driver/base/output_check.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

fmo_status driver_check_output(const char *option, const char *output, const char *input,
                               const char *kind, fmo_error *err)
{
    struct stat out, in, folder_stat;
    if (stat(output, &out) == 0) {
        if (!S_ISREG(out.st_mode))
            return fmo_error_set(err, FMO_ERR_OUTPUT, "--%s %.300s: not a regular file", option,
                                 output);
        if (input && stat(input, &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return fmo_error_set(err, FMO_ERR_OUTPUT, "--%s is the %s itself: choose another name",
                                 option, kind);
    }
    char *copy = strdup(output);
    if (!copy) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory");
    fmo_status status = FMO_OK;
    const char *folder = dirname(copy);
    size_t length = strlen(output);
    if (stat(folder, &folder_stat) != 0)
        status = fmo_error_set(err, FMO_ERR_OUTPUT, "--%s %.300s: folder %.100s: %s", option,
                               output, folder, strerror(errno));
    else if (output[length - 1] == '/')
        status = fmo_error_set(err, FMO_ERR_OUTPUT, "--%s %.300s: expected the name of a file",
                               option, output);
    else if (access(folder, W_OK | X_OK) != 0)
        status = fmo_error_set(err, FMO_ERR_OUTPUT, "--%s %.300s: folder %.100s: %s", option,
                               output, folder, strerror(errno));
    free(copy);
    return status;
}
