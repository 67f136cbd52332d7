/* Valid data sets: every committed file is read completely, and the values are those of the file,
 * in its own order and normalisation of functions. */
#include "tests/support/shipped.h"
#include <fmo/dataset.h>
#include <fmo/one_electron.h>

#include <hdf5.h>
#include <pthread.h>

/* The matrix as HDF5 alone reads it, or NULL. */
static double *raw_matrix(const char *path, const char *name, size_t n)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    double *values = NULL;
    char group[64];
    snprintf(group, sizeof group, "%s", name);
    *strrchr(group, '/') = '\0';
    if (H5Lexists(file, group, H5P_DEFAULT) > 0 && H5Lexists(file, name, H5P_DEFAULT) > 0) {
        hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
        values = malloc(n * n * sizeof *values);
        H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        H5Dclose(dataset);
    }
    H5Fclose(file);
    return values;
}

static void compare(const char *path, const char *name, const double *got, size_t n, double atol)
{
    double *expected = raw_matrix(path, name, n);
    if (expected && got) check_close(name, got, expected, n * n, n, atol, 0.0);
    free(expected);
}

/* E = 1/2 sum D (2 H + J - K/2) + E_nuc from the reference matrices of the file. */
static double energy_of(const fmo_dataset *dataset, size_t n)
{
    const double *D = fmo_dataset_density(dataset), *H = fmo_dataset_core_hamiltonian(dataset);
    const double *J = fmo_dataset_reference_coulomb(dataset);
    const double *K = fmo_dataset_reference_exchange(dataset);
    double energy = fmo_dataset_nuclear_repulsion(dataset);
    for (size_t i = 0; i < n * n; i++) energy += 0.5 * D[i] * (2.0 * H[i] + J[i] - 0.5 * K[i]);
    return energy;
}

/* What is read from a data set agrees with HDF5's own reading of it, and its matrices with computed
 * ones; electrons and energy are right. */
static void check_file(const char *path, const char *file)
{
    (void)file;
    fmo_dataset *dataset = read_dataset(path);
    if (!dataset) return;
    const fmo_basis *basis = fmo_dataset_basis(dataset);
    size_t n = (size_t)fmo_basis_ao_num(basis);
    const double *D = fmo_dataset_density(dataset);
    CHECK(strcmp(fmo_dataset_path(dataset), path) == 0, "%s", fmo_dataset_path(dataset));
    CHECK(strlen(fmo_dataset_sha256(dataset)) == 64, "%s", fmo_dataset_sha256(dataset));
    CHECK(fmo_dataset_notice(dataset, 0) == NULL, "%s: %s", path, fmo_dataset_notice(dataset, 0));
    CHECK(fmo_dataset_notice(dataset, -1) == NULL, "notice -1");
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(D[i * n + j] == D[j * n + i], "%s: D[%zu][%zu]", path, i, j);

    double *S = malloc(n * n * sizeof *S), *V = malloc(n * n * sizeof *V);
    CHECK(fmo_overlap(basis, S, NULL) == FMO_OK, "overlap");
    compare(path, "ao_1e_int/ao_1e_int_overlap", S, n, 1e-10);
    double electrons = 0.0;
    for (size_t i = 0; i < n * n; i++) electrons += D[i] * S[i];
    CHECK(fabs(electrons - fmo_dataset_electron_num(dataset)) < 1e-7, "%s: %.9f electrons", path,
          electrons);

    /* Our own core Hamiltonian agrees with the file's, whichever of the two is in use. */
    CHECK(fmo_kinetic(basis, S, NULL) == FMO_OK, "kinetic");
    CHECK(fmo_nuclear_attraction(basis, V, NULL) == FMO_OK, "attraction");
    for (size_t i = 0; i < n * n; i++) S[i] += V[i];
    compare(path, "ao_1e_int/ao_1e_int_core_hamiltonian", S, n, 1e-8);
    const double *core = fmo_dataset_core_hamiltonian(dataset);
    CHECK(core != NULL, "%s: no core Hamiltonian", path);
    if (core) check_close("core Hamiltonian", core, S, n * n, n, 1e-8, 0.0);
    CHECK(core == fmo_dataset_core_hamiltonian(dataset), "%s: two core Hamiltonians", path);
    free(S);
    free(V);

    compare(path, "fmo/density", D, n, 1e-13);
    compare(path, "fmo/coulomb", fmo_dataset_reference_coulomb(dataset), n, 0.0);
    compare(path, "fmo/exchange", fmo_dataset_reference_exchange(dataset), n, 0.0);
    compare(path, "fmo/fock_2e", fmo_dataset_reference_fock_2e(dataset), n, 0.0);
    if (!isnan(fmo_dataset_reference_energy(dataset))) {
        double energy = energy_of(dataset, n);
        CHECK(fabs(energy - fmo_dataset_reference_energy(dataset)) < 1e-8, "%s: energy %.10f", path,
              energy);
    }
    char label[64];
    for (size_t i = 0; i < n; i++) {
        fmo_dataset_ao_label(dataset, (int)i, label, sizeof label);
        CHECK(strlen(label) > 3, "%s: label '%s'", path, label);
    }
    fmo_dataset_ao_label(dataset, (int)n, label, sizeof label);
    CHECK(strcmp(label, "?") == 0, "label past the end '%s'", label);
    fmo_dataset_destroy(dataset);
}

/* The numbers and texts of one known file. */
static void check_water(void)
{
    fmo_dataset *water = read_dataset(FMO_DATASET_DIR "/h2o_sto-3g.h5");
    if (!water) return;
    char label[64];
    CHECK(strcmp(fmo_dataset_formula(water), "H2O") == 0, "%s", fmo_dataset_formula(water));
    CHECK(strcmp(fmo_dataset_basis_name(water), "sto-3g") == 0, "%s",
          fmo_dataset_basis_name(water));
    CHECK(strcmp(fmo_dataset_density_source(water), "/fmo/density") == 0, "density source");
    CHECK(strcmp(fmo_dataset_core_hamiltonian_source(water), "ao_1e_int_core_hamiltonian") == 0,
          "core source %s", fmo_dataset_core_hamiltonian_source(water));
    CHECK(fmo_dataset_electron_num(water) == 10, "electrons");
    CHECK(fabs(fmo_dataset_nuclear_repulsion(water) - 9.1949648) < 1e-6, "repulsion");
    const char *const expected[] = {"0 O s",  "0 O s", "0 O px", "0 O py",
                                    "0 O pz", "1 H s", "2 H s"};
    for (int i = 0; i < 7; i++) {
        fmo_dataset_ao_label(water, i, label, sizeof label);
        CHECK(strcmp(label, expected[i]) == 0, "AO %d is '%s'", i, label);
    }
    fmo_dataset_ao_label(water, 2, label, 3);
    CHECK(strcmp(label, "0 ") == 0, "cut label '%s'", label);
    fmo_dataset_ao_label(water, 2, label, 0);
    fmo_dataset_destroy(water);
}

/* A data set without integrals: two threads ask for the core Hamiltonian and get the same one. */
static void *ask_core(void *dataset)
{
    return (void *)fmo_dataset_core_hamiltonian(dataset);
}

static void check_late_core(const char *path)
{
    fmo_dataset *dataset = read_dataset(path);
    if (!dataset) return;
    CHECK(strcmp(fmo_dataset_core_hamiltonian_source(dataset), "computed") == 0, "%s",
          fmo_dataset_core_hamiltonian_source(dataset));
    pthread_t threads[4];
    void *core[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, ask_core, dataset);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], &core[i]);
    for (int i = 0; i < 4; i++) CHECK(core[i] && core[i] == core[0], "thread %d", i);
    fmo_dataset_destroy(dataset);
}

/* Two threads read at once; HDF5's error printing of this thread is as it was. */
static void *read_often(void *path)
{
    long bad = 0;
    for (int i = 0; i < 20; i++) {
        fmo_dataset *dataset = NULL;
        bad += fmo_dataset_read(path, &dataset, NULL) != FMO_OK;
        fmo_dataset_destroy(dataset);
        bad += fmo_dataset_read("/no/such/file", &dataset, NULL) != FMO_ERR_INPUT;
    }
    return (void *)bad;
}
/* Two threads can read at once, and HDF5's own setting for printing errors is restored. */
static void check_threads(void)
{
    static const char *const paths[] = {FMO_DATASET_DIR "/h2o_sto-3g.h5",
                                        FMO_DATASET_DIR "/h2o8_sto-3g.h5"};
    pthread_t threads[2];
    H5E_auto2_t before, after;
    void *data, *bad;
    H5Eget_auto2(H5E_DEFAULT, &before, &data);
    read_often((void *)paths[0]);
    H5Eget_auto2(H5E_DEFAULT, &after, &data);
    CHECK(before == after, "HDF5's error printing was not restored");
    hbool_t safe = 0;
    H5is_library_threadsafe(&safe);
    if (!safe) return;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, read_often, (void *)paths[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &bad);
        CHECK(bad == NULL, "thread %d", i);
    }
}

/* Runs the checks on every data set in the folder. */
int main(void)
{
    const int files = shipped_each(check_file);
    CHECK(files >= 10, "only %d data sets in %s", files, shipped_folder());
    check_water();
    check_late_core(FMO_DATASET_DIR "/foreign_forge_nh3_6-31g_sph.h5");
    check_threads();
    return check_summary();
}
