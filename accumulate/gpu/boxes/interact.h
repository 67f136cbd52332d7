/* Launches of the kernels over cells of the tree (near.cu, interact.cu), for boxes.cu. C++ only. */
#ifndef FMO_GPU_BOX_INTERACT_H
#define FMO_GPU_BOX_INTERACT_H

#include "accumulate/gpu/boxes/boxes.h"

/* Limits of the kernels: levels of the tree, and cells. */
enum { FMO_GPU_BOX_LEVELS_MAX = 64, FMO_GPU_BOXES_MAX = 1 << 26 };

/* Computes the multipoles of all cells from those of the leaves. */
cudaError_t fmo_gpu_box_up(const fmo_gpu_box_view *view, const fmo_boxes *tree,
                           cudaStream_t stream);
/* Determines which leaves are near to each other, and to tiles of pairs. */
cudaError_t fmo_gpu_box_near(const fmo_gpu_box_view *view, const fmo_boxes *tree,
                             cudaStream_t stream);
/* Computes the exchange bounds of the tiles of a class of pairs, fmo_gpu_box_pairs.tile_exchange.
 * block_max: [sp_shells][sp_shells] the largest |D| of each shell block. */
cudaError_t fmo_gpu_box_exchange(const fmo_gpu_box_pairs *box_pairs, const fmo_gpu_pairs *pairs,
                                 const float *block_max, int sp_shells, cudaStream_t stream);
/* fmo_gpu_box_interact computes the potential in each cell of the cells that it interacts with;
 * fmo_gpu_box_down then adds to it, level by level, the potential of the parent cell. */
cudaError_t fmo_gpu_box_interact(const fmo_gpu_box_view *view, int boxes, cudaStream_t stream);
cudaError_t fmo_gpu_box_down(const fmo_gpu_box_view *view, const fmo_boxes *tree,
                             cudaStream_t stream);

#endif
