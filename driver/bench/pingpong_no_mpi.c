/* pingpong of a build without MPI: one process. */
#include "pingpong.h"

fmo_status pingpong_mpi_open(pingpong *p, fmo_error *err)
{
    p->processes = 1, p->rank = 0;
    if (bench_processes() < 2) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                         "started by mpirun, but built without MPI: configure with FMO_MPI=ON");
}
void pingpong_mpi_close(const pingpong *p)
{
    (void)p;
}
void pingpong_mpi_barrier(const pingpong *p)
{
    (void)p;
}
void pingpong_mpi_share(const pingpong *p, void *data, size_t bytes)
{
    (void)p, (void)data, (void)bytes;
}
double pingpong_mpi_seconds(const pingpong *p, void *data, int64_t bytes, int rounds)
{
    (void)p, (void)data, (void)bytes, (void)rounds;
    return -1.0;
}
void pingpong_mpi_move(const pingpong *p, void *data, int64_t bytes, bool send)
{
    (void)p, (void)data, (void)bytes, (void)send;
}
fmo_status pingpong_mpi_group(const fmo_gmpi_options *options, fmo_gmpi **group, fmo_error *err)
{
    (void)options;
    *group = NULL;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED, "built without MPI");
}
