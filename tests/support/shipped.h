/* Data sets that are shipped, by their names. */
#ifndef FMO_TESTS_SHIPPED_H
#define FMO_TESTS_SHIPPED_H

#include <fmo/dataset.h>

#include "tests/support/check.h"

/* NULL, and a check that has failed, if it cannot be read. */
static inline fmo_dataset *read_shipped(const char *name)
{
    char path[512];
    fmo_error err = {FMO_OK, ""};
    fmo_dataset *dataset = NULL;
    snprintf(path, sizeof path, "%s/%s.h5", FMO_DATASET_DIR, name);
    CHECK(fmo_dataset_read(path, &dataset, &err) == FMO_OK, "%s", err.message);
    return dataset;
}

#endif
