/* A data set's fields and attributes, looked up in an HDF5 file that io/hdf5 has walked: nothing is
 * read before its type, shape and storage have been checked, and every complaint is one line that
 * names file, field and cure. Read next: fields.h, ../hdf5/tree.h. */
#ifndef FMO_IO_TREXIO_STORE_H
#define FMO_IO_TREXIO_STORE_H

#include "io/hdf5/tree.h"
#include "io/trexio/fields.h"
#include <fmo/status.h>

typedef struct fmo_store {
    fmo_h5_tree tree;
    int descriptor;
    uint64_t size;   /* bytes of the file */
    char label[256]; /* the path as messages show it, shortened from the left */
    int64_t count[DIM_COUNT];
    fmo_error *err;
} fmo_store;

/* Record "LABEL: TITLE: message"; without a title "LABEL: message". Returns status. */
fmo_status fmo_store_fail(const fmo_store *store, fmo_status status, const char *title,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Walk the file and check the root: only groups, no links to elsewhere. descriptor, size, label and
 * err are set before. Close in any case. */
fmo_status fmo_store_open(fmo_store *store);
void fmo_store_close(fmo_store *store);

/* Is the dataset there? A link to elsewhere in its place, or a group, is an error. */
fmo_status fmo_store_find(fmo_store *store, const fmo_field *field, bool *found);

/* Is there, in place of a field or attribute that is missing, a name that differs from its own in
 * one character? A name is never taken for another: FMO_ERR_INPUT. (HDF5's older format keeps no
 * checksum over names.) */
fmo_status fmo_store_check_names(fmo_store *store);

/* Check type, shape against store->count, and storage of a dataset that is there. */
fmo_status fmo_store_check(fmo_store *store, const fmo_field *field);

/* Number of values of a field: the product of its dimensions. */
size_t fmo_store_values(const fmo_store *store, const fmo_field *field);

/* May an array of this many bytes be had because of this file? See
 * docs/reference/dataset-format.md. */
bool fmo_store_plausible(uint64_t bytes, uint64_t stored);

/* Read a checked dataset: double[] or int64_t[] by the field's kind. */
fmo_status fmo_store_read(fmo_store *store, const fmo_field *field, void *values);

/* Read a checked string dataset into slots of `slot` bytes, which the caller has cleared; strings
 * are cut to fit. */
fmo_status fmo_store_read_strings(fmo_store *store, const fmo_field *field, char *slots,
                                  size_t slot);

bool fmo_store_has_attribute(fmo_store *store, const fmo_attribute *attribute);

/* Is the attribute one string of fixed length, at most `most` bytes? */
bool fmo_store_is_short_string(fmo_store *store, const fmo_attribute *attribute, size_t most);

/* Read a scalar attribute that is there; type and shape are checked. A string, of fixed or variable
 * length, is cut to fit. */
fmo_status fmo_store_read_integer(fmo_store *store, const fmo_attribute *attribute, int64_t *value);
fmo_status fmo_store_read_real(fmo_store *store, const fmo_attribute *attribute, double *value);
fmo_status fmo_store_read_string(fmo_store *store, const fmo_attribute *attribute, char *text,
                                 size_t size);

/* "units" of a dataset of /fmo must be what the table says, if it has such an attribute. */
fmo_status fmo_store_check_units(fmo_store *store, const fmo_field *field);

#endif
