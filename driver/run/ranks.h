/* The processes that mpirun started, if it did. MPI is in a library of its own, libfmo_mpi, which
 * is opened only then: a plain run loads nothing of it, and needs none. */
#ifndef FMO_RUN_RANKS_H
#define FMO_RUN_RANKS_H

#include "driver/cli/options.h"

#include <fmo/ranks.h>

typedef struct driver_ranks {
    fmo_ranks net; /**< size 1: alone, and nothing else is set */
    void *library;
} driver_ranks;

/** This process among those of mpirun or srun, as the environment says, before MPI is asked; 0
 *  alone. */
int driver_ranks_number(void);
/** How many processes were started together; 1 if nobody says so. */
int driver_ranks_size(void);

/** @return FMO_OK, also alone; FMO_ERR_UNSUPPORTED in a build without MPI, or where MPI cannot be
 *          loaded or is another one than mpirun's; what fmo_ranks_mpi returns */
fmo_status driver_ranks_open(driver_ranks *ranks, fmo_error *err);
void driver_ranks_close(driver_ranks *ranks); /**< collective */

/** Whether all ranks can begin, and with the same command line, --threads apart: collective, before
 *  anything else is. Alone status is returned.
 *  @param[in] status  of this rank so far
 *  @param[in,out] err  as that of driver_agree */
fmo_status driver_ranks_agree(const driver_ranks *ranks, const driver_options *options,
                              fmo_status status, fmo_error *err);

/** Threads and GPU of this rank: the cores of a host are divided by its ranks, unless the options
 *  or OMP_NUM_THREADS say how many threads; where there are GPUs, each rank of a host has its own
 *  (fmo_ranks_gpu). Collective. */
fmo_status driver_ranks_divide(driver_ranks *ranks, driver_options *options, fmo_error *err);

/** Memory and GPUs are the rank's, so an error about them gets its number and host in front. */
void driver_ranks_name(const fmo_ranks *ranks, fmo_error *err);

#endif
