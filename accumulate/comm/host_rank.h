/* A rank whose callers are host threads: what gmpi.cuh does through a proxy, in C, for tests and
 * measurements without a GPU. Any number of threads may call at the same time.
 */
#ifndef FMO_COMM_HOST_RANK_H
#define FMO_COMM_HOST_RANK_H

#include "proxy.h"

typedef struct fmo_host_rank fmo_host_rank;

/** With a proxy of its own over `net`, which is destroyed at the end. direct as fmo_proxy_create.
 *  @return NULL without memory or thread */
fmo_host_rank *fmo_host_rank_create(const fmo_gmpi_net *net, double timeout, int direct);
/** First for all ranks of a process, then for all: */
void fmo_host_rank_stop(fmo_host_rank *h);
void fmo_host_rank_destroy(fmo_host_rank *h);

/* As in gmpi.cuh, in bytes; all return a fmo_gmpi_code. */
int fmo_host_isend(fmo_host_rank *h, const void *data, size_t bytes, int dest, int tag, int comm,
                   fmo_gmpi_request *request);
int fmo_host_irecv(fmo_host_rank *h, void *data, size_t bytes, int source, int tag, int comm,
                   fmo_gmpi_request *request);
int fmo_host_wait(fmo_host_rank *h, fmo_gmpi_request *request);
int fmo_host_test(fmo_host_rank *h, fmo_gmpi_request *request, int *flag);
int fmo_host_allreduce(fmo_host_rank *h, const void *send, void *recv, size_t count,
                       fmo_gmpi_type type, fmo_gmpi_op op, int comm);
int fmo_host_synchronize(fmo_host_rank *h);

/** The first error of this rank as fmo_gmpi_error_word; 0 without one. */
uint64_t fmo_host_error(const fmo_host_rank *h);

/** One line: what happened to rank `rank`, which said `word`, in a group with this timeout. */
void fmo_comm_describe(uint64_t word, int rank, double timeout, char *text, size_t size);

#endif
