/* Atomic replacement of files: the content is written under a temporary name in the directory of
 * the destination, synced and renamed over it, so that the path always holds the old or the new
 * content. Each write first removes temporary files that killed processes left in that directory;
 * they are recognised by their name, which holds their own inode number. All result, TREXIO, Molden
 * and JSON files are written by these functions. Next: file.c. */
#ifndef FMO_IO_OUTPUT_FILE_H
#define FMO_IO_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <fmo/dataset.h>

typedef struct fmo_output {
    char label[256]; /* path for messages */
    char *target;    /* destination, with symbolic links resolved */
    char *directory; /* directory of the destination, ending in a slash */
    char *temporary; /* path of the temporary file, in that directory; NULL if there is none */
    mode_t mode;     /* permissions of the file to be replaced; 0 if there is none */
    bool no_tmpfile; /* do not use O_TMPFILE, which some file systems lack; set by tests */
    fmo_error *err;
} fmo_output;

/* Checks that path may be written. Rejects a directory, a device, a write-protected file, and the
 * data set itself. dataset may be NULL. Call fmo_output_close afterwards, also on error. */
fmo_status fmo_output_open(fmo_output *output, const char *path, const fmo_dataset *dataset,
                           fmo_error *err);

/* Writes the bytes to a temporary file, syncs and renames it. Returns FMO_OK, FMO_ERR_OUTPUT or
 * FMO_ERR_MEMORY; on error the old file is unchanged and the temporary file removed. */
fmo_status fmo_output_write(fmo_output *output, const void *bytes, size_t size);
void fmo_output_close(fmo_output *output);

/* Sets the error message "LABEL: message". Returns status. */
fmo_status fmo_output_fail(const fmo_output *output, fmo_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
