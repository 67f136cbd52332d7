/* Local and global heaps. See heap.h; the fractal one is in fractal_heap.c. */
#include "io/hdf5/heap.h"

#include <stdlib.h>
#include <string.h>

/* --- names of an old group ---------------------------------------------------------------------*/

enum { LOCAL_HEADER = 32, UNIT = 8, FREE_LEAST = 16 };

#define NAMES_BAD "the names of a group do not fit the file, or their free list does not end"

static fmo_h5_code mark_free(fmo_h5_file *file, fmo_h5_names *names, uint64_t next)
{
    while (next != 1 && next != FMO_H5_NOWHERE) { /* each round marks something, so it ends */
        if (next % UNIT || next > names->size || names->size - next < FREE_LEAST)
            return FMO_H5_BAD(file, NAMES_BAD);
        uint64_t size = fmo_little_endian(names->bytes + next + 8, 8);
        if (size % UNIT || size < FREE_LEAST || size > names->size - next)
            return FMO_H5_BAD(file, NAMES_BAD);
        for (size_t i = (size_t)next / UNIT; i < (size_t)(next + size) / UNIT; i++) {
            if (names->used[i]) return FMO_H5_BAD(file, NAMES_BAD);
            names->used[i] = 1;
        }
        next = fmo_little_endian(names->bytes + next, 8);
    }
    return FMO_H5_OK;
}

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
        if (names->used[i]) return NULL; /* two links, or free */
        names->used[i] = 1;
    }
    return (const char *)text;
}

/* Names of up to 7 characters may be left over: HDF5 forgets free pieces below FREE_LEAST. */
bool fmo_h5_names_accounted(const fmo_h5_names *names)
{
    for (size_t i = 1; i < names->size / UNIT; i++) /* the first is the empty name */
        if (!names->used[i] && !memchr(names->bytes + i * UNIT, 0, UNIT)) return false;
    return true;
}

/* --- strings of any length ---------------------------------------------------------------------*/

enum { COLLECTION_HEADER = 16, COLLECTION_LEAST = 4096 };

static fmo_h5_code load_collection(fmo_h5_file *file, fmo_h5_strings *strings, uint64_t address)
{
    unsigned char header[COLLECTION_HEADER];
    if (strings->bytes && strings->address == address) return FMO_H5_OK;
    free(strings->bytes);
    strings->bytes = NULL;
    fmo_h5_code code = fmo_h5_peek(file, address, header, sizeof header);
    if (code != FMO_H5_OK) return code;
    uint64_t size = fmo_little_endian(header + 8, 8);
    if (memcmp(header, "GCOL\1\0\0\0", 8) != 0 || size < COLLECTION_LEAST ||
        size > FMO_H5_COLLECTION_MOST || address > file->end || size > file->end - address ||
        !fmo_h5_unclaimed(file, address, size))
        return FMO_H5_BAD(file, "there are no strings where it says");
    strings->bytes = malloc((size_t)size);
    if (!strings->bytes) return fmo_h5_give_up(file, FMO_H5_MEMORY, "no memory to read it");
    strings->address = address;
    strings->size = (size_t)size;
    code = fmo_h5_peek(file, address, strings->bytes, strings->size);
    if (code == FMO_H5_OK) return code;
    free(strings->bytes);
    strings->bytes = NULL;
    return code;
}

fmo_h5_code fmo_h5_strings_find(fmo_h5_file *file, fmo_h5_strings *strings,
                                const unsigned char *reference, const char **text, size_t *size)
{
    uint64_t length = fmo_little_endian(reference, 4), index = fmo_little_endian(reference + 12, 4);
    *text = NULL;
    *size = 0;
    if (!length) return FMO_H5_OK;
    fmo_h5_code code = load_collection(file, strings, fmo_little_endian(reference + 4, 8));
    if (code != FMO_H5_OK) return code;
    /* objects: 2 bytes index, 2 count, 4 reserved, 8 size, the object padded to 8 */
    fmo_bytes b =
        fmo_bytes_of(strings->bytes + COLLECTION_HEADER, strings->size - COLLECTION_HEADER);
    while (fmo_bytes_left(&b) >= 16) {
        uint64_t id = fmo_bytes_take(&b, 2);
        fmo_bytes_skip(&b, 6);
        uint64_t bytes = fmo_bytes_take(&b, 8);
        if (id == 0 || bytes > fmo_bytes_left(&b)) break; /* 0: the free rest */
        if (id == index) {
            if (length > bytes) break;
            *text = (const char *)b.at;
            *size = (size_t)length;
            return FMO_H5_OK;
        }
        uint64_t padded = (bytes + 7) / 8 * 8;
        fmo_bytes_skip(&b, padded < fmo_bytes_left(&b) ? padded : fmo_bytes_left(&b));
    }
    return FMO_H5_BAD(file, "there are no strings where it says");
}
