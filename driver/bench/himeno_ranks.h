/* himeno by several GPUs: the experiment's two halves, himeno_ranks.c (who takes part, the table)
 * and himeno_ranks.cu (slabs, forms, checks). */
#ifndef FMO_BENCH_HIMENO_RANKS_H
#define FMO_BENCH_HIMENO_RANKS_H

#include "himeno.h"
#include "ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sweeps of a grid that are timed together: the published 1000, fewer of large ones. */
int himeno_sweeps(const bench_options *o, const int edge[3]);

/** All grids, 1, 2, 4 to --gpus ranks, all forms; cells are kept as they come. */
void himeno_ranks_gpu(bench_run *run, const bench_world *world);

#ifdef __cplusplus
}
#endif
#endif
