/* Ranks that share builds (<fmo/ranks.h>) as processes that mpirun started. Library: fmo_mpi, in
 * builds that found MPI.
 */
#ifndef FMO_RANKS_MPI_H
#define FMO_RANKS_MPI_H

#include <fmo/ranks.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The ranks of MPI_COMM_WORLD, over a copy of it; collective. Initialises MPI, with
 *  MPI_THREAD_SERIALIZED, if nobody has: then its destroy() ends MPI, too. Waits sleep after a
 *  while, so that ranks without work leave the processor to others.
 *  @param[out] ranks  to be given back with ranks->destroy(ranks->user), collective
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_UNSUPPORTED (MPI without threads), FMO_ERR_MEMORY,
 *          FMO_ERR_DEVICE (MPI failed) */
FMO_API fmo_status fmo_ranks_mpi(fmo_ranks *ranks, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
