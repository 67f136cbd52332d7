/* The library's version at run time. */
#include <fmo/version.h>

const char *fmo_version(void)
{
    return FMO_VERSION_STRING;
}
