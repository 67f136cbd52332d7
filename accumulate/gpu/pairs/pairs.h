/* What the files of this folder share: shell pairs of s and p shells on the GPU
 * (docs/explanation/gpu/pairs.md; layout: types.cuh). make.cu and stage.cu make the lists,
 * functions.cu the order of functions, far.cu the nodes of far quartets. C++ only. */
#ifndef FMO_GPU_PAIRS_H
#define FMO_GPU_PAIRS_H

#include "accumulate/gpu/plan.h"
#include "accumulate/tuning.h"

/* Returns the first function of a shell in the kernels' order. */
int fmo_gpu_first_function(const fmo_gpu_functions *f, const fmo_basis *basis, int shell);

/* Returns the arrays of a class of n pairs, or segments of them, with `values` doubles of data of
 * primitives, in the order in which they are allocated in one piece. The first
 * FMO_GPU_LIST_ARRAYS_STAGED are made with the plan, the others in every build. */
enum { FMO_GPU_LIST_ARRAYS = 10, FMO_GPU_LIST_ARRAYS_STAGED = 8 };
typedef struct fmo_gpu_list_arrays {
    fmo_gpu_array array[FMO_GPU_LIST_ARRAYS];
    int num;
} fmo_gpu_list_arrays;
fmo_gpu_list_arrays fmo_gpu_find_list_arrays(fmo_gpu_pairs *pairs, int pair_class, size_t n,
                                             size_t values, int sp);

/* The arguments of kernels over all pairs of a build. */
typedef struct fmo_gpu_pairs_args {
    fmo_gpu_pairs pairs[FMO_PAIR_LOW_L_COUNT];
    const float *block_max;
    const double *density;
    int sp_shells, nao, sp;
    float coulomb_weight; /* weight of |D| in J's screening (rules/weight.h) */
    unsigned long long
        *largest;    /* largest |D| of all pairs times J's weight, as bits of a double */
    double *coulomb; /* X^J */
    size_t sums_stride;
    unsigned copies;
    bool fixed;
    bool with_J; /* J is requested */
} fmo_gpu_pairs_args;

/* These kernels have one thread for each pair and product of functions: blockIdx.y is
 * FMO_GPU_PAIR_PRODUCTS times the class, plus the product. */
enum {
    FMO_GPU_PAIR_PRODUCTS = FMO_PAIR_LOW_L_PRODUCTS_MAX,
    FMO_GPU_PAIR_THREADS = fmo_tuning_gpu_pair_threads
};

/* Launches a kernel over all pairs; `many` may be NULL for a group of one build. `fixed`: X^J is
 * summed in fixed point. */
cudaError_t fmo_gpu_launch_pairs(const fmo_gpu_group *group,
                                 void (*one)(fmo_gpu_one<fmo_gpu_pairs_args>),
                                 void (*many)(fmo_gpu_full_group<fmo_gpu_pairs_args>), bool fixed);

/* Both forms of such a kernel: for one build, and for a group. */
#define FMO_GPU_PAIRS_KERNEL(kernel) kernel<1>, kernel<fmo_gpu_many_max<fmo_gpu_pairs_args>>

#endif
