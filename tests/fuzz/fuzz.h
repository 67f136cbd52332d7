/* Shared by the fuzz targets. A target is one function, LLVMFuzzerTestOneInput, that gives bytes to
 * a reader of the library as a file and checks what every reader guarantees. libFuzzer calls it, or
 * replay.c with any compiler. How to run: README.md. */
#ifndef FMO_TESTS_FUZZ_H
#define FMO_TESTS_FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fmo/status.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A violated guarantee ends the run, as a crash would. */
#define PROMISE(cond, ...)                                             \
    do {                                                               \
        if (!(cond)) {                                                 \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #cond); \
            fprintf(stderr, __VA_ARGS__);                              \
            fputc('\n', stderr);                                       \
            abort();                                                   \
        }                                                              \
    } while (0)

/* Put the bytes into a new file in memory (/dev/shm, else /tmp); NULL when that fails. The name is
 * this process's own, and the file another one every time, as HDF5 knows files by their inode. */
static inline const char *fuzz_file(const uint8_t *bytes, size_t size, const char *suffix)
{
    static char path[64];
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, sizeof path, "%s/fmo-fuzz-%ld%s", folder, (long)getpid(), suffix);
    unlink(path);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return NULL;
    ssize_t done = write(file, bytes, size);
    close(file);
    if (done == (ssize_t)size) return path;
    unlink(path);
    return NULL;
}

/* A call that failed reports the reason in one line that begins with the path; one that succeeded
 * reports nothing. */
static inline void fuzz_check_error(fmo_status status, const void *object, const fmo_error *err,
                                    const char *path)
{
    if (status == FMO_OK) {
        PROMISE(object != NULL, "success, and nothing made");
        PROMISE(err->status == FMO_OK && !err->message[0], "success, and '%s'", err->message);
        return;
    }
    PROMISE(object == NULL, "failure, and something made");
    PROMISE(status == FMO_ERR_INPUT || status == FMO_ERR_MEMORY, "status %d", (int)status);
    PROMISE(err->status == status, "status %d, error %d", (int)status, (int)err->status);
    PROMISE(!path || strncmp(err->message, path, strlen(path)) == 0, "'%s' has no path",
            err->message);
    PROMISE(!path || err->message[strlen(path)] == ':', "'%s'", err->message);
    for (const char *c = err->message; *c; c++)
        PROMISE((unsigned char)*c >= ' ', "control character in '%s'", err->message);
}

#endif
