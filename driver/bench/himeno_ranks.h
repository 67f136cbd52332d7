/* himeno on several GPUs. himeno_ranks.c opens the communicator and prints the table;
 * himeno_ranks.cu has the slabs, forms and checks. */
#ifndef FMO_BENCH_HIMENO_RANKS_H
#define FMO_BENCH_HIMENO_RANKS_H

#include "himeno.h"
#include "ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Number of sweeps that are timed together: 1000 as published, fewer for large grids. */
int himeno_sweeps(const bench_options *o, const int edge[3]);

/** Measures all grids and forms with 1, 2, 4 to --gpus ranks, and stores the cells. */
void himeno_ranks_gpu(bench_run *run, const bench_world *world);

#ifdef __cplusplus
}
#endif
#endif
