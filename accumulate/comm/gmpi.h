/* gmpi: messages between ranks that are sent and received inside CUDA kernels, after GMPI (2016).
 * A rank is a GPU, or a group of blocks of one kernel. This header is the host's side: it makes a
 * group of ranks, memory and channels, and says what went wrong; kernels include <fmo/gmpi.cuh>.
 * Library: fmo_comm; between processes: <fmo/gmpi_mpi.h>. What holds and what does not:
 * docs/reference/gmpi.md.
 */
#ifndef FMO_GMPI_H
#define FMO_GMPI_H

#include <stddef.h>
#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How messages travel. X(name, text) */
#define FMO_GMPI_TRANSPORT_TABLE(X)                                                               \
    X(FMO_GMPI_PEER, "peer")   /* stores and flags over NVLink or PCIe, no host */                \
    X(FMO_GMPI_PROXY, "proxy") /* a host thread a rank, which polls a ring; MPI between processes \
                                */
/** How messages travel. */
typedef enum fmo_gmpi_transport {
#define FMO_GMPI_ROW(name, text) name,
    FMO_GMPI_TRANSPORT_TABLE(FMO_GMPI_ROW)
#undef FMO_GMPI_ROW
        FMO_GMPI_TRANSPORT_COUNT
} fmo_gmpi_transport;

/** The ranks of this process. */
typedef struct fmo_gmpi fmo_gmpi;

/** Set by fmo_gmpi_options_init; then change what you want. */
typedef struct fmo_gmpi_options {
    fmo_gmpi_transport transport; /**< FMO_GMPI_PEER */
    int ranks;                    /**< ranks of this process, 1 .. 16 [1] */
    /** [ranks] CUDA device of each rank; NULL: rank r has device r. Ranks of one device stand side
     * by side, and are block groups of one cooperative kernel. */
    const int *devices;
    /** 0: the paper's model, one context: calls of a rank follow each other (grid scope, or one
     * block that calls; one that takes over has waited for it). 1: several blocks of a rank may
     * call at the same time [1]. */
    int concurrent;
    size_t heap_bytes; /**< memory of a rank for fmo_gmpi_alloc and channels [64 MiB] */
    double timeout;    /**< seconds that a call in a kernel waits before all ranks end [10] */
    /** The proxy gives MPI device pointers. Off unless your MPI is CUDA-aware, and you know that it
     *  queues nothing behind a kernel that waits [0]. */
    int cuda_aware;
} fmo_gmpi_options;

/** Fill in the defaults, those in brackets; NULL is fine. */
FMO_API void fmo_gmpi_options_init(fmo_gmpi_options *options);

/** "peer", "proxy"; NULL outside the table. */
FMO_API const char *fmo_gmpi_transport_name(int transport);

/** A group whose ranks are all in this process. Allocates, enables peer access and, for the
 *  transport proxy, starts a host thread a rank, so call it before kernels run.
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_UNSUPPORTED (built without CUDA, no peer access
 * between two of the devices), FMO_ERR_NO_DEVICE, FMO_ERR_DEVICE, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_gmpi_create(const fmo_gmpi_options *options, fmo_gmpi **group,
                                   fmo_error *err);
/** Ends the host threads and frees all memory; NULL is fine. No kernel of the group may run. */
FMO_API void fmo_gmpi_destroy(fmo_gmpi *group);

/** Ranks of the whole group; those of this process are first .. first + here - 1. 0 of NULL. */
FMO_API int fmo_gmpi_size(const fmo_gmpi *group);
FMO_API int fmo_gmpi_first(const fmo_gmpi *group); /**< see fmo_gmpi_size */
FMO_API int fmo_gmpi_here(const fmo_gmpi *group);  /**< see fmo_gmpi_size */

/** CUDA device of a rank of this process; -1 for others. */
FMO_API int fmo_gmpi_device(const fmo_gmpi *group, int rank);

/** What kernels get: a `fmo_gmpi_buf *` in the memory of the rank's device, at which the ranks of
 *  that device stand one after the other, beginning with the first of them; NULL for ranks of other
 *  processes. */
FMO_API void *fmo_gmpi_bufs(const fmo_gmpi *group, int rank);

/** Memory of every rank, at the same offset from the beginning of its heap, 256-byte aligned and
 *  zero. All processes call it in the same order; freed with the group. Other ranks reach it
 *  directly, in kernels through fmo_gmpi_remote().
 *  @param[out] offset  bytes from the beginning of each heap
 *  @return FMO_OK, FMO_ERR_MEMORY when heap_bytes are used up */
FMO_API fmo_status fmo_gmpi_alloc(fmo_gmpi *group, size_t bytes, size_t *offset, fmo_error *err);
/** Device address of an offset in the heap of a rank of this process, for its own device; NULL for
 *  other ranks. */
FMO_API void *fmo_gmpi_address(const fmo_gmpi *group, int rank, size_t offset);

/** A persistent channel: messages of at most `bytes` from one rank to another, matched once, here,
 *  and double-buffered. All processes call it in the same order.
 *  @param[out] channel  what fmo_gmpi_channel_open takes in kernels of both ranks
 *  @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY (64 channels, or heap_bytes used up) */
FMO_API fmo_status fmo_gmpi_channel_create(fmo_gmpi *group, int source, int dest, size_t bytes,
                                           int *channel, fmo_error *err);

/** After kernels have ended: did a rank fail? The message names the rank, what it did, with whom,
 * and why it ended. Errors are sticky: all later calls of the group in kernels return at once.
 *  @return FMO_OK, FMO_ERR_DEVICE */
FMO_API fmo_status fmo_gmpi_check(const fmo_gmpi *group, fmo_error *err);

/** End all waits of all ranks, from any host thread, also while kernels run; NULL is fine. */
FMO_API void fmo_gmpi_abort(fmo_gmpi *group);

#ifdef __cplusplus
}
#endif
#endif
