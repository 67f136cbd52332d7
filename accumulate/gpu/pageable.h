/* Copies between a GPU and pageable host memory. In such a copy the driver may wait for the work on
 * the stream ("API synchronization behavior" in NVIDIA's CUDA Runtime API), and meanwhile it holds
 * a lock that CUDA calls of all other threads need (measured in docs/log/fmo.md, "How fast"). Small
 * copies therefore go through page-locked memory, unless the driver buffers them at once. For large
 * ones this code waits for the stream before the copy, which blocks only the calling thread. C++
 * only. */
#ifndef FMO_GPU_PAGEABLE_H
#define FMO_GPU_PAGEABLE_H

#include <cuda_runtime.h>

/* Copies to the GPU; later work on the stream sees the data. The host memory may be freed after the
 * call. */
cudaError_t fmo_gpu_send(void *to, const void *from, size_t bytes, cudaStream_t stream);

/* Copies to the host after the work on the stream; the data are there when the call returns. */
cudaError_t fmo_gpu_bring(void *to, const void *from, size_t bytes, cudaStream_t stream);

#endif
