/* A small program for with_pyscf.py: what our writers make, for others to read.
 *   io_convert orbitals DATASET.h5 OUT.h5 OUT.molden    the orbitals of a data set, written by us
 *   io_convert create FILE.xyz BASIS CHARGE OUT.h5      basis and integrals of a molecule */
#include "tests/io/orbitals.h"
#include <fmo/basis_set.h>

#include <stdio.h>
#include <string.h>

static int orbitals(char **path, fmo_error *err)
{
    fmo_dataset *dataset = NULL;
    if (fmo_dataset_read(path[0], &dataset, err) != FMO_OK) return 1;
    test_orbitals o = orbitals_read(dataset);
    int bad = fmo_wavefunction_write_trexio(path[1], dataset, &o.wf, err) != FMO_OK ||
              fmo_wavefunction_write_molden(path[2], dataset, &o.wf, err) != FMO_OK;
    orbitals_free(&o);
    fmo_dataset_destroy(dataset);
    return bad;
}

static int create(char **argument, fmo_error *err)
{
    fmo_molecule *mol = NULL;
    fmo_basis_set *set = NULL;
    fmo_dataset *dataset = NULL;
    int bad = fmo_molecule_read_xyz(argument[0], &mol, err) != FMO_OK ||
              fmo_basis_set_read(argument[1], &set, err) != FMO_OK ||
              fmo_dataset_create(mol, set, atoi(argument[2]), &dataset, err) != FMO_OK;
    if (!bad) {
        test_orbitals o = orbitals_unit(dataset);
        bad = fmo_wavefunction_write_trexio(argument[3], dataset, &o.wf, err) != FMO_OK;
        orbitals_free(&o);
    }
    fmo_dataset_destroy(dataset);
    fmo_basis_set_destroy(set);
    fmo_molecule_destroy(mol);
    return bad;
}

int main(int argc, char **argv)
{
    fmo_error err = {FMO_OK, "wrong arguments"};
    int bad = 1;
    if (argc == 5 && strcmp(argv[1], "orbitals") == 0) bad = orbitals(argv + 2, &err);
    if (argc == 6 && strcmp(argv[1], "create") == 0) bad = create(argv + 2, &err);
    if (bad) fprintf(stderr, "io_convert: %s\n", err.message);
    return bad;
}
