/* The calls of arguments.c that read and write files; included there alone. */
#ifndef FMO_TESTS_ARGUMENTS_FILES_H
#define FMO_TESTS_ARGUMENTS_FILES_H

/* Checkpoints of batches, with each pointer NULL in its turn. */
static void check_checkpoints(const fmo_molecule_result *keyless, const fmo_dataset *dataset)
{
    char key[65], path[] = "/tmp/fmo-arguments-XXXXXX";
    const int file = mkstemp(path);
    fmo_checkpoint *checkpoint = NULL, *none = NULL;
    fmo_molecule_result found = {.key = NULL}, mute = {.key = "x"};
    CHECK(file >= 0 && fmo_checkpoint_open(path, "a=b\n", 0, &checkpoint, NULL) == FMO_OK, "open");
    close(file);
    REFUSED(fmo_molecule_key, "dataset", NULL, 2, key, &err);
    REFUSED(fmo_molecule_key, "key", dataset, 2, NULL, &err);
    REFUSED(fmo_checkpoint_open, "path", NULL, "a=b\n", 0, &none, &err);
    REFUSED(fmo_checkpoint_open, "settings", path, NULL, 0, &none, &err);
    REFUSED(fmo_checkpoint_open, "checkpoint", path, "a=b\n", 0, NULL, &err);
    REFUSED(fmo_checkpoint_import, "checkpoint", NULL, "/nowhere/x.h5", &err);
    REFUSED(fmo_checkpoint_import, "path", checkpoint, NULL, &err);
    REFUSED(fmo_checkpoint_add, "checkpoint", NULL, keyless, &err);
    REFUSED(fmo_checkpoint_add, "molecule", checkpoint, NULL, &err);
    REFUSED(fmo_checkpoint_add, "molecule->key", checkpoint, keyless, &err);
    REFUSED(fmo_checkpoint_add, "molecule->status", checkpoint, &mute, &err);
    REFUSED(fmo_checkpoint_find, "checkpoint", NULL, "x", &found, &err);
    REFUSED(fmo_checkpoint_find, "key", checkpoint, NULL, &found, &err);
    REFUSED(fmo_checkpoint_find, "molecule", checkpoint, "x", NULL, &err);
    FINE(fmo_checkpoint_num, "checkpoint", fmo_checkpoint_num(NULL) == 0);
    FINE(fmo_checkpoint_close, "checkpoint", (fmo_checkpoint_close(NULL, 0), 1));
    fmo_checkpoint_close(checkpoint, 1);
}

/* Readers of data sets and what they tell, with each pointer NULL in its turn. */
static void check_datasets(void)
{
    static char text[80] = "as it was";
    fmo_dataset *dataset = NULL;
    REFUSED(fmo_dataset_read, "path", NULL, &dataset, &err);
    REFUSED(fmo_dataset_read, "dataset", "x.h5", NULL, &err);
    REFUSED(fmo_dataset_read_basis, "path", NULL, &dataset, &err);
    REFUSED(fmo_dataset_read_basis, "dataset", "x.h5", NULL, &err);
    FINE(fmo_dataset_destroy, "dataset", (fmo_dataset_destroy(NULL), 1));
    FINE(fmo_dataset_path, "dataset", !fmo_dataset_path(NULL));
    FINE(fmo_dataset_sha256, "dataset", !fmo_dataset_sha256(NULL));
    FINE(fmo_dataset_basis, "dataset", !fmo_dataset_basis(NULL));
    FINE(fmo_dataset_basis_input, "dataset", !fmo_dataset_basis_input(NULL));
    FINE(fmo_dataset_nucleus_number, "dataset", fmo_dataset_nucleus_number(NULL, 0) == 0);
    FINE(fmo_dataset_density, "dataset", !fmo_dataset_density(NULL));
    FINE(fmo_dataset_density_source, "dataset", !fmo_dataset_density_source(NULL));
    FINE(fmo_dataset_notice, "dataset", !fmo_dataset_notice(NULL, 0));
    FINE(fmo_dataset_is_doubtful, "dataset", !fmo_dataset_is_doubtful(NULL, 0));
    FINE(fmo_dataset_core_hamiltonian, "dataset", !fmo_dataset_core_hamiltonian(NULL));
    FINE(fmo_dataset_core_hamiltonian_source, "dataset",
         !fmo_dataset_core_hamiltonian_source(NULL));
    FINE(fmo_dataset_nuclear_repulsion, "dataset", isnan(fmo_dataset_nuclear_repulsion(NULL)));
    FINE(fmo_dataset_electron_num, "dataset", fmo_dataset_electron_num(NULL) == -1);
    FINE(fmo_dataset_multiplicity, "dataset", fmo_dataset_multiplicity(NULL) == 0);
    FINE(fmo_dataset_spin_density, "dataset", !fmo_dataset_spin_density(NULL));
    FINE(fmo_dataset_reference_coulomb, "dataset", !fmo_dataset_reference_coulomb(NULL));
    FINE(fmo_dataset_reference_exchange, "dataset", !fmo_dataset_reference_exchange(NULL));
    FINE(fmo_dataset_reference_fock_2e, "dataset", !fmo_dataset_reference_fock_2e(NULL));
    FINE(fmo_dataset_reference_energy, "dataset", isnan(fmo_dataset_reference_energy(NULL)));
    FINE(fmo_dataset_basis_name, "dataset", !fmo_dataset_basis_name(NULL));
    FINE(fmo_dataset_formula, "dataset", !fmo_dataset_formula(NULL));
    FINE(fmo_dataset_ao_label, "text", (fmo_dataset_ao_label(NULL, 0, NULL, 10), 1));
    FINE(fmo_dataset_ao_label, "dataset",
         (fmo_dataset_ao_label(NULL, 0, text, sizeof text), !strcmp(text, "?")));
}

/* Readers of geometries and basis sets. */
static void check_geometries(void)
{
    fmo_basis_set *set = NULL;
    fmo_molecule *read = NULL;
    REFUSED(fmo_molecule_read_xyz, "path", NULL, &read, &err);
    REFUSED(fmo_molecule_read_xyz, "molecule", "x.xyz", NULL, &err);
    FINE(fmo_molecule_destroy, "molecule", (fmo_molecule_destroy(NULL), 1));
    fmo_xyz *xyz = NULL;
    REFUSED(fmo_molecule_read_xyz_in, "path", NULL, FMO_UNIT_BOHR, &read, &err);
    REFUSED(fmo_molecule_read_xyz_in, "molecule", "x.xyz", FMO_UNIT_BOHR, NULL, &err);
    REFUSED(fmo_xyz_open_in, "path", NULL, FMO_UNIT_BOHR, &xyz, &err);
    REFUSED(fmo_xyz_open_in, "xyz", "x.xyz", FMO_UNIT_BOHR, NULL, &err);
    REFUSED(fmo_xyz_open, "path", NULL, &xyz, &err);
    REFUSED(fmo_xyz_open, "xyz", "x.xyz", NULL, &err);
    REFUSED(fmo_xyz_next, "xyz", NULL, &read, &err);
    FINE(fmo_xyz_next, "molecule", fmo_xyz_next(NULL, NULL, NULL) == FMO_ERR_ARGUMENT);
    FINE(fmo_xyz_close, "xyz", (fmo_xyz_close(NULL), 1));
    fmo_point_charges *charges = NULL;
    REFUSED(fmo_point_charges_read, "path", NULL, FMO_UNIT_BOHR, &charges, &err);
    REFUSED(fmo_point_charges_read, "charges", "x.txt", FMO_UNIT_BOHR, NULL, &err);
    FINE(fmo_point_charges_destroy, "charges", (fmo_point_charges_destroy(NULL), 1));
    REFUSED(fmo_basis_set_read, "name_or_path", NULL, &set, &err);
    REFUSED(fmo_basis_set_read, "set", "sto-3g", NULL, &err);
    FINE(fmo_basis_set_destroy, "set", (fmo_basis_set_destroy(NULL), 1));
    FINE(fmo_basis_set_name, "set", !fmo_basis_set_name(NULL));
    FINE(fmo_basis_set_path, "set", !fmo_basis_set_path(NULL));
    FINE(fmo_basis_set_choose_functions, "set",
         (fmo_basis_set_choose_functions(NULL, FMO_FUNCTIONS_CARTESIAN), 1));
    FINE(fmo_basis_set_shell_num, "set", fmo_basis_set_shell_num(NULL, 1) == 0);
    FINE(fmo_basis_set_list, "text", (fmo_basis_set_list(NULL, 10), 1));
}

/* Data sets made from a molecule and a basis set. Returns that of helium, which the caller
 * destroys. */
static fmo_dataset *check_created(void)
{
    fmo_dataset *dataset = NULL;
    fmo_basis_set *set = NULL;
    int number[1] = {2};
    double coord[3] = {0.0, 0.0, 0.0};
    fmo_molecule helium = {.nucleus_num = 1, .number = number, .coord = coord};
    CHECK(fmo_basis_set_read("sto-3g", &set, NULL) == FMO_OK, "sto-3g");
    REFUSED(fmo_dataset_create, "molecule", NULL, set, 0, &dataset, &err);
    REFUSED(fmo_dataset_create, "set", &helium, NULL, 0, &dataset, &err);
    REFUSED(fmo_dataset_create, "dataset", &helium, set, 0, NULL, &err);
    REFUSED(fmo_dataset_create_with, "molecule", NULL, set, FMO_FUNCTIONS_SET, 0, &dataset, &err);
    REFUSED(fmo_dataset_create_with, "set", &helium, NULL, FMO_FUNCTIONS_SET, 0, &dataset, &err);
    REFUSED(fmo_dataset_create_with, "dataset", &helium, set, FMO_FUNCTIONS_SET, 0, NULL, &err);
    CHECK(fmo_dataset_create_with(&helium, set, FMO_FUNCTIONS_COUNT, 0, &dataset, NULL) ==
              FMO_ERR_ARGUMENT,
          "functions that are none");
    helium.coord = NULL;
    REFUSED(fmo_dataset_create, "molecule->coord", &helium, set, 0, &dataset, &err);
    helium.coord = coord;
    CHECK(!dataset, "a data set of NULL");
    CHECK(fmo_dataset_create(&helium, set, 0, &dataset, NULL) == FMO_OK, "helium");
    fmo_basis_set_destroy(set);
    return dataset;
}

/* Files of the results of many molecules. */
static void check_molecules_files(const fmo_dataset *dataset)
{
    fmo_molecules_file *many = NULL;
    const fmo_molecule_result molecule_result = {.input = "x", .status = "converged"};
    const fmo_molecule_result nameless = {.status = "converged"}, mute = {.input = "x"};
    REFUSED(fmo_molecules_file_create, "mode", NULL, 0.0, &many, &err);
    REFUSED(fmo_molecules_file_create, "file", "cpu", 0.0, NULL, &err);
    CHECK(fmo_molecules_file_create("cpu", 0.0, &many, NULL) == FMO_OK, "a file of molecules");
    REFUSED(fmo_molecules_file_add, "file", NULL, NULL, &molecule_result, &err);
    REFUSED(fmo_molecules_file_add, "molecule", many, NULL, NULL, &err);
    REFUSED(fmo_molecules_file_add, "molecule->input", many, NULL, &nameless, &err);
    REFUSED(fmo_molecules_file_add, "molecule->status", many, NULL, &mute, &err);
    FINE(fmo_molecules_file_add, "dataset",
         fmo_molecules_file_add(many, NULL, &molecule_result, NULL) == FMO_OK);
    REFUSED(fmo_molecules_file_write, "file", NULL, "/nowhere/x.h5", &err);
    REFUSED(fmo_molecules_file_write, "path", many, NULL, &err);
    CHECK(fmo_molecules_file_write(many, "/nowhere/x.h5", NULL) == FMO_ERR_OUTPUT, "nowhere");
    REFUSED(fmo_molecules_file_create_extxyz, "file", NULL, &err);
    REFUSED(fmo_molecules_file_set_settings, "file", NULL, "a=b\n", &err);
    REFUSED(fmo_molecules_file_set_settings, "settings", many, NULL, &err);
    FINE(fmo_molecules_file_destroy, "file", (fmo_molecules_file_destroy(NULL), 1));
    fmo_molecules_file_destroy(many);
    check_checkpoints(&molecule_result, dataset);
}

/* Writers of results. */
static void check_results(const fmo_dataset *dataset)
{
    double one[1] = {1.0};
    const fmo_result result = {.nao = 1};
    const fmo_wavefunction wave = {
        .mo_num = 1, .coefficient = one, .energy = one, .occupation = one, .total_energy = NAN};
    fmo_wavefunction without = wave;
    without.energy = NULL;
    FINE(fmo_file_kind_of, "path", fmo_file_kind_of(NULL) == FMO_FILE_OTHER);
    REFUSED(fmo_file_write, "path", NULL, "x", 1, &err);
    REFUSED(fmo_file_write, "bytes", "/nowhere/x", NULL, 1, &err);
    REFUSED(fmo_result_write, "path", NULL, dataset, &result, &err);
    REFUSED(fmo_result_write, "result", "/nowhere/x.h5", dataset, NULL, &err);
    FINE(fmo_result_write, "dataset",
         fmo_result_write("/nowhere/x.h5", NULL, &result, NULL) == FMO_ERR_OUTPUT);
    REFUSED(fmo_wavefunction_write_trexio, "path", NULL, dataset, &wave, &err);
    REFUSED(fmo_wavefunction_write_trexio, "dataset", "/nowhere/x", NULL, &wave, &err);
    REFUSED(fmo_wavefunction_write_trexio, "wavefunction", "/nowhere/x", dataset, NULL, &err);
    REFUSED(fmo_wavefunction_write_trexio, "wavefunction->energy", "/nowhere/x", dataset, &without,
            &err);
    REFUSED(fmo_wavefunction_write_molden, "path", NULL, dataset, &wave, &err);
    REFUSED(fmo_wavefunction_write_molden, "dataset", "/nowhere/x", NULL, &wave, &err);
    REFUSED(fmo_wavefunction_write_molden, "wavefunction", "/nowhere/x", dataset, NULL, &err);
}

/* Calls readers and writers of data sets, molecules, basis sets and results with each pointer
 * argument NULL in turn. */
static void check_io(void)
{
    check_datasets();
    check_geometries();
    fmo_dataset *const dataset = check_created();
    check_results(dataset);
    check_molecules_files(dataset);
    fmo_dataset_destroy(dataset);
}

#endif
