/* For LD_PRELOAD: the first fsync of a process sends it the signals that FMO_TEST_SIGNALS lists
 * ("2", "2 15"), which is Ctrl-C in the middle of writing a file, at the same place every time.
 * With FMO_TEST_NO_DOCUMENT set json_dumps returns NULL, as when memory runs out. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
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

struct json_t;

__attribute__((visibility("default"))) char *json_dumps(const struct json_t *json, size_t flags)
{
    char *(*real)(const struct json_t *, size_t) =
        (char *(*)(const struct json_t *, size_t))dlsym(RTLD_NEXT, "json_dumps");
    return getenv("FMO_TEST_NO_DOCUMENT") ? NULL : real(json, flags);
}
