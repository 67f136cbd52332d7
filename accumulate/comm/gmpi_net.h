/* A network for gmpi's proxies: what moves host memory between ranks. MPI is one
 * (<fmo/gmpi_mpi.h>), threads of one process another (inside fmo_comm); anything else that keeps
 * the order of messages can be a third. Functions are called by one thread at a time for each rank.
 */
#ifndef FMO_GMPI_NET_H
#define FMO_GMPI_NET_H

#include <stddef.h>
#include <fmo/gmpi.h>
#include <fmo/gmpi_wire.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One rank's end of a network. Calls return 0, or not 0 after a fault, which ends all ranks. */
typedef struct fmo_gmpi_net {
    void *user;    /**< handed to every function */
    int rank;      /**< of this end, from 0 */
    int size;      /**< ranks of the network */
    int node_rank; /**< number of this rank among those of its machine */
    /** Messages of one source, tag and communicator (0 .. FMO_GMPI_COMM_COUNT - 1) never overtake.
     *  Memory belongs to the network until test() says that the handle is done. */
    int (*isend)(void *user, const void *data, size_t bytes, int dest, int tag, int comm,
                 void **handle);
    /** source FMO_GMPI_ANY_SOURCE and tag FMO_GMPI_ANY_TAG match all. */
    int (*irecv)(void *user, void *data, size_t bytes, int source, int tag, int comm,
                 void **handle);
    /** In place, over all ranks; the same bits on every rank. */
    int (*iallreduce)(void *user, void *data, size_t count, fmo_gmpi_type type, fmo_gmpi_op op,
                      int comm, void **handle);
    /** *done: 1 if the handle is done, and gone. */
    int (*test)(void *user, void **handle, int *done);
    /** Tell all other ranks that this one failed; must not wait. */
    void (*abort)(void *user);
    /** Has another rank told? 0, or its number + 1. */
    int (*aborted)(void *user);
    /** Set-up, waits for all ranks: all[r] = mine of rank r, `bytes` each. NULL
     *  where all ranks are in one process. */
    int (*exchange)(void *user, const void *mine, void *all, size_t bytes);
    /** Give everything back; waits for nobody if a rank has failed. */
    void (*destroy)(void *user);
} fmo_gmpi_net;

/** A group with one rank in this process and the others behind the network, which the group
 * destroys at its end, or at once if this fails. options->ranks must be 1.
 *  @return as fmo_gmpi_create */
FMO_API fmo_status fmo_gmpi_create_over(const fmo_gmpi_options *options, const fmo_gmpi_net *net,
                                        fmo_gmpi **group, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
