/* What the driver ran on, for the profile. */
#ifndef FMO_DRIVER_HOST_H
#define FMO_DRIVER_HOST_H

#include <stddef.h>

/** CPU model as the kernel names it, else the machine type; "unknown" if neither is known. */
void driver_host_cpu(char *text, size_t size);

/** Cores this process may use. */
int driver_host_cores(void);

/** Git revision the program was built from, "-dirty" if changed since; NULL if not known. */
const char *driver_host_revision(void);

#endif
