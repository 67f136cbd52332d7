/* How jobs of a batch are taken, by work items from 0 on: each is a place in their order, but for
 * lockstep batches of ranks, which have one work item together. The order is: `large` jobs that go
 * one by one, the rest of those that are not in mode cpu, `lockstep batch` at a time, and those in
 * mode cpu. */
#ifndef FMO_SCF_WORK_ITEMS_H
#define FMO_SCF_WORK_ITEMS_H

#include <stddef.h>

typedef struct work_items {
    size_t count, elsewhere; /* jobs; of them not in mode cpu */
    size_t large,
        lockstep_batch; /* of those that go alone; of a lockstep batch, 0: there are none */
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

/* Where the jobs of a work item begin, and how many they are. */
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
