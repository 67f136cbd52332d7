/* Traversal of B-trees; declared in btree.h. Nodes are claimed and deducted from the budget of the
 * file as they are read, and their level decreases by one, so that cyclic trees are detected. */
#include "io/hdf5/btree.h"

#include <stdlib.h>
#include <string.h>

/* --- version 1 ---------------------------------------------------------------------------------*/

enum { NODE_HEAD = 24 };

typedef struct tree1 {
    unsigned kind, k;
    size_t key;
    fmo_h5_visit_leaf visit;
    void *data;
} tree1;

/* level: level that the node must have; -1 for any. */
static fmo_h5_code walk1(fmo_h5_file *file, const tree1 *tree, uint64_t address, int level)
{
    size_t size = NODE_HEAD + 2 * tree->k * 8 + (2 * tree->k + 1) * tree->key;
    unsigned char *node = NULL;
    fmo_h5_code code;
    FMO_H5_TRY(fmo_h5_load(file, address, size, "a node of a B-tree", &node));
    unsigned children = (unsigned)fmo_little_endian(node + 6, 2);
    if (memcmp(node, "TREE", 4) != 0 || node[4] != tree->kind || children > 2 * tree->k ||
        (level >= 0 && (node[5] != level || !children))) {
        code = FMO_H5_BAD(file, "a B-tree is inconsistent");
        goto done;
    }
    for (unsigned i = 0; i < children; i++) {
        const unsigned char *left = node + NODE_HEAD + i * (tree->key + 8);
        uint64_t child = fmo_little_endian(left + tree->key, 8);
        if (node[5])
            code = walk1(file, tree, child, node[5] - 1);
        else
            code = tree->visit(file, child, left, left + tree->key + 8, tree->data);
        if (code != FMO_H5_OK) break;
    }
done:
    free(node);
    return code;
}

fmo_h5_code fmo_h5_btree1_walk(fmo_h5_file *file, uint64_t address, unsigned kind, size_t key,
                               unsigned k, fmo_h5_visit_leaf visit, void *data)
{
    const tree1 tree = {kind, k, key, visit, data};
    return walk1(file, &tree, address, -1);
}

/* --- version 2 ---------------------------------------------------------------------------------*/

enum { HEADER = 38, NODE_MAX = 1 << 20, DEPTH_MAX = 8, LEAF_EXTRA = 10 };

typedef struct tree2 {
    unsigned kind;
    uint64_t node_size, record;
    /* A child pointer at a depth is an address, the number of records in the child (`number` bytes)
     * and that below it (`total` bytes). */
    unsigned pointer[DEPTH_MAX + 1]; /* bytes */
    unsigned number, total[DEPTH_MAX + 1];
    uint64_t max_records[DEPTH_MAX + 1]; /* maximum number of records of a node */
    fmo_h5_visit_record visit;
    void *data;
} tree2;

/* Computes the sizes of node components in the way of HDF5 (H5B2). Returns false if they are
 * impossible. */
static bool size_nodes(tree2 *t, unsigned depth)
{
    if (!t->record || t->record > 256 || t->node_size > NODE_MAX ||
        t->node_size < LEAF_EXTRA + t->record || depth > DEPTH_MAX)
        return false;
    uint64_t below = t->max_records[0] = (t->node_size - LEAF_EXTRA) / t->record;
    t->number = fmo_bytes_width(t->max_records[0]);
    t->total[0] = 0;
    for (unsigned d = 1; d <= depth; d++) {
        t->pointer[d] = 8 + t->number + t->total[d - 1];
        if (t->node_size < LEAF_EXTRA + t->record + 2 * t->pointer[d]) return false;
        t->max_records[d] =
            (t->node_size - LEAF_EXTRA - t->pointer[d]) / (t->record + t->pointer[d]);
        if (below > UINT64_MAX / 1024 / t->max_records[d]) return false;
        below = (t->max_records[d] + 1) * below + t->max_records[d];
        t->total[d] = fmo_bytes_width(below);
    }
    return true;
}

/* Visits the records of a node and its children. *seen: number of records visited. */
static fmo_h5_code walk2(fmo_h5_file *file, const tree2 *t, uint64_t address, uint64_t records,
                         unsigned depth, uint64_t *seen)
{
    unsigned char *node = NULL;
    const char *signature = depth ? "BTIN" : "BTLF";
    fmo_h5_code code;
    if (records > t->max_records[depth]) return FMO_H5_BAD(file, "a B-tree is inconsistent");
    FMO_H5_TRY(fmo_h5_load(file, address, t->node_size, "a node of a B-tree", &node));
    size_t used =
        6 + (size_t)(records * t->record) + (depth ? (size_t)(records + 1) : 0) * t->pointer[depth];
    if (memcmp(node, signature, 4) != 0 || node[4] != 0 || node[5] != t->kind ||
        fmo_checksum(node, used) != fmo_little_endian(node + used, 4)) {
        code = FMO_H5_BAD(file, "the checksum of a structure (%s) is wrong", signature);
        goto done;
    }
    fmo_bytes children = fmo_bytes_of(node + 6 + records * t->record,
                                      depth ? (size_t)(records + 1) * t->pointer[depth] : 0);
    for (uint64_t i = 0; i <= records; i++) {
        if (depth) {
            uint64_t child = fmo_bytes_take(&children, 8);
            uint64_t there = fmo_bytes_take(&children, t->number);
            fmo_bytes_skip(&children, t->total[depth - 1]);
            FMO_H5_TRY(walk2(file, t, child, there, depth - 1, seen));
        }
        if (i == records) break;
        FMO_H5_TRY(t->visit(file, node + 6 + i * t->record, (size_t)t->record, t->data));
        ++*seen;
    }
done:
    free(node);
    return code;
}

/* Reads the header of the tree, then traverses it and checks the total number of records. */
fmo_h5_code fmo_h5_btree2_walk(fmo_h5_file *file, uint64_t address, unsigned kind,
                               fmo_h5_visit_record visit, void *data)
{
    unsigned char *header = NULL;
    uint64_t seen = 0;
    fmo_h5_code code = fmo_h5_load_checked(file, address, HEADER, "BTHD", &header);
    if (code != FMO_H5_OK) return code;
    fmo_bytes b = fmo_bytes_of(header, HEADER);
    fmo_bytes_skip(&b, 4);
    uint64_t version = fmo_bytes_take(&b, 1);
    tree2 t = {.kind = (unsigned)fmo_bytes_take(&b, 1), .visit = visit, .data = data};
    t.node_size = fmo_bytes_take(&b, 4);
    t.record = fmo_bytes_take(&b, 2);
    unsigned depth = (unsigned)fmo_bytes_take(&b, 2);
    fmo_bytes_skip(&b, 2);
    uint64_t root = fmo_bytes_take(&b, 8), records = fmo_bytes_take(&b, 2);
    uint64_t total = fmo_bytes_take(&b, 8);
    free(header);
    if (version != 0 || t.kind != kind || !size_nodes(&t, depth))
        return FMO_H5_BAD(file, "a B-tree is inconsistent");
    if (root == FMO_H5_NOWHERE)
        return total ? FMO_H5_BAD(file, "a B-tree is inconsistent") : FMO_H5_OK;
    code = walk2(file, &t, root, records, depth, &seen);
    if (code == FMO_H5_OK && seen != total) code = FMO_H5_BAD(file, "a B-tree is inconsistent");
    return code;
}
