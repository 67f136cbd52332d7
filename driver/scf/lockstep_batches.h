/* Shared by the two halves of a batch: batch.c, which decides where and when jobs run, and
 * lockstep_batches.c, which runs small molecules in lockstep on GPUs. */
#ifndef FMO_SCF_LOCKSTEP_BATCHES_H
#define FMO_SCF_LOCKSTEP_BATCHES_H

#include <pthread.h>

#include "driver/scf/batch.h"
#include "driver/scf/normalise.h"
#include "driver/scf/scf_internal.h"
#include "driver/scf/work_items.h"

/* Lockstep batches per GPU: one computes while the host prepares the other. */
enum { LOCKSTEP_BATCHES = 2, HELD_MAX = LOCKSTEP_BATCHES + 1 };

typedef struct batch {
    fmo_scf_job *jobs;
    size_t count;
    const fmo_scf_options *asked;         /* options of the caller, or the defaults */
    const fmo_batch_callbacks *callbacks; /* or NULL */
    fmo_batch_cache *kept;                /* or NULL */
    fmo_atoms *atoms;
    fmo_scf_normal *normal; /* [count] molecules in functions of norm 1; NULL: all had norm 1 */
    pthread_mutex_t lock;   /* protects the user's callbacks, `next`, `held`, `fault` and `again` */
    pthread_mutex_t plans;  /* one lockstep batch makes plans at a time, while others compute */
    char *done;             /* [count] by job: 1 if it ran in a thread block of a GPU (block/) */
    size_t *order;   /* [deal.count] the other jobs: those not in mode cpu first, then by size */
    work_items deal; /* how `order` is divided into work items */
    size_t next;     /* next work item if one process runs them all */
    size_t held[HELD_MAX]; /* work items that were taken and returned */
    int held_num;
    int fault;             /* 1 after an error of the ranks' network */
    fmo_scf_options aside; /* options of jobs that run concurrently */
    char *again;           /* [count] by job: 1 if it found too little memory beside others */
    int soon;              /* 1: all jobs finish on the CPU before a GPU would have started */
    double cpu_most; /* molecules with a cube of their number of functions up to this stay on the
                        CPU; 0: none */
} batch;

/* ---- batch.c ---- */

/* A job to be sorted by size. */
typedef struct fmo_scf_sized {
    int elsewhere; /* 1: not in mode cpu */
    size_t functions, job;
} fmo_scf_sized;
/* Sorts as in `order`: jobs not in mode cpu first, then the largest; jobs of equal size keep their
 * order. */
void fmo_scf_batch_sort(fmo_scf_sized *of, size_t num);
/* Returns the number of functions of a job; 0 without a basis. */
size_t fmo_scf_job_functions(const fmo_scf_job *job);
/* Returns the bytes of the matrices of a running SCF (scf_internal.h) and of its result. */
double fmo_scf_batch_bytes(const batch *b, size_t n);
/* Call the callbacks that prepare and release jobs; without callbacks they do nothing. */
fmo_status fmo_scf_batch_prepare(const batch *b, const size_t *job, size_t num,
                                 const fmo_fock_options *fock, fmo_error *err);
void fmo_scf_batch_release(const batch *b, size_t job);
const double *fmo_scf_batch_overlap(const batch *b, size_t job); /* NULL: not known */
/* Records the end of job k. `aside`: it ran concurrently with others, so that too little memory is
 * a reason to run it again alone. */
void fmo_scf_batch_note_end(batch *b, size_t k, int aside);
/* Take returns the next work item, or work_items_num(&b->deal) if there is none; hold returns a
 * work item, which is then taken first. */
size_t fmo_scf_batch_take(batch *b);
void fmo_scf_batch_hold(batch *b, size_t work_item);

/* ---- lockstep_batches.c ---- */

/* Returns the number of jobs not in mode cpu that run one after the other: those of many functions,
 * or all. */
size_t fmo_lockstep_single_num(const batch *b);
/* Returns the number of concurrent lockstep batches for so many jobs and GPUs; *most: the largest
 * number of jobs in each. */
int fmo_lockstep_batch_count(size_t jobs, int gpus, size_t *most);
/* Distributes the jobs of `order` over lockstep batches of at most `most` jobs: if all fit at once,
 * each batch gets jobs of every size, so that they take equally long; otherwise the largest jobs
 * come first. */
void fmo_lockstep_batches_mix(size_t *order, size_t jobs, int lockstep_batches, size_t most);
/* Returns how many molecules, the largest of n functions, fit into memory in each of so many
 * concurrent lockstep batches; at most `most`. */
size_t fmo_lockstep_batch_size(const batch *b, size_t n, size_t most, int lockstep_batches);
/* Runs lockstep batches of this process, `lockstep_batches` at a time, until no jobs are left for
 * them. */
void fmo_lockstep_batches_run(batch *b, const fmo_scf_options *asked, int lockstep_batches,
                              size_t most);

#endif
