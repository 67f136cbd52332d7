/* gmpi between processes started by mpirun, one rank per process. The library is fmo_mpi, in
 * builds that found MPI. Read next: gmpi_net.h. */
#ifndef FMO_GMPI_MPI_H
#define FMO_GMPI_MPI_H

#include <fmo/gmpi_net.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Creates a group over a copy of MPI_COMM_WORLD. All processes call it, after MPI_Init_thread
 * with at least MPI_THREAD_SERIALIZED. With less than MPI_THREAD_MULTIPLE no other code may call
 * MPI while a group of the transport proxy exists, except to destroy it. options->ranks must be
 * 1. If options->devices is NULL, the device is (rank within the node) modulo (number of
 * devices).
 * @return as fmo_gmpi_create; FMO_ERR_UNSUPPORTED without such an MPI_Init_thread */
FMO_API fmo_status fmo_gmpi_create_mpi(const fmo_gmpi_options *options, fmo_gmpi **group,
                                       fmo_error *err);

/** Creates the network alone, over copies of MPI_COMM_WORLD; collective, under the same
 * conditions. Its destroy() is collective, too, unless a rank has failed.
 * @return FMO_OK, FMO_ERR_UNSUPPORTED, FMO_ERR_ARGUMENT (more than 16 processes), FMO_ERR_MEMORY */
FMO_API fmo_status fmo_gmpi_net_mpi(fmo_gmpi_net *net, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
