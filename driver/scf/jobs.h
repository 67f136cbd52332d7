/* The jobs of a batch, shared by batch.c, which decides where and when they run,
 * lockstep_batches.c, which runs small molecules in lockstep on GPUs, and block/, which runs the
 * smallest in thread blocks.
 *
 * A work item, counted from 0, is one job in the batch's order, or a whole lockstep batch if ranks
 * share the jobs. The order is: `large` jobs that run one after the other, the remaining jobs not
 * in mode cpu in groups of `lockstep_batch`, and the jobs in mode cpu. */
#ifndef FMO_SCF_JOBS_H
#define FMO_SCF_JOBS_H

#include <pthread.h>

#include "driver/scf/batch.h"
#include "driver/scf/input.h"
#include "driver/scf/scf_internal.h"

typedef struct work_items {
    size_t count, other_mode;     /* number of jobs; how many of them are not in mode cpu */
    size_t large, lockstep_batch; /* jobs that run one after the other; jobs per lockstep batch, 0
                                     if a work item is always one job */
} work_items;

static inline size_t work_items_lockstep(const work_items *t)
{
    return t->lockstep_batch
               ? (t->other_mode - t->large + t->lockstep_batch - 1) / t->lockstep_batch
               : 0;
}

static inline size_t work_items_num(const work_items *t)
{
    return t->lockstep_batch ? t->large + work_items_lockstep(t) + (t->count - t->other_mode)
                             : t->count;
}

/* Returns the position of the first job of a work item; *num: its number of jobs. */
static inline size_t work_items_place(const work_items *t, size_t work_item, size_t *num)
{
    *num = 1;
    if (!t->lockstep_batch || work_item < t->large) return work_item;
    const size_t k = work_item - t->large, lockstep_batches = work_items_lockstep(t),
                 at = t->large + k * t->lockstep_batch;
    if (k >= lockstep_batches) return t->other_mode + (k - lockstep_batches);
    *num = t->other_mode - at < t->lockstep_batch ? t->other_mode - at : t->lockstep_batch;
    return at;
}

static inline size_t work_items_place_of_one(const work_items *t, size_t work_item)
{
    size_t num;
    return work_items_place(t, work_item, &num);
}

/* Lockstep batches per GPU: one computes while the host prepares the other. */
enum { LOCKSTEP_BATCHES = 2, RETURNED_MAX = LOCKSTEP_BATCHES + 1 };

typedef struct batch {
    fmo_scf_job *jobs;
    size_t count;
    const fmo_scf_options *options;       /* options of the caller, or the defaults */
    const fmo_batch_callbacks *callbacks; /* or NULL */
    fmo_batch_cache *cache;               /* or NULL */
    fmo_atoms *atoms;
    fmo_scf_normal *normal; /* [count] molecules in functions of norm 1; NULL: all had norm 1 */
    pthread_mutex_t
        lock; /* protects the user's callbacks, `next`, `returned`, `fault` and `rerun` */
    pthread_mutex_t plans; /* one lockstep batch makes plans at a time, while others compute */
    char *done;            /* [count] by job: 1 if it ran in a thread block of a GPU (block/) */
    size_t *order;   /* [deal.count] the other jobs: those not in mode cpu first, then by size */
    work_items deal; /* how `order` is divided into work items */
    size_t next;     /* next work item if one process runs them all */
    size_t returned[RETURNED_MAX]; /* work items that were taken and returned */
    int returned_num;
    int fault;                  /* 1 after an error of the ranks' network */
    fmo_scf_options concurrent; /* options of jobs that run concurrently */
    char *rerun;                /* [count] by job: 1 if it found too little memory beside others */
    int all_quick;              /* 1: all jobs finish on the CPU before a GPU would have started */
    double cpu_limit; /* molecules with a cube of their number of functions up to this stay on the
                        CPU; 0: none */
} batch;

/* A job to be sorted by size. */
typedef struct fmo_scf_sized {
    int other_mode; /* 1: not in mode cpu */
    size_t functions, job;
} fmo_scf_sized;
/* Sorts as in `order`: jobs not in mode cpu first, then the largest; jobs of equal size keep their
 * order. */
void fmo_scf_batch_sort(fmo_scf_sized *sized, size_t num);
/* Returns the number of functions of a job; 0 without a basis. */
size_t fmo_scf_job_functions(const fmo_scf_job *job);
/* Returns the bytes of the matrices of a running SCF (scf_internal.h) and of its result. */
double fmo_scf_batch_bytes(const batch *b, size_t n);
/* Call the callbacks that prepare and release jobs; without callbacks they do nothing. */
fmo_status fmo_scf_batch_prepare(const batch *b, const size_t *job, size_t num,
                                 const fmo_fock_options *fock, fmo_error *err);
void fmo_scf_batch_release(const batch *b, size_t job);
const double *fmo_scf_batch_overlap(const batch *b, size_t job); /* NULL: not known */
/* Restores the caller's input of job k, and converts its result to the caller's functions. */
void fmo_scf_batch_give_back(const batch *b, size_t k);
/* Records the end of job k. `concurrent`: it ran concurrently with others, so that too little
 * memory is a reason to run it again alone. */
void fmo_scf_batch_note_end(batch *b, size_t k, int concurrent);
/* take_item returns the next work item, or work_items_num(&b->deal) if there is none; return_item
 * gives one back, which is then taken first. */
size_t fmo_scf_batch_take_item(batch *b);
void fmo_scf_batch_return_item(batch *b, size_t work_item);
/* Returns the index of the smallest work item that was returned. */
int fmo_scf_batch_first_returned(const batch *b);

#endif
