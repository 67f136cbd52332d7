/* Between the two parts of a batch: batch.c, who runs when and where, and lockstep batches.c, small
 * molecules that advance together on GPUs. */
#ifndef FMO_SCF_LOCKSTEP_BATCHES_H
#define FMO_SCF_LOCKSTEP_BATCHES_H

#include <pthread.h>

#include "driver/scf/batch.h"
#include "driver/scf/normalise.h"
#include "driver/scf/scf_internal.h"
#include "driver/scf/work_items.h"

/* Lockstep batches a GPU, of which one computes while the host prepares the other. */
enum { LOCKSTEP_BATCHES = 2, HELD_MAX = LOCKSTEP_BATCHES + 1 };

typedef struct batch {
    fmo_scf_job *jobs;
    size_t count;
    const fmo_scf_options *asked;         /* the caller's, or the defaults */
    const fmo_batch_callbacks *callbacks; /* or NULL */
    fmo_batch_cache *kept;                /* or NULL */
    fmo_atoms *atoms;
    fmo_scf_normal
        *normal;           /* [count] molecules over functions of norm 1, or NULL: all have these */
    pthread_mutex_t lock;  /* of the callbacks, `next`, `held`, `fault` and `again` */
    pthread_mutex_t plans; /* one lockstep batch's are made at a time, while others compute */
    char *done;            /* [count] by job: had a block of a GPU's threads (block/) */
    size_t *order;         /* [deal.count] the others: those not in mode cpu, then by size */
    work_items deal;       /* how `order` is taken */
    size_t next;           /* work item that is taken next, where nobody shares */
    size_t held[HELD_MAX]; /* work items that were taken and given back */
    int held_num;
    int fault;             /* of the ranks' network */
    fmo_scf_options aside; /* how they run theirs */
    char *again;           /* [count] by job: had too little memory beside others */
    int soon;              /* all are done before a GPU has started */
    double cpu_most; /* molecules with cubes of their functions up to this stay on the CPU; 0 */
} batch;

/* ---- batch.c ---- */

/* A job to be sorted. */
typedef struct fmo_scf_sized {
    int elsewhere; /* not in mode cpu */
    size_t functions, job;
} fmo_scf_sized;
/* As in `order`: the largest first, those of one size as they come. */
void fmo_scf_batch_sort(fmo_scf_sized *of, size_t num);
/* Functions of a job; 0 without a basis. */
size_t fmo_scf_job_functions(const fmo_scf_job *job);
/* Bytes of the matrices of an SCF that runs (scf_internal.h), and of its result. */
double fmo_scf_batch_bytes(const batch *b, size_t n);
/* Jobs as their owner has them made ready and let go; at once where there is none. */
fmo_status fmo_scf_batch_prepare(const batch *b, const size_t *job, size_t num,
                                 const fmo_fock_options *fock, fmo_error *err);
void fmo_scf_batch_release(const batch *b, size_t job);
const double *fmo_scf_batch_overlap(const batch *b, size_t job); /* NULL: not known */
/* A job has ended. `aside`: beside others, where too little memory is a reason to try again alone.
 */
void fmo_scf_batch_note_end(batch *b, size_t k, int aside);
/* The next work item, or work_items_num(&b->deal); and gives one back: it is for what comes later.
 */
size_t fmo_scf_batch_take(batch *b);
void fmo_scf_batch_hold(batch *b, size_t work_item);

/* ---- lockstep batches.c ---- */

/* The jobs not in mode cpu that go one after the other: those of many functions, or all of them. */
size_t fmo_lockstep_single_num(const batch *b);
/* How many lockstep batches at a time, for so many jobs and GPUs; and jobs of each, at most. */
int fmo_lockstep_batch_count(size_t jobs, int gpus, size_t *most);
/* Jobs of `order` for so many lockstep batches of `most`: where all of them go at once, each gets
 * some of every size, so that they take as long; else the largest come first. */
void fmo_lockstep_batches_mix(size_t *order, size_t jobs, int lockstep_batches, size_t most);
/* How many molecules, of which the largest has n functions, fit together where so many lockstep
 * batches are at work, `most` at most. */
size_t fmo_lockstep_batch_size(const batch *b, size_t n, size_t most, int lockstep_batches);
/* Lockstep batches of this process, `lockstep batches` at a time, until there are no jobs for them
 * left. */
void fmo_lockstep_batches_run(batch *b, const fmo_scf_options *asked, int lockstep_batches,
                              size_t most);

#endif
