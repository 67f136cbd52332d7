/* --scf --batch over several ranks: whether all have read the same, and results on their way to
 * rank 0. */
#ifndef FMO_RUN_SCF_SHARE_H
#define FMO_RUN_SCF_SHARE_H

#include "driver/run/scf_batch.h"

#include <fmo/ranks.h>

/** Molecules of a portion: every rank reads them itself. Collective.
 *  @return FMO_OK; FMO_ERR_INPUT: err names the rank that has read something else */
fmo_status driver_scf_share_check(const fmo_ranks *ranks, const driver_scf_one *one, int num,
                                  fmo_error *err);

/** Results of molecules that other ranks have run, into rank 0's `one`: collective.
 *  @param[in] status  of this rank so far
 *  @param[in,out] one  [num]
 *  @param[in] mine  [num] whether this rank has run it
 *  @param[in] keep  DRIVER_KEEP_... bits: matrices that are wanted
 *  @param[in] arrived  on rank 0: called for each, in the order of ranks
 *  @return FMO_OK; what a rank gave, on all; FMO_ERR_MEMORY on rank 0, which is to tell the others
 */
fmo_status driver_scf_share_results(const fmo_ranks *ranks, fmo_status status, driver_scf_one *one,
                                    const char *mine, int num, int64_t keep,
                                    void (*arrived)(const driver_scf_one *one, void *user),
                                    void *user, fmo_error *err);

#endif
