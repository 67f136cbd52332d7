/* A network between ranks of one process: see net_local.h. */
#define _GNU_SOURCE
#include "net_local.h"
#include "match.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A message or a receive. Short messages are copied and belong to the network; long ones stay in
 * the memory of their sender. */
typedef struct local_item {
    fmo_match_item item;
    void *data;
    size_t bytes;
    int copied;
    _Atomic int done; /* 1: complete; -1: complete, but the message is longer than the receive */
} local_item;

enum { COPIED_MAX = FMO_GMPI_STAGE + 64 };

typedef struct local_rank {
    fmo_local *local;
    int rank;
    pthread_mutex_t lock;
    fmo_match match;
} local_rank;

/* An allreduce of a communicator. The last rank to call combines the data in the order of the
 * ranks. */
typedef struct local_reduce {
    pthread_mutex_t lock;
    int come;
    void *data[FMO_GMPI_RANKS_MAX];
    local_item *item[FMO_GMPI_RANKS_MAX];
} local_reduce;

struct fmo_local {
    int ranks;
    _Atomic int failed;
    int (*lose)(void *, int, int, int, int);
    void *lose_user;
    local_rank rank[FMO_GMPI_RANKS_MAX];
    local_reduce reduce[FMO_GMPI_COMM_COUNT];
};

#define COMBINE(T)                                              \
    do {                                                        \
        T *a = to;                                              \
        const T *b = from;                                      \
        for (size_t i = 0; i < count; i++) {                    \
            if (op == FMO_GMPI_SUM) a[i] = (T)(a[i] + b[i]);    \
            if (op == FMO_GMPI_MAX && b[i] > a[i]) a[i] = b[i]; \
            if (op == FMO_GMPI_MIN && b[i] < a[i]) a[i] = b[i]; \
        }                                                       \
    } while (0)

void fmo_local_combine(void *to, const void *from, size_t count, fmo_gmpi_type type, fmo_gmpi_op op)
{
    if (type == FMO_GMPI_INT32) COMBINE(int32_t);
    if (type == FMO_GMPI_INT64) COMBINE(int64_t);
    if (type == FMO_GMPI_FLOAT) COMBINE(float);
    if (type == FMO_GMPI_DOUBLE) COMBINE(double);
}

/* Copies a message to its receive and completes both. */
static void deliver(local_item *receive, local_item *message)
{
    const int fits = message->bytes <= receive->bytes;
    if (fits && message->bytes) memcpy(receive->data, message->data, message->bytes);
    if (message->copied)
        free(message);
    else
        atomic_store(&message->done, 1);
    atomic_store(&receive->done, fits ? 1 : -1);
}

/* Sends a message: it is delivered if a receive waits for it, else it is queued at its
 * destination. */
static int local_isend(void *user, const void *data, size_t bytes, int dest, int tag, int comm,
                       void **handle)
{
    local_rank *me = user;
    fmo_local *local = me->local;
    const int copied = bytes <= COPIED_MAX;
    *handle = NULL; /* complete */
    if (dest < 0 || dest >= local->ranks) return 1;
    if (local->lose && local->lose(local->lose_user, me->rank, dest, tag, comm)) return 0;
    local_item *message = malloc(sizeof *message + (copied ? bytes : 0));
    if (!message) return 1;
    message->item = (fmo_match_item){.source = me->rank, .tag = tag, .comm = comm};
    message->bytes = bytes;
    message->copied = copied;
    message->data = (void *)(uintptr_t)data;
    atomic_init(&message->done, 0);
    if (copied) {
        message->data = message + 1;
        if (bytes) memcpy(message->data, data, bytes);
    } else {
        *handle = message;
    }
    local_rank *to = &local->rank[dest];
    pthread_mutex_lock(&to->lock);
    local_item *receive = (local_item *)fmo_match_arrive(&to->match, &message->item);
    if (receive) deliver(receive, message);
    pthread_mutex_unlock(&to->lock);
    return 0;
}

static int local_irecv(void *user, void *data, size_t bytes, int source, int tag, int comm,
                       void **handle)
{
    local_rank *me = user;
    local_item *receive = calloc(1, sizeof *receive);
    *handle = receive;
    if (!receive) return 1;
    receive->item = (fmo_match_item){.source = source, .tag = tag, .comm = comm};
    receive->data = data;
    receive->bytes = bytes;
    atomic_init(&receive->done, 0);
    pthread_mutex_lock(&me->lock);
    local_item *message = (local_item *)fmo_match_post(&me->match, &receive->item);
    if (message) deliver(receive, message);
    pthread_mutex_unlock(&me->lock);
    return 0;
}

/* Adds this rank's data to an allreduce; the last rank to call computes the result for all. */
static int local_iallreduce(void *user, void *data, size_t count, fmo_gmpi_type type,
                            fmo_gmpi_op op, int comm, void **handle)
{
    local_rank *me = user;
    fmo_local *local = me->local;
    local_reduce *r = &local->reduce[comm];
    local_item *item = calloc(1, sizeof *item);
    *handle = item;
    if (!item) return 1;
    atomic_init(&item->done, 0);
    pthread_mutex_lock(&r->lock);
    r->data[me->rank] = data;
    r->item[me->rank] = item;
    if (++r->come == local->ranks) {
        const size_t bytes = count * fmo_gmpi_type_bytes(type);
        for (int s = 1; s < local->ranks; s++)
            fmo_local_combine(r->data[0], r->data[s], count, type, op);
        for (int s = 1; s < local->ranks; s++)
            if (bytes) memcpy(r->data[s], r->data[0], bytes);
        r->come = 0;
        for (int s = 0; s < local->ranks; s++) atomic_store(&r->item[s]->done, 1);
    }
    pthread_mutex_unlock(&r->lock);
    return 0;
}

static int local_test(void *user, void **handle, int *done)
{
    local_item *item = *handle;
    (void)user;
    const int state = item ? atomic_load(&item->done) : 1;
    *done = state != 0;
    if (state == 0) return 0;
    free(item);
    *handle = NULL;
    return state < 0;
}

static void local_abort(void *user)
{
    local_rank *me = user;
    int none = 0;
    atomic_compare_exchange_strong(&me->local->failed, &none, me->rank + 1);
}

static int local_aborted(void *user)
{
    const local_rank *me = user;
    const int failed = atomic_load(&me->local->failed);
    return failed == me->rank + 1 ? 0 : failed;
}

static void local_destroy(void *user)
{
    (void)user;
}

fmo_local *fmo_local_create(int ranks)
{
    fmo_local *local = calloc(1, sizeof *local);
    if (!local) return NULL;
    local->ranks = ranks;
    for (int r = 0; r < FMO_GMPI_RANKS_MAX; r++) {
        local->rank[r].local = local;
        local->rank[r].rank = r;
        pthread_mutex_init(&local->rank[r].lock, NULL);
    }
    for (int c = 0; c < FMO_GMPI_COMM_COUNT; c++) pthread_mutex_init(&local->reduce[c].lock, NULL);
    return local;
}

static void free_list(fmo_match_list *list)
{
    for (fmo_match_item *i = list->first, *next; i; i = next) {
        next = i->next;
        free(i);
    }
}

void fmo_local_destroy(fmo_local *local)
{
    if (!local) return;
    for (int r = 0; r < FMO_GMPI_RANKS_MAX; r++) {
        free_list(&local->rank[r].match.posted);
        free_list(&local->rank[r].match.came);
        pthread_mutex_destroy(&local->rank[r].lock);
    }
    for (int c = 0; c < FMO_GMPI_COMM_COUNT; c++) {
        if (local->reduce[c].come) /* an unfinished one */
            for (int r = 0; r < local->ranks; r++) free(local->reduce[c].item[r]);
        pthread_mutex_destroy(&local->reduce[c].lock);
    }
    free(local);
}

void fmo_local_net(fmo_local *local, int rank, fmo_gmpi_net *net)
{
    *net = (fmo_gmpi_net){.user = &local->rank[rank],
                          .rank = rank,
                          .size = local->ranks,
                          .isend = local_isend,
                          .irecv = local_irecv,
                          .iallreduce = local_iallreduce,
                          .test = local_test,
                          .abort = local_abort,
                          .aborted = local_aborted,
                          .destroy = local_destroy};
}

void fmo_local_lose(fmo_local *local, int (*lose)(void *, int, int, int, int), void *user)
{
    local->lose = lose;
    local->lose_user = user;
}
