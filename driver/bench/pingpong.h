/* What the parts of pingpong share: who takes part, how often, how results are kept and shown. */
#ifndef FMO_BENCH_PINGPONG_H
#define FMO_BENCH_PINGPONG_H

#include "bench.h"
#include <fmo/gmpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Two ends in one process, or one of two processes that mpirun started. */
typedef struct pingpong {
    int processes, rank; /* 1, 0 without MPI */
    int repeats;
} pingpong;

/** Messages there and back that are timed together: the paper's 1000, fewer of long ones. */
int pingpong_rounds(int64_t bytes);

/** A cell in the table `table`, and the result: `seconds` of `repeats` runs, each for one message
 * one way (or one call). A negative number of seconds leaves it out, with a note;
 *  checked: the bytes that came were compared. */
void pingpong_keep(bench_run *run, const pingpong *p, bench_place place, const char *table,
                   const char *method, int64_t bytes, const double *seconds, bool checked,
                   const char *note);

/* MPI, where this build has it (pingpong_mpi.c); else one process alone. */

/** Has mpirun started this process as one of several? Then MPI is initialised, and has 2 processes.
 *  @return FMO_OK, FMO_ERR_ARGUMENT for another number, FMO_ERR_UNSUPPORTED without MPI */
fmo_status pingpong_mpi_open(pingpong *p, fmo_error *err);
void pingpong_mpi_close(const pingpong *p);
void pingpong_mpi_barrier(const pingpong *p);
/** bytes of rank 0 to all. */
void pingpong_mpi_share(const pingpong *p, void *data, size_t bytes);
/** Seconds for one message one way between hosts. */
double pingpong_mpi_seconds(const pingpong *p, void *data, int64_t bytes, int rounds);
/** One end sends, the other receives. */
void pingpong_mpi_move(const pingpong *p, void *data, int64_t bytes, bool send);
fmo_status pingpong_mpi_group(const fmo_gmpi_options *options, fmo_gmpi **group, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
