/* One allocation of this thread that fails, in libfmo or libfmo_scf: the calls that the libraries
 * make come here, as the program's symbols go first. Not with sanitizers, which have their own. */
#ifndef FMO_TESTS_FAILING_MALLOC_H
#define FMO_TESTS_FAILING_MALLOC_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local long failing_malloc_after = -1; /* so many are fine; -1: all are */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { FAILING_MALLOC = 0 };
#else
enum { FAILING_MALLOC = 1 };

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *old, size_t size);

static int failing_malloc_now(const void *caller)
{
    Dl_info info;
    if (failing_malloc_after < 0 || !dladdr(caller, &info) || !info.dli_fname ||
        !strstr(info.dli_fname, "libfmo"))
        return 0;
    return failing_malloc_after-- == 0;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    return failing_malloc_now(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t number, size_t size)
{
    return failing_malloc_now(__builtin_return_address(0)) ? NULL : __libc_calloc(number, size);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
    return failing_malloc_now(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
#endif

#endif
