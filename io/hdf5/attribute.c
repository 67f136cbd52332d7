/* Reads attributes from the object header (IV.A.2.m) or, if there are many, from a fractal heap.
 * Declared in attribute.h. */
#include "io/hdf5/attribute.h"
#include "io/hdf5/btree.h"
#include "io/hdf5/heap.h"

#include <string.h>

enum { INDEX_NAMES = 8 /* record type in the B-tree of attribute names */, FLAG_SHARED = 2 };

static uint64_t padded(uint64_t n)
{
    return (n + 7) / 8 * 8;
}

/* Decodes an attribute if it has the given name. */
static fmo_h5_code decode(fmo_h5_file *file, fmo_bytes b, const char *name, bool *found,
                          fmo_h5_attribute *attribute)
{
    unsigned version = (unsigned)fmo_bytes_take(&b, 1), flags = (unsigned)fmo_bytes_take(&b, 1);
    uint64_t name_size = fmo_bytes_take(&b, 2), type_size = fmo_bytes_take(&b, 2);
    uint64_t space_size = fmo_bytes_take(&b, 2);
    if (version == 3) fmo_bytes_skip(&b, 1); /* character set */
    bool pad = version == 1;
    fmo_bytes text = fmo_bytes_cut(&b, pad ? padded(name_size) : name_size);
    fmo_bytes type = fmo_bytes_cut(&b, pad ? padded(type_size) : type_size);
    fmo_bytes space = fmo_bytes_cut(&b, pad ? padded(space_size) : space_size);
    if (b.bad || version < 1 || version > 3 || !name_size ||
        memchr(text.at, 0, (size_t)name_size) != text.at + name_size - 1)
        return FMO_H5_BAD(file, "an attribute is inconsistent");
    if (strcmp((const char *)text.at, name) != 0) return FMO_H5_OK;
    if (*found) return FMO_H5_BAD(file, "two attributes have one name");
    *found = true;
    const fmo_h5_message type_message = {FMO_H5_TYPE, version > 1 && flags & 1, type.at,
                                         fmo_bytes_left(&type)};
    const fmo_h5_message space_message = {FMO_H5_SPACE, version > 1 && flags & 2, space.at,
                                          fmo_bytes_left(&space)};
    fmo_h5_code code = fmo_h5_type_of(file, &type_message, &attribute->type);
    if (code == FMO_H5_OK) code = fmo_h5_space_of(file, &space_message, &attribute->space);
    if (code != FMO_H5_OK) return code;
    if (attribute->space.values > fmo_bytes_left(&b) / attribute->type.size)
        return FMO_H5_BAD(file, "the value of an attribute is cut short");
    attribute->value = fmo_bytes_cut(&b, attribute->space.values * attribute->type.size);
    return FMO_H5_OK;
}

const char *fmo_h5_attribute_name(const fmo_h5_message *message)
{
    fmo_bytes b = fmo_bytes_of(message->bytes, message->size);
    if (message->type != FMO_H5_ATTRIBUTE || message->shared) return NULL;
    uint64_t version = fmo_bytes_take(&b, 1);
    fmo_bytes_skip(&b, 1);
    uint64_t size = fmo_bytes_take(&b, 2);
    fmo_bytes_skip(&b, version == 3 ? 5 : 4);
    fmo_bytes text = fmo_bytes_cut(&b, size);
    return !text.bad && size && memchr(text.at, 0, (size_t)size) ? (const char *)text.at : NULL;
}

/* --- attributes in a heap ----------------------------------------------------------------------*/

typedef struct dense {
    fmo_h5_object *object;
    fmo_h5_heap heap;
    uint64_t seen;
} dense;

static fmo_h5_code visit(fmo_h5_file *file, const unsigned char *record, size_t size, void *data)
{
    dense *d = data;
    fmo_bytes attribute;
    if (size != d->heap.id_bytes + 9u) return FMO_H5_BAD(file, "a B-tree is inconsistent");
    if (record[d->heap.id_bytes] & FLAG_SHARED)
        return FMO_H5_UNKNOWN(file, "its objects share messages; h5repack IN OUT converts it");
    d->seen++;
    fmo_h5_code code = fmo_h5_heap_find(file, &d->heap, record, &attribute);
    if (code != FMO_H5_OK) return code;
    return fmo_h5_object_add(file, d->object, FMO_H5_ATTRIBUTE, attribute.at,
                             fmo_bytes_left(&attribute));
}

/* Traverses the B-tree of attribute names and checks that it lists all objects of the heap. */
fmo_h5_code fmo_h5_attributes_load(fmo_h5_file *file, fmo_h5_object *object)
{
    const fmo_h5_message *info = fmo_h5_object_find(object, FMO_H5_ATTRIBUTE_INFO);
    if (!info) return FMO_H5_OK;
    fmo_bytes b = fmo_bytes_of(info->bytes, info->size);
    fmo_bytes_skip(&b, 1);
    if (fmo_bytes_take(&b, 1) & 1) fmo_bytes_skip(&b, 2);
    uint64_t heap = fmo_bytes_take(&b, 8), tree = fmo_bytes_take(&b, 8);
    dense d = {.object = object};
    fmo_h5_code code;
    if (b.bad) return FMO_H5_BAD(file, "its attributes are inconsistent");
    if (heap == FMO_H5_NOWHERE) return FMO_H5_OK;
    FMO_H5_TRY(fmo_h5_heap_read(file, heap, &d.heap));
    FMO_H5_TRY(fmo_h5_btree2_walk(file, tree, INDEX_NAMES, visit, &d));
    if (d.seen != d.heap.managed + d.heap.tiny)
        code = FMO_H5_BAD(file, "its attributes are not complete");
done:
    fmo_h5_heap_free(&d.heap);
    return code;
}

fmo_h5_code fmo_h5_attribute_find(fmo_h5_file *file, const fmo_h5_object *object, const char *name,
                                  bool *found, fmo_h5_attribute *attribute)
{
    *found = false;
    memset(attribute, 0, sizeof *attribute);
    for (size_t i = 0; i < object->message_num; i++) {
        const fmo_h5_message *m = &object->message[i];
        if (m->type != FMO_H5_ATTRIBUTE) continue;
        if (m->shared)
            return FMO_H5_UNKNOWN(file, "its objects share messages; h5repack IN OUT converts it");
        fmo_h5_code code = decode(file, fmo_bytes_of(m->bytes, m->size), name, found, attribute);
        if (code != FMO_H5_OK) return code;
    }
    return FMO_H5_OK;
}
