/* Traversal of the two kinds of B-trees in HDF5; a callback gets each record in order. Section
 * numbers refer to the HDF5 File Format Specification. Next: btree.c. */
#ifndef FMO_IO_HDF5_BTREE_H
#define FMO_IO_HDF5_BTREE_H

#include "io/hdf5/file.h"

/* Callback for version 1 (III.A.1): address of a child of a leaf node, and the keys to its left and
 * right. */
typedef fmo_h5_code (*fmo_h5_visit_leaf)(fmo_h5_file *file, uint64_t child,
                                         const unsigned char *left, const unsigned char *right,
                                         void *data);

/* Traverses a tree of version 1. kind: 0 for groups, 1 for chunks; key: bytes of a key; k: half the
 * maximum number of children of a node. */
fmo_h5_code fmo_h5_btree1_walk(fmo_h5_file *file, uint64_t address, unsigned kind, size_t key,
                               unsigned k, fmo_h5_visit_leaf visit, void *data);

/* Callback for version 2 (III.A.2): a record of `size` bytes. */
typedef fmo_h5_code (*fmo_h5_visit_record)(fmo_h5_file *file, const unsigned char *record,
                                           size_t size, void *data);

/* Traverses a tree of version 2. kind: type of its records. */
fmo_h5_code fmo_h5_btree2_walk(fmo_h5_file *file, uint64_t address, unsigned kind,
                               fmo_h5_visit_record visit, void *data);

#endif
