/* Heaps: where names, links, attributes and strings are that do not fit into their place. */
#ifndef FMO_IO_HDF5_HEAP_H
#define FMO_IO_HDF5_HEAP_H

#include "io/hdf5/file.h"

/* The names of an old group (III.D). Each byte of it is a name, free, or lost in pieces too small
 * for the list of free ones: a name that no link has is a link that was lost. */
typedef struct fmo_h5_names {
    unsigned char *bytes;
    size_t size;
    unsigned char *used; /* [size / 8] by 8 bytes */
} fmo_h5_names;

fmo_h5_code fmo_h5_names_read(fmo_h5_file *file, uint64_t address, fmo_h5_names *names);
void fmo_h5_names_free(fmo_h5_names *names);

/* The text at an offset, for a link of its own: it is marked as used. NULL if there is none. */
const char *fmo_h5_names_take(fmo_h5_names *names, uint64_t offset);

/* Is all of it a name that was taken, or free? */
bool fmo_h5_names_accounted(const fmo_h5_names *names);

/* A fractal heap (III.G), all its blocks loaded. */
typedef struct fmo_h5_block {
    uint64_t offset, size; /* within the heap */
    unsigned char *bytes;
} fmo_h5_block;

typedef struct fmo_h5_heap {
    fmo_h5_block *block; /* [block_num] by offset */
    size_t block_num, block_room;
    uint64_t managed, tiny;         /* objects */
    uint64_t start, largest, width; /* sizes of direct blocks, blocks in a row */
    unsigned offset_bytes, length_bytes, id_bytes;
    uint64_t address;
    bool summed; /* direct blocks have checksums */
} fmo_h5_heap;

fmo_h5_code fmo_h5_heap_read(fmo_h5_file *file, uint64_t address, fmo_h5_heap *heap);
void fmo_h5_heap_free(fmo_h5_heap *heap);

/* The object of an id of id_bytes. */
fmo_h5_code fmo_h5_heap_find(fmo_h5_file *file, const fmo_h5_heap *heap, const unsigned char *id,
                             fmo_bytes *object);

enum { FMO_H5_REFERENCE = 16 /* bytes of a reference to a string */ };

/* Strings of any length (III.E): a collection of the global heap and an index of its objects. */
typedef struct fmo_h5_string {
    uint64_t id, size;
    const unsigned char *bytes;
} fmo_h5_string;

typedef struct fmo_h5_strings {
    uint64_t address, end; /* of the collection */
    unsigned char *bytes;
    fmo_h5_string *string; /* [string_num] by id */
    size_t string_num;
} fmo_h5_strings;

/* n references of 16 bytes each, sorted by the collections that they lead to: order[n] gets their
 * positions. In this order fmo_h5_strings_find loads each collection once. */
void fmo_h5_strings_order(const unsigned char *references, size_t n, const unsigned char **order);

/* The text that a reference leads to, not ended by a zero; *text is NULL for an empty one. Valid
 * until the next call. Collections must come by rising addresses. Begin with a struct of zeros;
 * free it in any case. */
fmo_h5_code fmo_h5_strings_find(fmo_h5_file *file, fmo_h5_strings *strings,
                                const unsigned char *reference, const char **text, size_t *size);
void fmo_h5_strings_free(fmo_h5_strings *strings);

#endif
