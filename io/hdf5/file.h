/* Reads HDF5 files without the HDF5 library: superblock, loading of structures, and a record of
 * which structure occupies which bytes. Reasons: docs/explanation/safe-reading.md. Format: HDF5
 * File Format Specification 3.0, whose sections are cited in the code. Next: object.h, tree.h. */
#ifndef FMO_IO_HDF5_FILE_H
#define FMO_IO_HDF5_FILE_H

#include "io/hdf5/bytes.h"

/* Result of a function. The member `why` of the file describes the first error. */
typedef enum fmo_h5_code {
    FMO_H5_OK,
    FMO_H5_DAMAGED,     /* the file contradicts itself */
    FMO_H5_TRUNCATED,   /* the end of the file is missing */
    FMO_H5_UNSUPPORTED, /* perhaps valid, but not supported; `why` names the cure */
    FMO_H5_MEMORY,      /* no memory */
    FMO_H5_UNREADABLE   /* the system cannot read the file; `why` has the message of errno */
} fmo_h5_code;

#define FMO_H5_NOWHERE UINT64_MAX /* HDF5's undefined address */

/* Bytes occupied by a structure. */
typedef struct fmo_h5_claim {
    uint64_t begin, end;
    const char *what; /* name of the structure, for messages */
} fmo_h5_claim;

typedef struct fmo_h5_file {
    int descriptor;
    uint64_t size;      /* size of the file in bytes */
    uint64_t base;      /* offset of the superblock, to which addresses are relative */
    uint64_t end;       /* upper limit of all addresses */
    uint64_t root;      /* address of the root group */
    uint64_t extension; /* address of the superblock extension, or FMO_H5_NOWHERE */
    unsigned leaf_k, group_k,
        chunk_k;         /* half the largest number of entries of nodes of version 1 */
    uint64_t budget;     /* number of bytes of metadata that may still be read or copied */
    fmo_h5_claim *claim; /* [claim_num], sorted by fmo_h5_check_claims */
    size_t claim_num, claim_capacity;
    char why[200];
} fmo_h5_file;

/* Sets `why`, unless it is already set, and returns the code. */
fmo_h5_code fmo_h5_give_up(fmo_h5_file *file, fmo_h5_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define FMO_H5_BAD(file, ...)     fmo_h5_give_up(file, FMO_H5_DAMAGED, __VA_ARGS__)
#define FMO_H5_UNKNOWN(file, ...) fmo_h5_give_up(file, FMO_H5_UNSUPPORTED, __VA_ARGS__)

/* Jumps to the label `done` if a call fails. The function must have a variable `code` and a label
 * `done`, its single exit. */
#define FMO_H5_TRY(call)                             \
    do {                                             \
        if ((code = (call)) != FMO_H5_OK) goto done; \
    } while (0)

/* Reads the superblock. Its signature is searched at offsets 0, 512, 1024, 2048, ...; if there is
 * none, returns FMO_H5_UNSUPPORTED with an empty `why` (not HDF5). Call fmo_h5_file_free in any
 * case. */
fmo_h5_code fmo_h5_file_open(fmo_h5_file *file, int descriptor, uint64_t size);
void fmo_h5_file_free(fmo_h5_file *file);

/* Reads bytes at an address into memory of the caller. */
fmo_h5_code fmo_h5_pread(fmo_h5_file *file, uint64_t address, void *bytes, size_t size);

/* Deducts bytes that are read or copied from the budget for metadata. It ensures that every
 * traversal terminates, and that memory use is bounded by the size of the file. Returns
 * FMO_H5_DAMAGED if the budget is exceeded. */
fmo_h5_code fmo_h5_spend(fmo_h5_file *file, uint64_t size);

/* Like fmo_h5_pread, but deducts the bytes from the budget. */
fmo_h5_code fmo_h5_peek(fmo_h5_file *file, uint64_t address, void *bytes, size_t size);

/* Loads a structure into allocated memory, to be freed by the caller, and claims its bytes as
 * `what`. */
fmo_h5_code fmo_h5_load(fmo_h5_file *file, uint64_t address, uint64_t size, const char *what,
                        unsigned char **bytes);

/* Like fmo_h5_load, for a structure that begins with a signature and ends in a checksum, which are
 * verified. */
fmo_h5_code fmo_h5_load_checked(fmo_h5_file *file, uint64_t address, uint64_t size,
                                const char *signature, unsigned char **bytes);

/* Claims bytes for a structure; they must be inside the file. what: constant string for
 * messages. */
fmo_h5_code fmo_h5_own(fmo_h5_file *file, uint64_t address, uint64_t size, const char *what);

/* Sorts the claims and checks that they do not overlap. */
fmo_h5_code fmo_h5_check_claims(fmo_h5_file *file);

/* Returns true if no structure has claimed any of these bytes. Call fmo_h5_check_claims first. */
bool fmo_h5_unclaimed(const fmo_h5_file *file, uint64_t address, uint64_t size);

#endif
