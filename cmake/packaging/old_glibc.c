/* stat, fstat, lstat, fstatat and their forms of 64 bits for wheels: glibc has them as functions of
 * its own from 2.33 on, and older ones know other names. The kernel's struct is glibc's on 64-bit
 * machines. Hidden, so that each library and program has its own. Next: older_glibc.py. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "struct stat was compared with the kernel's on x86-64 and aarch64 only"
#endif
#define HIDDEN __attribute__((visibility("hidden")))

/* Of glibc 2.32, for libstdc++: is there one thread only? No is always safe. */
HIDDEN char __libc_single_threaded = 0;

HIDDEN int fstatat(int folder, const char *path, struct stat *info, int flags)
{
    return (int)syscall(SYS_newfstatat, folder, path, info, flags);
}

HIDDEN int stat(const char *path, struct stat *info)
{
    return fstatat(AT_FDCWD, path, info, 0);
}

HIDDEN int lstat(const char *path, struct stat *info)
{
    return fstatat(AT_FDCWD, path, info, AT_SYMLINK_NOFOLLOW);
}

HIDDEN int fstat(int file, struct stat *info)
{
    return (int)syscall(SYS_fstat, file, info);
}

HIDDEN int stat64(const char *path, struct stat64 *info)
{
    return fstatat(AT_FDCWD, path, (struct stat *)info, 0);
}

HIDDEN int lstat64(const char *path, struct stat64 *info)
{
    return fstatat(AT_FDCWD, path, (struct stat *)info, AT_SYMLINK_NOFOLLOW);
}

HIDDEN int fstat64(int file, struct stat64 *info)
{
    return fstat(file, (struct stat *)info);
}
