/* A rank whose callers are host threads: the calls of gmpi.cuh through a proxy, in C, for tests
 * and measurements without a GPU. Any number of threads may call at the same time. */
#ifndef FMO_COMM_HOST_RANK_H
#define FMO_COMM_HOST_RANK_H

#include "proxy.h"

typedef struct fmo_host_rank fmo_host_rank;

/** Creates a rank with its own proxy over `net`, which is destroyed with the rank. direct: see
 * fmo_proxy_create.
 * @return NULL if there is no memory or thread */
fmo_host_rank *fmo_host_rank_create(const fmo_gmpi_net *net, double timeout, int direct);
/** Stops the proxy. Stop all ranks of a process before destroying any. */
void fmo_host_rank_stop(fmo_host_rank *h);
void fmo_host_rank_destroy(fmo_host_rank *h);

/* As in gmpi.cuh, with sizes in bytes. All return a fmo_gmpi_code. */
int fmo_host_isend(fmo_host_rank *h, const void *data, size_t bytes, int dest, int tag, int comm,
                   fmo_gmpi_request *request);
int fmo_host_irecv(fmo_host_rank *h, void *data, size_t bytes, int source, int tag, int comm,
                   fmo_gmpi_request *request);
int fmo_host_wait(fmo_host_rank *h, fmo_gmpi_request *request);
int fmo_host_test(fmo_host_rank *h, fmo_gmpi_request *request, int *flag);
int fmo_host_allreduce(fmo_host_rank *h, const void *send, void *recv, size_t count,
                       fmo_gmpi_type type, fmo_gmpi_op op, int comm);
int fmo_host_synchronize(fmo_host_rank *h);

/** Returns the first error of this rank as fmo_gmpi_error_word; 0: none. */
uint64_t fmo_host_error(const fmo_host_rank *h);

/** Writes one line to text: what happened to rank `rank` with error `word`, in a group with this
 * timeout in seconds. */
void fmo_comm_describe(uint64_t word, int rank, double timeout, char *text, size_t size);

#endif
