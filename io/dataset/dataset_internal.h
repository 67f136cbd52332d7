/* The members of a data set. Filled by io/trexio (from a file) or io/basis_set (from a molecule),
 * and read through the accessors in dataset.c. */
#ifndef FMO_IO_DATASET_INTERNAL_H
#define FMO_IO_DATASET_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <fmo/dataset.h>

enum { FMO_NOTICE_MAX = 16, FMO_NOTICE_SIZE = 256 };

typedef enum fmo_core_source {
    FMO_CORE_FILE,
    FMO_CORE_FILE_SUM,
    FMO_CORE_FILE_SUM_ECP,
    FMO_CORE_COMPUTED /* computed by the first call that needs it */
} fmo_core_source;

struct fmo_dataset {
    char *path;
    char sha256[65];
    fmo_basis *basis;
    fmo_basis_input input; /* input of the basis; the data set owns its arrays */
    int nao, nucleus_num;
    int *number;    /* [nucleus_num] atomic numbers, 0 if not an element */
    bool cartesian; /* true: Cartesian functions in the file; false: spherical; see order.h */

    double *density, *spin_density; /* D_alpha + D_beta; D_alpha - D_beta, NULL: none */
    const char *density_source;
    double *core; /* protected by core_lock while the source is FMO_CORE_COMPUTED */
    int core_failed;
    pthread_mutex_t core_lock;
    fmo_core_source core_source;
    double nuclear_repulsion; /* protected by core_lock until it is known */
    bool repulsion_known;     /* false until the first call computes it, at a cost quadratic in the
                                 number of nuclei */
    int electron_num;
    int multiplicity; /* 2S + 1; 0: not known */

    double *coulomb, *exchange, *fock_2e; /* reference values; NULL if absent */
    double energy;                        /* reference value; NaN if absent */
    char basis_name[64];
    char *formula;

    int notice_num;
    char notice[FMO_NOTICE_MAX][FMO_NOTICE_SIZE];
    bool doubt[FMO_NOTICE_MAX]; /* true: evidence of wrong physics */
};

/* Returns an empty data set, or NULL if there is no memory. */
fmo_dataset *fmo_dataset_new(void);

/* Stores a one-line notice for the user; those beyond FMO_NOTICE_MAX are dropped. */
void fmo_dataset_note(fmo_dataset *dataset, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Stores a notice that casts doubt on the file: it contradicts itself or is physically
 * implausible. */
void fmo_dataset_doubt(fmo_dataset *dataset, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a notice if charged nuclei are closer than FMO_NUCLEUS_DISTANCE_NOTICE and do not coincide.
 * Returns FMO_OK or FMO_ERR_MEMORY. */
fmo_status fmo_dataset_note_close(fmo_dataset *dataset);

/* Determines atomic numbers from labels such as "O", "C1", "H_2" ([nucleus_num][slot] characters,
 * or NULL), else from the charges, and the Hill formula from these. Returns FMO_OK or
 * FMO_ERR_MEMORY. */
fmo_status fmo_dataset_name_nuclei(fmo_dataset *dataset, const double *charge, const char *labels,
                                   size_t slot);

#endif
