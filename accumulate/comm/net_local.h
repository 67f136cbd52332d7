/* A network between ranks of one process: threads of the proxies pass messages in memory, matched
 * by match.c. Read before: gmpi_net.h. */
#ifndef FMO_COMM_NET_LOCAL_H
#define FMO_COMM_NET_LOCAL_H

#include <fmo/gmpi_net.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fmo_local fmo_local;

/** Returns NULL if there is no memory. */
fmo_local *fmo_local_create(int ranks);
/** Frees the network when no rank calls any more; unfinished messages are dropped. */
void fmo_local_destroy(fmo_local *local);

/** Fills in the end of one rank; its destroy() does nothing, and its exchange is NULL. */
void fmo_local_net(fmo_local *local, int rank, fmo_gmpi_net *net);

/** For tests: a message is lost if lose(user, source, dest, tag, comm) returns nonzero. Call it
 * before any message is sent. */
void fmo_local_lose(fmo_local *local, int (*lose)(void *user, int, int, int, int), void *user);

/** Computes to[i] = to[i] op from[i]; an unknown type or op changes nothing. */
void fmo_local_combine(void *to, const void *from, size_t count, fmo_gmpi_type type,
                       fmo_gmpi_op op);

#ifdef __cplusplus
}
#endif

#endif
