/* Atomic replacement of files; see file.h. A writer holds a lock (flock) on its temporary file as
 * long as it runs. An unlocked temporary file is therefore that of an ended process, also when the
 * process ran on another host of a shared file system. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "base/arguments.h"
#include "io/output/file.h"
#include "io/text/file.h"
#include <fmo/result.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY_PREFIX ".fmo-result-"
#define TEMPORARY_SUFFIX ".tmp"

enum { TEMPORARY_TRIES = 100, NAME_SIZE = 64 };

#define OUTPUT(o, ...) fmo_output_fail(o, FMO_ERR_OUTPUT, __VA_ARGS__)

fmo_status fmo_output_fail(const fmo_output *output, fmo_status status, const char *format, ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return fmo_error_set(output->err, status, "%s: %s", output->label, message);
}

static fmo_status no_memory(const fmo_output *o)
{
    return fmo_output_fail(o, FMO_ERR_MEMORY, "no memory to write it");
}

/* Resolves symbolic links and checks the destination; every rejection has its own message. */
fmo_status fmo_output_open(fmo_output *o, const char *path, const fmo_dataset *dataset,
                           fmo_error *err)
{
    struct stat link, target, input;
    *o = (fmo_output){.err = err};
    fmo_path_label(path, o->label, sizeof o->label);
    o->target = strdup(path);
    if (!o->target) return no_memory(o);
    if (lstat(path, &link) == 0) {
        if (stat(path, &target) != 0)
            return OUTPUT(o, "a symbolic link that leads nowhere (%s); remove it", strerror(errno));
        if (S_ISDIR(target.st_mode)) return OUTPUT(o, "is a directory; give a file name");
        if (!S_ISREG(target.st_mode))
            return OUTPUT(o, "is not a regular file and will not be replaced; give a file name");
        if (access(path, W_OK) != 0)
            return OUTPUT(o, "cannot be replaced: %s; give another name", strerror(errno));
        o->mode = target.st_mode & 07777;
        if (dataset && stat(fmo_dataset_path(dataset), &input) == 0 &&
            input.st_dev == target.st_dev && input.st_ino == target.st_ino)
            return OUTPUT(o, "is the data set itself; give another name");
        free(o->target);
        o->target = realpath(path, NULL);
        if (!o->target) return OUTPUT(o, "cannot be resolved: %s", strerror(errno));
    } else if (errno != ENOENT)
        return OUTPUT(o, "cannot be written: %s", strerror(errno));
    const char *slash = strrchr(o->target, '/');
    if (slash && !slash[1]) return OUTPUT(o, "ends in '/'; give a file name");
    o->directory = slash ? strndup(o->target, (size_t)(slash - o->target) + 1) : strdup("./");
    return o->directory ? FMO_OK : no_memory(o);
}

void fmo_output_close(fmo_output *o)
{
    if (o->temporary) unlink(o->temporary);
    free(o->temporary);
    free(o->directory);
    free(o->target);
    *o = (fmo_output){.err = NULL};
}

/* --- temporary files ---------------------------------------------------------------------------*/

static void name_of(long pid, unsigned long long inode, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, TEMPORARY_PREFIX "%ld-%llu" TEMPORARY_SUFFIX, pid, inode);
}

/* Returns true if a name is that of a temporary file of this library, .fmo-result-PID-INODE.tmp,
 * owned by this user. Foreign files and copies have another inode number than such a name
 * states. */
static bool is_ours(const char *name, const struct stat *info)
{
    unsigned long long inode = 0;
    long pid = 0;
    char again[NAME_SIZE];
    if (sscanf(name, TEMPORARY_PREFIX "%ld-%llu", &pid, &inode) != 2) return false;
    name_of(pid, inode, again);
    return strcmp(name, again) == 0 && inode == (unsigned long long)info->st_ino &&
           S_ISREG(info->st_mode) && info->st_nlink == 1 && info->st_uid == geteuid();
}

/* Removes a file if it is a temporary file whose writer has ended, that is, whose lock is free. */
static void remove_abandoned(int directory, const char *name)
{
    struct stat open_file, named;
    if (strncmp(name, TEMPORARY_PREFIX, strlen(TEMPORARY_PREFIX)) != 0) return;
    int file = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return;
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &open_file) == 0 &&
        is_ours(name, &open_file) && fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        named.st_dev == open_file.st_dev && named.st_ino == open_file.st_ino)
        unlinkat(directory, name, 0);
    close(file);
}

static void remove_abandoned_files(const fmo_output *o)
{
    DIR *directory = opendir(o->directory);
    struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        remove_abandoned(dirfd(directory), entry->d_name);
    if (directory) closedir(directory);
}

/* Locks a file and writes its name, with the directory, to `name`. Returns false if another process
 * has locked the file because it took it for an abandoned one. On file systems without locks no
 * temporary file is ever removed, so the missing lock does no harm. */
static bool lock_named(const fmo_output *o, int file, char *name)
{
    struct stat info;
    char last[NAME_SIZE];
    if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
    if (fstat(file, &info) != 0) return false;
    name_of((long)getpid(), (unsigned long long)info.st_ino, last);
    sprintf(name, "%s%s", o->directory, last); /* open_temporary allocates NAME_SIZE bytes for it */
    return true;
}

/* Creates a file that is locked before it gets its name (O_TMPFILE); -1 if the file system does not
 * support this. */
static int make_nameless(const fmo_output *o, char *name)
{
    char link[64];
    int file = o->no_tmpfile ? -1 : open(o->directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (file < 0) return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (lock_named(o, file, name) && linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
        return file;
    close(file);
    return -1;
}

/* Creates a file under an unused name and renames it to its final temporary name; -1 with errno. A
 * process killed in between leaves an empty file. */
static int make_named(const fmo_output *o, char *name)
{
    char first[PATH_MAX];
    int file = -1;
    for (int i = 0; i < TEMPORARY_TRIES && file < 0; i++) {
        const int size = snprintf(first, sizeof first, "%s" TEMPORARY_PREFIX "%ld.%d", o->directory,
                                  (long)getpid(), i);
        if (size >= (int)sizeof first) {
            errno = ENAMETOOLONG;
            return -1;
        }
        file = open(first, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST) return -1;
    }
    if (file < 0) return -1;
    struct stat there;
    if (lock_named(o, file, name) && lstat(name, &there) != 0 && rename(first, name) == 0)
        return file;
    const int error = errno ? errno : EEXIST;
    unlink(first);
    close(file);
    errno = error;
    return -1;
}

/* Creates a temporary file beside the target. Its name is short, so that target names of any legal
 * length work. */
static fmo_status open_temporary(fmo_output *o, int *descriptor)
{
    char *name = malloc(strlen(o->directory) + NAME_SIZE);
    if (!name) return no_memory(o);
    *descriptor = make_nameless(o, name);
    if (*descriptor < 0) *descriptor = make_named(o, name);
    if (*descriptor < 0) {
        int error = errno;
        free(name);
        return OUTPUT(o,
                      "cannot create a file in its directory: %s; choose a directory that exists "
                      "and can be written",
                      strerror(error));
    }
    o->temporary = name;
    return FMO_OK;
}

/* --- content -----------------------------------------------------------------------------------*/

static fmo_status write_bytes(const fmo_output *o, int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t done = write(descriptor, bytes, size < INT_MAX ? size : INT_MAX);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0)
            return OUTPUT(o, "cannot be written: %s; it needs %zu bytes more there",
                          done < 0 ? strerror(errno) : "no progress", size);
        bytes += done;
        size -= (size_t)done;
    }
    return FMO_OK;
}

/* Closing a duplicate makes the file system report delayed errors, while the lock is kept. */
static int flush_errors(int descriptor)
{
    int copy = dup(descriptor);
    return copy < 0 ? -1 : close(copy);
}

static fmo_status fill_and_rename(fmo_output *o, int descriptor, const void *bytes, size_t size)
{
    fmo_status status = write_bytes(o, descriptor, bytes, size);
    if (status != FMO_OK) return status;
    if (o->mode && fchmod(descriptor, o->mode) != 0)
        return OUTPUT(o, "its permissions cannot be kept: %s", strerror(errno));
    if (fsync(descriptor) != 0 || flush_errors(descriptor) != 0)
        return OUTPUT(o, "cannot be written: %s", strerror(errno));
    if (rename(o->temporary, o->target) != 0)
        return OUTPUT(o, "cannot be replaced: %s; give another name", strerror(errno));
    free(o->temporary);
    o->temporary = NULL;
    return FMO_OK;
}

/* Syncs the directory after the rename. Errors are ignored, because the new content is already in
 * place. */
static void sync_directory(const fmo_output *o)
{
    int directory = open(o->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    (void)fsync(directory);
    close(directory);
}

fmo_status fmo_output_write(fmo_output *o, const void *bytes, size_t size)
{
    int descriptor = -1;
    remove_abandoned_files(o);
    fmo_status status = open_temporary(o, &descriptor);
    if (status != FMO_OK) return status;
    status = fill_and_rename(o, descriptor, bytes, size);
    close(descriptor);
    if (status == FMO_OK) sync_directory(o);
    if (o->temporary) unlink(o->temporary);
    free(o->temporary);
    o->temporary = NULL;
    return status;
}

fmo_status fmo_file_write(const char *path, const void *bytes, size_t size, fmo_error *err)
{
    const fmo_status checked =
        FMO_CHECK_ARGUMENTS("fmo_file_write", err, FMO_GIVEN(path), FMO_GIVEN(bytes));
    if (checked != FMO_OK) return checked;
    if (!*path) return fmo_error_set(err, FMO_ERR_ARGUMENT, "fmo_file_write: path is empty");
    fmo_output output;
    fmo_status status = fmo_output_open(&output, path, NULL, err);
    if (status == FMO_OK) status = fmo_output_write(&output, bytes, size);
    fmo_output_close(&output);
    return status;
}
