/* Processes that mpirun started together, for the experiments that send messages. Implemented in
 * ranks_mpi.c, or in ranks_no_mpi.c for a build without MPI, which has a single process. */
#ifndef FMO_BENCH_RANKS_H
#define FMO_BENCH_RANKS_H

#include "bench.h"
#include <fmo/gmpi.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_RANKS_MAX = 16 }; /* the same limit as that of --gpus */

/* All functions below are collective, and do nothing with a single process. */
typedef struct bench_world {
    int processes, rank; /* 1 and 0 without MPI */
} bench_world;

/** Initialises MPI if mpirun has started several processes, whose number must then be `expected`.
 *  @return FMO_OK, FMO_ERR_ARGUMENT for another number, FMO_ERR_UNSUPPORTED without MPI */
fmo_status bench_world_open(bench_world *w, int expected, fmo_error *err);
void bench_world_close(const bench_world *w);
void bench_world_barrier(const bench_world *w);
/** Broadcasts `bytes` bytes from rank 0. */
void bench_world_share(const bench_world *w, void *data, size_t bytes);
/** Sum and maximum over the processes. */
double bench_world_sum(const bench_world *w, double value);
double bench_world_max(const bench_world *w, double value);
/** Sends a message to another process, or receives one from it. */
void bench_world_move(const bench_world *w, void *data, size_t bytes, int other, bool send);
/** Sends and receives at once; other < 0: no partner. */
void bench_world_swap(const bench_world *w, const void *out, void *in, size_t bytes, int other);
/** Calls fmo_gmpi_create_mpi. */
fmo_status bench_world_group(const fmo_gmpi_options *options, fmo_gmpi **group, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
