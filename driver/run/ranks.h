/* The processes that mpirun started, if any. MPI is in a separate library, libfmo_mpi, which is
 * loaded only under mpirun: a single process needs no MPI. */
#ifndef FMO_RUN_RANKS_H
#define FMO_RUN_RANKS_H

#include "driver/cli/options.h"

#include <fmo/ranks.h>

typedef struct driver_ranks {
    fmo_ranks net; /**< size 1: a single process, and no other member is set */
    void *library;
} driver_ranks;

/** Number of this process among those of mpirun or srun, read from the environment and therefore
 *  known before MPI starts; 0 in a single process. */
int driver_ranks_number(void);
/** Number of processes that were started together; 1 if no launcher's variables are set. */
int driver_ranks_size(void);

/** Opens the communicator.
 *  @return FMO_OK, also for a single process; FMO_ERR_UNSUPPORTED in a build without MPI, or if MPI
 *           cannot be loaded or is not the MPI of this mpirun; errors of fmo_ranks_mpi */
fmo_status driver_ranks_open(driver_ranks *ranks, fmo_error *err);
void driver_ranks_close(driver_ranks *ranks); /**< collective */

/** Checks that all ranks can begin with the same command line, except --threads. Collective, and
 *  called before any other collective function. A single process returns status.
 *  @param[in] status  of this rank so far
 *  @param[in,out] err  the same as that of driver_agree */
fmo_status driver_ranks_agree(const driver_ranks *ranks, const driver_options *options,
                              fmo_status status, fmo_error *err);

/** Sets threads and GPU of this rank. The cores of a host are divided among its ranks, unless the
 *  options or OMP_NUM_THREADS set the number of threads; with GPUs, each rank of a host gets its
 *  own (fmo_ranks_gpu). Collective. */
fmo_status driver_ranks_divide(driver_ranks *ranks, driver_options *options, fmo_error *err);

/** Prefixes an error about memory or a GPU with the number and host of this rank. */
void driver_ranks_name(const fmo_ranks *ranks, fmo_error *err);

#endif
