/* The functions of ranks.h for a build without MPI: one process. */
#include "ranks.h"

fmo_status bench_world_open(bench_world *w, int expected, fmo_error *err)
{
    (void)expected;
    w->processes = 1, w->rank = 0;
    if (bench_processes() < 2) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                         "started by mpirun, but built without MPI: configure with FMO_MPI=ON");
}
void bench_world_close(const bench_world *w)
{
    (void)w;
}
void bench_world_barrier(const bench_world *w)
{
    (void)w;
}
void bench_world_share(const bench_world *w, void *data, size_t bytes)
{
    (void)w, (void)data, (void)bytes;
}
double bench_world_sum(const bench_world *w, double value)
{
    (void)w;
    return value;
}
double bench_world_max(const bench_world *w, double value)
{
    (void)w;
    return value;
}
void bench_world_move(const bench_world *w, void *data, size_t bytes, int other, bool send)
{
    (void)w, (void)data, (void)bytes, (void)other, (void)send;
}
void bench_world_swap(const bench_world *w, const void *out, void *in, size_t bytes, int other)
{
    (void)w, (void)out, (void)in, (void)bytes, (void)other;
}
fmo_status bench_world_group(const fmo_gmpi_options *options, fmo_gmpi **group, fmo_error *err)
{
    (void)options;
    *group = NULL;
    return fmo_error_set(err, FMO_ERR_UNSUPPORTED, "built without MPI");
}
