/* A batch whose jobs are made ready when their turn comes: fragments and pairs, whose matrices are
 * large and take a while. While a GPU works on some jobs the host makes the next ones ready, and
 * there is never more of it than runs. */
#ifndef FMO_SCF_BATCH_H
#define FMO_SCF_BATCH_H

#include <fmo/scf.h>

#include "driver/scf/inner.h"

/* Who does that. Calls come from any thread, several at a time, each about other jobs. */
typedef struct fmo_batch_care {
    /* Completes jobs[job[k]].input, of which the basis was there, and stays what it is: plans may
     * be made of it meanwhile. Then they run, together or each by itself. `fock`: the threads and
     * the GPU that it may use. After an error all of them are as before. */
    fmo_status (*prepare)(const size_t *job, size_t num, const fmo_fock_options *fock, void *user,
                          fmo_error *err);
    /* A job that was prepared has ended, and options.finished has heard of it; or it has found no
     * memory beside others, and will be prepared again. */
    void (*let_go)(size_t job, void *user);
    /* The overlap matrix of a job that is ready, [n][n], or NULL: not known. The member may be
     * NULL, too. */
    const double *(*overlap)(size_t job, void *user);
    void *user;
    /* Squares of functions: as many as may be prepared at a time for GPUs, but at least one job, or
     * one a crowd; in mode cpu there is one job a thread. */
    double elements;
} fmo_batch_care;

/* What is kept on GPUs from one batch to the next of the same number of jobs with the same bases
 * and options.fock, such as fragments from iteration to iteration: plans, streams, libraries'
 * handles, memory, and of each SCF its orthogonal functions and, for one that begins with the
 * density that it ended with, J - K/2. Nothing where nothing runs together on a GPU,
 * where ranks share the jobs, and where there are too many jobs to be there at once, or too large
 * ones. For one batch at a time. */
typedef struct fmo_batch_kept fmo_batch_kept;
/* For batches in mode fused it begins at once to load what they need. NULL without memory, which
 * does no harm. */
FMO_INNER fmo_batch_kept *fmo_batch_kept_create(int fused);
/* By the thread that ran the batches, whose current GPU is theirs until then; NULL is fine. */
FMO_INNER void fmo_batch_kept_destroy(fmo_batch_kept *kept);
/* Plans of the last batch that runs together on a GPU which were there from the one before. */
size_t fmo_batch_kept_reused(const fmo_batch_kept *kept);

/* fmo_scf_run_batch; care: NULL, if all is there; kept: NULL, if nothing is to be kept. */
FMO_INNER fmo_status fmo_scf_run_batch_of(fmo_scf_job *jobs, size_t count,
                                          const fmo_scf_options *options,
                                          const fmo_batch_care *care, fmo_batch_kept *kept,
                                          fmo_error *err);

/* Options with numbers out of their range: FMO_ERR_ARGUMENT, which names the field. */
FMO_INNER fmo_status fmo_scf_check_options(const fmo_scf_options *options, fmo_error *err);
/* Of everything in options that ranks which share SCFs have to have in common; threads, memory,
 * GPUs and callbacks are each rank's own. And what is said of one that has others. */
FMO_INNER uint64_t fmo_scf_options_digest(const fmo_scf_options *options);
#define FMO_SCF_OTHER_OPTIONS                                                                    \
    "its options or molecules are not those of rank 0: every rank makes the same call, but for " \
    "threads, memory and GPUs"

#endif
