/* Access to the fields and attributes of a data set in an HDF5 file whose tree has been read by
 * io/hdf5. Type, shape and storage are checked before anything is read, and every error is one line
 * that names file, field and cure. Next: fields.h, ../hdf5/tree.h. */
#ifndef FMO_IO_TREXIO_STORE_H
#define FMO_IO_TREXIO_STORE_H

#include "io/hdf5/tree.h"
#include "io/trexio/fields.h"
#include <fmo/status.h>

typedef struct fmo_store {
    fmo_h5_tree tree;
    int descriptor;
    uint64_t size;   /* size of the file in bytes */
    char label[256]; /* path for messages, shortened from the left */
    int64_t count[DIM_COUNT];
    fmo_error *err;
} fmo_store;

/* Sets the error message "LABEL: TITLE: message", or without a title "LABEL: message". Returns
 * status. */
fmo_status fmo_store_fail(const fmo_store *store, fmo_status status, const char *title,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Reads the tree of the file and checks that the root holds only groups and no soft or external
 * links. The caller sets descriptor, size, label and err first, and calls fmo_store_close in any
 * case. */
fmo_status fmo_store_open(fmo_store *store);
void fmo_store_close(fmo_store *store);

/* Sets *found if the dataset exists. A soft or external link, or a group, in its place is an
 * error. */
fmo_status fmo_store_find(fmo_store *store, const fmo_field *field, bool *found);

/* Searches for names that differ in one character from that of a missing field or attribute, and
 * returns FMO_ERR_INPUT if there is one: it may be a misspelling or a damaged byte, since HDF5's
 * older format has no checksum over names. */
fmo_status fmo_store_check_names(fmo_store *store);

/* Checks type, shape (against store->count) and storage of a dataset that exists. */
fmo_status fmo_store_check(fmo_store *store, const fmo_field *field);

/* Returns the number of values of a field: the product of its dimensions. */
size_t fmo_store_values(const fmo_store *store, const fmo_field *field);

/* Returns true if an array of `bytes` bytes is plausible for `stored` bytes in the file. See
 * docs/reference/dataset-format.md. */
bool fmo_store_plausible(uint64_t bytes, uint64_t stored);

/* Reads a checked dataset: double[] or int64_t[] by the field's kind. */
fmo_status fmo_store_read(fmo_store *store, const fmo_field *field, void *values);

/* Reads a checked dataset of strings into slots of `slot` bytes, which the caller has set to 0;
 * strings are truncated to fit. */
fmo_status fmo_store_read_strings(fmo_store *store, const fmo_field *field, char *slots,
                                  size_t slot);

bool fmo_store_has_attribute(fmo_store *store, const fmo_attribute *attribute);

/* Returns true if the attribute is one string of fixed length of at most `max_bytes` bytes. */
bool fmo_store_is_short_string(fmo_store *store, const fmo_attribute *attribute, size_t max_bytes);

/* Read a scalar attribute that exists; type and shape are checked. A string, of fixed or variable
 * length, is truncated to fit. */
fmo_status fmo_store_read_integer(fmo_store *store, const fmo_attribute *attribute, int64_t *value);
fmo_status fmo_store_read_real(fmo_store *store, const fmo_attribute *attribute, double *value);
fmo_status fmo_store_read_string(fmo_store *store, const fmo_attribute *attribute, char *text,
                                 size_t size);

/* Checks that the attribute "units" of a dataset of /fmo, if it exists, is that of the table. */
fmo_status fmo_store_check_units(fmo_store *store, const fmo_field *field);

#endif
