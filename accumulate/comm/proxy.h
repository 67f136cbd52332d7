/* The proxy of a rank: a host thread that polls the ring of commands, calls the network and
 * writes answers (gmpi_wire.h). Data of at most FMO_GMPI_STAGE bytes are staged by the caller
 * that put the command. Longer data are moved by the proxy through pieces of pinned memory, after
 * the receiver has reported that it is ready, so that no message occupies a piece while it waits
 * for another. */
#ifndef FMO_COMM_PROXY_H
#define FMO_COMM_PROXY_H

#include <fmo/gmpi_net.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Pieces of long messages: number in each direction, and bytes of each. */
enum { FMO_PROXY_PIECES = 4, FMO_PROXY_PIECE = 1 << 20 };

/** Copies data between a rank's memory and pieces. Functions return 0, or nonzero after an error.
 */
typedef struct fmo_mover {
    void *user;
    /** Starts copy number `work_item`, 0 .. 2 FMO_PROXY_PIECES - 1. */
    int (*start)(void *user, int work_item, void *to, const void *from, size_t bytes);
    int (*test)(void *user, int work_item, int *done);
} fmo_mover;

/** memcpy, for ranks in host memory. */
extern const fmo_mover fmo_mover_host;

typedef struct fmo_proxy fmo_proxy;

/** Creates a proxy. page: zeroed, may be pinned; pieces: 2 FMO_PROXY_PIECES FMO_PROXY_PIECE
 * bytes. Both, and the network, still belong to the caller. direct: the network accepts addresses
 * of the rank's memory.
 * @return NULL if there is no memory */
fmo_proxy *fmo_proxy_create(fmo_gmpi_page *page, void *pieces, const fmo_gmpi_net *net,
                            const fmo_mover *mover, int direct);

/** Executes one round: new commands, operations in progress, errors.
 * @return 1 if there was any progress */
int fmo_proxy_poll(fmo_proxy *proxy);

/** Starts a thread that polls until it is stopped; it calls prepare (may be NULL) first.
 * @return 0, or nonzero if there is no thread */
int fmo_proxy_start(fmo_proxy *proxy, void (*prepare)(void *user), void *user);

/** Ends the thread. */
void fmo_proxy_stop(fmo_proxy *proxy);

/** Frees the proxy after those of all ranks of this process have been stopped; unfinished
 * operations are dropped. */
void fmo_proxy_destroy(fmo_proxy *proxy);

#ifdef __cplusplus
}
#endif

#endif
