/* Processes of mpirun, using MPI. See ranks.h. */
#include "ranks.h"

#include <fmo/gmpi_mpi.h>
#include <mpi.h>

fmo_status bench_world_open(bench_world *w, int expected, fmo_error *err)
{
    int level = 0, initialized = 0;
    w->processes = 1, w->rank = 0;
    if (bench_processes() < 2) return FMO_OK;
    MPI_Initialized(&initialized);
    if (!initialized) MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &w->processes);
    MPI_Comm_rank(MPI_COMM_WORLD, &w->rank);
    if (w->processes == expected) return FMO_OK;
    const int processes = w->processes;
    MPI_Finalize();
    return fmo_error_set(err, FMO_ERR_ARGUMENT, "%d processes: expected %d", processes, expected);
}
void bench_world_close(const bench_world *w)
{
    if (w->processes > 1) MPI_Finalize();
}
void bench_world_barrier(const bench_world *w)
{
    if (w->processes > 1) MPI_Barrier(MPI_COMM_WORLD);
}
void bench_world_share(const bench_world *w, void *data, size_t bytes)
{
    if (w->processes > 1) MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static double reduce(const bench_world *w, double value, MPI_Op op)
{
    double all = value;
    if (w->processes > 1) MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    return all;
}
double bench_world_sum(const bench_world *w, double value)
{
    return reduce(w, value, MPI_SUM);
}
double bench_world_max(const bench_world *w, double value)
{
    return reduce(w, value, MPI_MAX);
}

void bench_world_move(const bench_world *w, void *data, size_t bytes, int other, bool send)
{
    if (w->processes < 2) return;
    if (send)
        MPI_Send(data, (int)bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(data, (int)bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void bench_world_swap(const bench_world *w, const void *out, void *in, size_t bytes, int other)
{
    const int with = other < 0 ? MPI_PROC_NULL : other;
    if (w->processes > 1)
        MPI_Sendrecv(out, (int)bytes, MPI_BYTE, with, 0, in, (int)bytes, MPI_BYTE, with, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

fmo_status bench_world_group(const fmo_gmpi_options *options, fmo_gmpi **group, fmo_error *err)
{
    return fmo_gmpi_create_mpi(options, group, err);
}
