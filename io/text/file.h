/* Files as users name them: opened for reading, and shown in messages. */
#ifndef FMO_IO_TEXT_FILE_H
#define FMO_IO_TEXT_FILE_H

#include <stddef.h>
#include <sys/stat.h>
#include <fmo/status.h>

/* The path as messages show it, or "..." and its end, in size bytes. */
void fmo_path_label(const char *path, char *label, size_t size);

/* What to say of a directory and of an empty file. */
typedef struct fmo_file_hints {
    const char *directory, *empty;
} fmo_file_hints;

/* Open a regular file that is not empty. On error *descriptor may be open all the same: close it
 * unless it is -1. FMO_OK, or FMO_ERR_INPUT with "LABEL: what is wrong; the cure". */
fmo_status fmo_file_open(const char *path, const char *label, const fmo_file_hints *hints,
                         int *descriptor, struct stat *info, fmo_error *err);

#endif
