/* A folder of a test's own under /tmp, and what is in it. */
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

#endif
