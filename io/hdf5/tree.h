/* Everything that hangs from the root of a file, walked and checked once: groups, links, headers of
 * objects, where their data are. What is looked up later is looked up here. */
#ifndef FMO_IO_HDF5_TREE_H
#define FMO_IO_HDF5_TREE_H

#include "io/hdf5/layout.h"

typedef struct fmo_h5_link {
    char *name;
    bool hard; /* else a soft or external one, which is not followed */
    uint64_t address;
    size_t node; /* of the object, if hard */
} fmo_h5_link;

typedef enum fmo_h5_kind { FMO_H5_GROUP, FMO_H5_DATASET, FMO_H5_OTHER } fmo_h5_kind;

typedef struct fmo_h5_node {
    fmo_h5_kind kind;
    fmo_h5_object object;
    uint64_t links;    /* found */
    fmo_h5_link *link; /* [link_num] of a group */
    size_t link_num, link_room;
    fmo_h5_dataset dataset;
    char path[64]; /* by which it was found first, for messages, made harmless and cut */
} fmo_h5_node;

typedef struct fmo_h5_tree {
    fmo_h5_file file;
    fmo_h5_node *node;  /* [node_num] 0: the root */
    size_t *by_address; /* [node_num] nodes, sorted by their addresses */
    size_t node_num, node_room;
    const char *where; /* path of the object that something was wrong with; NULL: the file's */
} fmo_h5_tree;

/* Open and walk a file. On error, tree->file.why and tree->where say what and where. Free with
 * fmo_h5_tree_free in any case. */
fmo_h5_code fmo_h5_tree_read(fmo_h5_tree *tree, int descriptor, uint64_t size);
void fmo_h5_tree_free(fmo_h5_tree *tree);

/* A link of a group by its name; NULL without. */
const fmo_h5_link *fmo_h5_tree_link(const fmo_h5_node *group, const char *name);

/* Links of a group whose header is read (group.c). */
fmo_h5_code fmo_h5_group_links(fmo_h5_file *file, fmo_h5_node *group);

#endif
