/* A data set of a molecule of datasets/xyz, or of a file, in a shipped basis set; for tests that
 * are compiled with FMO_DATASET_DIR. NULL where that fails, which is a failed check. */
#ifndef FMO_TEST_MOLECULE_H
#define FMO_TEST_MOLECULE_H

#include <fmo/basis_set.h>
#include <fmo/dataset.h>
#include <fmo/molecule.h>

#include "tests/support/shipped.h"

static inline fmo_dataset *molecule_dataset(const char *xyz, const char *set_name)
{
    char path[512];
    fmo_molecule *molecule = NULL;
    fmo_basis_set *set = NULL;
    fmo_dataset *dataset = NULL;
    fmo_error err = {FMO_OK, ""};
    snprintf(path, sizeof path, "%s/xyz/%s.xyz", shipped_folder(), xyz);
    fmo_status status = fmo_molecule_read_xyz(xyz[0] == '/' ? xyz : path, &molecule, &err);
    snprintf(path, sizeof path, "%s/basis/%s.json", shipped_folder(), set_name);
    if (status == FMO_OK) status = fmo_basis_set_read(path, &set, &err);
    if (status == FMO_OK) status = fmo_dataset_create(molecule, set, 0, &dataset, &err);
    CHECK(status == FMO_OK, "%s %s: %s", xyz, set_name, err.message);
    fmo_molecule_destroy(molecule);
    fmo_basis_set_destroy(set);
    return dataset;
}

#endif
