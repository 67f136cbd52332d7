/* pingpong between processes: MPI from the host. */
#include "pingpong.h"
#include "driver/base/clock.h"

#include <fmo/gmpi_mpi.h>
#include <limits.h>
#include <mpi.h>

fmo_status pingpong_mpi_open(pingpong *p, fmo_error *err)
{
    int level = 0, initialized = 0;
    p->processes = 1, p->rank = 0;
    if (bench_processes() < 2) return FMO_OK;
    MPI_Initialized(&initialized);
    if (!initialized) MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &p->processes);
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    if (p->processes == 2) return FMO_OK;
    const int processes = p->processes;
    MPI_Finalize();
    return fmo_error_set(err, FMO_ERR_ARGUMENT, "%d processes: expected 2", processes);
}
void pingpong_mpi_close(const pingpong *p)
{
    if (p->processes > 1) MPI_Finalize();
}
void pingpong_mpi_barrier(const pingpong *p)
{
    if (p->processes > 1) MPI_Barrier(MPI_COMM_WORLD);
}
void pingpong_mpi_share(const pingpong *p, void *data, size_t bytes)
{
    if (p->processes > 1) MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void pingpong_mpi_move(const pingpong *p, void *data, int64_t bytes, bool send)
{
    if (send)
        MPI_Send(data, (int)bytes, MPI_BYTE, 1 - p->rank, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(data, (int)bytes, MPI_BYTE, 1 - p->rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

double pingpong_mpi_seconds(const pingpong *p, void *data, int64_t bytes, int rounds)
{
    pingpong_mpi_barrier(p);
    const double begin = driver_seconds();
    for (int k = 0; k < 2 * rounds; k++) pingpong_mpi_move(p, data, bytes, k % 2 == p->rank);
    return (driver_seconds() - begin) / (2.0 * rounds);
}

fmo_status pingpong_mpi_group(const fmo_gmpi_options *options, fmo_gmpi **group, fmo_error *err)
{
    return fmo_gmpi_create_mpi(options, group, err);
}
