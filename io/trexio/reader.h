/* State and functions shared by the steps of reading a data set. Each step checks before it
 * allocates and stops at the first error; read.c lists the steps in order. Conventions:
 * docs/reference/dataset-format.md. */
#ifndef FMO_IO_TREXIO_READER_H
#define FMO_IO_TREXIO_READER_H

#include "io/dataset/dataset_internal.h"
#include "io/trexio/store.h"

#include <sys/stat.h>

typedef struct fmo_reader {
    const char *path;
    int descriptor;
    struct stat before; /* state of the file before reading, to detect changes */
    fmo_store store;
    bool has[FIELD_COUNT]; /* which fields the file contains */
    bool has_ecp;
    bool density_needed;
    fmo_dataset *d;
    double *overlap; /* [nao][nao], computed from the basis */
} fmo_reader;

/* Reports an input error of the field `title` (NULL: of the file as a whole). */
#define INPUT(r, title, ...) fmo_store_fail(&(r)->store, FMO_ERR_INPUT, title, __VA_ARGS__)

const char *fmo_field_title(fmo_field_id id);

/* --- arrays.c ----------------------------------------------------------------------------------*/

fmo_status fmo_trexio_no_memory(fmo_reader *r, const char *what, size_t bytes);

/* Allocates an array of n items, owned by the caller; *values stays NULL on error. */
fmo_status fmo_trexio_allocate(fmo_reader *r, const char *what, size_t n, size_t item,
                               void **values);

/* Returns FMO_ERR_INPUT, with the index, if any value of a field is not finite. */
fmo_status fmo_trexio_check_finite(fmo_reader *r, const fmo_field *field, const double *values);

/* Allocate and read a field that has been checked: double or int64_t by its kind, or narrowed to
 * int. Reals are checked to be finite, narrowed integers to be in the range of int. */
fmo_status fmo_trexio_read_array(fmo_reader *r, fmo_field_id id, void **values);
fmo_status fmo_trexio_read_reals(fmo_reader *r, fmo_field_id id, double **values);
fmo_status fmo_trexio_read_ints(fmo_reader *r, fmo_field_id id, int **values);

/* For a matrix [nao][nao]: check_symmetric rejects one that is not symmetric; symmetrise also
 * averages out rounding errors. Both need r->overlap. */
fmo_status fmo_trexio_check_symmetric(fmo_reader *r, fmo_field_id id, const double *matrix);
fmo_status fmo_trexio_symmetrise(fmo_reader *r, fmo_field_id id, double *matrix);

/* --- the steps, in their order -----------------------------------------------------------------*/

fmo_status fmo_trexio_read_counts(fmo_reader *r);    /* sizes.c */
fmo_status fmo_trexio_find_fields(fmo_reader *r);    /* find_fields sets has[] */
fmo_status fmo_trexio_check_required(fmo_reader *r); /* uses has[] */
fmo_status fmo_trexio_check_memory(fmo_reader *r);
fmo_status fmo_trexio_refuse_by_name(fmo_reader *r);  /* unsupported.c */
fmo_status fmo_trexio_read_basis(fmo_reader *r);      /* basis.c */
fmo_status fmo_trexio_read_names(fmo_reader *r);      /* uses the charges */
fmo_status fmo_trexio_check_overlap(fmo_reader *r);   /* density.c; computes r->overlap */
fmo_status fmo_trexio_read_electrons(fmo_reader *r);  /* energy.c */
fmo_status fmo_trexio_read_density(fmo_reader *r);    /* the density stays NULL if there is none */
fmo_status fmo_trexio_read_core(fmo_reader *r);       /* energy.c */
fmo_status fmo_trexio_doubt_energies(fmo_reader *r);  /* doubt.c; uses core and basis */
fmo_status fmo_trexio_read_references(fmo_reader *r); /* fields of /fmo */
fmo_status fmo_trexio_note_scf(fmo_reader *r);        /* uses the density */
fmo_status fmo_trexio_read_repulsion(fmo_reader *r);  /* uses the basis */
fmo_status fmo_trexio_check_trace(fmo_reader *r); /* density.c; uses density, overlap, electrons */

#endif
