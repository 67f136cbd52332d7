/* NCCL between ranks that are GPUs, if this build and this machine have it (ranks_nccl.cu,
 * ranks_no_nccl.cu). */
#ifndef FMO_BENCH_RANKS_GPU_H
#define FMO_BENCH_RANKS_GPU_H

#include "ranks.h"
#include <cuda_runtime.h>

typedef struct bench_nccl bench_nccl;

/** Opens NCCL for `ranks` ranks of one process on the devices, or for this process's rank on
 *  devices[0].
 *  @return NULL, with the reason in why, if NCCL is not available */
bench_nccl *bench_nccl_open(const bench_world *w, int ranks, const int *devices, char *why,
                            size_t size);
void bench_nccl_close(bench_nccl *n);

/* Operations between begin and end. `rank` is a rank of this process, whose device is current.
 * After an error they do nothing and return false. */
bool bench_nccl_begin(bench_nccl *n);
bool bench_nccl_end(bench_nccl *n);
bool bench_nccl_send(bench_nccl *n, int rank, const void *data, size_t bytes, int to,
                     cudaStream_t stream);
bool bench_nccl_recv(bench_nccl *n, int rank, void *data, size_t bytes, int from,
                     cudaStream_t stream);
bool bench_nccl_sum(bench_nccl *n, int rank, const double *data, double *sum, cudaStream_t stream);
/* Adds the arrays of all ranks into that of rank 0. */
bool bench_nccl_add(bench_nccl *n, int rank, double *data, size_t count, cudaStream_t stream);

#endif
