/* The kernels of mode cpu, one table for each instruction set. */
#ifndef FMO_TESTS_CPU_KERNELS_H
#define FMO_TESTS_CPU_KERNELS_H

#include "accumulate/cpu/kernel.h"

/* Those of this processor; returns how many. */
static inline int kernels_here(const fmo_cpu_kernels **kernels)
{
    int count = 0;
    kernels[count++] = &fmo_cpu_kernels_baseline;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        kernels[count++] = &fmo_cpu_kernels_avx2;
    if (fmo_cpu_kernels_choose() == &fmo_cpu_kernels_avx512)
        kernels[count++] = &fmo_cpu_kernels_avx512;
#endif
    return count;
}

#endif
