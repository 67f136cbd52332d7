/* Free host memory as the system estimates it. Header only, for the reason given in arguments.h. */
#ifndef FMO_FREE_MEMORY_H
#define FMO_FREE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <fmo/status.h>

/* Returns the available host memory in bytes, or SIZE_MAX if the system does not report it. */
static inline size_t fmo_free_memory(void)
{
    unsigned long long kib = 0;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "r");
    if (f) {
        while (!kib && fgets(line, sizeof line, f)) sscanf(line, "MemAvailable: %llu", &kib);
        fclose(f);
    }
    return kib ? (size_t)kib * 1024 : SIZE_MAX;
}

/* Returns 1 if so many bytes could be mapped now. Unlike malloc and free, which the sanitizers
 * follow byte by byte, it takes the same short time for any number of them. */
static inline int fmo_memory_to_map(size_t bytes, int protection, int flags)
{
    void *const memory = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (memory == MAP_FAILED) return 0;
    munmap(memory, bytes);
    return 1;
}

/* Returns 1 if there is enough address space for the buffers of OpenBLAS: up to 128 MB for each
 * computing thread and one more. Without it (ulimit -v) OpenBLAS retries the allocation forever. */
static inline int fmo_memory_for_blas(int threads)
{
    const size_t bytes = (size_t)(threads + 1) << 27;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 1;
    return fmo_memory_to_map(bytes, PROT_NONE, MAP_NORESERVE);
}

/* As fmo_memory_for_blas, but returns FMO_OK or FMO_ERR_MEMORY. */
static inline fmo_status fmo_check_blas_memory(int threads, fmo_error *err)
{
    if (fmo_memory_for_blas(threads)) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_MEMORY,
                         "no address space for OpenBLAS, 128 MB a thread; raise ulimit -v, or use "
                         "fewer threads");
}

#endif
