/* Describes the host and the build, for the profile. */
#ifndef FMO_DRIVER_HOST_H
#define FMO_DRIVER_HOST_H

#include <stddef.h>

/** Writes the CPU model as in /proc/cpuinfo, or else the machine type; "unknown" if neither is
 *  known. */
void driver_host_cpu(char *text, size_t size);

/** Number of cores that this process may use. */
int driver_host_cores(void);

/** Git revision from which the program was built, with "-dirty" if files were changed; NULL if not
 *  known. */
const char *driver_host_revision(void);

#endif
