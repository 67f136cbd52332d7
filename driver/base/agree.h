/* Agreement of ranks for the programs: fmo_ranks_agree that also works in a single process and
 * keeps rank 0's error message free of the rank's name, and a comparison of data between ranks. */
#ifndef FMO_BASE_AGREE_H
#define FMO_BASE_AGREE_H

#include <fmo/ranks.h>

/** Agrees on one status among all ranks. Collective.
 *  @param[in] ranks  NULL in a single process, which returns its own status
 *  @param[in,out] err  not NULL; the same as that of fmo_ranks_agree, except that rank 0 keeps its
 *           own message if the error is its own */
static inline fmo_status driver_agree(const fmo_ranks *ranks, fmo_status status, fmo_error *err)
{
    if (!ranks) return status;
    const fmo_error own = *err;
    const fmo_status all = fmo_ranks_agree(ranks, status, err);
    if (ranks->rank == 0 && status != FMO_OK && all == status) *err = own;
    return all;
}

/** Checks that all ranks have the same data as rank 0. Collective. Earlier errors are reported
 *  first, so that a rank that ran out of memory is not reported as one whose data differ.
 *  @param[in] status  of this rank so far, as in driver_agree
 *  @param[in] sum  hash of the compared data (driver/base/hash.h)
 *  @param[in] text  message of the error, FMO_ERR_INPUT, of a rank whose hash differs */
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
