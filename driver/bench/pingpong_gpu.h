/* pingpong: NCCL, where this build and this machine have it (pingpong_nccl.cu,
 * pingpong_no_nccl.cu). */
#ifndef FMO_BENCH_PINGPONG_GPU_H
#define FMO_BENCH_PINGPONG_GPU_H

#include "pingpong.h"
#include <cuda_runtime.h>

typedef struct pingpong_nccl pingpong_nccl;

/** Two ranks of one process on the devices, or this process's rank on devices[0].
 *  @return NULL, with why, where there is no NCCL */
pingpong_nccl *pingpong_nccl_open(const pingpong *p, const int devices[2], char *why, size_t size);
/** Seconds for one message one way; data[r] of rank r, as far as it is here. Negative after a
 * fault. */
double pingpong_nccl_seconds(pingpong_nccl *n, void *const data[2], int64_t bytes, int rounds);
void pingpong_nccl_close(pingpong_nccl *n);

#endif
