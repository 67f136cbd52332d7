/* A folder of a test's own under /tmp, and what is in it; what is in a file. */
#ifndef FMO_TESTS_IO_FOLDER_H
#define FMO_TESTS_IO_FOLDER_H

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

/* What a file holds. */
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
    fclose(file);
    return c;
}

#endif
