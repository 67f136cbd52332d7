/* gmpi: messages between ranks that are sent and received inside CUDA kernels, after GMPI (2016).
 * A rank is a GPU, or a group of blocks of one kernel. This header is the host's interface: it
 * creates a group of ranks, their memory and channels, and reports errors. Kernels include
 * <fmo/gmpi.cuh>. The library is fmo_comm; for several processes see <fmo/gmpi_mpi.h>. Guarantees
 * and limits: docs/reference/gmpi.md. */
#ifndef FMO_GMPI_H
#define FMO_GMPI_H

#include <stddef.h>
#include <fmo/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How messages are transported. X(name, text) */
#define FMO_GMPI_TRANSPORT_TABLE(X)                                                         \
    X(FMO_GMPI_PEER, "peer")   /* stores and flags over NVLink or PCIe, without the host */ \
    X(FMO_GMPI_PROXY, "proxy") /* a host thread per rank, which polls a ring; MPI between   \
                                * processes */
/** How messages are transported. */
typedef enum fmo_gmpi_transport {
#define FMO_GMPI_ROW(name, text) name,
    FMO_GMPI_TRANSPORT_TABLE(FMO_GMPI_ROW)
#undef FMO_GMPI_ROW
        FMO_GMPI_TRANSPORT_COUNT
} fmo_gmpi_transport;

/** The ranks of this process. */
typedef struct fmo_gmpi fmo_gmpi;

/** Options of a group. Call fmo_gmpi_options_init first, then change members. */
typedef struct fmo_gmpi_options {
    fmo_gmpi_transport transport; /**< FMO_GMPI_PEER */
    int ranks;                    /**< ranks of this process, 1 .. 16 [1] */
    /** [ranks] CUDA device of each rank; NULL: rank r has device r. Ranks of one device must be
     * adjacent; they are groups of blocks of one cooperative kernel. */
    const int *devices;
    /** 0: one context, as in the paper: calls of a rank must be ordered (grid scope, or calls of
     * one block at a time, each after synchronisation with the block that called before). 1:
     * several blocks of a rank may call at the same time [1]. */
    int concurrent;
    size_t heap_bytes; /**< bytes per rank for fmo_gmpi_alloc and channels [64 MiB] */
    double timeout; /**< seconds that a call in a kernel waits before all ranks are aborted [10] */
    /** The proxy passes device pointers to MPI. Set it only if MPI is CUDA-aware and does not
     * queue its copies behind a kernel that waits [0]. */
    int cuda_aware;
} fmo_gmpi_options;

/** Sets the defaults, which are given in brackets above. NULL is allowed. */
FMO_API void fmo_gmpi_options_init(fmo_gmpi_options *options);

/** Returns "peer" or "proxy"; NULL outside the table. */
FMO_API const char *fmo_gmpi_transport_name(int transport);

/** Creates a group whose ranks are all in this process. Allocates memory, enables peer access
 * and, for the transport proxy, starts a host thread per rank; therefore call it before kernels
 * run.
 * @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_UNSUPPORTED (built without CUDA, or no peer access
 *          between two of the devices), FMO_ERR_NO_DEVICE, FMO_ERR_DEVICE, FMO_ERR_MEMORY */
FMO_API fmo_status fmo_gmpi_create(const fmo_gmpi_options *options, fmo_gmpi **group,
                                   fmo_error *err);
/** Ends the host threads and frees all memory. NULL is allowed. No kernel of the group may run. */
FMO_API void fmo_gmpi_destroy(fmo_gmpi *group);

/** Returns the number of ranks of the whole group; those of this process are first .. first +
 * local_size - 1. Returns 0 for NULL. */
FMO_API int fmo_gmpi_size(const fmo_gmpi *group);
FMO_API int fmo_gmpi_first(const fmo_gmpi *group);      /**< see fmo_gmpi_size */
FMO_API int fmo_gmpi_local_size(const fmo_gmpi *group); /**< see fmo_gmpi_size */

/** Returns the CUDA device of a rank of this process; -1 for other ranks. */
FMO_API int fmo_gmpi_device(const fmo_gmpi *group, int rank);

/** Returns the argument of kernels: a `fmo_gmpi_buf *` in the memory of the rank's device, an
 * array of the ranks of that device. NULL for ranks of other processes. */
FMO_API void *fmo_gmpi_bufs(const fmo_gmpi *group, int rank);

/** Allocates memory at the same offset in the heap of every rank, aligned to 256 bytes and
 * zeroed. All processes must call it in the same order. The memory is freed with the group.
 * Kernels access other ranks' memory through fmo_gmpi_remote().
 * @param[out] offset  bytes from the beginning of each heap
 * @return FMO_OK, FMO_ERR_MEMORY if heap_bytes are exhausted */
FMO_API fmo_status fmo_gmpi_alloc(fmo_gmpi *group, size_t bytes, size_t *offset, fmo_error *err);
/** Returns the device address of an offset in the heap of a rank of this process, valid on its
 * own device; NULL for other ranks. */
FMO_API void *fmo_gmpi_address(const fmo_gmpi *group, int rank, size_t offset);

/** Creates a persistent channel: messages of at most `bytes` from one rank to another, matched
 * once, here, and double-buffered. All processes must call it in the same order.
 * @param[out] channel  the argument of fmo_gmpi_channel_open in kernels of both ranks
 * @return FMO_OK, FMO_ERR_ARGUMENT, FMO_ERR_MEMORY (more than 64 channels, or heap_bytes
 *          exhausted) */
FMO_API fmo_status fmo_gmpi_channel_create(fmo_gmpi *group, int source, int dest, size_t bytes,
                                           int *channel, fmo_error *err);

/** Reports whether a rank failed; call it after kernels have ended. The message names the rank,
 * its call, the other rank and the cause. Errors are sticky: all later calls of the group in
 * kernels return at once.
 * @return FMO_OK, FMO_ERR_DEVICE */
FMO_API fmo_status fmo_gmpi_check(const fmo_gmpi *group, fmo_error *err);

/** Ends all waits of all ranks. It may be called from any host thread, also while kernels run.
 * NULL is allowed. */
FMO_API void fmo_gmpi_abort(fmo_gmpi *group);

#ifdef __cplusplus
}
#endif
#endif
