/* Two HDF5 structures read as plain bytes, because HDF5 1.10, which is in the field, crashes, loops
 * or fills the memory on damaged ones: the local heaps of groups, checked before HDF5 sees them,
 * and the global heap of variable-length strings, read here instead. Layouts: HDF5 File Format
 * Specification 3.0, III.D (local heap), III.E (global heap), IV.B (reference into it). */
#define _GNU_SOURCE /* memmem */
#include "io/hdf5/h5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t little_endian(const unsigned char *bytes, int n)
{
    uint64_t value = 0;
    while (n-- > 0) value = value << 8 | bytes[n];
    return value;
}

static bool read_at(const fmo_h5 *h5, uint64_t offset, void *bytes, size_t size)
{
    if (offset > h5->size || size > h5->size - offset) return false;
    return pread(h5->descriptor, bytes, size, (off_t)offset) == (ssize_t)size;
}

/* --- object headers ----------------------------------------------------------------------------*/

enum {
    CHUNK_MOST = 1 << 20, /* bytes of one piece of a header; TREXIO's are below 1000 */
    CHUNKS_MOST = 64,
    MESSAGE_TYPE = 0x03,
    MESSAGE_FILL_OLD = 0x04,
    MESSAGE_FILL = 0x05,
    MESSAGE_LAYOUT = 0x08,
    MESSAGE_FILTERS = 0x0b,
    MESSAGE_ATTRIBUTE = 0x0c,
    MESSAGE_CONTINUATION = 0x10,
    FLAG_SHARED = 0x02
};

/* A position in a message. Reading past its end gives 0 and sets `bad`. */
typedef struct cursor {
    const unsigned char *at, *end;
    bool bad;
} cursor;

static void skip(cursor *c, uint64_t n)
{
    if (n > (uint64_t)(c->end - c->at))
        c->bad = true;
    else
        c->at += n;
}

static uint64_t take(cursor *c, int n)
{
    const unsigned char *from = c->at;
    skip(c, (uint64_t)n);
    return c->bad ? 0 : little_endian(from, n);
}

static uint64_t padded(uint64_t n)
{
    return (n + 7) / 8 * 8;
}

enum {
    TYPE_FIXED,
    TYPE_FLOAT,
    TYPE_TIME,
    TYPE_STRING,
    TYPE_BITS,
    TYPE_OPAQUE,
    TYPE_COMPOUND,
    TYPE_REFERENCE,
    TYPE_ENUM,
    TYPE_SEQUENCE,
    TYPE_ARRAY,
    TYPE_NESTING = 8 /* types within types; real ones have one or two */
};

/* A name ended by a zero, padded to 8 bytes in old versions. HDF5 looks for the zero wherever it
 * is.
 */
static void skip_name(cursor *c, uint64_t version)
{
    const unsigned char *end = memchr(c->at, 0, (size_t)(c->end - c->at));
    uint64_t length = end ? (uint64_t)(end - c->at) + 1 : UINT64_MAX;
    skip(c, version < 3 && end ? padded(length) : length);
}

static bool type_fits(cursor *c, int nesting, uint64_t *size);

/* Number of bytes that the offset of a member has: as few as do for `size`. */
static uint64_t offset_bytes(uint64_t version, uint64_t size)
{
    uint64_t bytes = 1;
    if (version < 3) return 4;
    while (size >>= 8) bytes++;
    return bytes;
}

static bool members_fit(cursor *c, uint64_t version, uint64_t members, uint64_t size, int nesting)
{
    uint64_t member_size;
    bool good = true;
    for (uint64_t i = 0; good && i < members; i++) {
        skip_name(c, version);
        skip(c, offset_bytes(version, size) + (version == 1 ? 28 : 0)); /* and its dimensions */
        good = type_fits(c, nesting + 1, &member_size);
    }
    return good;
}

static bool enum_fits(cursor *c, uint64_t version, uint64_t members, int nesting)
{
    uint64_t size = 0;
    if (!type_fits(c, nesting + 1, &size)) return false;
    for (uint64_t i = 0; i < members && !c->bad; i++) skip_name(c, version);
    if (members && size > UINT64_MAX / members) return false;
    skip(c, members * size);
    return !c->bad;
}

/* A datatype and those in it, with every name in its place; moves behind it. IV.A.2.d */
static bool type_fits(cursor *c, int nesting, uint64_t *size)
{
    uint64_t head = take(c, 1), class = head & 15, version = head >> 4, bits = take(c, 3), rank;
    *size = take(c, 4);
    if (c->bad || nesting > TYPE_NESTING || version < 1 || version > 4) return false;
    switch (class) {
    case TYPE_FIXED:
    case TYPE_BITS:
        skip(c, 4);
        return !c->bad;
    case TYPE_FLOAT:
        skip(c, 12);
        return !c->bad;
    case TYPE_TIME:
        skip(c, 2);
        return !c->bad;
    case TYPE_STRING:
    case TYPE_REFERENCE:
        return true;
    case TYPE_OPAQUE:
        skip(c, bits & 255);
        return !c->bad;
    case TYPE_COMPOUND:
        return members_fit(c, version, bits & 65535, *size, nesting);
    case TYPE_ENUM:
        return enum_fits(c, version, bits & 65535, nesting);
    case TYPE_ARRAY:
        rank = take(c, 1);
        skip(c, version < 3 ? 3 + 8 * rank : 4 * rank);
        return type_fits(c, nesting + 1, &rank);
    case TYPE_SEQUENCE:
        return type_fits(c, nesting + 1, &rank);
    default:
        return false;
    }
}

/* Number of elements of a dataspace; UINT64_MAX if that overflows. */
static uint64_t space_elements(cursor c)
{
    uint64_t version = take(&c, 1), rank = take(&c, 1), elements = 1;
    skip(&c, 1);
    if (version == 2 && take(&c, 1) == 2) return 0; /* a null space */
    if (version == 1) skip(&c, 5);
    for (uint64_t d = 0; d < rank; d++) {
        uint64_t length = take(&c, 8);
        if (length && elements > UINT64_MAX / length) return UINT64_MAX;
        elements *= length;
    }
    return c.bad ? UINT64_MAX : elements;
}

/* Name, type, shape and data of an attribute must lie within the message. */
static bool attribute_fits(cursor c)
{
    uint64_t version = take(&c, 1), flags = take(&c, 1), sizes[3];
    for (int i = 0; i < 3; i++) sizes[i] = take(&c, 2); /* name, type, space */
    if (version == 3) skip(&c, 1);
    if (c.bad || version < 1 || version > 3 || (version > 1 && (flags & 3))) return false;
    if (version == 1)
        for (int i = 0; i < 3; i++) sizes[i] = padded(sizes[i]);
    skip(&c, sizes[0]);
    cursor type = c;
    skip(&c, sizes[1]);
    cursor space = c;
    skip(&c, sizes[2]);
    if (c.bad) return false;
    type.end = space.at;
    space.end = c.at;
    uint64_t item, left = (uint64_t)(c.end - c.at);
    if (!type_fits(&type, 0, &item)) return false;
    uint64_t elements = space_elements(space);
    return elements == 0 || item <= left / elements;
}

static bool fill_fits(cursor c)
{
    uint64_t version = take(&c, 1);
    if (version == 3) {
        if (take(&c, 1) & 0x20) skip(&c, take(&c, 4));
    } else {
        skip(&c, 2);
        uint64_t defined = take(&c, 1);
        if (version == 1 || defined) skip(&c, take(&c, 4));
    }
    return !c.bad;
}

/* Compact data are in the message itself. */
static bool layout_fits(cursor c)
{
    uint64_t version = take(&c, 1);
    if (version >= 3) {
        if (take(&c, 1) == 0) skip(&c, take(&c, 2));
    } else {
        uint64_t rank = take(&c, 1), kind = take(&c, 1);
        skip(&c, kind == 0 ? 5 + 4 * rank : 5);
        if (kind == 0) skip(&c, take(&c, 4));
    }
    return !c.bad;
}

static bool filters_fit(cursor c)
{
    uint64_t version = take(&c, 1), filters = take(&c, 1);
    if (version == 1) skip(&c, 6);
    for (uint64_t i = 0; i < filters && !c.bad; i++) {
        uint64_t id = take(&c, 2), name = version == 1 || id >= 256 ? take(&c, 2) : 0;
        skip(&c, 2);
        uint64_t values = take(&c, 2);
        skip(&c, version == 1 ? padded(name) : name);
        skip(&c, 4 * (version == 1 ? values + values % 2 : values));
    }
    return !c.bad;
}

static bool message_fits(uint64_t type, uint64_t flags, cursor c)
{
    uint64_t size;
    if (flags & FLAG_SHARED)
        return type != MESSAGE_TYPE; /* a named type is in a header elsewhere */
    switch (type) {
    case MESSAGE_TYPE:
        return type_fits(&c, 0, &size);
    case MESSAGE_FILL_OLD:
        skip(&c, take(&c, 4));
        return !c.bad;
    case MESSAGE_FILL:
        return fill_fits(c);
    case MESSAGE_LAYOUT:
        return layout_fits(c);
    case MESSAGE_FILTERS:
        return filters_fit(c);
    case MESSAGE_ATTRIBUTE:
        return attribute_fits(c);
    default:
        return true;
    }
}

typedef struct chunk {
    uint64_t offset, length;
} chunk;

/* Messages of one piece of a header. Continuations are added to the list. */
static bool chunk_fits(const unsigned char *bytes, uint64_t length, int version, bool ordered,
                       chunk *list, int *listed)
{
    cursor c = {bytes, bytes + length, false};
    while (c.end - c.at >= (version == 1 ? 8 : 4)) {
        uint64_t type = take(&c, version == 1 ? 2 : 1), size = take(&c, 2), flags = take(&c, 1);
        skip(&c, version == 1 ? 3 : ordered ? 2 : 0);
        cursor message = {c.at, c.at + size, false};
        skip(&c, size);
        if (c.bad || !message_fits(type, flags, message)) return false;
        if (type != MESSAGE_CONTINUATION) continue;
        if (*listed == CHUNKS_MOST) return false;
        list[*listed].offset = take(&message, 8);
        list[(*listed)++].length = take(&message, 8);
        if (message.bad) return false;
    }
    return true;
}

/* Does the header at this address, with all its messages, hold together? */
bool fmo_h5_header_fits(const fmo_h5 *h5, uint64_t address)
{
    unsigned char start[40] = {0};
    chunk list[CHUNKS_MOST];
    int listed = 1, version = 1;
    bool ordered = false, good = true;
    if (!h5->plain) return true;
    if (!read_at(h5, address, start, 16)) return false;
    list[0] = (chunk){address + 16, little_endian(start + 8, 4)};
    if (memcmp(start, "OHDR", 4) == 0) {
        int flags = start[5], width = 1 << (flags & 3);
        size_t prefix = 6u + (flags & 0x20 ? 16u : 0u) + (flags & 0x10 ? 4u : 0u);
        if (!read_at(h5, address, start, prefix + (size_t)width)) return false;
        version = 2;
        ordered = flags & 4;
        list[0] = (chunk){address + prefix + (size_t)width, little_endian(start + prefix, width)};
    } else if (start[0] != 1)
        return false;
    for (int i = 0; good && i < listed; i++) {
        uint64_t length = list[i].length, edge = version == 2 && i > 0 ? 4 : 0; /* OCHK, checksum */
        if (length > CHUNK_MOST || length < 2 * edge) return false;
        unsigned char *bytes = malloc(length ? (size_t)length : 1);
        good = bytes && read_at(h5, list[i].offset, bytes, (size_t)length) &&
               chunk_fits(bytes + edge, length - 2 * edge, version, ordered, list, &listed);
        free(bytes);
    }
    return good;
}

/* --- local heaps -------------------------------------------------------------------------------*/

enum {
    LOCAL_HEADER = 32, /* HEAP, version 0, 3 reserved, 8 bytes each: size, first free, address */
    LOCAL_FREE_MOST = 65536,
    WINDOW = 1 << 20
};

/* HDF5 asks for the memory of a heap before it looks whether the file holds as much. And it follows
 * the list of free blocks, offset of the next and size, until it reads 1, without noticing a
 * circle; a list that leaves its heap it refuses. */
static bool local_heap_fits(const fmo_h5 *h5, const unsigned char *header)
{
    uint64_t size = little_endian(header + 8, 8), next = little_endian(header + 16, 8);
    uint64_t address = little_endian(header + 24, 8);
    unsigned char link[8];
    if (size > h5->size || address > h5->size - size) return false;
    for (int i = 0; i < LOCAL_FREE_MOST && next != 1; i++) {
        if (next >= size || !read_at(h5, address + next, link, 8)) return true;
        next = little_endian(link, 8);
    }
    return next == 1;
}

/* Finds every local heap of the file by its signature, wherever it is. */
fmo_status fmo_h5_check_local_heaps(const fmo_h5 *h5)
{
    fmo_status status = FMO_OK;
    if (!h5->plain) return FMO_OK;
    unsigned char *window = malloc(WINDOW + LOCAL_HEADER);
    if (!window) return fmo_h5_fail(h5, FMO_ERR_MEMORY, NULL, "no memory to read it");
    for (uint64_t start = 0; status == FMO_OK && start < h5->size; start += WINDOW) {
        size_t left = WINDOW + LOCAL_HEADER; /* windows overlap by a header */
        if (left > h5->size - start) left = (size_t)(h5->size - start);
        if (!read_at(h5, start, window, left)) {
            status =
                fmo_h5_fail(h5, FMO_ERR_INPUT, NULL, "cannot be read to its end; copy it again");
            break;
        }
        const unsigned char *at = window, *end = window + left;
        while ((at = memmem(at, (size_t)(end - at), "HEAP", 5)) && end - at >= LOCAL_HEADER) {
            if (!local_heap_fits(h5, at)) {
                status = fmo_h5_fail(h5, FMO_ERR_INPUT, NULL,
                                     "the names of a group do not fit the file, or their free list "
                                     "does not end; the file is damaged or cut short: copy it "
                                     "again");
                break;
            }
            at++;
        }
    }
    free(window);
    return status;
}

/* --- variable-length strings -------------------------------------------------------------------*/

void fmo_h5_copy_text(char *to, size_t size, const char *from, size_t from_size)
{
    size_t n = 0;
    while (from && n + 1 < size && n < from_size && from[n]) {
        to[n] = from[n];
        n++;
    }
    while (n > 0 && to[n - 1] == ' ') n--; /* Fortran pads with blanks */
    to[n] = '\0';
}

enum {
    REFERENCE_SIZE = 16,
    HEAP_HEADER = 16, /* signature, version, 3 reserved, 8 bytes size */
    HEAP_LEAST = 4096,
    HEAP_MOST = 65536 /* H5HG_MAXSIZE */
};

typedef struct heap {
    uint64_t address, loads, loads_most;
    size_t size;
    unsigned char bytes[HEAP_MOST];
} heap_cache;

static bool load_heap(const fmo_h5 *h5, heap_cache *heap, uint64_t address)
{
    if (heap->address == address && heap->size) return true;
    heap->size = 0;
    if (++heap->loads > heap->loads_most || !read_at(h5, address, heap->bytes, HEAP_HEADER))
        return false;
    uint64_t size = little_endian(heap->bytes + 8, 8);
    if (memcmp(heap->bytes, "GCOL\1", 5) != 0 || size < HEAP_LEAST || size > HEAP_MOST ||
        !read_at(h5, address, heap->bytes, (size_t)size))
        return false;
    heap->address = address;
    heap->size = (size_t)size;
    return true;
}

/* Object `index` of a loaded collection: 2 bytes index, 2 count, 4 reserved, 8 size, data padded
 * to 8. NULL if it is not there or does not fit. */
static const char *find_heap_object(const heap_cache *heap, uint64_t index, uint64_t length)
{
    size_t at = HEAP_HEADER;
    while (at + 16 <= heap->size) {
        uint64_t id = little_endian(heap->bytes + at, 2);
        uint64_t size = little_endian(heap->bytes + at + 8, 8);
        if (id == 0 || size > heap->size - at - 16) return NULL; /* 0: the free rest */
        if (id == index) return length <= size ? (const char *)heap->bytes + at + 16 : NULL;
        at += 16 + ((size_t)size + 7) / 8 * 8;
    }
    return NULL;
}

/* Where the references of a plainly stored dataset are; 0 if it is stored in another way. */
static uint64_t plain_offset(const fmo_h5 *h5, hid_t dataset, size_t n)
{
    haddr_t offset = H5Dget_offset(dataset);
    bool plain =
        h5->plain && offset != HADDR_UNDEF && H5Dget_storage_size(dataset) == n * REFERENCE_SIZE;
    return plain ? (uint64_t)offset : 0;
}

fmo_status fmo_h5_read_heap_strings(const fmo_h5 *h5, const fmo_field *field, hid_t dataset,
                                    char *slots, size_t slot)
{
    size_t n = fmo_h5_values(h5, field);
    uint64_t offset = plain_offset(h5, dataset, n);
    if (!offset) return FMO_OK; /* all slots stay empty */
    heap_cache *heap = calloc(1, sizeof *heap);
    if (!heap) return fmo_h5_fail(h5, FMO_ERR_MEMORY, field->title, "no memory to read it");
    heap->loads_most = 16 + h5->size / HEAP_LEAST; /* each collection about once */
    fmo_status status = FMO_OK;
    for (size_t i = 0; i < n; i++) {
        unsigned char reference[REFERENCE_SIZE];
        const char *text = NULL;
        uint64_t length = 0;
        bool good = read_at(h5, offset + i * REFERENCE_SIZE, reference, REFERENCE_SIZE);
        if (good) {
            length = little_endian(reference, 4);
            if (!length) continue;
            good = load_heap(h5, heap, little_endian(reference + 4, 8)) &&
                   (text = find_heap_object(heap, little_endian(reference + 12, 4), length));
        }
        if (!good) {
            status =
                fmo_h5_fail(h5, FMO_ERR_INPUT, field->title,
                            "string %zu cannot be read; the file is damaged: copy it again", i);
            break;
        }
        fmo_h5_copy_text(slots + i * slot, slot, text, (size_t)length);
    }
    free(heap);
    return status;
}
