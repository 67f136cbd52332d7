/* Checkpoints of batches: what was added is found again by another process, however the file was
 * cut or damaged, as far as it is whole; and a complete file of molecules can be continued. */
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include <fmo/basis_set.h>
#include <fmo/result.h>

#include <sys/stat.h>
#include <unistd.h>

enum { COUNT = 5, NAO = 3, MO = 2, NUCLEI = 4 };

static char directory[] = "/tmp/fmo-io-checkpoint-XXXXXX";
static char path[1024];
static const char settings[] = "fmo=1\n--basis=a\n--mode=b\n";

static void put_bytes(const char *to, const void *bytes, size_t size)
{
    FILE *file = fopen(to, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) exit(1);
}

static void key_of(int k, char key[65])
{
    snprintf(key, 65, "%064x", k * 7919 + 13);
}

/* The result of molecule k; the first has no arrays. */
static fmo_molecule_result make(int k, const char *key, double values[NAO * NAO])
{
    for (int i = 0; i < NAO * NAO; i++) values[i] = k + 0.25 * i;
    fmo_molecule_result m = {.key = key,
                             .status = k % 2 ? "converged in 9 cycles" : "not converged",
                             .mode = k % 2 ? "cpu" : NULL,
                             .converged = k % 2,
                             .cycles = 9 + k,
                             .energy = -76.5 - k,
                             .nao = NAO,
                             .mo_num = MO,
                             .occupied_num = 1,
                             .method = k % 2 ? "UHF" : NULL,
                             .multiplicity = k + 1,
                             .occupied_beta_num = k % 2,
                             .spin_square = 0.25 * k};
    if (k > 1) m.orbital_energy_beta = values + 1;
    if (k > 2) m.coefficient_beta = values + 1;
    if (k > 3) m.spin_density = values;
    if (k > 1) m.mulliken_charge = values + 2;
    if (k > 2) m.mulliken_spin = values + 3;
    if (k > 1) m.nucleus_num = NUCLEI;
    if (k > 0) m.orbital_energy = values;
    if (k > 1) m.coefficient = values;
    if (k > 2) m.density = values;
    return m;
}

static bool same(const double *a, const double *b, size_t count)
{
    return !a == !b && (!a || memcmp(a, b, count * sizeof *a) == 0);
}

/* Checks result k of an open checkpoint; returns whether it is there. */
static int find(fmo_checkpoint *c, int k)
{
    char key[65];
    double values[NAO * NAO];
    fmo_molecule_result found;
    fmo_error err = {FMO_OK, ""};
    key_of(k, key);
    const fmo_molecule_result expected = make(k, key, values);
    CHECK(fmo_checkpoint_find(c, key, &found, &err) == FMO_OK, "%s", err.message);
    if (!found.key) return 0;
    CHECK(strcmp(found.key, key) == 0 && strcmp(found.status, expected.status) == 0 &&
              !found.mode == !expected.mode &&
              (!expected.mode || strcmp(found.mode, expected.mode) == 0) &&
              found.converged == expected.converged && found.cycles == expected.cycles &&
              found.energy == expected.energy && found.nao == NAO && found.mo_num == MO &&
              found.occupied_num == 1,
          "result %d", k);
    CHECK(!found.method == !expected.method &&
              (!expected.method || !strcmp(found.method, expected.method)) &&
              found.multiplicity == expected.multiplicity &&
              found.occupied_beta_num == expected.occupied_beta_num &&
              found.spin_square == expected.spin_square,
          "spin of result %d", k);
    CHECK(same(found.orbital_energy_beta, expected.orbital_energy_beta, MO) &&
              same(found.coefficient_beta, expected.coefficient_beta, MO * NAO) &&
              same(found.spin_density, expected.spin_density, NAO * NAO),
          "beta arrays of result %d", k);
    CHECK(same(found.orbital_energy, expected.orbital_energy, MO) &&
              same(found.coefficient, expected.coefficient, MO * NAO) &&
              same(found.density, expected.density, NAO * NAO),
          "arrays of result %d", k);
    CHECK(found.nucleus_num == expected.nucleus_num &&
              same(found.mulliken_charge, expected.mulliken_charge, NUCLEI) &&
              same(found.mulliken_spin, expected.mulliken_spin, NUCLEI),
          "charges of result %d", k);
    return 1;
}

static void fill(int from, int to, int resume)
{
    fmo_checkpoint *c = NULL;
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_checkpoint_open(path, settings, resume, &c, &err) == FMO_OK, "%s", err.message);
    for (int k = from; c && k < to; k++) {
        char key[65];
        double values[NAO * NAO];
        key_of(k, key);
        const fmo_molecule_result m = make(k, key, values);
        CHECK(fmo_checkpoint_add(c, &m, &err) == FMO_OK, "%s", err.message);
    }
    fmo_checkpoint_close(c, 0);
}

/* Number of the first results that are there; none follows one that is not. */
static int count_found(void)
{
    fmo_checkpoint *c = NULL;
    fmo_error err = {FMO_OK, ""};
    int count = 0, all = 0;
    CHECK(fmo_checkpoint_open(path, settings, 1, &c, &err) == FMO_OK, "%s", err.message);
    while (c && count < COUNT && find(c, count)) count++;
    for (int k = 0; c && k < COUNT; k++) all += find(c, k);
    CHECK(all == count && fmo_checkpoint_num(c) == (size_t)all, "%d of %d, %zu", count, all,
          fmo_checkpoint_num(c));
    fmo_checkpoint_close(c, 0);
    return count;
}

/* Cuts the file at every byte, and changes every fifth (under sanitizers every eleventh): what is
 * whole before that is found, the rest can be added again. */
static void check_damage(void)
{
    const size_t step = getenv("FMO_TEST_SMALL") ? 11 : 1;
    fill(0, COUNT, 0);
    content whole = content_load(path);
    int before = 0;
    for (size_t size = whole.size % step; size <= whole.size; size += step) {
        put_bytes(path, whole.bytes, size);
        const int found = count_found();
        CHECK(found == before || found == before + 1, "%zu bytes: %d results after %d", size, found,
              before);
        before = found;
        if (size / step % 97 == 0) {
            fill(found, COUNT, 1);
            CHECK(count_found() == COUNT, "%zu bytes: not all were added", size);
        }
    }
    CHECK(before == COUNT, "%d results in the whole file", before);
    const size_t begin = sizeof settings + strlen("fmo checkpoint of a batch 1\n");
    for (size_t at = begin; at < whole.size; at += step == 1 ? 5 : step) {
        unsigned char *copy = malloc(whole.size);
        memcpy(copy, whole.bytes, whole.size);
        copy[at] ^= 0x10;
        put_bytes(path, copy, whole.size);
        CHECK(count_found() < COUNT, "a change of byte %zu is not seen", at);
        free(copy);
    }
    free(whole.bytes);
}

static void refuse(fmo_status status, fmo_status expected, const fmo_error *err, const char *says)
{
    CHECK(status == expected && strstr(err->message, says), "%d: '%s', not '%s'", status,
          err->message, says);
}

/* Other settings, a checkpoint in use, wrong keys and wrong files are refused. */
static void check_refusals(void)
{
    fmo_checkpoint *c = (fmo_checkpoint *)path, *second = NULL;
    fmo_molecule_result m = {.status = "x"};
    fmo_error err = {FMO_OK, ""};
    fill(0, 2, 0);
    refuse(fmo_checkpoint_open(path, "fmo=1\n--basis=a\n--mode=c\n", 1, &c, &err), FMO_ERR_INPUT,
           &err, "have another --mode;");
    CHECK(!c, "open");
    err = (fmo_error){FMO_OK, ""};
    refuse(fmo_checkpoint_open(path, "fmo=1\n", 1, &c, &err), FMO_ERR_INPUT, &err,
           "another --basis;");
    err = (fmo_error){FMO_OK, ""};
    CHECK(count_found() == 2, "they are lost");
    CHECK(fmo_checkpoint_open(path, settings, 1, &c, &err) == FMO_OK, "%s", err.message);
    refuse(fmo_checkpoint_open(path, settings, 1, &second, &err), FMO_ERR_INPUT, &err,
           "another process is writing it");
    err = (fmo_error){FMO_OK, ""};
    refuse(fmo_checkpoint_add(c, &m, &err), FMO_ERR_ARGUMENT, &err, "molecule->key");
    m.key = "short";
    err = (fmo_error){FMO_OK, ""};
    refuse(fmo_checkpoint_add(c, &m, &err), FMO_ERR_ARGUMENT, &err, "key: expected one of");
    fmo_checkpoint_close(c, 1);
    CHECK(access(path, F_OK) != 0, "the file stays");
    put_bytes(path, "other", 5);
    err = (fmo_error){FMO_OK, ""};
    refuse(fmo_checkpoint_open(path, settings, 1, &c, &err), FMO_ERR_INPUT, &err,
           "is not a checkpoint");
    CHECK(fmo_checkpoint_open(NULL, settings, 1, &c, NULL) == FMO_ERR_ARGUMENT, "NULL");
    CHECK(fmo_checkpoint_open(directory, settings, 0, &c, NULL) == FMO_ERR_OUTPUT, "a directory");
    fmo_checkpoint_close(NULL, 1);
    unlink(path);
}

/* Results of a complete file; a key depends on geometry, basis and electrons. */
static void check_import(void)
{
    static int number[] = {1, 1};
    static double coord[] = {0, 0, 0, 0, 0, 1.4};
    fmo_molecule h2 = {.nucleus_num = 2, .number = number, .coord = coord};
    char all[1024], key[4][65];
    fmo_error err = {FMO_OK, ""};
    fmo_basis_set *set = NULL;
    fmo_dataset *dataset = NULL;
    fmo_molecules_file *file = NULL;
    fmo_checkpoint *c = NULL;
    fmo_molecule_result found;
    snprintf(all, sizeof all, "%s/all.h5", directory);
    CHECK(fmo_basis_set_read("sto-3g", &set, &err) == FMO_OK &&
              fmo_dataset_create(&h2, set, 0, &dataset, &err) == FMO_OK,
          "%s", err.message);
    CHECK(fmo_molecule_key(dataset, 2, key[0], &err) == FMO_OK &&
              fmo_molecule_key(dataset, 0, key[1], &err) == FMO_OK,
          "%s", err.message);
    CHECK(strlen(key[0]) == 64 && strcmp(key[0], key[1]) != 0, "%s, %s", key[0], key[1]);
    const double values[] = {-0.5, 0.6, 1, 2};
    const fmo_molecule_result done = {.input = "h2.xyz",
                                      .mode = "cpu",
                                      .status = "converged in 2 cycles",
                                      .key = key[0],
                                      .converged = 1,
                                      .energy = -1.1,
                                      .nao = 2,
                                      .mo_num = 2,
                                      .orbital_energy = values,
                                      .density = values,
                                      .nucleus_num = 2,
                                      .mulliken_charge = values + 1,
                                      .mulliken_spin = values + 2};
    const fmo_molecule_result failed = {.input = "h.xyz", .status = "odd", .energy = NAN};
    CHECK(fmo_molecules_file_create("cpu", 1e-10, &file, &err) == FMO_OK &&
              fmo_molecules_file_set_settings(file, settings, &err) == FMO_OK &&
              fmo_molecules_file_add(file, dataset, &done, &err) == FMO_OK &&
              fmo_molecules_file_add(file, NULL, &failed, &err) == FMO_OK &&
              fmo_molecules_file_write(file, all, &err) == FMO_OK,
          "%s", err.message);
    CHECK(fmo_file_kind_of(all) == FMO_FILE_MOLECULES, "kind %d", fmo_file_kind_of(all));
    fmo_molecules_file_destroy(file);
    CHECK(fmo_checkpoint_open(path, settings, 0, &c, &err) == FMO_OK &&
              fmo_checkpoint_import(c, all, &err) == FMO_OK && fmo_checkpoint_num(c) == 1 &&
              fmo_checkpoint_find(c, key[0], &found, &err) == FMO_OK,
          "%s", err.message);
    CHECK(found.key && found.energy == -1.1 && strcmp(found.status, done.status) == 0 &&
              same(found.orbital_energy, values, 2) && same(found.density, values, 4) &&
              !found.coefficient && found.nucleus_num == 2 && !found.gradient &&
              same(found.mulliken_charge, values + 1, 2) &&
              same(found.mulliken_spin, values + 2, 2),
          "another result");
    CHECK(fmo_file_kind_of(path) == FMO_FILE_CHECKPOINT, "kind %d", fmo_file_kind_of(path));
    refuse(fmo_checkpoint_import(c, path, &err), FMO_ERR_INPUT, &err,
           "is not a file of many molecules");
    fmo_checkpoint_close(c, 1);
    err = (fmo_error){FMO_OK, ""};
    CHECK(fmo_checkpoint_open(path, "fmo=2\n", 0, &c, &err) == FMO_OK, "%s", err.message);
    refuse(fmo_checkpoint_import(c, all, &err), FMO_ERR_INPUT, &err, "have another fmo;");
    fmo_checkpoint_close(c, 1);
    coord[5] = 1.5;
    fmo_dataset *other = NULL;
    CHECK(fmo_dataset_create(&h2, set, 0, &other, NULL) == FMO_OK &&
              fmo_molecule_key(other, 2, key[2], NULL) == FMO_OK && strcmp(key[0], key[2]) != 0,
          "the key of another geometry");
    fmo_dataset_destroy(other);
    fmo_dataset_destroy(dataset);
    fmo_basis_set_destroy(set);
}

/* A file of more molecules than most programs' files have objects is still known as ours; under
 * sanitizers, where HDF5 copies the whole file whenever it grows, one of fewer molecules. */
static void check_many(void)
{
    const int many = getenv("FMO_TEST_SMALL") ? 1000 : 17000;
    const fmo_molecule_result failed = {.input = "h.xyz", .status = "odd", .energy = NAN};
    char all[1024];
    fmo_molecules_file *file = NULL;
    fmo_error err = {FMO_OK, ""};
    snprintf(all, sizeof all, "%s/many.h5", directory);
    CHECK(fmo_molecules_file_create("cpu", 1e-10, &file, &err) == FMO_OK, "%s", err.message);
    for (int k = 0; file && k < many; k++)
        CHECK(fmo_molecules_file_add(file, NULL, &failed, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_molecules_file_write(file, all, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_file_kind_of(all) == FMO_FILE_MOLECULES, "%s",
          fmo_file_kind_text(fmo_file_kind_of(all)));
    fmo_molecules_file_destroy(file);
}

int main(void)
{
    if (!mkdtemp(directory)) return 1;
    snprintf(path, sizeof path, "%s/batch.checkpoint", directory);
    check_damage();
    check_refusals();
    check_import();
    check_many();
    folder_remove(directory);
    return check_summary();
}
