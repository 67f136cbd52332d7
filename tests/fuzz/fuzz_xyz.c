/* Molecules (.xyz), and data sets made of them. */
#include "fuzz.h"
#include <fmo/basis_set.h>

#include <math.h>

enum { ATOMS_MAX = 64 /* with more, only the reader runs */ };

/* Reads the bytes as an .xyz file and, if it is small, makes a data set of its molecule; all values
 * must be finite and in range. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static fmo_basis_set *set;
    if (!set && fmo_basis_set_read(FMO_FUZZ_BASIS, &set, NULL) != FMO_OK) abort();
    const char *path = fuzz_file(bytes, size, ".xyz");
    if (!path) return 0;
    fmo_error err = {FMO_OK, ""};
    fmo_molecule *mol = NULL;
    fmo_status status = fmo_molecule_read_xyz(path, &mol, &err);
    fuzz_check_error(status, mol, &err, path);
    for (int i = 0; mol && i < mol->nucleus_num; i++) {
        PROMISE(mol->number[i] >= 1 && mol->number[i] <= 118, "number %d", mol->number[i]);
        for (int c = 0; c < 3; c++) PROMISE(isfinite(mol->coord[3 * i + c]), "coordinate");
    }
    if (mol && mol->nucleus_num <= ATOMS_MAX) {
        fmo_dataset *dataset = NULL;
        status = fmo_dataset_create(mol, set, (int)(size % 3) - 1, &dataset, &err);
        fuzz_check_error(status, dataset, &err, path);
        if (dataset) PROMISE(isfinite(fmo_dataset_nuclear_repulsion(dataset)), "repulsion");
        fmo_dataset_destroy(dataset);
    }
    fmo_molecule_destroy(mol);
    unlink(path);
    return 0;
}
