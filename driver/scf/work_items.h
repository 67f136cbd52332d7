/* Numbering of the work items of a batch. A work item, counted from 0, is one job in the batch's
 * order, or a whole lockstep batch if ranks share the jobs. The order is: `large` jobs that run one
 * after the other, the remaining jobs not in mode cpu in groups of `lockstep_batch`, and the jobs
 * in mode cpu. Used by batch.c and lockstep_batches.c. */
#ifndef FMO_SCF_WORK_ITEMS_H
#define FMO_SCF_WORK_ITEMS_H

#include <stddef.h>

typedef struct work_items {
    size_t count, elsewhere;      /* number of jobs; how many of them are not in mode cpu */
    size_t large, lockstep_batch; /* jobs that run one after the other; jobs per lockstep batch, 0
                                     if a work item is always one job */
} work_items;

static inline size_t work_items_lockstep(const work_items *t)
{
    return t->lockstep_batch ? (t->elsewhere - t->large + t->lockstep_batch - 1) / t->lockstep_batch
                             : 0;
}

static inline size_t work_items_num(const work_items *t)
{
    return t->lockstep_batch ? t->large + work_items_lockstep(t) + (t->count - t->elsewhere)
                             : t->count;
}

/* Returns the position of the first job of a work item; *num: its number of jobs. */
static inline size_t work_items_place(const work_items *t, size_t work_item, size_t *num)
{
    *num = 1;
    if (!t->lockstep_batch || work_item < t->large) return work_item;
    const size_t k = work_item - t->large, lockstep_batches = work_items_lockstep(t),
                 at = t->large + k * t->lockstep_batch;
    if (k >= lockstep_batches) return t->elsewhere + (k - lockstep_batches);
    *num = t->elsewhere - at < t->lockstep_batch ? t->elsewhere - at : t->lockstep_batch;
    return at;
}

static inline size_t work_items_place_of_one(const work_items *t, size_t work_item)
{
    size_t num;
    return work_items_place(t, work_item, &num);
}

#endif
