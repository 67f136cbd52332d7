/* Data sets, by their paths or, if they are shipped, by their names. */
#ifndef FMO_TESTS_SHIPPED_H
#define FMO_TESTS_SHIPPED_H

#include <dirent.h>

#include <fmo/dataset.h>

#include "tests/support/check.h"

/* The folder of the shipped files; FMO_DATASET_DIR names another one on a machine without the
 * sources. */
static inline const char *shipped_folder(void)
{
    const char *elsewhere = getenv("FMO_DATASET_DIR");
    return elsewhere ? elsewhere : FMO_DATASET_DIR;
}

/* NULL, and a check that has failed, if it cannot be read. */
static inline fmo_dataset *read_dataset(const char *path)
{
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = NULL;
    CHECK(fmo_dataset_read(path, &dataset, &err) == FMO_OK, "%s: %s", path, err.message);
    return dataset;
}

static inline fmo_dataset *read_shipped(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.h5", shipped_folder(), name);
    return read_dataset(path);
}

static inline int shipped_is_dataset(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 3 && !strcmp(entry->d_name + length - 3, ".h5");
}

/* Calls `check` for every shipped data set, in the order of the names of the files. Returns their
 * number. */
static inline int shipped_each(void (*check)(const char *path, const char *file))
{
    struct dirent **entry = NULL;
    const int num = scandir(shipped_folder(), &entry, shipped_is_dataset, alphasort);
    for (int i = 0; i < num; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", shipped_folder(), entry[i]->d_name);
        check(path, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return num;
}

#endif
