/* A network of ranks that are threads of this process, for tests of <fmo/ranks.h>: a barrier on
 * either side of each exchange. */
#ifndef FMO_TESTS_RANKS_LOCAL_H
#define FMO_TESTS_RANKS_LOCAL_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <fmo/ranks.h>

enum { RANKS_LOCAL_MAX = 8 };

typedef struct ranks_local_world {
    int size;
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    int64_t counter;
    int64_t taken[RANKS_LOCAL_MAX]; /* work items that each rank got */
    int64_t faulty_from;            /* work items from here on are a fault; -1: none */
    size_t altered_bytes;           /* broadcasts of this size arrive changed at the last rank */
    pthread_cond_t moved;           /* something was sent, or received */
    const void *sent[RANKS_LOCAL_MAX];
    size_t sent_bytes[RANKS_LOCAL_MAX];
    void *data[RANKS_LOCAL_MAX];
    int says[RANKS_LOCAL_MAX];
} ranks_local_world;

typedef struct ranks_local {
    ranks_local_world *world;
    int rank;
} ranks_local;

static inline void ranks_local_barrier(const ranks_local *l)
{
    pthread_barrier_wait(&l->world->barrier);
}

static inline int ranks_local_broadcast(void *user, void *data, size_t bytes)
{
    const ranks_local *l = (const ranks_local *)user;
    if (l->rank == 0) l->world->data[0] = data;
    ranks_local_barrier(l);
    if (l->rank != 0) memcpy(data, l->world->data[0], bytes);
    if (l->rank == l->world->size - 1 && bytes == l->world->altered_bytes) *(char *)data ^= 1;
    ranks_local_barrier(l);
    return 0;
}

static inline int ranks_local_first(void *user, int mine, void *data, size_t bytes, int *who)
{
    const ranks_local *l = (const ranks_local *)user;
    l->world->says[l->rank] = mine;
    l->world->data[l->rank] = data;
    ranks_local_barrier(l);
    *who = -1;
    for (int r = l->world->size - 1; r >= 0; r--)
        if (l->world->says[r]) *who = r;
    if (*who >= 0 && *who != l->rank) memcpy(data, l->world->data[*who], bytes);
    ranks_local_barrier(l);
    return 0;
}

static inline int ranks_local_sum(void *user, void *data, size_t count, int integers)
{
    const ranks_local *l = (const ranks_local *)user;
    l->world->data[l->rank] = data;
    ranks_local_barrier(l);
    for (int r = 1; r < l->world->size && l->rank == 0; r++)
        for (size_t x = 0; x < count; x++)
            if (integers)
                ((int64_t *)data)[x] += ((const int64_t *)l->world->data[r])[x];
            else
                ((double *)data)[x] += ((const double *)l->world->data[r])[x];
    ranks_local_barrier(l);
    return 0;
}

/* Until rank 0 has it. */
static inline int ranks_local_send(void *user, const void *data, size_t bytes)
{
    const ranks_local *l = (const ranks_local *)user;
    ranks_local_world *const w = l->world;
    pthread_mutex_lock(&w->lock);
    w->sent_bytes[l->rank] = bytes;
    w->sent[l->rank] = data;
    pthread_cond_broadcast(&w->moved);
    while (w->sent[l->rank]) pthread_cond_wait(&w->moved, &w->lock);
    pthread_mutex_unlock(&w->lock);
    return 0;
}

static inline int ranks_local_receive(void *user, int rank, void *data, size_t bytes)
{
    ranks_local_world *const w = ((const ranks_local *)user)->world;
    pthread_mutex_lock(&w->lock);
    while (!w->sent[rank]) pthread_cond_wait(&w->moved, &w->lock);
    const int fault = w->sent_bytes[rank] != bytes;
    if (!fault) memcpy(data, w->sent[rank], bytes);
    w->sent[rank] = NULL;
    pthread_cond_broadcast(&w->moved);
    pthread_mutex_unlock(&w->lock);
    return fault;
}

static inline int ranks_local_restart(void *user)
{
    ranks_local *l = (ranks_local *)user;
    l->world->counter = 0;
    return 0;
}

static inline int ranks_local_next(void *user, int64_t *work_item)
{
    ranks_local *l = (ranks_local *)user;
    pthread_mutex_lock(&l->world->lock);
    *work_item = l->world->counter++;
    l->world->taken[l->rank]++;
    pthread_mutex_unlock(&l->world->lock);
    return l->world->faulty_from >= 0 && *work_item >= l->world->faulty_from;
}

static inline void ranks_local_open(ranks_local_world *world, int size)
{
    memset(world, 0, sizeof *world);
    world->size = size;
    world->faulty_from = -1;
    pthread_barrier_init(&world->barrier, NULL, (unsigned)size);
    pthread_mutex_init(&world->lock, NULL);
    pthread_cond_init(&world->moved, NULL);
}

static inline void ranks_local_close(ranks_local_world *world)
{
    pthread_barrier_destroy(&world->barrier);
    pthread_mutex_destroy(&world->lock);
    pthread_cond_destroy(&world->moved);
}

/* One rank's end; `user` must live as long. Without abort and destroy, which the library does not
 * call. */
static inline fmo_ranks ranks_local_end(ranks_local *user, ranks_local_world *world, int rank)
{
    fmo_ranks ranks;
    memset(&ranks, 0, sizeof ranks);
    user->world = world;
    user->rank = rank;
    ranks.user = user;
    ranks.rank = ranks.node_rank = rank;
    ranks.size = ranks.node_size = world->size;
    ranks.cores = 1;
    snprintf(ranks.host, sizeof ranks.host, "host%d", rank);
    ranks.broadcast = ranks_local_broadcast;
    ranks.first = ranks_local_first;
    ranks.sum = ranks_local_sum;
    ranks.send = ranks_local_send;
    ranks.receive = ranks_local_receive;
    ranks.restart = ranks_local_restart;
    ranks.next = ranks_local_next;
    return ranks;
}

#endif
