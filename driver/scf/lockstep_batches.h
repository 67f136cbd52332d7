/* Small molecules of a batch in lockstep on GPUs (lockstep_batches.c). Called by batch.c. */
#ifndef FMO_SCF_LOCKSTEP_BATCHES_H
#define FMO_SCF_LOCKSTEP_BATCHES_H

#include "driver/scf/jobs.h"

/* Returns the number of jobs not in mode cpu that run one after the other: those of many functions,
 * or all. */
size_t fmo_lockstep_single_num(const batch *b);
/* Returns the number of concurrent lockstep batches for so many jobs and GPUs; *max_size: the
 * largest number of jobs in each. */
int fmo_lockstep_batch_count(size_t jobs, int gpus, size_t *max_size);
/* Distributes the jobs of `order` over lockstep batches of at most `max_size` jobs: if all fit at
 * once, each batch gets jobs of every size, so that they take equally long; otherwise the largest
 * jobs come first. */
void fmo_lockstep_batches_mix(size_t *order, size_t jobs, int lockstep_batches, size_t max_size);
/* Returns how many molecules, the largest of n functions, fit into memory in each of so many
 * concurrent lockstep batches; at most `max_size`. */
size_t fmo_lockstep_batch_size(const batch *b, size_t n, size_t max_size, int lockstep_batches);
/* Runs lockstep batches of this process, `lockstep_batches` at a time, until no jobs are left for
 * them. */
void fmo_lockstep_batches_run(batch *b, const fmo_scf_options *options, int lockstep_batches,
                              size_t max_size);

#endif
