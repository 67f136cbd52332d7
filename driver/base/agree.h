/* fmo_ranks_agree for programs: alone there is nobody to agree with, and rank 0, which prints, says
 * what failed there as one process would. And whether all ranks have the same. */
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

/** Whether all ranks have what rank 0 has: collective. Failures come first, so that a rank is not
 *  said to differ because it had no memory.
 *  @param[in] status  of this rank so far, as in driver_agree
 *  @param[in] sum  of what is compared (driver/base/hash.h)
 *  @param[in] text  the error, FMO_ERR_INPUT, of a rank that has another sum */
static inline fmo_status driver_agree_on(const fmo_ranks *ranks, fmo_status status, uint64_t sum,
                                         const char *text, fmo_error *err)
{
    uint64_t first = sum;
    status = driver_agree(ranks, status, err);
    if (status != FMO_OK || !ranks) return status;
    status = fmo_ranks_broadcast(ranks, &first, sizeof first, err);
    if (status != FMO_OK) return status;
    if (first != sum) status = fmo_error_set(err, FMO_ERR_INPUT, "%s", text);
    return driver_agree(ranks, status, err);
}

#endif
