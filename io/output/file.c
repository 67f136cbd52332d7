/* See file.h. A temporary file is locked (flock) as long as its writer lives, which is how a dead
 * one's is told from a live one's, on other hosts of a shared file system, too. */
#include "io/output/file.h"
#include "io/text/file.h"

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

enum { TEMPORARY_TRIES = 100 };

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

/* One of ours, and no process holds it: its writer is dead. */
static void remove_if_dead(int directory, const char *name)
{
    struct stat open_file, named;
    size_t size = strlen(name), prefix = strlen(TEMPORARY_PREFIX),
           suffix = strlen(TEMPORARY_SUFFIX);
    if (size <= prefix + suffix || strncmp(name, TEMPORARY_PREFIX, prefix) != 0 ||
        strcmp(name + size - suffix, TEMPORARY_SUFFIX) != 0)
        return;
    int file = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return;
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &open_file) == 0 &&
        S_ISREG(open_file.st_mode) && fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        named.st_dev == open_file.st_dev && named.st_ino == open_file.st_ino)
        unlinkat(directory, name, 0);
    close(file);
}

static void remove_dead_temporaries(const fmo_output *o)
{
    DIR *directory = opendir(o->directory);
    struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        remove_if_dead(dirfd(directory), entry->d_name);
    if (directory) closedir(directory);
}

/* Lock a file just made. Between the two, another process may have taken it for a dead one's and
 * removed it. File systems without locks: nobody removes anything there. */
static bool hold(int file)
{
    struct stat info;
    if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
    return fstat(file, &info) == 0 && info.st_nlink > 0;
}

/* A new file beside the target; short names, so that any legal target name will do. */
static fmo_status open_temporary(fmo_output *o, int *descriptor)
{
    size_t size = strlen(o->directory) + 64;
    char *name = malloc(size);
    if (!name) return no_memory(o);
    *descriptor = -1;
    for (int i = 0; i < TEMPORARY_TRIES && *descriptor < 0; i++) {
        snprintf(name, size, "%s" TEMPORARY_PREFIX "%ld-%d" TEMPORARY_SUFFIX, o->directory,
                 (long)getpid(), i);
        *descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*descriptor < 0 && errno != EEXIST) break;
        if (*descriptor < 0 || hold(*descriptor)) continue;
        close(*descriptor);
        *descriptor = -1;
    }
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

/* Closing a copy asks the file system for errors it kept, and the lock stays. */
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

/* The new content is in place; a directory that cannot be synced is no reason to deny it. */
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
    remove_dead_temporaries(o);
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
