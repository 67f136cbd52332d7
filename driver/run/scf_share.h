/* --scf --batch on several ranks: checks that all ranks have read the same molecules, and sends
 * results to rank 0. */
#ifndef FMO_RUN_SCF_SHARE_H
#define FMO_RUN_SCF_SHARE_H

#include "driver/run/scf_batch.h"

#include <fmo/ranks.h>

/** Checks that all ranks have read the same molecules of a portion, since every rank reads them
 *  itself. Collective.
 *  @return FMO_OK; FMO_ERR_INPUT: err names the rank that has read something else */
fmo_status driver_scf_share_check(const fmo_ranks *ranks, const driver_scf_one *one, int num,
                                  fmo_error *err);

/** Molecules whose results are collected. */
typedef struct driver_scf_shared {
    driver_scf_one *one; /**< [num] */
    const char *mine;    /**< [num] whether this rank has run the molecule */
    int num;
    int64_t keep; /**< DRIVER_KEEP_... bits: which matrices to send */
    /** Called on rank 0 for each received result, in the order of ranks. */
    void (*arrived)(const driver_scf_one *one, void *user);
    void *user;
} driver_scf_shared;

/** Collects the results of other ranks in `of->one` on rank 0. Collective.
 *  @param[in] status  of this rank so far
 *  @return FMO_OK; an error of a rank, on all ranks; FMO_ERR_MEMORY on rank 0 only, which must tell
 *           the others */
fmo_status driver_scf_share_results(const fmo_ranks *ranks, fmo_status status,
                                    const driver_scf_shared *shared, fmo_error *err);

#endif
