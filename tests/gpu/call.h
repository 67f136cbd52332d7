/* A call of CUDA that is to succeed. C++ only. */
#ifndef FMO_TEST_GPU_CALL_H
#define FMO_TEST_GPU_CALL_H

#include <cuda_runtime.h>

#include "tests/support/check.h"

#define CUDA(call)                                                               \
    do {                                                                         \
        const cudaError_t code_ = (call);                                        \
        CHECK(code_ == cudaSuccess, "%s: %s", #call, cudaGetErrorString(code_)); \
    } while (0)

#endif
