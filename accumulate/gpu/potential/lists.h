/* Charge distributions and products on a GPU: what the files of this folder share. Lists of points
 * are made there, of densities (lists.cu), and potentials become matrices there (matrices.cu), with
 * what is kept of products that were met before. C++ only. */
#ifndef FMO_GPU_POTENTIAL_LISTS_H
#define FMO_GPU_POTENTIAL_LISTS_H

#include "accumulate/gpu/device.h"
#include "accumulate/potential/expand.h"
#include "accumulate/potential/points.h"

/* Points of one order, as fmo_point_list has them. Made on the GPU they stand in steps of their
 * norms: within one they have its upper limit for a norm, and the order of their numbers. */
typedef struct fmo_gpu_point_list {
    const double *at, *H, *norm; /* [x y z p][num], [FMO_HERMITE_COUNT(order)][num], [num] */
    int num, used;
} fmo_gpu_point_list;

typedef struct fmo_gpu_points {
    fmo_gpu_point_list of[FMO_POINT_ORDERS];
} fmo_gpu_points;

/* Where the lists begin in a piece of `memory` (NULL: nowhere) as long as fmo_distribution_size. */
fmo_gpu_points fmo_gpu_lay_lists(const int num[FMO_POINT_ORDERS], double *memory);

/* What one of a centre's functions is of one of the caller's. */
typedef struct fmo_gpu_term {
    int ao;
    double factor;
} fmo_gpu_term;

typedef struct fmo_gpu_product {
    int prim_a, prim_b, pair, point;
} fmo_gpu_product;

/* fmo_products with its centres: on the GPU, and the same on the host. */
typedef struct fmo_gpu_products {
    const struct fmo_gpu_products *self; /* on the GPU */
    int ao_num, pair_num, product_num;
    int begin[FMO_POINT_ORDERS + 1]; /* points */
    const fmo_centre *centre;
    const fmo_centre_prim *prim;
    const fmo_centre_use *use;
    const fmo_centre_caller *caller;
    const fmo_centre_term *term;
    const int *function_begin; /* [centres] a centre's first among the functions of all */
    const int *segment_begin;  /* [functions of all + 1] */
    const fmo_gpu_term *segment;
    const fmo_point_pair *pair;     /* [pair_num + 1] */
    const int *block_begin;         /* [pair_num + 1] functions of A times those of B */
    const fmo_gpu_product *product; /* [product_num] */
    const int *product_of;          /* [points][2] of a point; -1: no second one */
    const double *at;    /* order by order [x y z p][points of it], from 4 begin[order] on */
    const double *bound; /* [points] */
} fmo_gpu_products;

/* Product number k, but for the numbers of its primitives. */
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

/* ---- kept.cu ---- */

/* Memory of several objects, which goes with the last of them. */
typedef struct fmo_gpu_cached_memory {
    void *at;
    int device, pools;
    int users; /* changed atomically */
} fmo_gpu_cached_memory;

struct fmo_gpu_cache {
    struct fmo_gpu_cache *next;
    fmo_gpu_cached_memory *memory;
    const void *at; /* this object's segment of it, or `host` */
    void *host;     /* what the host has to know of it, or NULL */
};

/* Memory for so many objects, and a list entry for each, which are not in their lists yet, with so
 * many bytes of the host; entry: [num], zeroed. */
fmo_status fmo_gpu_keep(fmo_gpu_device *device, const char *what, size_t bytes, size_t num,
                        size_t host_bytes, fmo_gpu_cached_memory **memory,
                        struct fmo_gpu_cache **entry, fmo_error *err);
/* An entry that is good into the list of its object; else it goes. */
void fmo_gpu_settle(struct fmo_gpu_cache *entry, struct fmo_gpu_cache *const *of, int good);
/* Keeps products, each once, none of which the GPU has. */
fmo_status fmo_gpu_keep_products(const fmo_products *const *of, size_t num, fmo_gpu_device *device,
                                 fmo_error *err);

/* What a GPU keeps of an object; NULL: nothing. */
const void *fmo_gpu_cached_of(struct fmo_gpu_cache *const *list, int device);
static inline const fmo_gpu_points *fmo_gpu_lists_of(const fmo_distribution *d, int device)
{
    return (const fmo_gpu_points *)fmo_gpu_cached_of(&d->on_gpu, device);
}
static inline const fmo_gpu_products *fmo_gpu_products_of(const fmo_products *p, int device)
{
    return (const fmo_gpu_products *)fmo_gpu_cached_of(&p->on_gpu, device);
}

/* ---- lists.cu ---- */

/* Addresses: compared; sorted, and each left once, returns how many. */
int fmo_gpu_by_address(const void *x, const void *y);
size_t fmo_gpu_each_once(const void **of, size_t num);

/* Makes those lists on the GPU that it lacks, of distributions, each once, whose making was put
 * off, and keeps what they need of their products; when it returns they are there. Not of products
 * with so many functions at a nucleus that a block of threads has no space for them: those are made
 * on the host.
 */
fmo_status fmo_gpu_lists_need(const fmo_distribution *const *of, size_t num, fmo_gpu_device *device,
                              fmo_error *err);

/* Keeps those of some products that the GPU lacks; overwrites the list. Not those that it has no
 * space for, as above. */
fmo_status fmo_gpu_products_need(const fmo_products **of, size_t num, fmo_gpu_device *device,
                                 fmo_error *err);

/* ---- matrices.cu ---- */

/* Potentials at the points of products, V, as fmo_products has them, and the matrix that they give,
 * [ao_num][ao_num], zeroed. */
typedef struct fmo_gpu_giver {
    const fmo_gpu_products *products;
    const double *V;
    double *potential;
    size_t value_begin[FMO_POINT_ORDERS + 1];
} fmo_gpu_giver;

/* Bytes of shared memory that a block needs for products; at most so many are allowed. */
size_t fmo_gpu_matrix_shared(const fmo_products *products);
enum { FMO_GPU_MATRIX_SHARED = 48 << 10 };

/* of: in GPU memory; pairs: the most that one has; shared: likewise. */
cudaError_t fmo_gpu_give_matrices(const fmo_gpu_giver *of, size_t num, int pairs, size_t shared,
                                  cudaStream_t stream);

/* ---- back.cu ---- */

/* An array of GPU memory that goes to the host. */
typedef struct fmo_gpu_returned {
    const double *from;
    double *to;
    size_t num;
    size_t place; /* for the call's own use */
} fmo_gpu_returned;

/* All of them, when the stream has made them; the call waits. Quick where neighbours in the list
 * are neighbours on the GPU. */
cudaError_t fmo_gpu_bring_back(fmo_gpu_returned *of, size_t num, cudaStream_t stream);

#endif
