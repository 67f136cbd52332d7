/* Between the files of this folder: kernels over the pairs of leaves. C++ only. */
#ifndef FMO_GPU_BOX_LEAVES_H
#define FMO_GPU_BOX_LEAVES_H

#include "accumulate/gpu/boxes/boxes.h"

typedef struct fmo_gpu_box_leaves_args {
    fmo_gpu_box_view view;
    fmo_gpu_pairs pairs[FMO_PAIR_LOW_L_COUNT];
    double weight;       /* of J in screening */
    const double *scale; /* of fixed point; NULL for doubles */
} fmo_gpu_box_leaves_args;

typedef struct fmo_gpu_box_describe_args {
    fmo_gpu_pairs pairs[FMO_PAIR_LOW_L_COUNT];
    int first[FMO_PAIR_LOW_L_COUNT + 1];
    double cutoff;
    fmo_box_item *item;
    double *bound, *moment;
} fmo_gpu_box_describe_args;

/* Items of boxes from pairs, with the plan. */
cudaError_t fmo_gpu_box_describe(const fmo_gpu_box_describe_args *args, cudaStream_t stream);
/* What all boxes have of the density (fmo_box_load). */
cudaError_t fmo_gpu_box_weigh(const fmo_gpu_box_leaves_args *args, int boxes, cudaStream_t stream);
/* Multipoles of the leaves; X^J of their pairs from their potentials. */
cudaError_t fmo_gpu_box_collect(const fmo_gpu_box_leaves_args *args, cudaStream_t stream);
cudaError_t fmo_gpu_box_give(const fmo_gpu_box_leaves_args *args, cudaStream_t stream);

#endif
