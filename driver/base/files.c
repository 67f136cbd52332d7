/* Checks of output paths: that no two names refer to the same file, and that each can be written;
 * standard streams. See files.h. */
#define _GNU_SOURCE
#include "driver/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT(err, ...) fmo_error_set(err, FMO_ERR_OUTPUT, __VA_ARGS__)

/* The file that a path refers to: an existing file, or a name in a folder if the file does not
 * exist yet. */
typedef struct identity {
    bool known, exists;
    dev_t device;
    ino_t inode; /* of the file, or of its folder */
    char *name;  /* in the folder; NULL if the file exists */
} identity;

/* Finds the identity of a path; `known` is false if path is NULL or its folder does not exist. */
static fmo_status identify(const char *path, identity *id, fmo_error *err)
{
    struct stat info;
    *id = (identity){.known = false};
    if (!path) return FMO_OK;
    id->exists = stat(path, &info) == 0;
    id->known = id->exists;
    if (!id->exists) {
        char *copy = strdup(path), *again = strdup(path);
        if (copy && again) id->name = strdup(basename(again));
        id->known = copy && id->name && stat(dirname(copy), &info) == 0;
        const bool good = copy && id->name;
        free(copy);
        free(again);
        if (!good) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory");
    }
    if (id->known) id->device = info.st_dev, id->inode = info.st_ino;
    return FMO_OK;
}

static bool same(const identity *a, const identity *b)
{
    return a->known && b->known && a->exists == b->exists && a->device == b->device &&
           a->inode == b->inode && (a->exists || strcmp(a->name, b->name) == 0);
}

/* Checks that an output is, or can become, a regular file in a writable folder. */
static fmo_status check_place(const driver_file *f, fmo_error *err)
{
    struct stat info, link, folder_info;
    const size_t length = strlen(f->path);
    const bool exists = stat(f->path, &info) == 0;
    if (exists && !S_ISREG(info.st_mode))
        return OUTPUT(err, "%s %.300s: %s", f->what, f->path,
                      S_ISDIR(info.st_mode) ? "is a directory; give a file name"
                                            : "not a regular file; give a file name");
    if (!exists && lstat(f->path, &link) == 0)
        return OUTPUT(err, "%s %.300s: a symbolic link to a file that does not exist; remove it",
                      f->what, f->path);
    if (length == 0 || f->path[length - 1] == '/')
        return OUTPUT(err, "%s %.300s: expected the name of a file", f->what, f->path);
    char *copy = strdup(f->path);
    if (!copy) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory");
    const char *folder = dirname(copy);
    fmo_status status = FMO_OK;
    if (stat(folder, &folder_info) != 0 || access(folder, W_OK | X_OK) != 0)
        status =
            OUTPUT(err, "%s %.300s: folder %.100s: %s", f->what, f->path, folder, strerror(errno));
    free(copy);
    return status;
}

/* Checks that an existing file may be replaced: it is empty or of the same kind as the output. */
static fmo_status check_kind(const driver_file *f, fmo_error *err)
{
    const fmo_file_kind there = fmo_file_kind_of(f->path);
    if (there == FMO_FILE_NONE || there == FMO_FILE_EMPTY || there == f->kind) return FMO_OK;
    return OUTPUT(
        err,
        "%s %.300s: the file exists and is %s%s: choose another name, or add --force to replace it",
        f->what, f->path,
        there == FMO_FILE_OTHER ? "" : "another kind: ", fmo_file_kind_text(there));
}

/* Compares every output with all other files, then checks its folder and what it would replace. */
fmo_status driver_check_files(const driver_file *file, int count, bool force, fmo_error *err)
{
    identity *id = calloc((size_t)count + 1, sizeof *id);
    fmo_status status = FMO_OK;
    if (!id) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for a list of %d files", count);
    for (int i = 0; i < count && status == FMO_OK; i++)
        status = identify(file[i].path, &id[i], err);
    for (int i = 0; i < count && status == FMO_OK; i++) {
        if (!file[i].path || !file[i].written) continue;
        for (int k = 0; k < count && status == FMO_OK; k++)
            if (k != i && (k < i || !file[k].written) && same(&id[i], &id[k]))
                status = file[k].written ? OUTPUT(err, "%s and %s name the same file: choose two",
                                                  file[k].what, file[i].what)
                                         : OUTPUT(err, "%s is the %s itself: choose another name",
                                                  file[i].what, file[k].what);
        if (status == FMO_OK) status = check_place(&file[i], err);
        if (status == FMO_OK && !force) status = check_kind(&file[i], err);
    }
    for (int i = 0; i < count; i++) free(id[i].name);
    free(id);
    return status;
}

void driver_reserve_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF) {
            int got = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
            if (got != -1 && got != fd) close(got);
        }
}
