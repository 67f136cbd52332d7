/* What the files that make bad files share: tools around HDF5, and the changes that rows of the
 * table name. */
#ifndef FMO_TESTS_IO_BAD_CHANGES_H
#define FMO_TESTS_IO_BAD_CHANGES_H

#include <stdint.h>

#include "tests/io/must.h"

/* What a mutator works on. Any HDF5 call that fails ends the program: the test itself is broken. */
typedef struct work {
    hid_t file;       /* open for writing, or -1 */
    const char *in;   /* path of the good file */
    const char *out;  /* path of the file being made */
    const char *what; /* argument of the case: a dataset or attribute, or NULL */
    double value;     /* argument of the case */
    int index;        /* argument of the case: an element */
} work;

/* --- bad_tools.c --- */

typedef struct shape {
    int rank;
    hsize_t dims[2];
    size_t count;
} shape;

/* TREXIO's attribute "group/name" is attribute group_name of /group; ours has no prefix. */
hid_t attribute_group(hid_t file, const char *what, char name[160]);
/* HDF5 path of dataset "group/name". */
const char *dataset_path(const char *what, char path[128]);
void delete_dataset(hid_t file, const char *what);
void delete_attribute(hid_t file, const char *what);
void put_attribute(hid_t file, const char *what, hid_t type, const void *value);
void put_number(hid_t file, const char *what, int64_t value);
void put_text(hid_t file, const char *what, const char *text);
/* Create a dataset; with values NULL it is not written, properties may be H5P_DEFAULT. */
void put_dataset(hid_t file, const char *what, hid_t type, int rank, const hsize_t *dims,
                 hid_t properties, hid_t memory_type, const void *values);
/* n numbers, all `value`. */
void fill_reals(hid_t file, const char *what, hsize_t n, hsize_t m, double value);
void fill_integers(hid_t file, const char *what, hsize_t n, int64_t value);
shape shape_of(hid_t file, const char *what);
double *get_reals(hid_t file, const char *what, shape *s);
void write_reals(hid_t file, const char *what, const double *values);

/* --- the changes ---
 * A name says what becomes of the file, its row in bad_files.c how the file is refused. */

typedef void bad_change(work *w);

/* bad_values.c: fields, their types and values */
bad_change no_change, drop_dataset, drop_attribute, set_number, set_element, scale_element,
    set_element_without_density, drop_dataset_without_density, orbitals_only, drop_fmo, grow,
    flatten, retype_int64, retype_int16_big, retype_float32, retype_float64, retype_float64_big,
    make_strings, make_compound, never_written, null_space, make_group, attribute_real,
    attribute_text, attribute_huge, attribute_array, attribute_variable, version_long,
    version_nonsense, slater, lower_case, add_reals_prim, add_reals_orbitals, add_integers_mo,
    add_cell, add_ecp, add_ecp_sum, no_one_electron, zero_atoms, empty_shells, full_shell,
    deep_shell, zero_primitives, scale_sum, charge_only, close_nuclei, coincident_nuclei,
    asymmetric, fractional, all_occupied_once, units_ev;
void only_orbitals(hid_t file); /* no density, and what comes of it */

/* bad_storage.c: links, storage elsewhere, bombs, labels, bytes */
bad_change soft_link, external_link, external_group, soft_group, root_dataset, extra_group,
    odd_attributes, external_storage, virtual_storage, odd_filter, compressed, bomb_counts,
    bomb_density, bomb_many_chunks, bomb_chunk, fixed_labels, integer_labels, make_missing,
    make_empty, make_directory, make_fifo, make_short, make_text, make_other_hdf5, swell_names,
    break_heap_signature, break_heap_sizes;

#endif
