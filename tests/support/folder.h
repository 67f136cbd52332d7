/* A folder of a test's own under /tmp, and what is in it; what is in a file. */
#ifndef FMO_TESTS_FOLDER_H
#define FMO_TESTS_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Number of files whose name holds `text`. */
static inline int folder_count(const char *folder, const char *text)
{
    int n = 0;
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
             strstr(entry->d_name, text) != NULL;
    if (dir) closedir(dir);
    return n;
}

/* Remove a folder of plain files. */
static inline void folder_remove(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir) closedir(dir);
    rmdir(folder);
}

typedef struct content {
    unsigned char *bytes; /* NULL: there is no such file */
    size_t size;
} content;

/* What a file holds, and a zero byte after it. */
static inline content content_load(const char *path)
{
    content c = {NULL, 0};
    FILE *file = fopen(path, "rb");
    if (!file) return c;
    fseek(file, 0, SEEK_END);
    c.size = (size_t)ftell(file);
    rewind(file);
    c.bytes = malloc(c.size + 1);
    if (fread(c.bytes, 1, c.size, file) != c.size) c.size = 0;
    c.bytes[c.size] = 0;
    fclose(file);
    return c;
}

/* The path of a file in a folder; four of them stay valid. */
static inline const char *folder_path(const char *folder, const char *name)
{
    static char path[4][1024];
    static int next;
    char *const p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

/* Returns 0, or says on stderr that it cannot. */
static inline int file_copy(const char *from, const char *to)
{
    const content c = content_load(from);
    FILE *const file = c.bytes ? fopen(to, "wb") : NULL;
    int bad = !file || fwrite(c.bytes, 1, c.size, file) != c.size;
    if (file && fclose(file) != 0) bad = 1;
    if (bad) fprintf(stderr, "cannot copy %s to %s\n", from, to);
    free(c.bytes);
    return bad;
}

#endif
