/* The files of a command line: whether outputs can be written, as far as that can be known before
 * hours of computing, and that no two names are one file. */
#ifndef FMO_BASE_FILES_H
#define FMO_BASE_FILES_H

#include <stdbool.h>
#include <fmo/result.h>

typedef struct driver_file {
    const char *what;   /**< "--output", "data set" */
    const char *path;   /**< NULL: none */
    bool written;       /**< an output */
    fmo_file_kind kind; /**< of an output: what it will be */
} driver_file;

/** Outputs are refused that are no regular file, whose folder cannot be written to, that replace a
 *  file of another kind than theirs unless `force`; and any two names of one file, whatever way
 *  they are spelt (device and inode, and name where it is still to be made), unless both are read.
 *  @return FMO_OK, FMO_ERR_OUTPUT with one line that names the option, FMO_ERR_MEMORY */
fmo_status driver_check_files(const driver_file *file, int count, bool force, fmo_error *err);

#endif
