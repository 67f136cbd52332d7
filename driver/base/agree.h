/* fmo_ranks_agree for programs: alone there is nobody to agree with, and rank 0, which prints, says
 * what failed there as one process would. */
#ifndef FMO_BASE_AGREE_H
#define FMO_BASE_AGREE_H

#include <fmo/ranks.h>

/** @param[in] ranks  NULL: one process
 *  @param[in,out] err  not NULL; as that of fmo_ranks_agree, but rank 0's own error as it is */
static inline fmo_status driver_agree(const fmo_ranks *ranks, fmo_status status, fmo_error *err)
{
    if (!ranks) return status;
    const fmo_error own = *err;
    const fmo_status all = fmo_ranks_agree(ranks, status, err);
    if (ranks->rank == 0 && status != FMO_OK && all == status) *err = own;
    return all;
}

#endif
