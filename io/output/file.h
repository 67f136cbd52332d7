/* Files that appear whole or not at all: bytes are written under a temporary name beside their
 * destination, synced and renamed over it, so that the path holds the old or the new content
 * whatever happens. What killed processes left behind is removed by the next write into the same
 * directory, and nothing else: a temporary's name holds its own inode number. The one writer of
 * result files, TREXIO, Molden and JSON. */
#ifndef FMO_IO_OUTPUT_FILE_H
#define FMO_IO_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <fmo/dataset.h>

typedef struct fmo_output {
    char label[256]; /* the path as messages show it */
    char *target;    /* the destination, symbolic links resolved */
    char *directory; /* that holds it, with a slash */
    char *temporary; /* beside it; NULL while there is none */
    mode_t mode;     /* permissions of the file to be replaced, 0 without one */
    bool no_tmpfile; /* as on file systems that make no files without a name; tests set it */
    fmo_error *err;
} fmo_output;

/* May path be written? Refused: a directory, a device, a write-protected file, the data set itself.
 * Close with fmo_output_close, on error, too. dataset may be NULL. */
fmo_status fmo_output_open(fmo_output *output, const char *path, const fmo_dataset *dataset,
                           fmo_error *err);

/* Write, sync, rename. FMO_OK, FMO_ERR_OUTPUT or FMO_ERR_MEMORY; on error the old file is as it was
 * and the temporary one is gone. */
fmo_status fmo_output_write(fmo_output *output, const void *bytes, size_t size);
void fmo_output_close(fmo_output *output);

/* Record "LABEL: message". Returns status. */
fmo_status fmo_output_fail(const fmo_output *output, fmo_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
