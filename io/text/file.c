/* Opens files named by the user; declared in file.h. */
#include "io/text/file.h"
#include "base/harmless.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* "-" is the standard input. Every reader opens it anew, which needs a regular file. */
static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *fmo_path_to_open(const char *path)
{
    return is_stdin(path) ? "/dev/stdin" : path;
}

void fmo_path_label(const char *path, char *label, size_t size)
{
    if (is_stdin(path)) path = "standard input";
    size_t length = strlen(path);
    if (length < size)
        memcpy(label, path, length + 1);
    else
        snprintf(label, size, "...%s", path + length - (size - 4));
    fmo_text_harmless(label);
}

/* Opens without blocking, so that a FIFO is rejected instead of waited for. */
fmo_status fmo_file_open(const char *path, const char *label, const fmo_file_hints *hints,
                         int *descriptor, struct stat *info, fmo_error *err)
{
    *descriptor = open(fmo_path_to_open(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*descriptor < 0 && (errno == EMFILE || errno == ENFILE))
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "%s: cannot open it: %s; close some, or raise the limit (ulimit -n)",
                             label, strerror(errno));
    if (*descriptor < 0 || fstat(*descriptor, info) != 0)
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "%s: cannot open it: %s; check the path and the permissions", label,
                             strerror(errno));
    if (S_ISDIR(info->st_mode))
        return fmo_error_set(err, FMO_ERR_INPUT, "%s: %s", label, hints->directory);
    if (!S_ISREG(info->st_mode))
        return fmo_error_set(err, FMO_ERR_INPUT,
                             "%s: is not a regular file; copy its content into one", label);
    if (info->st_size == 0) return fmo_error_set(err, FMO_ERR_INPUT, "%s: %s", label, hints->empty);
    return FMO_OK;
}
