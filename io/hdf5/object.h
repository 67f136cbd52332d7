/* Object headers and the content of their messages: types, shapes, attributes. Next: object.c,
 * attribute.h, layout.h. */
#ifndef FMO_IO_HDF5_OBJECT_H
#define FMO_IO_HDF5_OBJECT_H

#include "io/hdf5/file.h"

/* Types of messages that are read (IV.A.2). */
enum {
    FMO_H5_NIL = 0x00,
    FMO_H5_SPACE = 0x01,
    FMO_H5_LINK_INFO = 0x02,
    FMO_H5_TYPE = 0x03,
    FMO_H5_LINK = 0x06,
    FMO_H5_EXTERNAL = 0x07,
    FMO_H5_LAYOUT = 0x08,
    FMO_H5_GROUP_INFO = 0x0a,
    FMO_H5_FILTERS = 0x0b,
    FMO_H5_ATTRIBUTE = 0x0c,
    FMO_H5_CONTINUATION = 0x10,
    FMO_H5_SYMBOL_TABLE = 0x11,
    FMO_H5_ATTRIBUTE_INFO = 0x15,
    FMO_H5_LINK_COUNT = 0x16
};

typedef struct fmo_h5_message {
    unsigned type;
    bool shared; /* the content is stored elsewhere */
    const unsigned char *bytes;
    size_t size;
} fmo_h5_message;

/* An object header with all its messages. */
typedef struct fmo_h5_object {
    uint64_t address;
    uint64_t links; /* number of links to the object, as stored in it */
    fmo_h5_message *message;
    size_t message_num;
    unsigned char **piece; /* [piece_num] memory to which the messages point */
    size_t piece_num;
} fmo_h5_object;

/* Reads the object header at an address. Call fmo_h5_object_free in any case. */
fmo_h5_code fmo_h5_object_read(fmo_h5_file *file, uint64_t address, fmo_h5_object *object);
void fmo_h5_object_free(fmo_h5_object *object);

/* Adds a message and copies its bytes. */
fmo_h5_code fmo_h5_object_add(fmo_h5_file *file, fmo_h5_object *object, unsigned type,
                              const unsigned char *bytes, size_t size);

/* Returns the first message of a type; NULL if there is none. */
const fmo_h5_message *fmo_h5_object_find(const fmo_h5_object *object, unsigned type);

/* Reads the superblock extension, if there is one. */
fmo_h5_code fmo_h5_read_extension(fmo_h5_file *file);

typedef enum fmo_h5_class {
    FMO_H5_INTEGER,
    FMO_H5_REAL,      /* any floating-point number */
    FMO_H5_TEXT,      /* strings of `size` bytes */
    FMO_H5_TEXT_HEAP, /* strings of variable length in a global heap; size is 16 */
    FMO_H5_CLASS_OTHER
} fmo_h5_class;

typedef struct fmo_h5_type {
    fmo_h5_class class;
    size_t size; /* size of a value in the file, in bytes */
    bool plain;  /* supported: integers of 1, 2, 4 or 8 bytes, IEEE float64, strings */
    bool big, is_signed;
} fmo_h5_type;

enum { FMO_H5_RANK_MAX = 32 };

typedef struct fmo_h5_space {
    bool null;                                               /* there are no values */
    unsigned rank;                                           /* 0: a scalar */
    uint64_t dim[FMO_H5_RANK_MAX], max_dim[FMO_H5_RANK_MAX]; /* max_dim: UINT64_MAX: no limit */
    uint64_t values; /* product of the extents, below 2^63 */
} fmo_h5_space;

/* Decode messages. Return FMO_H5_OK, or FMO_H5_DAMAGED or FMO_H5_UNSUPPORTED with a reason. */
fmo_h5_code fmo_h5_type_of(fmo_h5_file *file, const fmo_h5_message *message, fmo_h5_type *type);
fmo_h5_code fmo_h5_space_of(fmo_h5_file *file, const fmo_h5_message *message, fmo_h5_space *space);

#endif
