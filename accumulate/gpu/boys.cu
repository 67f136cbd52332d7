/* The table of the Boys function in GPU memory (integrals/boys/boys.h). It is loaded with the code
 * of the kernels, so that nothing is copied when a plan is made. */
#include "accumulate/gpu/plan.h"

alignas(64) static __device__ const fmo_boys_table table = {
#include "boys_gpu.inc"
};

cudaError_t fmo_gpu_boys(const fmo_boys_table **at)
{
    void *address = NULL;
    const cudaError_t code = cudaGetSymbolAddress(&address, table);
    *at = (const fmo_boys_table *)address;
    return code;
}
