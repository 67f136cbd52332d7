/* HDF5 files built in memory (core driver, no backing store). HDF5 never touches the disk when we
 * write, because it cannot close a file cleanly on a disk that is full: file.h does.
 * Nothing here can fail but for want of memory. Names: fields.h. */
#ifndef FMO_IO_OUTPUT_HDF5_H
#define FMO_IO_OUTPUT_HDF5_H

#include <stdbool.h>
#include <stddef.h>
#include <hdf5.h>
#include <fmo/dataset.h>
#include "io/trexio/fields.h"

/* Around every use of HDF5: its own error printing is switched off between begin and end, in this
 * thread, and other threads of ours wait. HDF5 prints, and crashes, where memory runs out within
 * it; so begin is false, without a call of HDF5, if there is no memory for `bytes` of content (then
 * there is nothing to end). */
typedef struct fmo_h5_quiet {
    unsigned is_2; /* which of the functions was set */
    H5E_auto1_t function_1;
    H5E_auto2_t function_2;
    void *data;
} fmo_h5_quiet;
bool fmo_h5_quiet_begin(fmo_h5_quiet *quiet, size_t bytes);
void fmo_h5_quiet_end(const fmo_h5_quiet *quiet);

/* A text that becomes an attribute: FMO_ERR_ARGUMENT, naming the field, if it is too long for one.
 * NULL is fine. */
fmo_status fmo_h5_check_text(const char *function, const char *field, const char *text,
                             fmo_error *err);

/* An empty file in memory; negative without memory. Close with H5Fclose. */
hid_t fmo_h5_image_create(void);

/* Its bytes, valid until the file is changed or closed. */
bool fmo_h5_image_bytes(hid_t file, const void **bytes, size_t *size);

/* A new group; negative on failure. Close with H5Gclose. */
hid_t fmo_h5_put_group(hid_t file, const char *name);

/* Scalar attributes. */
bool fmo_h5_put_integer(hid_t group, const char *name, hid_t type, int64_t value);
bool fmo_h5_put_real(hid_t group, const char *name, double value);
bool fmo_h5_put_text(hid_t group, const char *name, const char *text, H5T_cset_t set);

/* A dataset with the name and shape of its field: double[] or int[] by the kind, with its units if
 * it is one of /fmo, or strings. */
bool fmo_h5_put_values(hid_t group, fmo_field_id id, const int64_t count[DIM_COUNT],
                       const void *values);
/* The same of what is no field: double[] if real, else int[]; units may be NULL. */
bool fmo_h5_put_array(hid_t group, const char *name, bool real, int rank, const size_t *count,
                      const void *values, const char *units);
bool fmo_h5_put_strings(hid_t group, const char *name, size_t n, const char *const *strings);
/* Texts in UTF-8, all with the length of the longest and zeros behind: a file of them has no heap,
 * and the same texts are the same bytes. */
bool fmo_h5_put_texts(hid_t group, const char *name, size_t n, const char *const *texts);

/* Into /fmo: versions of format and program, and the data set the content was made from (NULL:
 * not recorded). */
bool fmo_h5_put_provenance(hid_t group, const fmo_dataset *dataset);

#endif
