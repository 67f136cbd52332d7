/* Opens files named by the user, and shortens paths for messages. Next: file.c, text.h. */
#ifndef FMO_IO_TEXT_FILE_H
#define FMO_IO_TEXT_FILE_H

#include <stddef.h>
#include <sys/stat.h>
#include <fmo/status.h>

/* Writes the path for messages into size bytes; a long path is shortened to "..." and its end, and
 * "-" is the standard input. */
void fmo_path_label(const char *path, char *label, size_t size);

/* Returns the path to open for a path of a user: "/dev/stdin" for "-". */
const char *fmo_path_to_open(const char *path);

/* Message texts for a path that is a directory, and for an empty file. */
typedef struct fmo_file_hints {
    const char *directory, *empty;
} fmo_file_hints;

/* Opens a regular file that is not empty. The caller closes *descriptor if it is not -1, also on
 * error. Returns FMO_OK, or FMO_ERR_INPUT with "LABEL: what is wrong; the cure". */
fmo_status fmo_file_open(const char *path, const char *label, const fmo_file_hints *hints,
                         int *descriptor, struct stat *info, fmo_error *err);

#endif
