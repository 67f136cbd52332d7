/* For LD_PRELOAD: what becomes of one rank. FMO_TEST_RANK says which, FMO_TEST_FATE what, when it
 * first asks aligned_alloc for FMO_TEST_BYTES or more, which builds do: "memory": there is none,
 * from then on; "kill": SIGKILL. With FMO_TEST_FILE not before there is that file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t size)
{
    void *(*real)(size_t, size_t) = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
    const char *const chosen_rank = getenv("FMO_TEST_RANK"), *const fate = getenv("FMO_TEST_FATE");
    const char *const bytes = getenv("FMO_TEST_BYTES"), *const rank =
                                                            getenv("OMPI_COMM_WORLD_RANK");
    const char *const file = getenv("FMO_TEST_FILE");
    if (chosen_rank && fate && bytes && rank && strcmp(rank, chosen_rank) == 0 &&
        size >= (size_t)atol(bytes) && (!file || access(file, F_OK) == 0)) {
        if (strcmp(fate, "kill") == 0) raise(SIGKILL);
        return NULL;
    }
    return real(alignment, size);
}
