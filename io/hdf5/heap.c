/* Local and global heaps; declared in heap.h. Fractal heaps are in fractal_heap.c. */
#include "io/hdf5/heap.h"

#include <stdlib.h>
#include <string.h>

/* --- names of an old-style group ------------------------------------------------------------ */

enum { LOCAL_HEADER = 32, UNIT = 8, FREE_MIN = 16 };

#define NAMES_BAD "the names of a group do not fit the file, or their free list does not end"

static fmo_h5_code mark_free(fmo_h5_file *file, fmo_h5_names *names, uint64_t next)
{
    while (next != 1 && next != FMO_H5_NOWHERE) { /* ends, since each iteration marks units */
        if (next % UNIT || next > names->size || names->size - next < FREE_MIN)
            return FMO_H5_BAD(file, NAMES_BAD);
        uint64_t size = fmo_little_endian(names->bytes + next + 8, 8);
        if (size % UNIT || size < FREE_MIN || size > names->size - next)
            return FMO_H5_BAD(file, NAMES_BAD);
        for (size_t i = (size_t)next / UNIT; i < (size_t)(next + size) / UNIT; i++) {
            if (names->used[i]) return FMO_H5_BAD(file, NAMES_BAD);
            names->used[i] = 1;
        }
        next = fmo_little_endian(names->bytes + next, 8);
    }
    return FMO_H5_OK;
}

/* Loads a local heap and marks its free blocks. */
fmo_h5_code fmo_h5_names_read(fmo_h5_file *file, uint64_t address, fmo_h5_names *names)
{
    unsigned char *header = NULL;
    *names = (fmo_h5_names){NULL, 0, NULL};
    fmo_h5_code code;
    FMO_H5_TRY(fmo_h5_load(file, address, LOCAL_HEADER, "the heap of a group", &header));
    uint64_t size = fmo_little_endian(header + 8, 8), next = fmo_little_endian(header + 16, 8);
    uint64_t at = fmo_little_endian(header + 24, 8);
    code = FMO_H5_DAMAGED;
    if (memcmp(header, "HEAP\0\0\0\0", 8) != 0 || size % UNIT || size > file->size) {
        FMO_H5_BAD(file, NAMES_BAD);
        goto done;
    }
    FMO_H5_TRY(fmo_h5_load(file, at, size, "the names of a group", &names->bytes));
    names->size = (size_t)size;
    names->used = calloc(names->size / UNIT + 1, 1);
    code = names->used ? mark_free(file, names, next)
                       : fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
done:
    free(header);
    return code;
}

void fmo_h5_names_free(fmo_h5_names *names)
{
    free(names->bytes);
    free(names->used);
    *names = (fmo_h5_names){NULL, 0, NULL};
}

const char *fmo_h5_names_take(fmo_h5_names *names, uint64_t offset)
{
    if (offset >= names->size || offset % UNIT) return NULL;
    const unsigned char *text = names->bytes + offset;
    const unsigned char *end = memchr(text, 0, names->size - (size_t)offset);
    if (!end) return NULL;
    size_t first = (size_t)offset / UNIT, last = (size_t)(end - names->bytes) / UNIT;
    for (size_t i = first; i <= last; i++) {
        if (names->used[i]) return NULL; /* used by two links, or free */
        names->used[i] = 1;
    }
    return (const char *)text;
}

/* Names of up to 7 characters may be unused, since HDF5 does not record free pieces below
 * FREE_MIN bytes. */
bool fmo_h5_names_accounted(const fmo_h5_names *names)
{
    for (size_t i = 1; i < names->size / UNIT; i++) /* the first is the empty name */
        if (!names->used[i] && !memchr(names->bytes + i * UNIT, 0, UNIT)) return false;
    return true;
}

/* --- strings of variable length ------------------------------------------------------------- */

enum { COLLECTION_HEADER = 16, COLLECTION_MIN = 4096, OBJECT_HEADER = 16 };

#define STRINGS_BAD "there are no strings where it says"

static uint64_t collection_of(const unsigned char *reference)
{
    return fmo_little_endian(reference + 4, 8);
}

static int compare_references(const void *a, const void *b)
{
    const unsigned char *const *p = a, *const *q = b;
    const uint64_t left = collection_of(*p), right = collection_of(*q);
    if (left != right) return left < right ? -1 : 1;
    return *p < *q ? -1 : *p > *q;
}

void fmo_h5_strings_order(const unsigned char *references, size_t n, const unsigned char **order)
{
    for (size_t i = 0; i < n; i++) order[i] = references + i * FMO_H5_REFERENCE;
    qsort(order, n, sizeof *order, compare_references);
}

void fmo_h5_strings_free(fmo_h5_strings *strings)
{
    free(strings->bytes);
    free(strings->string);
    *strings = (fmo_h5_strings){.end = strings->end};
}

static int compare_ids(const void *a, const void *b)
{
    const fmo_h5_string *p = a, *q = b;
    return p->id < q->id ? -1 : p->id > q->id;
}

/* Indexes the objects of a collection: 2 bytes id, 2 reference count, 4 reserved, 8 size, then the
 * object, padded to 8 bytes. Id 0 is the free space at the end. */
static fmo_h5_code index_collection(fmo_h5_file *file, fmo_h5_strings *strings, size_t size)
{
    fmo_bytes b = fmo_bytes_of(strings->bytes + COLLECTION_HEADER, size - COLLECTION_HEADER);
    strings->string = malloc(size / OBJECT_HEADER * sizeof *strings->string);
    if (!strings->string) return fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
    while (fmo_bytes_left(&b) >= OBJECT_HEADER) {
        fmo_h5_string s = {.id = fmo_bytes_take(&b, 2)};
        fmo_bytes_skip(&b, 6);
        s.size = fmo_bytes_take(&b, 8);
        s.bytes = b.at;
        if (s.id == 0 || s.size > fmo_bytes_left(&b)) break;
        strings->string[strings->string_num++] = s;
        const uint64_t padded = (s.size + 7) / 8 * 8;
        fmo_bytes_skip(&b, padded < fmo_bytes_left(&b) ? padded : fmo_bytes_left(&b));
    }
    qsort(strings->string, strings->string_num, sizeof *strings->string, compare_ids);
    for (size_t i = 1; i < strings->string_num; i++)
        if (strings->string[i].id == strings->string[i - 1].id)
            return FMO_H5_BAD(file, STRINGS_BAD);
    return FMO_H5_OK;
}

/* Loads a collection. Collections must not overlap, so that at most the size of the file is
 * read. */
static fmo_h5_code load_collection(fmo_h5_file *file, fmo_h5_strings *strings, uint64_t address)
{
    unsigned char header[COLLECTION_HEADER];
    if (strings->bytes && strings->address == address) return FMO_H5_OK;
    fmo_h5_strings_free(strings);
    if (address < strings->end) return FMO_H5_BAD(file, STRINGS_BAD);
    fmo_h5_code code = fmo_h5_pread(file, address, header, sizeof header);
    if (code != FMO_H5_OK) return code;
    uint64_t size = fmo_little_endian(header + 8, 8);
    if (memcmp(header, "GCOL\1\0\0\0", 8) != 0 || size < COLLECTION_MIN ||
        size > file->end - address || !fmo_h5_unclaimed(file, address, size))
        return FMO_H5_BAD(file, STRINGS_BAD);
    strings->bytes = malloc((size_t)size);
    if (!strings->bytes) return fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
    strings->address = address;
    strings->end = address + size;
    FMO_H5_TRY(fmo_h5_pread(file, address, strings->bytes, (size_t)size));
    FMO_H5_TRY(index_collection(file, strings, (size_t)size));
done:
    if (code != FMO_H5_OK) fmo_h5_strings_free(strings);
    return code;
}

fmo_h5_code fmo_h5_strings_find(fmo_h5_file *file, fmo_h5_strings *strings,
                                const unsigned char *reference, const char **text, size_t *size)
{
    uint64_t length = fmo_little_endian(reference, 4);
    const fmo_h5_string key = {.id = fmo_little_endian(reference + 12, 4)};
    *text = NULL;
    *size = 0;
    if (!length) return FMO_H5_OK;
    fmo_h5_code code = load_collection(file, strings, collection_of(reference));
    if (code != FMO_H5_OK) return code;
    const fmo_h5_string *found =
        bsearch(&key, strings->string, strings->string_num, sizeof *strings->string, compare_ids);
    if (!found || length > found->size) return FMO_H5_BAD(file, STRINGS_BAD);
    *text = (const char *)found->bytes;
    *size = (size_t)length;
    return FMO_H5_OK;
}
