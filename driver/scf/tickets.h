/* How jobs of a batch are taken, by tickets from 0 on: each is a place in their order, but for
 * lockstep batches of ranks, which have one ticket together. The order is: `large` jobs that go one
 * by one, the rest of those that are not in mode cpu, `lockstep batch` at a time, and those in mode
 * cpu. */
#ifndef FMO_SCF_TICKETS_H
#define FMO_SCF_TICKETS_H

#include <stddef.h>

typedef struct tickets {
    size_t count, elsewhere; /* jobs; of them not in mode cpu */
    size_t large,
        lockstep_batch; /* of those that go alone; of a lockstep batch, 0: there are none */
} tickets;

static inline size_t tickets_lockstep(const tickets *t)
{
    return t->lockstep_batch ? (t->elsewhere - t->large + t->lockstep_batch - 1) / t->lockstep_batch
                             : 0;
}

static inline size_t tickets_num(const tickets *t)
{
    return t->lockstep_batch ? t->large + tickets_lockstep(t) + (t->count - t->elsewhere)
                             : t->count;
}

/* Where the jobs of a ticket begin, and how many they are. */
static inline size_t tickets_place(const tickets *t, size_t ticket, size_t *num)
{
    *num = 1;
    if (!t->lockstep_batch || ticket < t->large) return ticket;
    const size_t k = ticket - t->large, lockstep_batches = tickets_lockstep(t),
                 at = t->large + k * t->lockstep_batch;
    if (k >= lockstep_batches) return t->elsewhere + (k - lockstep_batches);
    *num = t->elsewhere - at < t->lockstep_batch ? t->elsewhere - at : t->lockstep_batch;
    return at;
}

static inline size_t tickets_place_of_one(const tickets *t, size_t ticket)
{
    size_t num;
    return tickets_place(t, ticket, &num);
}

#endif
