/* Products of primitives and charge distributions as points: positions with an exponent at which a
 * potential is evaluated or a Hermite density is located. Shared by the files of this folder and
 * gpu/potential/. */
#ifndef FMO_POTENTIAL_POINTS_H
#define FMO_POTENTIAL_POINTS_H

#include <pthread.h>

#include <fmo/potential.h>

#include "integrals/one_electron/products.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of orders: a point has Hermite functions up to an order; group: padding of lists. */
enum {
    FMO_POINT_ORDERS = FMO_PAIR_ORDER_MAX + 1,
    FMO_GPU_POINT_ORDERS = FMO_PAIR_UNROLLED_ORDER_MAX + 1, /* those without f shells */
    FMO_POINT_GROUP = 8
};

/* Exponent of a point charge: so large that any other is negligible beside it. */
#define FMO_POINT_CHARGE 1e30

/* Points with norms below this are dropped: relative to the bound of a function, about 1, this is
 * far below any cutoff. */
#define FMO_POINT_NOTHING 1e-24

/* A point at which a potential is evaluated. */
typedef struct fmo_point {
    double at[3], p;
    double bound; /* bound of a potential's element to which it contributes, for a density of norm 1
                   */
} fmo_point;

/* Offset of the values of point n of order N in arrays ordered by order,
 * [point][FMO_HERMITE_COUNT(order)]. */
static inline size_t fmo_point_values(const int *begin, const size_t *value_begin, int N, int n)
{
    return value_begin[N] + (size_t)(n - begin[N]) * (size_t)FMO_HERMITE_COUNT(N);
}

/* The products of two centres, A >= B. */
typedef struct fmo_point_pair {
    int A, B;
    int begin; /* first product */
} fmo_point_pair;

/* Copies of a host object in GPU memory: a list with an entry for each GPU. */
struct fmo_gpu_cache;

struct fmo_products {
    int users; /* reference count: the caller, and distributions still to be made from it; atomic */
    struct fmo_gpu_cache *on_gpu; /* changed atomically */
    fmo_centres centres;
    int ang_mom; /* the highest of the basis */
    int pair_num, product_num;
    fmo_point_pair *pair; /* [pair_num + 1] */
    fmo_product *product; /* [product_num] */
    int *point_of;        /* [product_num] point of each product */
    int num;              /* number of points, order by order */
    int begin[FMO_POINT_ORDERS + 1];
    fmo_point *point;
    /* offsets of potentials, see fmo_point_values */
    size_t value_begin[FMO_POINT_ORDERS + 1];
};

/* Points of one order with densities, by descending norm. */
typedef struct fmo_point_list {
    int num;      /* a multiple of FMO_POINT_GROUP; padding entries have densities of 0 */
    int used;     /* entries without padding */
    double *at;   /* [x y z p][num] */
    double *H;    /* [FMO_HERMITE_COUNT(order)][num] */
    double *norm; /* [num] descending: this times the bound of a point is a bound of the potential's
                     element; infinite for point charges */
} fmo_point_list;

/* The data of a distribution whose lists are made when they are first needed. */
typedef struct fmo_distribution_origin {
    fmo_products *products; /* a counted reference; NULL: the lists were made at once */
    size_t charge_num;
    double *density, *charge, *coord; /* copies in one allocation, which begins at density */
} fmo_distribution_origin;

struct fmo_distribution {
    fmo_point_list list[FMO_POINT_ORDERS];
    double *memory; /* of the lists; NULL: not made on the host yet */
    fmo_distribution_origin origin;
    pthread_mutex_t lock;         /* held while the lists are made */
    struct fmo_gpu_cache *on_gpu; /* changed atomically */
};

/* Adds a reference, to be released by fmo_products_destroy. */
fmo_products *fmo_products_share(const fmo_products *products);

/* Makes the lists on the host if necessary; any number of threads may call it at once. Returns
 * FMO_OK or FMO_ERR_MEMORY. */
fmo_status fmo_distribution_ready(const fmo_distribution *distribution, fmo_error *err);

/* Number of doubles of all lists. */
size_t fmo_distribution_size(const fmo_distribution *distribution);

/* Input of fmo_point_lists_make: Hermite densities [count][FMO_HERMITE_COUNT(order)] of each order,
 * and point charges. */
typedef struct fmo_point_densities {
    const fmo_point *point; /* [num], order by order */
    const int *begin;       /* [FMO_POINT_ORDERS + 1] */
    const double *H;        /* laid out as potentials, see fmo_products; NULL: none */
    const size_t *value_begin;
    size_t charge_num;
    const double *charge, *coord;
} fmo_point_densities;
fmo_status fmo_point_lists_make(const fmo_point_densities *from, fmo_distribution *to,
                                fmo_error *err);

/* Checks and completes the options of a call. */
fmo_status fmo_potential_begin(const char *call, const void *jobs, size_t count,
                               const fmo_potential_options *options, fmo_potential_options *o,
                               fmo_error *err);

/* Returns FMO_ERR_UNSUPPORTED if a GPU is requested and products (NULL: none) or the points of a
 * distribution (NULL: none) are of shells that it does not compute. */
fmo_status fmo_potential_check_shells(const char *call, const fmo_potential_options *o,
                                      const fmo_products *products,
                                      const fmo_distribution *distribution, fmo_error *err);

/* Converts potentials at the points of products to a matrix. block: workspace for two centres
 * (fmo_centres_largest, squared). */
void fmo_points_contract(const fmo_products *products, const double *V, double *block,
                         double *potential);

/* ---- kernel.c ---- */

/* A list with its weight in the potential. */
typedef struct fmo_point_source {
    const fmo_point_list *list;
    double weight;
} fmo_point_source;

/* Adds to V, [FMO_HERMITE_COUNT(order)], the potential at a point of the points of some lists;
 * points with a norm below `least` are skipped. */
typedef void fmo_point_kernel(const fmo_point *at, const fmo_point_source *from, int lists,
                              double least, double *V);
typedef struct fmo_point_kernels {
    fmo_point_kernel *kernel[FMO_POINT_ORDERS][FMO_POINT_ORDERS]; /* [of the point][of the lists] */
} fmo_point_kernels;

/* Each is compiled from potential/kernel.c. */
extern const fmo_point_kernels fmo_point_kernels_baseline;
extern const fmo_point_kernels fmo_point_kernels_avx2;   /* x86-64 */
extern const fmo_point_kernels fmo_point_kernels_avx512; /* x86-64 */

/* ---- gpu/potential/, or gpu/none.c ---- */

/* Potentials of checked jobs, each with its further charges as a distribution. Pairs with norm
 * times bound below `least` are skipped. V[job]: potentials by point, laid out as in fmo_products,
 * to be freed with free(); or NULL if the job's matrix has been written. */
fmo_status fmo_gpu_potentials(const fmo_potential_job *jobs, size_t count,
                              const fmo_distribution *const *own, double **V, double least,
                              const fmo_potential_options *options, fmo_error *err);
fmo_status fmo_gpu_electrostatics(fmo_electrostatics_job *jobs, size_t count, double least,
                                  const fmo_potential_options *options, fmo_error *err);
/* Frees the GPU copies of an object that is no longer used; NULL is allowed. */
void fmo_gpu_release_cache(struct fmo_gpu_cache *kept);

#ifdef __cplusplus
}
#endif
#endif
