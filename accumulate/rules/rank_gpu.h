/* Chooses the GPU of a rank. Ranks of a host may each see all GPUs, or, as batch systems set it up,
 * only their own, which then is number 0 for every rank. The identity of the first GPU that each
 * rank sees tells the two apart. */
#ifndef FMO_RANK_GPU_H
#define FMO_RANK_GPU_H

#include <stdint.h>

/* first: [size] identity of the first GPU that each rank sees; 0: it sees none.
 * @return the rank's GPU as this rank numbers them, which may exceed the number of GPUs; -1 if it
 * sees none */
static inline int fmo_rank_gpu(const int64_t *first, int rank)
{
    int number = 0;
    if (!first[rank]) return -1;
    for (int r = 0; r < rank; r++) number += first[r] == first[rank];
    return number;
}

#endif
