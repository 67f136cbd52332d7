/* Storage of the values of a dataset, and functions that read them. Next: layout.c, chunk.c,
 * chunk_index.c, data.c. */
#ifndef FMO_IO_HDF5_LAYOUT_H
#define FMO_IO_HDF5_LAYOUT_H

#include "io/hdf5/object.h"

typedef enum fmo_h5_storage {
    FMO_H5_COMPACT,    /* in the object header */
    FMO_H5_CONTIGUOUS, /* in one block */
    FMO_H5_CHUNKED,
    FMO_H5_ELSEWHERE_EXTERNAL, /* in another file */
    FMO_H5_ELSEWHERE_VIRTUAL
} fmo_h5_storage;

enum { FMO_H5_DEFLATE = 1, FMO_H5_SHUFFLE = 2, FMO_H5_FLETCHER32 = 3, FMO_H5_FILTERS_MAX = 8 };

typedef struct fmo_h5_chunk {
    uint64_t at;            /* index in the grid of chunks, row-major */
    uint64_t address, size; /* of the stored bytes */
    uint32_t mask;          /* bit i: filter i was not applied */
} fmo_h5_chunk;

/* Kinds of chunk indexes (IV.A.2.i); 0 is a B-tree of version 1. */
enum {
    FMO_H5_INDEX_SINGLE = 1,
    FMO_H5_INDEX_IMPLICIT,
    FMO_H5_INDEX_FIXED,
    FMO_H5_INDEX_EXTENSIBLE,
    FMO_H5_INDEX_BTREE2
};

typedef struct fmo_h5_dataset {
    fmo_h5_code code; /* FMO_H5_UNSUPPORTED: `why` says what is not supported */
    char why[200];
    fmo_h5_type type;
    fmo_h5_space space;
    fmo_h5_storage storage;
    bool filtered;  /* has any filter, supported or not: indexes store sizes and masks of chunks */
    int odd_filter; /* id of the first unsupported filter; -1 if there is none */
    unsigned filter_num;
    unsigned idle; /* bit i: filter i is a shuffle without the size of a value, which HDF5 cannot
                      apply */
    char odd_filter_name[32];
    unsigned filter[FMO_H5_FILTERS_MAX]; /* in the order in which they were applied */
    uint64_t address;                    /* of the contiguous values, or of the chunk index */
    uint64_t stored;                     /* number of bytes in the file; 0: never written */
    const unsigned char *compact;
    unsigned index;
    uint64_t single_size; /* stored size of a single chunk with filters */
    uint32_t single_mask;
    uint64_t chunk_dim[FMO_H5_RANK_MAX], grid[FMO_H5_RANK_MAX];
    uint64_t chunk_bytes, chunk_num;
    bool plausible;      /* false: more chunks than the file can hold; they are not listed */
    fmo_h5_chunk *chunk; /* [chunks_there] of chunk_num, sorted by `at` */
    size_t chunks_there, chunk_capacity;
} fmo_h5_dataset;

/* Returns the largest plausible number of chunks of a dataset in this file. */
uint64_t fmo_h5_chunks_max(const fmo_h5_file *file);

/* Reads type, shape and storage of the dataset of an object, and claims its data. Unsupported
 * features are recorded in dataset->code instead of returned. Call fmo_h5_dataset_free in any
 * case. */
fmo_h5_code fmo_h5_dataset_of(fmo_h5_file *file, const fmo_h5_object *object,
                              fmo_h5_dataset *dataset);
void fmo_h5_dataset_free(fmo_h5_dataset *dataset);

/* Lists the chunks of an index of layout version 4 or 5 (chunk_index.c). */
fmo_h5_code fmo_h5_list_chunks(fmo_h5_file *file, fmo_h5_dataset *dataset);

/* Appends a chunk to the list and claims its bytes. scaled: its coordinates in the grid, from which
 * chunk.at is set (chunk.c). */
fmo_h5_code fmo_h5_note_chunk(fmo_h5_file *file, fmo_h5_dataset *dataset, const uint64_t *scaled,
                              fmo_h5_chunk chunk);

/* Sorts the list by `at`; a chunk that occurs twice is an error. */
fmo_h5_code fmo_h5_sort_chunks(fmo_h5_file *file, fmo_h5_dataset *dataset);

/* Reads all values as they are in the file: space.values * type.size bytes. Returns FMO_H5_DAMAGED
 * if any is missing (data.c). */
fmo_h5_code fmo_h5_dataset_read(fmo_h5_file *file, const fmo_h5_dataset *dataset, void *values);

#endif
