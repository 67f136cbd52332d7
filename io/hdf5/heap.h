/* Heaps of HDF5, which store names, links, attributes and strings. Next: heap.c (local and global
 * heaps), fractal_heap.c. */
#ifndef FMO_IO_HDF5_HEAP_H
#define FMO_IO_HDF5_HEAP_H

#include "io/hdf5/file.h"

/* Local heap with the names of an old-style group (III.D). Each of its bytes belongs to a name or
 * to a free block, except pieces too small for the list of free blocks. A name without a link
 * therefore means that a link was lost. */
typedef struct fmo_h5_names {
    unsigned char *bytes;
    size_t size;
    unsigned char *used; /* [size / 8] nonzero: these 8 bytes are used by a link or free */
} fmo_h5_names;

fmo_h5_code fmo_h5_names_read(fmo_h5_file *file, uint64_t address, fmo_h5_names *names);
void fmo_h5_names_free(fmo_h5_names *names);

/* Returns the text at an offset for a link, and marks it as used. NULL if it is invalid or already
 * used. */
const char *fmo_h5_names_take(fmo_h5_names *names, uint64_t offset);

/* Returns true if the whole heap consists of used names and free blocks. */
bool fmo_h5_names_accounted(const fmo_h5_names *names);

/* A block of a fractal heap (III.G), all of whose blocks are loaded. */
typedef struct fmo_h5_block {
    uint64_t offset, size; /* within the address space of the heap */
    unsigned char *bytes;
} fmo_h5_block;

typedef struct fmo_h5_heap {
    fmo_h5_block *block; /* [block_num], sorted by offset */
    size_t block_num, block_capacity;
    uint64_t managed, tiny;         /* number of objects in blocks, and in ids */
    uint64_t start, largest, width; /* least, largest size of direct blocks; blocks in a row */
    unsigned offset_bytes, length_bytes, id_bytes;
    uint64_t address;
    bool summed; /* direct blocks have checksums */
} fmo_h5_heap;

fmo_h5_code fmo_h5_heap_read(fmo_h5_file *file, uint64_t address, fmo_h5_heap *heap);
void fmo_h5_heap_free(fmo_h5_heap *heap);

/* Finds the object with an id of id_bytes bytes. */
fmo_h5_code fmo_h5_heap_find(fmo_h5_file *file, const fmo_h5_heap *heap, const unsigned char *id,
                             fmo_bytes *object);

enum { FMO_H5_REFERENCE = 16 /* bytes of a reference to a string */ };

/* Strings of variable length (III.E): one object of a collection of the global heap. */
typedef struct fmo_h5_string {
    uint64_t id, size;
    const unsigned char *bytes;
} fmo_h5_string;

typedef struct fmo_h5_strings {
    uint64_t address, end; /* of the collection loaded last */
    unsigned char *bytes;
    fmo_h5_string *string; /* [string_num], sorted by id */
    size_t string_num;
} fmo_h5_strings;

/* Sorts n references of 16 bytes each by the collections that they refer to; order[n] receives
 * their addresses. Calling fmo_h5_strings_find in this order loads each collection once. */
void fmo_h5_strings_order(const unsigned char *references, size_t n, const unsigned char **order);

/* Returns the text of a reference, without a terminating zero; *text is NULL for an empty string.
 * It is valid until the next call. Addresses of collections must not decrease between calls.
 * Initialise the struct to 0, and free it in any case. */
fmo_h5_code fmo_h5_strings_find(fmo_h5_file *file, fmo_h5_strings *strings,
                                const unsigned char *reference, const char **text, size_t *size);
void fmo_h5_strings_free(fmo_h5_strings *strings);

#endif
