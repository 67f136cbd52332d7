/* Lists of the content of the HDF5 files that fmo writes, to recognise a file to which another
 * program has added something. Next: content.c; kind.c, which calls it. */
#ifndef FMO_IO_OUTPUT_CONTENT_H
#define FMO_IO_OUTPUT_CONTENT_H

#include <fmo/result.h>
#include "io/hdf5/tree.h"

/* Returns true if the file has only groups, datasets and attributes that fmo writes into a file of
 * this kind. */
bool fmo_content_is_ours(const fmo_h5_tree *tree, fmo_file_kind kind);

#endif
