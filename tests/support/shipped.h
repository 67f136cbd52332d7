/* Data sets, by their paths or, if they are shipped, by their names. */
#ifndef FMO_TESTS_SHIPPED_H
#define FMO_TESTS_SHIPPED_H

#include <fmo/dataset.h>

#include "tests/support/check.h"

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
    snprintf(path, sizeof path, "%s/%s.h5", FMO_DATASET_DIR, name);
    return read_dataset(path);
}

#endif
