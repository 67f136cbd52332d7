/* MPI as the network of ranks that share builds (<fmo/ranks.h>), for processes started by mpirun.
 * The library is fmo_mpi, in builds that found MPI. */
#ifndef FMO_RANKS_MPI_H
#define FMO_RANKS_MPI_H

#include <fmo/ranks.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Makes a network of the ranks of MPI_COMM_WORLD, over a copy of it; collective. If MPI is not
 * initialised, it is initialised with MPI_THREAD_SERIALIZED, and destroy() finalises it. Ranks
 * that wait long sleep in between, so that other processes can use the processor.
 * @param[out] ranks  to be freed with ranks->destroy(ranks->user), collective
 * @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_UNSUPPORTED (MPI without threads), FMO_ERR_MEMORY,
 *          FMO_ERR_DEVICE (MPI failed) */
FMO_API fmo_status fmo_ranks_mpi(fmo_ranks *ranks, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
