/* Reads the links of a group from symbol tables (III.A.1, III.B), from its object header, or from a
 * fractal heap. Declared in tree.h. */
#include "io/hdf5/btree.h"
#include "io/hdf5/heap.h"
#include "io/hdf5/tree.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINKS_MAX = 1 << 20,
    CACHE_SOFT = 2, /* symbol table entry of a soft link */
    INDEX_NAMES = 5 /* record type in the B-tree of link names */
};

/* Adds a link to a group. name: `size` bytes. */
static fmo_h5_code add_link(fmo_h5_file *file, fmo_h5_node *group, const char *name, size_t size,
                            bool hard, uint64_t address)
{
    if (!size) return FMO_H5_BAD(file, "a link has no name");
    if (group->link_num == LINKS_MAX) return FMO_H5_UNKNOWN(file, "too many links in a group");
    if (fmo_h5_spend(file, size) != FMO_H5_OK) return FMO_H5_DAMAGED;
    if (group->link_num == group->link_capacity) {
        size_t capacity = 2 * group->link_capacity + 16;
        fmo_h5_link *link = realloc(group->link, capacity * sizeof *link);
        if (!link) return fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
        group->link = link;
        group->link_capacity = capacity;
    }
    char *copy = strndup(name, size);
    if (!copy) return fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
    group->link[group->link_num++] = (fmo_h5_link){copy, hard, address, 0};
    return FMO_H5_OK;
}

/* --- symbol tables -----------------------------------------------------------------------------*/

typedef struct symbols {
    fmo_h5_node *group;
    fmo_h5_names names;
    char *last; /* name of the previous link */
} symbols;

/* Reads a symbol table node. Names must increase, and the last one must be the key to the right, so
 * that a missing entry is detected. */
static fmo_h5_code visit_symbols(fmo_h5_file *file, uint64_t child, const unsigned char *left,
                                 const unsigned char *right, void *data)
{
    symbols *s = data;
    size_t size = 8 + 2 * (size_t)file->leaf_k * 40;
    unsigned char *node = NULL;
    fmo_h5_code code;
    uint64_t offset = 0;
    (void)left;
    FMO_H5_TRY(fmo_h5_load(file, child, size, "a list of links", &node));
    unsigned n = (unsigned)fmo_little_endian(node + 6, 2);
    if (memcmp(node, "SNOD\1", 5) != 0 || !n || n > 2 * file->leaf_k) {
        code = FMO_H5_BAD(file, "a list of links is inconsistent");
        goto done;
    }
    for (unsigned i = 0; i < n; i++) {
        const unsigned char *entry = node + 8 + 40 * (size_t)i;
        offset = fmo_little_endian(entry, 8);
        uint64_t cache = fmo_little_endian(entry + 16, 4);
        const char *name = fmo_h5_names_take(&s->names, offset);
        if (!name || cache > CACHE_SOFT || (s->last && strcmp(s->last, name) >= 0)) {
            code = FMO_H5_BAD(file, "the names of a group are damaged");
            goto done;
        }
        if (cache == CACHE_SOFT &&
            !fmo_h5_names_take(&s->names, fmo_little_endian(entry + 24, 4))) {
            code = FMO_H5_BAD(file, "the names of a group are damaged");
            goto done;
        }
        s->last = (char *)name;
        FMO_H5_TRY(add_link(file, s->group, name, strlen(name), cache != CACHE_SOFT,
                            fmo_little_endian(entry + 8, 8)));
    }
    if (fmo_little_endian(right, 8) != offset)
        code = FMO_H5_BAD(file, "a list of links is not complete");
done:
    free(node);
    return code;
}

static fmo_h5_code read_symbols(fmo_h5_file *file, fmo_h5_node *group,
                                const fmo_h5_message *message)
{
    fmo_bytes b = fmo_bytes_of(message->bytes, message->size);
    uint64_t tree = fmo_bytes_take(&b, 8), heap = fmo_bytes_take(&b, 8);
    symbols s = {.group = group};
    fmo_h5_code code;
    if (b.bad) return FMO_H5_BAD(file, "a group has no links");
    FMO_H5_TRY(fmo_h5_names_read(file, heap, &s.names));
    FMO_H5_TRY(fmo_h5_btree1_walk(file, tree, 0, 8, file->group_k, visit_symbols, &s));
    if (!fmo_h5_names_accounted(&s.names)) code = FMO_H5_BAD(file, "a name of a group has no link");
done:
    fmo_h5_names_free(&s.names);
    return code;
}

/* --- link messages (IV.A.2.g) ------------------------------------------------------------------*/

static fmo_h5_code read_link(fmo_h5_file *file, fmo_h5_node *group, fmo_bytes b)
{
    unsigned version = (unsigned)fmo_bytes_take(&b, 1), flags = (unsigned)fmo_bytes_take(&b, 1);
    unsigned kind = flags & 8 ? (unsigned)fmo_bytes_take(&b, 1) : 0;
    fmo_bytes_skip(&b, (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0));
    uint64_t length = fmo_bytes_take(&b, 1u << (flags & 3));
    const char *name = fmo_bytes_text(&b, length);
    uint64_t address = kind == 0 ? fmo_bytes_take(&b, 8) : FMO_H5_NOWHERE;
    if (b.bad || version != 1 || !name || flags & ~31u)
        return FMO_H5_BAD(file, "a link is inconsistent");
    return add_link(file, group, name, (size_t)length, kind == 0, address);
}

typedef struct dense {
    fmo_h5_node *group;
    fmo_h5_heap heap;
} dense;

static fmo_h5_code visit_dense(fmo_h5_file *file, const unsigned char *record, size_t size,
                               void *data)
{
    dense *d = data;
    fmo_bytes object;
    if (size != 4 + (size_t)d->heap.id_bytes) return FMO_H5_BAD(file, "a B-tree is inconsistent");
    fmo_h5_code code = fmo_h5_heap_find(file, &d->heap, record + 4, &object);
    return code == FMO_H5_OK ? read_link(file, d->group, object) : code;
}

/* Reads links from a fractal heap via the B-tree of link names, and checks that they are
 * complete. */
static fmo_h5_code read_dense(fmo_h5_file *file, fmo_h5_node *group, const fmo_h5_message *info)
{
    fmo_bytes b = fmo_bytes_of(info->bytes, info->size);
    fmo_bytes_skip(&b, 1);
    uint64_t flags = fmo_bytes_take(&b, 1);
    if (flags & 1) fmo_bytes_skip(&b, 8);
    uint64_t heap = fmo_bytes_take(&b, 8), tree = fmo_bytes_take(&b, 8);
    dense d = {.group = group};
    fmo_h5_code code;
    if (b.bad) return FMO_H5_BAD(file, "a group has no links");
    if (heap == FMO_H5_NOWHERE) return FMO_H5_OK;
    FMO_H5_TRY(fmo_h5_heap_read(file, heap, &d.heap));
    FMO_H5_TRY(fmo_h5_btree2_walk(file, tree, INDEX_NAMES, visit_dense, &d));
    if (d.heap.managed + d.heap.tiny != group->link_num)
        code = FMO_H5_BAD(file, "a list of links is not complete");
done:
    fmo_h5_heap_free(&d.heap);
    return code;
}

static int compare_links(const void *a, const void *b)
{
    return strcmp(((const fmo_h5_link *)a)->name, ((const fmo_h5_link *)b)->name);
}

/* Reads all links of a group and sorts them by name, which must be unique. */
fmo_h5_code fmo_h5_group_links(fmo_h5_file *file, fmo_h5_node *group)
{
    const fmo_h5_message *symbol_table = fmo_h5_object_find(&group->object, FMO_H5_SYMBOL_TABLE);
    const fmo_h5_message *info = fmo_h5_object_find(&group->object, FMO_H5_LINK_INFO);
    fmo_h5_code code = FMO_H5_OK;
    if (symbol_table) code = read_symbols(file, group, symbol_table);
    if (code == FMO_H5_OK && info) code = read_dense(file, group, info);
    for (size_t i = 0; code == FMO_H5_OK && i < group->object.message_num; i++) {
        const fmo_h5_message *m = &group->object.message[i];
        if (m->type == FMO_H5_LINK) code = read_link(file, group, fmo_bytes_of(m->bytes, m->size));
    }
    if (code != FMO_H5_OK || !group->link_num) return code;
    qsort(group->link, group->link_num, sizeof *group->link, compare_links);
    for (size_t i = 1; i < group->link_num; i++)
        if (strcmp(group->link[i - 1].name, group->link[i].name) == 0)
            return FMO_H5_BAD(file, "two links of a group have one name");
    return FMO_H5_OK;
}
