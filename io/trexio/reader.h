/* What the steps of reading a data set share. Each checks before it allocates and stops at the
 * first thing wrong; read.c lists them in order. Conventions: docs/reference/dataset-format.md. */
#ifndef FMO_IO_TREXIO_READER_H
#define FMO_IO_TREXIO_READER_H

#include "io/dataset/dataset_internal.h"
#include "io/trexio/store.h"

#include <sys/stat.h>

typedef struct fmo_reader {
    const char *path;
    int descriptor;
    struct stat before;
    fmo_store store;
    bool has[FIELD_COUNT];
    bool has_ecp;
    bool density_needed;
    fmo_dataset *d;
    double *overlap; /* [nao][nao] our own */
} fmo_reader;

/* An input error of a field (NULL: of the file). */
#define INPUT(r, title, ...) fmo_store_fail(&(r)->store, FMO_ERR_INPUT, title, __VA_ARGS__)

const char *fmo_field_title(fmo_field_id id);

/* --- arrays.c ----------------------------------------------------------------------------------*/

fmo_status fmo_trexio_no_memory(fmo_reader *r, const char *what, size_t bytes);

/* An array of the caller's of n items; *values stays NULL on error. */
fmo_status fmo_trexio_allocate(fmo_reader *r, const char *what, size_t n, size_t item,
                               void **values);

/* FMO_ERR_INPUT with the index of the first value of a field that is not finite. */
fmo_status fmo_trexio_check_finite(fmo_reader *r, const fmo_field *field, const double *values);

/* Allocate and read a checked field: double or int64_t by its kind. Reals are finite; integers
 * narrowed to int are in its range. */
fmo_status fmo_trexio_read_array(fmo_reader *r, fmo_field_id id, void **values);
fmo_status fmo_trexio_read_reals(fmo_reader *r, fmo_field_id id, double **values);
fmo_status fmo_trexio_read_ints(fmo_reader *r, fmo_field_id id, int **values);

/* A matrix [nao][nao]: one that is not symmetric is refused; rounding is averaged away. Needs the
 * overlap. */
fmo_status fmo_trexio_check_symmetric(fmo_reader *r, fmo_field_id id, const double *matrix);
fmo_status fmo_trexio_symmetrize(fmo_reader *r, fmo_field_id id, double *matrix);

/* --- the steps, in their order -----------------------------------------------------------------*/

fmo_status fmo_trexio_read_counts(fmo_reader *r);    /* sizes.c */
fmo_status fmo_trexio_find_fields(fmo_reader *r);    /* sets has[] */
fmo_status fmo_trexio_check_required(fmo_reader *r); /* needs has[] */
fmo_status fmo_trexio_check_memory(fmo_reader *r);
fmo_status fmo_trexio_refuse_by_name(fmo_reader *r);   /* unsupported.c */
fmo_status fmo_trexio_read_basis(fmo_reader *r);       /* basis.c */
fmo_status fmo_trexio_read_names(fmo_reader *r);       /* needs the charges */
fmo_status fmo_trexio_check_overlap(fmo_reader *r);    /* density.c; makes the overlap */
fmo_status fmo_trexio_read_density(fmo_reader *r);     /* may leave it NULL */
fmo_status fmo_trexio_read_core(fmo_reader *r);        /* energy.c */
fmo_status fmo_trexio_doubt_energies(fmo_reader *r);   /* doubt.c; needs core and basis */
fmo_status fmo_trexio_read_references(fmo_reader *r);  /* of /fmo */
fmo_status fmo_trexio_note_convergence(fmo_reader *r); /* needs the density */
fmo_status fmo_trexio_read_repulsion(fmo_reader *r);   /* needs the basis */
fmo_status fmo_trexio_read_electrons(fmo_reader *r);
fmo_status fmo_trexio_check_trace(fmo_reader *r); /* density.c; needs density, overlap, electrons */

#endif
