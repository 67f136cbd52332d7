/* Products of primitives and charge distributions as points: places with an exponent, at which a
 * potential is wanted, or a Hermite density stands. Between the files of this folder and
 * gpu/potential/. */
#ifndef FMO_POTENTIAL_POINTS_H
#define FMO_POTENTIAL_POINTS_H

#include <pthread.h>

#include <fmo/potential.h>

#include "integrals/one_electron/products.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A point has Hermite functions up to an order. */
enum { FMO_POINT_ORDERS = FMO_PAIR_ORDER_MAX + 1, FMO_POINT_GROUP = 8 };

/* The exponent of a point charge: beside it any other one is nothing. */
#define FMO_POINT_CHARGE 1e30

/* Points with norms below this are nowhere: against the bound of a function, 1 or so, far below any
 * cutoff. */
#define FMO_POINT_NOTHING 1e-24

/* Where a potential is wanted. */
typedef struct fmo_point {
    double at[3], p;
    double bound; /* of an element of a potential that comes of it, by a density of norm 1 */
} fmo_point;

/* Where the numbers of point n, of order N, stand: order by order,
 * [point][FMO_HERMITE_COUNT(order)]. */
static inline size_t fmo_point_values(const int *begin, const size_t *value_begin, int N, int n)
{
    return value_begin[N] + (size_t)(n - begin[N]) * (size_t)FMO_HERMITE_COUNT(N);
}

/* Products of two centres, A >= B. */
typedef struct fmo_point_pair {
    int A, B;
    int begin; /* of its products */
} fmo_point_pair;

/* What a GPU has of an object of the host; a list, of one or several GPUs. */
struct fmo_gpu_cache;

struct fmo_products {
    int users; /* the caller, and distributions that are to be made of it; changed atomically */
    struct fmo_gpu_cache *on_gpu; /* changed atomically */
    fmo_centres centres;
    int pair_num, product_num;
    fmo_point_pair *pair; /* [pair_num + 1] */
    fmo_product *product; /* [product_num] */
    int *point_of;        /* [product_num] their points */
    int num;              /* points, order by order */
    int begin[FMO_POINT_ORDERS + 1];
    fmo_point *point;
    /* of potentials, as fmo_point_values has them */
    size_t value_begin[FMO_POINT_ORDERS + 1];
};

/* Points of one order with densities, the most important first. */
typedef struct fmo_point_list {
    int num;      /* a multiple of FMO_POINT_GROUP; what fills up has densities of 0 */
    int used;     /* without those */
    double *at;   /* [x y z p][num] */
    double *H;    /* [FMO_HERMITE_COUNT(order)][num] */
    double *norm; /* [num] descending: a potential's element is below this times its point's bound;
                   * infinite: a point charge */
} fmo_point_list;

/* What a distribution is made of, where that waits for whoever needs it first. */
typedef struct fmo_distribution_origin {
    fmo_products *products; /* a user of it; NULL: the lists were made at once */
    size_t charge_num;
    double *density, *charge, *coord; /* copies, in one piece that begins with the first */
} fmo_distribution_origin;

struct fmo_distribution {
    fmo_point_list list[FMO_POINT_ORDERS];
    double *memory; /* of the lists; NULL: there are none on the host so far */
    fmo_distribution_origin origin;
    pthread_mutex_t lock;         /* while they are made */
    struct fmo_gpu_cache *on_gpu; /* changed atomically */
};

/* One more user, who calls fmo_products_destroy. */
fmo_products *fmo_products_share(const fmo_products *products);

/* Makes the lists on the host if there are none: any number of threads may ask.
 * FMO_OK or FMO_ERR_MEMORY */
fmo_status fmo_distribution_ready(const fmo_distribution *distribution, fmo_error *err);

/* Doubles of all lists. */
size_t fmo_distribution_size(const fmo_distribution *distribution);

/* Lists from [count][FMO_HERMITE_COUNT(order)] of each order, and charges. */
typedef struct fmo_point_densities {
    const fmo_point *point; /* [num], order by order */
    const int *begin;       /* [FMO_POINT_ORDERS + 1] */
    const double *H;        /* as fmo_products has potentials; NULL: none */
    const size_t *value_begin;
    size_t charge_num;
    const double *charge, *coord;
} fmo_point_densities;
fmo_status fmo_point_lists_make(const fmo_point_densities *from, fmo_distribution *to,
                                fmo_error *err);

/* A call's options, and whether it can begin. */
fmo_status fmo_potential_begin(const char *call, const void *jobs, size_t count,
                               const fmo_potential_options *options, fmo_potential_options *o,
                               fmo_error *err);

/* The potentials of a job, as its products have them, -> its matrix. block: numbers for two centres
 * of the products (fmo_centres_largest, squared). */
void fmo_points_give(const fmo_products *products, const double *V, double *block,
                     double *potential);

/* ---- kernel.c ---- */

/* A list that counts so much. */
typedef struct fmo_point_source {
    const fmo_point_list *list;
    double weight;
} fmo_point_source;

/* Adds to V, [FMO_HERMITE_COUNT(order)], what the points of some lists do at a point; those with a
 * norm below `least` are left out. */
typedef void fmo_point_kernel(const fmo_point *at, const fmo_point_source *from, int lists,
                              double least, double *V);
typedef struct fmo_point_kernels {
    fmo_point_kernel *kernel[FMO_POINT_ORDERS][FMO_POINT_ORDERS]; /* [of the point][of the lists] */
} fmo_point_kernels;

/* Each compiled from potential/kernel.c. */
extern const fmo_point_kernels fmo_point_kernels_baseline;
extern const fmo_point_kernels fmo_point_kernels_avx2;   /* x86-64 */
extern const fmo_point_kernels fmo_point_kernels_avx512; /* x86-64 */

/* ---- gpu/potential/, or gpu/none.c ---- */

/* Of checked jobs, with further charges as a distribution of each. Norms times bounds below `least`
 * are left out. V[job]: potentials by point, as fmo_products has them, to be freed with free(); or
 * NULL where the job's matrix is there. */
fmo_status fmo_gpu_potentials(const fmo_potential_job *jobs, size_t count,
                              const fmo_distribution *const *own, double **V, double least,
                              const fmo_potential_options *options, fmo_error *err);
fmo_status fmo_gpu_electrostatics(fmo_electrostatics_job *jobs, size_t count, double least,
                                  const fmo_potential_options *options, fmo_error *err);
/* Gives back what GPUs have of an object that nothing uses any longer. NULL is fine. */
void fmo_gpu_release_cache(struct fmo_gpu_cache *kept);

#ifdef __cplusplus
}
#endif
#endif
