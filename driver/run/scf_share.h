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

/** Collects the results of other ranks in `one` on rank 0. Collective.
 *  @param[in] status  of this rank so far
 *  @param[in,out] one  [num]
 *  @param[in] mine  [num] whether this rank has run the molecule
 *  @param[in] keep  DRIVER_KEEP_... bits: which matrices to send
 *  @param[in] arrived  called on rank 0 for each received result, in the order of ranks
 *  @return FMO_OK; an error of a rank, on all ranks; FMO_ERR_MEMORY on rank 0 only, which must tell
 *           the others */
fmo_status driver_scf_share_results(const fmo_ranks *ranks, fmo_status status, driver_scf_one *one,
                                    const char *mine, int num, int64_t keep,
                                    void (*arrived)(const driver_scf_one *one, void *user),
                                    void *user, fmo_error *err);

#endif
