/* Instruction sets of this CPU. */
#include "base/vector.h"

fmo_vector_set fmo_vector_best(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return FMO_VECTOR_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return FMO_VECTOR_AVX2;
#endif
    return FMO_VECTOR_BASELINE;
}
