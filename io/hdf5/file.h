/* An HDF5 file read by ourselves: its superblock, structures loaded from it, and who owns which of
 * its bytes. No library of HDF5 is behind this; why: docs/explanation/safe-reading.md. Format: HDF5
 * File Format Specification 3.0 (sections are named where they are read). Read next: object.h,
 * tree.h. */
#ifndef FMO_IO_HDF5_FILE_H
#define FMO_IO_HDF5_FILE_H

#include "io/hdf5/bytes.h"

/* How a step went. `why` of the file has the text of the first that went wrong. */
typedef enum fmo_h5_code {
    FMO_H5_OK,
    FMO_H5_DAMAGED,     /* the file contradicts itself */
    FMO_H5_TRUNCATED,   /* its end is missing */
    FMO_H5_UNSUPPORTED, /* sound perhaps, and not read here; `why` names the cure */
    FMO_H5_MEMORY,      /* no memory */
    FMO_H5_UNREADABLE   /* the system cannot read it; errno is in `why` */
} fmo_h5_code;

#define FMO_H5_NOWHERE UINT64_MAX /* the undefined address */

/* Bytes that a structure owns. */
typedef struct fmo_h5_claim {
    uint64_t begin, end;
    const char *what;
} fmo_h5_claim;

typedef struct fmo_h5_file {
    int descriptor;
    uint64_t size;                     /* bytes of the file */
    uint64_t base;                     /* of its user block; addresses count from there */
    uint64_t end;                      /* addresses are below */
    uint64_t root;                     /* address of the root group */
    uint64_t extension;                /* address of the superblock extension, or FMO_H5_NOWHERE */
    unsigned leaf_k, group_k, chunk_k; /* half the entries of nodes of version 1 */
    uint64_t budget;                   /* bytes of metadata still to be read or copied */
    fmo_h5_claim *claim;               /* [claim_num] sorted once fmo_h5_check_claims was called */
    size_t claim_num, claim_room;
    char why[200];
} fmo_h5_file;

/* Note why, unless there is a reason already, and return the code. */
fmo_h5_code fmo_h5_give_up(fmo_h5_file *file, fmo_h5_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define FMO_H5_BAD(file, ...)     fmo_h5_give_up(file, FMO_H5_DAMAGED, __VA_ARGS__)
#define FMO_H5_UNKNOWN(file, ...) fmo_h5_give_up(file, FMO_H5_UNSUPPORTED, __VA_ARGS__)

/* One exit for what may fail: `code` and the label `done` are the function's. */
#define FMO_H5_TRY(call)                             \
    do {                                             \
        if ((code = (call)) != FMO_H5_OK) goto done; \
    } while (0)

/* Read the superblock. A signature there is at 0, 512, 1024, ...: else FMO_H5_UNSUPPORTED with
 * `why` "" (not HDF5). Free with fmo_h5_file_free in any case. */
fmo_h5_code fmo_h5_file_open(fmo_h5_file *file, int descriptor, uint64_t size);
void fmo_h5_file_free(fmo_h5_file *file);

/* Read bytes at an address: data that the caller has room for. */
fmo_h5_code fmo_h5_pread(fmo_h5_file *file, uint64_t address, void *bytes, size_t size);

/* Take bytes that are read or copied out of the budget for metadata: every loop over structures
 * ends, and the memory of what it makes is bounded by the file. FMO_H5_DAMAGED if it is spent. */
fmo_h5_code fmo_h5_spend(fmo_h5_file *file, uint64_t size);

/* As fmo_h5_pread, out of the budget. */
fmo_h5_code fmo_h5_peek(fmo_h5_file *file, uint64_t address, void *bytes, size_t size);

/* A structure into memory of its own (free it), claimed as `what`. */
fmo_h5_code fmo_h5_load(fmo_h5_file *file, uint64_t address, uint64_t size, const char *what,
                        unsigned char **bytes);

/* As fmo_h5_load, of a structure that begins with a signature and ends in a checksum. */
fmo_h5_code fmo_h5_load_checked(fmo_h5_file *file, uint64_t address, uint64_t size,
                                const char *signature, unsigned char **bytes);

/* A structure owns these bytes; they must be in the file. what: a constant, for messages. */
fmo_h5_code fmo_h5_own(fmo_h5_file *file, uint64_t address, uint64_t size, const char *what);

/* Sort the claims: no byte has two owners. */
fmo_h5_code fmo_h5_check_claims(fmo_h5_file *file);

/* After that: do these bytes belong to nobody? */
bool fmo_h5_unclaimed(const fmo_h5_file *file, uint64_t address, uint64_t size);

#endif
