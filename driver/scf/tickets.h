/* How jobs of a batch are taken, by tickets from 0 on: each is a place in their order, but for
 * crowds of ranks, which have one ticket together. The order is: `large` jobs that go one by one,
 * the rest of those that are not in mode cpu, `crowd` at a time, and those in mode cpu. */
#ifndef FMO_SCF_TICKETS_H
#define FMO_SCF_TICKETS_H

#include <stddef.h>

typedef struct tickets {
    size_t count, elsewhere; /* jobs; of them not in mode cpu */
    size_t large, crowd;     /* of those that go alone; of a crowd, 0: there are none */
} tickets;

static inline size_t tickets_crowds(const tickets *t)
{
    return t->crowd ? (t->elsewhere - t->large + t->crowd - 1) / t->crowd : 0;
}

static inline size_t tickets_num(const tickets *t)
{
    return t->crowd ? t->large + tickets_crowds(t) + (t->count - t->elsewhere) : t->count;
}

/* Where the jobs of a ticket begin, and how many they are. */
static inline size_t tickets_place(const tickets *t, size_t ticket, size_t *num)
{
    *num = 1;
    if (!t->crowd || ticket < t->large) return ticket;
    const size_t k = ticket - t->large, crowds = tickets_crowds(t), at = t->large + k * t->crowd;
    if (k >= crowds) return t->elsewhere + (k - crowds);
    *num = t->elsewhere - at < t->crowd ? t->elsewhere - at : t->crowd;
    return at;
}

static inline size_t tickets_place_of_one(const tickets *t, size_t ticket)
{
    size_t num;
    return tickets_place(t, ticket, &num);
}

#endif
