/* Which GPU a rank takes. Ranks of a host may see all of its GPUs, or, as batch systems have it,
 * each its own, which then has number 0 for all of them: the GPU that each counts first tells. */
#ifndef FMO_RANK_GPU_H
#define FMO_RANK_GPU_H

#include <stdint.h>

/* first: [size] of all ranks, what names the GPU that each counts first; 0: it sees none.
 * @return the number of the rank's GPU, as it counts; there may be fewer; -1 if it sees none */
static inline int fmo_rank_gpu(const int64_t *first, int rank)
{
    int number = 0;
    if (!first[rank]) return -1;
    for (int r = 0; r < rank; r++) number += first[r] == first[rank];
    return number;
}

#endif
