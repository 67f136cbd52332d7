/* The location of installed data; see data_path.h. Compiled into every library and program that
 * reads data, because each looks beside itself. cmake/FmoData.cmake defines FMO_DATA_FOLDERS. */
#define _GNU_SOURCE /* dladdr */
#include "base/data_path.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Writes the absolute path of the shared library or program that contains this code; returns 0 if
 * it is unknown. A program's own name may be anything, so its path comes from /proc. */
static int own_path(char path[PATH_MAX])
{
    static const char inside = 0;
    Dl_info self, program;
    if (!dladdr(&inside, &self)) return 0;
    if (dladdr((const void *)getauxval(AT_PHDR), &program) && program.dli_fbase == self.dli_fbase)
        return realpath("/proc/self/exe", path) != NULL;
    return realpath(self.dli_fname, path) != NULL;
}

char *fmo_data_path(const char *name)
{
    /* From the directory of a library, and from that of a program, to the data. */
    static const char *const folders[] = {FMO_DATA_FOLDERS};
    char own[PATH_MAX], path[2 * PATH_MAX];
    if (!own_path(own)) return NULL;
    *strrchr(own, '/') = '\0';
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", own, folders[i], name);
        if (access(path, R_OK) == 0) return realpath(path, NULL);
    }
    return NULL;
}
