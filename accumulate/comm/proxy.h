/* The proxy of a rank: a host thread that polls the ring of commands, calls the network and answers
 * (gmpi_wire.h). Data of at most FMO_GMPI_STAGE bytes are staged by whoever put the command; longer
 * ones the proxy moves through pieces of pinned memory, after the receiver has said that it is
 * ready, so that no message holds a piece while it waits for another.
 */
#ifndef FMO_COMM_PROXY_H
#define FMO_COMM_PROXY_H

#include <fmo/gmpi_net.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Pieces of long messages: so many under way in each direction, of so many bytes. */
enum { FMO_PROXY_PIECES = 4, FMO_PROXY_PIECE = 1 << 20 };

/** How data get between a rank's memory and pieces. Calls return 0, or not 0 after a fault. */
typedef struct fmo_mover {
    void *user;
    /** Begin a copy that has the number `work item`, 0 .. 2 FMO_PROXY_PIECES - 1. */
    int (*start)(void *user, int work_item, void *to, const void *from, size_t bytes);
    int (*test)(void *user, int work_item, int *done);
} fmo_mover;

/** memcpy, for ranks whose memory is the host's. */
extern const fmo_mover fmo_mover_host;

typedef struct fmo_proxy fmo_proxy;

/** page: zero, may be pinned; pieces: 2 FMO_PROXY_PIECES FMO_PROXY_PIECE bytes; all stay the
 *  caller's, and the network too. direct: the network takes addresses of the rank's memory.
 *  @return NULL without memory */
fmo_proxy *fmo_proxy_create(fmo_gmpi_page *page, void *pieces, const fmo_gmpi_net *net,
                            const fmo_mover *mover, int direct);

/** One round: new commands, what is under way, errors. @return 1 if anything moved */
int fmo_proxy_poll(fmo_proxy *proxy);

/** A thread that polls until it is stopped; prepare (may be NULL) is called in it first.
 *  @return 0, or not 0 without one */
int fmo_proxy_start(fmo_proxy *proxy, void (*prepare)(void *user), void *user);

/** Ends the thread. */
void fmo_proxy_stop(fmo_proxy *proxy);

/** After the proxies of all ranks of this process have been stopped: drops what is under way,
 * frees. */
void fmo_proxy_destroy(fmo_proxy *proxy);

#ifdef __cplusplus
}
#endif

#endif
