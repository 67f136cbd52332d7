/* Between the files of this folder: kernels over boxes. C++ only. */
#ifndef FMO_GPU_BOX_INTERACT_H
#define FMO_GPU_BOX_INTERACT_H

#include "accumulate/gpu/boxes/boxes.h"

/* What kernels can tell apart. */
enum { FMO_GPU_BOX_LEVELS_MAX = 64, FMO_GPU_BOXES_MAX = 1 << 26 };

/* Multipoles of all boxes from those of the leaves. */
cudaError_t fmo_gpu_box_up(const fmo_gpu_box_view *view, const fmo_boxes *tree,
                           cudaStream_t stream);
/* Which leaves are near to each other, and to tiles of pairs. */
cudaError_t fmo_gpu_box_near(const fmo_gpu_box_view *view, const fmo_boxes *tree,
                             cudaStream_t stream);
/* What tiles of a class of pairs can exchange: fmo_gpu_box_pairs.tile_exchange, from block maxima
 * of |D| in rows of `sets`. */
cudaError_t fmo_gpu_box_exchange(const fmo_gpu_box_pairs *of, const fmo_gpu_pairs *pairs,
                                 const float *block_max, int sets, cudaStream_t stream);
/* Potentials of all boxes by those that they interact; and by those that their parents interact. */
cudaError_t fmo_gpu_box_interact(const fmo_gpu_box_view *view, int boxes, cudaStream_t stream);
cudaError_t fmo_gpu_box_down(const fmo_gpu_box_view *view, const fmo_boxes *tree,
                             cudaStream_t stream);

#endif
