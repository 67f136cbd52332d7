/* Builds HDF5 files in memory (core driver without backing store). The bytes are then written by
 * the functions of file.h, because HDF5 cannot close a file cleanly on a full disk. The only
 * possible failure here is lack of memory. Names of fields: io/trexio/fields.h. */
#ifndef FMO_IO_OUTPUT_HDF5_H
#define FMO_IO_OUTPUT_HDF5_H

#include <stdbool.h>
#include <stddef.h>
#include <hdf5.h>
#include <fmo/dataset.h>
#include "io/trexio/fields.h"

/* Encloses every use of HDF5: between begin and end, HDF5's own error printing is off in this
 * thread, and a lock excludes other threads of this library. HDF5 prints errors, and may crash,
 * when it runs out of memory; begin therefore returns false, without calling HDF5, if there is no
 * memory for `bytes` of content. In that case end must not be called. */
typedef struct fmo_h5_quiet {
    unsigned is_2; /* which of the two functions below was set */
    H5E_auto1_t function_1;
    H5E_auto2_t function_2;
    void *data;
} fmo_h5_quiet;
bool fmo_h5_quiet_begin(fmo_h5_quiet *quiet, size_t bytes);
void fmo_h5_quiet_end(const fmo_h5_quiet *quiet);

/* Checks a text that becomes an attribute (NULL is allowed): returns FMO_ERR_ARGUMENT with a
 * message that names the field if it is too long. */
fmo_status fmo_h5_check_text(const char *function, const char *field, const char *text,
                             fmo_error *err);

/* Creates an empty file in memory; negative if there is no memory. Close with H5Fclose. */
hid_t fmo_h5_image_create(void);

/* Returns the bytes of the file, valid until it is changed or closed; false on failure. */
bool fmo_h5_image_bytes(hid_t file, const void **bytes, size_t *size);

/* Creates a group; negative on failure. Close with H5Gclose. */
hid_t fmo_h5_put_group(hid_t file, const char *name);

/* Write a scalar attribute. Like all functions below, they return false on failure. */
bool fmo_h5_put_integer(hid_t group, const char *name, hid_t type, int64_t value);
bool fmo_h5_put_real(hid_t group, const char *name, double value);
bool fmo_h5_put_text(hid_t group, const char *name, const char *text, H5T_cset_t set);

/* Writes a dataset with the name and shape of a field: double[] or int[] by its kind, with its
 * units if it belongs to /fmo. */
bool fmo_h5_put_values(hid_t group, fmo_field_id id, const int64_t count[DIM_COUNT],
                       const void *values);
/* Writes a dataset that is not in the table of fields: double[] if real, else int[]; units may be
 * NULL. */
bool fmo_h5_put_array(hid_t group, const char *name, bool real, int rank, const size_t *count,
                      const void *values, const char *units);
/* Writes n strings of variable length. */
bool fmo_h5_put_strings(hid_t group, const char *name, size_t n, const char *const *strings);
/* Writes n UTF-8 strings, all stored with the length of the longest and padded with zeros. Such a
 * file needs no heap, and equal texts give equal bytes. */
bool fmo_h5_put_texts(hid_t group, const char *name, size_t n, const char *const *texts);

/* Writes attributes of /fmo: versions of format and program, and path and SHA-256 of the data set
 * (NULL: not recorded). */
bool fmo_h5_put_provenance(hid_t group, const fmo_dataset *dataset);

#endif
