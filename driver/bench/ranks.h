/* Processes that mpirun started together, for the experiments that send messages; ranks_mpi.c, or
 * ranks_no_mpi.c in a build without MPI, where a process is alone. */
#ifndef FMO_BENCH_RANKS_H
#define FMO_BENCH_RANKS_H

#include "bench.h"
#include <fmo/gmpi.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_RANKS_MAX = 16 }; /* as many as --gpus takes */

/* All that follows is for all processes together, and does nothing where there is one. */
typedef struct bench_world {
    int processes, rank; /* 1, 0 without MPI */
} bench_world;

/** MPI is initialised if mpirun has started this process as one of several, which then are as many
 *  as is expected.
 *  @return FMO_OK, FMO_ERR_ARGUMENT for another number, FMO_ERR_UNSUPPORTED without MPI */
fmo_status bench_world_open(bench_world *w, int expected, fmo_error *err);
void bench_world_close(const bench_world *w);
void bench_world_barrier(const bench_world *w);
/** bytes of rank 0 to all. */
void bench_world_share(const bench_world *w, void *data, size_t bytes);
/** Sum over the processes, and the largest. */
double bench_world_sum(const bench_world *w, double value);
double bench_world_most(const bench_world *w, double value);
/** A message to another process, or from it. */
void bench_world_move(const bench_world *w, void *data, size_t bytes, int other, bool send);
/** Both at once; other < 0: nobody. */
void bench_world_swap(const bench_world *w, const void *out, void *in, size_t bytes, int other);
/** fmo_gmpi_create_mpi. */
fmo_status bench_world_group(const fmo_gmpi_options *options, fmo_gmpi **group, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
