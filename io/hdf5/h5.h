/* A thin, suspicious layer over the HDF5 C API for reading files that may be damaged or hostile:
 * nothing is followed out of the file, nothing is read before its type, shape and storage have been
 * checked, and every complaint is one line that names file and field. Read next: fields.h. */
#ifndef FMO_IO_H5_H
#define FMO_IO_H5_H

#include <stdbool.h>
#include <hdf5.h>
#include <fmo/status.h>
#include "io/trexio/fields.h"

/* An open file and what is known about it. */
typedef struct fmo_h5 {
    hid_t file;
    int descriptor;  /* of the same file */
    char label[256]; /* the path as messages show it, shortened from the left */
    uint64_t size;   /* bytes of the file */
    bool plain;      /* HDF5 addresses are offsets in the file */
    int64_t count[DIM_COUNT];
    fmo_error *err;
} fmo_h5;

/* Around every use of HDF5: its own error printing is switched off between begin and end, and other
 * threads of ours wait. */
typedef struct fmo_h5_quiet {
    H5E_auto2_t function;
    void *data;
} fmo_h5_quiet;
void fmo_h5_quiet_begin(fmo_h5_quiet *quiet);
void fmo_h5_quiet_end(const fmo_h5_quiet *quiet);

/* Record "LABEL: TITLE: message"; without a title "LABEL: message". Returns status. */
fmo_status fmo_h5_fail(const fmo_h5 *h5, fmo_status status, const char *title, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

/* What HDF5 said last, innermost first, in one line; "" without. */
void fmo_h5_reason(char *text, size_t size);

/* Open for reading and check the root: only groups, no links to elsewhere. label, size and err
 * are set before. Close with fmo_h5_close, which does nothing on a file that did not open. */
fmo_status fmo_h5_open(fmo_h5 *h5, const char *path);
void fmo_h5_close(fmo_h5 *h5);

/* Is the dataset there? A link to elsewhere in its place is an error. */
fmo_status fmo_h5_find(const fmo_h5 *h5, const fmo_field *field, bool *found);
bool fmo_h5_has_attribute(const fmo_h5 *h5, const fmo_attribute *attribute);

/* Is the attribute one string of fixed length, at most `most` bytes? Only such are read: see h5.c.
 */
bool fmo_h5_is_short_string(const fmo_h5 *h5, const fmo_attribute *attribute, size_t most);

/* Check type, shape against h5->count, and storage of a dataset that is there. */
fmo_status fmo_h5_check(const fmo_h5 *h5, const fmo_field *field);

/* Number of values of a field: the product of its dimensions. */
size_t fmo_h5_values(const fmo_h5 *h5, const fmo_field *field);

/* May an array of this many bytes be had because of this file? See docs/dataset-format.md. */
bool fmo_h5_plausible(uint64_t bytes, uint64_t stored);

/* Read a checked dataset: double[] or int64_t[] by the field's kind. */
fmo_status fmo_h5_read(const fmo_h5 *h5, const fmo_field *field, void *values);

/* Read a checked string dataset into slots of `slot` bytes, which the caller has cleared; strings
 * are cut to fit. Those stored in an unusual way (variable length and chunked) stay empty. */
fmo_status fmo_h5_read_strings(const fmo_h5 *h5, const fmo_field *field, char *slots, size_t slot);

/* h5_raw.c: what we do not leave to the HDF5 library. Local heaps are checked once the file is
 * open, the header of an object before the library looks at it; variable-length strings are read
 * there for fmo_h5_read_strings. */
bool fmo_h5_header_fits(const fmo_h5 *h5, uint64_t address);
fmo_status fmo_h5_check_local_heaps(const fmo_h5 *h5);
fmo_status fmo_h5_read_heap_strings(const fmo_h5 *h5, const fmo_field *field, hid_t dataset,
                                    char *slots, size_t slot);
void fmo_h5_copy_text(char *to, size_t size, const char *from, size_t from_size);

/* Read a scalar attribute that is there; type and shape are checked. A string is cut to fit. */
fmo_status fmo_h5_read_integer(const fmo_h5 *h5, const fmo_attribute *attribute, int64_t *value);
fmo_status fmo_h5_read_real(const fmo_h5 *h5, const fmo_attribute *attribute, double *value);
fmo_status fmo_h5_read_string(const fmo_h5 *h5, const fmo_attribute *attribute, char *text,
                              size_t size);

/* "units" of a dataset of /fmo must be what the table says, where the attribute is a string of
 * fixed length. */
fmo_status fmo_h5_check_units(const fmo_h5 *h5, const fmo_field *field);

#endif
