/* Launches of the kernels over the pairs of leaves (leaves.cu), for boxes.cu. C++ only. */
#ifndef FMO_GPU_BOX_LEAVES_H
#define FMO_GPU_BOX_LEAVES_H

#include "accumulate/gpu/boxes/boxes.h"

typedef struct fmo_gpu_box_leaves_args {
    fmo_gpu_box_view view;
    fmo_gpu_pairs pairs[FMO_PAIR_LOW_L_COUNT];
    double weight;       /* weight of |D| in J's screening (rules/weight.h) */
    const double *scale; /* fixed-point scale of the pairs' sums; NULL: these are doubles */
} fmo_gpu_box_leaves_args;

typedef struct fmo_gpu_box_extents_args {
    fmo_gpu_pairs pairs[FMO_PAIR_LOW_L_COUNT];
    int first[FMO_PAIR_LOW_L_COUNT + 1];
    double cutoff;
    fmo_box_item *item;
    double *bound, *moment;
} fmo_gpu_box_extents_args;

/* Computes positions, sizes, bounds and moments of all pairs, once for a plan. */
cudaError_t fmo_gpu_box_extents(const fmo_gpu_box_extents_args *args, cudaStream_t stream);
/* Computes the loads of all cells (fmo_box_load, as logarithms) for the running build's density. */
cudaError_t fmo_gpu_box_loads(const fmo_gpu_box_leaves_args *args, int boxes, cudaStream_t stream);
/* fmo_gpu_box_collect computes the multipoles of the leaves; fmo_gpu_box_contract adds X^J of the
 * leaves' pairs, from the leaves' potentials, to the pairs' sums. */
cudaError_t fmo_gpu_box_collect(const fmo_gpu_box_leaves_args *args, cudaStream_t stream);
cudaError_t fmo_gpu_box_contract(const fmo_gpu_box_leaves_args *args, cudaStream_t stream);

#endif
