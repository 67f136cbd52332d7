/* MPI as a network of gmpi (gmpi_net.h), in the library fmo_mpi. Each communicator of gmpi is a
 * copy of MPI_COMM_WORLD; MPI matches messages and preserves their order. MPI errors are returned
 * as codes, so that a proxy can report which rank failed. */
#define _GNU_SOURCE
#include <fmo/gmpi_mpi.h>
#include "group.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

typedef struct mpi_net {
    int rank, size, failed;
    MPI_Comm comm[FMO_GMPI_COMM_COUNT];
    MPI_Request control; /* receives the message of a rank that failed */
    int control_word, my_word, received_word;
    MPI_Request notified[FMO_GMPI_RANKS_MAX];
} mpi_net;

static int start(MPI_Request request, void **handle)
{
    MPI_Request *kept = malloc(sizeof *kept);
    if (!kept) return 1;
    *kept = request;
    *handle = kept;
    return 0;
}

static int mpi_isend(void *user, const void *data, size_t bytes, int dest, int tag, int comm,
                     void **handle)
{
    const mpi_net *n = user;
    MPI_Request request;
    *handle = NULL;
    if (bytes > INT_MAX ||
        MPI_Isend(data, (int)bytes, MPI_BYTE, dest, tag, n->comm[comm], &request) != MPI_SUCCESS)
        return 1;
    return start(request, handle);
}

static int mpi_irecv(void *user, void *data, size_t bytes, int source, int tag, int comm,
                     void **handle)
{
    const mpi_net *n = user;
    MPI_Request request;
    *handle = NULL;
    if (source == FMO_GMPI_ANY_SOURCE) source = MPI_ANY_SOURCE;
    if (tag == FMO_GMPI_ANY_TAG) tag = MPI_ANY_TAG;
    if (bytes > INT_MAX ||
        MPI_Irecv(data, (int)bytes, MPI_BYTE, source, tag, n->comm[comm], &request) != MPI_SUCCESS)
        return 1;
    return start(request, handle);
}

static int mpi_iallreduce(void *user, void *data, size_t count, fmo_gmpi_type type, fmo_gmpi_op op,
                          int comm, void **handle)
{
    const mpi_net *n = user;
    const MPI_Datatype types[FMO_GMPI_TYPE_COUNT] = {MPI_BYTE, MPI_INT32_T, MPI_INT64_T, MPI_FLOAT,
                                                     MPI_DOUBLE};
    const MPI_Op ops[FMO_GMPI_OP_COUNT] = {MPI_SUM, MPI_MAX, MPI_MIN};
    MPI_Request request;
    *handle = NULL;
    if (count > INT_MAX || MPI_Iallreduce(MPI_IN_PLACE, data, (int)count, types[type], ops[op],
                                          n->comm[comm], &request) != MPI_SUCCESS)
        return 1;
    return start(request, handle);
}

static int mpi_test(void *user, void **handle, int *done)
{
    (void)user;
    *done = 1;
    if (!*handle) return 0;
    const int fault = MPI_Test(*handle, done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    if (!fault && !*done) return 0;
    free(*handle);
    *handle = NULL;
    return fault;
}

static void mpi_abort(void *user)
{
    mpi_net *n = user;
    if (n->failed) return;
    n->failed = 1;
    n->my_word = n->rank + 1;
    for (int r = 0; r < n->size; r++)
        if (r != n->rank)
            MPI_Isend(&n->my_word, 1, MPI_INT, r, 0, n->comm[FMO_GMPI_COMM_CONTROL],
                      &n->notified[r]);
}

static int mpi_aborted(void *user)
{
    mpi_net *n = user;
    int done = 0;
    if (n->received_word) return n->received_word;
    if (MPI_Test(&n->control, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done) return 0;
    n->failed = 1;
    return n->received_word = n->control_word;
}

static int mpi_exchange(void *user, const void *mine, void *all, size_t bytes)
{
    const mpi_net *n = user;
    return bytes > INT_MAX || MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                                            n->comm[FMO_GMPI_COMM_CONTROL]) != MPI_SUCCESS;
}

static void mpi_destroy(void *user)
{
    mpi_net *n = user;
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized && !n->failed) { /* freeing might wait for ranks that have ended */
        if (n->control != MPI_REQUEST_NULL) {
            MPI_Cancel(&n->control);
            MPI_Wait(&n->control, MPI_STATUS_IGNORE);
        }
        for (int c = 0; c < FMO_GMPI_COMM_COUNT; c++)
            if (n->comm[c] != MPI_COMM_NULL) MPI_Comm_free(&n->comm[c]);
        free(n);
    } /* After a failure MPI may still write into *n, so it is not freed. */
}

/* Returns the index of this rank among those of its machine. */
static int node_rank(void)
{
    MPI_Comm node;
    int rank = 0;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) !=
        MPI_SUCCESS)
        return 0;
    MPI_Comm_rank(node, &rank);
    MPI_Comm_free(&node);
    return rank;
}

/* Copies the communicators and starts the receive for failures (gmpi_mpi.h). */
fmo_status fmo_gmpi_net_mpi(fmo_gmpi_net *net, fmo_error *err)
{
    int initialized = 0, finalized = 0, level = MPI_THREAD_SINGLE;
    FMO_COMM_NEED(net);
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (initialized && !finalized) MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED)
        return fmo_error_set(err, FMO_ERR_UNSUPPORTED,
                             "gmpi: the proxy thread calls MPI; first call MPI_Init_thread with "
                             "MPI_THREAD_MULTIPLE or MPI_THREAD_SERIALIZED");
    mpi_net *n = calloc(1, sizeof *n);
    if (!n) return fmo_error_set(err, FMO_ERR_MEMORY, "gmpi: no memory for its network");
    MPI_Comm_rank(MPI_COMM_WORLD, &n->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n->size);
    if (n->size > FMO_GMPI_RANKS_MAX) {
        fmo_error_set(err, FMO_ERR_ARGUMENT, "gmpi: %d processes: expected at most %d", n->size,
                      FMO_GMPI_RANKS_MAX);
        free(n);
        return FMO_ERR_ARGUMENT;
    }
    for (int c = 0; c < FMO_GMPI_COMM_COUNT; c++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &n->comm[c]);
        MPI_Comm_set_errhandler(n->comm[c], MPI_ERRORS_RETURN);
    }
    for (int r = 0; r < FMO_GMPI_RANKS_MAX; r++) n->notified[r] = MPI_REQUEST_NULL;
    MPI_Irecv(&n->control_word, 1, MPI_INT, MPI_ANY_SOURCE, 0, n->comm[FMO_GMPI_COMM_CONTROL],
              &n->control);
    *net = (fmo_gmpi_net){.user = n,
                          .rank = n->rank,
                          .size = n->size,
                          .node_rank = node_rank(),
                          .isend = mpi_isend,
                          .irecv = mpi_irecv,
                          .iallreduce = mpi_iallreduce,
                          .test = mpi_test,
                          .abort = mpi_abort,
                          .aborted = mpi_aborted,
                          .exchange = mpi_exchange,
                          .destroy = mpi_destroy};
    return FMO_OK;
}

fmo_status fmo_gmpi_create_mpi(const fmo_gmpi_options *options, fmo_gmpi **group, fmo_error *err)
{
    fmo_gmpi_net net;
    FMO_COMM_NEED(options);
    FMO_COMM_NEED(group);
    const fmo_status status = fmo_gmpi_net_mpi(&net, err);
    return status == FMO_OK ? fmo_gmpi_create_over(options, &net, group, err) : status;
}
