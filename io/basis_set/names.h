/* Finds the file of a basis set by its name. The search order is in basis_set.h. Next: names.c. */
#ifndef FMO_IO_BASIS_SET_NAMES_H
#define FMO_IO_BASIS_SET_NAMES_H

#include <stddef.h>
#include <fmo/status.h>

/* Returns the length of a file name without its suffix; 0 if it is not the file of a basis set. */
size_t fmo_basis_file_stem(const char *file);

/* Returns the path of the file with this name, or a copy if a path is passed; to be freed by the
 * caller. FMO_OK, FMO_ERR_INPUT (unknown name; the message lists the known ones) or
 * FMO_ERR_MEMORY. */
fmo_status fmo_basis_file_find(const char *name_or_path, char **path, fmo_error *err);

#endif
