/* Checks the files of a command line before hours are spent on computing: outputs must be writable,
 * as far as this can be known in advance, and no two names may refer to the same file. */
#ifndef FMO_BASE_FILES_H
#define FMO_BASE_FILES_H

#include <stdbool.h>
#include <fmo/result.h>

typedef struct driver_file {
    const char *what;   /**< e.g. "--output", "data set" */
    const char *path;   /**< NULL if there is none */
    bool written;       /**< true: an output; false: an input */
    fmo_file_kind kind; /**< of an output: the kind that will be written */
} driver_file;

/** Refuses outputs that are not regular files, whose folder is not writable, or that would replace
 *  a file of another kind, unless `force`. Also refuses two names of the same file, unless both are
 *  inputs; files are compared by device and inode, and by name if they do not exist yet.
 *  @return FMO_OK, FMO_ERR_OUTPUT with one line that names the option, FMO_ERR_MEMORY */
fmo_status driver_check_files(const driver_file *file, int count, bool force, fmo_error *err);

/* If the program was started with a standard stream closed, the first file opened would get its
 * number, and the report would be written into that file. Fills the gaps with streams on which
 * writing fails. */
void driver_reserve_standard_streams(void);

#endif
