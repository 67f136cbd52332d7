/* HDF5 calls of tests: one that fails ends the program, as the test itself is broken. */
#ifndef FMO_TESTS_IO_MUST_H
#define FMO_TESTS_IO_MUST_H

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(call)                                                            \
    do {                                                                      \
        if ((call) < 0) {                                                     \
            fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #call); \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

static inline hid_t must(hid_t id, const char *what)
{
    if (id < 0) {
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
    return id;
}
#define GET(call) must(call, #call)

#endif
