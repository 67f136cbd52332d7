/* Object headers (IV.A of the HDF5 File Format Specification); declared in object.h. */
#include "io/hdf5/object.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECES_MAX = 65536, /* of a header with attributes from a heap; TREXIO's have one or two */
    MESSAGES_MAX = 65536,
    FLAG_SHARED = 0x02,
    COMMENT = 0x0d,
    SHARED_TABLE = 0x0f,
    NODE_SIZES = 0x13,
    CACHE_IMAGE = 0x18,
    KNOWN_MAX = 0x18 /* no release of HDF5 writes a higher type */
};

void fmo_h5_object_free(fmo_h5_object *object)
{
    for (size_t i = 0; i < object->piece_num; i++) free(object->piece[i]);
    free(object->piece);
    free(object->message);
    *object = (fmo_h5_object){.address = object->address, .links = object->links};
}

const fmo_h5_message *fmo_h5_object_find(const fmo_h5_object *object, unsigned type)
{
    for (size_t i = 0; i < object->message_num; i++)
        if (object->message[i].type == type) return &object->message[i];
    return NULL;
}

/* Returns true for messages that an object can have only once. */
static bool is_single(unsigned type)
{
    return type != FMO_H5_NIL && type != FMO_H5_LINK && type != FMO_H5_ATTRIBUTE &&
           type != FMO_H5_CONTINUATION;
}

/* Checks and appends a message. */
static fmo_h5_code add_message(fmo_h5_file *file, fmo_h5_object *object, fmo_h5_message message)
{
    if (message.type > KNOWN_MAX)
        return FMO_H5_BAD(file, "an object header has a message of type %u", message.type);
    if (is_single(message.type) && fmo_h5_object_find(object, message.type))
        return FMO_H5_BAD(file, "an object header has two messages of type %u", message.type);
    if (message.type == COMMENT &&
        (!message.size || !isprint(message.bytes[0]) || !memchr(message.bytes, 0, message.size)))
        return FMO_H5_BAD(file, "the comment of an object is no text");
    if (object->message_num == MESSAGES_MAX)
        return FMO_H5_BAD(file, "an object header has too many messages");
    size_t n = object->message_num; /* capacity is 16, 32, 64, ... */
    if (n == 0 || (n >= 16 && (n & (n - 1)) == 0)) {
        fmo_h5_message *more = realloc(object->message, (n ? 2 * n : 16) * sizeof *more);
        if (!more) return fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
        object->message = more;
    }
    object->message[object->message_num++] = message;
    return FMO_H5_OK;
}

/* Splits one piece of a header into its messages. */
static fmo_h5_code split(fmo_h5_file *file, fmo_h5_object *object, fmo_bytes b, int version,
                         bool ordered)
{
    size_t head = version == 1 ? 8 : ordered ? 6 : 4;
    while (fmo_bytes_left(&b) >= head) {
        fmo_h5_message message = {.type = (unsigned)fmo_bytes_take(&b, version == 1 ? 2 : 1)};
        uint64_t size = fmo_bytes_take(&b, 2), flags = fmo_bytes_take(&b, 1);
        fmo_bytes_skip(&b, version == 1 ? 3 : ordered ? 2 : 0);
        fmo_bytes content = fmo_bytes_cut(&b, size);
        if (content.bad) return FMO_H5_BAD(file, "a message leaves its object header");
        message.bytes = content.at;
        message.size = (size_t)size;
        message.shared = flags & FLAG_SHARED;
        fmo_h5_code code = add_message(file, object, message);
        if (code != FMO_H5_OK) return code;
    }
    if (version == 1 && fmo_bytes_left(&b))
        return FMO_H5_BAD(file, "the messages of an object header do not fill it");
    return FMO_H5_OK;
}

/* Makes the object the owner of allocated bytes; frees them on error. */
static fmo_h5_code add_piece(fmo_h5_file *file, fmo_h5_object *object, unsigned char *bytes)
{
    size_t n = object->piece_num; /* capacity is 4, 8, 16, ... */
    fmo_h5_code code = FMO_H5_OK;
    if (n == PIECES_MAX)
        code = FMO_H5_BAD(file, "an object header is in too many pieces");
    else if (n == 0 || (n >= 4 && (n & (n - 1)) == 0)) {
        unsigned char **more = realloc(object->piece, (n ? 2 * n : 4) * sizeof *more);
        if (!more) code = fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
        if (more) object->piece = more;
    }
    if (code == FMO_H5_OK)
        object->piece[object->piece_num++] = bytes;
    else
        free(bytes);
    return code;
}

fmo_h5_code fmo_h5_object_add(fmo_h5_file *file, fmo_h5_object *object, unsigned type,
                              const unsigned char *bytes, size_t size)
{
    if (fmo_h5_spend(file, size) != FMO_H5_OK) return FMO_H5_DAMAGED;
    unsigned char *copy = malloc(size ? size : 1);
    if (!copy) return fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
    memcpy(copy, bytes, size);
    fmo_h5_code code = add_piece(file, object, copy);
    if (code != FMO_H5_OK) return code;
    return add_message(file, object, (fmo_h5_message){type, false, copy, size});
}

/* Reads the pieces to which continuation messages refer, which may contain further ones. */
static fmo_h5_code read_continuations(fmo_h5_file *file, fmo_h5_object *object, int version,
                                      bool ordered)
{
    for (size_t i = 0; i < object->message_num; i++) {
        if (object->message[i].type != FMO_H5_CONTINUATION) continue;
        fmo_bytes b = fmo_bytes_of(object->message[i].bytes, object->message[i].size);
        uint64_t address = fmo_bytes_take(&b, 8), size = fmo_bytes_take(&b, 8);
        unsigned char *bytes = NULL;
        if (b.bad) return FMO_H5_BAD(file, "an object header is continued nowhere");
        fmo_h5_code code = version == 1
                               ? fmo_h5_load(file, address, size, "an object header", &bytes)
                               : fmo_h5_load_checked(file, address, size, "OCHK", &bytes);
        if (code == FMO_H5_OK) code = add_piece(file, object, bytes);
        if (code != FMO_H5_OK) return code;
        fmo_bytes content = version == 1 ? fmo_bytes_of(bytes, (size_t)size)
                                         : fmo_bytes_of(bytes + 4, (size_t)size - 8);
        code = split(file, object, content, version, ordered);
        if (code != FMO_H5_OK) return code;
    }
    return FMO_H5_OK;
}

static fmo_h5_code read_version_1(fmo_h5_file *file, fmo_h5_object *object,
                                  const unsigned char *head)
{
    uint64_t messages = fmo_little_endian(head + 2, 2), size = fmo_little_endian(head + 8, 4);
    unsigned char *bytes = NULL;
    object->links = fmo_little_endian(head + 4, 4);
    fmo_h5_code code = fmo_h5_load(file, object->address, 16 + size, "an object header", &bytes);
    if (code == FMO_H5_OK) code = add_piece(file, object, bytes);
    if (code == FMO_H5_OK)
        code = split(file, object, fmo_bytes_of(bytes + 16, (size_t)size), 1, false);
    if (code == FMO_H5_OK) code = read_continuations(file, object, 1, false);
    if (code == FMO_H5_OK && object->message_num != messages)
        return FMO_H5_BAD(file, "an object header has %zu messages; its count is %llu",
                          object->message_num, (unsigned long long)messages);
    return code;
}

/* Reads a header of version 2, which has a variable prefix and a checksum. */
static fmo_h5_code read_version_2(fmo_h5_file *file, fmo_h5_object *object,
                                  const unsigned char *head)
{
    unsigned flags = head[5], width = 1u << (flags & 3);
    size_t prefix = 6u + (flags & 0x20 ? 16u : 0u) + (flags & 0x10 ? 4u : 0u);
    unsigned char length[8] = {0}, *bytes = NULL;
    if (head[4] != 2)
        return FMO_H5_UNKNOWN(file, "an object header of version %u; h5repack IN OUT converts it",
                              head[4]);
    fmo_h5_code code = fmo_h5_peek(file, object->address + prefix, length, width);
    if (code != FMO_H5_OK) return code;
    uint64_t size = fmo_little_endian(length, width), all = prefix + width + size + 4;
    if (size > file->size) return FMO_H5_BAD(file, "an object header is outside the file");
    code = fmo_h5_load_checked(file, object->address, all, "OHDR", &bytes);
    if (code == FMO_H5_OK) code = add_piece(file, object, bytes);
    if (code != FMO_H5_OK) return code;
    bool ordered = flags & 4;
    code = split(file, object, fmo_bytes_of(bytes + prefix + width, (size_t)size), 2, ordered);
    if (code == FMO_H5_OK) code = read_continuations(file, object, 2, ordered);
    const fmo_h5_message *links = fmo_h5_object_find(object, FMO_H5_LINK_COUNT);
    object->links = links && links->size >= 5 ? fmo_little_endian(links->bytes + 1, 4) : 1;
    return code;
}

fmo_h5_code fmo_h5_object_read(fmo_h5_file *file, uint64_t address, fmo_h5_object *object)
{
    unsigned char head[16];
    *object = (fmo_h5_object){.address = address};
    fmo_h5_code code = fmo_h5_peek(file, address, head, sizeof head);
    if (code != FMO_H5_OK) return code;
    if (memcmp(head, "OHDR", 4) == 0) return read_version_2(file, object, head);
    if (head[0] == 1 && head[1] == 0) return read_version_1(file, object, head);
    return FMO_H5_BAD(file, "there is no object header where a link leads");
}

/* Rejects unsupported features, and reads the node sizes of version 1 structures. */
fmo_h5_code fmo_h5_read_extension(fmo_h5_file *file)
{
    fmo_h5_object object = {0};
    fmo_h5_code code = FMO_H5_OK;
    if (file->extension == FMO_H5_NOWHERE) return FMO_H5_OK;
    FMO_H5_TRY(fmo_h5_object_read(file, file->extension, &object));
    if (fmo_h5_object_find(&object, SHARED_TABLE)) {
        code = FMO_H5_UNKNOWN(file, "its objects share messages; h5repack IN OUT converts it");
        goto done;
    }
    if (fmo_h5_object_find(&object, CACHE_IMAGE)) {
        code =
            FMO_H5_UNKNOWN(file, "its metadata are an image of a cache; h5repack IN OUT converts "
                                 "it");
        goto done;
    }
    const fmo_h5_message *sizes = fmo_h5_object_find(&object, NODE_SIZES);
    if (sizes) {
        fmo_bytes b = fmo_bytes_of(sizes->bytes, sizes->size);
        fmo_bytes_skip(&b, 1);
        file->chunk_k = (unsigned)fmo_bytes_take(&b, 2);
        file->group_k = (unsigned)fmo_bytes_take(&b, 2);
        file->leaf_k = (unsigned)fmo_bytes_take(&b, 2);
        if (b.bad || !file->chunk_k || !file->group_k || !file->leaf_k)
            code = FMO_H5_BAD(file, "its superblock allows no entries in a node");
    }
done:
    fmo_h5_object_free(&object);
    return code;
}

/* --- types and shapes --------------------------------------------------------------------------*/

enum { CLASS_FIXED = 0, CLASS_FLOAT = 1, CLASS_STRING = 3, CLASS_SEQUENCE = 9, BITS_IEEE = 0x20 };

/* Decodes a datatype message (IV.A.2.d). */
fmo_h5_code fmo_h5_type_of(fmo_h5_file *file, const fmo_h5_message *message, fmo_h5_type *type)
{
    *type = (fmo_h5_type){.class = FMO_H5_CLASS_OTHER};
    if (!message) return FMO_H5_BAD(file, "it has no type");
    if (message->shared)
        return FMO_H5_UNKNOWN(file, "its type is an object of its own (named datatype); store the "
                                    "data itself");
    fmo_bytes b = fmo_bytes_of(message->bytes, message->size);
    unsigned head = (unsigned)fmo_bytes_take(&b, 1), bits = (unsigned)fmo_bytes_take(&b, 3);
    type->size = (size_t)fmo_bytes_take(&b, 4);
    type->big = bits & 1;
    if (b.bad || !type->size || head >> 4 < 1 || head >> 4 > 5)
        return FMO_H5_BAD(file, "its type is invalid");
    if ((head & 15) == CLASS_FIXED) {
        uint64_t offset = fmo_bytes_take(&b, 2), precision = fmo_bytes_take(&b, 2);
        type->class = FMO_H5_INTEGER;
        type->is_signed = bits & 8;
        if (b.bad || bits & ~15u) return FMO_H5_BAD(file, "its type is invalid");
        type->plain = (type->size == 1 || type->size == 2 || type->size == 4 || type->size == 8) &&
                      offset == 0 && precision == 8 * type->size;
    } else if ((head & 15) == CLASS_FLOAT) {
        static const unsigned char ieee[12] = {0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0};
        fmo_bytes layout = fmo_bytes_cut(&b, 12);
        type->class = FMO_H5_REAL;
        if (layout.bad) return FMO_H5_BAD(file, "its type is invalid");
        type->plain = type->size == 8 && (bits & ~1u) == (BITS_IEEE | 63u << 8) &&
                      memcmp(layout.at, ieee, sizeof ieee) == 0;
    } else if ((head & 15) == CLASS_STRING) {
        type->class = FMO_H5_TEXT;
        type->plain = true;
    } else if ((head & 15) == CLASS_SEQUENCE && (bits & 15) == 1) {
        type->class = FMO_H5_TEXT_HEAP;
        type->plain = type->size == 16;
    }
    return FMO_H5_OK;
}

/* Decodes a dataspace message (IV.A.2.b). */
fmo_h5_code fmo_h5_space_of(fmo_h5_file *file, const fmo_h5_message *message, fmo_h5_space *space)
{
    *space = (fmo_h5_space){.values = 1};
    if (!message || message->shared) return FMO_H5_BAD(file, "it has no shape");
    fmo_bytes b = fmo_bytes_of(message->bytes, message->size);
    unsigned version = (unsigned)fmo_bytes_take(&b, 1);
    space->rank = (unsigned)fmo_bytes_take(&b, 1);
    unsigned flags = (unsigned)fmo_bytes_take(&b, 1), kind = (unsigned)fmo_bytes_take(&b, 1);
    if (version == 1) fmo_bytes_skip(&b, 4);
    if (b.bad || version < 1 || version > 2 || space->rank > FMO_H5_RANK_MAX || flags & ~1u ||
        (version == 2 && (kind > 2 || (kind == 1) != (space->rank > 0))))
        return FMO_H5_BAD(file, "its shape is invalid");
    space->null = version == 2 && kind == 2;
    for (unsigned d = 0; d < space->rank; d++) {
        space->max_dim[d] = space->dim[d] = fmo_bytes_take(&b, 8);
        if (space->dim[d] && space->values > (uint64_t)INT64_MAX / space->dim[d])
            return FMO_H5_BAD(file, "its shape is invalid");
        space->values *= space->dim[d];
    }
    for (unsigned d = 0; d < space->rank && flags & 1; d++) {
        space->max_dim[d] = fmo_bytes_take(&b, 8);
        if (space->max_dim[d] < space->dim[d]) return FMO_H5_BAD(file, "its shape is invalid");
    }
    if (b.bad) return FMO_H5_BAD(file, "its shape is invalid");
    if (space->null) space->values = 0;
    return FMO_H5_OK;
}
