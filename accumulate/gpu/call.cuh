/* A device for the duration of one call of the library: the destructor waits for the queued work
 * and closes it. C++ only. */
#ifndef FMO_GPU_CALL_CUH
#define FMO_GPU_CALL_CUH

#include "accumulate/gpu/device.h"
#include "accumulate/gpu/gpu.h"

struct fmo_gpu_call {
    fmo_gpu_device device = {};
    fmo_status status;
    /* number: the GPU as numbered by CUDA, or -1 for the thread's current one; stream: the
     * caller's, or NULL to create one. */
    fmo_gpu_call(int number, void *stream, fmo_error *err)
    {
        fmo_fock_options options;
        fmo_fock_options_init(&options);
        status = fmo_gpu_probe(&number, err);
        options.device = number;
        options.stream = stream;
        if (status == FMO_OK) status = fmo_gpu_device_open(&device, &options, 1, err);
    }
    ~fmo_gpu_call()
    {
        if (!device.stream) return;
        (void)cudaStreamSynchronize(device.stream);
        fmo_gpu_device_close(&device);
    }
    fmo_gpu_call(const fmo_gpu_call &) = delete;
    fmo_gpu_call &operator=(const fmo_gpu_call &) = delete;
};

#endif
