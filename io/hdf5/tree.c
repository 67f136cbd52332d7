/* Reads the tree of all objects of an HDF5 file; declared in tree.h. */
#include "io/hdf5/tree.h"
#include "io/hdf5/attribute.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 1 << 22 }; /* three for each molecule of a batch */

void fmo_h5_tree_free(fmo_h5_tree *tree)
{
    for (size_t i = 0; i < tree->node_num; i++) {
        fmo_h5_node *node = &tree->node[i];
        for (size_t k = 0; k < node->link_num; k++) free(node->link[k].name);
        free(node->link);
        fmo_h5_dataset_free(&node->dataset);
        fmo_h5_object_free(&node->object);
    }
    free(tree->node);
    free(tree->slot);
    tree->node = NULL;
    tree->slot = NULL;
    tree->node_num = tree->node_capacity = tree->slot_num = 0;
    fmo_h5_file_free(&tree->file);
}

static int compare_name(const void *name, const void *link)
{
    return strcmp(name, ((const fmo_h5_link *)link)->name);
}

const fmo_h5_link *fmo_h5_tree_link(const fmo_h5_node *group, const char *name)
{
    if (!group->link_num) return NULL;
    return bsearch(name, group->link, group->link_num, sizeof *group->link, compare_name);
}

/* Returns the slot of the node at an address, or the empty one where it belongs. The multiplier is
 * 2^64 divided by the golden ratio (Knuth, The Art of Computer Programming 3, 6.4). */
static size_t slot_of(const fmo_h5_tree *tree, uint64_t address)
{
    const uint64_t hash = address * 0x9E3779B97F4A7C15u;
    size_t at = (size_t)(hash ^ hash >> 32) & (tree->slot_num - 1);
    while (tree->slot[at] && tree->node[tree->slot[at] - 1].object.address != address)
        at = (at + 1) & (tree->slot_num - 1);
    return at;
}

/* Ensures space for one more node and its slot. */
static fmo_h5_code grow(fmo_h5_tree *tree)
{
    if (tree->node_num < tree->node_capacity) return FMO_H5_OK;
    const size_t capacity = tree->node_capacity ? 2 * tree->node_capacity : 128;
    fmo_h5_node *node = realloc(tree->node, capacity * sizeof *node);
    if (node) tree->node = node;
    size_t *slot = calloc(2 * capacity, sizeof *slot);
    if (!node || !slot) {
        free(slot);
        return fmo_h5_give_up(&tree->file, FMO_H5_MEMORY, "no memory to read it");
    }
    free(tree->slot);
    tree->slot = slot;
    tree->slot_num = 2 * capacity;
    tree->node_capacity = capacity;
    for (size_t i = 0; i < tree->node_num; i++)
        slot[slot_of(tree, tree->node[i].object.address)] = i + 1;
    return FMO_H5_OK;
}

/* Returns the index of the node at an address, and adds an empty one if it is new. */
static fmo_h5_code node_at(fmo_h5_tree *tree, uint64_t address, size_t *index)
{
    const fmo_h5_code code = grow(tree);
    if (code != FMO_H5_OK) return code;
    const size_t at = slot_of(tree, address);
    *index = tree->slot[at] ? tree->slot[at] - 1 : tree->node_num;
    if (tree->slot[at]) return FMO_H5_OK;
    if (tree->node_num == NODES_MAX)
        return FMO_H5_UNKNOWN(&tree->file,
                              "more than %d groups and datasets; write a file of its "
                              "own for fmo",
                              NODES_MAX);
    memset(&tree->node[tree->node_num], 0, sizeof *tree->node);
    tree->node[tree->node_num].object.address = address;
    tree->slot[at] = ++tree->node_num;
    return FMO_H5_OK;
}

static fmo_h5_kind kind_of(const fmo_h5_object *object)
{
    if (fmo_h5_object_find(object, FMO_H5_LAYOUT)) return FMO_H5_DATASET;
    if (fmo_h5_object_find(object, FMO_H5_SYMBOL_TABLE) ||
        fmo_h5_object_find(object, FMO_H5_LINK_INFO) ||
        fmo_h5_object_find(object, FMO_H5_GROUP_INFO))
        return FMO_H5_GROUP;
    return FMO_H5_OTHER;
}

/* Reads the header of a node, its attributes, and its links or storage. */
static fmo_h5_code read_node(fmo_h5_tree *tree, size_t i)
{
    fmo_h5_file *file = &tree->file;
    fmo_h5_node *node = &tree->node[i];
    fmo_h5_code code = fmo_h5_object_read(file, node->object.address, &node->object);
    if (code != FMO_H5_OK) return code;
    code = fmo_h5_attributes_load(file, &node->object);
    if (code != FMO_H5_OK) return code;
    node->kind = kind_of(&node->object);
    if (node->kind == FMO_H5_DATASET) return fmo_h5_dataset_of(file, &node->object, &node->dataset);
    if (node->kind == FMO_H5_GROUP) code = fmo_h5_group_links(file, node);
    return code;
}

/* Sets the path "/group/name"; truncated, unprintable characters replaced. */
static void name_node(fmo_h5_node *node, const char *group, const char *name)
{
    size_t n = 0;
    for (; *group && n + 2 < sizeof node->path; group++) node->path[n++] = *group;
    node->path[n++] = '/';
    for (; *name && n + 1 < sizeof node->path; name++)
        node->path[n++] = *name < ' ' || *name > '~' ? '?' : *name;
    node->path[n] = '\0';
}

/* Finds or adds the nodes to which the hard links of a group refer. */
static fmo_h5_code follow(fmo_h5_tree *tree, size_t i)
{
    for (size_t k = 0; k < tree->node[i].link_num; k++) {
        fmo_h5_link *link = &tree->node[i].link[k];
        if (!link->hard) continue;
        fmo_h5_code code = node_at(tree, link->address, &link->node);
        if (code != FMO_H5_OK) return code;
        fmo_h5_node *node = &tree->node[link->node];
        if (!node->links++) name_node(node, tree->node[i].path, link->name);
    }
    return FMO_H5_OK;
}

/* Reads all nodes, starting at the root; then checks link counts and claims. */
fmo_h5_code fmo_h5_tree_read(fmo_h5_tree *tree, int descriptor, uint64_t size)
{
    size_t root, i = 0;
    *tree = (fmo_h5_tree){.where = NULL};
    fmo_h5_code code = fmo_h5_file_open(&tree->file, descriptor, size);
    if (code == FMO_H5_OK) code = fmo_h5_read_extension(&tree->file);
    if (code == FMO_H5_OK) code = node_at(tree, tree->file.root, &root);
    for (; code == FMO_H5_OK && i < tree->node_num; i++) {
        code = read_node(tree, i);
        if (code == FMO_H5_OK) code = follow(tree, i);
        if (code != FMO_H5_OK) break;
    }
    if (code == FMO_H5_OK && tree->node[0].kind != FMO_H5_GROUP)
        code = FMO_H5_BAD(&tree->file, "its root is no group");
    if (code != FMO_H5_OK && i < tree->node_num) tree->where = i ? tree->node[i].path : "/";
    for (i = 1; code == FMO_H5_OK && i < tree->node_num; i++)
        if (tree->node[i].links > tree->node[i].object.links) {
            tree->where = tree->node[i].path;
            code = FMO_H5_BAD(&tree->file, "%llu links lead to it and it has %llu",
                              (unsigned long long)tree->node[i].links,
                              (unsigned long long)tree->node[i].object.links);
        }
    return code == FMO_H5_OK ? fmo_h5_check_claims(&tree->file) : code;
}
