/* All objects of an HDF5 file, reached from the root and checked once: groups, links, object
 * headers, and storage of data. Later look-ups use this tree. Next: tree.c, group.c. */
#ifndef FMO_IO_HDF5_TREE_H
#define FMO_IO_HDF5_TREE_H

#include "io/hdf5/layout.h"

typedef struct fmo_h5_link {
    char *name;
    bool hard; /* false: a soft or external link, which is not followed */
    uint64_t address;
    size_t node; /* index of the object's node, if hard */
} fmo_h5_link;

typedef enum fmo_h5_kind { FMO_H5_GROUP, FMO_H5_DATASET, FMO_H5_OTHER } fmo_h5_kind;

typedef struct fmo_h5_node {
    fmo_h5_kind kind;
    fmo_h5_object object;
    uint64_t links;    /* number of hard links found */
    fmo_h5_link *link; /* [link_num] of a group, sorted by name */
    size_t link_num, link_capacity;
    fmo_h5_dataset dataset;
    char path[64]; /* path by which it was found first, for messages; truncated, unprintable
                      characters replaced */
} fmo_h5_node;

typedef struct fmo_h5_tree {
    fmo_h5_file file;
    fmo_h5_node *node; /* [node_num]; 0: the root */
    size_t *slot;      /* [slot_num] hash table of addresses: 1 + index of a node, or 0 */
    size_t slot_num;   /* a power of 2, at least twice the number of nodes */
    size_t node_num, node_capacity;
    const char *where; /* path of the object with the error; NULL: the file itself */
} fmo_h5_tree;

/* Opens a file and reads its tree. On error, tree->file.why and tree->where describe it. Call
 * fmo_h5_tree_free in any case. */
fmo_h5_code fmo_h5_tree_read(fmo_h5_tree *tree, int descriptor, uint64_t size);
void fmo_h5_tree_free(fmo_h5_tree *tree);

/* Finds a link of a group by name; NULL if there is none. */
const fmo_h5_link *fmo_h5_tree_link(const fmo_h5_node *group, const char *name);

/* Reads the links of a group whose header has been read (group.c). */
fmo_h5_code fmo_h5_group_links(fmo_h5_file *file, fmo_h5_node *group);

#endif
