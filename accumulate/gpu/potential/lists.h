/* Charge distributions and products of primitives on a GPU (potential/points.h; equations:
 * docs/explanation/one-electron.md, "Potentials of distributions"): what the files of this folder
 * share. lists.cu makes lists of points from densities, gather.cu those that a call needs,
 * potentials.cu computes potentials at points, matrices.cu converts these to matrices, cached.cu
 * keeps data on the GPU from call to call. C++ only. */
#ifndef FMO_GPU_POTENTIAL_LISTS_H
#define FMO_GPU_POTENTIAL_LISTS_H

#include "accumulate/gpu/device.h"
#include "accumulate/potential/expand.h"
#include "accumulate/potential/points.h"

/* Points of one order, as in fmo_point_list. Lists made on the GPU are sorted by norm in steps
 * only: the points of a step have the step's upper limit as norm and stay in the order of their
 * numbers. */
typedef struct fmo_gpu_point_list {
    const double *at, *H, *norm; /* [x y z p][num], [FMO_HERMITE_COUNT(order)][num], [num] */
    int num, used;
} fmo_gpu_point_list;

typedef struct fmo_gpu_points {
    fmo_gpu_point_list of[FMO_GPU_POINT_ORDERS];
} fmo_gpu_points;

/* Lays out the lists in `memory`, fmo_distribution_size doubles; if it is NULL the addresses are
 * not valid. */
fmo_gpu_points fmo_gpu_lay_lists(const int num[FMO_GPU_POINT_ORDERS], double *memory);

/* A term of the expansion of a centre's function in the caller's functions. */
typedef struct fmo_gpu_term {
    int ao;
    double factor;
} fmo_gpu_term;

/* A product of two primitives: the primitives, the pair of centres, and the point. */
typedef struct fmo_gpu_product {
    int prim_a, prim_b, pair, point;
} fmo_gpu_product;

/* fmo_products with its centres. All arrays are in GPU memory; the struct itself is stored there
 * (self) and on the host. */
typedef struct fmo_gpu_products {
    const struct fmo_gpu_products *self; /* the copy in GPU memory */
    int ao_num, pair_num, product_num;
    int begin[FMO_GPU_POINT_ORDERS + 1]; /* [order] first point of each order */
    const fmo_centre *centre;
    const fmo_centre_prim *prim;
    const fmo_centre_use *use;
    const fmo_centre_caller *caller;
    const fmo_centre_term *term;
    const int *function_begin;      /* [centres] number of a centre's first function */
    const int *function_term_begin; /* [functions + 1] first term of each function */
    const fmo_gpu_term *function_term;
    const fmo_point_pair *pair;     /* [pair_num + 1] */
    const int *block_begin;         /* [pair_num + 1] first element of a pair's block */
    const fmo_gpu_product *product; /* [product_num] */
    const int *product_of;          /* [points][2] products of a point; -1: none */
    const double *at;               /* [x y z p][points] for each order, from 4 begin[order] on */
    const double *bound;            /* [points] */
} fmo_gpu_products;

/* Computes product k, except for the numbers of its primitives. */
__device__ __forceinline__ fmo_product fmo_gpu_product_of(const fmo_gpu_products &p, int k)
{
    const fmo_gpu_product own = p.product[k];
    const fmo_point_pair pair = p.pair[own.pair];
    double AB[3], R2 = 0.0;
    for (int x = 0; x < 3; x++) {
        AB[x] = p.centre[pair.A].at[x] - p.centre[pair.B].at[x];
        R2 += AB[x] * AB[x];
    }
    return fmo_product_make(&p.prim[own.prim_a], &p.prim[own.prim_b], AB, R2);
}

/* ---- cached.cu ------------------------------------------------------------------------------- */

/* GPU memory that several objects share; it is freed with the last of them. */
typedef struct fmo_gpu_cached_memory {
    void *at;
    int device, pools;
    int users; /* accessed atomically */
} fmo_gpu_cached_memory;

struct fmo_gpu_cache {
    struct fmo_gpu_cache *next;
    fmo_gpu_cached_memory *memory;
    const void *at; /* this object's data in it, or `host` */
    void *host;     /* a description of the data on the host, or NULL */
};

/* Allocates `bytes` of GPU memory for `num` objects, and a list entry for each with host_bytes of
 * host memory. The entries are not in their lists yet. entry: [num], zeroed by the caller. On an
 * error nothing is allocated. */
fmo_status fmo_gpu_cache_objects(fmo_gpu_device *device, const char *what, size_t bytes, size_t num,
                                 size_t host_bytes, fmo_gpu_cached_memory **memory,
                                 struct fmo_gpu_cache **entry, fmo_error *err);
/* Inserts the entry into the list `of` an object if `good`; otherwise releases it. */
void fmo_gpu_settle(struct fmo_gpu_cache *entry, struct fmo_gpu_cache *const *of, int good);
/* Copies products to the GPU, where they are kept until they are destroyed; none may be there yet,
 * and none may occur twice. */
fmo_status fmo_gpu_keep_products(const fmo_products *const *of, size_t num, fmo_gpu_device *device,
                                 fmo_error *err);

/* Returns the cached data of an object on a GPU; NULL if there are none. */
const void *fmo_gpu_cached_of(struct fmo_gpu_cache *const *list, int device);
static inline const fmo_gpu_points *fmo_gpu_lists_of(const fmo_distribution *d, int device)
{
    return (const fmo_gpu_points *)fmo_gpu_cached_of(&d->on_gpu, device);
}
static inline const fmo_gpu_products *fmo_gpu_products_of(const fmo_products *p, int device)
{
    return (const fmo_gpu_products *)fmo_gpu_cached_of(&p->on_gpu, device);
}

/* ---- lists.cu -------------------------------------------------------------------------------- */

/* Compares two addresses, for qsort and bsearch; sorts addresses, removes duplicates and returns
 * the number of those left. */
int fmo_gpu_by_address(const void *x, const void *y);
size_t fmo_gpu_each_once(const void **of, size_t num);

/* Makes the lists, on the GPU, of those distributions that have a deferred origin and no lists
 * there yet, and caches the products that this needs. They exist when the call returns. of: without
 * duplicates. Skips distributions whose products have so many functions at a nucleus that a block's
 * shared memory does not suffice; their lists are made on the host. */
fmo_status fmo_gpu_lists_need(const fmo_distribution *const *of, size_t num, fmo_gpu_device *device,
                              fmo_error *err);

/* Caches those of some products that the GPU lacks, except those for which shared memory does not
 * suffice, as above; overwrites the list. */
fmo_status fmo_gpu_products_need(const fmo_products **of, size_t num, fmo_gpu_device *device,
                                 fmo_error *err);

/* ---- gather.cu ------------------------------------------------------------------------------- */

/* The distributions that a call needs, without duplicates: those whose lists are cached on the GPU,
 * and those with lists on the host, which are copied with the call. */
typedef struct fmo_gpu_gathered {
    const fmo_distribution **of; /* [num] by ascending address */
    size_t num, size;            /* doubles of the lists that are copied */
    fmo_gpu_points *lists;       /* [num] on the host: their layout */
    double *memory;              /* on the host: their data */
    const fmo_gpu_points *view_lists;
    double *view_memory;
    int has[FMO_GPU_POINT_ORDERS]; /* whether any distribution has points of an order */
    int device;
} fmo_gpu_gathered;

/* Collects the distributions of a call and makes missing lists. of: [num], may contain duplicates;
 * is reordered and must outlive g. */
fmo_status fmo_gpu_gather(const fmo_distribution **of, size_t num, fmo_gpu_gathered *g,
                          fmo_gpu_device *device, fmo_error *err);
/* Fills in the host copies of the lists that are copied with the call. */
void fmo_gpu_fill_gathered(const fmo_gpu_gathered *g);
/* Returns the lists of a distribution of the call in GPU memory. */
const fmo_gpu_points *fmo_gpu_gathered_lists(const fmo_gpu_gathered *g, const fmo_distribution *d);

/* ---- matrices.cu ----------------------------------------------------------------------------- */

/* Potentials V at the points of products, laid out as by fmo_point_values, and the matrix that is
 * computed from them, [ao_num][ao_num], zeroed before. */
typedef struct fmo_gpu_potential_matrix {
    const fmo_gpu_products *products;
    const double *V;
    double *potential;
    size_t value_begin[FMO_GPU_POINT_ORDERS + 1];
} fmo_gpu_potential_matrix;

/* Returns the bytes of shared memory that a block needs for products; FMO_GPU_MATRIX_SHARED is the
 * limit. */
size_t fmo_gpu_matrix_shared(const fmo_products *products);
enum { FMO_GPU_MATRIX_SHARED = 48 << 10 };

/* Computes the matrices. of: [num] in GPU memory; pairs, shared: the largest number of pairs of
 * centres, and of bytes of shared memory, of any of them. */
cudaError_t fmo_gpu_write_matrices(const fmo_gpu_potential_matrix *matrix, size_t num, int pairs,
                                   size_t shared, cudaStream_t stream);

/* ---- back.cu --------------------------------------------------------------------------------- */

/* An array in GPU memory that is to be copied to the host. */
typedef struct fmo_gpu_returned {
    const double *from;
    double *to;
    size_t num;
    size_t place; /* used by fmo_gpu_bring_back */
} fmo_gpu_returned;

/* Copies all arrays to the host after the work queued on the stream, and waits. Fast if arrays that
 * follow each other in the list are contiguous in GPU memory. */
cudaError_t fmo_gpu_bring_back(fmo_gpu_returned *returned, size_t num, cudaStream_t stream);

#endif
