/* Between the files of this folder. C++ only. */
#ifndef FMO_GPU_PAIRS_H
#define FMO_GPU_PAIRS_H

#include "accumulate/gpu/plan.h"

/* First function of a shell in the kernels' order. */
int fmo_gpu_first_function(const fmo_gpu_functions *f, const fmo_basis *basis, int shell);

/* What a plan has of a class of n pairs, or segments of them, with `values` numbers in their
 * primitives: in this order, in one piece of memory. The first ones are made with the plan. */
enum { FMO_GPU_LIST_ARRAYS = 10, FMO_GPU_LIST_ARRAYS_STAGED = 8 };
typedef struct fmo_gpu_list_arrays {
    fmo_gpu_array array[FMO_GPU_LIST_ARRAYS];
    int num;
} fmo_gpu_list_arrays;
fmo_gpu_list_arrays fmo_gpu_find_list_arrays(fmo_gpu_pairs *pairs, int pair_class, size_t n,
                                             size_t values, int sp);

/* What kernels over all pairs of a build see. */
typedef struct fmo_gpu_pairs_args {
    fmo_gpu_pairs pairs[FMO_PAIR_LOW_L_COUNT];
    const float *block_max;
    const double *density;
    int sets, nao, sp;
    float coulomb_weight;        /* of D in the rule for J (rules/weight.h) */
    unsigned long long *largest; /* of D of all pairs */
    double *coulomb;             /* X^J */
    size_t sums_stride;
    unsigned copies;
    bool fixed;
    bool with_J; /* J is wanted */
} fmo_gpu_pairs_args;

/* They have one thread for each pair and product of functions: blockIdx.y is this many times the
 * class, plus the product. */
enum { FMO_GPU_PAIR_PRODUCTS = FMO_PAIR_LOW_L_PRODUCTS_MAX, FMO_GPU_PAIR_THREADS = 128 };

/* Launches a kernel over all pairs; `many` may be NULL for a group of one. */
cudaError_t fmo_gpu_launch_pairs(const fmo_gpu_group *group,
                                 void (*one)(fmo_gpu_one<fmo_gpu_pairs_args>),
                                 void (*many)(fmo_gpu_most<fmo_gpu_pairs_args>), bool fixed);

/* Both forms of such a kernel. */
#define FMO_GPU_PAIRS_KERNEL(kernel) kernel<1>, kernel<fmo_gpu_many_max<fmo_gpu_pairs_args>>

#endif
