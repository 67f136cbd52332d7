/* Copies between a GPU and pageable memory of the host. In such a copy the driver may wait for what
 * is on the stream ("API synchronization behavior" in NVIDIA's CUDA Runtime API), and while it
 * waits it has a lock that the calls of all other threads need: they stood still for as long as a
 * kernel took (docs/log/fmo.md, "How fast"). So what is not much goes through page-locked
 * memory, as far as the driver does not take it at once; for more the stream is waited for first,
 * which holds up the caller alone. C++ only. */
#ifndef FMO_GPU_PAGEABLE_H
#define FMO_GPU_PAGEABLE_H

#include <cuda_runtime.h>

/* To the GPU, for what comes later on the stream; the host's memory may go after the call. */
cudaError_t fmo_gpu_send(void *to, const void *from, size_t bytes, cudaStream_t stream);

/* To the host, after what is on the stream: there when the call returns. */
cudaError_t fmo_gpu_bring(void *to, const void *from, size_t bytes, cudaStream_t stream);

#endif
