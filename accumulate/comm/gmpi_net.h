/* Interface of a network for gmpi's proxies, which moves host memory between ranks.
 * Implementations are MPI (<fmo/gmpi_mpi.h>) and threads of one process (net_local.h); any other
 * that preserves the order of messages can be used. Functions are called by one thread at a time
 * for each rank. */
#ifndef FMO_GMPI_NET_H
#define FMO_GMPI_NET_H

#include <stddef.h>
#include <fmo/gmpi.h>
#include <fmo/gmpi_wire.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One rank's end of a network. Functions return 0, or nonzero after an error, which aborts all
 * ranks. */
typedef struct fmo_gmpi_net {
    void *user;    /**< passed to every function */
    int rank;      /**< this rank, from 0 */
    int size;      /**< ranks of the network */
    int node_rank; /**< index of this rank among those of its machine */
    /** Sends. Messages of one source, tag and communicator (0 .. FMO_GMPI_COMM_COUNT - 1) must
     * not overtake each other. The data belong to the network until test() reports the handle as
     * done. */
    int (*isend)(void *user, const void *data, size_t bytes, int dest, int tag, int comm,
                 void **handle);
    /** Receives. source FMO_GMPI_ANY_SOURCE and tag FMO_GMPI_ANY_TAG match all messages. */
    int (*irecv)(void *user, void *data, size_t bytes, int source, int tag, int comm,
                 void **handle);
    /** Allreduce in place; all ranks get the same bits. */
    int (*iallreduce)(void *user, void *data, size_t count, fmo_gmpi_type type, fmo_gmpi_op op,
                      int comm, void **handle);
    /** *done: 1 if the operation is complete; the handle has then been freed. */
    int (*test)(void *user, void **handle, int *done);
    /** Notifies all other ranks that this one failed; must not wait. */
    void (*abort)(void *user);
    /** Returns 0, or 1 + the number of another rank that has failed. */
    int (*aborted)(void *user);
    /** Set-up, collective: all[r] = mine of rank r, `bytes` each. NULL if all ranks are in one
     * process. */
    int (*exchange)(void *user, const void *mine, void *all, size_t bytes);
    /** Frees the network; does not wait for other ranks if a rank has failed. */
    void (*destroy)(void *user);
} fmo_gmpi_net;

/** Creates a group with one rank in this process and the others behind the network. The group
 * destroys the network with itself, and also if this call fails. options->ranks must be 1.
 * @return as fmo_gmpi_create */
FMO_API fmo_status fmo_gmpi_create_over(const fmo_gmpi_options *options, const fmo_gmpi_net *net,
                                        fmo_gmpi **group, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
