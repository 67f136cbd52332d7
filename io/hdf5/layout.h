/* Where the values of a dataset are, and reading them. */
#ifndef FMO_IO_HDF5_LAYOUT_H
#define FMO_IO_HDF5_LAYOUT_H

#include "io/hdf5/object.h"

typedef enum fmo_h5_storage {
    FMO_H5_COMPACT,    /* in the header */
    FMO_H5_CONTIGUOUS, /* in one piece */
    FMO_H5_CHUNKED,
    FMO_H5_ELSEWHERE_EXTERNAL, /* in another file */
    FMO_H5_ELSEWHERE_VIRTUAL
} fmo_h5_storage;

enum { FMO_H5_DEFLATE = 1, FMO_H5_SHUFFLE = 2, FMO_H5_FLETCHER32 = 3, FMO_H5_FILTERS_MOST = 8 };

typedef struct fmo_h5_chunk {
    uint64_t at;            /* its place in the grid of chunks, row-major */
    uint64_t address, size; /* stored */
    uint32_t mask;          /* filters that it went without */
} fmo_h5_chunk;

/* Kinds of index over chunks (IV.A.2.i); 0 is the B-tree of version 1. */
enum {
    FMO_H5_INDEX_SINGLE = 1,
    FMO_H5_INDEX_IMPLICIT,
    FMO_H5_INDEX_FIXED,
    FMO_H5_INDEX_EXTENSIBLE,
    FMO_H5_INDEX_BTREE2
};

typedef struct fmo_h5_dataset {
    fmo_h5_code code; /* FMO_H5_UNSUPPORTED: `why` says what is not read */
    char why[200];
    fmo_h5_type type;
    fmo_h5_space space;
    fmo_h5_storage storage;
    bool filtered;  /* by any filter, read here or not: indexes store sizes and masks of chunks */
    int odd_filter; /* the first that is not read, -1 without */
    unsigned filter_num;
    unsigned idle; /* bits of filters that HDF5 cannot apply: shuffle without the size of a value */
    char odd_filter_name[32];
    unsigned filter[FMO_H5_FILTERS_MOST]; /* in the order in which they were applied */
    uint64_t address;                     /* of the values in one piece, or of the index */
    uint64_t stored;                      /* bytes in the file; 0: never written */
    const unsigned char *compact;
    unsigned index;
    bool wide;            /* layout version 5: chunk sizes take 8 bytes */
    uint64_t single_size; /* of a single chunk with filters */
    uint32_t single_mask;
    uint64_t chunk_dim[FMO_H5_RANK_MOST], grid[FMO_H5_RANK_MOST];
    uint64_t chunk_bytes, chunk_num;
    bool plausible;      /* no more chunks than the file can hold; else they are not listed */
    fmo_h5_chunk *chunk; /* [chunks_there] of chunk_num, by their places */
    size_t chunks_there, chunk_room;
} fmo_h5_dataset;

/* More chunks than this cannot be in an honest file. */
uint64_t fmo_h5_chunks_most(const fmo_h5_file *file);

/* Type, shape and storage of the dataset of a header; its data are claimed. What is only not read
 * here is kept in dataset->code. Free in any case. */
fmo_h5_code fmo_h5_dataset_of(fmo_h5_file *file, const fmo_h5_object *object,
                              fmo_h5_dataset *dataset);
void fmo_h5_dataset_free(fmo_h5_dataset *dataset);

/* List the chunks of an index of layout version 4 (chunk_index.c). */
fmo_h5_code fmo_h5_list_chunks(fmo_h5_file *file, fmo_h5_dataset *dataset);

/* Add a chunk, which is at these coordinates of the grid, to the list; chunk.at is set here
 * (chunk.c). */
fmo_h5_code fmo_h5_note_chunk(fmo_h5_file *file, fmo_h5_dataset *dataset, const uint64_t *scaled,
                              fmo_h5_chunk chunk);

/* Sort the list: each chunk may come once. */
fmo_h5_code fmo_h5_sort_chunks(fmo_h5_file *file, fmo_h5_dataset *dataset);

/* All values, as they are in the file: space.values * type.size bytes. FMO_H5_DAMAGED if any is not
 * there (data.c). */
fmo_h5_code fmo_h5_dataset_read(fmo_h5_file *file, const fmo_h5_dataset *dataset, void *values);

#endif
