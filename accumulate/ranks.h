/* A network of processes (ranks) that share builds: rank 0 and the ranks that serve it. MPI is one
 * such network (<fmo/ranks_mpi.h>); for another one, fill in the struct fmo_ranks. What is shared
 * and how: docs/how-to/mpi.md. */
#ifndef FMO_RANKS_H
#define FMO_RANKS_H

#include <stddef.h>
#include <stdint.h>
#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One rank's end of a network. Functions return 0, or nonzero after a failure; after that all
 *  calls fail and the ranks cannot continue. Only one thread at a time calls them. */
typedef struct fmo_ranks {
    void *user;    /**< passed to every function */
    int rank;      /**< number of this rank, from 0 */
    int size;      /**< number of ranks */
    int node_rank; /**< number of this rank among those of its host */
    int node_size; /**< number of ranks on this host */
    int cores;     /**< processors for this rank: those that it may use, divided by the number of
                        ranks on its host that may use the same */
    char host[64]; /**< name of the host, for messages */
    /** Collective: copies data of rank 0 to all ranks. */
    int (*broadcast)(void *user, void *data, size_t bytes);
    /** Collective: copies data of the lowest rank with mine != 0 to all ranks. *who is the number
     *  of that rank, or -1 if there is none; then data is unchanged. */
    int (*first)(void *user, int mine, void *data, size_t bytes, int *who);
    /** Collective: sums over all ranks, in place on rank 0; on other ranks data is overwritten.
     *  @param[in,out] data [count] int64_t if `integers`, else double */
    int (*sum)(void *user, void *data, size_t count, int integers);
    /** Point to point: another rank calls send, rank 0 calls receive with that rank's number and
     *  the same size. */
    int (*send)(void *user, const void *data, size_t bytes);
    int (*receive)(void *user, int rank, void *data, size_t bytes); /**< see send */
    /** Rank 0: resets the counter of work items to 0, while no rank takes one. */
    int (*restart)(void *user);
    /** Takes the next work item: 0, 1, 2, ..., each returned once among all ranks. */
    int (*next)(void *user, int64_t *work_item);
    /** After a failure: ends all ranks, including this one, with this exit code (1 or more). Not
     *  called by the library. */
    void (*abort)(void *user, int exit_code);
    /** Frees all resources; collective if the network requires it. */
    void (*destroy)(void *user);
    int64_t plans; /**< used by the library: number of plans made so far; initially 0 */
} fmo_ranks;

/** Collective: informs all ranks of the first failure.
 *  @param[in] status of this rank
 *  @param[in,out] err error of this rank, or empty; if another rank failed, its error, preceded by
 *          its number and host
 *  @return FMO_OK if no rank failed, the status of the lowest rank that did, or FMO_ERR_DEVICE */
FMO_API fmo_status fmo_ranks_agree(const fmo_ranks *ranks, fmo_status status, fmo_error *err);

/** Collective: copies any number of bytes of rank 0 to all ranks.
 *  @param[in,out] data [bytes]; may be NULL if bytes is 0
 *  @return FMO_OK; FMO_ERR_ARGUMENT; FMO_ERR_DEVICE after a failure of the network */
FMO_API fmo_status fmo_ranks_broadcast(const fmo_ranks *ranks, void *data, size_t bytes,
                                       fmo_error *err);

/** Called on rank 0 with the bytes of another rank. It cannot report errors: the caller has to
 *  record them and to agree on them afterwards. */
typedef void fmo_ranks_take(int rank, const void *data, size_t bytes, void *user);

/** Collective: sends the data of all other ranks to rank 0, in the order of their numbers.
 *  @param[in] status of this rank; if a rank has failed nothing is sent, as in fmo_ranks_agree
 *  @param[in] data [bytes] of this rank, ignored on rank 0; may be NULL if bytes is 0
 *  @param[in] take on rank 0: called for each of the other ranks
 *  @param[in] user passed to take
 *  @param[in,out] err error of this rank, or empty, as in fmo_ranks_agree
 *  @return FMO_OK; FMO_ERR_ARGUMENT; FMO_ERR_MEMORY or the first failing status of any rank, on all
 *          ranks; FMO_ERR_DEVICE after a failure of the network */
FMO_API fmo_status fmo_ranks_collect(const fmo_ranks *ranks, fmo_status status, const void *data,
                                     size_t bytes, fmo_ranks_take *take, void *user,
                                     fmo_error *err);

/** Collective: selects the GPU of this rank. Ranks that see the same GPUs take one each, in the
 *  order of their numbers; a rank that is the only one to see a GPU, as set up by batch systems,
 *  takes that one.
 *  @param[out] device CUDA device number for fmo_fock_options; fmo_gpu_num() or more if there are
 *          more ranks than GPUs; -1 if the rank sees no GPU
 *  @return FMO_OK; FMO_ERR_ARGUMENT; FMO_ERR_MEMORY; FMO_ERR_DEVICE after a failure of the network
 */
FMO_API fmo_status fmo_ranks_gpu(const fmo_ranks *ranks, int *device, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
