/* The two B-trees of HDF5, walked from end to end. A visitor gets each record in order. */
#ifndef FMO_IO_HDF5_BTREE_H
#define FMO_IO_HDF5_BTREE_H

#include "io/hdf5/file.h"

/* Version 1 (III.A.1): what a leaf holds, with the keys to its left and right. */
typedef fmo_h5_code (*fmo_h5_visit_leaf)(fmo_h5_file *file, uint64_t child,
                                         const unsigned char *left, const unsigned char *right,
                                         void *data);

/* kind: 0 for groups, 1 for chunks; key: bytes of a key; k: half the children of a node. */
fmo_h5_code fmo_h5_btree1_walk(fmo_h5_file *file, uint64_t address, unsigned kind, size_t key,
                               unsigned k, fmo_h5_visit_leaf visit, void *data);

/* Version 2 (III.A.2): records of `size` bytes. */
typedef fmo_h5_code (*fmo_h5_visit_record)(fmo_h5_file *file, const unsigned char *record,
                                           size_t size, void *data);

/* kind: the type of its records. */
fmo_h5_code fmo_h5_btree2_walk(fmo_h5_file *file, uint64_t address, unsigned kind,
                               fmo_h5_visit_record visit, void *data);

#endif
