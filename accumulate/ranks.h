/* Processes that share a build, rank 0 and those that help it, and what carries numbers between
 * them. MPI is one such network (<fmo/ranks_mpi.h>); whoever has another fills in the struct. What
 * is shared and how: docs/how-to/mpi.md. */
#ifndef FMO_RANKS_H
#define FMO_RANKS_H

#include <stddef.h>
#include <stdint.h>
#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One rank's end of a network. Functions return 0, or not 0 after a fault, and then ever after:
 * the ranks cannot go on. They are called by one thread at a time. */
typedef struct fmo_ranks {
    void *user;    /**< handed to every function */
    int rank;      /**< of this end, from 0 */
    int size;      /**< ranks in all */
    int node_rank; /**< number of this rank among those of its host */
    int node_size; /**< ranks of this host */
    int cores;     /**< processors for this rank: those that it may use, divided by the ranks of its
                        host that may use the same */
    char host[64]; /**< its name, for messages */
    /** Collective: data of rank 0 to all. */
    int (*broadcast)(void *user, void *data, size_t bytes);
    /** Collective: data of the lowest rank that says so to all; *who: that rank, or -1 if nobody
     *  did, and then data stays as it is. */
    int (*first)(void *user, int mine, void *data, size_t bytes, int *who);
    /** Collective: sums over all ranks, in place on rank 0; data of the others is lost.
     *  @param[in,out] data  [count] int64_t if `integers`, else double */
    int (*sum)(void *user, void *data, size_t count, int integers);
    /** To rank 0, by another; and on rank 0, from that one, of the same size. */
    int (*send)(void *user, const void *data, size_t bytes);
    int (*receive)(void *user, int rank, void *data, size_t bytes); /**< see send */
    /** Rank 0: work items begin with 0 again. Nobody takes one meanwhile. */
    int (*restart)(void *user);
    /** The next work item, 0, 1, 2, ...: each goes to one caller of one rank. */
    int (*next)(void *user, int64_t *work_item);
    /** After a fault: end all ranks, this one included, with this exit code, 1 or more. Not called
     *  by the library. */
    void (*abort)(void *user, int exit_code);
    /** Give everything back; collective where the network says so. */
    void (*destroy)(void *user);
    int64_t plans; /**< the library's: plans made so far; 0 at the beginning */
} fmo_ranks;

/** All ranks hear of the first failure: collective.
 *  @param[in] status  of this rank
 *  @param[in,out] err  of this rank, or empty; where another rank failed, its error, with its
 *                      number and host in front
 *  @return FMO_OK if no rank failed, the status of the lowest rank that did, or FMO_ERR_DEVICE */
FMO_API fmo_status fmo_ranks_agree(const fmo_ranks *ranks, fmo_status status, fmo_error *err);

/** Bytes of rank 0 to all, however many: collective.
 *  @param[in,out] data  [bytes]; may be NULL if there are none
 *  @return FMO_OK; FMO_ERR_ARGUMENT; FMO_ERR_DEVICE after a fault of the network */
FMO_API fmo_status fmo_ranks_broadcast(const fmo_ranks *ranks, void *data, size_t bytes,
                                       fmo_error *err);

/** What rank 0 does with the bytes of another rank. What goes wrong in it is for the caller to
 *  keep, and to agree on. */
typedef void fmo_ranks_take(int rank, const void *data, size_t bytes, void *user);

/** What the others have, to rank 0, one after the other in the order of their numbers: collective.
 *  @param[in] status  of this rank; where one has failed nothing is sent, as in fmo_ranks_agree
 *  @param[in] data  [bytes] of this rank, not used on rank 0; may be NULL if there are none
 *  @param[in] take  on rank 0: called for each of the others
 *  @param[in] user  handed to it
 *  @param[in,out] err  of this rank, or empty, as in fmo_ranks_agree
 *  @return FMO_OK; FMO_ERR_ARGUMENT; FMO_ERR_MEMORY and what any rank gave, on all ranks;
 *          FMO_ERR_DEVICE after a fault of the network */
FMO_API fmo_status fmo_ranks_collect(const fmo_ranks *ranks, fmo_status status, const void *data,
                                     size_t bytes, fmo_ranks_take *take, void *user,
                                     fmo_error *err);

/** The GPU of this rank: collective. Ranks that see the same GPUs have one each, in the order of
 *  their numbers; a rank that sees its own alone, as batch systems have it, has that.
 *  @param[out] device  its number, for fmo_fock_options, as CUDA counts what this process sees:
 *                      fmo_gpu_num() or more where ranks are too many; -1 where it sees none
 *  @return FMO_OK; FMO_ERR_ARGUMENT; FMO_ERR_MEMORY; FMO_ERR_DEVICE after a fault of the network */
FMO_API fmo_status fmo_ranks_gpu(const fmo_ranks *ranks, int *device, fmo_error *err);

#ifdef __cplusplus
}
#endif
#endif
