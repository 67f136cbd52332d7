/* For LD_PRELOAD: the first fsync of a process sends it the signals that FMO_TEST_SIGNALS lists
 * ("2", "2 15"), which is Ctrl-C in the middle of writing a file, at the same place every time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>

__attribute__((visibility("default"))) int fsync(int descriptor)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    static int sent;
    const char *list = getenv("FMO_TEST_SIGNALS");
    while (list && *list && !sent) {
        char *end;
        raise((int)strtol(list, &end, 10));
        list = end;
    }
    sent = 1;
    return real(descriptor);
}
