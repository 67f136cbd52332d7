/* CPU model and core count of a Linux host, and the revision of this build. */
#define _GNU_SOURCE
#include "driver/report/host.h"
#include "revision.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Reads the first "model name" of /proc/cpuinfo. */
void driver_host_cpu(char *text, size_t size)
{
    struct utsname machine;
    snprintf(text, size, "%s", uname(&machine) == 0 ? machine.machine : "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value) continue;
        value += 1 + strspn(value + 1, " \t");
        snprintf(text, size, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    fclose(file);
}

int driver_host_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

const char *driver_host_revision(void)
{
    return sizeof FMO_REVISION > 1 ? FMO_REVISION : NULL;
}
