/* MPI as the network of ranks that share builds (<fmo/ranks.h>). Collectives are nonblocking and
 * tested, so that a rank that waits long sleeps between tests; matrices use blocking calls after
 * all ranks have arrived. The counter of work items is a number in an MPI window of rank 0.
 * Between hosts, MPI may need rank 0 to make progress when others access the window. It does so
 * whenever it calls MPI, and a thread calls MPI regularly while rank 0 computes. */
#define _GNU_SOURCE
#include <fmo/ranks_mpi.h>
#include "base/arguments.h"
#include "base/quiet_thread.h"

#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct ranks_net {
    MPI_Comm comm;
    MPI_Win window;
    int64_t *counter; /* on rank 0 */
    int rank, size, fault;
    int ends_mpi;         /* 1: MPI was initialised here */
    pthread_mutex_t lock; /* one thread at a time calls MPI */
    pthread_t answerer;
    int answers; /* 1: the thread `answerer` runs; 0 ends it. Protected by `lock` */
} ranks_net;

/* Records an MPI error, which is permanent. Returns nonzero after an error. */
static int fault(ranks_net *n, int code)
{
    if (code != MPI_SUCCESS) n->fault = 1;
    return n->fault;
}

/* Begin and end of a call of the network, which holds the lock. */
static int enter(ranks_net *n)
{
    pthread_mutex_lock(&n->lock);
    return n->fault;
}

static int leave(ranks_net *n, int result)
{
    pthread_mutex_unlock(&n->lock);
    return result;
}

/* Pauses between two tests: yields at first, and sleeps after many tests, because other processes
 * may need the processor. */
static void look_again(int looks)
{
    enum { LOOKS = 2000 };
    const struct timespec nap = {0, 100000};
    if (looks < LOOKS)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

static int wait_for(ranks_net *n, int code, MPI_Request *request)
{
    int done = 0;
    if (fault(n, code)) return 1;
    for (int look = 0; !done; look++) {
        if (fault(n, MPI_Test(request, &done, MPI_STATUS_IGNORE))) return 1;
        if (!done) look_again(look);
    }
    return 0;
}

/* Waits until a rank begins to send. */
static int wait_for_message(ranks_net *n, int rank)
{
    int arrived = 0;
    for (int look = 0; !arrived; look++) {
        if (fault(n, MPI_Iprobe(rank, 0, n->comm, &arrived, MPI_STATUS_IGNORE))) return 1;
        if (!arrived) look_again(look);
    }
    return 0;
}

/* A nonblocking collective progresses only in the tests of wait_for, and a long one needs
 * hundreds of them, between which the rank sleeps. Ranks therefore synchronise first (meet) and
 * then use a blocking call for more than LONG_BYTES. This limit was chosen, not measured. */
enum { LONG_BYTES = 1 << 14, GO = 1 /* a tag */ };

static int meet(ranks_net *n)
{
    MPI_Request request;
    return wait_for(n, MPI_Ibarrier(n->comm, &request), &request);
}

static int mpi_broadcast(void *user, void *data, size_t bytes)
{
    ranks_net *n = user;
    MPI_Request request;
    if (enter(n) || bytes > INT_MAX) return leave(n, 1);
    if (bytes > LONG_BYTES)
        return leave(n, meet(n) || fault(n, MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, n->comm)));
    return leave(
        n, wait_for(n, MPI_Ibcast(data, (int)bytes, MPI_BYTE, 0, n->comm, &request), &request));
}

static int mpi_first(void *user, int mine, void *data, size_t bytes, int *who)
{
    ranks_net *n = user;
    MPI_Request request;
    int first = INT_MAX, own = mine ? n->rank : INT_MAX;
    *who = -1;
    if (enter(n) || bytes > INT_MAX) return leave(n, 1);
    if (wait_for(n, MPI_Iallreduce(&own, &first, 1, MPI_INT, MPI_MIN, n->comm, &request), &request))
        return leave(n, 1);
    if (first == INT_MAX) return leave(n, 0);
    *who = first;
    return leave(
        n, wait_for(n, MPI_Ibcast(data, (int)bytes, MPI_BYTE, first, n->comm, &request), &request));
}

static int mpi_sum(void *user, void *data, size_t count, int integers)
{
    ranks_net *n = user;
    MPI_Request request;
    const MPI_Datatype type = integers ? MPI_INT64_T : MPI_DOUBLE;
    if (enter(n) || count > INT_MAX) return leave(n, 1);
    if (count * sizeof(double) > LONG_BYTES)
        return leave(n, meet(n) || fault(n, MPI_Reduce(n->rank == 0 ? MPI_IN_PLACE : data,
                                                       n->rank == 0 ? data : NULL, (int)count, type,
                                                       MPI_SUM, 0, n->comm)));
    return leave(
        n, wait_for(n,
                    MPI_Ireduce(n->rank == 0 ? MPI_IN_PLACE : data, n->rank == 0 ? data : NULL,
                                (int)count, type, MPI_SUM, 0, n->comm, &request),
                    &request));
}

/* Long data are sent by blocking calls after the receiver has sent GO. */
static int mpi_send(void *user, const void *data, size_t bytes)
{
    ranks_net *n = user;
    MPI_Request request;
    if (enter(n) || bytes > INT_MAX) return leave(n, 1);
    if (bytes <= LONG_BYTES)
        return leave(n, wait_for(n, MPI_Isend(data, (int)bytes, MPI_BYTE, 0, 0, n->comm, &request),
                                 &request));
    return leave(n, wait_for(n, MPI_Irecv(NULL, 0, MPI_BYTE, 0, GO, n->comm, &request), &request) ||
                        fault(n, MPI_Send(data, (int)bytes, MPI_BYTE, 0, 0, n->comm)));
}

static int mpi_receive(void *user, int rank, void *data, size_t bytes)
{
    ranks_net *n = user;
    MPI_Request request;
    if (enter(n) || bytes > INT_MAX) return leave(n, 1);
    if (bytes <= LONG_BYTES)
        return leave(n,
                     wait_for(n, MPI_Irecv(data, (int)bytes, MPI_BYTE, rank, 0, n->comm, &request),
                              &request));
    return leave(
        n, fault(n, MPI_Send(NULL, 0, MPI_BYTE, rank, GO, n->comm)) || wait_for_message(n, rank) ||
               fault(n, MPI_Recv(data, (int)bytes, MPI_BYTE, rank, 0, n->comm, MPI_STATUS_IGNORE)));
}

static int mpi_restart(void *user)
{
    ranks_net *n = user;
    const int64_t zero = 0;
    int64_t before;
    if (enter(n)) return leave(n, 1);
    return leave(
        n, fault(n, MPI_Fetch_and_op(&zero, &before, MPI_INT64_T, 0, 0, MPI_REPLACE, n->window)) ||
               fault(n, MPI_Win_flush(0, n->window)));
}

static int mpi_next(void *user, int64_t *work_item)
{
    ranks_net *n = user;
    const int64_t one = 1;
    int arrived;
    if (enter(n)) return leave(n, 1);
    /* Between hosts, rank 0 may have to make progress for others; it does so in MPI calls. */
    return leave(
        n,
        fault(n, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, n->comm, &arrived, MPI_STATUS_IGNORE)) ||
            fault(n, MPI_Fetch_and_op(&one, work_item, MPI_INT64_T, 0, 0, MPI_SUM, n->window)) ||
            fault(n, MPI_Win_flush(0, n->window)));
}

/* Body of the thread that lets MPI make progress for other ranks while rank 0 computes. */
static void *answer(void *user)
{
    const struct timespec nap = {0, 1000000};
    ranks_net *n = user;
    int arrived, more = 1;
    while (more) {
        nanosleep(&nap, NULL);
        if (pthread_mutex_trylock(&n->lock) != 0) continue; /* another thread is calling MPI */
        more = n->answers && !n->fault;
        if (more)
            (void)fault(
                n, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, n->comm, &arrived, MPI_STATUS_IGNORE));
        pthread_mutex_unlock(&n->lock);
    }
    return NULL;
}

/* Starts the thread on rank 0. If it cannot be started, other ranks may wait longer for work
 * items. */
static void begin_answers(ranks_net *n)
{
    if (n->rank != 0 || n->size < 2) return;
    n->answers = 1;
    if (!fmo_start_quiet_thread(&n->answerer, answer, n)) n->answers = 0;
}

static void end_answers(ranks_net *n)
{
    pthread_mutex_lock(&n->lock);
    const int answers = n->answers;
    n->answers = 0;
    pthread_mutex_unlock(&n->lock);
    if (answers) pthread_join(n->answerer, NULL);
}

static void mpi_abort(void *user, int exit_code)
{
    ranks_net *n = user;
    end_answers(n);
    MPI_Abort(n->comm, exit_code);
}

static void mpi_destroy(void *user)
{
    ranks_net *n = user;
    int finalized = 0;
    end_answers(n);
    MPI_Finalized(&finalized);
    if (!finalized && !n->fault) {
        if (n->window != MPI_WIN_NULL) {
            MPI_Win_unlock_all(n->window);
            MPI_Win_free(&n->window);
        }
        if (n->comm != MPI_COMM_NULL) MPI_Comm_free(&n->comm);
        if (n->ends_mpi) MPI_Finalize();
    }
    pthread_mutex_destroy(&n->lock);
    free(n);
}

/* Returns whether `good` is true on all ranks; collective. */
static int on_all(MPI_Comm comm, int good)
{
    int all = 0;
    return MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

/* Counts the ranks of this host and the processors for this rank: those that it may use, divided
 * by the ranks that may use the same. */
static int look_around(fmo_ranks *ranks, MPI_Comm comm)
{
    MPI_Comm host = MPI_COMM_NULL;
    cpu_set_t mine, *all = NULL;
    int same = 0, good;
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_SET(0, &mine);
    if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, ranks->rank, MPI_INFO_NULL, &host) !=
        MPI_SUCCESS)
        return 0;
    good = MPI_Comm_rank(host, &ranks->node_rank) == MPI_SUCCESS &&
           MPI_Comm_size(host, &ranks->node_size) == MPI_SUCCESS;
    if (good) all = malloc((size_t)ranks->node_size * sizeof *all);
    good = on_all(comm, all != NULL) && MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all,
                                                      sizeof mine, MPI_BYTE, host) == MPI_SUCCESS;
    for (int r = 0; good && r < ranks->node_size; r++) same += CPU_EQUAL(&mine, &all[r]) != 0;
    if (good) ranks->cores = CPU_COUNT(&mine) / same > 1 ? CPU_COUNT(&mine) / same : 1;
    free(all);
    MPI_Comm_free(&host);
    return good;
}

/* Makes the counter, a number on rank 0 that all ranks may access at any time. */
static int make_counter(ranks_net *n)
{
    const MPI_Aint bytes = n->rank == 0 ? (MPI_Aint)sizeof *n->counter : 0;
    n->window = MPI_WIN_NULL;
    if (MPI_Win_allocate(bytes, sizeof *n->counter, MPI_INFO_NULL, n->comm, &n->counter,
                         &n->window) != MPI_SUCCESS)
        return 0;
    MPI_Win_set_errhandler(n->window, MPI_ERRORS_RETURN);
    return MPI_Win_lock_all(0, n->window) == MPI_SUCCESS && !mpi_restart(n) &&
           MPI_Barrier(n->comm) == MPI_SUCCESS;
}

/* Initialises MPI if necessary, copies the communicator, and makes the counter and the progress
 * thread. On error the network is destroyed. */
fmo_status fmo_ranks_mpi(fmo_ranks *ranks, fmo_error *err)
{
    int initialized = 0, level = MPI_THREAD_SINGLE, done = 0;
    fmo_status status = FMO_CHECK_ARGUMENTS("fmo_ranks_mpi", err, FMO_GIVEN(ranks));
    if (status != FMO_OK) return status;
    MPI_Initialized(&initialized);
    if (!initialized && MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return fmo_error_set(err, FMO_ERR_DEVICE, "MPI_Init_thread failed");
    ranks_net *n = calloc(1, sizeof *n);
    if (!on_all(MPI_COMM_WORLD, n != NULL)) {
        free(n);
        MPI_Finalized(&done);
        if (!initialized && !done) MPI_Finalize();
        return fmo_error_set(err, FMO_ERR_MEMORY, "a rank has no memory for the network of ranks");
    }
    pthread_mutex_init(&n->lock, NULL);
    n->ends_mpi = !initialized;
    n->comm = MPI_COMM_NULL;
    n->window = MPI_WIN_NULL;
    *ranks = (fmo_ranks){.user = n,
                         .broadcast = mpi_broadcast,
                         .first = mpi_first,
                         .sum = mpi_sum,
                         .send = mpi_send,
                         .receive = mpi_receive,
                         .restart = mpi_restart,
                         .next = mpi_next,
                         .abort = mpi_abort,
                         .destroy = mpi_destroy};
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED)
        status = fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                               "this MPI grants thread level %d, expected MPI_THREAD_SERIALIZED or "
                               "more",
                               level);
    if (status == FMO_OK && MPI_Comm_dup(MPI_COMM_WORLD, &n->comm) != MPI_SUCCESS)
        status = fmo_error_set(err, FMO_ERR_DEVICE, "MPI_Comm_dup failed");
    if (status == FMO_OK) {
        MPI_Comm_set_errhandler(n->comm, MPI_ERRORS_RETURN);
        MPI_Comm_rank(n->comm, &ranks->rank);
        MPI_Comm_size(n->comm, &ranks->size);
        n->rank = ranks->rank;
        n->size = ranks->size;
        if (gethostname(ranks->host, sizeof ranks->host - 1) != 0) strcpy(ranks->host, "?");
        if (!look_around(ranks, n->comm) || !make_counter(n))
            status = fmo_error_set(err, FMO_ERR_DEVICE, "rank %d on %s: MPI failed", ranks->rank,
                                   ranks->host);
    }
    if (status == FMO_OK) begin_answers(n);
    if (status != FMO_OK) {
        n->fault |= status == FMO_ERR_DEVICE; /* no collective calls from here on */
        mpi_destroy(n);
        ranks->user = NULL;
    }
    return status;
}
