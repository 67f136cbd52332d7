/* What is in the HDF5 files that we write, so that one which somebody has added to is known. */
#ifndef FMO_IO_OUTPUT_CONTENT_H
#define FMO_IO_OUTPUT_CONTENT_H

#include <fmo/result.h>
#include "io/hdf5/tree.h"

/* Has the file groups, datasets and attributes alone that we write into one of this kind? */
bool fmo_content_is_ours(const fmo_h5_tree *tree, fmo_file_kind kind);

#endif
