/* Result files: content and provenance; no file is ever left half-written. */
#include "tests/support/calls.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/shipped.h"
#include "io/output/kind.h"
#include <fmo/result.h>
#include <fmo/version.h>

#include <dirent.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/fmo-io-result-XXXXXX";
static const char *const input = FMO_DATASET_DIR "/h2o_sto-3g.h5";

/* A dataset has the expected shape, values and units. */
static void check_matrix(hid_t file, const char *name, const double *expected, int n)
{
    double got[64];
    char units[16] = "";
    hsize_t dims[2] = {0, 0};
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    CHECK(dataset >= 0, "%s is missing", name);
    if (dataset < 0) return;
    hid_t space = H5Dget_space(dataset), attribute = H5Aopen(dataset, "units", H5P_DEFAULT);
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    CHECK(n == 1 ? rank == 0 : rank == 2 && dims[0] == 7 && dims[1] == 7, "%s: shape", name);
    H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, got);
    check_close(name, got, expected, (size_t)(n * n), (size_t)n, 0.0, 0.0);
    hid_t type = H5Aget_type(attribute);
    H5Aread(attribute, type, units);
    CHECK(strcmp(units, "hartree") == 0, "%s: units '%s'", name, units);
    H5Tclose(type);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Dclose(dataset);
}

static void check_text(hid_t file, const char *name, const char *expected)
{
    char got[1024] = "";
    hid_t attribute = H5Aopen_by_name(file, "fmo", name, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(attribute >= 0, "attribute %s is missing", name);
    if (attribute < 0) return;
    hid_t type = H5Aget_type(attribute);
    if (H5Tget_size(type) < sizeof got) H5Aread(attribute, type, got);
    CHECK(strcmp(got, expected) == 0, "%s is '%s', not '%s'", name, got, expected);
    H5Tclose(type);
    H5Aclose(attribute);
}

static fmo_result make_result(const fmo_dataset *dataset)
{
    return (fmo_result){.nao = 7,
                        .coulomb = fmo_dataset_reference_coulomb(dataset),
                        .exchange = fmo_dataset_reference_exchange(dataset),
                        .fock_2e = fmo_dataset_reference_fock_2e(dataset),
                        .fock = fmo_dataset_core_hamiltonian(dataset),
                        .energy = fmo_dataset_reference_energy(dataset),
                        .mode = "cpu",
                        .cutoff = 1e-10};
}

/* A result has all matrices and attributes; parts that are not given are left out, and permissions
 * of the old file are kept. */
static void check_content(const fmo_dataset *dataset)
{
    const char *path = folder_path(directory, "content.h5");
    fmo_result result = make_result(dataset);
    fmo_error err = {FMO_OK, ""};
    CHECK(fmo_result_write(path, dataset, &result, &err) == FMO_OK, "%s", err.message);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(file >= 0, "HDF5 does not open the result");
    if (file < 0) return;
    check_matrix(file, "/fmo/coulomb", result.coulomb, 7);
    check_matrix(file, "/fmo/exchange", result.exchange, 7);
    check_matrix(file, "/fmo/fock_2e", result.fock_2e, 7);
    check_matrix(file, "/fmo/fock", result.fock, 7);
    check_matrix(file, "/fmo/energy", &result.energy, 1);
    check_text(file, "mode", "cpu");
    check_text(file, "input", input);
    check_text(file, "input_sha256", fmo_dataset_sha256(dataset));
    check_text(file, "fmo_version", FMO_VERSION_STRING);
    double cutoff = 0.0;
    int format = 0;
    hid_t attribute = H5Aopen_by_name(file, "fmo", "cutoff", H5P_DEFAULT, H5P_DEFAULT);
    H5Aread(attribute, H5T_NATIVE_DOUBLE, &cutoff);
    H5Aclose(attribute);
    attribute = H5Aopen_by_name(file, "fmo", "format_version", H5P_DEFAULT, H5P_DEFAULT);
    H5Aread(attribute, H5T_NATIVE_INT, &format);
    H5Aclose(attribute);
    CHECK(cutoff == 1e-10 && format == 1, "cutoff %g, format %d", cutoff, format);
    H5Fclose(file);

    /* Matrices that are not given are left out; an existing file is replaced. */
    chmod(path, 0640);
    fmo_result only = {.nao = 7, .fock_2e = result.fock_2e, .energy = NAN, .mode = "fused"};
    CHECK(fmo_result_write(path, dataset, &only, &err) == FMO_OK, "%s", err.message);
    struct stat info;
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0640, "permissions %o",
          (unsigned)(info.st_mode & 0777));
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    check_matrix(file, "/fmo/fock_2e", result.fock_2e, 7);
    CHECK(H5Lexists(file, "/fmo/coulomb", H5P_DEFAULT) == 0, "coulomb is still there");
    CHECK(H5Lexists(file, "/fmo/energy", H5P_DEFAULT) == 0, "energy is still there");
    check_text(file, "mode", "fused");
    H5Fclose(file);
    CHECK(folder_count(directory, "") == 1, "%d files", folder_count(directory, ""));
    unlink(path);
}

static void refused(const char *path, const fmo_dataset *dataset, fmo_status expected,
                    const char *text)
{
    fmo_result result = make_result(dataset);
    fmo_error err = {FMO_OK, ""};
    int before = folder_count(directory, "");
    fmo_status status = fmo_result_write(path, dataset, &result, &err);
    CHECK(status == expected, "%s: %s (%s)", path, fmo_status_text(status), err.message);
    CHECK(strstr(err.message, text) != NULL, "'%s' is not in '%s'", text, err.message);
    CHECK(status != FMO_ERR_OUTPUT || strncmp(err.message, path, strlen(path)) == 0,
          "no path in '%s'", err.message);
    CHECK(folder_count(directory, "") == before, "%s: left something behind", path);
    if (getenv("FMO_TEST_VERBOSE")) printf("%s\n", err.message);
}

/* Paths that cannot be written, or that are the data set itself, are refused, and nothing is left
 * behind. */
static void check_refusals(const fmo_dataset *dataset)
{
    char link_path[1024];
    refused("", dataset, FMO_ERR_ARGUMENT, "no path");
    refused(directory, dataset, FMO_ERR_OUTPUT, "is a directory");
    refused("/dev/null", dataset, FMO_ERR_OUTPUT, "not a regular file");
    refused(input, dataset, FMO_ERR_OUTPUT, "is the data set itself");
    refused(folder_path(directory, "none/result.h5"), dataset, FMO_ERR_OUTPUT, "cannot create");
    refused(folder_path(directory, "new/"), dataset, FMO_ERR_OUTPUT, "ends in '/'");
    refused("/proc/result.h5", dataset, FMO_ERR_OUTPUT, "cannot create");
    snprintf(link_path, sizeof link_path, "%s", folder_path(directory, "link.h5"));
    CHECK(symlink(input, link_path) == 0, "symlink");
    refused(link_path, dataset, FMO_ERR_OUTPUT, "is the data set itself");
    unlink(link_path);
    CHECK(symlink("/no/such/place", link_path) == 0, "symlink");
    refused(link_path, dataset, FMO_ERR_OUTPUT, "leads nowhere");
    unlink(link_path);
    if (geteuid() != 0) {
        chmod(directory, 0500);
        refused(folder_path(directory, "result.h5"), dataset, FMO_ERR_OUTPUT, "Permission denied");
        chmod(directory, 0700);
    }
    fmo_result wrong = make_result(dataset);
    wrong.nao = 6;
    CHECK(fmo_result_write(folder_path(directory, "x.h5"), dataset, &wrong, NULL) ==
              FMO_ERR_ARGUMENT,
          "nao");
    CHECK(fmo_result_write(folder_path(directory, "x.h5"), dataset, NULL, NULL) == FMO_ERR_ARGUMENT,
          "NULL");
}

/* Through a symbolic link the link stays and its target is replaced. */
static void check_link(const fmo_dataset *dataset)
{
    char target[1024], link_path[1024];
    fmo_error err = {FMO_OK, ""};
    fmo_result result = make_result(dataset);
    struct stat info;
    snprintf(target, sizeof target, "%s", folder_path(directory, "target.h5"));
    snprintf(link_path, sizeof link_path, "%s", folder_path(directory, "link.h5"));
    FILE *file = fopen(target, "w");
    fprintf(file, "old");
    fclose(file);
    CHECK(symlink("target.h5", link_path) == 0, "symlink");
    CHECK(fmo_result_write(link_path, dataset, &result, &err) == FMO_OK, "%s", err.message);
    CHECK(lstat(link_path, &info) == 0 && S_ISLNK(info.st_mode), "the link is gone");
    CHECK(stat(target, &info) == 0 && info.st_size > 1000, "the target was not replaced");
    unlink(link_path);
    unlink(target);
}

/* A full disk, simulated by a limit on the size of files: the old file stays, byte for byte. */
static void check_full_disk(const fmo_dataset *dataset)
{
    char path[1024];
    fmo_result result = make_result(dataset);
    fmo_error err = {FMO_OK, ""};
    snprintf(path, sizeof path, "%s", folder_path(directory, "full.h5"));
    CHECK(fmo_result_write(path, dataset, &result, &err) == FMO_OK, "%s", err.message);
    const content before = content_load(path);

    struct rlimit old, small = {1000, 1000};
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    refused(path, dataset, FMO_ERR_OUTPUT, "File too large");
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);

    const content after = content_load(path);
    CHECK(before.bytes && after.bytes && before.size == after.size &&
              memcmp(before.bytes, after.bytes, before.size) == 0,
          "the old file was touched");
    free(before.bytes);
    free(after.bytes);
    unlink(path);
}

/* After a kill at any moment the path has the old or the new content. */
static void check_killed(const fmo_dataset *dataset)
{
    char path[1024];
    fmo_result result = make_result(dataset);
    snprintf(path, sizeof path, "%s", folder_path(directory, "killed.h5"));
    for (int i = 0; i < 20; i++) {
        CHECK(fmo_result_write(path, dataset, &result, NULL) == FMO_OK, "write");
        pid_t child = fork();
        if (child == 0)
            for (;;) fmo_result_write(path, dataset, &result, NULL);
        usleep(500 * (useconds_t)(i + 1));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        CHECK(file >= 0, "half a file after a kill");
        if (file < 0) break;
        check_matrix(file, "/fmo/coulomb", result.coulomb, 7);
        check_matrix(file, "/fmo/energy", &result.energy, 1);
        H5Fclose(file);
    }
    DIR *dir = opendir(directory); /* a killed process may leave its temporary file */
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (strstr(entry->d_name, ".tmp")) unlink(folder_path(directory, entry->d_name));
    if (dir) closedir(dir);
    unlink(path);
}

/* The program that wrote a file, and arbitrary bytes written as results are. */
static void check_kinds(const fmo_dataset *dataset)
{
    const char *path = folder_path(directory, "kind");
    const fmo_result result = make_result(dataset);
    fmo_error err = {FMO_OK, ""};
    static const struct {
        const char *text;
        fmo_file_kind kind;
    } rows[] = {{"", FMO_FILE_EMPTY},
                {"months of work", FMO_FILE_OTHER},
                {"[Molden Format]\n[Title]\nfmo 0.2.0\n[Atoms] AU\n", FMO_FILE_MOLDEN},
                {"[Molden Format]\n[Title]\nORCA\n[Atoms] AU\n", FMO_FILE_OTHER},
                {"[Molden Format]\n[Atoms] AU\n", FMO_FILE_OTHER},
                {"{\n \"format\": \"fmo-bench\",", FMO_FILE_JSON},
                {"{\"format\": \"fmo-profile\"}", FMO_FILE_JSON},
                {"{\"format\": \"mine\"}", FMO_FILE_OTHER},
                {"fmo fragment state 1\n", FMO_FILE_STATE},
                {FMO_PAIRS_HEAD "1\t2\n", FMO_FILE_PAIRS},
                {"fragment_i\tfragment_j\tname_i\tname_j\tmine\n", FMO_FILE_OTHER},
                {FMO_MAP_HEAD "<svg>", FMO_FILE_MAP},
                {FMO_PAGE_HEAD "<html>", FMO_FILE_PAGE},
                {"<!DOCTYPE html>\n<html>", FMO_FILE_OTHER},
                {FMO_CPF_HEAD "x\n", FMO_FILE_CPF},
                {"CPF Open1.0 rev23 \n", FMO_FILE_OTHER},
                {"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg>", FMO_FILE_OTHER},
                {"{", FMO_FILE_OTHER}};
    CHECK(fmo_file_kind_of(path) == FMO_FILE_NONE, "no file");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK(fmo_file_write(path, rows[i].text, strlen(rows[i].text), &err) == FMO_OK, "%s",
              err.message);
        CHECK(fmo_file_kind_of(path) == rows[i].kind, "'%s' is %s", rows[i].text,
              fmo_file_kind_text(fmo_file_kind_of(path)));
    }
    CHECK(fmo_result_write(path, dataset, &result, &err) == FMO_OK, "%s", err.message);
    CHECK(fmo_file_kind_of(path) == FMO_FILE_MATRICES, "a result");
    CHECK(fmo_file_kind_of(input) == FMO_FILE_OTHER, "a data set");
    CHECK(fmo_file_kind_of(directory) == FMO_FILE_OTHER, "a directory");
    CHECK(fmo_file_kind_of("/dev/null") == FMO_FILE_OTHER, "a device");
    CHECK(fmo_file_kind_of(NULL) == FMO_FILE_OTHER, "NULL");
    CHECK(!fmo_file_kind_text(FMO_FILE_KIND_COUNT), "out of range");
    CHECK_REFUSED(fmo_file_write(NULL, "", 0, &err), &err, FMO_ERR_ARGUMENT, "path");
    unlink(path);
}

/* Runs all checks, and compares the bytes of the data set before and after. */
int main(void)
{
    if (!mkdtemp(directory)) return 1;
    const content before = content_load(input);
    fmo_dataset *dataset = read_dataset(input);
    if (dataset) {
        check_content(dataset);
        check_refusals(dataset);
        check_link(dataset);
        check_full_disk(dataset);
        check_killed(dataset);
        check_kinds(dataset);
    }
    const content after = content_load(input);
    CHECK(before.bytes && after.bytes && before.size == after.size &&
              memcmp(before.bytes, after.bytes, before.size) == 0,
          "the data set was changed");
    free(before.bytes);
    free(after.bytes);
    fmo_dataset_destroy(dataset);
    CHECK(folder_count(directory, "") == 0, "%d files left", folder_count(directory, ""));
    rmdir(directory);
    return check_summary();
}
