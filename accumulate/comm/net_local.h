/* A network among ranks of one process: their proxies' threads hand messages over in memory,
 * matched by match.c.
 */
#ifndef FMO_COMM_NET_LOCAL_H
#define FMO_COMM_NET_LOCAL_H

#include <fmo/gmpi_net.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fmo_local fmo_local;

/** NULL without memory. */
fmo_local *fmo_local_create(int ranks);
/** When no rank calls any more; messages under way are dropped. */
void fmo_local_destroy(fmo_local *local);

/** The end of one rank; its destroy() does nothing, its exchange is NULL. */
void fmo_local_net(fmo_local *local, int rank, fmo_gmpi_net *net);

/** For tests: lose(user, source, dest, tag, comm) not 0 loses a message. Before any is sent. */
void fmo_local_lose(fmo_local *local, int (*lose)(void *user, int, int, int, int), void *user);

/** to[i] = to[i] op from[i]; an unknown type or op changes nothing. */
void fmo_local_combine(void *to, const void *from, size_t count, fmo_gmpi_type type,
                       fmo_gmpi_op op);

#ifdef __cplusplus
}
#endif

#endif
