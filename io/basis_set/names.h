/* Which file a basis set is in. */
#ifndef FMO_IO_BASIS_SET_NAMES_H
#define FMO_IO_BASIS_SET_NAMES_H

#include <stddef.h>
#include <fmo/status.h>

/* Length of a file name without its suffix; 0 if it is not the name of a basis set. */
size_t fmo_basis_file_stem(const char *file);

/* The path of a name, or a copy of a path, to be freed. FMO_OK, FMO_ERR_INPUT (an unknown name: the
 * message lists the known ones) or FMO_ERR_MEMORY. */
fmo_status fmo_basis_file_find(const char *name_or_path, char **path, fmo_error *err);

#endif
