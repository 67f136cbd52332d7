/* A data set stored in another way, by libhdf5: for tests of our own reader. */
#ifndef FMO_TESTS_IO_REPACK_H
#define FMO_TESTS_IO_REPACK_H

#include <hdf5.h>

typedef struct io_storage {
    const char *name;
    int latest;         /* newest structures that this HDF5 knows, else the oldest */
    hsize_t user_block; /* bytes before the file proper: 0, 512, 1024, ... */
    hsize_t chunk; /* largest number of values of a chunk along a dimension; 0: not in chunks */
    int deflate, shuffle, fletcher;
    int grow;       /* dimensions without limit: none, the first, all */
    int attributes; /* as many more of /fmo */
} io_storage;

/* Every group, dataset and attribute of `in` into a new file. Ends the program on failure. */
void io_repack(const char *in, const char *out, const io_storage *how);

#endif
