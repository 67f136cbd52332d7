/* What a data set holds once it has been read. Filled by io/trexio (from
 * a file) or io/basis_set (from a molecule), handed out by dataset.c. */
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
    FMO_CORE_COMPUTED /* made when first asked for */
} fmo_core_source;

struct fmo_dataset {
    char *path;
    char sha256[65];
    fmo_basis *basis;
    fmo_basis_input input; /* what the basis was made of; its arrays are owned */
    int nao, nucleus_num;
    int *number;    /* [nucleus_num] atomic numbers, 0 for none */
    bool cartesian; /* functions in the file, else spherical: order.h */

    double *density;
    const char *density_source;
    double *core; /* guarded by core_lock while the source is FMO_CORE_COMPUTED */
    int core_failed;
    pthread_mutex_t core_lock;
    fmo_core_source core_source;
    double nuclear_repulsion; /* guarded by core_lock until it is known */
    bool repulsion_known;     /* else made when first asked for: it takes a step for each pair */
    int electron_num;

    double *coulomb, *exchange, *fock_2e; /* references; NULL without */
    double energy;                        /* reference; NaN without */
    char basis_name[64];
    char *formula;

    int notice_num;
    char notice[FMO_NOTICE_MAX][FMO_NOTICE_SIZE];
    bool doubt[FMO_NOTICE_MAX]; /* evidence of wrong physics */
};

/* An empty data set, or NULL. */
fmo_dataset *fmo_dataset_new(void);

/* Keep one line for the user; those beyond FMO_NOTICE_MAX are dropped. */
void fmo_dataset_note(fmo_dataset *dataset, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same of what speaks against the file: it contradicts itself, or no molecule is like this. */
void fmo_dataset_doubt(fmo_dataset *dataset, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Tell of charged nuclei closer than FMO_NUCLEUS_DISTANCE_NOTICE that do not coincide. FMO_OK or
 * FMO_ERR_MEMORY. */
fmo_status fmo_dataset_note_close(fmo_dataset *dataset);

/* Atomic numbers from labels such as "O", "C1", "H_2" ([nucleus_num][slot], NULL without), else
 * from the charges, and the Hill formula made from them. FMO_OK or FMO_ERR_MEMORY. */
fmo_status fmo_dataset_name_nuclei(fmo_dataset *dataset, const double *charge, const char *labels,
                                   size_t slot);

#endif
