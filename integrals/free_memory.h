/* Memory of the host that is free, as the system estimates it. Header only, as arguments.h is. */
#ifndef FMO_FREE_MEMORY_H
#define FMO_FREE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes; SIZE_MAX where the system does not say. */
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

#endif
