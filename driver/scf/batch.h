/* Batches whose jobs are prepared just before they run, such as fragments and pairs, whose matrices
 * are large and take time to compute. While a GPU runs some jobs the host prepares the next; only
 * as many are prepared as run. */
#ifndef FMO_SCF_BATCH_H
#define FMO_SCF_BATCH_H

#include <fmo/scf.h>

#include "driver/scf/inner.h"

/* Callbacks that prepare and release jobs. They are called from any thread, several at a time, each
 * for other jobs. */
typedef struct fmo_batch_callbacks {
    /* Completes jobs[job[k]].input, in which the basis is set before and must not change: plans may
     * be made from it meanwhile. The jobs then run, together or one by one. `fock`: threads and GPU
     * that the callback may use. After an error all jobs are as before the call. */
    fmo_status (*prepare)(const size_t *job, size_t num, const fmo_fock_options *fock, void *user,
                          fmo_error *err);
    /* Called when a prepared job has ended, after options.finished; or when it found too little
     * memory beside others and will be prepared again. */
    void (*release)(size_t job, void *user);
    /* Returns the overlap matrix of a prepared job, [n][n], or NULL if it is not known. The member
     * may be NULL, too. */
    const double *(*overlap)(size_t job, void *user);
    void *user;
    /* Sum of the squared numbers of functions of jobs that may be prepared at a time for GPUs; at
     * least one job, or one per lockstep batch, is always prepared. In mode cpu one job per thread
     * is prepared. */
    double elements;
} fmo_batch_callbacks;

/* Cache on GPUs between batches that have the same number of jobs, the same bases and the same
 * options.fock, such as fragments from iteration to iteration: plans, streams, library handles,
 * memory, and for each SCF its orthogonal functions and, if it starts from its final density, J -
 * K/2. Nothing is cached if no jobs run in lockstep on a GPU, if ranks share the jobs, or if the
 * jobs are too many or too large to stay in memory together. Used by one batch at a time. */
typedef struct fmo_batch_cache fmo_batch_cache;
/* Creates an empty cache. fused: 1 starts loading what batches in mode fused need. NULL if there is
 * no memory, which callers may ignore. */
FMO_INNER fmo_batch_cache *fmo_batch_cache_create(int fused);
/* Call it in the thread that ran the batches, and with the same current GPU. NULL is allowed. */
FMO_INNER void fmo_batch_cache_destroy(fmo_batch_cache *cache);
/* Returns the number of plans that the last batch reused from the one before. */
size_t fmo_batch_cache_reused(const fmo_batch_cache *cache);

/* Runs fmo_scf_run_batch. callbacks: NULL if all jobs are complete; cache: NULL for no cache. */
FMO_INNER fmo_status fmo_scf_run_batch_of(fmo_scf_job *jobs, size_t count,
                                          const fmo_scf_options *options,
                                          const fmo_batch_callbacks *callbacks,
                                          fmo_batch_cache *cache, fmo_error *err);

#endif
