/* Shared by the files that make the data of a plan for d and f shells (state.cu, points.cu). C++
 * only. */
#ifndef FMO_GPU_HERMITE_STATE_H
#define FMO_GPU_HERMITE_STATE_H

#include "accumulate/gpu/hermite/hermite.h"

/* Returns the number of tiles of `num` elements. */
static inline size_t fmo_hermite_tiles(size_t num)
{
    return (num + FMO_GPU_TILE_PAIRS - 1) / FMO_GPU_TILE_PAIRS;
}

/* Returns the number of Hermite functions of a pair class. */
static inline int fmo_hermite_terms(int pair_class)
{
    return FMO_HERMITE_COUNT(fmo_pair_order(pair_class));
}

/* points.cu: makes the points of all classes, from plain pairs whose lists exist. */
fmo_status fmo_hermite_make_points(const fmo_fock_plan *plan, const fmo_shell_pairs *plain,
                                   fmo_gpu_hermite *h, fmo_error *err);

#endif
